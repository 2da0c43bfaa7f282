//! Vectors in normal form: sums of words applied to b, x, the carried registers, and results of operators unknown to
//! algebra.

use super::rule::{NormalisationStop, NormalisationWork, Rule};
use super::scalar::{Scalar, ScalarAtom};
use super::value::Opaque;
use super::word::{MatrixAtom, Word};
use crate::program::{Dim, Reg, Section};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The vector that a word is applied to.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum VectorSource {
    /// b, x or a carried register at the start of the iteration.
    Reg(Reg),
    /// x before the first iteration.
    First,
    /// The result of an operator unknown to algebra.
    Opaque(Opaque),
}

impl VectorSource {
    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        if let VectorSource::Opaque(opaque) = self {
            opaque.random(found);
        }
    }

    /// Adds the registers it depends on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        match self {
            VectorSource::Reg(reg) => {
                found.insert(*reg);
            }
            VectorSource::First => {}
            VectorSource::Opaque(opaque) => opaque.sources(found),
        }
    }

    /// Total number of atoms and letters.
    pub fn weight(&self) -> usize {
        match self {
            VectorSource::Reg(_) | VectorSource::First => 1,
            VectorSource::Opaque(opaque) => opaque.weight(),
        }
    }
}

/// Σ αᵢ·Wᵢ·uᵢ; never with a coefficient zero.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Vector {
    /// Its length.
    pub dim: Dim,
    /// The terms: word and source, with the coefficient.
    pub terms: BTreeMap<(Word, VectorSource), Scalar>,
}

impl Vector {
    /// 0.
    pub fn zero(dim: Dim) -> Vector {
        Vector { dim, terms: BTreeMap::new() }
    }

    /// A single source.
    pub fn source(source: VectorSource, dim: Dim) -> Vector {
        let term = (Word::identity(dim), source);
        Vector { dim, terms: BTreeMap::from([(term, Scalar::number(1))]) }
    }

    /// u + αv.
    pub fn plus(&self, alpha: &Scalar, other: &Vector, work: &mut NormalisationWork) -> Vector {
        let mut sum = self.clone();
        for (term, c) in &other.terms {
            sum.add(term.clone(), alpha.times(c, work), work);
        }
        sum
    }

    fn add(&mut self, term: (Word, VectorSource), c: Scalar, work: &mut NormalisationWork) {
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
    pub fn scaled(&self, alpha: &Scalar, work: &mut NormalisationWork) -> Vector {
        Vector::zero(self.dim).plus(alpha, self, work)
    }

    /// W·v.
    pub fn under(&self, word: &Word, work: &mut NormalisationWork) -> Vector {
        if self.terms.len() > 1 {
            work.used(Rule::Distribute);
        }
        let mut sum = Vector::zero(word.rows);
        for ((w, source), c) in &self.terms {
            sum.add((word.times(w, work), source.clone()), c.clone(), work);
        }
        sum
    }

    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        for ((word, source), c) in &self.terms {
            word.random(found);
            c.random(found);
            source.random(found);
        }
    }

    /// Adds the registers it depends on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        for ((word, source), c) in &self.terms {
            word.sources(found);
            source.sources(found);
            c.sources(found);
        }
    }

    /// Whether it is linear in x, b and the carried registers: a sum of matrices that depend on none of them, each
    /// times one of them. Operators unknown to algebra may be linear all the same.
    pub fn is_linear(&self) -> bool {
        self.terms.iter().all(|((word, source), c)| {
            let mut found = BTreeSet::new();
            word.sources(&mut found);
            c.sources(&mut found);
            found.is_empty() && !matches!(source, VectorSource::Opaque(_))
        })
    }

    /// Whether it is M·x + c, where M and c are the same in every iteration.
    pub fn depends_on_the_iterate_alone(&self) -> bool {
        let (mut registers, mut random) = (BTreeSet::new(), BTreeSet::new());
        self.sources(&mut registers);
        self.random(&mut random);
        let lasts = |atom: &MatrixAtom| match atom {
            MatrixAtom::Sketch(site) | MatrixAtom::Sample(site, _) => site.section == Section::Setup,
            _ => true,
        };
        let constant = |reg: &Reg| [Reg::X, Reg::B].contains(reg);
        self.is_linear() && registers.iter().all(constant) && random.iter().all(lasts)
    }

    /// Its value in the iteration before, if it [depends on the iterate alone](Self::depends_on_the_iterate_alone):
    /// x was x − d.
    pub fn before(&self, work: &mut NormalisationWork) -> Vector {
        work.used(Rule::Previous);
        let mut before = self.clone();
        for ((word, source), c) in &self.terms {
            if *source == VectorSource::Reg(Reg::X) {
                before.add((word.clone(), VectorSource::Reg(Reg::D)), c.negated(), work);
            }
        }
        before
    }

    /// Whether every entry is known to be positive: a sum of positive vectors with positive coefficients.
    pub fn is_positive(&self) -> bool {
        let positive = |((word, source), c): (&(Word, VectorSource), &Scalar)| {
            let made = matches!(source, VectorSource::Opaque(opaque) if opaque.is_positive());
            made && word.letters.is_empty() && c.is_positive()
        };
        !self.terms.is_empty() && self.terms.iter().all(positive)
    }

    /// Total number of atoms and letters.
    pub fn weight(&self) -> usize {
        let term = |((word, source), c): (&(Word, VectorSource), &Scalar)| {
            word.weight() + source.weight() + c.weight()
        };
        self.terms.iter().map(term).sum()
    }

    /// v/‖v‖, with positive factors of v removed: v/‖v‖ = u/‖u‖ for v = α·u with α > 0.
    pub fn normalized(&self, work: &mut NormalisationWork) -> Vector {
        let Some(leading) = self.terms.values().next() else {
            work.halt(NormalisationStop::DivisionByZero);
            return self.clone();
        };
        work.used(Rule::Normalize);
        let unit = self.scaled(&leading.over_positive(), work);
        let content = Scalar::content(unit.terms.values(), work);
        let unit = unit.scaled(&Scalar::number(1).over(&content, work), work);
        let square = unit.dot(&unit, work);
        if square.is_zero() {
            work.halt(NormalisationStop::DivisionByZero);
        }
        if !work.can_hold(square.weight()) {
            return unit;
        }
        let norm = Scalar::atom(ScalarAtom::Norm(Arc::new(square)));
        unit.scaled(&Scalar::number(1).over(&norm, work), work)
    }

    /// uᵀv.
    pub fn dot(&self, other: &Vector, work: &mut NormalisationWork) -> Scalar {
        let mut sum = Scalar::default();
        for ((w, u), c) in &self.terms {
            for ((z, v), d) in &other.terms {
                let middle = w.transpose(work).times(z, work);
                let mirrored = middle.transpose(work);
                work.used(Rule::DotSymmetric);
                let (left, word, right) =
                    (u.clone(), middle, v.clone()).min((v.clone(), mirrored, u.clone()));
                let atom = Scalar::atom(ScalarAtom::Dot(left, Arc::new(word), right));
                sum.add(&c.times(d, work).times(&atom, work), work);
                if work.stop.is_some() {
                    return sum;
                }
            }
        }
        sum
    }
}
