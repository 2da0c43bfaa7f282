//! Failure modes: a table of predicates on the measurements, of which the first that holds gives the diagnosis.

use super::evidence::{Evidence, RowSampling};

/// A failure mode.
pub struct Diagnosis {
    /// Its name.
    pub name: &'static str,
    /// Explanation and remedy.
    pub why: &'static str,
    /// Whether the measurements show this failure mode.
    pub holds: fn(&Evidence) -> bool,
}

/// κ²·ε above which a Gram matrix has lost the significant digits: κ ≥ 2·10⁶.
const GRAM_LOST: f64 = 1e-3;
/// A ratio of leverage to probability that does not occur with uniform leverage.
const MISMATCH: f64 = 10.0;
/// Sampling is the cause if the result is this many times better without it.
const CURED: f64 = 100.0;

/// The failure modes, the most certain ones first.
pub static DIAGNOSES: [Diagnosis; 14] = [
    Diagnosis {
        name: "nothing broke",
        why: "The worst case found is within the tolerance, or at most ten times worse than typical.",
        holds: |e| e.end.is_some_and(|end| end <= unusual(e.tolerance, e.typical)),
    },
    Diagnosis {
        name: "row-norm sampling misses coherent rows",
        why: "A single row of small norm carries a direction. Sampled by norm it is hardly ever drawn, and when it \
              is, its weight 1/(k·p) throws the iterate far away. Sample by true leverage scores, or sketch.",
        holds: |e| overlooks(e, RowSampling::RowNorms),
    },
    Diagnosis {
        name: "uniform sampling misses the rows that matter",
        why: "A few rows dominate, but all are drawn with equal probability: most samples miss them, and the others \
              weight them by m/k. Sample by leverage scores, or sketch.",
        holds: |e| overlooks(e, RowSampling::Uniform),
    },
    Diagnosis {
        name: "the sampling law misses the rows that matter",
        why: "Rows with high leverage are drawn too rarely by the program's sampling distribution.",
        holds: |e| overlooks(e, RowSampling::Other),
    },
    Diagnosis {
        name: "too few rows sampled to stand for all",
        why: "The rows sampled in setup are fewer than twice the columns and do not determine the solution. Use a larger batch.",
        holds: |e| once(e) && e.batch_factor < 2.0,
    },
    Diagnosis {
        name: "solves the sampled system, not the whole one",
        why: "b is not in the range of A, and the rows sampled in setup have a different least-squares solution: the \
              iteration converges to the solution of another problem.",
        holds: |e| once(e) && e.outside > 0.0,
    },
    Diagnosis {
        name: "a Gram matrix squares the condition number",
        why: "A matrix times its own transpose has condition number κ², beyond working precision. Use triangular \
              factors, as in sketched-precond-gd-factored.",
        holds: |e| {
            e.gram && e.kappa.is_some_and(|kappa| kappa * kappa * f64::EPSILON > GRAM_LOST) && !e.is_slow()
        },
    },
    Diagnosis {
        name: "sketch too small to embed",
        why: "The sketch distorts norms so much that the step size is too large for the preconditioned problem. Use a \
              larger sketch or a smaller step size.",
        holds: |e| {
            e.sketch_factor.is_some_and(|factor| factor < 2.0 || e.radius.is_some_and(|radius| radius >= 1.0))
        },
    },
    Diagnosis {
        name: "no step converges",
        why: "An eigenvalue of M·A has no positive real part: the iteration does not contract that direction for any step size.",
        holds: |e| e.stable == Some(0.0),
    },
    Diagnosis {
        name: "step too large",
        why: "The step size exceeds 2/λmax of M·A: some direction grows in every iteration.",
        holds: |e| e.radius.is_some_and(|radius| radius >= 1.0),
    },
    Diagnosis {
        name: "slow: the contraction factor depends on κ",
        why: "The weakest direction contracts by about 1 − η/κ² per iteration: far too many iterations are needed. Precondition.",
        holds: Evidence::is_slow,
    },
    Diagnosis {
        name: "noise floor: sampled gradients do not come to rest",
        why: "b is not in the range of A, so every sample has a different solution, and the iterate follows them. \
              Smaller step sizes lower the floor.",
        holds: |e| e.sampled.is_some_and(|sampled| !sampled.once) && e.outside > 0.0,
    },
    Diagnosis {
        name: "the iteration grows",
        why: "The excess ends above its initial value, or overflows. A smaller step size may help.",
        holds: |e| e.end.is_none_or(|end| end >= e.start),
    },
    Diagnosis {
        name: "slow on this problem",
        why: "The excess decreases, but does not reach the tolerance within these iterations.",
        holds: |_| true,
    },
];

impl Diagnosis {
    /// The failure mode that the measurements show.
    pub fn of(evidence: &Evidence) -> &'static Diagnosis {
        let found = DIAGNOSES.iter().find(|diagnosis| (diagnosis.holds)(evidence));
        found.expect("the last one always holds")
    }
}

impl Evidence {
    /// Whether a stationary method converges but, by its convergence factor, is above the tolerance after T
    /// iterations.
    fn is_slow(&self) -> bool {
        let left = |radius: f64| self.start * radius.powi(self.iterations as i32);
        self.radius.is_some_and(|radius| radius < 1.0 && left(radius) > self.tolerance)
    }
}

/// The excess above which a result misses the tolerance and is ten times worse than typical.
pub(super) fn unusual(tolerance: f64, typical: f64) -> f64 {
    tolerance.max(10.0 * typical)
}

/// Whether samples from this distribution miss rows of high leverage, and using all rows would have succeeded.
fn overlooks(e: &Evidence, law: RowSampling) -> bool {
    let end = e.end.unwrap_or(f64::INFINITY).min(CURED * e.start);
    let cured = e.unsampled.is_none_or(|unsampled| CURED * unsampled <= end);
    cured && e.sampled.is_some_and(|s| s.law == law && s.oversight > 1.0 && s.mismatch > MISMATCH)
}

fn once(e: &Evidence) -> bool {
    e.sampled.is_some_and(|sampled| sampled.once)
}

#[cfg(test)]
mod tests {
    use super::super::evidence::SamplingEvidence;
    use super::*;
    use std::collections::BTreeSet;

    fn evidence() -> Evidence {
        Evidence {
            start: 1.0,
            end: Some(1e-2),
            typical: 1e-9,
            tolerance: 1e-6,
            kappa: Some(10.0),
            outside: 0.0,
            radius: None,
            stable: None,
            iterations: 100,
            sampled: None,
            unsampled: None,
            batch_factor: 5.0,
            sketch_factor: None,
            gram: false,
        }
    }

    fn name(evidence: Evidence) -> &'static str {
        Diagnosis::of(&evidence).name
    }

    #[test]
    fn every_name_has_its_evidence() {
        let sampled = |law, once, oversight| {
            Some(SamplingEvidence { law, once, mismatch: 20.0 * oversight, oversight })
        };
        let cases = [
            Evidence { end: Some(1e-7), ..evidence() },
            Evidence { sampled: sampled(RowSampling::RowNorms, false, 50.0), ..evidence() },
            Evidence { sampled: sampled(RowSampling::Uniform, true, 50.0), ..evidence() },
            Evidence { sampled: sampled(RowSampling::Other, true, 50.0), ..evidence() },
            Evidence { sampled: sampled(RowSampling::Uniform, true, 0.1), batch_factor: 1.0, ..evidence() },
            Evidence { sampled: sampled(RowSampling::Uniform, true, 0.1), outside: 0.5, ..evidence() },
            Evidence { gram: true, kappa: Some(1e8), radius: Some(0.5), ..evidence() },
            Evidence { sketch_factor: Some(2.0), radius: Some(1.5), stable: Some(0.5), ..evidence() },
            Evidence { radius: Some(1.5), stable: Some(0.0), ..evidence() },
            Evidence { radius: Some(1.5), stable: Some(0.5), ..evidence() },
            Evidence {
                radius: Some(1.0 - 1e-8),
                stable: Some(2.0),
                gram: true,
                kappa: Some(1e8),
                ..evidence()
            },
            Evidence { sampled: sampled(RowSampling::Uniform, false, 0.1), outside: 0.5, ..evidence() },
            Evidence { end: None, ..evidence() },
            evidence(),
        ];
        for (case, diagnosis) in cases.into_iter().zip(&DIAGNOSES) {
            assert_eq!(name(case), diagnosis.name);
        }
        // If the result is as bad without sampling, the cause is another one.
        let other = Evidence {
            sampled: sampled(RowSampling::RowNorms, false, 50.0),
            unsampled: Some(1e-2),
            gram: true,
            kappa: Some(1e8),
            ..evidence()
        };
        assert_eq!(name(other), "a Gram matrix squares the condition number");
        let names: BTreeSet<&str> = DIAGNOSES.iter().map(|diagnosis| diagnosis.name).collect();
        assert_eq!(names.len(), DIAGNOSES.len());
    }
}
