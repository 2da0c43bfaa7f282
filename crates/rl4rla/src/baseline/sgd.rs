//! Stochastic gradient descent on ½‖Ax − b‖² with minibatches.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::kaczmarz::squared_norms;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, Matrix};
use crate::rng::{Discrete, Stream};

/// Batch size k.
const BATCH: usize = 100;
/// Maximum number of steps, in passes over A.
const EPOCHS: usize = 20;
/// Power iterations for ‖A‖.
const POWER: usize = 10;

/// x ← x − ηg,  g = (1/k)Σ(aᵢᵀx − bᵢ)aᵢ/pᵢ over k = min(100, m) rows drawn with pᵢ = ‖aᵢ‖²/‖A‖²_F, so that E g = Aᵀ(Ax − b).
///
/// η = 1/(‖A‖²_F/k + (1 − 1/k)‖A‖²) minimizes the expected error after a step for consistent systems; with k = 1 this
/// is randomized Kaczmarz. Returns the mean of the last half of all iterates, which averages out the noise. Always
/// makes all steps, 20m/k of them by default.
pub fn sgd(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let (A, b, batch) = (request.A, request.b, BATCH.min(m));
    let squares = squared_norms(A);
    let law = Discrete::new(&squares)?;
    let total: f64 = squares.iter().sum();
    let share = 1.0 / batch as f64;
    let largest = squared_norm(A, &request.stream.derive("power", 0));
    let step = 1.0 / (total * share + (1.0 - share) * largest);
    let most = request.iterations.unwrap_or((EPOCHS * m).div_ceil(batch));
    let (mut x, mut mean) = (vec![0.0; n], vec![0.0; n]);
    for t in 1..=most {
        let mut g = vec![0.0; n];
        for i in law.sample(&request.stream.derive("batch", t as u64), batch) {
            let row = A.row(i);
            // 1/(k·pᵢ) = ‖A‖²_F/(k‖aᵢ‖²).
            let weight = (linalg::dot(row, &x) - b[i]) * total * share / squares[i];
            g.iter_mut().zip(row).for_each(|(g, a)| *g += weight * a);
        }
        x.iter_mut().zip(&g).for_each(|(x, g)| *x -= step * g);
        if 2 * t > most {
            mean.iter_mut().zip(&x).for_each(|(mean, x)| *mean += x / most.div_ceil(2) as f64);
        }
        if !linalg::is_finite(&x) {
            return Err(BaselineError::Diverged { iteration: t });
        }
    }
    let passes = (1 + POWER) as f64 + (most * batch) as f64 / m as f64;
    BaselineSolution::new(mean, most, passes, false)
}

/// ‖A‖² by power iteration on AᵀA: a lower bound, accurate to a few percent.
fn squared_norm(A: &Matrix, stream: &Stream) -> f64 {
    let (mut v, mut norm, origin) = (stream.normals(A.cols()), 0.0, vec![0.0; A.rows()]);
    for _ in 0..POWER {
        let length = linalg::norm(&v);
        if length == 0.0 {
            return 0.0;
        }
        v = linalg::residual_and_gradient(A, &linalg::scale(1.0 / length, &v), &origin).1;
        norm = linalg::norm(&v);
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{conditioned, normal};

    #[test]
    fn consistent_systems_converge_and_others_come_near() {
        let A = conditioned(2000, 10, 3.0, 1);
        let b = linalg::mat_vec(&A, &[1.0; 10]);
        assert!(distance(&A, &b, &sgd(&request(&A, &b)).unwrap().x) < 1e-6);
        let noisy = linalg::add(&b, &linalg::scale(0.03, normal(2000, 1, 2).column(0)));
        let many = |iterations| {
            let asked = Request { iterations: Some(iterations), ..request(&A, &noisy) };
            distance(&A, &noisy, &sgd(&asked).unwrap().x)
        };
        // Sixteen times the steps, a quarter of the noise: half is required.
        let (few, many) = (many(500), many(8000));
        assert!(few < 0.1 && many < 0.5 * few, "{few} {many}");
    }

    #[test]
    fn a_batch_of_one_row_is_kaczmarz() {
        let A = Matrix::from_rows(&[&[3.0, 4.0]]);
        let x = sgd(&Request { iterations: Some(1), ..request(&A, &[50.0]) }).unwrap().x;
        assert!((x[0] - 6.0).abs() < 1e-13 && (x[1] - 8.0).abs() < 1e-13, "{x:?}");
    }

    #[test]
    fn the_norm_is_estimated() {
        let A = conditioned(100, 12, 20.0, 3).map(|a| 5.0 * a);
        let found = squared_norm(&A, &Stream::new(4));
        assert!((0.9..1.0 + 1e-12).contains(&(found / 25.0)), "{found}");
    }
}
