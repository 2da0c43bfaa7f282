//! Condition: the quality of the preconditioner `R1`.

use super::term::{Formula, Need, RewardTerm};
use crate::execute::Trace;
use crate::linalg::{self, Matrix};
use crate::problem::Instance;
use crate::program::Model;

/// Table row of the condition term. The released code counts it as 0 outside its condition-only stage, in the mean
/// too.
pub static CONDITION: RewardTerm = RewardTerm {
    key: "cond",
    title: "condition",
    doc: "of the problem preconditioned by R1",
    needs: &[Need::Preconditioner],
    sound: Formula::new(|input| seen(input.instance, input.trace)),
    paper: Formula {
        counts: false,
        ..Formula::new(|input| remembered(input.instance, input.trace, Model::Released, condition))
    },
};

/// The condition term of `sound` for a run, whatever the profile.
pub fn seen(instance: &Instance, trace: &Trace) -> f64 {
    remembered(instance, trace, Model::True, condition_seen)
}

/// A condition term, cached per instance: many programs build the same preconditioner, and singular values are
/// expensive.
fn remembered(
    instance: &Instance,
    trace: &Trace,
    model: Model,
    term: fn(&Instance, Option<&Matrix>) -> f64,
) -> f64 {
    let term = || term(instance, trace.preconditioner.as_deref());
    let name = trace.preconditioner_name.map(|name| name ^ model as u64);
    name.map_or_else(term, |name| instance.remember(name, term))
}

/// The released formula: cond = min(3, 4/(κ/10⁴)) / 3 with κ = κ₂(AᵀA·R1). It saturates at 1 for every κ ≤ 13,333.
pub fn condition(instance: &Instance, preconditioner: Option<&Matrix>) -> f64 {
    let n = instance.cols();
    let Some(r1) = preconditioner.filter(|m| (m.rows(), m.cols()) == (n, n)) else { return 0.0 };
    let kappa = linalg::condition_number(&linalg::matmul(instance.gram(), r1));
    (4.0 / (kappa / 1e4)).min(3.0) / 3.0
}

/// The formula of `sound`: cond = 1 / (1 + log₁₀ κ) with κ = κ₂(R·R1·Rᵀ) for A = QR: the effective condition number,
/// on a scale that never saturates. Without a preconditioner, R1 = I.
pub fn condition_seen(instance: &Instance, preconditioner: Option<&Matrix>) -> f64 {
    let n = instance.cols();
    let r = instance.triangle();
    let kappa = match preconditioner {
        Some(r1) if (r1.rows(), r1.cols()) == (n, n) => {
            linalg::condition_number(&linalg::matmul_t(&linalg::matmul(r, r1), r))
        }
        _ => instance.condition().powi(2),
    };
    1.0 / (1.0 + kappa.log10())
}

/// The κ of a term computed by [`condition_seen`].
pub fn condition_of(term: f64) -> f64 {
    10_f64.powf(1.0 / term - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::rng::Stream;

    fn instance() -> Instance {
        let mut family = Family::named("mid-cond").unwrap();
        (family.rows, family.cols, family.condition) = (300, 8, Some(1e4));
        family.draw(&Stream::new(5)).unwrap()
    }

    #[test]
    fn the_exact_preconditioner_is_perfect_and_worse_ones_are_told_apart() {
        let instance = instance();
        let inverse = linalg::triangular_inverse(instance.triangle()).unwrap();
        let exact = linalg::outer_gram(&inverse);
        assert!((condition_seen(&instance, Some(&exact)) - 1.0).abs() < 1e-3);
        let half = condition_seen(&instance, Some(&inverse));
        let none = condition_seen(&instance, None);
        assert!((half - 0.2).abs() < 1e-3, "R⁻¹ alone leaves κ = 10⁴: {half}");
        assert!((none - 1.0 / 9.0).abs() < 1e-3, "nothing leaves κ² = 10⁸: {none}");
        // The released scale cannot distinguish the first two.
        assert_eq!(condition(&instance, Some(&exact)), 1.0);
        assert_eq!(condition(&instance, Some(&inverse)), 1.0);
        assert_eq!(condition(&instance, None), 0.0);
    }

    #[test]
    fn a_singular_or_misshapen_preconditioner_earns_nothing() {
        let instance = instance();
        assert_eq!(condition_seen(&instance, Some(&Matrix::zeros(8, 8))), 0.0);
        assert_eq!(condition(&instance, Some(&Matrix::zeros(8, 8))), 0.0);
        assert_eq!(condition(&instance, Some(&Matrix::zeros(3, 8))), 0.0);
    }
}
