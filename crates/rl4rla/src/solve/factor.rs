//! Linear dependence of the columns of A: their rank, which columns depend on which, and κ.
//!
//! All of it follows from a triangular factor R with RᵀR ≈ AᵀA. For large data, R comes from a sketch of A, in one
//! pass.
#![allow(non_snake_case)]

use super::column_factor::ColumnFactor;
use crate::execute::{Factorisation, Sketch, SketchKind};
use crate::linalg::{self, Matrix, NumericError, Svd};
use crate::rng::Stream;
use std::sync::Arc;

/// With at most this many columns, the R factor of A itself is as cheap as a sketch and takes less memory.
const FEW: usize = 8;

/// Columns count as dependent if changing their entries by this many times the rounding error they carry, times √n,
/// makes them so.
const ROUNDINGS: f64 = 4.0;

/// Also if σ ≤ ε·σ₁ times the number of rows, or times this number if there are fewer rows.
const FEWEST: usize = 32;

/// An estimate of σₙ, which is one from above, leaves no doubt about the rank if it is this many times the bound below
/// which σₙ counts as zero.
const DOUBT: f64 = 30.0;

/// Rounding errors of an entry of AᵀA, in units of nε, that a squared singular value has to exceed.
const SQUARED: f64 = 100.0;

/// Smallest share of a column for which another column is named.
const NAMED: f64 = 1e-6;

/// The bound, in units of ε, on σ of a direction of length 1 that is null up to the rounding error of its columns.
fn carried(n: usize, noise: f64) -> f64 {
    ROUNDINGS * (n as f64).sqrt() * noise
}

/// A triangular factor R with RᵀR ≈ AᵀA.
pub(super) struct Triangle {
    R: Matrix,
    rows: usize,
}

impl Triangle {
    /// The triangular factor of A, or of a sketch of it with 4n + 64 rows if A has more than twice as many rows and
    /// more than `FEW` columns.
    pub fn of(A: &Matrix, stream: &Stream) -> Triangle {
        let (rows, n) = (A.rows(), A.cols());
        let size = 4 * n + 64;
        let R = match n <= FEW || rows <= 2 * size {
            true => linalg::qr_r(A),
            false => linalg::qr_r(&Sketch::draw(SketchKind::Sjlt, size, rows, stream).apply(A)),
        };
        Triangle { R, rows }
    }

    /// Whether all of A could be read.
    pub fn is_finite(&self) -> bool {
        self.R.is_finite()
    }
}

/// A column that is a linear combination of others.
#[derive(Clone, PartialEq, Debug)]
pub struct Dependence {
    /// The column.
    pub column: usize,
    /// The columns it depends on; none for a column that is zero up to rounding.
    pub on: Vec<usize>,
}

/// The columns of A, split into independent and dependent ones.
pub(super) struct ColumnSplit {
    /// Indices of the independent columns, in order.
    pub kept: Vec<usize>,
    /// The dependent columns, in order.
    pub dependent: Vec<Dependence>,
    /// The coefficients of each dependent column with respect to the kept ones.
    pub weights: Vec<Vec<f64>>,
    /// The factor of the kept columns.
    pub factor: ColumnFactor,
}

impl ColumnSplit {
    /// Splits the columns into independent and dependent ones. With columns scaled to length 1, v is a null direction
    /// if σ = ‖Âv‖ ≤ ε·max(m·σ₁, 4√n·‖ν∘v‖): the first bound is that of NumPy's `lstsq`, the second applies if
    /// columns carry more than one rounding error, ν times ε.
    pub fn sorted(triangle: &Triangle, noise: &[f64]) -> Result<ColumnSplit, NumericError> {
        let R = &triangle.R;
        let n = R.cols();
        let rows = triangle.rows.max(FEWEST) as f64;
        let carried = |noise: f64| f64::EPSILON * carried(n, noise);
        // A column that is only rounding error is treated as zero.
        let length = |j: usize| if carried(noise[j]) < 1.0 { linalg::norm(R.column(j)) } else { 0.0 };
        let lengths: Vec<f64> = (0..n).map(length).collect();
        let mut kept: Vec<usize> = (0..n).filter(|j| lengths[*j] > 0.0).collect();
        loop {
            let gone: Vec<usize> = (0..n).filter(|j| !kept.contains(j)).collect();
            let (corner, images) = corner(R, &lengths, &kept, &gone);
            let svd = decomposed(&corner)?;
            let is_null = |i: &usize| {
                let v = svd.V.column(*i).iter().zip(&kept).map(|(v, j)| v * noise[*j]);
                let own = f64::EPSILON * rows * svd.sigma[0];
                svd.sigma[*i] <= carried(linalg::norm(&v.collect::<Vec<f64>>())).max(own)
            };
            let null: Vec<usize> = (0..kept.len()).filter(is_null).collect();
            if null.is_empty() {
                return Ok(ColumnSplit::new(kept, &gone, &lengths, svd, &corner, &images));
            }
            let given_up = pivots(&svd.V, &null);
            let stays = |place: &usize| !given_up.contains(place);
            kept = (0..kept.len()).filter(stays).map(|place| kept[place]).collect();
        }
    }

    fn new(
        kept: Vec<usize>,
        gone: &[usize],
        lengths: &[f64],
        svd: Svd,
        corner: &Matrix,
        images: &Matrix,
    ) -> ColumnSplit {
        let (mut dependent, mut weights) = (Vec::new(), Vec::new());
        for (d, column) in gone.iter().enumerate() {
            // The coefficients of a column of length 1 with respect to columns of length 1.
            let rotated = linalg::vec_mat(images.column(d), &svd.U);
            let present = if lengths[*column] > 0.0 { 1.0 } else { 0.0 };
            let pieces = rotated.iter().zip(&svd.sigma).map(|(u, sigma)| present * u / sigma);
            let scaled: Vec<f64> = pieces.collect();
            let shares = linalg::mat_vec(&svd.V, &scaled);
            let on = shares.iter().zip(&kept).filter(|(share, _)| share.abs() > NAMED);
            dependent.push(Dependence { column: *column, on: on.map(|(_, j)| *j).collect() });
            let weight = |(share, j): (&f64, &usize)| share * lengths[*column] / lengths[*j];
            weights.push(shares.iter().zip(&kept).map(weight).collect());
        }
        let lengths: Vec<f64> = kept.iter().map(|j| lengths[*j]).collect();
        let extremes = [svd.sigma.first(), svd.sigma.last()].map(|sigma| sigma.copied().unwrap_or(1.0));
        // The corner has columns of length 1, and the factor those of A.
        let R = Matrix::from_fn(kept.len(), kept.len(), |i, j| corner.get(i, j) * lengths[j]);
        ColumnSplit { kept, dependent, weights, factor: ColumnFactor::new(R.into(), lengths, extremes) }
    }

    /// All columns as independent ones, if R, a factor of A or of a sketch of A, shows that they are.
    pub fn independent(
        R: &Arc<Matrix>,
        how: Factorisation,
        rows: usize,
        noises: &[f64],
    ) -> Option<ColumnSplit> {
        let factor = ColumnFactor::of(R)?;
        let [largest, smallest] = factor.extremes;
        let n = R.cols();
        let noise = noises.iter().copied().fold(1.0, f64::max);
        let null = f64::EPSILON * (rows.max(FEWEST) as f64 * largest).max(carried(n, noise));
        // Below this, rounding errors of AᵀA decide about the smallest singular values.
        let hidden = match how {
            Factorisation::Direct => 0.0,
            Factorisation::Squared => (SQUARED * n as f64 * f64::EPSILON).sqrt() * largest,
        };
        if smallest <= hidden {
            return None;
        }
        if smallest > DOUBT * null {
            return Some(ColumnSplit { kept: (0..n).collect(), dependent: vec![], weights: vec![], factor });
        }
        // Only exact singular values can tell.
        let split = ColumnSplit::sorted(&Triangle { R: R.as_ref().clone(), rows }, noises).ok()?;
        split.dependent.is_empty().then_some(split)
    }

    /// The vector of smallest norm among all x with the same A·x. Column j of A was divided by 2^(exponent j) before
    /// the split; x has an entry for every column, in the units before the scaling.
    pub fn shortest(&self, x: &[f64], exponents: &[i32]) -> Vec<f64> {
        if self.dependent.is_empty() {
            return x.to_vec();
        }
        // Replacing a dependent column by its combination of others leaves A·x unchanged.
        let directions = self.dependent.iter().zip(&self.weights).map(|(dependence, weights)| {
            let mut direction = vec![(-1.0, dependence.column)];
            direction.extend(weights.iter().copied().zip(self.kept.iter().copied()));
            let used = || direction.iter().filter(|(weight, _)| *weight != 0.0);
            let least = used().map(|(_, j)| exponents[*j]).min().unwrap_or(0);
            let mut column = vec![0.0; x.len()];
            used().for_each(|(weight, j)| column[*j] = times_power(*weight, least - exponents[*j]));
            let size = linalg::norm(&column);
            linalg::scale(1.0 / size, &column)
        });
        let directions: Vec<Vec<f64>> = directions.collect();
        let Q = linalg::thin_q(&Matrix::from_fn(x.len(), directions.len(), |i, d| directions[d][i]));
        // In units of the largest entry, to avoid overflow.
        let size = x.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        if size == 0.0 {
            return x.to_vec();
        }
        let x: Vec<f64> = x.iter().map(|x| x / size).collect();
        let shorter = linalg::sub(&x, &linalg::mat_vec(&Q, &linalg::vec_mat(&x, &Q)));
        // Every entry of the result has an error of ε times the largest. So only the entries of the dependent columns
        // are taken from it, and those of the kept columns are corrected accordingly, each in its own units.
        let mut answer = x.clone();
        for (dependence, weights) in self.dependent.iter().zip(&self.weights) {
            let d = dependence.column;
            let moved = shorter[d] - x[d];
            answer[d] = shorter[d];
            for (weight, j) in weights.iter().zip(&self.kept) {
                answer[*j] -= times_power(moved * weight, exponents[d] - exponents[*j]);
            }
        }
        linalg::scale(size, &answer)
    }

    /// The kept entries of the vector with the same A·y that is zero in the other entries.
    pub fn folded(&self, y: &[f64]) -> Vec<f64> {
        let mut folded: Vec<f64> = self.kept.iter().map(|j| y[*j]).collect();
        for (dependence, weights) in self.dependent.iter().zip(&self.weights) {
            let amount = y[dependence.column];
            if amount != 0.0 {
                folded.iter_mut().zip(weights).for_each(|(y, weight)| *y += amount * weight);
            }
        }
        folded
    }
}

/// The triangular factor of the columns `first` of R, scaled to length 1, and the columns `then` in its coordinates.
fn corner(R: &Matrix, lengths: &[f64], first: &[usize], then: &[usize]) -> (Matrix, Matrix) {
    let (n, k) = (R.rows(), first.len());
    let place = |j: usize| if j < k { first[j] } else { then[j - k] };
    let unit = |j: usize| if lengths[j] > 0.0 { lengths[j] } else { 1.0 };
    let all = Matrix::from_fn(n, k + then.len(), |i, j| R.get(i, place(j)) / unit(place(j)));
    let all = linalg::qr_r(&all);
    (Matrix::from_fn(k, k, |i, j| all.get(i, j)), Matrix::from_fn(k, then.len(), |i, j| all.get(i, k + j)))
}

/// The SVD of a triangular factor, which may be empty.
fn decomposed(triangle: &Matrix) -> Result<Svd, NumericError> {
    match triangle.cols() {
        0 => Ok(Svd { U: Matrix::zeros(0, 0), sigma: vec![], V: Matrix::zeros(0, 0) }),
        _ => linalg::svd_of_square(triangle),
    }
}

/// y·2^exponent, without intermediate overflow.
pub(super) fn times_power(y: f64, exponent: i32) -> f64 {
    let third = exponent / 3;
    [third, third, exponent - 2 * third].into_iter().fold(y, |y, part| y * 2.0_f64.powi(part))
}

/// The columns to declare dependent, one for each null direction: Gaussian elimination that prefers the last among
/// rows of similar weight, so that a column depends on those before it.
fn pivots(V: &Matrix, null: &[usize]) -> Vec<usize> {
    let n = V.rows();
    let mut columns: Vec<Vec<f64>> = null.iter().map(|i| V.column(*i).to_vec()).collect();
    let mut chosen = Vec::new();
    while !columns.is_empty() {
        let weight = |row: usize| columns.iter().map(|column| column[row].abs()).fold(0.0, f64::max);
        let open = || (0..n).filter(|row| !chosen.contains(row));
        let most = open().map(weight).fold(0.0, f64::max);
        let Some(row) = open().rfind(|row| weight(*row) >= 0.5 * most) else { break };
        let pivot =
            (0..columns.len()).max_by(|a, b| columns[*a][row].abs().total_cmp(&columns[*b][row].abs()));
        let pivot = columns.swap_remove(pivot.unwrap_or(0));
        for column in &mut columns {
            let factor = column[row] / pivot[row];
            column.iter_mut().zip(&pivot).for_each(|(c, p)| *c -= factor * p);
            let size = linalg::norm(column);
            column.iter_mut().for_each(|c| *c /= size);
        }
        chosen.push(row);
    }
    chosen
}
