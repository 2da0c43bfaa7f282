// Sketched Heavy Ball with Refinement
// Sketched preconditioning with momentum whose gradient is known exactly at one point and carried on
//   from there; every k iterations that point is the iterate.
// Reference: Epperly, Meier and Nakatsukasa, Fast Randomized Least-Squares Solvers Can Be Just as
//   Accurate and Stable as Classical Direct Solvers (2024), FOSSILS
//
//     xₜ₊₁ = xₜ − η (R⁻¹ R⁻ᵀ (Aᵀ A (xₜ − r′1) + r) − (μ / η) d), x₀ = R⁻¹ R⁻ᵀ Aᵀ Sᵀ S b, m1 ← r, m2 ← r′1
//     where S: sketch with s rows, drawn once
//           S A = Q R
//           r = Aᵀ (A xₜ − b) every k iterations, else m1
//           r′1 = xₜ every k iterations, else m2
//           d = xₜ − xₜ₋₁
//
// Flops: 16mn + 16m + 2n²s + 2n² + 2ns once and 4mn + 2n² + 6n + 1 in every iteration and 4mn + m
//   every k iterations.
// Symbols: A is m×n, η the step size, μ the number to be tuned beside it, k the iterations from one
//   refresh to the next, τ the tolerance, T the largest number of iterations, s the rows of a sketch.
// Settings: family mid-cond, η found by line searches along the first directions, halved while it
//   diverges, μ = 0, k = 10, τ = 1e-10, T = 1000, s = min(8n, m), sjlt sketch (eight entries ±1/√8 in
//   every column, at distinct random rows).
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
    /// η, the step size; if there is none, found by line searches along the first directions, halved while it diverges.
    pub step: Option<f64>,
    /// μ, the number to be tuned beside it.
    pub mu: f64,
    /// k, the iterations from one refresh to the next.
    pub every: usize,
    /// τ, the tolerance.
    pub tolerance: f64,
    /// T, the largest number of iterations.
    pub iterations: usize,
    /// s, the rows of a sketch.
    pub sketch_rows: usize,
}

impl Options {
    /// The settings it was exported with, for an m×n matrix.
    pub fn for_size(m: usize, n: usize) -> Options {
        Options {
            step: None,
            mu: 0.0,
            every: 10,
            tolerance: 1e-10,
            iterations: 1000,
            sketch_rows: (8 * n).min(m),
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
pub fn sketched_refinement(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    options: &Options,
    draws: &mut impl Draws,
    observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let Options { step, mu, every, tolerance, iterations, sketch_rows } = options.clone();
    let (m, n) = A.shape();
    let mut m1: Col<f64> = Col::zeros(n);
    let mut m2: Col<f64> = Col::zeros(n);
    let mut x_last: Col<f64> = Col::zeros(0);

    // Setup, once.
    let S = draws.sketch(sketch_rows, m);
    let v2 = S(b.as_mat()).col(0).to_owned(); // vector s
    let R1 = S(A.as_ref()); // matrix s×n
    let v2 = R1.transpose() * &v2; // vector n
    let R1 = triangle(R1.as_ref()); // upper triangular n×n
    let v2 = solve_upper_transposed(R1.as_ref(), v2.as_ref()); // vector n
    let x = solve_upper(R1.as_ref(), v2.as_ref()); // vector n

    let direction = |x: ColRef<'_, f64>, step: f64, t: usize| {
        if t == 0 {
            m1 = Col::zeros(n);
            m2 = Col::zeros(n);
        }
        let d = { if t == 0 { x_last = x.to_owned(); } std::mem::replace(&mut x_last, x.to_owned()) };
        let d = &x - &d; // the last step
        let a1 = if step == 0.0 { 0.0 } else { mu / step }; // scalar
        let v2 = if t.is_multiple_of(every) { &A * &x } else { Col::zeros(0) }; // vector m
        let v2 = if t.is_multiple_of(every) { &v2 - &b } else { Col::zeros(0) }; // vector m
        let v2 = if t.is_multiple_of(every) { A.transpose() * &v2 } else { Col::zeros(0) }; // vector n
        m1 = if t.is_multiple_of(every) { v2.to_owned() } else { m1.to_owned() }; // vector n
        m2 = if t.is_multiple_of(every) { x.to_owned() } else { m2.to_owned() }; // vector n
        let v2 = &x - &m2; // vector n
        let v2 = &A * &v2; // vector m
        let v2 = A.transpose() * &v2; // vector n
        let v1 = &v2 + &m1; // vector n
        let v2 = Scale(a1) * &d; // vector n
        let v1 = solve_upper_transposed(R1.as_ref(), v1.as_ref()); // vector n
        let v1 = solve_upper(R1.as_ref(), v1.as_ref()); // vector n
        let v1 = &v1 - &v2; // vector n
        v1.to_owned()
    };

    descend(direction, A, b, x.as_ref(), step, tolerance, iterations, every, observe)
}

/// Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges.
#[allow(clippy::too_many_arguments)]
fn descend(
    mut direction: impl FnMut(ColRef<'_, f64>, f64, usize) -> Col<f64>,
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
            let v = direction(x.as_ref(), step, t);
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

/// The harmonic mean of exact line searches along the first directions: it tends to the best constant step.
fn find_step(
    direction: &mut impl FnMut(ColRef<'_, f64>, f64, usize) -> Col<f64>,
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
) -> f64 {
    let mut step = 1.0;
    let (mut x, mut r) = (x0.to_owned(), A * x0 - b);
    let (mut steps, mut first) = (Vec::new(), 0_f64);
    for t in 0..16 {
        let v = direction(x.as_ref(), step, t);
        let Av = A * &v;
        let (gain, cost) = (r.transpose() * &Av, Av.squared_norm_l2());
        first = first.max(cost);
        if !(gain > 0.0 && cost > 1e-6 * first && cost.is_finite()) {
            break;
        }
        step = gain / cost;
        steps.push(step);
        x -= Scale(step) * &v;
        r -= Scale(step) * &Av;
    }
    // Steps come to alternate between two values, so an even number of the last ones is taken.
    let last = &steps[(steps.len() / 2).min(8)..];
    let last = &last[if last.len() > 1 { last.len() % 2 } else { 0 }..];
    if last.is_empty() { 0.0 } else { last.len() as f64 / last.iter().map(|step| 1.0 / step).sum::<f64>() }
}

/// Where random objects come from.
pub trait Draws {
    /// A random matrix S with `s` rows, `m` columns and E[SᵀS] = I, as the function M ↦ S·M.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>>;
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

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }

    /// −1 or 1.
    fn sign(&mut self) -> f64 {
        if self.word() >> 63 == 0 { -1.0 } else { 1.0 }
    }
}

impl Draws for Random {
    /// S has eight entries ±1/√8 in every column, at distinct rows.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let k = s.min(8);
        let mut entries: Vec<(usize, usize, f64)> = Vec::with_capacity(k * m);
        for j in 0..m {
            let first = entries.len();
            // Floyd's sampling: k distinct rows with one draw each.
            for last in s - k..s {
                let drawn = self.below(last + 1);
                let taken = entries[first..].iter().any(|entry| entry.0 == drawn);
                entries.push((if taken { last } else { drawn }, j, self.sign() / (k as f64).sqrt()));
            }
        }
        Box::new(move |M| {
            let mut SM = Mat::zeros(s, M.ncols());
            for c in 0..M.ncols() {
                for &(i, j, value) in &entries {
                    SM[(i, c)] += value * M[(j, c)];
                }
            }
            SM
        })
    }
}

/// R of M = QR with a nonnegative diagonal, square also where M has more columns than rows: RᵀR = MᵀM.
fn triangle(M: MatRef<'_, f64>) -> Mat<f64> {
    let (n, qr) = (M.ncols(), M.qr());
    let R = qr.thin_R();
    let entry = |i: usize, j: usize| R[(i, j)] * 1_f64.copysign(R[(i, i)]);
    Mat::from_fn(n, n, |i, j| if i <= j && i < R.nrows() { entry(i, j) } else { 0.0 })
}

/// R⁻¹v for an upper triangular R.
fn solve_upper(R: MatRef<'_, f64>, v: ColRef<'_, f64>) -> Col<f64> {
    let mut z = v.to_owned();
    R.solve_upper_triangular_in_place(z.as_mat_mut());
    z
}

/// R⁻ᵀv for an upper triangular R.
fn solve_upper_transposed(R: MatRef<'_, f64>, v: ColRef<'_, f64>) -> Col<f64> {
    let mut z = v.to_owned();
    R.transpose().solve_lower_triangular_in_place(z.as_mat_mut());
    z
}
