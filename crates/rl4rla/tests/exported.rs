//! Exported Rust that is compiled here: the files in `exported/` are what is exported, and called with nothing but their
//! defaults they solve problems that were not made for them, or say that they did not.
#![allow(non_snake_case, dead_code, clippy::op_ref, clippy::type_complexity, clippy::too_many_arguments)]

use faer::{Col, ColRef, Mat, Scale};
use rl4rla::execute::{RunSettings, run};
use rl4rla::export::{Defaults, Export, Language, Provenance};
use rl4rla::linalg::Matrix;
use rl4rla::problem::{Eigenvalue, Instance, Linear, Logistic, Task};
use rl4rla::program::{Document, Entry, Signature};
use rl4rla::rng::Stream;

#[rustfmt::skip]
#[path = "exported/adaptive_momentum.rs"]
mod adaptive_momentum;
#[rustfmt::skip]
#[path = "exported/heavy_ball.rs"]
mod heavy_ball;
#[rustfmt::skip]
#[path = "exported/ls_gd.rs"]
mod ls_gd;
#[rustfmt::skip]
#[path = "exported/newton.rs"]
mod newton;
#[rustfmt::skip]
#[path = "exported/power_iteration.rs"]
mod power_iteration;
#[rustfmt::skip]
#[path = "exported/sgd.rs"]
mod sgd;
#[rustfmt::skip]
#[path = "exported/sketched_pcg_warm.rs"]
mod sketched_pcg_warm;
#[rustfmt::skip]
#[path = "exported/sketched_refinement.rs"]
mod sketched_refinement;
#[rustfmt::skip]
#[path = "exported/sketched_precond_gd_factored.rs"]
mod sketched_precond_gd_factored;

/// Gradient descent with a memory in a register, of which the catalogue has none: m1 = 0.5·m1 + g.
const HEAVY_BALL: &str = "\
title: Heavy ball
family: low-cond

setup:
  R1 = SKETCH(A)
  R1 = HHQR(R1)
  a1 = VEC_VEC_DOT(b, b)
  v2 = VEC_VEC_ADD(b, b)
  a2 = VEC_VEC_DOT(b, v2)
  a1 = SCALAR_DIV(a1, a2)

iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = TRIANGULAR_SOLVE(v1, R1)
  v1 = TRIANGULAR_SOLVE(R1, v1)
  m1 = SCALAR_VEC_MUL(a1, m1)
  m1 = VEC_VEC_ADD(m1, v1)
  v1 = SCALAR_VEC_MUL(a1, m1)
";

fn exported(name: &str, document: &Document, signature: Signature) -> String {
    let origin = vec![("test".to_string(), "exported.rs".to_string())];
    let provenance = Provenance { name: name.into(), origin, ..Provenance::default() };
    let export = Export::new(document, signature, Defaults::default(), provenance).unwrap();
    export.write(Language::named("rust").unwrap()).unwrap()
}

/// Set `RL4RLA_WRITE_EXPORTED` to write the files anew.
#[test]
fn the_files_are_what_is_exported() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exported");
    let check = |name: &str, text: String| {
        let path = format!("{folder}/{}.rs", name.replace('-', "_"));
        if std::env::var_os("RL4RLA_WRITE_EXPORTED").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{path}");
    };
    for name in [
        "ls-gd",
        "newton",
        "power-iteration",
        "sgd",
        "sketched-precond-gd-factored",
        "adaptive-momentum",
        "sketched-pcg-warm",
        "sketched-refinement",
    ] {
        let entry = Entry::named(name).unwrap();
        check(name, exported(name, &entry.document, entry.signature()));
    }
    let document: Document = HEAVY_BALL.parse().unwrap();
    check("heavy-ball", exported("heavy-ball", &document, document.signature().unwrap()));
}

/// A·1 + noise = b with normal entries, every column in a unit of its own.
fn system(rows: usize, cols: usize, noise: f64, unit: fn(usize) -> f64) -> Instance {
    let draws = Stream::new(15).normals(rows * (cols + 1));
    let entries: Vec<f64> = (0..rows * cols).map(|k| draws[k] * unit(k % cols)).collect();
    let row =
        |i: usize| entries[i * cols..(i + 1) * cols].iter().sum::<f64>() + noise * draws[rows * cols + i];
    let b = (0..rows).map(row).collect();
    Linear.pose(Matrix::from_row_major(rows, cols, entries), b).unwrap()
}

fn matrix(instance: &Instance) -> Mat<f64> {
    Mat::from_fn(instance.rows(), instance.cols(), |i, j| instance.A.get(i, j))
}

fn column(entries: &[f64]) -> Col<f64> {
    Col::from_fn(entries.len(), |i| entries[i])
}

fn excess(instance: &Instance, x: ColRef<'_, f64>) -> f64 {
    instance.measure(&x.iter().copied().collect::<Vec<f64>>()).1
}

/// Calls a function for least squares with its defaults: its solution, and how far that is from the best.
macro_rules! solved {
    ($name:ident, $instance:expr $(, $draws:expr)?) => {{
        let (instance, A) = ($instance, matrix($instance));
        let (b, zero) = (column(&instance.b), Col::zeros(instance.cols()));
        let options = $name::Options::for_size(instance.rows(), instance.cols());
        let found = $name::$name(A.as_ref(), b.as_ref(), zero.as_ref(), &options, $($draws,)? |_| ());
        let excess = excess(instance, found.x.as_ref());
        (found, excess)
    }};
}

#[test]
fn a_gaussian_system_is_solved_with_the_defaults_of_the_code() {
    let gaussian = system(10_000, 50, 1.0, |_| 1.0);
    let (found, excess) =
        solved!(sketched_precond_gd_factored, &gaussian, &mut sketched_precond_gd_factored::Random(1));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
    assert!(found.iterations < 80 && (0.5..1.0).contains(&found.step), "{found:?}");
    let (found, excess) = solved!(heavy_ball, &gaussian, &mut heavy_ball::Random(1));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
    let (found, excess) = solved!(ls_gd, &gaussian);
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
    let (found, excess) = solved!(adaptive_momentum, &gaussian, &mut adaptive_momentum::Random(1));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
}

#[test]
fn what_looks_back_and_starts_warm_takes_the_iterations_that_it_takes_here() {
    // s = 8n: the error falls by √(1/8) in an iteration.
    let gaussian = system(10_000, 50, 1.0, |_| 1.0);
    let (A, b) = (matrix(&gaussian), column(&gaussian.b));
    let options = sketched_pcg_warm::Options::for_size(10_000, 50);
    let mut excesses = Vec::new();
    let found = sketched_pcg_warm::sketched_pcg_warm(
        A.as_ref(),
        b.as_ref(),
        &sketched_pcg_warm::Options { step: Some(1.0), ..options },
        &mut sketched_pcg_warm::Random(1),
        |x| excesses.push(excess(&gaussian, x)),
    );
    assert!(found.converged && found.iterations < 28, "{found:?}");
    let settings = RunSettings { iterations: 10, ..RunSettings::for_size(10_000, 50) };
    let program = &Entry::named("sketched-pcg-warm").unwrap().document.program;
    let ours = run(program, &gaussian, &settings, &Stream::new(2)).unwrap().excesses;
    // Another sketch, and the same method.
    for (ours, theirs) in ours[1..].iter().zip(&excesses) {
        assert!((0.2..5.0).contains(&(ours / theirs)), "{ours} {theirs}");
    }
    // A gradient that is refreshed every ten iterations.
    let options = sketched_refinement::Options {
        step: Some(0.75),
        mu: 0.125,
        ..sketched_refinement::Options::for_size(10_000, 50)
    };
    let random = &mut sketched_refinement::Random(1);
    let found = sketched_refinement::sketched_refinement(A.as_ref(), b.as_ref(), &options, random, |_| ());
    assert!(found.converged && options.every == 10 && found.iterations <= 30, "{found:?}");
    // The momentum of an iteration that is told its step.
    let options =
        adaptive_momentum::Options { step: Some(0.75), ..adaptive_momentum::Options::for_size(10_000, 50) };
    let zero = Col::zeros(50);
    let random = &mut adaptive_momentum::Random(1);
    let found =
        adaptive_momentum::adaptive_momentum(A.as_ref(), b.as_ref(), zero.as_ref(), &options, random, |_| ());
    assert!(found.converged && found.iterations < 32, "{found:?}");
}

#[test]
fn what_does_not_converge_says_so_and_is_no_worse_than_the_start() {
    // Columns from 10⁻⁶ to 10⁶: hopeless for gradient descent, and no matter to a preconditioner.
    let units = system(2000, 7, 1.0, |j| 100_f64.powi(j as i32 - 3));
    let (found, excess) = solved!(ls_gd, &units);
    assert!(!found.converged && excess > 1e-4 && found.gradient > 1e-10, "{excess} {found:?}");
    let start = units.measure(&units.start).1;
    assert!(excess <= start, "{excess} {start}");
    let (found, excess) =
        solved!(sketched_precond_gd_factored, &units, &mut sketched_precond_gd_factored::Random(1));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
    // Samples of noisy equations never settle.
    let (found, excess) = solved!(sgd, &system(2000, 7, 1.0, |_| 1.0), &mut sgd::Random(1));
    assert!(!found.converged && excess < 0.2, "{excess} {found:?}");
    let (found, excess) = solved!(sgd, &system(2000, 7, 0.0, |_| 1.0), &mut sgd::Random(1));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
}

/// Twenty normal columns, and once more the first, with a difference of this size that alone explains b.
fn nearly_twice(difference: f64) -> Instance {
    let (rows, cols) = (2000, 21);
    let draws = Stream::new(8).normals(rows * cols);
    let entry = |i: usize, j: usize| match j {
        20 => draws[i] + difference * draws[20 * rows + i],
        _ => draws[j * rows + i],
    };
    Linear.pose(Matrix::from_fn(rows, cols, entry), draws[20 * rows..].to_vec()).unwrap()
}

#[test]
fn a_small_gradient_is_no_solution_where_columns_nearly_depend_on_each_other() {
    for difference in [1e-9, 1e-11] {
        let twice = nearly_twice(difference);
        let (found, excess) = solved!(ls_gd, &twice);
        assert!(!found.converged && found.gradient < 1e-8 && excess > 0.9, "{excess} {found:?}");
        let (found, excess) =
            solved!(sketched_precond_gd_factored, &twice, &mut sketched_precond_gd_factored::Random(1));
        assert!(found.converged && found.iterations > 0 && excess < 1e-4, "{excess} {found:?}");
    }
    // To working precision that is the same column twice.
    assert!(!solved!(ls_gd, &nearly_twice(0.0)).0.converged);
    // A column of zeros is no obstacle.
    let (found, excess) = solved!(ls_gd, &system(1000, 5, 1.0, |j| if j == 2 { 0.0 } else { 1.0 }));
    assert!(found.converged && excess < 1e-9, "{excess} {found:?}");
}

#[test]
fn the_scale_of_data_does_not_make_a_solution() {
    let (options, start) = (power_iteration::Options::for_size(3, 3), column(&[1.0, -0.5, 0.7]));
    for scale in [1.0, 1e-163, 1e-200, 1e160, 1e200] {
        let A = Mat::from_fn(3, 3, |i, j| if i == j { scale * 0.1_f64.powi(i as i32) } else { 0.0 });
        let found = power_iteration::power_iteration(A.as_ref(), start.as_ref(), &options, |_| ());
        assert!(found.converged && (found.eigenvalue / scale - 1.0).abs() < 1e-12, "{scale} {found:?}");
    }
    // Where products of the entries vanish, so does the gradient.
    let unit = system(100, 3, 1.0, |_| 1.0);
    let (A, b, zero) = (matrix(&unit), column(&unit.b), Col::zeros(3));
    let options = ls_gd::Options::for_size(100, 3);
    for (scale, converged) in [(1.0, true), (1e-30, true), (1e-170, false), (1e-200, false)] {
        let (A, b) = (Scale(scale) * &A, Scale(scale) * &b);
        let found = ls_gd::ls_gd(A.as_ref(), b.as_ref(), zero.as_ref(), &options, |_| ());
        assert_eq!(found.converged, converged, "{scale} {found:?}");
    }
}

#[test]
fn nothing_to_do_is_done_and_nearly_consistent_systems_converge() {
    for noise in [0.0, 1e-12, 1e-9, 1e-7, 1e-5] {
        let nearly = system(1000, 10, noise, |_| 1.0);
        let (found, excess) =
            solved!(sketched_precond_gd_factored, &nearly, &mut sketched_precond_gd_factored::Random(2));
        assert!(found.converged && excess < 1e-9, "{noise} {excess} {found:?}");
    }
    let mut zero = system(100, 3, 1.0, |_| 1.0);
    zero.b = vec![0.0; 100];
    let (found, _) = solved!(ls_gd, &zero);
    assert!(found.converged && found.iterations == 0, "{found:?}");
}

#[test]
fn other_tasks_converge_too() {
    let (rows, cols) = (2000, 6);
    let draws = Stream::new(3).normals(rows * (cols + 1));
    let labels = (0..rows).map(|i| (draws[i * cols] + 2.0 * draws[rows * cols + i]).signum()).collect();
    let features = Matrix::from_fn(rows, cols, |i, j| draws[i * cols + j] * 10_f64.powi(j as i32 - 3));
    let fit = Logistic.pose(features, labels).unwrap();
    let (found, excess) = solved!(newton, &fit);
    assert!(found.converged && excess < 1e-12 && found.iterations < 12, "{excess} {found:?}");

    let draws = Stream::new(4).normals(30 * 60);
    let product = |i: usize, j: usize| (0..60).map(|k| draws[k * 30 + i] * draws[k * 30 + j]).sum();
    let spectrum = Eigenvalue.pose(Matrix::from_fn(30, 30, product), vec![]).unwrap();
    let options = power_iteration::Options::for_size(30, 30);
    let (A, start) = (matrix(&spectrum), column(&spectrum.start));
    let found = power_iteration::power_iteration(A.as_ref(), start.as_ref(), &options, |_| ());
    assert!(found.converged && excess_of(&spectrum, &found.x) < 1e-12, "{found:?}");
    assert!((found.eigenvalue / spectrum.spectrum()[0] - 1.0).abs() < 1e-12, "{found:?}");
    let few = power_iteration::Options { iterations: 3, ..options };
    assert!(!power_iteration::power_iteration(A.as_ref(), start.as_ref(), &few, |_| ()).converged);
}

fn excess_of(instance: &Instance, x: &Col<f64>) -> f64 {
    excess(instance, x.as_ref())
}
