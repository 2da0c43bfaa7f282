// What exported Rust functions bring along where they call it. Not a module of this crate.
//% Draws
/// Where random objects come from.
pub trait Draws {
//% trait-sketch
    /// A random matrix S with `s` rows, `m` columns and E[SᵀS] = I, as the function M ↦ S·M.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>>;
//% trait-sample
    /// `k` row numbers, drawn with probabilities `p`.
    fn sample(&mut self, p: &[f64], k: usize) -> Vec<usize>;
//% Random
/// SplitMix64: a small generator, good enough here; any other can implement [`Draws`] in its place.
pub struct Random(pub u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
//% below
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }
//% sign
    /// −1 or 1.
    fn sign(&mut self) -> f64 {
        if self.word() >> 63 == 0 { -1.0 } else { 1.0 }
    }
//% uniform
    /// A number in [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
//% normal
    /// A standard normal number, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
//% sketch-sjlt
    /// S has $count entries ±1/√$nonzeros in every column, at distinct rows.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let k = s.min($nonzeros);
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
//% sketch-countsketch
    /// One entry ±1 in every column of S, at a random row.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let entries: Vec<(usize, f64)> = (0..m).map(|_| (self.below(s), self.sign())).collect();
        Box::new(move |M| {
            let mut SM = Mat::zeros(s, M.ncols());
            for c in 0..M.ncols() {
                for (j, &(i, value)) in entries.iter().enumerate() {
                    SM[(i, c)] += value * M[(j, c)];
                }
            }
            SM
        })
    }
//% sketch-gaussian
    /// Independent normal entries of variance 1/s.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let S = Mat::from_fn(s, m, |_, _| self.normal() / (s as f64).sqrt());
        Box::new(move |M| &S * M)
    }
//% sketch-srht
    /// Random signs, a Hadamard transform, then s of its rows: distinct as long as there are enough.
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let size = m.next_power_of_two();
        let signs: Vec<f64> = (0..m).map(|_| self.sign()).collect();
        let mut picked: Vec<usize> = (0..size).collect();
        if s > size {
            picked = (0..s).map(|_| self.below(size)).collect();
        } else {
            for i in 0..s {
                let j = i + self.below(size - i);
                picked.swap(i, j);
            }
        }
        Box::new(move |M| {
            let padded = |i: usize, j: usize| if i < m { signs[i] * M[(i, j)] } else { 0.0 };
            let mut H = Mat::from_fn(size, M.ncols(), padded);
            let mut half = 1;
            while half < size {
                for j in 0..M.ncols() {
                    for i in (0..size).filter(|i| i & half == 0) {
                        let (low, high) = (H[(i, j)], H[(i + half, j)]);
                        (H[(i, j)], H[(i + half, j)]) = (low + high, low - high);
                    }
                }
                half *= 2;
            }
            Mat::from_fn(s, M.ncols(), |i, j| H[(picked[i], j)] / (s as f64).sqrt())
        })
    }
//% sample-unbiased
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
//% sample-released
    /// Different rows: those with the least exponential times, the rate of row i being pᵢ.
    fn sample(&mut self, p: &[f64], k: usize) -> Vec<usize> {
        let mut time = |p: &f64| -(1.0 - self.uniform()).ln() / p;
        let mut times: Vec<(f64, usize)> = p.iter().enumerate().map(|(i, p)| (time(p), i)).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        times.into_iter().take(k).map(|(_, i)| i).collect()
    }
//% subsample-unbiased
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
//% subsample-released
/// k different rows of A and b, drawn with probabilities p.
fn subsample(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    p: &[f64],
    k: usize,
    draws: &mut impl Draws,
) -> (Mat<f64>, Col<f64>) {
    let rows = draws.sample(p, k);
    (Mat::from_fn(k, A.ncols(), |i, j| A[(rows[i], j)]), Col::from_fn(k, |i| b[rows[i]]))
}
//% probabilities
/// Probabilities proportional to the squared row norms of M.
fn probabilities(M: MatRef<'_, f64>) -> Vec<f64> {
    let norms: Vec<f64> = (0..M.nrows()).map(|i| M.row(i).squared_norm_l2()).collect();
    let total: f64 = norms.iter().sum();
    norms.iter().map(|norm| norm / total).collect()
}
//% triangle
/// R of M = QR with a nonnegative diagonal, square also where M has more columns than rows: RᵀR = MᵀM.
fn triangle(M: MatRef<'_, f64>) -> Mat<f64> {
    let (n, qr) = (M.ncols(), M.qr());
    let R = qr.thin_R();
    let entry = |i: usize, j: usize| R[(i, j)] * 1_f64.copysign(R[(i, i)]);
    Mat::from_fn(n, n, |i, j| if i <= j && i < R.nrows() { entry(i, j) } else { 0.0 })
}
//% inverse
/// M⁻¹, or the pseudo-inverse where M is singular to working precision.
fn inverse(M: MatRef<'_, f64>) -> Mat<f64> {
    let n = M.ncols();
    let precision = n as f64 * f64::EPSILON;
    let size = |M: MatRef<'_, f64>| (0..n).map(|j| M.col(j).norm_l1()).fold(0.0, f64::max);
    let X = M.partial_piv_lu().inverse();
    if X.is_all_finite() && size(M) * size(X.as_ref()) <= 0.01 / precision {
        return X;
    }
    let Ok(svd) = M.svd() else { return Mat::from_fn(n, n, |_, _| f64::NAN) };
    let sigma = svd.S().column_vector();
    let invert = |sigma_j: f64| if sigma_j > precision * sigma[0] { 1.0 / sigma_j } else { 0.0 };
    let V = Mat::from_fn(n, n, |i, j| svd.V()[(i, j)] * invert(sigma[j]));
    V * svd.U().transpose()
}
//% invert_upper
/// R⁻¹ of an upper triangular R.
fn invert_upper(R: MatRef<'_, f64>) -> Mat<f64> {
    let mut X = Mat::identity(R.nrows(), R.ncols());
    R.solve_upper_triangular_in_place(X.as_mut());
    X
}
//% solve_upper
/// R⁻¹v for an upper triangular R.
fn solve_upper(R: MatRef<'_, f64>, v: ColRef<'_, f64>) -> Col<f64> {
    let mut z = v.to_owned();
    R.solve_upper_triangular_in_place(z.as_mat_mut());
    z
}
//% solve_upper_transposed
/// R⁻ᵀv for an upper triangular R.
fn solve_upper_transposed(R: MatRef<'_, f64>, v: ColRef<'_, f64>) -> Col<f64> {
    let mut z = v.to_owned();
    R.transpose().solve_lower_triangular_in_place(z.as_mat_mut());
    z
}
//% stacked
/// The rows of one matrix above those of another; a vector is one row.
fn stacked(above: &impl Rows, below: &impl Rows) -> Mat<f64> {
    let first = above.count();
    let entry = |i: usize, j: usize| if i < first { above.entry(i, j) } else { below.entry(i - first, j) };
    Mat::from_fn(first + below.count(), above.length(), entry)
}

/// A matrix, or a vector as a single row.
trait Rows {
    fn count(&self) -> usize;
    fn length(&self) -> usize;
    fn entry(&self, i: usize, j: usize) -> f64;
}

macro_rules! rows_of_matrices {
    ($($ty:ty),*) => {$(
        impl Rows for $ty {
            fn count(&self) -> usize { self.nrows() }
            fn length(&self) -> usize { self.ncols() }
            fn entry(&self, i: usize, j: usize) -> f64 { self[(i, j)] }
        }
    )*};
}

macro_rules! single_rows {
    ($($ty:ty),*) => {$(
        impl Rows for $ty {
            fn count(&self) -> usize { 1 }
            fn length(&self) -> usize { self.nrows() }
            fn entry(&self, _: usize, j: usize) -> f64 { self[j] }
        }
    )*};
}

rows_of_matrices!(Mat<f64>, MatRef<'_, f64>);
single_rows!(Col<f64>, ColRef<'_, f64>);
//% orthonormal_rows
/// The rows of M made orthonormal, from the first to the last; a row that depends on those above becomes zero.
fn orthonormal_rows(M: MatRef<'_, f64>) -> Mat<f64> {
    let (p, n) = M.shape();
    let mut Q = Mat::zeros(p, n);
    for i in 0..p {
        let mut row = Col::from_fn(n, |j| M[(i, j)]);
        // Once leaves an error that is large relative to a small rest, twice does not.
        for least in [0.0, 1e-13, 0.5] {
            let length = row.norm_l2();
            if length <= least {
                row = Col::zeros(n);
                break;
            }
            row = Scale(1.0 / length) * &row;
            if least < 0.5 {
                for k in 0..i {
                    let share: f64 = (0..n).map(|j| Q[(k, j)] * row[j]).sum();
                    row = Col::from_fn(n, |j| row[j] - share * Q[(k, j)]);
                }
            }
        }
        for j in 0..n {
            Q[(i, j)] = row[j];
        }
    }
    Q
}
//% leading_ritz_vector
/// The unit vector v in the row space of M with the largest vᵀAv, for a symmetric A.
fn leading_ritz_vector(M: MatRef<'_, f64>, A: MatRef<'_, f64>) -> Col<f64> {
    let Q = orthonormal_rows(M);
    let kept: Vec<usize> = (0..Q.nrows()).filter(|&i| Q.row(i).norm_l2() > 0.5).collect();
    let Q = Mat::from_fn(kept.len(), Q.ncols(), |i, j| Q[(kept[i], j)]);
    let H = &Q * A * Q.transpose();
    let H = Mat::from_fn(kept.len(), kept.len(), |i, j| (H[(i, j)] + H[(j, i)]) / 2.0);
    // Eigenvalues come in ascending order.
    let eigen = H.self_adjoint_eigen(faer::Side::Lower).expect("finite entries");
    let y = eigen.U().col(kept.len() - 1);
    let v = Q.transpose() * y;
    Scale(if y[0] < 0.0 { -1.0 } else { 1.0 } / v.norm_l2()) * &v
}
//% shifted_triangle
/// R of M on top of √shift·I: RᵀR = MᵀM + shift·I, without the square of a condition number.
fn shifted_triangle(M: MatRef<'_, f64>, shift: f64) -> Mat<f64> {
    let (m, n) = M.shape();
    let below = |i: usize, j: usize| if i == j { shift.sqrt() } else { 0.0 };
    triangle(Mat::from_fn(m + n, n, |i, j| if i < m { M[(i, j)] } else { below(i - m, j) }).as_ref())
}
//% nystrom
/// G of orthogonal rows such that I − GᵀG is, up to a factor, the Nyström preconditioner of M + shift·I.
fn nystrom(M: MatRef<'_, f64>, shift: f64, sketch: impl Fn(MatRef<'_, f64>) -> Mat<f64>) -> Mat<f64> {
    let mut Y = sketch(M);
    let W = sketch(Y.transpose());
    let (s, n) = Y.shape();
    let precision = s as f64 * f64::EPSILON;
    let largest = (0..s).map(|i| W[(i, i)].abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return Mat::zeros(s, n);
    }
    // Shifted by the size of its rounding errors, so that it has a Cholesky factor.
    let shifted = |i: usize, j: usize| {
        (W[(i, j)] + W[(j, i)]) / 2.0 + if i == j { precision * largest } else { 0.0 }
    };
    let Ok(C) = Mat::from_fn(s, s, shifted).llt(faer::Side::Lower) else {
        return Mat::from_fn(s, n, |_, _| f64::NAN);
    };
    C.L().solve_lower_triangular_in_place(Y.as_mut());
    let Ok(svd) = Y.thin_svd() else { return Mat::from_fn(s, n, |_, _| f64::NAN) };
    let values: Vec<f64> = svd.S().column_vector().iter().map(|sigma| sigma * sigma).collect();
    let is_kept = |value: &f64| *value > precision * values[0];
    let least = values.iter().copied().filter(is_kept).fold(f64::INFINITY, f64::min);
    let weight = |value: f64| ((value - least).max(0.0) / (value + shift).max(least)).sqrt();
    Mat::from_fn(values.len(), n, |i, j| weight(values[i]) * svd.V()[(j, i)])
}
