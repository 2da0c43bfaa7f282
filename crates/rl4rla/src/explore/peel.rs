//! Peeling: the oracle's coefficients are replaced one at a time by formulas that a program can compute.
//!
//! A coefficient is a ratio of two inner products of vectors at hand, with the unit that makes the step one of x. Along
//! a run with the oracle every formula is compared with the coefficient it is to replace; those that come closest are
//! then run in its place.

use super::evaluator::{Evaluator, Iterated, Tape};
use super::expression::{Expressions, Id};
use super::log::LoggedResult;
use super::oracle::{self, Freedom, OracleStep};
use super::probe::ValueProbe;
use super::problem_set::ProblemSet;
use crate::program::{Affinity, Compute, Core, DataUnit, Datum, Kind, Op, Reg, Section, Type};
use rustc_hash::FxHashSet;

/// A formula for a coefficient, and how far it is from the oracle's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoefficientFormula {
    /// The number.
    pub ratio: Id,
    /// Whether it has the sign of the oracle's coefficient.
    pub agrees: bool,
    /// The median of |ln(formula/oracle)| over the iterations of a run.
    pub distance: f64,
}

impl LoggedResult for Vec<CoefficientFormula> {
    fn numbers(&self) -> Vec<f64> {
        let one = |formula: &CoefficientFormula| {
            [formula.ratio.index() as f64, f64::from(u8::from(formula.agrees)), formula.distance]
        };
        self.iter().flat_map(one).collect()
    }

    fn read(numbers: &[f64]) -> Option<Vec<CoefficientFormula>> {
        let one = |numbers: &[f64]| CoefficientFormula {
            ratio: Id::at(numbers[0] as usize),
            agrees: numbers[1] == 1.0,
            distance: numbers[2],
        };
        numbers.len().is_multiple_of(3).then(|| numbers.chunks_exact(3).map(one).collect())
    }
}

/// The vectors at hand when a direction is known: those computed on the way to it, the last step, the images of both
/// under the maps in use, and the changes of all since the last iteration.
pub fn vectors_at_hand(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    (direction, extra): (Id, &[Id]),
    operators: &[Op],
) -> Vec<Id> {
    let calls = expressions.calls(&[direction]);
    let has = |core: Core| operators.iter().any(|op| op.is(core));
    let is_vector = |expressions: &Expressions, id: Id| {
        expressions.of(id).ty.kind() == Kind::Vector && expressions.of(id).section == Section::Iteration
    };
    let mut found: Vec<Id> = calls.iter().copied().filter(|&id| is_vector(expressions, id)).collect();
    found.push(expressions.input(Reg::D));
    found.extend(extra);
    let mut maps: Vec<Id> =
        calls.iter().copied().filter(|&id| expressions.of(id).ty.kind() == Kind::Matrix).collect();
    maps.push(expressions.input(Reg::A));
    let moved: Vec<Id> = [expressions.input(Reg::D)].into_iter().chain(extra.iter().copied()).collect();
    for &map in maps.iter().filter(|_| has(Core::MatVecMul)) {
        for &vector in &moved {
            found.extend(expressions.core(Core::MatVecMul, &[map, vector]));
        }
    }
    // A sum of maps, such as AᵀA + λI, is no matrix that a program has.
    for &sum in &calls {
        for &vector in moved.iter().filter(|_| expressions.is_sum(sum)).collect::<Vec<_>>() {
            found.extend(expressions.derivative(sum, vector).map(|(_, image)| image));
        }
    }
    let previous = operators.iter().copied().find(|op| matches!(op.compute, Compute::Previous));
    if let Some(previous) = previous {
        for &id in calls.iter().filter(|&&id| is_vector(expressions, id)).collect::<Vec<_>>() {
            let before = expressions.call(previous, &[id]);
            let change = before.and_then(|before| expressions.core(Core::VecVecSub, &[id, before]));
            found.extend(change);
        }
    }
    found.retain(|&id| expressions.of(id).quantity.affinity == Affinity::Vector);
    // Of equal values the one that takes the least additional work.
    let known: FxHashSet<Id> = calls.into_iter().collect();
    let extra_flops = |expressions: &Expressions, id: Id| -> f64 {
        let new = expressions.of(id).calls.iter().filter(|call| !known.contains(call));
        new.map(|&call| expressions.of(call).flops).sum()
    };
    found.sort_by(|&i, &j| {
        extra_flops(expressions, i).total_cmp(&extra_flops(expressions, j)).then(i.cmp(&j))
    });
    let mut kept: Vec<Id> = Vec::new();
    let mut values: Vec<Id> = Vec::new();
    for id in found {
        if let Some(value) = probe.representative(expressions, id)
            && !values.contains(&value)
        {
            values.push(value);
            kept.push(id);
        }
    }
    kept
}

/// All ratios of inner products of these vectors with this unit, one for each value.
pub fn ratios(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    vectors: &[Id],
    unit: DataUnit,
) -> Vec<Id> {
    let mut dots = Vec::new();
    for (i, &one) in vectors.iter().enumerate() {
        for &other in &vectors[i..] {
            let alike = expressions.of(one).ty == expressions.of(other).ty;
            dots.extend(alike.then(|| expressions.core(Core::VecVecDot, &[one, other])).flatten());
        }
    }
    let mut found = Vec::new();
    for &above in &dots {
        for &below in &dots {
            if above != below && expressions.unit(above).per(expressions.unit(below)) == unit {
                found.extend(expressions.core(Core::ScalarDiv, &[above, below]));
            }
        }
    }
    // Of equal values the one of fewest instructions.
    found.sort_by_key(|&id| (expressions.of(id).edits(), id));
    let mut numbers: Vec<f64> = Vec::new();
    found.retain(|&id| match probe.number(expressions, id) {
        Some(number) if number != 0.0 => {
            let new = numbers.iter().all(|other| (number / other - 1.0).abs() > 1e-9);
            if new {
                numbers.push(number);
            }
            new
        }
        _ => false,
    });
    found
}

/// The `count` formulas that come closest to the coefficient that the oracle chooses on an instance.
pub fn closest(
    problems: &ProblemSet,
    evaluator: &Evaluator,
    expressions: &Expressions,
    (direction, freedom): (Id, Freedom),
    formulas: &[Id],
    (instance, count): (usize, usize),
) -> Vec<CoefficientFormula> {
    let tape = Tape::new(expressions, formulas);
    let places: Vec<usize> =
        formulas.iter().map(|&id| tape.place(id).expect("formulas are on the tape")).collect();
    let mut logarithms: Vec<Vec<(f64, bool)>> = vec![vec![]; formulas.len()];
    let mut previous: Option<Iterated> = None;
    let mut first = true;
    let compare = |step: OracleStep| {
        let values = evaluator.iterate(&tape, &step.state, previous.as_ref());
        let wanted = if freedom == Freedom::Both { step.momentum } else { step.length };
        // There is no momentum in the first iteration.
        if wanted != 0.0 && !(first && freedom == Freedom::Both) {
            for (place, seen) in places.iter().zip(&mut logarithms) {
                seen.push(match &values[*place] {
                    Some(Datum::Scalar(number)) if *number != 0.0 => {
                        ((number / wanted).abs().ln().abs(), number * wanted > 0.0)
                    }
                    _ => (f64::INFINITY, true),
                });
            }
        }
        first = false;
        previous = Some(values);
    };
    oracle::run(problems, evaluator, expressions, (direction, freedom), (instance, 40), compare);
    let mut ranked: Vec<CoefficientFormula> = formulas
        .iter()
        .zip(logarithms)
        .filter(|(_, seen)| !seen.is_empty())
        .map(|(&ratio, mut seen)| {
            let agreeing = seen.iter().filter(|(_, agrees)| *agrees).count();
            seen.sort_by(|a, b| a.0.total_cmp(&b.0));
            CoefficientFormula { ratio, agrees: 2 * agreeing >= seen.len(), distance: seen[seen.len() / 2].0 }
        })
        .filter(|formula| formula.distance.is_finite())
        .collect();
    ranked.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.ratio.cmp(&b.ratio)));
    ranked.truncate(count);
    ranked
}

/// v − c·d, or v + c·d if the formula has the wrong sign.
pub fn with_momentum(
    expressions: &mut Expressions,
    direction: Id,
    formula: CoefficientFormula,
) -> Option<Id> {
    let d = expressions.input(Reg::D);
    let scaled = expressions.core(Core::ScalarVecMul, &[formula.ratio, d])?;
    let combine = if formula.agrees { Core::VecVecSub } else { Core::VecVecAdd };
    expressions.core(combine, &[direction, scaled])
}

/// Whether a vector has the unit of x, so that it may be a step as it is.
pub fn is_step(expressions: &Expressions, id: Id) -> bool {
    expressions.unit(id) == expressions.step_unit() && matches!(expressions.of(id).ty, Type::Vector(_))
}
