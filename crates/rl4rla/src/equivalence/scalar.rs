//! Scalars in normal form: sums of products of η, μ and inner products, with exact coefficients.
//!
//! Quotients cancel as if no divisor were 0, where a program's quotient is 0. So equal forms are no proof where one
//! vanishes, as ‖d‖² does in the first iteration; the execution test starts there.

use super::rule::{NormalisationStop, NormalisationWork, Rule};
use super::value::Opaque;
use super::vector::VectorSource;
use super::word::{MatrixAtom, Word};
use crate::program::Reg;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A scalar that is not a sum or a product.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScalarAtom {
    /// η.
    Eta,
    /// μ.
    Mu,
    /// λ.
    Lambda,
    /// uᵀMv.
    Dot(VectorSource, Arc<Word>, VectorSource),
    /// A sum that is a divisor.
    Sum(Arc<Scalar>),
    /// ‖v‖ = √(vᵀv) as a divisor.
    Norm(Arc<Scalar>),
    /// The result of an operator unknown to algebra.
    Opaque(Opaque),
}

impl ScalarAtom {
    /// Whether it is positive wherever dividing by it is defined: η, a norm, and ‖Uv‖².
    fn is_positive(&self) -> bool {
        match self {
            ScalarAtom::Eta | ScalarAtom::Norm(_) => true,
            ScalarAtom::Dot(u, word, v) => u == v && (word.letters.is_empty() || word.halves().is_some()),
            ScalarAtom::Mu | ScalarAtom::Lambda | ScalarAtom::Sum(_) | ScalarAtom::Opaque(_) => false,
        }
    }
}

/// A product of powers; never with power zero.
type Monomial = BTreeMap<ScalarAtom, i32>;

/// An exact fraction in lowest terms, with a positive denominator.
type Fraction = (i64, i64);

/// A sum of monomials with their coefficients; never with coefficient zero.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Scalar {
    terms: BTreeMap<Monomial, Fraction>,
}

impl Scalar {
    /// A whole number.
    pub fn number(n: i64) -> Scalar {
        Scalar::term(Monomial::new(), (n, 1))
    }

    /// One atom.
    pub fn atom(atom: ScalarAtom) -> Scalar {
        Scalar::term(Monomial::from([(atom, 1)]), (1, 1))
    }

    fn term(monomial: Monomial, c: Fraction) -> Scalar {
        Scalar { terms: if c.0 == 0 { BTreeMap::new() } else { BTreeMap::from([(monomial, c)]) } }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it is known to be positive: a sum of products of positive numbers, η, and divisors that cannot be
    /// negative.
    pub fn is_positive(&self) -> bool {
        let positive = |(atom, power): (&ScalarAtom, &i32)| {
            *atom == ScalarAtom::Eta || (*power < 0 && atom.is_positive())
        };
        !self.is_zero() && self.terms.iter().all(|(m, (n, _))| *n > 0 && m.iter().all(positive))
    }

    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        for atom in self.terms.keys().flat_map(|monomial| monomial.keys()) {
            match atom {
                ScalarAtom::Eta | ScalarAtom::Mu | ScalarAtom::Lambda => {}
                ScalarAtom::Dot(u, word, v) => {
                    word.random(found);
                    [u, v].into_iter().for_each(|source| source.random(found));
                }
                ScalarAtom::Sum(inner) | ScalarAtom::Norm(inner) => inner.random(found),
                ScalarAtom::Opaque(opaque) => opaque.random(found),
            }
        }
    }

    /// Adds the registers it depends on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        for atom in self.terms.keys().flat_map(|monomial| monomial.keys()) {
            match atom {
                ScalarAtom::Eta | ScalarAtom::Mu | ScalarAtom::Lambda => {}
                ScalarAtom::Dot(u, word, v) => {
                    word.sources(found);
                    [u, v].into_iter().for_each(|source| source.sources(found));
                }
                ScalarAtom::Sum(inner) | ScalarAtom::Norm(inner) => inner.sources(found),
                ScalarAtom::Opaque(opaque) => opaque.sources(found),
            }
        }
    }

    /// α + β.
    pub fn plus(&self, other: &Scalar, work: &mut NormalisationWork) -> Scalar {
        let mut sum = self.clone();
        sum.add(other, work);
        sum
    }

    /// Adds β to it.
    pub fn add(&mut self, other: &Scalar, work: &mut NormalisationWork) {
        for (monomial, &c) in &other.terms {
            self.add_term(monomial.clone(), c, work);
        }
    }

    fn add_term(&mut self, monomial: Monomial, c: Fraction, work: &mut NormalisationWork) {
        let held = self.terms.get(&monomial).copied().unwrap_or((0, 1));
        let total = exact(add(held, c), work);
        if total.0 == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, total);
        }
        work.go_on(self.terms.len());
    }

    /// α·β.
    pub fn times(&self, other: &Scalar, work: &mut NormalisationWork) -> Scalar {
        let mut product = Scalar::default();
        for (m, &c) in &self.terms {
            for (n, &d) in &other.terms {
                let c = exact(multiply(c, d), work);
                let mut monomial = join(m, n);
                let squares = take_squares(&mut monomial);
                if squares.is_empty() {
                    product.add_term(monomial, c, work);
                } else {
                    work.used(Rule::NormSquared);
                    let rest = Scalar::term(monomial, c);
                    let whole = squares.iter().fold(rest, |so_far, (s, k)| so_far.times_power(s, *k, work));
                    product.add(&whole, work);
                }
                if work.stop.is_some() {
                    return product;
                }
            }
        }
        product.cancel(work);
        product
    }

    /// α·βᵏ.
    fn times_power(&self, base: &Scalar, k: i32, work: &mut NormalisationWork) -> Scalar {
        (0..k.abs()).fold(self.clone(), |so_far, _| {
            if k > 0 { so_far.times(base, work) } else { so_far.over(base, work) }
        })
    }

    /// Cancels sums: p/s becomes a monomial if p is that monomial times s.
    fn cancel(&mut self, work: &mut NormalisationWork) {
        let divided =
            |monomial: &Monomial, atom: &ScalarAtom| monomial.get(atom).is_some_and(|power| *power < 0);
        let sums = self.terms.keys().flat_map(|m| m.keys().filter(|atom| divided(m, atom)));
        let sums: BTreeSet<ScalarAtom> =
            sums.filter(|atom| matches!(atom, ScalarAtom::Sum(_))).cloned().collect();
        for atom in sums {
            let (over, rest) = self.terms.clone().into_iter().partition(|(m, _)| divided(m, &atom));
            let Some((unit, core)) = (Scalar { terms: over }).split(work) else { continue };
            if atom == ScalarAtom::Sum(Arc::new(core)) {
                work.used(Rule::Quotient);
                let (inverse, _) = unit.split(work).expect("a monomial is not zero");
                self.terms = rest;
                self.add(&inverse.times(&Scalar::atom(atom), work), work);
            }
        }
    }

    /// −α.
    pub fn negated(&self) -> Scalar {
        let terms = self.terms.iter().map(|(m, (n, d))| (m.clone(), (-n, *d))).collect();
        Scalar { terms }
    }

    /// α/β: common factors of β are cancelled; a remaining sum becomes one atom.
    pub fn over(&self, divisor: &Scalar, work: &mut NormalisationWork) -> Scalar {
        let Some((unit, core)) = divisor.split(work) else {
            work.halt(NormalisationStop::DivisionByZero);
            return Scalar::default();
        };
        work.used(Rule::Quotient);
        let quotient = self.times(&unit, work);
        if core.terms.len() <= 1 {
            return quotient;
        }
        if !work.can_hold(core.weight()) {
            return quotient;
        }
        quotient.times(&Scalar::term(Monomial::from([(ScalarAtom::Sum(Arc::new(core)), -1)]), (1, 1)), work)
    }

    /// Total number of atoms and letters, nested ones included.
    pub fn weight(&self) -> usize {
        let atoms = self.terms.keys().flat_map(|monomial| monomial.keys());
        let weight = |atom: &ScalarAtom| match atom {
            ScalarAtom::Eta | ScalarAtom::Mu | ScalarAtom::Lambda => 1,
            ScalarAtom::Dot(u, word, v) => u.weight() + word.weight() + v.weight(),
            ScalarAtom::Sum(inner) | ScalarAtom::Norm(inner) => 1 + inner.weight(),
            ScalarAtom::Opaque(opaque) => opaque.weight(),
        };
        atoms.map(weight).sum()
    }

    /// The reciprocal of the positive factor common to all terms.
    pub fn over_positive(&self) -> Scalar {
        let common = self.terms.keys().cloned().reduce(|m, n| shared(&m, &n)).unwrap_or_default();
        let positive = common.into_iter().filter(|(atom, _)| atom.is_positive());
        Scalar::term(positive.map(|(atom, power)| (atom, -power)).collect(), (1, 1))
    }

    /// The largest fraction of which all coefficients are integer multiples.
    pub fn content<'a>(scalars: impl Iterator<Item = &'a Scalar>, work: &mut NormalisationWork) -> Scalar {
        let coefficients = scalars.flat_map(|scalar| scalar.terms.values());
        let largest = coefficients.fold((0, 1), |so_far, c| exact(common_measure(so_far, *c), work));
        Scalar::term(Monomial::new(), largest)
    }

    /// α = core/unit, where the unit is one monomial and the core has leading coefficient 1 and no common factor.
    fn split(&self, work: &mut NormalisationWork) -> Option<(Scalar, Scalar)> {
        let common = self.terms.keys().cloned().reduce(|m, n| shared(&m, &n))?;
        let inverse: Monomial = common.into_iter().map(|(atom, power)| (atom, -power)).collect();
        let core = self.times(&Scalar::term(inverse.clone(), (1, 1)), work);
        // The leading term is known only now: a common factor may change the order of the terms.
        let (_, &leading) = core.terms.first_key_value()?;
        let core = core.times(&Scalar::term(Monomial::new(), reciprocal(leading)), work);
        Some((Scalar::term(inverse, reciprocal(leading)), core))
    }
}

fn join(m: &Monomial, n: &Monomial) -> Monomial {
    let mut product = m.clone();
    for (atom, power) in n {
        let total = product.entry(atom.clone()).or_insert(0);
        *total += power;
        if *total == 0 {
            product.remove(atom);
        }
    }
    product
}

/// Removes the squares of norms from a product and returns them with their powers. A norm remains at most with power
/// −1.
fn take_squares(monomial: &mut Monomial) -> Vec<(Arc<Scalar>, i32)> {
    let mut taken = vec![];
    for (atom, power) in monomial.iter_mut() {
        let squares = (*power + 1).div_euclid(2);
        if let (ScalarAtom::Norm(square), true) = (atom, squares != 0) {
            *power -= 2 * squares;
            taken.push((square.clone(), squares));
        }
    }
    monomial.retain(|_, power| *power != 0);
    taken
}

/// The greatest common factor: the smaller of the two powers of every atom, 0 for absent ones.
fn shared(m: &Monomial, n: &Monomial) -> Monomial {
    let power = |of: &Monomial, atom: &ScalarAtom| of.get(atom).copied().unwrap_or(0);
    let smaller = |atom: &ScalarAtom| (atom.clone(), power(m, atom).min(power(n, atom)));
    m.keys().chain(n.keys()).map(smaller).filter(|(_, p)| *p != 0).collect()
}

fn exact(fraction: Option<Fraction>, work: &mut NormalisationWork) -> Fraction {
    fraction.unwrap_or_else(|| {
        work.halt(NormalisationStop::Overflow);
        (0, 1)
    })
}

fn common_divisor(n: i64, d: i64) -> Option<i64> {
    let (mut a, mut b) = (n.checked_abs()?, d.checked_abs()?);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(a)
}

/// The largest fraction of which both are integer multiples.
fn common_measure((a, b): Fraction, (c, d): Fraction) -> Option<Fraction> {
    lowest(common_divisor(a.checked_mul(d)?, c.checked_mul(b)?)?, b.checked_mul(d)?)
}

fn lowest(n: i64, d: i64) -> Option<Fraction> {
    let a = common_divisor(n, d)?;
    let sign = if d < 0 { -1 } else { 1 };
    Some((sign * n / a.max(1), sign * d / a.max(1)))
}

fn add((a, b): Fraction, (c, d): Fraction) -> Option<Fraction> {
    lowest(a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?)
}

fn multiply((a, b): Fraction, (c, d): Fraction) -> Option<Fraction> {
    lowest(a.checked_mul(c)?, b.checked_mul(d)?)
}

fn reciprocal((n, d): Fraction) -> Fraction {
    if n < 0 { (-d, -n) } else { (d, n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    fn eta() -> Scalar {
        Scalar::atom(ScalarAtom::Eta)
    }

    #[test]
    fn sums_and_products_are_exact() {
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let two = Scalar::number(2);
        let square = eta().plus(&two, work).times(&eta().plus(&two, work), work);
        let expanded = eta().times(&eta(), work).plus(&eta().times(&Scalar::number(4), work), work);
        assert_eq!(square, expanded.plus(&Scalar::number(4), work));
        assert!(eta().plus(&eta().negated(), work).is_zero());
    }

    #[test]
    fn quotients_cancel() {
        let work = &mut NormalisationWork::new(Geometry::Tall);
        assert_eq!(eta().over(&eta(), work), Scalar::number(1));
        let sum = eta().plus(&Scalar::number(1), work);
        let thrice = sum.times(&Scalar::number(3), work).times(&eta(), work);
        assert_eq!(thrice.over(&sum, work), eta().times(&Scalar::number(3), work));
        let half = Scalar::number(1).over(&Scalar::number(-2), work);
        assert_eq!(half.times(&Scalar::number(4), work), Scalar::number(-2));
        // 1/(2 + 2η) = ½/(1 + η).
        let double = sum.times(&Scalar::number(2), work);
        let one = Scalar::number(1);
        assert_eq!(one.over(&double, work), one.over(&sum, work).over(&Scalar::number(2), work));
        assert_eq!(work.stop, None);
    }

    #[test]
    fn the_square_of_a_norm_is_no_norm() {
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let one = Scalar::number(1);
        for square in [eta(), eta().plus(&Scalar::number(2), work)] {
            let norm = Scalar::atom(ScalarAtom::Norm(Arc::new(square.clone())));
            let over_norm = one.over(&norm, work);
            assert_eq!(norm.times(&norm, work), square);
            assert_eq!(over_norm.times(&over_norm, work), one.over(&square, work));
            assert_eq!(over_norm.times(&norm, work), one);
            assert_eq!(
                over_norm.times(&over_norm, work).times(&norm, work).times(&square, work),
                square.times(&over_norm, work)
            );
        }
        assert_eq!(work.stop, None);
    }

    #[test]
    fn the_content_does_not_depend_on_order() {
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let fraction = |n, d| Scalar::term(Monomial::new(), (n, d));
        let content =
            |scalars: &[Scalar], work: &mut NormalisationWork| Scalar::content(scalars.iter(), work);
        assert_eq!(content(&[fraction(2, 3), fraction(-4, 9)], work), fraction(2, 9));
        assert_eq!(content(&[fraction(-4, 9), fraction(2, 3)], work), fraction(2, 9));
        assert!(content(&[], work).is_zero());
    }

    #[test]
    fn bounds_are_reported() {
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let _ = eta().over(&Scalar::default(), work);
        assert_eq!(work.stop, Some(NormalisationStop::DivisionByZero));
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let huge = Scalar::number(i64::MAX);
        let _ = huge.times(&huge, work);
        assert_eq!(work.stop, Some(NormalisationStop::Overflow));
    }
}
