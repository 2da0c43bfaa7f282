//! Certificates for solutions that were computed elsewhere.

use super::certified::Certified;
use super::error::SolveError;
use super::options::SolveOptions;
use super::prepared::PreparedProblem;
use super::problem::Problem;
use super::solution::{Solution, Termination};
use crate::execute::Seen;
use crate::linalg;

/// Judges an x for least squares as [`solve`](super::solve) judges its own.
///
/// ```
/// use rl4rla::{baseline::{Baseline, Request}, linalg::Matrix, rng::Stream};
/// use rl4rla::solve::{Problem, SolveOptions, certify};
/// let (m, n) = (200, 5);
/// let (a, b) = (Stream::new(1).normals(m * n), Stream::new(2).normals(m));
/// let matrix = Matrix::from_row_major(m, n, a.clone());
/// let found = Baseline::named("qr").unwrap().solve(&Request::new(&matrix, &b, Stream::new(0))).unwrap();
/// let problem = Problem::from_rows(m, n, a, b).unwrap();
/// let mut wrong = found.x.clone();
/// assert!(certify(problem.clone(), found.x, &SolveOptions::default()).unwrap().is_converged());
/// wrong[3] *= 1.001;
/// assert!(!certify(problem, wrong, &SolveOptions::default()).unwrap().is_converged());
/// ```
pub fn certify(problem: Problem, x: Vec<f64>, options: &SolveOptions) -> Result<Solution, SolveError> {
    problem.admits(options)?;
    let prepared = PreparedProblem::new(problem, options)?;
    let columns = prepared.columns.as_ref().expect("least squares has a certificate");
    if columns.kept.is_empty() {
        return Ok(Certified::nothing(&prepared, columns));
    }
    let (y, instance) = (prepared.question(columns, &x), &prepared.instance);
    let (r, gradient) = linalg::residual_and_gradient(&instance.A, &y, &instance.b);
    let seen = Seen::of(instance, &r, &gradient);
    let certificate = prepared.judge(columns, &y, &seen, options.goal());
    Ok(Solution {
        x,
        converged: certificate.converged,
        residual: seen.residual,
        gradient: certificate.cosine,
        certificate: Some(certificate),
        gradient_bound: None,
        dependent: columns.dependent.clone(),
        step: 0.0,
        iterations: 0,
        passes: 0.0,
        reads: prepared.passes() + 1,
        flops: 0.0,
        residuals: vec![seen.residual],
        ended: if certificate.converged { Termination::Tolerance } else { Termination::Floor },
        failure: None,
        obstacle: None,
        figures: vec![],
    })
}
