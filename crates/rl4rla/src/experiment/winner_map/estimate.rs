//! What a map needs to know of a user's data, estimated from a sketch of them.

use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};
use crate::problem::Leverage;
use crate::rng::Stream;
use std::fmt;

/// Rows of the sketch per column.
const FACTOR: usize = 4;

/// Random directions for the leverage scores, each a product A·x. Their relative error is √(2/16) = 0.35.
const DIRECTIONS: usize = 16;

/// A leverage score above which a row counts as dominant.
const DOMINANT: f64 = 0.5;

/// Steps of the power iterations for the largest and the smallest singular value.
const STEPS: usize = 40;

/// Condition number from which columns count as dependent.
const DEPENDENT: f64 = 1e15;

/// Traits of data, as far as a sketch shows them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DataTraits {
    /// κ of A with columns of norm 1, to a factor of about two: `solve` scales columns, too.
    pub kappa: f64,
    /// The leverage of the rows.
    pub leverage: Leverage,
    /// Rows whose leverage score is above one half.
    pub dominant_rows: usize,
    /// The weight of the component of b outside the range of A, if there is a b.
    pub outside: Option<f64>,
}

/// Why nothing can be said of data.
#[derive(Clone, PartialEq, Debug)]
pub enum EstimateError {
    /// More columns than rows.
    Wide {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// A column of zeros, counted from 1.
    ZeroColumn(usize),
    /// Columns are linearly dependent, up to rounding.
    Dependent,
    /// The matrix is in a file that could not be read.
    Unreadable(String),
    /// Sums overflowed.
    Overflow,
}

impl fmt::Display for EstimateError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            EstimateError::Wide { rows, cols } => {
                write!(
                    f,
                    "{rows} rows and {cols} columns, but the map is for at least as many rows as columns"
                )
            }
            EstimateError::ZeroColumn(column) => write!(f, "column {column} is zero"),
            EstimateError::Dependent => f.write_str("its columns are linearly dependent, up to rounding"),
            EstimateError::Unreadable(why) => f.write_str(why),
            EstimateError::Overflow => f.write_str("its numbers are too large or too small to be added up"),
        }
    }
}

impl std::error::Error for EstimateError {}

impl DataTraits {
    /// The traits of A and, if it is not empty, of b, in about twenty passes over A.
    #[allow(non_snake_case)]
    pub fn of(A: &Matrix, b: &[f64], seed: u64) -> Result<DataTraits, EstimateError> {
        let (rows, cols) = (A.rows(), A.cols());
        if rows < cols || cols == 0 {
            return Err(EstimateError::Wide { rows, cols });
        }
        let stream = Stream::new(seed).derive("estimate", 0);
        let sketch_rows = FACTOR * cols;
        let sketch = Sketch::draw(SketchKind::Sjlt, sketch_rows, rows, &stream);
        let small = sketch.apply(A).by_columns();
        if let Some(why) = A.read_failure() {
            return Err(EstimateError::Unreadable(why.into()));
        }
        if !small.is_finite() {
            return Err(EstimateError::Overflow);
        }
        let norms = linalg::column_norms(&small);
        if let Some(zero) = norms.iter().position(|norm| *norm == 0.0) {
            return Err(EstimateError::ZeroColumn(zero + 1));
        }
        let scaled = Matrix::from_fn(sketch_rows, cols, |i, j| small.get(i, j) / norms[j]);
        let sketched_b = if b.is_empty() { vec![0.0; sketch_rows] } else { sketch.apply_vec(b) };
        let (R, c) = linalg::qr_r_with(&scaled, &sketched_b);
        let kappa =
            condition(&R, &stream).filter(|kappa| *kappa < DEPENDENT).ok_or(EstimateError::Dependent)?;
        let unscaled = |y: Vec<f64>| -> Vec<f64> { y.iter().zip(&norms).map(|(y, norm)| y / norm).collect() };
        let singular = |_| EstimateError::Dependent;
        // ‖eᵢᵀAR⁻¹‖², in random directions.
        let mut scores = vec![0.0; rows];
        for k in 0..DIRECTIONS {
            let direction = stream.derive("direction", k as u64).normals(cols);
            let x = unscaled(linalg::solve_upper(&R, &direction).map_err(singular)?);
            for (score, y) in scores.iter_mut().zip(linalg::mat_vec(A, &x)) {
                *score += y * y / DIRECTIONS as f64;
            }
        }
        let dominant_rows = scores.iter().filter(|score| **score > DOMINANT).count();
        let leverage = match dominant_rows {
            // If there are few rows, each is needed.
            _ if rows < FACTOR * cols => Leverage::Low,
            0 => Leverage::Low,
            few if few <= cols.div_ceil(10) => Leverage::Coherent,
            _ => Leverage::High,
        };
        let outside = match b.is_empty() {
            true => None,
            false => {
                let x = unscaled(linalg::solve_upper(&R, &c).map_err(singular)?);
                Some(outside(A, b, &x, cols, sketch_rows))
            }
        };
        if let Some(why) = A.read_failure() {
            return Err(EstimateError::Unreadable(why.into()));
        }
        Ok(DataTraits { kappa, leverage, dominant_rows, outside })
    }
}

/// The weight s of a right-hand side whose smallest relative residual is s/√(s² + (1 − s)²), from the residual of the
/// sketched solution, which is larger by a known factor on average.
#[allow(non_snake_case)]
fn outside(A: &Matrix, b: &[f64], x: &[f64], cols: usize, sketch_rows: usize) -> f64 {
    let size = linalg::norm(b);
    if size == 0.0 {
        return 0.0;
    }
    let excess = 1.0 + cols as f64 / (sketch_rows - cols) as f64;
    let residual = linalg::norm(&linalg::sub(&linalg::mat_vec(A, x), b)) / size / excess.sqrt();
    let residual = residual.min(1.0);
    let weight = residual / (residual + (1.0 - residual * residual).sqrt());
    weight.min(0.999)
}

/// κ of a triangular matrix, by power iterations; `None` if it is singular.
#[allow(non_snake_case)]
fn condition(R: &Matrix, stream: &Stream) -> Option<f64> {
    let start = stream.derive("power", 0).normals(R.cols());
    let powers = |step: &dyn Fn(&[f64]) -> Option<Vec<f64>>| -> Option<f64> {
        let (mut v, mut size) = (start.clone(), 0.0);
        for _ in 0..STEPS {
            let norm = linalg::norm(&v);
            v = step(&linalg::scale(1.0 / norm, &v))?;
            size = linalg::norm(&v);
            if !(size.is_finite() && size > 0.0) {
                return None;
            }
        }
        Some(size.sqrt())
    };
    let largest = powers(&|v| Some(linalg::vec_mat(&linalg::mat_vec(R, v), R)))?;
    let smallest = powers(&|v| linalg::solve_upper(R, &linalg::solve_upper_transposed(R, v).ok()?).ok())?;
    Some((largest * smallest).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Family, FamilyKind};

    #[test]
    fn the_traits_of_drawn_problems_are_found() {
        for leverage in Leverage::ALL {
            for (kappa, outside) in [(1e2, 0.1), (1e6, 0.7)] {
                let family = Family {
                    rows: 6000,
                    cols: 40,
                    condition: Some(kappa),
                    outside,
                    leverage,
                    ..Family::new(FamilyKind::MID_COND)
                };
                let instance = family.draw(&Stream::new(3)).unwrap();
                let traits = DataTraits::of(&instance.A, &instance.b, 0).unwrap();
                assert!((kappa / 10.0..kappa * 3.0).contains(&traits.kappa), "{leverage:?} {traits:?}");
                assert_eq!(traits.leverage, leverage, "{kappa} {traits:?}");
                assert!((traits.outside.unwrap() - outside).abs() < 0.05, "{traits:?}");
            }
        }
    }

    #[test]
    fn data_without_an_answer_are_refused() {
        let of = |rows: &[&[f64]]| DataTraits::of(&Matrix::from_rows(rows), &[], 0);
        assert_eq!(of(&[&[1.0, 2.0, 3.0]]), Err(EstimateError::Wide { rows: 1, cols: 3 }));
        assert_eq!(of(&[&[1.0, 0.0], &[2.0, 0.0], &[3.0, 0.0]]), Err(EstimateError::ZeroColumn(2)));
        assert_eq!(of(&[&[1.0, 2.0], &[2.0, 4.0], &[3.0, 6.0]]), Err(EstimateError::Dependent));
        assert_eq!(of(&[&[1e308, 1.0], &[1e308, 2.0], &[1e308, 1.0]]), Err(EstimateError::Overflow));
        let fine = of(&[&[1.0, 0.0], &[0.0, 1.0], &[1.0, 1.0]]).unwrap();
        assert_eq!((fine.outside, fine.leverage), (None, Leverage::Low));
    }
}
