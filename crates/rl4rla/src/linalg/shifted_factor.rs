//! A factor of a symmetric matrix with an addition to its diagonal.
#![allow(non_snake_case)]

use super::{
    Matrix, NumericError, cholesky_r, is_finite, norm, solve_upper, solve_upper_transposed,
    triangular_inverse,
};

/// A factor of G + D for a symmetric G and a diagonal D, scaled so that its diagonal is 1: the units of the unknowns do
/// not matter.
#[derive(Clone, Debug)]
pub struct ShiftedFactor {
    /// U·(G + D)·U = RᵀR.
    R: Matrix,
    /// The diagonal of U.
    units: Vec<f64>,
}

impl ShiftedFactor {
    /// The factor, for the diagonal entries of D. An error unless G + D is positive definite.
    pub fn of(G: &Matrix, shift: impl Fn(usize) -> f64) -> Result<ShiftedFactor, NumericError> {
        let n = G.cols();
        let units: Vec<f64> = (0..n).map(|j| (G.get(j, j) + shift(j)).sqrt().recip()).collect();
        if let Some(index) = units.iter().position(|unit| !unit.is_normal()) {
            return Err(NumericError::Singular { index });
        }
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { units[i] * G.get(i, j) * units[j] };
        Ok(ShiftedFactor { R: cholesky_r(&Matrix::from_fn(n, n, entry))?, units })
    }

    /// (G + D)⁻¹·v.
    pub fn solve(&self, v: &[f64]) -> Result<Vec<f64>, NumericError> {
        assert_eq!(self.units.len(), v.len(), "(G + D)⁻¹·v of unequal lengths");
        let x = self.scaled(&solve_upper(&self.R, &solve_upper_transposed(&self.R, &self.scaled(v))?)?);
        if is_finite(&x) { Ok(x) } else { Err(NumericError::NotFinite) }
    }

    /// √(vᵀ(G + D)⁻¹v).
    pub fn inverse_norm(&self, v: &[f64]) -> Result<f64, NumericError> {
        Ok(norm(&solve_upper_transposed(&self.R, &self.scaled(v))?))
    }

    /// A bound on ‖(U(G + D)U)⁻¹‖, the inverse of the scaled matrix.
    pub fn inverse_size(&self) -> Result<f64, NumericError> {
        Ok(norm(triangular_inverse(&self.R)?.row_major()).powi(2))
    }

    /// The largest diagonal entry of U.
    pub fn largest_unit(&self) -> f64 {
        self.units.iter().copied().fold(0.0, f64::max)
    }

    fn scaled(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(&self.units).map(|(v, unit)| v * unit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::normal;
    use super::super::{gram, mat_vec, sub};
    use super::*;

    #[test]
    fn it_solves_in_any_units() {
        let (A, v) = (normal(40, 6, 1), normal(6, 1, 2));
        let units = [1.0, 1e-120, 1e100, 1e-3, 1e8, 1.0];
        let shift = |j: usize| if j == 3 { 0.0 } else { 0.5 / units[j] / units[j] };
        let G = gram(&A);
        let scaled = Matrix::from_fn(6, 6, |i, j| G.get(i, j) / units[i] / units[j]);
        let factor = ShiftedFactor::of(&scaled, shift).unwrap();
        let x = factor.solve(v.column(0)).unwrap();
        let image = mat_vec(&scaled, &x);
        for j in 0..6 {
            let left = image[j] + shift(j) * x[j] - v.get(j, 0);
            let size: f64 = (0..6).map(|i| (scaled.get(i, j) * x[i]).abs()).sum::<f64>() + v.get(j, 0).abs();
            assert!(left.abs() <= 1e-12 * size, "{j}: {left:e} of {size:e}");
        }
        let length = factor.inverse_norm(v.column(0)).unwrap();
        assert!((length.powi(2) - super::super::dot(&x, v.column(0))).abs() <= 1e-12 * length.powi(2));
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let G = Matrix::from_rows(&[&[1.0, 2.0], &[2.0, 1.0]]);
        assert!(ShiftedFactor::of(&G, |_| 0.0).is_err() && ShiftedFactor::of(&G, |_| 1.5).is_ok());
        assert!(ShiftedFactor::of(&Matrix::zeros(2, 2), |_| 0.0).is_err());
        let inverse = ShiftedFactor::of(&G, |_| 1.5).unwrap().solve(&[1.0, 0.0]).unwrap();
        assert!(norm(&sub(&inverse, &[2.5 / 2.25, -2.0 / 2.25])) < 1e-14);
    }
}
