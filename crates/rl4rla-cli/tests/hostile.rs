//! `solve` on hostile systems: the answer is right, or the exit code says that it is not, with the reason.

mod common;

use common::{rl4rla, scratch};
use rl4rla::data::write_npy;
use rl4rla::linalg::{self, Matrix};
use rl4rla::rng::Stream;

/// The programs that matter for tall systems, the most stable one first.
const PROGRAMS: [&str; 5] = [
    "sketched-precond-gd-factored",
    "sketched-precond-gd",
    "sketched-precond-gd-gram",
    "precond-gd",
    "ls-gd",
];

/// What the most stable program has to do.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Solved,
    Refused(&'static str),
    /// Right, or not: but never wrong without a word.
    Honest,
}
use Fate::{Honest, Refused, Solved};

struct System {
    name: &'static str,
    a: Matrix,
    b: Vec<f64>,
    flags: &'static [&'static str],
    fate: Fate,
}

fn normals(rows: usize, cols: usize, seed: u64) -> Matrix {
    let draws = Stream::new(seed).normals(rows * cols);
    Matrix::from_fn(rows, cols, |i, j| draws[i * cols + j])
}

/// Singular values from 1 down to 1/κ.
fn conditioned(rows: usize, cols: usize, kappa: f64) -> Matrix {
    let (q, v) = (linalg::thin_q(&normals(rows, cols, 1)), linalg::thin_q(&normals(cols, cols, 2)));
    let sigma = |j: usize| kappa.powf(-(j as f64) / (cols - 1) as f64);
    linalg::matmul_t(&Matrix::from_fn(rows, cols, |i, j| q.get(i, j) * sigma(j)), &v)
}

/// A with another column.
fn with(a: &Matrix, column: impl Fn(usize) -> f64) -> Matrix {
    let n = a.cols();
    Matrix::from_fn(a.rows(), n + 1, |i, j| if j < n { a.get(i, j) } else { column(i) })
}

/// A·1 and so much noise.
fn noisy(a: &Matrix, noise: f64) -> Vec<f64> {
    let draws = Stream::new(3).normals(a.rows());
    let exact = linalg::mat_vec(a, &vec![1.0; a.cols()]);
    exact.iter().zip(draws).map(|(b, draw)| b + noise * draw).collect()
}

fn systems() -> Vec<System> {
    let mut all = Vec::new();
    let mut add = |name, a: Matrix, b: Vec<f64>, flags, fate| all.push(System { name, a, b, flags, fate });
    let plain: &[&str] = &[];
    let intercept: &[&str] = &["--intercept"];
    let g = normals(300, 5, 4);
    let b = noisy(&g, 1.0);
    let mixed = |sizes: [f64; 5]| Matrix::from_fn(300, 5, |i, j| g.get(i, j) * sizes[j]);
    let changed = |at: (usize, usize), value: f64| {
        Matrix::from_fn(300, 5, |i, j| if (i, j) == at { value } else { g.get(i, j) })
    };
    // Condition.
    for (name, kappa, fate) in [
        ("κ 1e4, noise", 1e4, Solved),
        ("κ 1e6, noise", 1e6, Solved),
        ("κ 1e8, noise", 1e8, Solved),
        ("κ 1e10, noise", 1e10, Solved),
        ("κ 1e12, noise", 1e12, Honest),
        ("κ 1e14, noise", 1e14, Refused("--rank-deficient")),
        ("κ 1e16, noise", 1e16, Refused("--rank-deficient")),
    ] {
        let a = conditioned(1000, 12, kappa);
        let b = noisy(&a, 0.1);
        add(name, a, b, plain, fate);
    }
    for (name, kappa, fate) in [
        ("κ 1e4, consistent", 1e4, Solved),
        ("κ 1e8, consistent", 1e8, Solved),
        ("κ 1e12, consistent", 1e12, Solved),
        ("κ 1e15, consistent", 1e15, Refused("--rank-deficient")),
    ] {
        let a = conditioned(1000, 12, kappa);
        let b = noisy(&a, 0.0);
        add(name, a, b, plain, fate);
    }
    let t = |i: usize| i as f64 / 399.0;
    let powers = Matrix::from_fn(400, 10, |i, j| t(i).powi(j as i32));
    add("polynomials", powers, (0..400).map(|i| (5.0 * t(i)).sin()).collect(), plain, Solved);
    let hilbert = Matrix::from_fn(7, 7, |i, j| 1.0 / (i + j + 1) as f64);
    add("Hilbert", hilbert, vec![1.0; 7], plain, Honest);
    // Sizes.
    add("ordinary", g.clone(), b.clone(), plain, Solved);
    add("consistent", g.clone(), noisy(&g, 0.0), plain, Solved);
    let large = mixed([1e10, 1.0, 1.0, 1.0, 1.0]);
    let target =
        linalg::add(&linalg::mat_vec(&large, &[1.0, 2.99, 1.0, -1.0, 1.0]), &linalg::scale(0.01, &b));
    add("one column of size 1e10", large, target, plain, Solved);
    add("columns of 1e±150", mixed([1e150, 1e-150, 1.0, 1e75, 1e-75]), b.clone(), plain, Solved);
    add("columns of 1e±300", mixed([1e300, 1e-300, 1.0, 1.0, 1.0]), b.clone(), plain, Solved);
    add("everything of 1e200", mixed([1e200; 5]), linalg::scale(1e200, &b), plain, Solved);
    add("everything of 1e-200", mixed([1e-200; 5]), linalg::scale(1e-200, &b), plain, Solved);
    add("an entry of 1e14", changed((17, 2), 1e14), b.clone(), plain, Solved);
    let outlier = |i: usize| if i == 5 { 1e15 } else { b[i] };
    add("a target of 1e15", g.clone(), (0..300).map(outlier).collect(), plain, Solved);
    let row = Matrix::from_fn(300, 5, |i, j| if i == 0 { 1e12 } else { g.get(i, j) });
    add("a row of 1e12", row, b.clone(), plain, Honest);
    let leverage = Matrix::from_fn(2000, 6, |i, j| match i < 6 {
        true if i == j => 1e3,
        true => 0.0,
        false => 1e-3 * ((7 * i + 3 * j) as f64).sin(),
    });
    add("six rows that decide", leverage.clone(), noisy(&leverage, 1e-3), plain, Solved);
    // Columns that are not independent, or nearly so.
    let away = Matrix::from_fn(300, 5, |i, j| g.get(i, j) + 1e9);
    add("offsets of 1e9 beside an intercept", away.clone(), b.clone(), intercept, Solved);
    add("offsets of 1e9", away, b.clone(), plain, Honest);
    let refused = |word| Refused(word);
    add(
        "a constant beside an intercept",
        with(&g, |_| 5.0),
        b.clone(),
        intercept,
        refused("`6` is constant"),
    );
    let shaky = with(&g, |i| if i % 2 == 0 { 0.1 + 0.2 } else { 0.3 });
    add("a constant but for rounding", shaky, b.clone(), intercept, refused("`6` is constant"));
    add("a zero column", with(&g, |_| 0.0), b.clone(), plain, refused("`6` is zero"));
    add("a column twice", with(&g, |i| g.get(i, 0)), b.clone(), plain, refused("`6` depends on `1`"));
    add("a doubled column", with(&g, |i| 2.0 * g.get(i, 1)), b.clone(), plain, refused("`6` depends on `2`"));
    let sum = with(&g, |i| g.get(i, 0) + g.get(i, 1));
    add("a sum of columns", sum, b.clone(), plain, refused("`6` depends on `1`, `2`"));
    let classes = |k: usize| move |i: usize| f64::from(u8::from(i % 3 == k));
    let onehot = with(&with(&with(&g, classes(0)), classes(1)), classes(2));
    let named = refused("`8` depends on `6`, `7`");
    add("all classes beside an intercept", onehot.clone(), b.clone(), intercept, named);
    add("all classes", onehot, b.clone(), plain, Solved);
    let draws = Stream::new(9).normals(300);
    let near = |gap: f64| with(&g, |i| g.get(i, 0) + gap * draws[i]);
    add("columns that differ by 1e-6", near(1e-6), b.clone(), plain, Solved);
    add("columns that differ by 1e-14", near(1e-14), b.clone(), plain, refused("`6` depends on `1`"));
    add(
        "rank 1",
        Matrix::from_fn(200, 4, |i, _| draws[i]),
        draws[..200].to_vec(),
        plain,
        refused("rank 1 of 4"),
    );
    add("rank 0", Matrix::zeros(50, 3), draws[..50].to_vec(), plain, refused("rank 0 of 3"));
    // Shapes and ends.
    add("one entry", Matrix::from_rows(&[&[3.0]]), vec![6.0], plain, Solved);
    add("one column", normals(100, 1, 8), draws[..100].to_vec(), plain, Solved);
    add(
        "one row",
        Matrix::from_rows(&[&[1.0, 2.0, 3.0]]),
        vec![6.0],
        plain,
        refused("more columns than rows"),
    );
    add("wide", normals(5, 9, 8), draws[..5].to_vec(), plain, refused("more columns than rows"));
    add("square", conditioned(8, 8, 10.0), draws[..8].to_vec(), plain, Honest);
    add("nothing on the right", g.clone(), vec![0.0; 300], plain, Solved);
    add("not a number", changed((3, 2), f64::NAN), b.clone(), plain, refused("NaN"));
    add("infinite", changed((3, 2), f64::INFINITY), b.clone(), plain, refused("inf"));
    all
}

/// Whether x is a solution, by a reference that knows nothing of `solve`: Householder QR after scaling and centring.
fn right(system: &System, x: &[f64]) -> Result<(), String> {
    let (a, m) = (&system.a, system.a.rows());
    let centre = !system.flags.is_empty();
    let means: Vec<f64> = (0..a.cols())
        .map(|j| {
            if centre {
                a.get(0, j) + (0..m).map(|i| a.get(i, j) - a.get(0, j)).sum::<f64>() / m as f64
            } else {
                0.0
            }
        })
        .collect();
    let mut design = Matrix::from_fn(m, a.cols(), |i, j| a.get(i, j) - means[j]);
    let mut x = x.to_vec();
    if centre {
        design = with(&design, |_| 1.0);
        let last = x.len() - 1;
        x[last] += (0..last).map(|j| x[j] * means[j]).sum::<f64>();
    }
    let lengths: Vec<f64> = (0..design.cols()).map(|j| linalg::norm(design.column(j))).collect();
    let unit = Matrix::from_fn(m, design.cols(), |i, j| design.get(i, j) / lengths[j]);
    let size = linalg::norm(&system.b).max(f64::MIN_POSITIVE);
    let b = linalg::scale(1.0 / size, &system.b);
    let expected = linalg::least_squares(&unit, &b);
    let found: Vec<f64> = x.iter().zip(&lengths).map(|(x, length)| x / size * length).collect();
    let gap = linalg::sub(&found, &expected);
    let excess = linalg::norm(&linalg::mat_vec(&unit, &gap));
    let residual = linalg::norm(&linalg::sub(&linalg::mat_vec(&unit, &expected), &b));
    let rounding = 1e-13 * (1.0 + linalg::norm(&expected));
    // Means are known to rounding only, and so is what is left of a column without it.
    let rounding = rounding + if centre { 1e-6 * residual } else { 0.0 };
    let known = gap.iter().zip(&expected).all(|(gap, x)| gap.abs() <= 1e-8 * x.abs());
    match excess <= 2e-4 * residual + rounding || known {
        true => Ok(()),
        false => Err(format!("excess {excess:e}, residual {residual:e}: {found:?} for {expected:?}")),
    }
}

#[test]
fn hostile_systems_are_solved_rightly_or_not_at_all() {
    let (systems, mut silent) = (systems(), Vec::new());
    assert!(systems.len() >= 40, "{}", systems.len());
    let path = |name: &str| scratch(name).to_str().unwrap().to_string();
    for (k, system) in systems.iter().enumerate() {
        let (a, b) = (path(&format!("hostile-{k}.npy")), path(&format!("hostile-{k}-b.npy")));
        let (rows, cols) = (system.a.rows(), system.a.cols());
        write_npy(a.as_ref(), rows, cols, system.a.row_major()).unwrap();
        write_npy(b.as_ref(), rows, 1, &system.b).unwrap();
        for program in PROGRAMS {
            let args = [&["solve", program, "--matrix", &a, "--rhs", &b, "--json"], system.flags].concat();
            let said = rl4rla(&args);
            let who = format!("{}, {program}", system.name);
            match (said.code, system.fate) {
                (0, _) => {
                    let answer = said.json();
                    assert_eq!(answer["converged"], true, "{who}");
                    let values = answer["coefficients"].as_array().unwrap();
                    let x: Vec<f64> = values.iter().map(|value| value["value"].as_f64().unwrap()).collect();
                    if let Err(why) = right(system, &x) {
                        silent.push(format!("{who}: {why}"));
                    }
                    assert!(!matches!(system.fate, Refused(_)), "{who} was solved");
                }
                (1, Refused(_)) => panic!("{who}: {said:?}"),
                (1, fate) => {
                    assert!(said.err.contains("Not converged"), "{who}: {said:?}");
                    assert_eq!(said.json()["converged"], false, "{who}");
                    assert!(fate == Honest || program != PROGRAMS[0], "{who}: {}", said.err);
                }
                (2, Refused(word)) => assert!(said.err.contains(word), "{who}: {}", said.err),
                _ => assert!(program != PROGRAMS[0], "{who}: {said:?}"),
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}
