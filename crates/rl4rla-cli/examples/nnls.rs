//! Nonnegative least squares as a task of one's own, in one file; `docs/new-task.md` goes through it.
//!
//! `cargo run --release --example nnls` discovers projected gradient descent. With arguments it is the whole `rl4rla`
//! command, with this task in it: `cargo run --release --example nnls -- show projected-gradient`.
#![allow(non_snake_case)]

use rl4rla::curriculum::{Curriculum, discover};
use rl4rla::discovery::{Approach, Context};
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{self, Choice, Family, FamilyError, FamilyInfo, Instance, InstanceError, Task};
use rl4rla::program::{Compute, Expr, Form, Operator, Pattern, Size, Update, equation};
use rl4rla::rng::Stream;
use rl4rla::search::Method;
use std::process::ExitCode;

/// Nonnegative least squares.
pub struct Nnls;

impl Task for Nnls {
    fn name(&self) -> &'static str {
        "nnls"
    }

    fn doc(&self) -> &'static str {
        "nonnegative least squares: find x ≥ 0 that makes ‖Ax − b‖ least"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    /// ‖Ax − b‖² exceeds its least value by ‖A(x − x*)‖² + 2gᵀx with g = Aᵀ(Ax* − b), because gᵀx* = 0. For feasible x
    /// neither term is negative, so nothing cancels however close x is to x*. The excess is the root of that.
    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        // Written so that NaN is infeasible too.
        if !x.iter().all(|&x| x >= 0.0) {
            return (1.0, 1.0);
        }
        let g = gradient(&instance.A, &instance.b, &instance.x_star);
        // Where x* > 0, g is 0 up to rounding, whose square root would not be small.
        let bound = (0..x.len()).filter(|&j| instance.x_star[j] == 0.0);
        let uphill: f64 = bound.map(|j| 2.0 * g[j].max(0.0) * x[j]).sum();
        (instance.residual(x), instance.excess(x).hypot(uphill.sqrt() / length(&instance.b)))
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        let spectrum = linalg::singular_values(&A).ok_or(InstanceError::NoSolution)?;
        let x = solve(&A, &b).ok_or(InstanceError::NoSolution)?;
        let least = linalg::norm(&linalg::sub(&linalg::mat_vec(&A, &x), &b)) / length(&b);
        Ok(Instance::posed(&Nnls, A, b, x, least, spectrum))
    }

    /// A projection is not a descent direction: the program computes the next x itself.
    fn update(&self) -> Update {
        Update::Assign
    }

    fn operators(&self) -> &'static [Operator] {
        &OPERATORS
    }

    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        &[("projected-gradient", PROJECTED_GRADIENT)]
    }

    fn measures(&self) -> [&'static str; 2] {
        ["‖Ax − b‖/‖b‖", "√(‖Ax − b‖² − ‖Ax* − b‖²)/‖b‖"]
    }

    /// Accuracy and cost count equally; steady decay and a preconditioner are not rewarded.
    fn weights(&self) -> [f64; 4] {
        [1.0, 0.0, 1.0, 0.0]
    }

    /// x ≥ 0 does not involve A and b, and the measure depends only on their inner products.
    fn is_isometric(&self) -> bool {
        true
    }
}

static OPERATORS: [Operator; 1] = [Operator {
    name: "VEC_POSITIVE",
    doc: "max(v, 0), entry by entry",
    forms: &[Form { operands: &[Pattern::Vector(Size::A)], result: Pattern::Vector(Size::A) }],
    formula: |_, v, _| Expr::call("max", "\\max", v.into_iter().chain([Expr::symbol("0")]).collect()),
    compute: Compute::Pure(|v| Ok(v[0].vector().iter().map(|v| v.max(0.0)).collect::<Vec<f64>>().into())),
    ..Operator::PLAIN
}];

const PROJECTED_GRADIENT: &str = "\
title: Projected Gradient Descent
about: A step down the gradient, then to the nearest x that has no negative entry.
reference: Goldstein (1964); Levitin and Polyak (1966)
family: nnls
update: assign
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = SCALAR_VEC_MUL(eta, v1)
  v1 = VEC_VEC_SUB(x, v1)
  v1 = VEC_POSITIVE(v1)";

static FAMILIES: [FamilyInfo; 1] = [FamilyInfo {
    name: "nnls",
    doc: "tall, condition 3 unless asked otherwise; b = Ax₊ + noise, where half of x₊ ≥ 0 is 0",
    task: &Nnls,
    rows: 500,
    cols: 10,
    square: false,
    options: &[Choice::Condition],
    numbers: &[],
    draw,
}];

/// A = UΣV with ‖A‖₂ = 1, and b = Ax₊ + noise of the same length. Every other entry of x₊ is 0, and the noise moves the
/// unconstrained solution to either side of it, so that the constraint matters.
fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let (m, n) = (family.rows, family.cols);
    let orthonormal = |label, rows, cols| {
        let normals = stream.derive(label, 0).normals(rows * cols);
        linalg::thin_q(&Matrix::from_fn(rows, cols, |i, j| normals[i * cols + j]))
    };
    let ratio = family.condition.unwrap_or(3.0).powf(-1.0 / (n.max(2) - 1) as f64);
    let sigma: Vec<f64> = (0..n).map(|j| ratio.powi(j as i32)).collect();
    let right = linalg::scale_rows(&sigma, &orthonormal("right", n, n));
    let A = linalg::matmul(&orthonormal("left", m, n), &right);
    let normals = stream.derive("solution", 0).normals(n);
    let x: Vec<f64> = (0..n).map(|j| if j % 2 == 0 { normals[j].abs() } else { 0.0 }).collect();
    let (signal, noise) = (linalg::mat_vec(&A, &x), stream.derive("noise", 0).normals(m));
    let b = linalg::add(&signal, &linalg::scale(length(&signal) / length(&noise), &noise));
    let why = "the active-set method did not end";
    Nnls.pose(A, b).map_err(|_| FamilyError::NoSolution { kind: family.kind, why })
}

/// ‖v‖, and for 0 something to divide 0 by.
fn length(v: &[f64]) -> f64 {
    linalg::norm(v).max(f64::MIN_POSITIVE)
}

/// Aᵀ(Ax − b), half the gradient of ‖Ax − b‖².
fn gradient(A: &Matrix, b: &[f64], x: &[f64]) -> Vec<f64> {
    linalg::vec_mat(&linalg::sub(&linalg::mat_vec(A, x), b), A)
}

/// The x with x ≥ 0, g ≥ 0, and g = 0 where x > 0, or nothing if it is not found. An entry is free or bound to 0; as long
/// as a free one is negative or a bound one would gain by growing, the last such entry changes sides. With independent
/// columns that ends (Murty 1974).
pub fn solve(A: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let (n, size, mut free) = (A.cols(), linalg::norm(A.row_major()), vec![true; A.cols()]);
    for _ in 0..100 * n {
        let columns: Vec<usize> = (0..n).filter(|&j| free[j]).collect();
        let part = Matrix::from_fn(A.rows(), columns.len(), |i, j| A.get(i, columns[j]));
        let mut x = vec![0.0; n];
        columns.iter().zip(linalg::least_squares(&part, b)).for_each(|(&j, value)| x[j] = value);
        let (g, zero) = (gradient(A, b, &x), 1e-13 * size * (size * linalg::norm(&x) + linalg::norm(b)));
        match (0..n).rfind(|&j| x[j] < 0.0 || (!free[j] && g[j] < -zero)) {
            Some(j) => free[j] = !free[j],
            None => return columns.iter().all(|&j| g[j].abs() <= zero).then_some(x),
        }
    }
    None
}

/// From the gradient of least squares three instructions are missing. The step is the best for condition 3, 2/(1 + 1/9).
pub const CURRICULUM: &str = r#"
title = "Projected gradient descent"
about = "Least squares under a constraint: the gradient alone leaves the feasible set."
start = "ls-gd"
[[stage]]
name = "projected-gradient"
about = "The gradient is given; the step and the way back to x ≥ 0 are not."
edits = 3
open = ["iteration"]
registers = ["v1"]
iterations = 30
step = 1.8
family = { kind = "nnls" }
target = "projected-gradient"
"#;

/// Without arguments the discovery above, with arguments the whole command.
pub fn main() -> ExitCode {
    problem::register(&Nnls).expect("no other task has these names");
    if std::env::args_os().len() > 1 {
        return rl4rla_cli::main();
    }
    let curriculum = Curriculum::parse("nnls", CURRICULUM).expect("the curriculum above is valid");
    let discovery = discover(&curriculum, &Approach::new(Method::Best), 0, &mut Context::default());
    let result = &discovery.expect("the family can be drawn").stages[0];
    let Some(program) = result.program() else { return ExitCode::FAILURE };
    let equation = equation(program, curriculum.stages[0].0.grammar.signature).expect("it ran");
    let name = result.judgement.as_ref().and_then(|judgement| judgement.matched);
    println!("{}\n\n{program}", equation.text);
    println!("this is {}; reward {:.3}", name.unwrap_or("not in the catalogue"), result.reward());
    ExitCode::from(u8::from(!result.found()))
}
