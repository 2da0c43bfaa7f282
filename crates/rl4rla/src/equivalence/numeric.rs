//! The execution test: both programs run on a fixed set of test instances, and their iterates are compared.

use crate::execute::{RunSettings, snapshots};
use crate::linalg::{norm, sub};
use crate::problem::{Family, Instance};
use crate::program::{Canonical, Datum, Geometry, LiveOut, Program, Reg, Section, Signature, Update};
use crate::rng::Stream;
use std::fmt;

/// κ of the test instances: small, so that rounding stays far below any real difference.
pub(super) const KAPPA: f64 = 10.0;
/// Relative tolerance within which iterates agree: ε·κ⁴ with a margin for products of inverses, and ten times more
/// for every iteration after the fourth, as rounding errors grow in nonlinear iterations.
fn agree(iteration: usize) -> f64 {
    1e-9 * 10f64.powi(iteration.saturating_sub(ITERATIONS) as i32)
}
/// Relative deviation above which iterates differ; between the two thresholds the result is unclear.
const DIFFER: f64 = 1e-5;
/// A generic step size.
pub(super) const STEP: f64 = 0.37;
/// A generic number in register `mu`.
pub(super) const MU: f64 = 0.23;
/// Iterations from one refresh to the next: both kinds of iterations occur twice in a run.
pub(super) const EVERY: usize = 3;
/// λ, for programs that read it.
const LAMBDA: f64 = 0.17;
/// Enough iterations for carried registers to have an effect.
pub(super) const ITERATIONS: usize = 4;
/// Iterations from the initial state: carried registers start at zero there and take longer to have an effect.
const FROM_START: usize = 6;

/// The starting point of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The initial state of a run: x = 0, unless x is assigned or given, and carried registers zero.
    True,
    /// A generic point where nothing is zero, carried registers included: tests the iteration as a function.
    Anywhere,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Start::True => "from the initial state",
            Start::Anywhere => "from a generic point",
        })
    }
}

/// The result of the execution test.
#[derive(Clone, PartialEq, Debug)]
pub enum Numeric {
    /// The iterates agree on every instance.
    Agree,
    /// Both programs fail in the first iteration of a run; from a generic point their iterates agree.
    NeverRun,
    /// The iterates differ, for the first time at this iteration.
    Differ {
        /// The instance.
        instance: String,
        /// The iteration, from 1.
        iteration: usize,
        /// Where both were started.
        from: Start,
    },
    /// The iterates agree as long as both programs run, but one of them fails where the other runs.
    Domain {
        /// The instance.
        instance: String,
        /// The iteration, from 1.
        iteration: usize,
        /// Where both were started.
        from: Start,
        /// Whether the first program is the one that fails.
        first_fails: bool,
    },
    /// The iterates agree wherever both programs run; on problems of some sizes, such as samples with fewer rows than
    /// columns, one of them cannot run at all.
    Sizes {
        /// The first such instance.
        instance: String,
        /// Whether the first program is the one that fails there.
        first_fails: bool,
    },
    /// The programs draw different random objects, and their results have different distributions.
    DifferInLaw {
        /// The functional of the last iterate that differs.
        functional: &'static str,
    },
    /// Unclear: between the thresholds, or never comparable.
    Unclear(String),
}

/// The outcome of the execution test.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The result of the execution test.
    pub numeric: Numeric,
    /// The largest relative deviation of an iterate.
    pub largest: f64,
    /// Instances on which one program ran and the other failed.
    pub one_sided: Vec<String>,
    /// Whether one program failed on every instance, always the same, and the other on none.
    pub always_one_sided: bool,
    /// Whether both programs ran at all on some instance.
    pub ran: bool,
    /// Whether some iterate differs from the starting point.
    pub moved: bool,
}

/// Test instances: several sizes, samples smaller and larger than n, b outside the range of A.
pub(super) fn probes(geometry: Geometry) -> Vec<(String, Instance, RunSettings)> {
    let sizes: &[(usize, usize, usize, usize)] = match geometry {
        Geometry::Tall => &[(24, 4, 9, 3), (40, 7, 16, 11), (60, 10, 24, 6)],
        Geometry::Square | Geometry::Symmetric => &[(4, 4, 3, 3), (7, 7, 6, 5), (9, 9, 9, 12)],
    };
    let name = if geometry == Geometry::Symmetric { "psd" } else { "mid-cond" };
    let probe = |&(rows, cols, sketch_rows, batch): &(usize, usize, usize, usize)| {
        let outside = if geometry == Geometry::Tall { 0.3 } else { 0.0 };
        let family = Family { rows, cols, outside, condition: Some(KAPPA), ..named(name) };
        let instance = draw(&family, "equivalence", rows as u64);
        let settings = RunSettings {
            step: STEP,
            mu: MU,
            every: EVERY,
            sketch_rows,
            batch,
            ..RunSettings::for_size(rows, cols)
        };
        (format!("{name} {rows}×{cols}, k = {batch}"), instance, settings)
    };
    sizes.iter().map(probe).collect()
}

pub(super) fn named(name: &str) -> Family {
    Family::named(name).expect("a family of the table")
}

pub(super) fn draw(family: &Family, label: &str, index: u64) -> Instance {
    let drawn = family.draw(&Stream::new(0).derive(label, index)).expect("a family that can be drawn");
    drawn.with_lambda(LAMBDA)
}

/// A vector without zero entries.
fn point(cols: usize) -> Vec<f64> {
    Stream::new(1).derive("start", 0).normals(cols)
}

/// The instance with the initial x of a run: zero if the update is x ← x − η·v1, otherwise generic.
pub(super) fn at_its_start(instance: &Instance, update: Update) -> Instance {
    let mut instance = instance.clone();
    instance.start = match update {
        Update::Subtract => vec![0.0; instance.cols()],
        Update::Assign | Update::Answer | Update::Basis => point(instance.cols()),
    };
    instance
}

/// The RNG stream shared by all runs that are compared iterate by iterate.
pub(super) fn random_draws() -> Stream {
    Stream::new(1).derive("draws", 0)
}

/// The iterates of a program up to the first failure, or its answers if the update is `answer`.
pub(super) fn iterates(
    program: &Program,
    instance: &Instance,
    update: Update,
    settings: &RunSettings,
    from: Start,
    stream: &Stream,
) -> Vec<Vec<f64>> {
    let result = if update.is_answer() { Reg::V1 } else { Reg::X };
    let live = Canonical::new(program, LiveOut::Finished);
    let taken = match from {
        Start::True => {
            snapshots(live.program(), &at_its_start(instance, update), update, settings, None, stream)
        }
        Start::Anywhere => {
            let start = point(instance.cols());
            snapshots(live.program(), instance, update, settings, Some(&start), stream)
        }
    };
    // Live code that fails leaves v1 or a carried register empty, or in setup the x to start from.
    if taken[0][Reg::X.index()].is_none() {
        return vec![];
    }
    let written =
        |reg: &Reg| live.program().section(Section::Iteration).iter().any(|i| i.target == Some(*reg));
    let results: Vec<Reg> = Reg::carried().filter(written).chain([Reg::V1]).collect();
    let moved = taken[1..].iter().map_while(|s| match &s[result.index()] {
        Some(Datum::Vector(x))
            if results.iter().all(|reg| s[reg.index()].is_some()) && x.iter().all(|a| a.is_finite()) =>
        {
            Some(x.to_vec())
        }
        _ => None,
    });
    moved.collect()
}

/// Compares the iterates of two programs on common random numbers.
pub fn compare(p: &Program, q: &Program, signature: impl Into<Signature>, from: Start) -> Comparison {
    let Signature { geometry: shape, update, .. } = signature.into();
    let (mut largest, mut ran, mut moved, mut one_sided) = (0.0f64, false, false, Vec::new());
    let (mut departure, mut fails, mut instances, mut near) = (None, Vec::new(), 0, true);
    for (name, instance, settings) in probes(shape) {
        debug_assert_eq!(instance.geometry(), shape);
        let iterations = if from == Start::True { FROM_START } else { ITERATIONS };
        let settings = RunSettings { iterations, ..settings };
        let iterates = |program| iterates(program, &instance, update, &settings, from, &random_draws());
        let (xs, ys) = (iterates(p), iterates(q));
        instances += 1;
        if xs.len() != ys.len() {
            one_sided.push(name.clone());
            let iteration = xs.len().min(ys.len()) + 1;
            fails.push((name.clone(), iteration, xs.len() < ys.len()));
        }
        let start =
            if from == Start::True { at_its_start(&instance, update).start } else { point(instance.cols()) };
        for (iteration, (x, y)) in (1..).zip(xs.iter().zip(&ys)) {
            ran = true;
            let away = |z: &[f64]| z.len() != start.len() || norm(&sub(z, &start)) > 1e-12 * norm(&start);
            moved |= away(x) || away(y);
            let deviation = norm(&sub(x, y)) / norm(x).max(norm(y)).max(1e-6);
            largest = largest.max(deviation);
            near &= deviation <= agree(iteration);
            if deviation > DIFFER && departure.is_none() {
                departure = Some(Numeric::Differ { instance: name.clone(), iteration, from });
            }
        }
    }
    let always_one_sided =
        fails.len() == instances && fails.iter().all(|(_, i, first)| (*i, *first) == (1, fails[0].2));
    let some_sizes = ran && near && fails.len() < instances && fails.iter().all(|(_, i, _)| *i == 1);
    let numeric = match (departure, fails.into_iter().next()) {
        (Some(differ), _) => differ,
        (None, Some((instance, _, first_fails))) if some_sizes => Numeric::Sizes { instance, first_fails },
        (None, Some((instance, iteration, first_fails))) => {
            Numeric::Domain { instance, iteration, from, first_fails }
        }
        (None, None) if !ran => Numeric::Unclear("both programs fail in the first iteration".into()),
        (None, None) if near => Numeric::Agree,
        (None, None) => Numeric::Unclear(format!(
            "a deviation of {largest:.1e} is inconclusive: above rounding, below a clear difference"
        )),
    };
    Comparison { numeric, largest, one_sided, always_one_sided, ran, moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    fn program(name: &str) -> &'static Program {
        &Entry::named(name).unwrap().document.program
    }

    #[test]
    fn the_forms_of_the_sketched_preconditioner_agree() {
        let explicit = program("sketched-precond-gd");
        for other in ["sketched-precond-gd-factored", "sketched-precond-gd-gram"] {
            for from in [Start::True, Start::Anywhere] {
                assert_eq!(compare(explicit, program(other), Geometry::Tall, from).numeric, Numeric::Agree);
            }
        }
    }

    #[test]
    fn different_programs_part_at_once() {
        for from in [Start::True, Start::Anywhere] {
            let comparison = compare(program("ls-gd"), program("precond-gd"), Geometry::Tall, from);
            assert!(matches!(comparison.numeric, Numeric::Differ { iteration: 1, .. }), "{comparison:?}");
        }
    }

    #[test]
    fn what_fails_at_zero_is_told_from_what_runs_there() {
        let gradient = program("ls-gd");
        let scaled: Program = format!(
            "{gradient}v2 = VEC_NORMALIZE(x)\n a1 = VEC_VEC_DOT(v2, v2)\n v1 = SCALAR_VEC_MUL(a1, v1)\n"
        )
        .parse()
        .unwrap();
        let from = |start| compare(&scaled, gradient, Geometry::Tall, start);
        assert_eq!(from(Start::Anywhere).numeric, Numeric::Agree);
        let start = from(Start::True);
        assert!(
            matches!(start.numeric, Numeric::Domain { iteration: 1, first_fails: true, .. }),
            "{start:?}"
        );
        assert!(start.always_one_sided && start.one_sided.len() == 3);
    }
}
