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
// It ends where ‖A(x − x*)‖ ≤ τ‖r‖ or ‖r‖ ≤ τ‖b‖ up to rounding; r = Ax − b, x* the best x.
// Origin: test exported.rs; exported by rl4rla .
//
// Cargo.toml: faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

#![allow(non_snake_case)]

use faer::prelude::*;
use std::cell::OnceCell;

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
    let usable = measurable(size) && lengths.iter().all(|length| measurable(*length));
    let small = |x: &Col<f64>, r: &Col<f64>, g: &Col<f64>| {
        // What every solution has, and what costs little to see.
        let reach: f64 = lengths.iter().zip(x.iter()).map(|(length, x)| length * x.abs()).sum();
        let limit = tolerance * r.norm_l2() + 4.0 * f64::EPSILON * (reach + size);
        r.norm_l2() < f64::INFINITY && lengths.iter().zip(g.iter()).all(|(length, g)| g.abs() <= limit * length)
    };
    let parts = OnceCell::new();
    let solves = |x: &Col<f64>, r: &Col<f64>, g: &Col<f64>| {
        // Where columns nearly depend on each other a small gradient says little. But ‖Σ⁻¹Vᵀg‖ = ‖A(x − x*)‖.
        let (sigma, V) = parts.get_or_init(|| spectrum(A, &lengths));
        let (largest, least) = (sigma[0], sigma[sigma.len() - 1]);
        if least <= A.nrows().max(A.ncols()) as f64 * f64::EPSILON * largest {
            return false;
        }
        let in_units = |j: usize| if lengths[j] > 0.0 { g[j] / lengths[j] } else { 0.0 };
        let rotated = V.transpose() * Col::from_fn(g.nrows(), in_units);
        let excess = Col::from_fn(sigma.len(), |i| rotated[i] / sigma[i]).norm_l2();
        let reach = Col::from_fn(x.nrows(), |j| lengths[j] * x[j]).norm_l2();
        // What rounding leaves to a stable method; large coefficients do not excuse more than 5e-5‖b‖.
        let conditioned = (8.0 * f64::EPSILON * largest / least).min(1e-4);
        let rounding = conditioned * r.norm_l2() + 4.0 * f64::EPSILON * (largest * reach + size);
        excess <= (tolerance * r.norm_l2()).max(rounding.min(5e-5 * size))
    };
    let good = |x: &Col<f64>, r: &Col<f64>, g: &Col<f64>| {
        let met = r.norm_l2() <= tolerance * size || (small(x, r, g) && solves(x, r, g));
        met && tolerance > 0.0 && usable
    };
    let found = step.is_none();
    let mut step = step.unwrap_or_else(|| find_step(&mut direction, A, b, x0));
    let (mut x, mut t, mut tries) = (x0.to_owned(), 0, 0);
    let mut r = residual(&x);
    loop {
        while t < iterations && x.is_all_finite() {
            // A look costs a pass over A.
            let look = t % every == 0;
            if look {
                r = residual(&x);
            }
            if look && good(&x, &r, &(A.transpose() * &r)) {
                break;
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
        (t, tries, step) = (0, tries + 1, step / 2.0);
    }
    let r = residual(&x);
    let g = A.transpose() * &r;
    let cosines = lengths.iter().zip(g.iter()).map(|(length, g)| if *g == 0.0 { 0.0 } else { g.abs() / length });
    let gradient = cosines.fold(0.0, f64::max) / if r.norm_l2() > 0.0 { r.norm_l2() } else { 1.0 };
    let (converged, residual) = (good(&x, &r, &g), r.norm_l2());
    Solution { x, converged, iterations: t, step, residual, gradient }
}

/// Σ and V of A = UΣVᵀ with columns of length 1, without those for columns of zeros.
fn spectrum(A: MatRef<'_, f64>, lengths: &[f64]) -> (Vec<f64>, Mat<f64>) {
    let unit = |j: usize| if lengths[j] > 0.0 { lengths[j] } else { 1.0 };
    let scaled = Mat::from_fn(A.nrows(), A.ncols(), |i, j| A[(i, j)] / unit(j));
    let Ok(svd) = scaled.qr().thin_R().thin_svd() else { return (vec![f64::NAN], Mat::zeros(A.ncols(), 1)) };
    let rank = lengths.iter().filter(|length| **length > 0.0).count().max(1);
    let sigma: Vec<f64> = svd.S().column_vector().iter().copied().take(rank).collect();
    let V = svd.V().subcols(0, sigma.len()).to_owned();
    (sigma, V)
}

/// Whether squares neither overflow nor vanish where a vector is so long.
fn measurable(length: f64) -> bool {
    length == 0.0 || (1e-140..1e140).contains(&length)
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
