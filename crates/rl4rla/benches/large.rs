//! Large least squares: how close kernels come to the speed of memory, and where sketching beats a direct solve.
//! `cargo bench --bench large`; numbers behind `--` are a size of one's own: `-- 50000 300`.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transpose,
};
use faer::linalg::qr::no_pivoting::factor;
use faer::{Conj, Mat, Par};
use rayon::prelude::*;
use rl4rla::execute::{RunSettings, Sketch, SketchKind, StoppingRule, run_large};
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{Instance, Linear, Task};
use rl4rla::program::Entry;
use rl4rla::rng::Stream;
use std::time::Instant;

const SIZES: [(usize, usize); 3] = [(463_715, 90), (200_000, 200), (200_000, 400)];
const REPEATS: usize = 3;
/// The condition number of A.
const CONDITION: f64 = 1e4;
/// ‖A(x − x*)‖/‖b − Ax*‖ that a solver must reach.
const GOAL: f64 = 1e-10;
/// Sketches tried: the kind, and s/n.
const SKETCHES: [(SketchKind, usize); 4] = [
    (SketchKind::CountSketch, 20),
    (SketchKind::CountSketch, 40),
    (SketchKind::Sjlt, 8),
    (SketchKind::Sjlt, 20),
];

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let bench = std::env::args().any(|arg| arg == "--bench");
    let sizes = match numbers[..] {
        [rows, cols] => vec![(rows, cols)],
        _ if bench => SIZES.to_vec(),
        // As a test, to see that it runs.
        _ => vec![(3000, 10)],
    };
    println!(
        "Gaussian rows times a matrix of condition {CONDITION:.0e}; b = Ax + noise of the same size; from x = 0."
    );
    println!(
        "Best of {REPEATS}, all methods in turn; with one thread, seconds on the core. QR overwrites a copy by columns that is not charged."
    );
    println!(
        "sketched-precond-gd: η = (1−ε²)²/(1+ε²) with ε² = n/s; ends when the gradient fell by {GOAL:.0e}.\n"
    );
    let all = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    for (rows, cols) in sizes {
        let problem = Problem::draw(rows, cols);
        for threads in if all > 1 { vec![1, all] } else { vec![1] } {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                println!("{rows} × {cols}, {threads} thread(s)");
                let bandwidth = speeds(&problem);
                solvers(&problem, threads, bandwidth);
            });
        }
    }
}

struct Problem {
    instance: Instance,
    /// The solution, refined.
    x: Vec<f64>,
    /// ‖b − Ax*‖.
    distance: f64,
}

impl Problem {
    fn draw(m: usize, n: usize) -> Problem {
        let stream = Stream::new(1);
        // A = G·D·H for a diagonal D and a reflection H = I − 2vvᵀ.
        let sigma: Vec<f64> = (0..n).map(|j| CONDITION.powf(-(j as f64) / (n - 1) as f64)).collect();
        let v = stream.derive("v", 0).normals(n);
        let v = linalg::scale(1.0 / linalg::norm(&v), &v);
        let reflect = |row: &mut [f64]| {
            let product = 2.0 * linalg::dot(row, &v);
            row.iter_mut().zip(&v).for_each(|(a, v)| *a -= product * v);
        };
        let mut entries = vec![0.0; m * n];
        entries.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            row.copy_from_slice(&stream.derive("row", i as u64).normals(n));
            row.iter_mut().zip(&sigma).for_each(|(a, s)| *a *= s);
            reflect(row);
        });
        let matrix = Matrix::from_row_major(m, n, entries);
        let mut x: Vec<f64> = stream.derive("x", 0).normals(n);
        x.iter_mut().zip(&sigma).for_each(|(x, s)| *x /= s * (n as f64).sqrt());
        reflect(&mut x);
        let b = linalg::add(&linalg::mat_vec(&matrix, &x), &stream.derive("noise", 0).normals(m));
        // x ← x − R⁻¹R⁻ᵀAᵀ(Ax − b), until rounding is all that is left.
        let r = linalg::qr_r(&matrix);
        for _ in 0..4 {
            let (_, gradient) = linalg::residual_and_gradient(&matrix, &x, &b);
            let step = linalg::solve_upper_transposed(&r, &gradient).expect("full rank");
            x = linalg::sub(&x, &linalg::solve_upper(&r, &step).expect("full rank"));
        }
        let distance = linalg::norm(&linalg::residual_and_gradient(&matrix, &x, &b).0);
        Problem { instance: Linear.pose_unsolved(matrix, b).expect("finite data"), x, distance }
    }

    fn gigabytes(&self) -> f64 {
        (self.instance.A.rows() * self.instance.A.cols() * 8) as f64 / 1e9
    }

    fn excess(&self, x: &[f64]) -> f64 {
        linalg::norm(&linalg::mat_vec(&self.instance.A, &linalg::sub(x, &self.x))) / self.distance
    }
}

fn seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let (start, core) = (Instant::now(), on_core());
    let result = work();
    let time = match (core, on_core()) {
        (Some(start), Some(end)) => end - start,
        _ => start.elapsed().as_secs_f64(),
    };
    (time, result)
}

/// Seconds this thread has had a core, if it is the only one of its pool and the system says so: on a busy machine
/// the clock on the wall counts what others do.
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (rayon::current_num_threads() == 1).then_some(nanoseconds / 1e9)
}

fn best(mut work: impl FnMut() -> f64) -> f64 {
    (0..2 * REPEATS).map(|_| work()).fold(f64::INFINITY, f64::min)
}

/// Kernels against a plain sum, in gigabytes of A per second; returns the speed of the sum.
fn speeds(problem: &Problem) -> f64 {
    let (matrix, b, gb) = (&*problem.instance.A, &problem.instance.b[..], problem.gigabytes());
    let (m, n) = (matrix.rows(), matrix.cols());
    let sum = gb / best(|| seconds(|| std::hint::black_box(plain_sum(matrix.row_major()))).0);
    let fused = gb / best(|| seconds(|| linalg::residual_and_gradient(matrix, &problem.x, b)).0);
    let product = gb / best(|| seconds(|| linalg::mat_vec(matrix, &problem.x)).0);
    println!("  GB/s: plain sum {sum:.1}, A·x {product:.1}, Aᵀ(Ax − b) {fused:.1}");
    for (kind, factor) in SKETCHES {
        let sketch = Sketch::draw(kind, factor * n, m, &Stream::new(2));
        let speed = gb / best(|| seconds(|| sketch.apply(matrix)).0);
        println!("        {kind} with s = {factor}n: {speed:.1}");
    }
    sum
}

fn plain_sum(entries: &[f64]) -> f64 {
    let block = |entries: &[f64]| {
        let mut sums = [0.0; 32];
        for chunk in entries.as_chunks::<32>().0 {
            sums.iter_mut().zip(chunk).for_each(|(sum, a)| *sum += a);
        }
        sums.iter().sum::<f64>()
    };
    entries.par_chunks(1 << 20).map(block).sum()
}

/// The table: every method in turn, so that a busy machine is as unkind to each.
fn solvers(problem: &Problem, threads: usize, bandwidth: f64) {
    let (m, n) = (problem.instance.A.rows(), problem.instance.A.cols());
    let (matrix, b) = (&*problem.instance.A, &problem.instance.b[..]);
    let mut rows: Vec<Row> = Vec::new();
    let mut record = |name: String, (time, (x, passes)): (f64, (Vec<f64>, usize))| match rows
        .iter_mut()
        .find(|row| row.name == name)
    {
        Some(row) => row.time = row.time.min(time),
        None => rows.push(Row { name, time, passes, excess: problem.excess(&x) }),
    };
    let both: Vec<f64> = matrix
        .row_major()
        .chunks_exact(n)
        .zip(b)
        .flat_map(|(row, b)| row.iter().chain([b]))
        .copied()
        .collect();
    let both = Matrix::from_row_major(m, n + 1, both);
    for _ in 0..REPEATS {
        if threads == 1 {
            for block_size in [48, factor::recommended_block_size::<f64>(m, n)] {
                let (mut columns, mut rhs) = (columns(matrix), b.to_vec());
                let solved = seconds(|| (householder(&mut columns, &mut rhs, block_size), 0));
                record(format!("Householder QR, blocks of {block_size}"), solved);
            }
        }
        record("Householder QR in parts, [A b] by rows".into(), seconds(|| (in_parts(&both), 1)));
        for (sketch, factor) in SKETCHES {
            let sketch_rows = (factor * n).min(m);
            let distortion = n as f64 / sketch_rows as f64;
            let step = (1.0 - distortion).powi(2) / (1.0 + distortion);
            let settings =
                RunSettings { iterations: 200, step, sketch, sketch_rows, ..RunSettings::for_size(m, n) };
            let program = &Entry::named("sketched-precond-gd").expect("a name").document.program;
            let stop = StoppingRule { gradient: GOAL, ..StoppingRule::default() };
            let solved = seconds(|| {
                let trace = run_large(program, &problem.instance, &settings, &Stream::new(3), stop)
                    .expect("converges");
                (trace.x, trace.passes)
            });
            record(format!("sketched-precond-gd, {sketch}, s = {factor}n"), solved);
        }
    }
    let direct = rows.iter().filter(|row| row.name.starts_with("Householder")).map(|row| row.time);
    let direct = direct.fold(f64::INFINITY, f64::min);
    println!(
        "  {:44} {:>8} {:>7} {:>9} {:>9} {:>12}",
        "method", "seconds", "passes", "excess", "speed-up", "at sum speed"
    );
    for Row { name, time, passes, excess } in &rows {
        let reached = if *excess <= GOAL { "" } else { " (goal missed)" };
        let (ratio, limit) = (direct / time, *passes as f64 * problem.gigabytes() / bandwidth);
        println!("  {name:44} {time:8.3} {passes:7} {excess:9.1e} {ratio:9.2} {limit:12.3}{reached}");
    }
    println!();
}

struct Row {
    name: String,
    time: f64,
    passes: usize,
    excess: f64,
}

fn columns(matrix: &Matrix) -> Mat<f64> {
    matrix.as_faer().to_owned()
}

/// Solves by faer's blocked factorisation in place: A becomes R and the reflectors, b becomes Qᵀb.
fn householder(a: &mut Mat<f64>, b: &mut [f64], block_size: usize) -> Vec<f64> {
    let (m, n) = a.shape();
    let mut coefficients = Mat::zeros(block_size, n);
    let scratch = factor::qr_in_place_scratch::<f64>(m, n, block_size, Par::Seq, Default::default())
        .or(apply_scratch::<f64>(m, block_size, 1));
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    factor::qr_in_place(a.as_mut(), coefficients.as_mut(), Par::Seq, stack, Default::default());
    let rhs = faer::MatMut::from_column_major_slice_mut(b, m, 1);
    apply_transpose(a.as_ref(), coefficients.as_ref(), Conj::No, rhs, Par::Seq, stack);
    let r = Matrix::from_fn(n, n, |i, j| a[(i, j)]);
    linalg::solve_upper(&r, &b[..n]).expect("full rank")
}

/// Solves by the factors of parts of [A b], which fit into cache: Q is never needed.
fn in_parts(both: &Matrix) -> Vec<f64> {
    let (r, n) = (linalg::qr_r(both), both.cols() - 1);
    let triangle = Matrix::from_fn(n, n, |i, j| r.get(i, j));
    linalg::solve_upper(&triangle, &r.column(n)[..n]).expect("full rank")
}
