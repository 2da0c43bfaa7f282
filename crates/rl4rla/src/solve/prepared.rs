//! Data prepared for a program: columns scaled to about the same length, dependent columns left out.

use super::certificate::{AccuracyGoal, Certificate};
use super::column_factor::ColumnFactor;
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
    /// The rounding error of each column.
    pub noise: Vec<f64>,
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
        let Problem { task, matrix, b, noise, lambda, free } = problem;
        let Solving { stopping, scales_columns, .. } = task.solving();
        let certified = stopping == Stopping::Certificate;
        let symmetric = !matrix.is_in_file() && matrix.is_symmetric();
        let (scales, lambda) = match scales_columns {
            true if lambda > 0.0 => scales_with_penalty(&matrix, lambda, &free),
            true => (scales(&matrix, symmetric), lambda),
            false => (vec![1.0; matrix.cols()], lambda),
        };
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
        Ok(PreparedProblem { instance, noise, columns, exponents, size: exponent(size), shortest })
    }

    /// The problem as it is, for a program that computes a factor of A itself: nothing is checked or scaled. `None` if
    /// that could matter before the factor is known.
    pub fn as_given(problem: Problem) -> Result<PreparedProblem, Box<Problem>> {
        let Problem { task, matrix, b, .. } = &problem;
        let plain = task.solving().stopping == Stopping::Certificate
            && matrix.rows() >= matrix.cols()
            && matrix.cols() > 0
            && matrix.rows() == b.len()
            && ColumnFactor::PLAIN.contains(&linalg::norm(b));
        if !plain {
            return Err(Box::new(problem));
        }
        let Problem { task, matrix, b, noise, .. } = problem;
        let exponents = vec![0; matrix.cols()];
        let instance = Instance::unsolved(task, matrix, b);
        Ok(PreparedProblem { instance, noise, columns: None, exponents, size: 0, shortest: false })
    }

    /// The problem with scaled columns, without a decision about their rank.
    pub fn scaled(problem: Problem) -> PreparedProblem {
        let Problem { task, matrix, b, noise, .. } = problem;
        let scales = scales(&matrix, false);
        let exponents = scales.iter().copied().map(exponent).collect();
        let matrix = matrix.map_columns(ColumnMap::all(vec![0.0; scales.len()], scales));
        let size = power(linalg::norm(&b));
        let instance = Instance::unsolved(task, matrix, b.iter().map(|b| b / size).collect());
        PreparedProblem { instance, noise, columns: None, exponents, size: exponent(size), shortest: false }
    }

    /// Passes over A made by the preparation.
    pub fn passes(&self) -> usize {
        if self.columns.is_some() { PASSES } else { 0 }
    }

    /// The problem that was prepared by [`PreparedProblem::as_given`].
    pub fn into_problem(self) -> Problem {
        let (task, noise) = (self.instance.task, self.noise);
        let (matrix, b) = self.instance.into_data();
        Problem { noise, ..Problem::new(task, matrix, b) }
    }

    /// The solution in the units of the data, with an entry for every column.
    pub fn answer(&self, y: &[f64]) -> Vec<f64> {
        let unscaled = |y: f64, j: usize| times_power(y, self.size - self.exponents[j]);
        let Some(columns) = self.columns.as_ref().filter(|columns| !columns.dependent.is_empty()) else {
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
    pub fn judge(&self, columns: &ColumnSplit, y: &[f64], seen: &Seen, goal: AccuracyGoal) -> Certificate {
        Certificate::of(&columns.factor, y, seen, linalg::norm(&self.instance.b), goal)
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

/// Factor by which a column that λ does not apply to exceeds √λ.
const FREE: f64 = (1_u64 << 40) as f64;

/// The powers of two that scale the columns of a matrix, and λ in the new units, for a problem with the penalty ½λ‖x‖²:
/// one for all columns, so that the penalty keeps its form. A column without penalty is scaled to at least 2⁴⁰ times √λ:
/// then its coefficient is so small that its share of the penalty is 2⁻⁸⁰ of the curvature of the loss, and Newton's
/// method works in any units.
fn scales_with_penalty(matrix: &Matrix, lambda: f64, free: &[usize]) -> (Vec<f64>, f64) {
    let norms = linalg::column_norms(matrix);
    let held = norms.iter().enumerate().filter(|(j, _)| !free.contains(j));
    let scale = power(held.fold(0.0, |most: f64, (_, norm)| most.max(*norm)));
    let lambda = lambda / scale / scale;
    let large = (FREE * power(lambda.sqrt())).max(1.0);
    let own = |(j, norm): (usize, f64)| if free.contains(&j) { power(norm) / large } else { scale };
    (norms.into_iter().enumerate().map(own).collect(), lambda)
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
