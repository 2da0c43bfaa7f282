//! Data made ready for a program: columns of about the same length, dependent ones left out.

use super::certificate::Certificate;
use super::error::SolveError;
use super::factor::{Columns, Triangle, times_power};
use super::options::{Options, RankDeficient};
use crate::execute::{Large, Seen};
use crate::linalg::{self, ColumnMap, Matrix, power_of_two_below};
use crate::rng::Stream;

/// A system Ãy = b̃ with Ã = A·2^(−e), b̃ = b·2^(−f), without the columns that depend on others.
pub(super) struct Prepared {
    /// What the program runs on.
    pub large: Large,
    /// Which columns those are.
    pub columns: Columns,
    exponents: Vec<i32>,
    size: i32,
    shortest: bool,
}

/// Passes over A that preparing makes.
pub(super) const PASSES: usize = 2;

impl Prepared {
    /// Scales by powers of two, so that no digit changes. A symmetric A stays so: then all columns have one scale.
    pub fn new(large: Large, options: &Options) -> Result<Prepared, SolveError> {
        let (noise, mut symmetric) = (large.noise().to_vec(), large.is_symmetric());
        let (matrix, b) = large.into_data();
        let mut scales = units(&matrix);
        if symmetric {
            let largest = scales.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            scales = vec![largest; scales.len()];
        }
        let size = power(linalg::norm(&b));
        let b: Vec<f64> = b.iter().map(|b| b / size).collect();
        let exponents: Vec<i32> = scales.iter().copied().map(exponent).collect();
        let mut matrix = matrix.map_columns(ColumnMap::all(vec![0.0; scales.len()], scales));
        let triangle = Triangle::of(&matrix, &Stream::new(options.seed).derive("certificate", 0));
        if !triangle.is_finite() {
            return Err(SolveError::Unreadable(matrix.read_failure().unwrap_or_default().to_string()));
        }
        let columns = Columns::sorted(&triangle, &noise)?;
        if !columns.dependent.is_empty() {
            if options.rank_deficient == RankDeficient::Refuse {
                let rank = columns.kept.len();
                return Err(SolveError::Dependent { columns: columns.dependent, rank });
            }
            symmetric = false;
            matrix = matrix.map_columns(ColumnMap::only(columns.kept.clone()));
        }
        let shortest = options.rank_deficient == RankDeficient::MinNorm;
        let large = Large::trusted(matrix, b, symmetric);
        Ok(Prepared { large, columns, exponents, size: exponent(size), shortest })
    }

    /// The solution in the units of the data, an entry for every column.
    pub fn answer(&self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.exponents.len()];
        for (y, j) in y.iter().zip(&self.columns.kept) {
            x[*j] = times_power(*y, self.size - self.exponents[*j]);
        }
        if self.shortest { self.columns.shortest(&x, &self.exponents) } else { x }
    }

    /// The y that such a solution stands for: what is measured is what is returned.
    pub fn question(&self, x: &[f64]) -> Vec<f64> {
        let scaled = x.iter().zip(&self.exponents).map(|(x, e)| times_power(*x, e - self.size));
        self.columns.folded(&scaled.collect::<Vec<f64>>())
    }

    /// How good y is.
    pub fn judge(&self, y: &[f64], seen: &Seen, tolerance: f64) -> Certificate {
        let size = linalg::norm(self.large.right_hand_side());
        Certificate::of(&self.columns.factor, y, seen, size, tolerance)
    }
}

/// The powers of two that bring the columns of a matrix to lengths between 1 and 2.
pub(super) fn units(matrix: &Matrix) -> Vec<f64> {
    linalg::column_norms(matrix).into_iter().map(power).collect()
}

/// The power of two that brings a length to between 1 and 2; 1 for nothing.
fn power(length: f64) -> f64 {
    match length {
        0.0 => 1.0,
        length if length.is_finite() => power_of_two_below(length),
        _ => 2.0_f64.powi(1023),
    }
}

/// e of 2^e.
fn exponent(power: f64) -> i32 {
    (power.to_bits() >> 52) as i32 - 1023
}
