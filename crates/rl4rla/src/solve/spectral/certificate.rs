//! How good pairs are, by products with A itself.
#![allow(non_snake_case)]

use super::operator::LinearOperator;
use super::probe::SecondStart;
use super::result::{Pairs, Spectral, SpectralMethod};
use super::{SpectralOptions, Triplets};
use crate::linalg::{Matrix, norm, t_product};
use faer::Mat;

/// Loss of orthogonality that is always accepted.
const ORTHOGONAL: f64 = 1e-12;

/// Pairs of A/c with what was measured of them.
pub struct MeasuredPairs {
    pairs: Pairs,
    residuals: Vec<f64>,
    orthogonality: f64,
    probe: Option<SecondStart>,
}

impl MeasuredPairs {
    /// Eigenpairs; `size` is the largest size of an eigenvalue, if they do not contain it.
    pub fn of_eigenpairs(
        operator: &LinearOperator,
        values: Vec<f64>,
        V: Matrix,
        size: Option<f64>,
    ) -> MeasuredPairs {
        let size = values.iter().fold(size.unwrap_or(0.0), |size, value| size.max(value.abs()));
        let residuals = residuals(&operator.times(&V), &V, &values, size);
        let (orthogonality, probe) = (skew(&V), None);
        MeasuredPairs { pairs: Pairs { values, right: V, left: None }, residuals, orthogonality, probe }
    }

    /// Singular triplets.
    pub fn of_triplets(operator: &LinearOperator, triplets: Triplets) -> MeasuredPairs {
        let Triplets { values, left, right } = triplets;
        let size = values.iter().fold(0.0_f64, |size, value| size.max(*value));
        let of_left = residuals(&operator.times(&right), &left, &values, size);
        let of_right = residuals(&operator.transposed_times(&left), &right, &values, size);
        let residuals = of_left.iter().zip(&of_right).map(|(a, b)| a.max(*b)).collect();
        let orthogonality = skew(&left).max(skew(&right));
        let [left, right] = if operator.transposed { [right, left] } else { [left, right] };
        let pairs = Pairs { values, right, left: Some(left) };
        MeasuredPairs { pairs, residuals, orthogonality, probe: None }
    }

    /// With what a second start has seen.
    pub fn with_probe(self, probe: Option<SecondStart>) -> MeasuredPairs {
        MeasuredPairs { probe, ..self }
    }

    /// The pairs of A, and whether they meet the tolerance.
    pub fn judged(
        self,
        operator: &LinearOperator,
        k: usize,
        options: &SpectralOptions,
        method: SpectralMethod,
    ) -> Spectral {
        let MeasuredPairs { mut pairs, residuals, orthogonality, probe } = self;
        let (tolerance, found) = (options.tolerance(), pairs.values.len());
        let worst = residuals.iter().copied().fold(0.0, f64::max);
        let above = residuals.iter().filter(|residual| exceeds(**residual, tolerance)).count();
        let limit = format!("after {} passes over A (limit {})", operator.passes(), options.passes);
        let obstacle = if found < k {
            Some(format!("the iteration has reached only {found} of {k} pairs {limit}"))
        } else if above > 0 {
            let what = format!("{above} of {k} residuals are above the tolerance of {tolerance:e}");
            Some(format!("{what}, the largest is {worst:.1e}, {limit}"))
        } else if exceeds(orthogonality, tolerance.max(ORTHOGONAL)) {
            Some(format!("the vectors are orthonormal only to {orthogonality:.1e}"))
        } else if method == SpectralMethod::BlockKrylov && probe.is_none() {
            Some(format!("the search for larger values that were missed was not finished {limit}"))
        } else {
            None
        };
        pairs.values.iter_mut().for_each(|value| *value *= operator.factor);
        let probe = probe.map(|probe| SecondStart {
            rise: probe.rise * operator.factor,
            bound: probe.bound * operator.factor,
        });
        let passes = operator.passes();
        Spectral { pairs: signed(pairs), obstacle, residuals, orthogonality, probe, passes, method }
    }
}

/// Whether a measured error is above its limit, or not a number.
fn exceeds(error: f64, limit: f64) -> bool {
    error.is_nan() || error > limit
}

/// ‖(A·x)ⱼ − λⱼyⱼ‖/size for every column.
fn residuals(image: &Mat<f64>, Y: &Matrix, values: &[f64], size: f64) -> Vec<f64> {
    let residual = |j: usize| {
        let pairs = image.col_as_slice(j).iter().zip(Y.column(j));
        norm(&pairs.map(|(image, y)| image - values[j] * y).collect::<Vec<f64>>()) / size
    };
    (0..values.len()).map(residual).collect()
}

/// Largest entry of |VᵀV − I|.
fn skew(V: &Matrix) -> f64 {
    let G = t_product(V.as_faer(), V.as_faer());
    let off = |i: usize, j: usize| (G[(i, j)] - f64::from(u8::from(i == j))).abs();
    let all = (0..G.ncols()).flat_map(|j| (0..=j).map(move |i| (i, j)));
    all.fold(0.0, |worst, (i, j)| if off(i, j) <= worst { worst } else { off(i, j) })
}

/// The pairs with signs that do not depend on the method: the entry of largest size of every right vector is positive.
fn signed(pairs: Pairs) -> Pairs {
    let Pairs { values, right, left } = pairs;
    let sign = |j: usize| {
        let largest = right
            .column(j)
            .iter()
            .fold(0.0_f64, |largest, v| if v.abs() > largest.abs() { *v } else { largest });
        1.0_f64.copysign(largest)
    };
    let signs: Vec<f64> = (0..values.len()).map(sign).collect();
    let turned = |M: Matrix| {
        let mut M = M.into_faer();
        for (j, sign) in signs.iter().enumerate() {
            M.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry *= sign);
        }
        Matrix::from_faer(M)
    };
    let left = left.map(turned);
    Pairs { values, right: turned(right), left }
}
