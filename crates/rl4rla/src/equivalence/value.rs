//! Values in normal form, and results of operators unknown to algebra.

use super::random_object::SamplingLaw;
use super::scalar::Scalar;
use super::vector::{Vector, VectorSource};
use super::word::{MatrixAtom, Word};
use crate::program::{Meaning, Op, Reg};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A value in normal form.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// A number.
    Scalar(Scalar),
    /// A vector.
    Vector(Vector),
    /// A matrix.
    Matrix(Word),
    /// Probabilities.
    Weights(SamplingLaw),
}

impl Value {
    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        match self {
            Value::Scalar(s) => s.random(found),
            Value::Vector(v) => v.random(found),
            Value::Matrix(w) => w.random(found),
            Value::Weights(law) => law.values().for_each(|value| value.random(found)),
        }
    }

    /// Adds the registers it depends on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        match self {
            Value::Scalar(s) => s.sources(found),
            Value::Vector(v) => v.sources(found),
            Value::Matrix(w) => w.sources(found),
            Value::Weights(law) => law.values().for_each(|value| value.sources(found)),
        }
    }

    /// Whether it is the direct result of a sigmoid.
    fn is_sigmoid(&self) -> bool {
        let alone = |v: &Vector| v.terms.len() == 1 && v.terms.values().all(|c| *c == Scalar::number(1));
        let made = |v: &Vector| {
            v.terms.keys().all(|(word, source)| {
                word.letters.is_empty()
                    && matches!(source, VectorSource::Opaque(opaque) if opaque.op.meaning == Meaning::Sigmoid)
            })
        };
        matches!(self, Value::Vector(v) if alone(v) && made(v))
    }

    /// Total number of atoms and letters.
    pub fn weight(&self) -> usize {
        match self {
            Value::Scalar(s) => s.weight(),
            Value::Vector(v) => v.weight(),
            Value::Matrix(w) => w.weight(),
            Value::Weights(law) => 1 + law.values().map(|value| value.weight()).sum::<usize>(),
        }
    }
}

/// The result of an operator of which only "equal operands give equal results" is known.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Opaque {
    /// The operator.
    pub op: Op,
    /// Its operands.
    pub args: Arc<[Value]>,
}

impl Opaque {
    /// Whether every entry is positive.
    pub fn is_positive(&self) -> bool {
        match self.op.meaning {
            Meaning::Sigmoid => true,
            Meaning::SigmoidSlope => matches!(&self.args[..], [p] if p.is_sigmoid()),
            Meaning::Function
            | Meaning::Gram
            | Meaning::Factor
            | Meaning::Solution
            | Meaning::RowScaling
            | Meaning::UnitVector
            | Meaning::ShiftedFactor => false,
        }
    }

    /// Adds the random objects in its operands to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        self.args.iter().for_each(|arg| arg.random(found));
    }

    /// Adds the registers its operands depend on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        self.args.iter().for_each(|arg| arg.sources(found));
    }

    /// Total weight of its operands.
    pub fn weight(&self) -> usize {
        1 + self.args.iter().map(Value::weight).sum::<usize>()
    }
}
