//! A task made outside the crate is solved to a tolerance, from a file and by means, where its hooks allow it.
#![allow(non_snake_case)]

use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{FamilyError, FamilyInfo, Instance, InstanceError, Solving, Task, register};
use rl4rla::program::{Compute, Document, Entry, Expr, Form, Operator, Pattern, Size, Update};
use rl4rla::rng::Stream;
use rl4rla::solve::{Problem, SolveError, SolveOptions, StepSize, Termination, Unsupported, solve};
use std::sync::Once;

/// min ‖Ax − b‖ over x ≥ 0; with hooks or without.
struct Nonnegative {
    name: &'static str,
    solving: Solving,
}

static PLAIN: Nonnegative = Nonnegative { name: "plain-nonnegative", solving: Solving::CAUTIOUS };
static HOOKED: Nonnegative = Nonnegative {
    name: "nonnegative",
    solving: Solving { scales_columns: true, streams: true, averages: true, ..Solving::CAUTIOUS },
};

impl Task for Nonnegative {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        "find x ≥ 0 that makes ‖Ax − b‖ least"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        if self.name == "nonnegative" { &FAMILIES[..1] } else { &FAMILIES[1..] }
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let loss = if x.iter().all(|x| *x >= 0.0) { instance.residual(x) } else { 1.0 };
        (loss, loss)
    }

    fn pose(&self, _: Matrix, _: Vec<f64>) -> Result<Instance, InstanceError> {
        panic!("nobody solves it beforehand")
    }

    fn pose_unsolved(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        Ok(Instance::unsolved(if self.name == "nonnegative" { &HOOKED } else { &PLAIN }, A, b))
    }

    /// The part of the gradient that points to better x that are allowed, in units of its size at 0.
    fn optimality(&self, instance: &Instance, x: &[f64]) -> Result<f64, &'static str> {
        let (_, g) = linalg::residual_and_gradient(&instance.A, x, &instance.b);
        let open = x.iter().zip(&g).map(|(x, g)| if *x > 0.0 { g.abs() } else { (-g).max(0.0) });
        Ok(open.fold(0.0, f64::max) / linalg::norm(&linalg::vec_mat(&instance.b, &instance.A)))
    }

    fn update(&self) -> Update {
        Update::Assign
    }

    fn operators(&self) -> &'static [Operator] {
        &OPERATORS
    }

    fn solving(&self) -> Solving {
        self.solving
    }
}

static OPERATORS: [Operator; 1] = [Operator {
    name: "VEC_POSITIVE_PART",
    doc: "max(v, 0), entry by entry",
    forms: &[Form { operands: &[Pattern::Vector(Size::A)], result: Pattern::Vector(Size::A) }],
    formula: |_, v, _| Expr::call("max", "\\max", v.into_iter().chain([Expr::symbol("0")]).collect()),
    compute: Compute::Pure(|v| Ok(v[0].vector().iter().map(|v| v.max(0.0)).collect::<Vec<f64>>().into())),
    ..Operator::PLAIN
}];

static FAMILIES: [FamilyInfo; 2] = [
    FamilyInfo { name: "nonnegative", task: &HOOKED, ..ROW },
    FamilyInfo { name: "plain-nonnegative", task: &PLAIN, ..ROW },
];

const ROW: FamilyInfo = FamilyInfo {
    name: "",
    doc: "none is drawn",
    task: &PLAIN,
    rows: 20,
    cols: 2,
    square: false,
    options: &[],
    numbers: &[],
    draw: |family, _| Err(FamilyError::NoSolution { kind: family.kind, why: "none is drawn" }),
};

/// Projected gradient descent for a task, on all rows or on a sample.
fn projected(family: &str, sampled: bool) -> Document {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| [&HOOKED, &PLAIN].into_iter().for_each(|task| register(task).unwrap()));
    let sample = if sampled { " A, b = SUBSAMPLING(p1)\n" } else { "" };
    let text = format!(
        "family: {family}\nupdate: assign\niteration:\n{sample} v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n \
         v1 = VEC_MAT_MUL(v1, A)\n v1 = SCALAR_VEC_MUL(eta, v1)\n v1 = VEC_VEC_SUB(x, v1)\n v1 = VEC_POSITIVE_PART(v1)\n"
    );
    text.parse().unwrap()
}

/// Columns of different sizes, half of which the constraint binds.
fn data(rows: usize) -> (Vec<f64>, Vec<f64>) {
    let draws = Stream::new(3).normals(5 * rows);
    let a: Vec<f64> = (0..4 * rows).map(|k| draws[k] * [1.0, 50.0, 0.02, 3.0][k % 4]).collect();
    let x = [2.0, -0.1, 40.0, -1.0];
    let product = |i: usize| (0..4).map(|j| a[4 * i + j] * x[j]).sum::<f64>();
    let b = (0..rows).map(|i| product(i) + draws[4 * rows + i]).collect();
    (a, b)
}

#[test]
fn hooks_give_tolerance_and_data_from_a_file() {
    let rows = 2000;
    let (a, b) = data(rows);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("solve-nonnegative");
    std::fs::write(&path, a.iter().flat_map(|a| a.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let in_file = || Matrix::in_file(std::fs::File::open(&path).unwrap(), rows, 4).unwrap();
    let options = SolveOptions::default();
    let program = projected("nonnegative", false);
    let memory = Problem::from_rows(rows, 4, a.clone(), b.clone()).unwrap().for_task(&HOOKED);
    let memory = solve(&program, memory, &options).unwrap();
    let file = solve(&program, Problem::new(&HOOKED, in_file(), b.clone()), &options).unwrap();
    assert_eq!(memory.ended, Termination::Tolerance);
    assert_eq!((memory.estimate(), &memory.residuals), (file.estimate(), &file.residuals));
    let x = memory.into_x().unwrap();
    assert!(x[0] > 1.5 && x[1] == 0.0 && x[2] > 30.0 && x[3] == 0.0, "{x:?}");
    // Without hooks the same file is refused, and the same numbers in memory are not scaled.
    let plain = projected("plain-nonnegative", false);
    let refused = solve(&plain, Problem::new(&PLAIN, in_file(), b.clone()), &options).unwrap_err();
    assert_eq!(refused, SolveError::Unsupported { task: "plain-nonnegative", what: Unsupported::File });
    assert!(refused.to_string().contains("bring the data as a matrix in memory"), "{refused}");
    let slow = solve(&plain, Problem::from_rows(rows, 4, a, b).unwrap().for_task(&PLAIN), &options).unwrap();
    assert!(!slow.is_converged() && slow.into_x().is_err());
}

#[test]
fn hooks_give_means_of_samples() {
    let (a, b) = data(2000);
    let problem = || Problem::from_rows(2000, 4, &a[..], &b[..]).unwrap().for_task(&HOOKED);
    let (program, step) = (projected("nonnegative", true), StepSize::Fixed(0.3));
    let gradient = |average| {
        let options = SolveOptions { average, step, iterations: 400, ..SolveOptions::default() };
        let solution = solve(&program, problem(), &options).unwrap();
        assert_eq!((solution.iterations, solution.residuals.len()), (400, 401));
        assert_eq!(solution.residuals[400], solution.residual);
        solution.gradient
    };
    assert!(gradient(true) < 0.3 * gradient(false), "{} {}", gradient(true), gradient(false));
    let plain = problem().for_task(&PLAIN);
    let options = SolveOptions { average: true, ..SolveOptions::default() };
    let refused = solve(&projected("plain-nonnegative", true), plain, &options).unwrap_err();
    assert_eq!(refused, SolveError::Unsupported { task: "plain-nonnegative", what: Unsupported::Average });
}

#[test]
fn fifteen_lines_solve_a_system() -> Result<(), Box<dyn std::error::Error>> {
    let a = vec![1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0];
    let b = vec![1.0, 3.0, 5.0, 7.0];
    let program = &Entry::named("precond-gd").ok_or("no such program")?.document;
    let x = solve(program, Problem::from_rows(4, 2, a, b)?, &SolveOptions::default())?.into_x()?;
    assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 2.0).abs() < 1e-9);
    Ok(())
}
