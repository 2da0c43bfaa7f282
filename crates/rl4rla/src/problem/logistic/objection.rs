//! Why a point with a small gradient is not a minimum of the cross-entropy all the same: the minimum may be at infinity,
//! or columns may be nearly dependent.
#![allow(non_snake_case)]

use super::fit::{loss, penalty, slopes};
use super::{SURE, fit_data, sigmoid};
use crate::linalg::{self, Matrix, ShiftedFactor};
use crate::problem::instance::Instance;

/// Ratio of the Newton decrement to the gradient above which nearly dependent columns are suspected.
const HIDDEN: f64 = 1e4;
/// Largest possible reduction of the loss, relative to the loss, that is accepted in that case.
const LEFT: f64 = 1e-9;
/// Largest change of a margin by a Newton step at a minimum; if the minimum is at infinity, some margins change by 1.
const RESTLESS: f64 = 0.1;
/// Largest ‖H⁻¹‖ for a Hessian H of unit diagonal that is trusted.
const TRUSTED: f64 = 1e10;

pub const NEARLY_DEPENDENT: &str =
    "columns are nearly linearly dependent: the gradient is small, but the loss can still decrease";
pub const PARTLY_SEPARATED: &str =
    "some labels are linearly separable from all others, so the loss has no minimum: coefficients diverge";

/// The objection to x, where the relative gradient is `optimality`.
pub fn objection(instance: &Instance, x: &[f64], optimality: f64) -> Option<&'static str> {
    if penalty_leaves_little(instance, x, optimality) {
        return None;
    }
    let newton = NewtonStep::at(instance, x);
    if instance.lambda > 0.0 {
        // There is a minimum, whatever the labels are.
        let hidden = newton.is_none_or(|newton| newton.hides(optimality) && newton.promises_more());
        return hidden.then_some(NEARLY_DEPENDENT);
    }
    match newton {
        Some(newton) if newton.proves_a_minimum(&instance.A) && !newton.promises_more() => None,
        _ => by_reflections(instance, x, optimality),
    }
}

/// Whether the penalty alone shows that the loss can hardly decrease, without a Hessian: by at most ‖g‖²/2λ, because the
/// curvature is at least λ in all directions.
fn penalty_leaves_little(instance: &Instance, x: &[f64], optimality: f64) -> bool {
    let Instance { b, lambda, .. } = instance;
    let z = instance.image(x);
    let misfit = linalg::norm(&linalg::sub(&linalg::sigmoids(&z), b));
    // Every |gⱼ| is at most the optimality times ‖aⱼ‖‖r‖.
    let gradient = optimality * misfit * linalg::norm(instance.column_norms());
    *lambda > 0.0 && gradient * gradient / (2.0 * lambda) <= LEFT * (loss(&z, b) + penalty(*lambda, x))
}

/// A Newton step, as far as it tells about the minimum; for a Hessian H, or a lower bound of it.
pub struct NewtonStep {
    factor: ShiftedFactor,
    /// The Newton decrement √(gᵀH⁻¹g): the loss can decrease by about half its square.
    decrement: f64,
    /// ‖σ(Ax) − b‖.
    misfit: f64,
    loss: f64,
}

impl NewtonStep {
    /// By one Gram matrix; `None` if the Hessian is not positive definite.
    fn at(instance: &Instance, x: &[f64]) -> Option<NewtonStep> {
        let Instance { A, b, lambda, .. } = instance;
        let z = instance.image(x);
        let r = linalg::sub(&linalg::sigmoids(&z), b);
        let factor = ShiftedFactor::of(&linalg::gram_of_scaled(&slopes(&z), A), |_| *lambda).ok()?;
        let g: Vec<f64> = linalg::vec_mat(&r, A).iter().zip(x).map(|(g, x)| g + lambda * x).collect();
        NewtonStep::new(factor, &g, linalg::norm(&r), loss(&z, b) + penalty(*lambda, x))
    }

    /// From a factor of the Hessian, the gradient, ‖σ(Ax) − b‖ and the loss; `None` if it overflows.
    pub fn new(factor: ShiftedFactor, g: &[f64], misfit: f64, loss: f64) -> Option<NewtonStep> {
        let decrement = factor.inverse_norm(g).ok()?;
        Some(NewtonStep { factor, decrement, misfit, loss })
    }

    /// Whether the gradient hides how much the loss can decrease.
    fn hides(&self, optimality: f64) -> bool {
        self.decrement > HIDDEN * optimality * self.misfit
    }

    /// Whether the loss can decrease noticeably.
    pub fn promises_more(&self) -> bool {
        0.5 * self.decrement.powi(2) > LEFT * self.loss
    }

    /// Whether there is a minimum, at which every margin differs by at most δ = [`RESTLESS`] from its value here.
    ///
    /// Where all margins change by at most δ, the Hessian is at least e^(−δ)·H. So the loss at x + v is above that at x
    /// if ‖v‖_H > 2e^δ·decrement. If some margin changes by δ, ‖v‖_H ≥ δ/maxᵢ ‖aᵢ‖_{H⁻¹}: on the boundary of that region
    /// the loss is larger than at x, if decrement·maxᵢ ‖aᵢ‖_{H⁻¹} < ½δe^(−δ).
    pub fn proves_a_minimum(&self, A: &Matrix) -> bool {
        let Ok(inverse) = self.factor.inverse_size() else { return false };
        let longest = linalg::squared_row_norms(A).into_iter().fold(0.0, f64::max).sqrt();
        let reach = self.factor.largest_unit() * longest * inverse.sqrt();
        inverse < TRUSTED && self.decrement * reach < 0.5 * RESTLESS * (-RESTLESS).exp()
    }
}

/// The same without a Gram matrix, for a Hessian that is nearly singular. If the labels are partly separable, the
/// gradient vanishes although the minimum is at infinity. Two signs reveal this: Newton's method does not converge, and
/// the rows with an uncertain label do not determine x. If columns are nearly dependent, a small gradient hides a loss
/// that can still decrease.
fn by_reflections(instance: &Instance, x: &[f64], optimality: f64) -> Option<&'static str> {
    let (A, z) = (&instance.A, instance.image(x));
    let r = linalg::sub(&linalg::sigmoids(&z), &instance.b);
    let open: Vec<usize> = (0..A.rows()).filter(|&i| r[i].abs() > SURE).collect();
    let part = Matrix::from_fn(open.len(), A.cols(), |i, j| A.get(open[i], j));
    if linalg::dependent_column(&part).is_some() {
        return Some(PARTLY_SEPARATED);
    }
    let root = |i: usize| (sigmoid(z[i]) * sigmoid(-z[i])).sqrt().max(f64::MIN_POSITIVE);
    let entry = |i: usize, j: usize| match j < A.cols() {
        true => root(open[i]) * part.get(i, j),
        false => r[open[i]] / root(open[i]),
    };
    let R = linalg::qr_r(&Matrix::from_fn(open.len(), A.cols() + 1, entry));
    let decrement = linalg::norm(&R.column(A.cols())[..A.cols()]);
    let hidden = decrement > HIDDEN * optimality * linalg::norm(&r);
    if hidden && 0.5 * decrement.powi(2) > LEFT * loss(&z, &instance.b) {
        return Some(NEARLY_DEPENDENT);
    }
    let arrived =
        fit_data(A, &instance.b, x).is_some_and(|fitted| restlessness(A, &instance.b, &fitted) < RESTLESS);
    (!arrived).then_some(PARTLY_SEPARATED)
}

/// The largest change of a margin by a Newton step: max |A·s| with s = argmin ‖√D·A·s − r/√D‖, D = σ(z)σ(−z), which
/// is accurate however small D is. Infinite if the rows do not determine s.
fn restlessness(A: &Matrix, b: &[f64], x: &[f64]) -> f64 {
    let z = linalg::mat_vec(A, x);
    let root: Vec<f64> = z.iter().map(|z| (sigmoid(*z) * sigmoid(-z)).sqrt()).collect();
    // σ(z) − b, without cancellation.
    let misfit = |i: usize| if b[i] == 1.0 { -sigmoid(-z[i]) } else { sigmoid(z[i]) };
    let wanted: Vec<f64> =
        (0..z.len()).map(|i| if root[i] > 0.0 { misfit(i) / root[i] } else { 0.0 }).collect();
    let (R, c) = linalg::qr_r_with(&linalg::scale_rows(&root, A), &wanted);
    linalg::solve_upper(&R, &c).map_or(f64::INFINITY, |step| {
        linalg::mat_vec(A, &step).iter().fold(0.0, |most: f64, moved| most.max(moved.abs()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Logistic, Task};
    use crate::rng::Stream;

    /// Labels of 40 rows, of which the first is the only one with an entry in the second column.
    fn instance(lambda: f64) -> Instance {
        let draws = Stream::new(3).normals(40);
        let A = Matrix::from_fn(40, 2, |i, j| if j == 0 { draws[i] } else { f64::from(u8::from(i == 0)) });
        let labels = (0..40).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        Logistic.pose_unsolved(A, labels).unwrap().with_lambda(lambda)
    }

    #[test]
    fn the_short_way_and_the_long_one_agree() {
        let partly = instance(0.0);
        let far = [fit_data(&partly.A, &partly.b, &[0.0; 2]), Some(vec![0.1, 30.0])];
        assert!(far[0].is_none(), "the second coefficient has no minimum");
        let x = far[1].as_ref().unwrap();
        let short = NewtonStep::at(&partly, x).is_some_and(|newton| newton.proves_a_minimum(&partly.A));
        assert!(!short && by_reflections(&partly, x, 1e-9) == Some(PARTLY_SEPARATED));
        // With one column there is a minimum, which both find.
        let (A, labels) = (Matrix::from_fn(40, 1, |i, _| partly.A.get(i, 0)), partly.b.clone());
        let one = Logistic.pose(A, labels).unwrap();
        let newton = NewtonStep::at(&one, &one.x_star).unwrap();
        assert!(newton.proves_a_minimum(&one.A) && !newton.promises_more());
        assert_eq!(by_reflections(&one, &one.x_star, 1e-14), None);
        // Far from it the loss can decrease.
        let away = NewtonStep::at(&one, &[one.x_star[0] + 1.0]).unwrap();
        assert!(away.promises_more() && !away.proves_a_minimum(&one.A));
    }

    #[test]
    fn a_penalty_leaves_nothing_to_object_to() {
        let held = instance(0.1);
        let x = super::super::fit::fit_shifted(&held.A, &held.b, vec![0.0; 2], 0.1).unwrap();
        assert_eq!(objection(&held, &x, 1e-14), None);
    }
}
