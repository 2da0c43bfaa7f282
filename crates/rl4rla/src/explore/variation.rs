//! Variation: mutations and crossover of programs that are well-typed by construction.
//!
//! A program is the value that it steps along, its start and its step size. A move exchanges a value that the program
//! computes for another of the same shape, unit, affinity and section, and calls all that depends on it anew; what does
//! not fit is never built.

use super::expression::{Expressions, Id};
use super::peel::{is_step, vectors_at_hand};
use super::probe::ValueProbe;
use super::race::step_sizes;
use super::spec::ExploreSpec;
use super::start::starts;
use crate::program::{Affinity, Core, DataQuantity, DataUnit, Kind, Section, Type};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

/// Most instructions of a step.
const MOST_EDITS: usize = 24;
/// Moves that are tried for a child.
const ATTEMPTS: usize = 20;
/// Ratios that are tried for a coefficient.
const RATIOS: usize = 40;

/// What two values have in common if one can take the place of the other.
type Class = (Type, DataQuantity, Section);

/// A program as evolution sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Genome {
    /// What it steps along.
    pub value: Id,
    /// Where it starts, if not at zero.
    pub start: Option<Id>,
    /// η, if it is a number to be chosen; otherwise it is 1.
    pub size: Option<f64>,
}

/// A move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Move {
    /// Another value of the same type, from those enumerated or the macros.
    Replace,
    /// A value of the other parent.
    Exchange,
    /// v ± c·w for v.
    Combine,
    /// c·v for v.
    Scale,
    /// Another formula for a coefficient.
    Coefficient,
    /// A call on v for v.
    Wrap,
    /// A value that v is computed from for v.
    Unwrap,
    /// c·w for the whole step.
    Redirect,
    /// Another start.
    Start,
    /// Another step size.
    Size,
}

/// Moves, each as often as it is to be made.
const MOVES: [Move; 17] = [
    Move::Replace,
    Move::Replace,
    Move::Exchange,
    Move::Exchange,
    Move::Combine,
    Move::Combine,
    Move::Combine,
    Move::Scale,
    Move::Coefficient,
    Move::Coefficient,
    Move::Coefficient,
    Move::Wrap,
    Move::Unwrap,
    Move::Redirect,
    Move::Start,
    Move::Size,
    Move::Size,
];

/// What programs are varied with.
pub struct Variation<'a> {
    /// All expressions.
    pub expressions: &'a mut Expressions,
    /// Their values.
    pub probe: &'a mut ValueProbe,
    /// Values that several good programs share.
    pub macros: Vec<Id>,
    /// What is explored.
    pub spec: &'a ExploreSpec,
    pool: FxHashMap<Class, Vec<Id>>,
    directions: Vec<Id>,
    at_hand: FxHashMap<Id, Vec<Id>>,
}

impl<'a> Variation<'a> {
    /// Moves with these values, in the order of their lengths.
    pub fn new(
        expressions: &'a mut Expressions,
        probe: &'a mut ValueProbe,
        spec: &'a ExploreSpec,
        values: &[Id],
    ) -> Variation<'a> {
        let mut pool: FxHashMap<Class, Vec<Id>> = FxHashMap::default();
        for &id in values {
            pool.entry(class(expressions, id)).or_default().push(id);
        }
        let is_direction = |id: &Id| expressions.of(*id).is_direction() && expressions.of(*id).edits() > 0;
        let directions = values.iter().copied().filter(is_direction).collect();
        let at_hand = FxHashMap::default();
        Variation { expressions, probe, macros: vec![], spec, pool, directions, at_hand }
    }

    /// A child of two programs that differs from the first by one move; `None` if none of those tried fits.
    pub fn child(&mut self, parent: Genome, other: Genome, rng: &mut ChaCha8Rng) -> Option<Genome> {
        (0..ATTEMPTS).find_map(|_| {
            let child = self.moved(MOVES[rng.random_range(0..MOVES.len())], parent, other, rng)?;
            let fits = self.expressions.of(child.value).edits() <= MOST_EDITS
                && self.expressions.of(child.value).is_direction()
                && is_step(self.expressions, child.value);
            (fits && child != parent).then_some(child)
        })
    }

    fn moved(&mut self, made: Move, parent: Genome, other: Genome, rng: &mut ChaCha8Rng) -> Option<Genome> {
        let root = parent.value;
        match made {
            Move::Start => {
                let found = starts(self.expressions, self.probe, root, &self.spec.operators);
                // No start is as likely as each of them.
                let at = rng.random_range(0..=found.len());
                return Some(Genome { start: found.get(at).copied(), ..parent });
            }
            Move::Size => {
                let sizes = step_sizes();
                let at = rng.random_range(0..=sizes.len());
                return Some(Genome { size: sizes.get(at).copied(), ..parent });
            }
            Move::Redirect => {
                let is_direction = |id: Id| self.expressions.of(id).is_direction();
                let along = self.offered(is_direction, &self.directions, rng)?;
                let unit = self.expressions.step_unit().per(self.expressions.unit(along));
                let ratio = self.ratio(along, unit, None, rng)?;
                let value = self.expressions.core(Core::ScalarVecMul, &[ratio, along])?;
                return Some(Genome { value, ..parent });
            }
            _ => {}
        }
        let calls = self.expressions.of(root).calls.clone();
        let old = *chosen(&calls, rng)?;
        let new = match made {
            Move::Replace => {
                let pool = self.pool.get(&class(self.expressions, old)).map_or(&[][..], |alike| alike);
                self.offered(|id| self.is_alike(id, old), pool, rng)
            }
            Move::Exchange => {
                let mut alike = self.expressions.of(other.value).calls.clone();
                alike.retain(|&id| id != old && self.is_alike(id, old));
                chosen(&alike, rng).copied()
            }
            Move::Combine => self.combined(old, rng),
            Move::Scale => {
                let ratio = self.ratio(self.vector(old)?, DataUnit::NONE, None, rng)?;
                self.expressions.core(Core::ScalarVecMul, &[ratio, old])
            }
            Move::Coefficient => {
                let is_number = |id: &Id| self.expressions.of(*id).ty.kind() == Kind::Scalar;
                let numbers: Vec<Id> = calls.iter().copied().filter(is_number).collect();
                let old = *chosen(&numbers, rng)?;
                let new = self.ratio(root, self.expressions.unit(old), Some(old), rng)?;
                return self.with(parent, old, new);
            }
            Move::Wrap => self.wrapped(root, old, rng),
            Move::Unwrap => {
                let mut inner = self.expressions.of(old).calls.clone();
                inner.retain(|&id| id != old && self.is_alike(id, old));
                chosen(&inner, rng).copied()
            }
            Move::Redirect | Move::Start | Move::Size => None,
        }?;
        self.with(parent, old, new)
    }

    /// The program with one value in place of another.
    fn with(&mut self, parent: Genome, old: Id, new: Id) -> Option<Genome> {
        let alike = self.is_alike(old, new) && old != new;
        let value = if alike {
            *self.expressions.substituted(parent.value, (old, new)).get(&parent.value)?
        } else {
            return None;
        };
        Some(Genome { value, ..parent })
    }

    fn is_alike(&self, one: Id, other: Id) -> bool {
        class(self.expressions, one) == class(self.expressions, other)
    }

    /// A value if it is a vector of the iteration that may be scaled.
    fn vector(&self, id: Id) -> Option<Id> {
        let expression = self.expressions.of(id);
        let fits = expression.ty.kind() == Kind::Vector
            && expression.section == Section::Iteration
            && expression.quantity.affinity == Affinity::Vector;
        fits.then_some(id)
    }

    /// A macro that fits or one of these values, short ones more often.
    fn offered(&self, fits: impl Fn(Id) -> bool, values: &[Id], rng: &mut ChaCha8Rng) -> Option<Id> {
        let macros: Vec<Id> = self.macros.iter().copied().filter(|&id| fits(id)).collect();
        if !macros.is_empty() && rng.random_bool(0.5) {
            return chosen(&macros, rng).copied();
        }
        let share = rng.random::<f64>().powi(3);
        values.get((share * values.len() as f64) as usize).copied()
    }

    /// v ± c·w, where w is at hand and c a ratio that gives it the unit of v.
    fn combined(&mut self, old: Id, rng: &mut ChaCha8Rng) -> Option<Id> {
        let at_hand = self.at_hand(self.vector(old)?);
        let ty = self.expressions.of(old).ty;
        let partners: Vec<Id> =
            at_hand.into_iter().filter(|&id| id != old && self.expressions.of(id).ty == ty).collect();
        let partner = *chosen(&partners, rng)?;
        let unit = self.expressions.unit(old).per(self.expressions.unit(partner));
        let ratio = self.ratio(old, unit, None, rng)?;
        let scaled = self.expressions.core(Core::ScalarVecMul, &[ratio, partner])?;
        let combine = if rng.random_bool(0.5) { Core::VecVecSub } else { Core::VecVecAdd };
        self.expressions.core(combine, &[old, scaled])
    }

    /// A call on a value and perhaps another that the program computes.
    fn wrapped(&mut self, root: Id, old: Id, rng: &mut ChaCha8Rng) -> Option<Id> {
        let op = *chosen(&self.spec.operators, rng)?;
        let around: Vec<Id> =
            self.expressions.calls(&[root]).into_iter().chain(self.macros.clone()).collect();
        let partner = *chosen(&around, rng)?;
        let operands = [vec![old], vec![old, partner], vec![partner, old]];
        let fits = |operands: &&Vec<Id>| op.forms.iter().any(|form| form.operands.len() == operands.len());
        let operands: Vec<&Vec<Id>> = operands.iter().filter(fits).collect();
        self.expressions.call(op, chosen(&operands, rng)?)
    }

    /// The vectors at hand when this one is known.
    fn at_hand(&mut self, vector: Id) -> Vec<Id> {
        if let Some(known) = self.at_hand.get(&vector) {
            return known.clone();
        }
        let found = vectors_at_hand(self.expressions, self.probe, (vector, &[vector]), &self.spec.operators);
        self.at_hand.insert(vector, found.clone());
        found
    }

    /// A ratio of inner products with this unit, of the vectors at hand that do not need the value `but`.
    fn ratio(&mut self, vector: Id, unit: DataUnit, but: Option<Id>, rng: &mut ChaCha8Rng) -> Option<Id> {
        let mut vectors = self.at_hand(vector);
        vectors.retain(|id| but.is_none_or(|but| !self.expressions.of(*id).calls.contains(&but)));
        (0..RATIOS).find_map(|_| {
            let above = self.inner_product(&vectors, rng)?;
            let below = self.inner_product(&vectors, rng)?;
            let fits =
                above != below && self.expressions.unit(above).per(self.expressions.unit(below)) == unit;
            fits.then(|| self.expressions.core(Core::ScalarDiv, &[above, below])).flatten()
        })
    }

    /// An inner product of two of these vectors, half the time of one with itself.
    fn inner_product(&mut self, vectors: &[Id], rng: &mut ChaCha8Rng) -> Option<Id> {
        let one = *chosen(vectors, rng)?;
        let other = if rng.random_bool(0.5) { one } else { *chosen(vectors, rng)? };
        let alike = self.expressions.of(one).ty == self.expressions.of(other).ty;
        self.expressions.core(Core::VecVecDot, &[one, if alike { other } else { one }])
    }
}

fn class(expressions: &Expressions, id: Id) -> Class {
    let expression = expressions.of(id);
    (expression.ty, expression.quantity, expression.section)
}

fn chosen<'a, T>(among: &'a [T], rng: &mut ChaCha8Rng) -> Option<&'a T> {
    (!among.is_empty()).then(|| &among[rng.random_range(0..among.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{ExploreSpec, directions, emit};
    use crate::program::{Geometry, Reg, Sizes, TaskUnits, check, unit_of_step};
    use crate::rng::Stream;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        /// A long line of descent, with nothing but types to keep it in order.
        #[test]
        fn every_child_is_well_typed(seed in any::<u64>()) {
            let spec = ExploreSpec::least_squares();
            let sizes = Sizes { rows: 1e6, cols: 500.0, sketch: 2000.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
            let mut all = Expressions::new(Geometry::Tall.into(), sizes, 5e11, Some(TaskUnits::LINEAR));
            let stream = Stream::new(seed);
            let mut probe = ValueProbe::new(&spec.family, &stream);
            let values = directions::values(&mut all, &mut probe, &spec.operators, spec.allowed.inputs, (5, true));
            let along = |id: &&Id| all.of(**id).is_direction() && all.of(**id).edits() > 0;
            let steps: Vec<Id> = values.iter().filter(along).copied().filter(|&id| is_step(&all, id)).collect();
            prop_assert!(steps.len() > 1);
            let mut line: Vec<Genome> =
                steps.iter().map(|&value| Genome { value, start: None, size: None }).collect();
            let mut variation = Variation::new(&mut all, &mut probe, &spec, &values);
            variation.macros = values.iter().copied().rev().take(20).collect();
            let (mut made, mut emitted) = (0, 0);
            for i in 0..300 {
                let mut rng = stream.derive("child", i).rng();
                let [one, other] = [0, 1].map(|_| line[rng.random_range(0..line.len())]);
                let Some(child) = variation.child(one, other, &mut rng) else { continue };
                made += 1;
                line.push(child);
                let Some(program) = emit::program(variation.expressions, child.value, child.start, &spec.allowed) else { continue };
                emitted += 1;
                prop_assert!(check(&program, Geometry::Tall).is_ok(), "{program}");
                prop_assert_eq!(unit_of_step(&program, Geometry::Tall.into()), Ok(DataUnit::NONE), "{}", program);
            }
            prop_assert!(made > 200 && emitted > 100, "{made} {emitted}");
        }
    }

    #[test]
    fn a_value_is_replaced_wherever_it_is_used() {
        let sizes = Sizes { rows: 1e3, cols: 10.0, sketch: 40.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        let mut all = Expressions::new(Geometry::Tall.into(), sizes, f64::INFINITY, Some(TaskUnits::LINEAR));
        let [a, b, x, d] = [Reg::A, Reg::B, Reg::X, Reg::D].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let moved = all.core(Core::MatVecMul, &[a, d]).unwrap();
        let step = |all: &mut Expressions, of: Id| {
            let gradient = all.core(Core::VecMatMul, &[of, a])?;
            let below = all.core(Core::VecVecDot, &[of, of])?;
            let above = all.core(Core::VecVecDot, &[gradient, d])?;
            let length = all.core(Core::ScalarDiv, &[above, below])?;
            all.core(Core::ScalarVecMul, &[length, d])
        };
        let (before, after) = (step(&mut all, residual).unwrap(), step(&mut all, moved).unwrap());
        assert_eq!(all.substituted(before, (residual, moved)).get(&before).copied(), Some(after));
        // x is a point, and has no gradient.
        assert_eq!(all.substituted(before, (residual, image)).get(&before).copied(), None);
    }
}
