//! Several right-hand sides: one factor, and one product with A per step for all of them.
#![allow(non_snake_case)]

use super::auto::{ACCEPTED, Chosen, auto, ranked, wanted};
use super::candidate::SolveScheme;
use super::certificate::Certificate;
use super::column_factor::ColumnFactor;
use super::error::SolveError;
use super::factor::Dependence;
use super::options::SolveOptions;
use super::problem::Problem;
use super::progress::Closest;
use super::solver::with_own_factor;
use super::speeds::Speeds;
use crate::execute::Seen;
use crate::linalg::{self, BlockResidual, Matrix, block_residual};

/// Steps of refinement, at most.
const STEPS: usize = 30;

/// Steps without much progress after which a column that is accurate up to rounding is done.
const PATIENCE: usize = 3;

/// Solutions for several right-hand sides.
#[must_use]
#[derive(Clone, PartialEq, Debug)]
pub struct SeveralSolutions {
    /// A solution per right-hand side.
    pub x: Vec<Vec<f64>>,
    /// The certificate of each; `None` where no factor of A was computed.
    pub certificates: Vec<Option<Certificate>>,
    /// The backward error of each, an estimate or a bound.
    pub backward_errors: Vec<f64>,
    /// Whether each has converged.
    pub converged: Vec<bool>,
    /// ‖Ax − b‖/‖b‖ of each.
    pub residuals: Vec<f64>,
    /// The program that found them.
    pub program: &'static str,
    /// Why this program.
    pub reason: String,
    /// Iterations made.
    pub iterations: usize,
    /// Linearly dependent columns.
    pub dependent: Vec<Dependence>,
}

impl SeveralSolutions {
    /// Whether all have converged.
    pub fn is_converged(&self) -> bool {
        self.converged.iter().all(|converged| *converged)
    }
}

/// Solves least squares for every column of B, like [`auto`] for one: x ← x − R⁻¹R⁻ᵀAᵀ(Ax − b), the refinement programs
/// of the catalogue, on all of them at once. The b of the problem is not used. If the columns of A are dependent, or
/// nearly so, the right-hand sides are solved one after the other, on a copy of A.
///
/// ```
/// use rl4rla::{linalg::Matrix, rng::Stream, solve::{Problem, SolveOptions, Speeds, auto_several}};
/// let (m, n) = (500, 4);
/// let problem = Problem::from_rows(m, n, Stream::new(1).normals(m * n), vec![0.0; m]).unwrap();
/// let right = Matrix::from_fn(m, 3, |i, j| ((i * (j + 1)) as f64).sin());
/// let found = auto_several(problem, &right, &SolveOptions::default(), Speeds::USUAL).unwrap();
/// assert!(found.is_converged() && found.x.len() == 3 && found.x[0].len() == n);
/// ```
pub fn auto_several(
    problem: Problem,
    B: &Matrix,
    options: &SolveOptions,
    speeds: Speeds,
) -> Result<SeveralSolutions, SolveError> {
    let options = &wanted(options);
    // A column that is not zero, if there is one, for what is decided by size.
    let first = (0..B.cols()).max_by(|i, j| {
        let size = |j: usize| linalg::norm(B.column(j));
        size(*i).total_cmp(&size(*j))
    });
    let mut problem = Problem { b: first.map_or(vec![], |j| B.column(j).to_vec()), ..problem };
    problem.admits(options)?;
    let sizes: Vec<f64> = (0..B.cols()).map(|j| linalg::norm(B.column(j))).collect();
    let plain = sizes.iter().all(|size| *size == 0.0 || ColumnFactor::PLAIN.contains(size));
    let candidates = ranked(&problem, options, speeds).into_iter();
    let candidates =
        candidates.filter(|candidate| candidate.fit && candidate.scheme == SolveScheme::Refinement);
    for candidate in candidates.filter(|_| plain) {
        let (again, found) =
            with_own_factor(candidate.document(), problem, &candidate.options, |job, _, columns| {
                Ok(refined(&job.prepared.instance.A, B, &columns.factor, options))
            });
        problem = again;
        if let Ok(Some(Some((columns, iterations)))) = found {
            let mut solutions = SeveralSolutions {
                x: vec![],
                certificates: vec![],
                backward_errors: vec![],
                converged: vec![],
                residuals: vec![],
                program: candidate.program,
                reason: candidate.reason,
                iterations,
                dependent: vec![],
            };
            for column in columns {
                solutions.x.push(column.x);
                solutions.certificates.push(Some(column.known));
                solutions.backward_errors.push(column.known.backward_error);
                solutions.converged.push(column.known.converged);
                solutions.residuals.push(column.residual);
            }
            return Ok(solutions);
        }
    }
    one_by_one(&problem, B, options, speeds)
}

/// The state of one right-hand side.
struct Column {
    x: Vec<f64>,
    known: Certificate,
    residual: f64,
}

/// Refines all solutions from 0; `None` if one does not converge.
fn refined(
    A: &Matrix,
    B: &Matrix,
    factor: &ColumnFactor,
    options: &SolveOptions,
) -> Option<(Vec<Column>, usize)> {
    let (k, n) = (B.cols(), A.cols());
    let mut done: Vec<Option<Column>> = (0..k).map(|_| None).collect();
    let mut open: Vec<(usize, Vec<f64>, Closest)> =
        (0..k).map(|j| (j, vec![0.0; n], Closest::default())).collect();
    for step in 0..STEPS {
        let X = Matrix::from_fn(n, open.len(), |i, j| open[j].1[i]);
        let columns: Vec<usize> = open.iter().map(|(j, ..)| *j).collect();
        let BlockResidual { distances, gradients } = block_residual(A, &X, B, &columns);
        let mut still = Vec::new();
        for (place, (j, mut x, mut closest)) in open.into_iter().enumerate() {
            let (size, distance) = (linalg::norm(B.column(j)), distances[place]);
            let residual = if size > 0.0 { distance / size } else { 0.0 };
            let seen = Seen { residual, distance, gradient: gradients.column(place).to_vec() };
            let known = Certificate::of(factor, &x, &seen, size, options.goal());
            closest.look(known.excess * distance);
            let done_by_rounding = known.converged && closest.is_slow(PATIENCE);
            if done_by_rounding && known.backward_error > ACCEPTED {
                return None;
            }
            if known.reached || done_by_rounding {
                done[j] = Some(Column { x, known, residual });
                continue;
            }
            x = linalg::sub(&x, &factor.solved_twice(gradients.column(place)));
            still.push((j, x, closest));
        }
        open = still;
        if open.is_empty() {
            return done.into_iter().collect::<Option<Vec<Column>>>().map(|columns| (columns, step));
        }
    }
    None
}

fn one_by_one(
    problem: &Problem,
    B: &Matrix,
    options: &SolveOptions,
    speeds: Speeds,
) -> Result<SeveralSolutions, SolveError> {
    let solve = |j: usize| auto(Problem { b: B.column(j).to_vec(), ..problem.clone() }, options, speeds);
    let all: Vec<Chosen> = (0..B.cols()).map(solve).collect::<Result<_, _>>()?;
    let last = all.last().expect("at least one right-hand side");
    Ok(SeveralSolutions {
        program: last.candidate.program,
        reason: last.candidate.reason.clone(),
        dependent: last.solution.dependent.clone(),
        iterations: all.iter().map(|one| one.solution.iterations).max().unwrap_or(0),
        residuals: all.iter().map(|one| one.solution.residual).collect(),
        certificates: all.iter().map(|one| one.solution.certificate).collect(),
        backward_errors: all.iter().map(|one| one.solution.backward_error().unwrap_or(f64::NAN)).collect(),
        converged: all.iter().map(|one| one.solution.is_converged()).collect(),
        x: all.into_iter().map(|one| one.solution.estimate().to_vec()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{conditioned, deficient, normal};
    use crate::solve::RankDeficient;

    fn problem(A: &Matrix) -> Problem {
        Problem::from_rows(A.rows(), A.cols(), A.row_major().to_vec(), vec![0.0; A.rows()]).unwrap()
    }

    #[test]
    fn every_column_is_solved_as_if_alone() {
        for kappa in [3.0, 1e6, 1e9] {
            let A = conditioned(900, 12, kappa, 1);
            let mut columns: Vec<Vec<f64>> =
                (0..5).map(|j| normal(900, 1, 10 + j).column(0).to_vec()).collect();
            // No residual, no target, and another size.
            columns.push(linalg::mat_vec(&A, &[1.0; 12]));
            columns.push(vec![0.0; 900]);
            columns.push(linalg::scale(1e-9, &columns[0]));
            let B = Matrix::from_fn(900, columns.len(), |i, j| columns[j][i]);
            let found = auto_several(problem(&A), &B, &SolveOptions::default(), Speeds::USUAL).unwrap();
            assert!(found.is_converged(), "{kappa}: {found:?}");
            for (j, b) in columns.iter().enumerate() {
                let alone = linalg::least_squares(&A, b);
                let gap = linalg::norm(&linalg::sub(&found.x[j], &alone)) / linalg::norm(&alone).max(1e-300);
                let known = found.certificates[j].unwrap();
                let allowed = 20.0 * known.forward_error + 1e-14 * kappa;
                assert!(gap <= allowed, "{kappa} {j}: {gap} {known:?}");
                assert!(found.backward_errors[j] < 2e-15, "{known:?}");
            }
        }
    }

    #[test]
    fn dependent_columns_are_told_or_give_minimum_norm() {
        let A = deficient(80, 6, 5, 2);
        let B = normal(80, 2, 3);
        let refuse = auto_several(problem(&A), &B, &SolveOptions::default(), Speeds::USUAL);
        assert!(matches!(refuse, Err(SolveError::Dependent { .. })), "{refuse:?}");
        let options = SolveOptions { rank_deficient: RankDeficient::MinNorm, ..SolveOptions::default() };
        let found = auto_several(problem(&A), &B, &options, Speeds::USUAL).unwrap();
        assert!(found.is_converged() && found.dependent.len() == 1);
        let wanted = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), B.column(1));
        assert!(linalg::norm(&linalg::sub(&found.x[1], &wanted)) < 1e-10 * linalg::norm(&wanted));
    }
}
