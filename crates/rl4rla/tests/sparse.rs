//! Sparse data: solved like dense ones, in the memory of their nonzeros.

use rl4rla::linalg::{Matrix, Sparse, column_norms, mat_vec, norm, sub, vec_mat};
use rl4rla::problem::{Linear, Logistic};
use rl4rla::program::Entry;
use rl4rla::rng::Stream;
use rl4rla::solve::{Problem, SolveError, SolveOptions, SolveScheme, Speeds, Unsupported, auto, solve};

/// The most memory that the process may have taken, in kilobytes: the dense matrix alone takes 640 MB.
const MEMORY: u64 = 250_000;

/// The most memory that this process has taken, in kilobytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

fn matrix(rows: usize, cols: usize, per_row: usize) -> Sparse {
    let values = Stream::new(1).normals(rows * per_row);
    let place = |i: usize, k: usize| (i * 31 + k * k * 97 + i * k / 7) % cols;
    let entries = (0..rows * per_row).map(|at| (at / per_row, place(at / per_row, at % per_row), values[at]));
    Sparse::from_entries(rows, cols, entries.collect()).unwrap()
}

#[test]
fn large_sparse_data_are_solved_in_little_memory() {
    let (rows, cols) = (400_000, 200);
    let b = Stream::new(2).normals(rows);
    let a = Matrix::from_sparse(matrix(rows, cols, 4));
    for name in ["sketched-precond-gd", "cgls-recurred", "adaptive-momentum", "precond-gd"] {
        let program = &Entry::named(name).unwrap().document;
        let options = SolveOptions { tolerance: 1e-10, ..SolveOptions::default() };
        let solution = solve(program, Problem::new(&Linear, a.clone(), b.clone()), &options).unwrap();
        assert!(solution.is_converged(), "{name}: {}", solution.ended.words());
    }
    let peak = peak();
    assert!(peak.is_none_or(|peak| peak < MEMORY), "{peak:?} kB");
}

/// Entries (i, i) of the first rows, so that no column is zero, and a few others.
fn very_wide(rows: usize, cols: usize, diagonal: impl Fn(usize) -> f64) -> Matrix {
    let others = matrix(rows, cols, 2);
    let others =
        (0..rows).flat_map(|i| others.row(i).collect::<Vec<_>>().into_iter().map(move |(j, v)| (i, j, v)));
    let first = (0..cols).map(|j| (j, j, diagonal(j)));
    Matrix::from_sparse(Sparse::from_entries(rows, cols, others.chain(first).collect()).unwrap())
}

#[test]
fn very_wide_sparse_data_need_no_factor() {
    let (rows, cols) = (15_000, 5000);
    let b = Stream::new(3).normals(rows);
    let a = very_wide(rows, cols, |_| 8.0);
    let chosen =
        auto(Problem::new(&Linear, a.clone(), b.clone()), &SolveOptions::default(), Speeds::USUAL).unwrap();
    let (solution, bound) = (&chosen.solution, chosen.solution.gradient_bound.unwrap());
    assert!(
        chosen.candidate.scheme == SolveScheme::Unfactored && solution.is_converged() && bound < 1e-15,
        "{bound:e}"
    );
    assert!(solution.certificate.is_none() && solution.backward_error() == Some(bound));
    // The gradient at x, with columns of length 1.
    let r = sub(&mat_vec(&a, solution.estimate()), &b);
    let gradient = vec_mat(&r, &a);
    let lengths = column_norms(&a);
    let unit: Vec<f64> = gradient.iter().zip(&lengths).map(|(g, length)| g / length).collect();
    assert!(norm(&unit) / norm(&r) / (cols as f64).sqrt() < 1e-15);
    // Nearly parallel columns: no convergence in a few iterations, and no claim of one.
    let options = SolveOptions { iterations: 8, ..SolveOptions::default() };
    let slow = very_wide(rows, cols, |j| 10f64.powi((j % 12) as i32 - 11));
    let slow = auto(Problem::new(&Linear, slow, b), &options, Speeds::USUAL).unwrap().solution;
    assert!(!slow.is_converged() && slow.gradient_bound.unwrap() > 1e-14, "{:?}", slow.gradient_bound);
}

#[test]
fn what_a_task_cannot_do_with_sparse_data_is_refused() {
    let a = Matrix::from_sparse(matrix(50, 3, 2));
    let labels = (0..50).map(|i| f64::from(i % 2)).collect();
    let newton = &Entry::named("newton").unwrap().document;
    let error = solve(newton, Problem::new(&Logistic, a, labels), &SolveOptions::default()).unwrap_err();
    assert!(matches!(error, SolveError::Unsupported { what: Unsupported::Sparse, .. }), "{error}");
}

#[test]
fn dependent_columns_are_found_and_left_out() {
    let a = matrix(3000, 20, 3);
    let entries = (0..3000).flat_map(|i| a.row(i).map(move |(j, value)| (i, j, value)));
    let copied = entries.filter(|(_, j, _)| *j != 7).flat_map(|(i, j, value)| {
        let copy = (j == 3).then_some((i, 7, 2.0 * value));
        [Some((i, j, value)), copy].into_iter().flatten()
    });
    let a = Matrix::from_sparse(Sparse::from_entries(3000, 20, copied.collect()).unwrap());
    let problem = |a: Matrix| Problem::new(&Linear, a, Stream::new(4).normals(3000));
    let program = &Entry::named("precond-gd").unwrap().document;
    let refused = solve(program, problem(a.clone()), &SolveOptions::default()).unwrap_err();
    assert!(matches!(refused, SolveError::Dependent { rank: 19, .. }), "{refused}");
    let options =
        SolveOptions { rank_deficient: rl4rla::solve::RankDeficient::MinNorm, ..SolveOptions::default() };
    let x = |a: Matrix| solve(program, problem(a), &options).unwrap().into_x().unwrap();
    let (found, expected) = (x(a.clone()), x(a.to_dense()));
    assert!(norm(&sub(&found, &expected)) < 1e-9 * norm(&expected));
}
