//! Complexity: rewards low cost.
//!
//! comp = g / (1 + exp(rel − 5)),  rel = flops / (m·n·T)
//!
//! so that a method gets half the term at five operations per entry of A and iteration. The gate g is zero for cheap
//! programs that make no progress.

use super::profile::Profile;
use super::term::{Formula, RewardTerm};
use crate::problem::{Task, Work};

/// Table row of the complexity term. A task may define its own scale.
pub static COMPLEXITY: RewardTerm = RewardTerm {
    key: "comp",
    title: "complexity",
    doc: "of the work",
    needs: &[],
    sound: Formula {
        most: thrift,
        ..Formula::new(|input| {
            let (first, last) = input.history().ends();
            progress(first, last) * thrift(input.instance.task, &input.work())
        })
    },
    paper: Formula {
        most: |_, work| complexity(relative(work), 0.0, true),
        ..Formula::new(|input| {
            let ungated = matches!(input.profile, Profile::Paper { ungated: true, .. });
            complexity(relative(&input.work()), input.loss(), ungated)
        })
    },
};

/// The released formula: 10⁻⁴ in the denominator, and a gate at loss < 0.1 that a stage can switch off.
pub fn complexity(relative_work: f64, loss: f64, ungated: bool) -> f64 {
    let open = ungated || loss < 0.1;
    if open { 1.0 / (1.0 + (relative_work - 5.0).exp() + 1e-4) } else { 0.0 }
}

/// The gate of `sound`: from 0 if the excess does not decrease to 1 if it decreases by a factor of ten.
pub fn progress(first_excess: f64, last_excess: f64) -> f64 {
    // The starting point may be the solution already; then there is nothing left to do.
    let decrease = if last_excess == 0.0 { f64::INFINITY } else { (first_excess / last_excess).log10() };
    if decrease.is_nan() { 0.0 } else { decrease.clamp(0.0, 1.0) }
}

/// The complexity term without its gate, on the task's scale or the common one.
pub fn thrift(task: &dyn Task, work: &Work) -> f64 {
    task.thrift(work).unwrap_or_else(|| 1.0 / (1.0 + (relative(work) - 5.0).exp()))
}

/// flops / (m·n·T).
pub fn relative(work: &Work) -> f64 {
    work.flops / (work.sizes.rows * work.sizes.cols * work.iterations as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_at_five() {
        assert!((complexity(5.0, 0.05, false) - 1.0 / 2.0001).abs() < 1e-12);
        assert_eq!(complexity(5.0, 0.5, false), 0.0);
        assert!(complexity(5.0, 0.5, true) > 0.49);
        assert_eq!(complexity(1e6, 0.01, false), 0.0);
    }

    #[test]
    fn doing_nothing_earns_nothing() {
        assert_eq!(progress(1.0, 1.0), 0.0);
        assert_eq!(progress(1.0, 3.0), 0.0);
        assert!(progress(1.0, 0.5) > 0.29);
        assert_eq!((progress(1.0, 1e-9), progress(0.0, 0.0), progress(1.0, f64::NAN)), (1.0, 1.0, 0.0));
    }
}
