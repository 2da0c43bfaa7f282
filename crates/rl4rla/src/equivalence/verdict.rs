//! The verdict: algebra and execution together.

use super::normal::Normal;
use super::numeric::{Comparison, Numeric, Stability, compare, compare_in_law, stability};
use super::rule::{Rule, Stop};
use crate::program::{Program, ShapeError, Signature};
use std::collections::BTreeSet;

/// Whether two programs are one algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Equal in exact arithmetic wherever both are defined: algebra and execution agree.
    Equivalent,
    /// Algebra and execution agree that they differ.
    Different,
    /// Algebra and execution do not agree; the evidence is in the verdict.
    Undecided,
}

/// What algebra says.
#[derive(Clone, PartialEq, Debug)]
pub enum Symbolic {
    /// One normal form, by these rules.
    Equal(BTreeSet<Rule>),
    /// Two normal forms.
    Different,
    /// Normalisation stopped early.
    Stopped(Stop),
}

/// The two-step check of two programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// The answer.
    pub answer: Answer,
    /// What algebra says.
    pub symbolic: Symbolic,
    /// What execution says.
    pub numeric: Numeric,
    /// The largest relative deviation of an iterate.
    pub max_deviation: f64,
    /// Instances on which one program ran and the other failed.
    pub one_sided: Vec<String>,
    /// Where equivalent programs part by rounding, if they do.
    pub stability: Option<Stability>,
    /// The problems they were compared on.
    pub signature: Signature,
}

/// Decides whether two programs are one algorithm on problems of this shape.
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
    let symbolic = match left.stop.or(right.stop) {
        Some(stop) => Symbolic::Stopped(stop),
        None if left.equals(&right) => Symbolic::Equal(left.rules.union(&right.rules).copied().collect()),
        None => Symbolic::Different,
    };
    let Comparison { mut numeric, largest, one_sided } = compare(p, q, signature);
    // Different draws differ draw for draw; the question is whether their laws do.
    if symbolic == Symbolic::Different && left.random() != right.random() {
        numeric = compare_in_law(p, q, signature);
    }
    let answer = match (&symbolic, &numeric) {
        (Symbolic::Equal(_), Numeric::Agree) => Answer::Equivalent,
        (Symbolic::Different, Numeric::Differ { .. } | Numeric::DifferInLaw { .. }) => Answer::Different,
        _ => Answer::Undecided,
    };
    let stability = if answer == Answer::Equivalent { stability(p, q, signature) } else { None };
    Ok(Verdict { answer, symbolic, numeric, max_deviation: largest, one_sided, stability, signature })
}
