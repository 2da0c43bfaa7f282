#![allow(non_snake_case)]

use super::*;
use crate::linalg::{self, Matrix};
use crate::rng::Stream;
use crate::solve::RankDeficient;

/// A with κ between its columns, mixed by a reflection, and a right-hand side with noise.
fn problem(m: usize, n: usize, kappa: f64, seed: u64) -> Problem {
    let mut entries = Stream::new(seed).normals(m * n);
    for row in entries.chunks_mut(n) {
        let scale = |j: usize| kappa.powf(-(j as f64) / (n.max(2) - 1) as f64);
        row.iter_mut().enumerate().for_each(|(j, a)| *a *= scale(j));
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|a| *a -= 2.0 * sum / n as f64);
    }
    Problem::from_rows(m, n, entries, Stream::new(seed + 1).normals(m)).unwrap()
}

fn chosen(problem: Problem) -> Chosen {
    auto(problem, &SolveOptions::default(), Speeds::USUAL).unwrap()
}

/// The backward error from the SVD of A, apart from every factor the solver has.
fn backward_error(problem: &Problem, x: &[f64]) -> f64 {
    let (A, b) = (&problem.matrix, &problem.b);
    let norms = linalg::column_norms(A);
    let unit = Matrix::from_fn(A.rows(), A.cols(), |i, j| A.get(i, j) / norms[j]);
    let svd = linalg::svd_of_square(&linalg::qr_r(&unit)).unwrap();
    let (r, _) = linalg::residual_and_gradient(A, x, b);
    let y: Vec<f64> = x.iter().zip(&norms).map(|(x, norm)| x * norm).collect();
    let g = linalg::vec_mat(&linalg::vec_mat(&r, &unit), &svd.V);
    let pieces = g.iter().zip(&svd.sigma).map(|(g, s)| g / (s * linalg::norm(&y)).hypot(linalg::norm(&r)));
    linalg::norm(&pieces.collect::<Vec<f64>>()) / (A.cols() as f64).sqrt()
}

#[test]
fn every_condition_number_gets_an_accurate_answer() {
    for (m, n) in [(40, 3), (900, 30), (3000, 30)] {
        for kappa in [1.0, 1e3, 1e6, 1e8, 1e10] {
            let data = problem(m, n, kappa, 1);
            let Chosen { solution, candidate, tried, .. } = chosen(data.clone());
            let known = solution.certificate.unwrap();
            assert!(solution.is_converged(), "{m} {n} {kappa}: {candidate:?} {tried:?}");
            assert!(known.backward_error < 1e-15, "{m} {n} {kappa}: {candidate:?} {known:?}");
            let true_error = backward_error(&data, solution.estimate());
            assert!(true_error < 1e-15, "{m} {n} {kappa}: {} has {true_error:e}", candidate.program);
            assert!((0.3 * kappa..20.0 * kappa.max(4.0)).contains(&known.kappa), "{kappa}: {}", known.kappa);
        }
    }
}

#[test]
fn the_gram_matrix_is_used_only_where_it_is_accurate() {
    assert_eq!(chosen(problem(3000, 10, 100.0, 1)).candidate.program, "gram-refinement");
    for kappa in [1e8, 1e10] {
        assert_ne!(chosen(problem(3000, 10, kappa, 1)).candidate.program, "gram-refinement");
    }
    // With too few rows for a sample, the factor itself shows it.
    let few = chosen(problem(90, 10, 1e9, 1));
    assert_eq!(few.tried[0].0, "gram-refinement");
    assert_eq!(few.candidate.program, "qr-refinement");
    assert!(few.reason().contains("gram-refinement: "));
}

#[test]
fn rows_of_high_leverage_do_not_mislead() {
    let mut data = problem(4000, 12, 10.0, 3);
    let entries = data.matrix.row_major().to_vec();
    let heavy = |i: usize| if i % 400 == 7 { 1e6 } else { 1e-3 };
    data.matrix = Matrix::from_row_major(4000, 12, (0..48000).map(|e| entries[e] * heavy(e / 12)).collect());
    let solution = chosen(data.clone()).solution;
    assert!(backward_error(&data, &solution.into_x().unwrap()) < 1e-15);
}

#[test]
fn dependent_columns_are_named_or_left_out() {
    let entries = Stream::new(5).normals(200 * 4);
    let column =
        |i: usize, j: usize| if j < 4 { entries[i * 4 + j] } else { entries[i * 4] + entries[i * 4 + 1] };
    let a: Vec<f64> = (0..200).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| column(i, j)).collect();
    let data = Problem::from_rows(200, 5, a, Stream::new(6).normals(200)).unwrap();
    let error = auto(data.clone(), &SolveOptions::default(), Speeds::USUAL).unwrap_err();
    assert!(matches!(error, SolveError::Dependent { rank: 4, .. }), "{error}");
    let options = SolveOptions { rank_deficient: RankDeficient::MinNorm, ..SolveOptions::default() };
    let solution = auto(data.clone(), &options, Speeds::USUAL).unwrap().solution;
    assert_eq!(solution.certificate.unwrap().rank, 4);
    let x = solution.into_x().unwrap();
    // The direction (1, 1, 0, 0, −1) is null.
    assert!((x[0] + x[1] - x[4]).abs() < 1e-12);
}

#[test]
fn a_tolerance_of_the_user_is_enough() {
    let options = SolveOptions { tolerance: 1e-3, ..SolveOptions::default() };
    let solution = auto(problem(3000, 10, 1e3, 1), &options, Speeds::USUAL).unwrap().solution;
    assert!(solution.is_converged() && solution.certificate.unwrap().excess <= 1e-3);
}

#[test]
fn threads_do_not_show() {
    let run = || chosen(problem(3000, 40, 1e9, 2)).solution.into_x().unwrap();
    let one = run();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(run), one);
    }
}
