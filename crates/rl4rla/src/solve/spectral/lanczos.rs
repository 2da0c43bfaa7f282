//! Eigenpairs of a symmetric matrix by block Lanczos with full orthogonalisation and thick restarts.
//!
//! A·V = V·H + Q·C with orthonormal [V Q]. Q is multiplied next. A restart keeps the leading Ritz vectors V·Y, with
//! diag(θ) for H, so that nothing that has converged is lost (Wu and Simon 2000).
#![allow(non_snake_case)]

use super::basis::Basis;
use super::operator::{LinearOperator, columns};
use super::probe::SecondStart;
use super::{BasisLimits, Which};
use crate::linalg::{Matrix, norm, symmetric_eigen};
use crate::rng::Stream;
use faer::Mat;

/// Where the iteration ended.
pub struct LanczosEnd {
    /// Values, largest in the order asked for.
    pub values: Vec<f64>,
    /// Vectors, as columns.
    pub vectors: Matrix,
    /// The largest size of a value seen.
    pub size: f64,
    /// What a fresh block saw of the rest; `None` if the iteration stopped before.
    pub probe: Option<SecondStart>,
}

struct Lanczos<'a> {
    operator: &'a LinearOperator<'a>,
    basis: Basis,
    /// Columns of V: those of the basis that have been multiplied.
    done: usize,
    H: Mat<f64>,
    /// The columns of C that are not zero, for the last columns of V.
    C: Mat<f64>,
}

/// Ritz values and vectors, in the order asked for.
struct Ritz {
    values: Vec<f64>,
    /// Coordinates in V.
    Y: Matrix,
    /// Estimated ‖Av − θv‖.
    residuals: Vec<f64>,
}

impl Lanczos<'_> {
    /// Multiplies the last block and makes the next.
    fn expand(&mut self) {
        let Q = self.basis.last(self.done);
        let (h, R) = self.basis.extend(self.operator.times(&Q));
        let (first, p) = (self.done, Q.cols());
        self.done += p;
        for j in 0..p {
            for i in 0..first {
                self.H[(i, first + j)] = h[(i, j)];
                self.H[(first + j, i)] = h[(i, j)];
            }
            for i in 0..p {
                self.H[(first + i, first + j)] = 0.5 * (h[(first + i, j)] + h[(first + j, i)]);
            }
        }
        self.C = R;
    }

    fn ritz(&self, which: Which) -> Option<Ritz> {
        let d = self.done;
        let H = Matrix::from_fn(d, d, |i, j| self.H[(i, j)]);
        let (theta, vectors) = symmetric_eigen(&H)?;
        let order = which.order(&theta);
        let Y = Matrix::from_fn(d, d, |i, j| vectors.get(i, order[j]));
        let p = self.C.ncols();
        let last = |j: usize| &Y.column(j)[d - p..];
        let residual = |j: usize| {
            let image: Vec<f64> = (0..self.C.nrows())
                .map(|i| last(j).iter().enumerate().map(|(k, y)| self.C[(i, k)] * y).sum())
                .collect();
            norm(&image)
        };
        let residuals = (0..d).map(residual).collect();
        Some(Ritz { values: order.iter().map(|&j| theta[j]).collect(), Y, residuals })
    }

    /// Keeps the first `count` Ritz vectors and the next block.
    fn restart(&mut self, ritz: &Ritz, count: usize) {
        self.basis.restart(columns(&ritz.Y, count), self.done);
        self.done = count;
        self.H = Mat::zeros(self.H.nrows(), self.H.ncols());
        (0..count).for_each(|i| self.H[(i, i)] = ritz.values[i]);
    }
}

/// The k leading eigenpairs of A/c; `None` if an eigenvalue iteration fails.
pub fn eigenpairs(
    operator: &LinearOperator,
    k: usize,
    which: Which,
    limits: &BasisLimits,
    draws: Stream,
) -> Option<LanczosEnd> {
    let (n, p) = (operator.cols(), limits.block);
    let room = limits.room(k, n);
    let mut lanczos = Lanczos {
        operator,
        basis: Basis::new(n, room + 2 * p, draws),
        done: 0,
        H: Mat::zeros(room + p, room + p),
        C: Mat::zeros(0, 0),
    };
    lanczos.basis.extend_randomly(p);
    let (mut steps, mut size) = (0, 0.0_f64);
    loop {
        lanczos.expand();
        steps += 1;
        let full = lanczos.done + p > room;
        let out = operator.passes() >= limits.passes;
        if !(full || out || lanczos.done >= k && limits.looks_at(steps)) {
            continue;
        }
        let ritz = lanczos.ritz(which)?;
        size = ritz.values.iter().fold(size, |size, value| size.max(value.abs()));
        let converged =
            lanczos.done > k && ritz.residuals[..k].iter().all(|residual| *residual <= limits.target * size);
        if converged || out {
            let ended = |lanczos: &mut Lanczos, probe: Option<SecondStart>| LanczosEnd {
                values: ritz.values[..k.min(lanczos.done)].to_vec(),
                vectors: lanczos.basis.last(0),
                size,
                probe,
            };
            lanczos.restart(&ritz, k.min(lanczos.done));
            lanczos.basis.truncate(lanczos.done);
            if out {
                return Some(ended(&mut lanczos, None));
            }
            let answer = ended(&mut lanczos, None);
            let probed = probe(&mut lanczos, which, limits, steps, &answer)?;
            if probed.is_clear(limits.target * size) {
                return Some(LanczosEnd { probe: Some(probed), ..answer });
            }
            continue;
        }
        if full {
            lanczos.restart(&ritz, limits.kept(k, lanczos.done));
        }
    }
}

/// Iterates from a fresh random block, orthogonal to the pairs found: where these are all that was asked for, no Ritz
/// value takes a place among them.
fn probe(
    lanczos: &mut Lanczos,
    which: Which,
    limits: &BasisLimits,
    steps: usize,
    found: &LanczosEnd,
) -> Option<SecondStart> {
    let (k, n) = (found.values.len(), lanczos.operator.cols());
    lanczos.basis.extend_randomly(limits.block);
    let steps = limits.probing(steps, k, n);
    (0..steps).for_each(|_| lanczos.expand());
    let ritz = lanczos.ritz(which)?;
    let rise = which.key(ritz.values[k - 1]) - which.key(found.values[k - 1]);
    let rest = &ritz.values[k..];
    Some(SecondStart::of_eigenvalues(rise, rest, steps, limits.block, n))
}
