//! The random objects of a program: where they are drawn, and from which distribution.

use super::value::{Opaque, Value};
use super::word::Word;
use crate::program::Section;

/// Where a random object is drawn. Programs that draw at the same place draw the same object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DrawSite {
    /// In setup once, in the iteration anew every time.
    pub section: Section,
    /// Number of the draw within the section, from 1; all sketches of a section are one draw.
    pub index: usize,
}

/// The distribution by which rows are sampled.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SamplingLaw {
    /// Uniformly.
    Uniform,
    /// In proportion to the squared row norms of M, that is to the diagonal of this word, M·Mᵀ.
    RowNorms(Word),
    /// The result of an operator unknown to algebra.
    Opaque(Opaque),
}

impl SamplingLaw {
    /// The values it depends on.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        match self {
            SamplingLaw::Uniform => vec![],
            SamplingLaw::RowNorms(word) => vec![Value::Matrix(word.clone())],
            SamplingLaw::Opaque(opaque) => opaque.args.to_vec(),
        }
        .into_iter()
    }
}
