//! Vectors in normal form: sums of words applied to b, x and the carried registers.

use super::rule::{Rule, Work};
use super::scalar::{Atom, Scalar};
use super::word::{Atom as WordAtom, Word};
use crate::program::{Dim, Reg};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The register a vector starts from: b, x or a carried one, as the iteration finds it.
pub type Source = Reg;

/// Σ αᵢ·Wᵢ·uᵢ; never with a coefficient zero.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Vector {
    /// Its length.
    pub dim: Dim,
    /// The terms: word and source, with the coefficient.
    pub terms: BTreeMap<(Word, Source), Scalar>,
}

impl Vector {
    /// 0.
    pub fn zero(dim: Dim) -> Vector {
        Vector { dim, terms: BTreeMap::new() }
    }

    /// A register by itself.
    pub fn source(source: Source, dim: Dim) -> Vector {
        let term = (Word::identity(dim), source);
        Vector { dim, terms: BTreeMap::from([(term, Scalar::number(1))]) }
    }

    /// u + αv.
    pub fn plus(&self, alpha: &Scalar, other: &Vector, work: &mut Work) -> Vector {
        let mut sum = self.clone();
        for (term, c) in &other.terms {
            sum.add(term.clone(), alpha.times(c, work), work);
        }
        sum
    }

    fn add(&mut self, term: (Word, Source), c: Scalar, work: &mut Work) {
        let total = match self.terms.get(&term) {
            Some(held) => {
                work.used(Rule::Collect);
                held.plus(&c, work)
            }
            None => c,
        };
        if total.is_zero() {
            self.terms.remove(&term);
        } else {
            self.terms.insert(term, total);
        }
        work.go_on(self.terms.len());
    }

    /// α·v.
    pub fn scaled(&self, alpha: &Scalar, work: &mut Work) -> Vector {
        Vector::zero(self.dim).plus(alpha, self, work)
    }

    /// W·v.
    pub fn under(&self, word: &Word, work: &mut Work) -> Vector {
        if self.terms.len() > 1 {
            work.used(Rule::Distribute);
        }
        let mut sum = Vector::zero(word.rows);
        for ((w, source), c) in &self.terms {
            sum.add((word.times(w, work), *source), c.clone(), work);
        }
        sum
    }

    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<WordAtom>) {
        for ((word, _), c) in &self.terms {
            word.random(found);
            c.random(found);
        }
    }

    /// Adds the registers it depends on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Source>) {
        for ((_, source), c) in &self.terms {
            found.insert(*source);
            c.sources(found);
        }
    }

    /// uᵀv.
    pub fn dot(&self, other: &Vector, work: &mut Work) -> Scalar {
        let mut sum = Scalar::default();
        for ((w, u), c) in &self.terms {
            for ((z, v), d) in &other.terms {
                let middle = w.transpose(work).times(z, work);
                let mirrored = middle.transpose(work);
                work.used(Rule::DotSymmetric);
                let (left, word, right) = (*u, middle, *v).min((*v, mirrored, *u));
                let atom = Scalar::atom(Atom::Dot(left, Arc::new(word), right));
                sum.add(&c.times(d, work).times(&atom, work), work);
                if work.stop.is_some() {
                    return sum;
                }
            }
        }
        sum
    }
}
