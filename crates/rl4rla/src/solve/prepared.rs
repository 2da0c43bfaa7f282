//! Data prepared for a program: columns scaled to about the same length, dependent columns left out.

use super::certificate::Certificate;
use super::error::SolveError;
use super::factor::{ColumnSplit, Triangle, times_power};
use super::options::{RankDeficient, SolveOptions};
use super::problem::Problem;
use crate::execute::Seen;
use crate::linalg::{self, ColumnMap, Matrix, power_of_two_below};
use crate::problem::{Instance, Solving, Stopping};
use crate::rng::Stream;

/// The problem with Ã = A·2^(−e) and b̃ = b·2^(−f), as far as its task allows scaling; without the dependent columns
/// if the task uses a certificate.
pub(super) struct PreparedProblem {
    /// The problem that the program runs on.
    pub instance: Instance,
    /// The linear dependence of the columns, if the task uses a certificate.
    pub columns: Option<ColumnSplit>,
    exponents: Vec<i32>,
    size: i32,
    shortest: bool,
}

/// Passes over A made by the preparation.
pub(super) const PASSES: usize = 2;

impl PreparedProblem {
    /// Scales by powers of two, which is exact. A symmetric A stays symmetric: all its columns are scaled by one
    /// factor.
    pub fn new(problem: Problem, options: &SolveOptions) -> Result<PreparedProblem, SolveError> {
        let Problem { task, matrix, b, noise, lambda } = problem;
        let Solving { stopping, scales_columns, .. } = task.solving();
        let certified = stopping == Stopping::Certificate;
        let symmetric = !matrix.is_in_file() && matrix.is_symmetric();
        let scales = if scales_columns { scales(&matrix, symmetric) } else { vec![1.0; matrix.cols()] };
        let size = if certified { power(linalg::norm(&b)) } else { 1.0 };
        let b: Vec<f64> = b.iter().map(|b| b / size).collect();
        let exponents: Vec<i32> = scales.iter().copied().map(exponent).collect();
        let matrix = match scales_columns {
            true => matrix.map_columns(ColumnMap::all(vec![0.0; scales.len()], scales)),
            false => matrix,
        };
        let mut instance = task.pose_shifted(matrix, b, lambda).map_err(SolveError::Data)?;
        // Scaling may not make A symmetric by coincidence.
        instance.symmetric &= symmetric || !scales_columns;
        let columns = if certified { Some(sorted(&instance, &noise, options)?) } else { None };
        if let Some(ColumnSplit { dependent, kept, .. }) = &columns
            && !dependent.is_empty()
        {
            if options.rank_deficient == RankDeficient::Refuse {
                return Err(SolveError::Dependent { columns: dependent.clone(), rank: kept.len() });
            }
            let (matrix, b) = instance.into_data();
            instance = Instance::unsolved(task, matrix.map_columns(ColumnMap::only(kept.clone())), b);
        }
        let shortest = options.rank_deficient == RankDeficient::MinNorm;
        Ok(PreparedProblem { instance, columns, exponents, size: exponent(size), shortest })
    }

    /// The solution in the units of the data, with an entry for every column.
    pub fn answer(&self, y: &[f64]) -> Vec<f64> {
        let unscaled = |y: f64, j: usize| times_power(y, self.size - self.exponents[j]);
        let Some(columns) = &self.columns else {
            return y.iter().enumerate().map(|(j, y)| unscaled(*y, j)).collect();
        };
        let mut x = vec![0.0; self.exponents.len()];
        y.iter().zip(&columns.kept).for_each(|(y, j)| x[*j] = unscaled(*y, *j));
        if self.shortest { columns.shortest(&x, &self.exponents) } else { x }
    }

    /// The same, or an error that names the entry that overflows.
    pub fn finite_answer(&self, y: &[f64]) -> Result<Vec<f64>, SolveError> {
        let x = self.answer(y);
        match x.iter().position(|x| !x.is_finite()) {
            Some(column) => Err(SolveError::Overflow { column }),
            None => Ok(x),
        }
    }

    /// The y that corresponds to such a solution, so that the x returned is the one measured.
    pub fn question(&self, columns: &ColumnSplit, x: &[f64]) -> Vec<f64> {
        let scaled = x.iter().zip(&self.exponents).map(|(x, e)| times_power(*x, e - self.size));
        columns.folded(&scaled.collect::<Vec<f64>>())
    }

    /// The certificate of y.
    pub fn judge(&self, columns: &ColumnSplit, y: &[f64], seen: &Seen, tolerance: f64) -> Certificate {
        Certificate::of(&columns.factor, y, seen, linalg::norm(&self.instance.b), tolerance)
    }
}

/// Splits the columns of A into independent and dependent ones.
fn sorted(instance: &Instance, noise: &[f64], options: &SolveOptions) -> Result<ColumnSplit, SolveError> {
    let triangle = Triangle::of(&instance.A, &Stream::new(options.seed).derive("certificate", 0));
    if !triangle.is_finite() {
        return Err(SolveError::Unreadable(instance.A.read_failure().unwrap_or_default().to_string()));
    }
    Ok(ColumnSplit::sorted(&triangle, noise)?)
}

/// The powers of two that scale the columns of a matrix to lengths between 1 and 2; for a symmetric matrix the
/// largest of them, for all columns.
fn scales(matrix: &Matrix, symmetric: bool) -> Vec<f64> {
    let scales: Vec<f64> = linalg::column_norms(matrix).into_iter().map(power).collect();
    match symmetric {
        true => vec![scales.iter().copied().fold(f64::MIN_POSITIVE, f64::max); scales.len()],
        false => scales,
    }
}

/// The power of two that scales a length to between 1 and 2; 1 for a length of 0.
fn power(length: f64) -> f64 {
    match length {
        0.0 => 1.0,
        length if length.is_finite() => power_of_two_below(length),
        _ => 2.0_f64.powi(1023),
    }
}

/// The e of 2^e.
fn exponent(power: f64) -> i32 {
    (power.to_bits() >> 52) as i32 - 1023
}
