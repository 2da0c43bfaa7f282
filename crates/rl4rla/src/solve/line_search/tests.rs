//! Every run ends with a solution or a reason why there is none.

use super::super::prepared::PreparedProblem;
use super::ROUNDING;
use crate::execute::Fault;
use crate::linalg::{self, Matrix};
use crate::problem::{Eigenvalue, Family, Forward, InstanceError, Linear, Logistic, Misfit, Task};
use crate::program::{Document, Entry};
use crate::rng::Stream;
use crate::solve::{
    Problem, RankDeficient, Solution, SolveError, SolveOptions, StepSize, Termination, solve,
};

fn named(name: &str) -> &'static Document {
    &Entry::named(name).unwrap().document
}

/// Labels of a logistic model whose columns have these units.
fn logistic(rows: usize, units: &[f64]) -> (Matrix, Vec<f64>) {
    let (stream, cols) = (Stream::new(7), units.len());
    let entries = stream.derive("A", 0).normals(rows * cols);
    let uniforms = stream.derive("b", 0).uniforms(rows);
    let label = |i: usize| {
        let z: f64 = (0..cols).map(|j| [1.0, -0.5][j % 2] * entries[i * cols + j]).sum();
        f64::from(u8::from(uniforms[i] < 1.0 / (1.0 + (-z).exp())))
    };
    let b = (0..rows).map(label).collect();
    (Matrix::from_row_major(rows, cols, (0..rows * cols).map(|k| entries[k] * units[k % cols]).collect()), b)
}

fn solved(
    name: &str,
    task: &'static dyn Task,
    (a, b): (Matrix, Vec<f64>),
    options: &SolveOptions,
) -> Solution {
    solve(named(name), Problem::new(task, a, b), options).unwrap()
}

#[test]
fn newton_takes_few_iterations_in_all_units() {
    for units in [[1.0; 4], [1e-5, 1.0, 30.0, 1e6]] {
        let data = logistic(2000, &units);
        let known = Logistic.pose(data.0.clone(), data.1.clone()).unwrap();
        for (name, most) in [("newton", 10), ("newton-sketch", 60)] {
            let found = solved(name, &Logistic, data.clone(), &SolveOptions::default());
            assert!(found.is_converged() && found.iterations <= most, "{name}: {:?}", found);
            let gap = linalg::sub(found.estimate(), &known.x_star);
            let off = gap.iter().zip(units).fold(0.0, |most: f64, (gap, unit)| most.max((gap * unit).abs()));
            assert!(off < 1e-8, "{name}: {off}");
        }
    }
}

#[test]
fn gradient_descent_finds_its_step_and_never_gets_worse() {
    for scale in [1e-4, 1.0, 1e4] {
        let data = logistic(2000, &[scale, 3.0 * scale]);
        let found = solved("logistic-gd", &Logistic, data, &SolveOptions::default());
        assert!(found.is_converged() && found.iterations < 300, "{scale}: {:?}", found);
        assert!(found.residuals.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + ROUNDING)));
    }
    // A run that hits the iteration limit says so.
    let few = SolveOptions { iterations: 4, ..SolveOptions::default() };
    let short = solved("logistic-gd", &Logistic, logistic(500, &[1.0, 1e4]), &few);
    assert!(!short.is_converged() && short.residual < 2f64.ln(), "{short:?}");
    let wild = SolveOptions { step: StepSize::Fixed(50.0), iterations: 20, ..SolveOptions::default() };
    let wild = solved("logistic-gd", &Logistic, logistic(500, &[1.0, 30.0]), &wild);
    assert!(!wild.is_converged(), "{wild:?}");
}

#[test]
fn separable_labels_are_not_solved() {
    let (a, _) = logistic(200, &[1.0, 2.0]);
    let b: Vec<f64> = (0..200).map(|i| f64::from(u8::from(a.get(i, 0) > 0.3 * a.get(i, 1)))).collect();
    for name in ["newton", "newton-sketch", "logistic-gd"] {
        let found = solved(name, &Logistic, (a.clone(), b.clone()), &SolveOptions::default());
        assert_eq!(found.ended, Termination::Blocked, "{name}");
        assert!(found.obstacle.as_ref().unwrap().contains("the labels are linearly separable"), "{found:?}");
    }
    // A column that is 1 only where the label is 1 separates some of the labels.
    let (a, b) = logistic(300, &[1.0]);
    let rare = |i: usize| b[i] == 1.0 && i < 12;
    let with =
        Matrix::from_fn(300, 2, |i, j| if j == 0 { a.get(i, 0) } else { f64::from(u8::from(rare(i))) });
    let found = solved("newton", &Logistic, (with, b), &SolveOptions::default());
    assert!(!found.is_converged(), "{found:?}");
    assert!(found.obstacle.as_ref().unwrap().contains("no minimum"), "{found:?}");
}

#[test]
fn the_optimum_at_the_start_takes_no_iteration() {
    let (a, b) = (Matrix::from_rows(&[&[1.0], &[1.0], &[2.0], &[2.0]]), vec![0.0, 1.0, 1.0, 0.0]);
    let found = solved("newton", &Logistic, (a, b), &SolveOptions::default());
    assert_eq!((found.is_converged(), found.iterations, found.estimate()), (true, 0, &[0.0][..]));
}

#[test]
fn an_eigenvector_is_told_from_what_a_sketch_makes_of_it() {
    let family =
        Family { condition: Some(100.0), ..Family::named("eigenvalue").unwrap() }.sized(Some(40), None);
    let instance = family.draw(&Stream::new(1)).unwrap();
    let data = || ((*instance.A).clone(), vec![]);
    let found = solved("power-iteration", &Eigenvalue, data(), &SolveOptions::default());
    assert!(found.is_converged() && found.iterations < 1000, "{found:?}");
    assert!((found.figures[0].1 - 1.0).abs() < 1e-9, "{:?}", found.figures);
    let options = SolveOptions { sketch_factor: 0.5, ..SolveOptions::default() };
    let sketched = solved("sketched-power-iteration", &Eigenvalue, data(), &options);
    assert!(!sketched.is_converged() && sketched.gradient > 0.01, "{sketched:?}");
    // The smallest eigenvalue has an eigenvector too.
    let inverse: Document =
        "family: eigenvalue\nupdate: assign\nsetup:\n R1 = MAT_INV(A)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n v1 = VEC_NORMALIZE(v1)\n"
            .parse()
            .unwrap();
    let problem = Problem::new(&Eigenvalue, (*instance.A).clone(), vec![]);
    let smallest = solve(&inverse, problem, &SolveOptions::default()).unwrap();
    assert!(!smallest.is_converged() && smallest.gradient > 0.5, "{smallest:?}");
}

#[test]
fn programs_of_other_tasks_are_refused_by_both_names() {
    let (a, b) = logistic(60, &[1.0, 1.0]);
    let linear = Problem::new(&Linear, a.clone(), b.clone());
    for (name, made_for) in
        [("newton", "logistic"), ("power-iteration", "eigenvalue"), ("logistic-forward", "logistic-forward")]
    {
        let SolveError::Run(refused) =
            solve(named(name), linear.clone(), &SolveOptions::default()).unwrap_err()
        else {
            panic!("{name} is refused before it runs")
        };
        assert_eq!(refused.fault, Fault::Task(Box::new(Misfit::OtherTask { made_for, asked: "linear" })));
        assert!(
            refused.to_string().contains(made_for) && refused.to_string().contains("linear"),
            "{refused}"
        );
    }
    let refused = solve(named("ls-gd"), linear.for_task(&Logistic), &SolveOptions::default()).unwrap_err();
    let misfit = Misfit::OtherTask { made_for: "linear", asked: "logistic" };
    assert!(matches!(refused, SolveError::Run(refused) if refused.fault == Fault::Task(Box::new(misfit))));
}

#[test]
fn what_a_run_carries_along_may_go_on_where_x_stays() {
    // The gradient plus twice the previous direction: the momentum grows and soon points uphill.
    let heavy: Document = "family: logistic\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_SIGMOID(v1)\n \
         v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_VEC_ADD(v1, m1)\n m1 = VEC_VEC_ADD(v1, v1)\n"
        .parse()
        .unwrap();
    let (a, b) = logistic(400, &[1.0, 2.0]);
    let found = solve(&heavy, Problem::new(&Logistic, a, b), &SolveOptions::default()).unwrap();
    assert!(!found.is_converged() && found.residual < 2f64.ln(), "{found:?}");
    assert!(found.iterations > 1);
}

#[test]
fn labels_that_are_partly_separated_have_no_solution_at_any_tolerance() {
    // Wherever the second column is 1 the label is 0: its coefficient decreases forever.
    let rows = [(0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.0)];
    let a = Matrix::from_fn(rows.len(), 2, |i, j| if j == 0 { 1.0 } else { rows[i].0 });
    let b: Vec<f64> = rows.iter().map(|row| row.1).collect();
    for (name, tolerance) in
        [("newton", 1e-2), ("newton", 1e-4), ("newton", 1e-6), ("newton", 1e-9), ("logistic-gd", 1e-2)]
    {
        let options = SolveOptions { tolerance, ..SolveOptions::default() };
        let found = solved(name, &Logistic, (a.clone(), b.clone()), &options);
        assert!(!found.is_converged(), "{name} {tolerance}: {found:?}");
    }
}

#[test]
fn columns_are_brought_to_even_units_where_the_task_allows_it() {
    let (a, b) = logistic(800, &[3e6, 1e-3]);
    let found = solved("newton", &Logistic, (a.clone(), b.clone()), &SolveOptions::default());
    let known = Logistic.pose(a, b).unwrap().x_star;
    let x = found.into_x().unwrap();
    assert!(x.iter().zip(&known).all(|(x, y)| (x / y - 1.0).abs() < 1e-8));
    // Eigenvectors change if the columns are scaled.
    let symmetric = Matrix::from_rows(&[&[200.0, 1.0], &[1.0, 8.0]]);
    let kept = Problem::new(&Eigenvalue, symmetric.clone(), vec![]);
    assert_eq!(*PreparedProblem::new(kept, &SolveOptions::default()).unwrap().instance.A, symmetric);
}

#[test]
fn what_a_task_has_no_hook_for_is_refused_with_a_reason() {
    let (a, b) = logistic(60, &[1.0, 1.0]);
    let problem = Problem::new(&Logistic, a, b);
    let refused = |program: &str, problem: &Problem, options: SolveOptions| {
        solve(named(program), problem.clone(), &options).unwrap_err().to_string()
    };
    let mean = SolveOptions { average: true, ..SolveOptions::default() };
    assert!(refused("newton", &problem, mean).contains("the task `logistic` may have no solution between"));
    let drop = SolveOptions { rank_deficient: RankDeficient::Drop, ..SolveOptions::default() };
    assert!(refused("newton", &problem, drop).contains("no rule for dependent columns"));
    let forward = problem.for_task(&Forward);
    assert!(refused("logistic-forward", &forward, SolveOptions::default()).contains("number for every row"));
}

#[test]
fn wrong_lengths_are_errors() {
    let short = Problem::from_rows(3, 2, vec![1.0; 6], &[1.0, 2.0][..]).unwrap_err();
    assert_eq!(short, InstanceError::Count { what: "b", expected: 3, found: 2 });
    assert!(Problem::from_rows(usize::MAX, 2, [1.0], [1.0]).is_err());
    let noise = Problem::from_rows(2, 1, [1.0, 2.0], [1.0, 2.0]).unwrap().with_noise(vec![1.0; 2]);
    assert!(noise.unwrap_err().to_string().contains("should be 1 numbers"));
    for (rows, cols) in [(0, 0), (3, 0), (2, 3)] {
        let entries = vec![1.0; rows * cols];
        let problem = Problem::from_rows(rows, cols, entries, vec![1.0; rows]).unwrap();
        let refused = solve(named("ls-gd"), problem, &SolveOptions::default()).unwrap_err();
        assert!(matches!(refused, SolveError::Data(_)), "{rows}×{cols}: {refused}");
    }
    let without = Problem::new(&Linear, Matrix::from_rows(&[&[1.0], &[2.0]]), vec![]);
    let refused = solve(named("ls-gd"), without, &SolveOptions::default()).unwrap_err();
    assert_eq!(refused, SolveError::Data(InstanceError::Length { rows: 2, length: 0 }));
}

#[test]
fn what_has_not_converged_gives_no_x_by_mistake() {
    let options = SolveOptions { iterations: 1, ..SolveOptions::default() };
    let found = solved("newton", &Logistic, logistic(400, &[1.0, 2.0]), &options);
    assert!(!found.is_converged() && found.estimate().len() == 2);
    let error = found.into_x().unwrap_err();
    assert_eq!(error.to_string(), "not converged after 1 iterations: the iteration limit is reached");
    assert_eq!(error.0.iterations, 1);
}
