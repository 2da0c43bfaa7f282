//! Low-rank approximation: find a basis Q of a row space in which A has an approximation of rank k that is nearly as
//! good as the best.
//!
//! The answer is Q by rows, orthonormal or zero. Of A·QᵀQ only the best part of rank k counts, so that more rows are
//! no better by themselves. With W ⊂ span(Q) of k rows, the leading right singular vectors of A·Qᵀ, the loss is
//!
//! ‖A − A·WᵀW‖₂ / ‖A‖₂
//!
//! and the excess is ‖A − A·WᵀW‖₂ / σₖ₊₁ − 1, which is 0 for the truncated singular value decomposition. The spectral
//! norm is the demanding one: where singular values decay slowly, most of the Frobenius norm is beyond the reach of
//! any approximation, and a poor basis looks good. An answer that is not orthonormal is worth an empty basis.
#![allow(non_snake_case)]

use super::explore_defaults::ExploreDefaults;
use super::factors;
use super::family::{Choice, Family, FamilyInfo, Number};
use super::family_error::FamilyError;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::random_matrices::Tall;
use super::task::{History, PASS_PRICE, Task};
use crate::linalg::{self, Matrix};
use crate::program::{LOW_RANK_OPERATORS, Operator, Reg, RegSet, Update};
use crate::rng::Stream;

/// Tolerance for the orthonormality of the answer.
const ORTHONORMAL: f64 = 1e-8;
/// k for data of the user.
const RANK: f64 = 10.0;
/// Excess at which the accuracy term is 0, and decades below over which it grows to 1.
const POOR: f64 = 1.0;
const DECADES: f64 = 3.0;

/// The task of low-rank approximation.
pub struct LowRank;

impl Task for LowRank {
    fn name(&self) -> &'static str {
        "low-rank"
    }

    fn doc(&self) -> &'static str {
        "find an orthonormal basis in which A has a nearly best approximation of rank k"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, answer: &[f64]) -> (f64, f64) {
        let (n, largest) = (instance.cols(), instance.spectrum()[0]);
        if largest == 0.0 {
            return (0.0, 0.0);
        }
        let error = basis(answer, n).and_then(|Q| error(instance.triangle(), &Q, rank(instance)));
        let error = error.unwrap_or(largest);
        let best = best(instance);
        // Rounding may leave an error a little below that of the best approximation.
        (error / largest, (error / best - 1.0).max(0.0))
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        // There is no right-hand side; one that is given is ignored.
        drop(b);
        InstanceError::check(&A, &vec![0.0; A.rows()])?;
        let svd = linalg::svd_of_square(&linalg::qr_r(&A)).map_err(|_| InstanceError::NoSolution)?;
        Ok(instance(A, &svd.V, svd.sigma, RANK))
    }

    fn update(&self) -> Update {
        Update::Basis
    }

    fn inputs(&self) -> RegSet {
        RegSet::EMPTY.with(Reg::A)
    }

    fn operators(&self) -> &'static [Operator] {
        LOW_RANK_OPERATORS
    }

    fn measures(&self) -> [&'static str; 2] {
        ["‖A − A·WᵀW‖/‖A‖", "‖A − A·WᵀW‖/σₖ₊₁ − 1"]
    }

    fn accuracy(&self, history: &History) -> Option<f64> {
        let (_, last) = history.ends();
        Some(if last == 0.0 { 1.0 } else { ((POOR / last).log10() / DECADES).clamp(0.0, 1.0) })
    }

    fn weights(&self) -> [f64; 4] {
        [1.0, 0.0, 1.0, 0.0]
    }

    fn looks_at_ends(&self) -> bool {
        true
    }

    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults { reference: "a singular value decomposition", ..ExploreDefaults::LINEAR }
    }

    /// A singular value decomposition by way of QR, about 6mn² + 20n³ (Golub and Van Loan, section 8.6).
    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        [6.0 * rows * cols * cols + 20.0 * cols.powi(3), 1.0]
    }

    /// The best approximation in a subspace of dimension p takes A·Qᵀ and its singular value decomposition.
    fn completion(&self, rows: f64, cols: f64, p: f64) -> [f64; 2] {
        [2.0 * rows * cols * p + 6.0 * rows * p * p + 20.0 * p.powi(3), 1.0]
    }

    fn pass_price(&self) -> f64 {
        PASS_PRICE
    }
}

/// The rows of an answer that are not zero; `None` if they are not orthonormal.
fn basis(answer: &[f64], n: usize) -> Option<Matrix> {
    let rows: Vec<&[f64]> = answer.chunks_exact(n).filter(|row| row.iter().any(|q| *q != 0.0)).collect();
    if !answer.len().is_multiple_of(n) || rows.len() > n || !linalg::is_finite(answer) {
        return None;
    }
    let Q = Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
    let G = linalg::outer_gram(&Q);
    let off = |i: usize, j: usize| (G.get(i, j) - f64::from(u8::from(i == j))).abs();
    let fits = (0..rows.len()).all(|i| (0..=i).all(|j| off(i, j) <= ORTHONORMAL));
    fits.then_some(Q)
}

/// ‖R − R·WᵀW‖₂ for the k leading right singular vectors W of R·Qᵀ, as combinations of the rows of Q; `None` if an
/// iteration fails.
fn error(R: &Matrix, Q: &Matrix, k: usize) -> Option<f64> {
    if Q.rows() == 0 {
        return None;
    }
    let svd = linalg::svd_of_square(&linalg::qr_r(&linalg::matmul_t(R, Q))).ok()?;
    let V = Matrix::from_fn(Q.rows(), k.min(Q.rows()), |i, j| svd.V.get(i, j));
    let W = linalg::t_matmul(&V, Q);
    let inside = linalg::matmul(&linalg::matmul_t(R, &W), &W);
    let rest = Matrix::from_fn(R.rows(), R.cols(), |i, j| R.get(i, j) - inside.get(i, j));
    Some(linalg::singular_values(&rest)?[0])
}

/// k: the solution is a basis of k rows.
fn rank(instance: &Instance) -> usize {
    instance.x_star.len() / instance.cols()
}

/// σₖ₊₁, but no less than rounding leaves of a matrix of rank k.
fn best(instance: &Instance) -> f64 {
    let (spectrum, k) = (instance.spectrum(), rank(instance));
    let rounding = instance.cols() as f64 * f64::EPSILON * spectrum[0];
    spectrum.get(k).copied().unwrap_or(0.0).max(rounding)
}

/// The problem with these right singular vectors, as columns, and singular values. A rank of at least n would leave
/// nothing to approximate.
fn instance(A: Matrix, V: &Matrix, spectrum: Vec<f64>, rank: f64) -> Instance {
    let (m, n) = (A.rows(), A.cols());
    let k = (rank as usize).min(n - 1).max(1);
    let solution = (0..k).flat_map(|j| V.column(j).to_vec()).collect();
    let least = if spectrum[0] == 0.0 { 0.0 } else { spectrum.get(k).unwrap_or(&0.0) / spectrum[0] };
    Instance::posed(&LowRank, A, vec![0.0; m], solution, least, spectrum)
}

const K: Number = Number {
    name: "rank",
    doc: "k, the rank of the approximation; at most n − 1",
    default: 20.0,
    least: 1.0,
    most: 1000.0,
};

static FAMILIES: [FamilyInfo; 2] = [
    FamilyInfo {
        name: "low-rank",
        doc: "singular values 1/jᵃ that decay slowly, to be approximated with rank k",
        task: &LowRank,
        rows: 400,
        cols: 160,
        square: false,
        options: &[Choice::Leverage],
        numbers: &[K, Number { name: "decay", doc: "a in σⱼ = 1/jᵃ", default: 0.25, least: 0.0, most: 10.0 }],
        draw: |family, stream| {
            let decay = family.numbers[1];
            draw(family, stream, |j| (j as f64).powf(-decay))
        },
    },
    FamilyInfo {
        name: "low-rank-fast",
        doc: "singular values e⁻ᵃʲ that decay fast, above a floor of noise, to be approximated with rank k",
        task: &LowRank,
        rows: 400,
        cols: 160,
        square: false,
        options: &[Choice::Leverage],
        numbers: &[
            K,
            Number { name: "decay", doc: "a in σⱼ = e⁻ᵃʲ", default: 0.5, least: 0.0, most: 10.0 },
            Number {
                name: "floor",
                doc: "the smallest singular value",
                default: 1e-3,
                least: 0.0,
                most: 1.0,
            },
        ],
        draw: |family, stream| {
            let [_, decay, floor] = family.numbers;
            draw(family, stream, |j| (-decay * (j - 1) as f64).exp().max(floor))
        },
    },
];

/// A = U·Σ·Vᵀ with these singular values, counted from 1.
fn draw(family: &Family, stream: &Stream, sigma: impl Fn(usize) -> f64) -> Result<Instance, FamilyError> {
    let sigma: Vec<f64> = (1..=family.cols).map(sigma).collect();
    let V = factors::right(family.cols, family.right, &stream.derive("right", 0));
    let core = Matrix::from_fn(V.rows(), V.cols(), |i, j| V.get(i, j) * sigma[j]);
    let tall = Tall { core, sigma };
    let A = tall.matrix(family, stream);
    Ok(instance(A, &V, tall.sigma, family.numbers[0]))
}

#[cfg(test)]
mod tests;
