//! The random objects of a program: where they are drawn, and from which distribution.

use super::value::{Opaque, Value};
use super::word::Word;
use crate::program::Section;

/// Where a random object is drawn. Programs that draw at the same place draw the same object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DrawSite {
    /// Once in setup, anew in every iteration.
    pub section: Section,
    /// Which of the section's draws, from 1; all sketches of a section are one.
    pub index: usize,
}

/// How rows are sampled.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SamplingLaw {
    /// Uniformly.
    Uniform,
    /// In proportion to the squared row norms of M, that is to the diagonal of this word, M·Mᵀ.
    RowNorms(Word),
    /// From an operator unknown to algebra.
    Opaque(Opaque),
}

impl SamplingLaw {
    /// What it is made from.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        match self {
            SamplingLaw::Uniform => vec![],
            SamplingLaw::RowNorms(word) => vec![Value::Matrix(word.clone())],
            SamplingLaw::Opaque(opaque) => opaque.args.to_vec(),
        }
        .into_iter()
    }
}
