// What runs the iterations of exported Rust functions. A line that ends with `//? CONDITION` is for some of them. Not a module of this crate.
//% Solution-squares
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
//% find_step
/// The harmonic mean of exact line searches along the first directions: it tends to the best constant step.
fn find_step(
    direction: &mut impl FnMut(ColRef<'_, f64>) -> Col<f64>, //? hidden
    direction: &mut impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3], //? shown
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
) -> f64 {
    let mut step = 1.0; //? told step
    let (mut x, mut r) = (x0.to_owned(), A * x0 - b);
    let (mut steps, mut first) = (Vec::new(), 0_f64);
    for t in 0..16 { //? remembers
    for _ in 0..16 { //? forgets
        let v = direction(x.as_ref()); //? hidden
        let [v, _, _] = direction(x.as_ref()); //? shown
        let Av = A * &v;
        let (gain, cost) = (r.transpose() * &Av, Av.squared_norm_l2());
        first = first.max(cost);
        if !(gain > 0.0 && cost > 1e-6 * first && cost.is_finite()) {
            break;
        }
        step = gain / cost; //? told step
        let step = gain / cost; //? untold step
        steps.push(step);
        x -= Scale(step) * &v;
        r -= Scale(step) * &Av;
    }
    // Steps come to alternate between two values, so an even number of the last ones is taken.
    let last = &steps[(steps.len() / 2).min(8)..];
    let last = &last[if last.len() > 1 { last.len() % 2 } else { 0 }..];
    if last.is_empty() { 0.0 } else { last.len() as f64 / last.iter().map(|step| 1.0 / step).sum::<f64>() }
}
//% find_step-random
/// The step that is best for 16 directions from the start together.
fn find_step(
    direction: &mut impl FnMut(ColRef<'_, f64>) -> Col<f64>, //? hidden
    direction: &mut impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3], //? shown
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x: ColRef<'_, f64>,
) -> f64 {
    let step = 1.0; //? told step
    let t = 0; //? remembers
    let (r, mut gain, mut cost) = (A * x - b, 0.0, 0.0);
    for _ in 0..16 {
        let v = direction(x.as_ref()); //? hidden
        let [v, _, _] = direction(x.as_ref()); //? shown
        let Av = A * &v;
        gain += r.transpose() * &Av;
        cost += Av.squared_norm_l2();
    }
    if gain > 0.0 && cost.is_finite() { gain / cost } else { 0.0 }
}
//% measurable
/// Whether squares neither overflow nor vanish where a vector is so long.
fn measurable(length: f64) -> bool {
    length == 0.0 || (1e-140..1e140).contains(&length)
}
//% spectrum
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
//% descend-squares
/// Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges.
#[allow(clippy::too_many_arguments)]
fn descend(
    mut direction: impl FnMut(ColRef<'_, f64>) -> Col<f64>, //? hidden
    mut direction: impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3], //? shown
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    step: Option<f64>,
    tolerance: f64,
    iterations: usize,
    every: usize, //? hidden
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
    let mut r = residual(&x); //? hidden
    loop {
        while t < iterations && x.is_all_finite() {
            let [v, r, g] = direction(x.as_ref()); //? shown
            if good(&x, &r, &g) { //? shown
            // A look costs a pass over A. //? hidden
            let look = t % every == 0; //? hidden
            if look { //? hidden
                r = residual(&x); //? hidden
            } //? hidden
            if look && good(&x, &r, &(A.transpose() * &r)) { //? hidden
                break;
            }
            if found && worse(&r, 100.0) {
                break;
            }
            let v = direction(x.as_ref()); //? hidden
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
//% Solution-entropy
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
    /// The last η.
    pub step: f64,
    /// The largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = σ(Ax) − b.
    pub gradient: f64,
}
//% line_search
/// A step that makes the loss at z − η·Av least: where its slope is a tenth of the first one.
fn line_search(z: &Col<f64>, Av: &Col<f64>, b: ColRef<'_, f64>) -> f64 {
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    let slope = |step: f64| (0..z.nrows()).map(|i| (sigmoid(z[i] - step * Av[i]) - b[i]) * Av[i]).sum::<f64>();
    let (mut low, mut high, first) = (0.0, 1.0, slope(0.0));
    if !(first > 0.0 && first.is_finite()) {
        return 0.0;
    }
    while slope(high) > 0.1 * first && high < 1e100 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let step = if slope(high) >= -0.1 * first { high } else { (low + high) / 2.0 };
        if slope(step).abs() <= 0.1 * first {
            return step;
        }
        (low, high) = if slope(step) > 0.0 { (step, high) } else { (low, step) };
    }
    low
}
//% descend-entropy
/// Repeats x ← x − η·direction(x), with a line search for every η that is not given.
fn descend(
    mut direction: impl FnMut(ColRef<'_, f64>) -> Col<f64>, //? hidden
    mut direction: impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3], //? shown
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    step: Option<f64>,
    tolerance: f64,
    iterations: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let lengths: Vec<f64> = (0..A.ncols()).map(|j| A.col(j).norm_l2()).collect();
    let residual = |x: &Col<f64>| {
        let z = A * x;
        Col::from_fn(z.nrows(), |i| 1.0 / (1.0 + (-z[i]).exp()) - b[i])
    };
    // What is no number is never small.
    let gradient = |r: &Col<f64>, g: &Col<f64>| {
        let cosine = |(length, g): (&f64, &f64)| if *g == 0.0 { 0.0 } else { g.abs() / length };
        let cosines = lengths.iter().zip(g.iter()).map(cosine);
        let largest = cosines.fold(0.0, |most: f64, next| if next > most || next.is_nan() { next } else { most });
        largest / if r.norm_l2() > 0.0 { r.norm_l2() } else { 1.0 }
    };
    let good = |left: f64| tolerance > 0.0 && left <= tolerance && lengths.iter().all(|length| measurable(*length));
    let (mut x, mut t, found, mut step) = (x0.to_owned(), 0, step.is_none(), step.unwrap_or(1.0));
    while t < iterations && x.is_all_finite() {
        let [v, r, g] = direction(x.as_ref()); //? shown
        if good(gradient(&r, &g)) { //? shown
            break; //? shown
        } //? shown
        let r = residual(&x); //? hidden
        if good(gradient(&r, &(A.transpose() * &r))) { //? hidden
            break; //? hidden
        } //? hidden
        let v = direction(x.as_ref()); //? hidden
        if found {
            step = line_search(&(A * &x), &(A * &v), b);
        }
        x -= Scale(step) * &v;
        t += 1;
        observe(x.as_ref());
    }
    let r = residual(&x);
    let gradient = gradient(&r, &(A.transpose() * &r));
    Solution { x, converged: good(gradient), iterations: t, step, gradient }
}
//% Solution-eigenvector
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
    /// λ = xᵀAx/xᵀx.
    pub eigenvalue: f64,
    /// ‖Ax − λx‖/(|λ|‖x‖).
    pub residual: f64,
}
//% iterate-eigenvector
/// Repeats x ← advance(x) until Ax = λx to the tolerance.
fn iterate_until(
    mut advance: impl FnMut(ColRef<'_, f64>) -> Col<f64>, //? hidden
    mut advance: impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 2], //? shown
    A: MatRef<'_, f64>,
    x0: ColRef<'_, f64>,
    tolerance: f64,
    iterations: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let judged = |x: &Col<f64>, Ax: &Col<f64>| {
        let value = (x.transpose() * Ax) / x.squared_norm_l2();
        (value, (Ax - Scale(value) * x).norm_l2() / (value.abs() * x.norm_l2()))
    };
    let good = |residual: f64| tolerance > 0.0 && residual <= tolerance;
    let (mut x, mut t) = (x0.to_owned(), 0);
    while t < iterations && x.is_all_finite() {
        let [y, Ax] = advance(x.as_ref()); //? shown
        if good(judged(&x, &Ax).1) { //? shown
        if good(judged(&x, &(A * &x)).1) { //? hidden
            break;
        }
        let y = advance(x.as_ref()); //? hidden
        (x, t) = (y, t + 1);
        observe(x.as_ref());
    }
    let (eigenvalue, residual) = judged(&x, &(A * &x));
    Solution { x, converged: good(residual), iterations: t, eigenvalue, residual }
}
//% Solution-standstill
/// What came of a run.
#[derive(Clone, Debug)]
#[must_use = "`converged` says whether the result came to rest"]
pub struct Solution {
    /// The last result.
    pub x: Col<f64>,
    /// Whether the last iteration changed it by no more than the tolerance.
    pub converged: bool,
    /// Iterations made.
    pub iterations: usize,
    /// What it changed, as a part of the length of x.
    pub change: f64,
}
//% iterate-standstill
/// Repeats x ← advance(x) until that changes x no more.
fn iterate_until(
    mut advance: impl FnMut(ColRef<'_, f64>) -> Col<f64>,
    x0: ColRef<'_, f64>,
    tolerance: f64,
    iterations: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let (mut x, mut t, mut change) = (x0.to_owned(), 0, f64::INFINITY);
    while t < iterations && x.is_all_finite() && (tolerance == 0.0 || change > tolerance) {
        let y = advance(x.as_ref());
        let length = y.norm_l2();
        change = (&y - &x).norm_l2() / if length > 0.0 { length } else { 1.0 };
        (x, t) = (y, t + 1);
        observe(x.as_ref());
    }
    Solution { x, converged: tolerance > 0.0 && change <= tolerance, iterations: t, change }
}
