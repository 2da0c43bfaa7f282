use crate::linalg::{self, Matrix};
use crate::problem::Linear;
use crate::program::{Document, Entry};
use crate::rng::Stream;
use crate::solve::{
    Dependence, Problem, RankDeficient, Solution, SolveError, SolveOptions, StepSize, Termination, solve,
};

fn large(rows: usize, cols: usize, entry: impl Fn(usize, usize, f64) -> f64, noise: f64) -> Problem {
    let draws = Stream::new(5).normals(rows * (cols + 1));
    let a = Matrix::from_row_major(
        rows,
        cols,
        (0..rows * cols).map(|k| entry(k / cols, k % cols, draws[k])).collect(),
    );
    let exact = linalg::mat_vec(&a, &vec![1.0; cols]);
    let b = exact.iter().zip(&draws[rows * cols..]).map(|(b, draw)| b + noise * draw).collect();
    Problem::new(&Linear, a, b)
}

fn solved(name: &str, large: &Problem, options: &SolveOptions) -> Solution {
    solve(&Entry::named(name).unwrap().document, large.clone(), options).unwrap()
}

#[test]
fn a_run_ends_where_the_returned_iterate_is_good() {
    let large = large(300, 4, |_, j, draw| draw * [1.0, 2.0, 5.0, 9.0][j], 0.5);
    for (name, most) in [("ls-gd", 5000), ("precond-gd", 10), ("sketched-precond-gd", 100)] {
        let solved = solved(name, &large, &SolveOptions { iterations: 20_000, ..SolveOptions::default() });
        assert!(solved.is_converged() && solved.ended == Termination::Tolerance, "{name}");
        assert!(solved.certificate.unwrap().excess <= 1e-9 && solved.iterations < most, "{name}: {solved:?}");
        assert_eq!(solved.residuals.len(), solved.iterations + 1);
    }
    // A step size that is far too large never converges, whatever the previous iterate looked like.
    let wild = solved(
        "ls-gd",
        &large,
        &SolveOptions { tolerance: 0.1, step: StepSize::Fixed(10.0), ..SolveOptions::default() },
    );
    assert_eq!(wild.ended, Termination::Divergence);
    let all = solved(
        "precond-gd",
        &large,
        &SolveOptions { tolerance: 0.0, iterations: 40, ..SolveOptions::default() },
    );
    assert_eq!((all.ended, all.iterations), (Termination::Iterations, 40));
}

#[test]
fn slow_progress_is_no_standstill() {
    let large = large(200, 3, |_, j, draw| draw * [1.0, 1.0, 0.01][j], 1.0);
    let solved = solved("ls-gd", &large, &SolveOptions { iterations: 200_000, ..SolveOptions::default() });
    assert!(solved.is_converged(), "{solved:?}");
}

/// Four columns, the last a combination of the others.
fn dependent(noise: f64) -> Problem {
    let draws = Stream::new(6).normals(300 * 4);
    let entry = |i: usize, j: usize| match j {
        3 => 2.0 * draws[4 * i] - draws[4 * i + 2],
        _ => draws[4 * i + j],
    };
    large(300, 4, |i, j, _| entry(i, j), noise)
}

#[test]
fn dependent_columns_are_named_left_out_or_shared() {
    let program = &Entry::named("sketched-precond-gd").unwrap().document;
    let error = solve(program, dependent(0.5), &SolveOptions::default()).unwrap_err();
    let named = vec![Dependence { column: 3, on: vec![0, 2] }];
    assert_eq!(error, SolveError::Dependent { columns: named.clone(), rank: 3 });
    let run = |rank_deficient| {
        solved(
            "sketched-precond-gd",
            &dependent(0.5),
            &SolveOptions { rank_deficient, ..SolveOptions::default() },
        )
    };
    let (dropped, shortest) = (run(RankDeficient::Drop), run(RankDeficient::MinNorm));
    assert!(dropped.is_converged() && shortest.is_converged(), "{dropped:?} {shortest:?}");
    assert_eq!((dropped.x[3], &dropped.dependent), (0.0, &named));
    // The same as by the pseudo-inverse.
    let Problem { matrix: a, b, .. } = dependent(0.5);
    let expected = linalg::mat_vec(&linalg::pseudo_inverse(&a.by_columns()).unwrap(), &b);
    assert!(linalg::norm(&linalg::sub(&shortest.x, &expected)) < 1e-9, "{:?} {expected:?}", shortest.x);
    assert!((dropped.residual - shortest.residual).abs() < 1e-12);
}

#[test]
fn columns_of_any_size_are_solved() {
    for (name, sizes) in [
        ("precond-gd", [1.0, 1e10, 1.0, 1e-10]),
        ("sketched-precond-gd", [1e150, 1.0, 1e-150, 1e4]),
        ("ls-gd", [1e300, 1e-300, 1.0, 1e9]),
    ] {
        let plain = large(400, 4, |_, _, draw| draw, 0.3);
        let Problem { matrix: a, b, .. } = plain.clone();
        let scaled =
            Matrix::from_row_major(400, 4, (0..1600).map(|k| a.get(k / 4, k % 4) * sizes[k % 4]).collect());
        let scaled = solved(name, &Problem::new(&Linear, scaled, b), &SolveOptions::default());
        let plain = solved(name, &plain, &SolveOptions::default());
        assert!(scaled.is_converged() && plain.is_converged(), "{name}: {scaled:?}");
        for ((x, plain), size) in scaled.x.iter().zip(&plain.x).zip(sizes) {
            assert!((x * size / plain - 1.0).abs() < 1e-8, "{name}: {:?}", scaled.x);
        }
    }
}

#[test]
fn an_unstable_form_is_found_out() {
    // Two columns differ by 10⁻¹¹ of their length.
    let draws = Stream::new(7).normals(2000 * 6);
    let near = |i: usize, j: usize| match j {
        5 => draws[6 * i] + 1e-11 * draws[6 * i + 5],
        _ => draws[6 * i + j],
    };
    let near = large(2000, 6, |i, j, _| near(i, j), 1.0);
    let gram = solved("sketched-precond-gd-gram", &near, &SolveOptions::default());
    let stable = solved("sketched-precond-gd-factored", &near, &SolveOptions::default());
    let excess = |solved: &Solution| solved.certificate.unwrap().excess;
    assert!(!gram.is_converged() && excess(&gram) > 1e-4, "{gram:?}");
    assert!(stable.is_converged() && excess(&stable) < 1e-4, "{stable:?}");
    assert!(gram.iterations < 1000 || gram.ended == Termination::Iterations);
}

#[test]
fn zeros_and_single_entries() {
    let system = |rows, cols, entries: Vec<f64>, b: Vec<f64>| {
        Problem::new(&Linear, Matrix::from_row_major(rows, cols, entries), b)
    };
    let zero = system(3, 2, vec![0.0; 6], vec![1.0, 2.0, 3.0]);
    let drop = SolveOptions { rank_deficient: RankDeficient::Drop, ..SolveOptions::default() };
    let nothing = solved("precond-gd", &zero, &drop);
    assert_eq!((nothing.estimate().to_vec(), nothing.is_converged()), (vec![0.0, 0.0], true));
    assert!(solve(&Entry::named("ls-gd").unwrap().document, zero, &SolveOptions::default()).is_err());
    for (a, b) in [(3.0, 6.0), (1e-200, 1e100), (-1e300, 1e300)] {
        let one = solved("precond-gd", &system(1, 1, vec![a], vec![b]), &SolveOptions::default());
        assert!(one.is_converged() && (one.x[0] / (b / a) - 1.0).abs() < 1e-14, "{a} {b}: {one:?}");
    }
    let huge = system(1, 1, vec![1e-200], vec![1e200]);
    let program = &Entry::named("precond-gd").unwrap().document;
    assert_eq!(solve(program, huge, &SolveOptions::default()), Err(SolveError::Overflow { column: 0 }));
}

#[test]
fn the_mean_of_samples_is_better_than_the_last() {
    let large = large(2000, 5, |_, _, draw| draw, 1.0);
    let run = |average| {
        solved(
            "precond-weighted-sgd",
            &large,
            &SolveOptions { average, iterations: 400, ..SolveOptions::default() },
        )
    };
    let excess = |average| run(average).certificate.unwrap().excess;
    assert!(excess(true) < 0.3 * excess(false));
}

#[test]
fn nothing_to_do_is_done() {
    let zero = Problem::new(&Linear, Matrix::from_row_major(3, 1, vec![1.0, 2.0, 3.0]), vec![0.0; 3]);
    let solved = solved("ls-gd", &zero, &SolveOptions::default());
    assert_eq!((solved.x, solved.residual), (vec![0.0], 0.0));
}

#[test]
fn coefficients_that_rounding_hides_are_no_solution() {
    // The second column differs from the first by less than the rounding error at κ².
    for seed in 0..60 {
        let draws = Stream::new(seed).normals(30 * 3);
        let a = Matrix::from_row_major(
            30,
            2,
            (0..60).map(|k| draws[k / 2] + (k % 2) as f64 * 1e-13 * draws[30 + k / 2]).collect(),
        );
        let b = linalg::add(&linalg::mat_vec(&a, &[1.0, 1.0]), &draws[60..]);
        for name in ["sketched-precond-gd", "precond-gd", "precond-weighted-sgd"] {
            let options = SolveOptions { batch: 10, iterations: 100, ..SolveOptions::default() };
            let large = Problem::new(&Linear, a.clone(), b.clone());
            let Ok(found) = solve(&Entry::named(name).unwrap().document, large, &options) else { continue };
            let excess = found.certificate.unwrap().excess;
            assert!(!found.is_converged() || excess < 1e-2, "{name}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn the_shortest_solution_keeps_the_digits_of_small_coefficients() {
    // Coefficients of 1e9 and 1, and a column that depends on the first.
    let draws = Stream::new(8).normals(400 * 4);
    let entry = |i: usize, j: usize| match j {
        0 => 1e-9 * draws[4 * i],
        1 => draws[4 * i + 1],
        _ => 3e-9 * draws[4 * i],
    };
    let a = Matrix::from_row_major(400, 3, (0..1200).map(|k| entry(k / 3, k % 3)).collect());
    let noise: Vec<f64> = (0..400).map(|i| 1e-3 * draws[4 * i + 3]).collect();
    let b = linalg::add(&linalg::mat_vec(&a, &[1e9, 1.0, 0.0]), &noise);
    let options = SolveOptions { rank_deficient: RankDeficient::MinNorm, ..SolveOptions::default() };
    let found = solved("sketched-precond-gd-factored", &Problem::new(&Linear, a, b), &options);
    assert!(found.is_converged(), "{found:?}");
    assert!((found.x[2] / found.x[0] - 3.0).abs() < 1e-9 && (found.x[1] - 1.0).abs() < 1e-2, "{:?}", found.x);
}

#[test]
fn what_fails_on_the_way_has_run() {
    // Steepest descent with exact line search, along a direction of length 1: at the solution there is none.
    let steepest: Document = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n \
        v3 = VEC_NORMALIZE(v1)\n v2 = MAT_VEC_MUL(A, v3)\n a1 = VEC_VEC_DOT(v1, v3)\n a2 = VEC_VEC_DOT(v2, v2)\n \
        a1 = SCALAR_DIV(a1, a2)\n v1 = SCALAR_VEC_MUL(a1, v3)\n"
        .parse()
        .unwrap();
    let one = Problem::new(&Linear, Matrix::from_row_major(2, 1, vec![1.0, 1.0]), vec![1.0, 1.0]);
    let options = SolveOptions { step: StepSize::Fixed(1.0), tolerance: 0.0, ..SolveOptions::default() };
    let found = solve(&steepest, one, &options).unwrap();
    assert!(found.failure.is_some() && found.ended == Termination::Blocked, "{found:?}");
    assert_eq!((found.iterations, found.x), (1, vec![1.0]));
}
