//! The verdict, combined from algebra and execution.

use super::law::compare_in_law;
use super::normal::Normal;
use super::numeric::{Comparison, Numeric, Start, compare};
use super::rule::{NormalisationStop, Rule};
use super::stability::{Ladder, Stability, stability};
use super::state::related;
use crate::program::{Program, ShapeError, Signature};
use std::collections::BTreeSet;

/// Whether two programs are equivalent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Equal in exact arithmetic: algebra and execution agree.
    Equivalent,
    /// Execution distinguishes them, or one fails where the other runs.
    Different,
    /// Algebra and execution disagree; the evidence is in the verdict.
    Undecided,
}

/// The result of algebra on the iterations as functions.
#[derive(Clone, PartialEq, Debug)]
pub enum Symbolic {
    /// Equal normal forms, by these rules.
    Equal(BTreeSet<Rule>),
    /// Equal normal forms after a linear change of the carried registers that preserves the initial state.
    EqualByState(BTreeSet<Rule>),
    /// Different normal forms.
    Different,
    /// Normalisation stopped early.
    Stopped(NormalisationStop),
}

impl Symbolic {
    /// Compares two programs with these normal forms.
    pub(super) fn of(
        (p, left): (&Program, &Normal),
        (q, right): (&Program, &Normal),
        signature: Signature,
    ) -> Symbolic {
        match left.stop.or(right.stop) {
            Some(stop) => Symbolic::Stopped(stop),
            None if left.equals(right) => Symbolic::Equal(&left.rules | &right.rules),
            // A change of state relates registers at one and the same start.
            None if left.start != right.start || left.looks_back || right.looks_back => Symbolic::Different,
            None if left.carries() || right.carries() => {
                related(p, q, signature).map_or(Symbolic::Different, Symbolic::EqualByState)
            }
            None => Symbolic::Different,
        }
    }

    /// Compares two programs without running them.
    pub fn between(
        p: &Program,
        q: &Program,
        signature: impl Into<Signature>,
    ) -> Result<Symbolic, ShapeError> {
        let signature = signature.into();
        let (left, right) = (Normal::of(p, signature)?, Normal::of(q, signature)?);
        Ok(Symbolic::of((p, &left), (q, &right), signature))
    }

    /// Whether it proves equality.
    pub fn is_equal(&self) -> bool {
        matches!(self, Symbolic::Equal(_) | Symbolic::EqualByState(_))
    }
}

/// The result of both tests on two programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// The answer.
    pub answer: Answer,
    /// The result of algebra.
    pub symbolic: Symbolic,
    /// The result of the execution test.
    pub numeric: Numeric,
    /// The largest relative deviation of an iterate.
    pub max_deviation: f64,
    /// Instances on which one program ran and the other failed.
    pub one_sided: Vec<String>,
    /// Where rounding separates equivalent programs, if it does.
    pub stability: Option<Stability>,
    /// What was left out to bound the work.
    pub cut: Option<String>,
    /// The problems they were compared on.
    pub signature: Signature,
}

/// Decides whether two programs are equivalent on problems of this shape.
///
/// ```
/// use rl4rla::equivalence::{Answer, equivalent};
/// use rl4rla::program::{Geometry, Program};
/// let parse = |text: &str| text.parse::<Program>().unwrap();
/// let p = parse("setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n");
/// let q = parse("setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n");
/// assert_eq!(equivalent(&p, &q, Geometry::Tall).unwrap().answer, Answer::Equivalent);
/// ```
pub fn equivalent(p: &Program, q: &Program, signature: impl Into<Signature>) -> Result<Verdict, ShapeError> {
    let signature = signature.into();
    let (left, right) = (Normal::of(p, signature)?, Normal::of(q, signature)?);
    let symbolic = Symbolic::of((p, &left), (q, &right), signature);
    let start = compare(p, q, signature, Start::True);
    let map = compare(p, q, signature, Start::Anywhere);
    // If only a change of state relates the programs, a common generic state means different things to them.
    let by_state = matches!(symbolic, Symbolic::EqualByState(_));
    let largest = if by_state { start.largest } else { start.largest.max(map.largest) };
    let mut one_sided = start.one_sided.clone();
    one_sided
        .extend(map.one_sided.iter().filter(|name| !by_state && !start.one_sided.contains(name)).cloned());
    let carries = left.carries() || right.carries();
    let (answer, numeric) = match &symbolic {
        Symbolic::Equal(rules) => of_equal_maps(start, map, rules.contains(&Rule::Quotient)),
        Symbolic::EqualByState(_) => match start.numeric {
            same @ (Numeric::Agree | Numeric::Sizes { .. }) => (Answer::Equivalent, same),
            domain @ Numeric::Domain { .. } => (Answer::Different, domain),
            other => (Answer::Undecided, other),
        },
        // Programs with different draws have different iterates; the question is whether their distributions differ.
        Symbolic::Different if left.random() != right.random() => match start.numeric {
            domain @ Numeric::Domain { .. } if start.always_one_sided => (Answer::Different, domain),
            _ => {
                let from = if carries { Start::True } else { Start::Anywhere };
                let law = compare_in_law(p, q, signature, from);
                let differ = matches!(law, Numeric::DifferInLaw { .. });
                (if differ { Answer::Different } else { Answer::Undecided }, law)
            }
        },
        // If normalization stopped, it is not known which draws are the same.
        Symbolic::Stopped(_) if [p, q].iter().any(|program| draws(program)) => match start.numeric {
            domain @ Numeric::Domain { .. } if start.always_one_sided => (Answer::Different, domain),
            other => (Answer::Undecided, other),
        },
        Symbolic::Different | Symbolic::Stopped(_) => of_different_maps(start, map, carries),
    };
    let ladder = if answer == Answer::Equivalent { stability(p, q, signature) } else { Ladder::default() };
    let (stability, cut) = (ladder.parted, ladder.cut);
    Ok(Verdict { answer, symbolic, numeric, max_deviation: largest, one_sided, stability, cut, signature })
}

fn draws(program: &Program) -> bool {
    program.instructions().any(|(_, _, ins)| ins.op.draws())
}

/// The answer if algebra proves the iterations equal as functions. It does not know where they are defined, nor where
/// a divisor that it cancelled is zero.
fn of_equal_maps(start: Comparison, map: Comparison, cancelled: bool) -> (Answer, Numeric) {
    match (start.numeric, map.numeric) {
        (start @ Numeric::Differ { iteration: 1, .. }, Numeric::Differ { iteration: 1, .. }) if cancelled => {
            (Answer::Different, start)
        }
        // Algebra and execution contradict each other.
        (_, differ @ Numeric::Differ { .. }) => (Answer::Undecided, differ),
        (start @ (Numeric::Differ { .. } | Numeric::Domain { .. }), _) => (Answer::Different, start),
        (_, domain @ Numeric::Domain { .. }) => (Answer::Different, domain),
        (Numeric::Agree, Numeric::Agree) => (Answer::Equivalent, Numeric::Agree),
        // The set of sizes on which a program can run is not part of its behaviour there.
        (sizes @ Numeric::Sizes { .. }, Numeric::Agree | Numeric::Sizes { .. })
        | (Numeric::Agree, sizes @ Numeric::Sizes { .. }) => (Answer::Equivalent, sizes),
        // Two programs that both fail in the initial state are equivalent as far as can be tested.
        (_, Numeric::Agree) if !start.ran => (Answer::Equivalent, Numeric::NeverRun),
        (Numeric::Agree, unclear) | (unclear, _) => (Answer::Undecided, unclear),
    }
}

/// The answer if algebra has no proof.
fn of_different_maps(start: Comparison, map: Comparison, carries: bool) -> (Answer, Numeric) {
    match (start.numeric, map.numeric) {
        (start @ (Numeric::Differ { .. } | Numeric::Domain { .. } | Numeric::Sizes { .. }), _) => {
            (Answer::Different, start)
        }
        // Programs that do not move x have equal iterates from the initial state, but only from there. Programs with
        // carried registers may be related by a change of state that algebra did not find.
        (_, map @ (Numeric::Differ { .. } | Numeric::Domain { .. } | Numeric::Sizes { .. }))
            if !carries || !start.moved =>
        {
            (Answer::Different, map)
        }
        (Numeric::Agree, _) if carries => {
            let why = "the iterates agree from the initial state, but algebra cannot prove it";
            (Answer::Undecided, Numeric::Unclear(why.into()))
        }
        (start, Numeric::Agree) => (Answer::Undecided, start),
        (_, map) => (Answer::Undecided, map),
    }
}
