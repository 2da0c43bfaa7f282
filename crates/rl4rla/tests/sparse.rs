//! Sparse data: solved like dense ones, in the memory of their nonzeros.

use rl4rla::linalg::{Matrix, Sparse, norm, sub};
use rl4rla::problem::{Linear, Logistic};
use rl4rla::program::Entry;
use rl4rla::rng::Stream;
use rl4rla::solve::{Problem, SolveError, SolveOptions, Unsupported, solve};

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
