//! Orthonormal columns that grow by a block at a time.
#![allow(non_snake_case)]

use crate::linalg::{
    Matrix, cholesky_r, dot, norm, product, subtract_product, t_product, triangular_inverse,
};
use crate::rng::Stream;
use faer::{Mat, MatRef};

/// A column shorter than this many rounding errors of the longest has no direction of its own.
const NOISE: f64 = 8.0 * f64::EPSILON;
/// The columns of a block are orthonormal if projecting them once more leaves this much of their lengths.
const KEPT: f64 = 0.7;
/// Passes of projection; two are enough unless columns were drawn anew.
const PASSES: usize = 6;
/// Smallest pivot, for columns of length 1, at which the Gram matrix of a block is factored.
const PIVOT: f64 = 1e-4;

/// Orthonormal columns, with room for more.
pub struct Basis {
    columns: Mat<f64>,
    used: usize,
    /// Random directions, for where a block has fewer than it has columns.
    draws: Stream,
    drawn: u64,
}

impl Basis {
    /// No columns yet, of this length.
    pub fn new(length: usize, room: usize, draws: Stream) -> Basis {
        Basis { columns: Mat::zeros(length, room), used: 0, draws, drawn: 0 }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.used
    }

    /// All columns.
    pub fn all(&self) -> MatRef<'_, f64> {
        self.columns.as_ref().subcols(0, self.used)
    }

    /// The columns from `first` on.
    pub fn last(&self, first: usize) -> Matrix {
        Matrix::from_faer(self.columns.as_ref().subcols(first, self.used - first).to_owned())
    }

    /// Replaces the first `Y.nrows()` columns V by V·Y, and drops the others except those from `next` on.
    pub fn restart(&mut self, Y: MatRef<'_, f64>, next: usize) {
        let kept = product(self.all().subcols(0, Y.nrows()), Y);
        let next = self.all().subcols(next, self.used - next).to_owned();
        self.used = 0;
        self.append(&kept);
        self.append(&next);
    }

    /// Drops the columns from `count` on.
    pub fn truncate(&mut self, count: usize) {
        self.used = count;
    }

    fn append(&mut self, block: &Mat<f64>) {
        self.columns.as_mut().subcols_mut(self.used, block.ncols()).copy_from(block);
        self.used += block.ncols();
    }

    /// Adds a block of random directions.
    pub fn extend_randomly(&mut self, count: usize) {
        let mut W = Mat::zeros(self.columns.nrows(), count);
        (0..count).for_each(|j| self.draw(W.col_as_slice_mut(j)));
        self.extend(W);
    }

    /// Adds the directions of W, by projecting twice: W = V·h + Q·R for the columns V so far and the new ones Q.
    /// Where W has fewer directions than columns, random ones take their place, with a row of zeros in R.
    pub fn extend(&mut self, mut W: Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        let p = W.ncols();
        let (mut h, mut R) = (Mat::zeros(self.used, p), Mat::<f64>::identity(p, p));
        let longest = (0..p).map(|j| norm(W.col_as_slice(j))).fold(0.0, f64::max);
        let mut least = NOISE * longest;
        for pass in 0..PASSES {
            let C = t_product(self.all(), W.as_ref());
            subtract_product(&mut W, self.all(), C.as_ref());
            h += &C * &R;
            let T = self.orthonormalise(&mut W, least);
            let kept = (0..p).map(|j| T[(j, j)]).fold(f64::INFINITY, f64::min);
            R = &T * &R;
            if pass > 0 && kept >= KEPT {
                break;
            }
            // From now on columns have length 1 and are there for a reason.
            least = NOISE;
        }
        self.append(&W);
        (h, R)
    }

    /// W = Q·T with orthonormal Q, which replaces W. Columns of length at most `least` are drawn anew.
    fn orthonormalise(&mut self, W: &mut Mat<f64>, least: f64) -> Mat<f64> {
        if let Some((T, inverse)) = by_gram(W, least) {
            *W = product(W.as_ref(), inverse.as_ref());
            return T;
        }
        let p = W.ncols();
        let mut T = Mat::zeros(p, p);
        for j in 0..p {
            let mut w = W.col_as_slice(j).to_vec();
            for _ in 0..2 {
                for i in 0..j {
                    T[(i, j)] += project(&mut w, W.col_as_slice(i));
                }
            }
            let length = norm(&w);
            if length > least {
                T[(j, j)] = length;
            } else {
                self.draw(&mut w);
                (0..2).for_each(|_| {
                    (0..j).for_each(|i| {
                        project(&mut w, W.col_as_slice(i));
                    })
                });
            }
            let length = norm(&w);
            W.col_as_slice_mut(j).iter_mut().zip(&w).for_each(|(entry, w)| *entry = w / length);
        }
        T
    }

    fn draw(&mut self, w: &mut [f64]) {
        w.copy_from_slice(&self.draws.derive("direction", self.drawn).normals(w.len()));
        self.drawn += 1;
    }
}

/// The T of W = Q·T and its inverse, if the columns of W are long and far enough from dependent for their Gram matrix:
/// two products instead of a sequence of projections.
fn by_gram(W: &Mat<f64>, least: f64) -> Option<(Mat<f64>, Mat<f64>)> {
    let (G, p) = (t_product(W.as_ref(), W.as_ref()), W.ncols());
    let lengths: Vec<f64> = (0..p).map(|j| G[(j, j)].sqrt()).collect();
    if !lengths.iter().all(|length| length.is_normal() && *length > least) {
        return None;
    }
    let scaled = Matrix::from_fn(p, p, |i, j| G[(i, j)] / (lengths[i] * lengths[j]));
    let R = cholesky_r(&scaled).ok()?;
    if (0..p).any(|j| R.get(j, j) < PIVOT) {
        return None;
    }
    let inverse = triangular_inverse(&R).ok()?;
    let T = Mat::from_fn(p, p, |i, j| R.get(i, j) * lengths[j]);
    Some((T, Mat::from_fn(p, p, |i, j| inverse.get(i, j) / lengths[i])))
}

/// Leaves the part of w that is orthogonal to q, and returns ⟨q, w⟩.
fn project(w: &mut [f64], q: &[f64]) -> f64 {
    let share = dot(q, w);
    w.iter_mut().zip(q).for_each(|(w, q)| *w -= share * q);
    share
}
