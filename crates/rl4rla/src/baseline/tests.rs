//! Tests of all baselines.
#![allow(non_snake_case)]

use super::testing::*;
use super::*;
use crate::linalg::testing::{deficient, normal};
use crate::linalg::{self, Matrix};
use crate::problem::{Linear, Logistic};
use crate::rng::Stream;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Solvers that solve every well-conditioned tall problem to rounding.
const ACCURATE: [&str; 9] =
    ["normal-equations", "qr", "svd", "lsqr", "cgls", "blendenpik", "lsrn", "iterative-sketching", "fossils"];

fn named(name: &str) -> Baseline {
    Baseline::named(name).unwrap_or_else(|| panic!("no baseline {name}"))
}

fn by_rows(A: &Matrix) -> Matrix {
    Matrix::from_row_major(A.rows(), A.cols(), A.row_major().to_vec())
}

#[test]
fn the_table_is_complete() {
    let names: BTreeSet<&str> = BASELINES.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), BASELINES.len());
    assert!(BASELINES.iter().all(|row| !row.doc.is_empty() && !row.reference.is_empty()));
    assert_eq!((Baseline::of(&Linear).count(), Baseline::of(&Logistic).count()), (13, 2));
    assert!(Baseline::named("gauss").is_none());
}

#[test]
fn consistent_and_inconsistent_systems_are_solved_as_qr_solves_them() {
    for (m, n, kappa, noise) in
        [(400, 8, 20.0, 0.0), (400, 8, 20.0, 0.5), (50, 1, 1.0, 0.5), (9, 9, 5.0, 0.0)]
    {
        let (A, b) = problem(m, n, kappa, noise, 5);
        for name in ACCURATE {
            let found = named(name).solve(&request(&A, &b)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let (gap, slope) = (distance(&A, &b, &found.x), slope(&A, &b, &found.x));
            // κ² for the normal equations.
            assert!(gap < 1e-12, "{name} on {m}×{n}, noise {noise}: {gap:e}");
            assert!(noise == 0.0 || slope < 1e-12, "{name} on {m}×{n}: {slope:e}");
            assert!(found.converged && found.passes >= 1.0, "{name}: {found:?}");
        }
    }
}

#[test]
fn sparse_systems_are_solved_or_refused() {
    let values = normal(900, 7, 5);
    let places = (0..900_usize * 7)
        .filter(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).is_multiple_of(3))
        .map(|at| (at / 7, at % 7));
    let entries = places.map(|(i, j)| (i, j, values.get(i, j))).collect();
    let sparse = Matrix::from_sparse(linalg::Sparse::from_entries(900, 7, entries).unwrap());
    let (A, b) = (sparse.clone().to_dense(), normal(900, 1, 6).column(0).to_vec());
    for row in &BASELINES {
        let lambda = |A| Request { lambda: 0.5, ..request(A, &b) };
        let Ok(found) = Baseline(row).solve(&lambda(&sparse)) else {
            assert!(!row.sparse, "{}", row.name);
            assert_eq!(Baseline(row).solve(&lambda(&sparse)), Err(BaselineError::NotDense), "{}", row.name);
            continue;
        };
        let x = Baseline(row).solve(&lambda(&A)).unwrap().x;
        assert!(linalg::norm(&linalg::sub(&found.x, &x)) < 1e-10 * linalg::norm(&x), "{}", row.name);
    }
    assert!(ACCURATE.iter().all(|name| named(name).info().sparse));
    let wide = Matrix::from_sparse(linalg::Sparse::from_entries(1, 2, vec![(0, 1, 1.0)]).unwrap());
    assert_eq!(named("svd").solve(&request(&wide, &[1.0])), Err(BaselineError::NotDense));
    assert_eq!(named("lsqr").solve(&request(&wide, &[2.0])).unwrap().x, [0.0, 2.0]);
}

#[test]
fn layout_and_threads_change_rounding_or_nothing() {
    let (A, b) = problem(3000, 12, 50.0, 0.1, 6);
    let rows = by_rows(&A);
    for row in BASELINES.iter().filter(|row| row.task.name() == "linear" && row.name != "jacobi") {
        let solve = |A: &Matrix| (row.solve)(&request(A, &b)).unwrap().x;
        let one = solve(&rows);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| solve(&rows)), one, "{} with {threads} threads", row.name);
        }
        let gap = linalg::norm(&linalg::sub(&solve(&A), &one)) / linalg::norm(&one);
        assert!(gap < 1e-9, "{}: {gap:e}", row.name);
    }
}

#[test]
fn seeds_matter_to_those_that_draw_and_to_no_others() {
    let (A, b) = problem(300, 6, 10.0, 0.1, 7);
    for row in BASELINES.iter().filter(|row| row.task.name() == "linear" && row.name != "jacobi") {
        let solve = |seed| (row.solve)(&Request::new(&A, &b, Stream::new(seed))).unwrap().x;
        assert_eq!(solve(1), solve(1), "{}", row.name);
        assert_eq!(solve(1) != solve(2), row.randomized, "{}", row.name);
    }
}

/// Every request gives a finite solution or an error.
#[track_caller]
fn answers(row: &BaselineInfo, A: &Matrix, b: &[f64]) -> Result<(), BaselineError> {
    let found = (row.solve)(&request(A, b));
    match &found {
        Ok(found) => {
            // A basis has several rows.
            let rows = if row.task.name() == "low-rank" { found.x.len() / A.cols() } else { 1 };
            assert!(rows >= 1 && found.x.len() == rows * A.cols(), "{}", row.name);
            assert!(linalg::is_finite(&found.x), "{}", row.name);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    found.map(|_| ())
}

#[test]
fn bad_input_is_refused_by_name() {
    let nan = Matrix::from_fn(5, 2, |i, j| if (i, j) == (3, 1) { f64::NAN } else { 1.0 });
    for row in &BASELINES {
        assert_eq!(
            answers(row, &Matrix::zeros(0, 0), &[]),
            Err(BaselineError::Empty { rows: 0, cols: 0 }),
            "{}",
            row.name
        );
        assert!(answers(row, &Matrix::zeros(3, 0), &[0.0; 3]).is_err(), "{}", row.name);
        let short = Err(BaselineError::Length { rows: 2, length: 1 });
        assert_eq!(answers(row, &Matrix::identity(2), &[1.0]), short, "{}", row.name);
        assert_eq!(answers(row, &nan, &[1.0; 5]), Err(BaselineError::NotFinite), "{}", row.name);
        let infinite = answers(row, &Matrix::identity(2), &[1.0, f64::INFINITY]);
        assert_eq!(infinite, Err(BaselineError::NotFinite), "{}", row.name);
    }
}

#[test]
fn odd_input_does_not_panic() {
    for row in &BASELINES {
        let labels = row.task.name() == "logistic";
        for (m, n, rank) in [(1, 1, 1), (2, 1, 1), (40, 6, 3), (6, 40, 6), (6, 40, 3), (7, 7, 7), (7, 7, 2)] {
            let b: Vec<f64> = normal(m, 1, 9)
                .column(0)
                .iter()
                .map(|b| if labels { f64::from(*b > 0.0) } else { *b })
                .collect();
            for A in [deficient(m, n, rank, 8), Matrix::zeros(m, n)] {
                for scale in [1.0, 1e-200, 1e160, 1e307] {
                    let _ = answers(row, &A.map(|a| a * scale), &b);
                }
            }
            for iterations in [0, 1] {
                let A = normal(m, n, 10);
                let asked = Request { iterations: Some(iterations), ..request(&A, &b) };
                let _ = (row.solve)(&asked);
            }
        }
    }
    for name in ["normal-equations", "qr", "blendenpik", "lsrn", "iterative-sketching", "fossils"] {
        let wide = answers(named(name).info(), &normal(3, 5, 11), &[1.0; 3]);
        assert_eq!(wide, Err(BaselineError::Wide { rows: 3, cols: 5 }), "{name}");
    }
}

#[test]
fn every_reason_says_what_it_is() {
    let errors = [
        BaselineError::Wide { rows: 3, cols: 5 },
        BaselineError::NotPositiveDefinite { pivot: 4 },
        BaselineError::ZeroDiagonal { index: 2 },
        BaselineError::RankDeficient { condition: 1e17 },
        BaselineError::Diverged { iteration: 9 },
        BaselineError::from(linalg::NumericError::NotFinite),
    ];
    let words: BTreeSet<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), errors.len());
    assert!(errors[0].to_string().contains("3 × 5"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn well_conditioned_systems_have_one_solution(seed in 0..10_000_u64, n in 1..9_usize, extra in 0..60_usize) {
        // Tall enough that a Gaussian matrix is well conditioned.
        let m = 2 * n + 20 + extra;
        let (A, b) = (normal(m, n, seed), normal(m, 1, seed + 1).column(0).to_vec());
        for name in ACCURATE {
            let found = named(name).solve(&Request::new(&A, &b, Stream::new(seed))).unwrap();
            prop_assert!(distance(&A, &b, &found.x) < 1e-11, "{name}: {:e}", distance(&A, &b, &found.x));
        }
    }
}
