//! Kernels against what this machine can do, all in one run: `cargo bench --bench kernels`.
//!
//! The limits are measured first: reading an array that fits into the caches and one that does not, and the rate of
//! multiply-adds of a matrix product. A kernel is named with the share of its limit that it reaches.

use rl4rla::execute::{Sketch, SketchKind};
use rl4rla::linalg::{
    Matrix, dot, gram, inverse, mat_vec, matmul, orthonormalised, qr_r, residual_and_gradient, vec_mat,
};
use rl4rla::rng::Stream;
use std::hint::black_box;
use std::time::Instant;

/// The least seconds of one call, of as many as fit into a third of a second, but three at least.
fn seconds<R>(mut work: impl FnMut() -> R) -> f64 {
    let (mut least, start, mut calls) = (f64::INFINITY, Instant::now(), 0);
    while calls < 3 || start.elapsed().as_secs_f64() < 0.33 {
        let begin = Instant::now();
        black_box(work());
        least = least.min(begin.elapsed().as_secs_f64());
        calls += 1;
    }
    least
}

/// Bytes a second of a plain read, of one stream or of several at once, whichever is faster.
fn bandwidth(bytes: usize) -> f64 {
    let array = vec![1.0; bytes / 8];
    let streams = |count: usize| {
        let parts: Vec<&[f64]> = array.chunks_exact(array.len() / count).collect();
        let (left, right) = parts.split_at(count / 2);
        seconds(|| left.iter().zip(right).map(|(a, b)| dot(a, b)).sum::<f64>())
    };
    bytes as f64 / [2, 8, 64, 512].map(streams).into_iter().fold(f64::INFINITY, f64::min)
}

fn random(rows: usize, cols: usize) -> Matrix {
    let entries = Stream::new(1).normals(rows * cols);
    Matrix::from_fn(rows, cols, |i, j| entries[j * rows + i])
}

fn main() {
    let (cache, memory) = (bandwidth(4_000_000), bandwidth(400_000_000));
    let square = random(512, 512);
    let peak = 2.0 * 512f64.powi(3) / seconds(|| matmul(&square, &square));
    println!(
        "limits: {:.0} GB/s from cache (4 MB), {:.0} GB/s from memory (400 MB), {:.0} Gflop/s",
        cache / 1e9,
        memory / 1e9,
        peak / 1e9
    );
    for (m, n) in [(10_000usize, 50usize), (200_000, 200)] {
        let (a, x, v) = (random(m, n), vec![1.0; n], vec![1.0; m]);
        let rows = Matrix::from_row_major(m, n, a.row_major().to_vec());
        let (bytes, size) = ((8 * m * n) as f64, (m as f64, n as f64));
        let limit = if bytes < 8e6 { cache } else { memory };
        let read = |name: &str, passes: f64, seconds: f64| {
            let rate = passes * bytes / seconds;
            println!(
                "{m} × {n}, {name}: {:.0} µs, {:.1} GB/s, {:.0} % of reading",
                seconds * 1e6,
                rate / 1e9,
                100.0 * rate / limit
            );
        };
        read("A·x", 1.0, seconds(|| mat_vec(&a, &x)));
        read("Aᵀ·v", 1.0, seconds(|| vec_mat(&v, &a)));
        read("A·x by rows", 1.0, seconds(|| mat_vec(&rows, &x)));
        read("Aᵀ(A·x − b) by rows, one pass", 1.0, seconds(|| residual_and_gradient(&rows, &x, &v)));
        for (kind, sketch_rows) in [(SketchKind::CountSketch, 20 * n), (SketchKind::Sjlt, 8 * n)] {
            let name = format!("{kind:?}, {sketch_rows} rows").to_lowercase();
            read(
                &format!("drawing {name}"),
                0.0,
                seconds(|| Sketch::draw(kind, sketch_rows, m, &Stream::new(2))),
            );
            let sketch = Sketch::draw(kind, sketch_rows, m, &Stream::new(2));
            read(&format!("applying {name}"), 1.0, seconds(|| sketch.apply(&rows)));
        }
        let compute = |name: &str, flops: f64, seconds: f64| {
            let rate = flops / seconds;
            println!(
                "{m} × {n}, {name}: {:.0} µs, {:.1} Gflop/s, {:.0} % of a product's",
                seconds * 1e6,
                rate / 1e9,
                100.0 * rate / peak
            );
        };
        compute("AᵀA", size.0 * size.1.powi(2), seconds(|| gram(&a)));
        compute("R of QR", 2.0 * size.0 * size.1.powi(2), seconds(|| qr_r(&a)));
        compute(
            "orthonormal columns by AᵀA",
            size.0 * size.1.powi(2),
            seconds(|| orthonormalised(a.clone())),
        );
    }
    let small = random(50, 50);
    for (name, seconds) in [
        ("A·x", seconds(|| mat_vec(&small, &[1.0; 50]))),
        ("Aᵀ·v", seconds(|| vec_mat(&[1.0; 50], &small))),
        ("A·A", seconds(|| matmul(&small, &small))),
        ("A⁻¹", seconds(|| inverse(&small))),
        ("R of QR", seconds(|| qr_r(&small))),
    ] {
        println!("50 × 50, {name}: {:.2} µs", seconds * 1e6);
    }
}
