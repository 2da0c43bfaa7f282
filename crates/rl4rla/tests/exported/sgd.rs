// Mini-batch Stochastic Gradient Descent
// A gradient step on k rows chosen uniformly; the base of sketch-and-project.
// Reference: Robbins and Monro (1951); Needell, Srebro and Ward (2014)
//
//     xₜ₊₁ = xₜ − η Aᵀ Sₜᵀ (Sₜ A xₜ − Sₜ b)
//     where Sₜ: k rows sampled uniformly, drawn afresh every iteration
//
// Flops: 5nk + 2n + 2k in every iteration.
// Symbols: A is m×n, η the step size, τ the tolerance, T the largest number of iterations, k the rows
//   of a sample.
// Settings: family low-cond, η found by line searches along 16 directions from the start, halved while
//   it diverges, τ = 1e-10, T = 1000, k = min(100, m), rows sampled with replacement, row i times
//   1/√(k·pᵢ).
// It ends where |aⱼᵀr| ≤ τ‖aⱼ‖‖r‖ for every column aⱼ of A, or ‖r‖ ≤ τ‖b‖, where r = Ax − b.
// Origin: test exported.rs; exported by rl4rla .
//
// Cargo.toml: faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

#![allow(non_snake_case)]

use faer::prelude::*;

/// How it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// η, the step size; if there is none, found by line searches along 16 directions from the start, halved while it diverges.
    pub step: Option<f64>,
    /// τ, the tolerance.
    pub tolerance: f64,
    /// T, the largest number of iterations.
    pub iterations: usize,
    /// k, the rows of a sample.
    pub batch: usize,
}

impl Options {
    /// The settings it was exported with, for an m×n matrix.
    pub fn for_size(m: usize, _n: usize) -> Options {
        Options {
            step: None,
            tolerance: 1e-10,
            iterations: 1000,
            batch: 100_usize.min(m),
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
#[must_use = "`converged` says whether x is a solution"]
pub struct Solution {
    /// The last iterate.
    pub x: Col<f64>,
    /// Whether it meets the tolerance.
    pub converged: bool,
    /// Iterations made.
    pub iterations: usize,
    /// η.
    pub step: f64,
    /// ‖Ax − b‖.
    pub residual: f64,
    /// The largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = Ax − b.
    pub gradient: f64,
}

/// Minimises ‖Ax − b‖; `observe` sees every iterate, those of attempts that diverged included.
///
/// `A`: an m×n matrix with m ≥ n.
/// `b`: a vector of m numbers.
/// `x0`: where to start.
pub fn sgd(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    options: &Options,
    draws: &mut impl Draws,
    observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let Options { step, tolerance, iterations, batch } = options.clone();
    let m = A.nrows();
    let p1 = vec![1.0 / m as f64; m];

    let direction = |x: ColRef<'_, f64>| {
        let (A_t, b_t) = subsample(A.as_ref(), b.as_ref(), &p1, batch, draws); // matrix k×n
        let v1 = &A_t * &x; // vector k
        let v1 = &v1 - &b_t; // vector k
        let v1 = A_t.transpose() * &v1; // vector n
        v1.to_owned()
    };

    descend(direction, A, b, x0, step, tolerance, iterations, (A.nrows() / batch).max(1), observe)
}

/// Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges.
#[allow(clippy::too_many_arguments)]
fn descend(
    mut direction: impl FnMut(ColRef<'_, f64>) -> Col<f64>,
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    step: Option<f64>,
    tolerance: f64,
    iterations: usize,
    every: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let lengths: Vec<f64> = (0..A.ncols()).map(|j| A.col(j).norm_l2()).collect();
    let residual = |x: &Col<f64>| A * x - b;
    let (size, first) = (b.norm_l2(), (A * x0 - b).norm_l2());
    let worse = |r: &Col<f64>, times: f64| r.norm_l2().is_nan() || r.norm_l2() > times * first;
    let small = |x: &Col<f64>, r: &Col<f64>, g: &Col<f64>| {
        // Where Ax is nearly b, rounding leaves more of the gradient than the tolerance.
        let reach: f64 = lengths.iter().zip(x.iter()).map(|(length, x)| length * x.abs()).sum();
        let rounding = 4.0 * f64::EPSILON * (size + reach.min(1e6 * size));
        let allowed = (1e-4 * r.norm_l2()).min(rounding).max(tolerance * r.norm_l2());
        let small = |(length, g): (&f64, &f64)| length.is_finite() && g.abs() <= allowed * length;
        let met = r.norm_l2() <= tolerance * size || lengths.iter().zip(g.iter()).all(small);
        met && tolerance > 0.0 && size.is_finite()
    };
    // At large condition numbers a small gradient says little.
    let solves = |r: &Col<f64>| {
        r.norm_l2() <= tolerance * size || reducible(A, r, &lengths) <= tolerance.sqrt() * r.norm_l2()
    };
    let found = step.is_none();
    let mut step = step.unwrap_or_else(|| find_step(&mut direction, A, b, x0));
    let (mut x, mut t, mut tries, mut wait) = (x0.to_owned(), 0, 0, 0);
    let mut r = residual(&x);
    loop {
        while t < iterations && x.is_all_finite() {
            // A look costs a pass over A.
            let look = t % every == 0 && t >= wait;
            if look {
                r = residual(&x);
            }
            if look && small(&x, &r, &(A.transpose() * &r)) {
                if solves(&r) {
                    break;
                }
                wait = 2 * t + 1;
            }
            if found && worse(&r, 100.0) {
                break;
            }
            let v = direction(x.as_ref());
            x -= Scale(step) * &v;
            t += 1;
            observe(x.as_ref());
        }
        let diverged = found && worse(&residual(&x), 1.0 + 1e-9);
        if !diverged {
            break;
        }
        x = x0.to_owned();
        if tries == 12 {
            break;
        }
        (t, wait, tries, step) = (0, 0, tries + 1, step / 2.0);
    }
    let r = residual(&x);
    let g = A.transpose() * &r;
    let cosines = lengths.iter().zip(g.iter()).map(|(length, g)| if *g == 0.0 { 0.0 } else { g.abs() / length });
    let gradient = cosines.fold(0.0, f64::max) / if r.norm_l2() > 0.0 { r.norm_l2() } else { 1.0 };
    let (converged, residual) = (small(&x, &r, &g) && solves(&r), r.norm_l2());
    Solution { x, converged, iterations: t, step, residual, gradient }
}

/// How much of r a few steps of conjugate gradients remove, with columns of length 1: a lower bound of ‖A(x − x*)‖.
fn reducible(A: MatRef<'_, f64>, r: &Col<f64>, lengths: &[f64]) -> f64 {
    let scaled = |v: &Col<f64>| Col::from_fn(v.nrows(), |j| if lengths[j] > 0.0 { v[j] / lengths[j] } else { v[j] });
    let (mut r, mut removed) = (r.clone(), 0.0);
    let mut p = scaled(&(A.transpose() * &r));
    let mut gamma = p.squared_norm_l2();
    for _ in 0..8 {
        if gamma == 0.0 {
            break;
        }
        let q = A * scaled(&p);
        let alpha = gamma / q.squared_norm_l2();
        r -= Scale(alpha) * &q;
        removed += alpha * gamma;
        let s = scaled(&(A.transpose() * &r));
        let next = s.squared_norm_l2();
        p = s + Scale(next / gamma) * &p;
        gamma = next;
    }
    removed.sqrt()
}

/// The step that is best for 16 directions from the start together.
fn find_step(
    direction: &mut impl FnMut(ColRef<'_, f64>) -> Col<f64>,
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x: ColRef<'_, f64>,
) -> f64 {
    let (r, mut gain, mut cost) = (A * x - b, 0.0, 0.0);
    for _ in 0..16 {
        let v = direction(x.as_ref());
        let Av = A * &v;
        gain += r.transpose() * &Av;
        cost += Av.squared_norm_l2();
    }
    if gain > 0.0 && cost.is_finite() { gain / cost } else { 0.0 }
}

/// Where random objects come from.
pub trait Draws {
    /// `k` row numbers, drawn with probabilities `p`.
    fn sample(&mut self, p: &[f64], k: usize) -> Vec<usize>;
}

/// SplitMix64: a small generator, good enough here; any other can implement [`Draws`] in its place.
pub struct Random(pub u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Draws for Random {
    fn sample(&mut self, p: &[f64], k: usize) -> Vec<usize> {
        let mut total = 0.0;
        let mut sum = |p: &f64| {
            total += p;
            total
        };
        let sums: Vec<f64> = p.iter().map(&mut sum).collect();
        let mut draw = || {
            let t = total * self.uniform();
            sums.partition_point(|sum| *sum <= t)
        };
        (0..k).map(|_| draw()).collect()
    }
}

/// k rows of A and b, drawn with probabilities p, row i times 1/√(k·pᵢ): then E[(SA)ᵀ(SA)] = AᵀA.
fn subsample(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    p: &[f64],
    k: usize,
    draws: &mut impl Draws,
) -> (Mat<f64>, Col<f64>) {
    let rows = draws.sample(p, k);
    let scale: Vec<f64> = rows.iter().map(|&i| 1.0 / (k as f64 * p[i]).sqrt()).collect();
    let sampled = Mat::from_fn(k, A.ncols(), |i, j| scale[i] * A[(rows[i], j)]);
    (sampled, Col::from_fn(k, |i| scale[i] * b[rows[i]]))
}
