//! Every run ends with a solution, or says why not.

use super::*;
use crate::execute::Large;
use crate::linalg::{self, Matrix};
use crate::problem::{Eigenvalue, Family, Logistic, Misfit, Task};
use crate::program::Entry;
use crate::solve::{SolveError, solve};

fn named(name: &str) -> &'static Document {
    &Entry::named(name).unwrap().document
}

/// Labels of a logistic model, whose columns have these units.
fn logistic(rows: usize, units: &[f64]) -> (Matrix, Vec<f64>) {
    let (stream, cols) = (Stream::new(7), units.len());
    let entries = stream.derive("A", 0).normals(rows * cols);
    let luck = stream.derive("b", 0).uniforms(rows);
    let label = |i: usize| {
        let z: f64 = (0..cols).map(|j| [1.0, -0.5][j % 2] * entries[i * cols + j]).sum();
        f64::from(u8::from(luck[i] < 1.0 / (1.0 + (-z).exp())))
    };
    let b = (0..rows).map(label).collect();
    (Matrix::from_row_major(rows, cols, (0..rows * cols).map(|k| entries[k] * units[k % cols]).collect()), b)
}

fn posed(name: &str, task: &dyn Task, (a, b): (Matrix, Vec<f64>), options: &Options) -> Posed {
    solve_posed(named(name), &task.pose_unsolved(a, b).unwrap(), options).unwrap()
}

#[test]
fn newton_takes_few_iterations_in_all_units() {
    for units in [[1.0; 4], [1e-5, 1.0, 30.0, 1e6]] {
        let data = logistic(2000, &units);
        let known = Logistic.pose(data.0.clone(), data.1.clone()).unwrap();
        for (name, most) in [("newton", 10), ("newton-sketch", 60)] {
            let found = posed(name, &Logistic, data.clone(), &Options::default());
            assert!(found.solved.converged && found.solved.iterations <= most, "{name}: {:?}", found.solved);
            let gap = linalg::sub(&found.solved.x, &known.x_star);
            let off = gap.iter().zip(units).fold(0.0, |most: f64, (gap, unit)| most.max((gap * unit).abs()));
            assert!(off < 1e-8, "{name}: {off}");
        }
    }
}

#[test]
fn gradient_descent_finds_its_step_and_never_gets_worse() {
    for scale in [1e-4, 1.0, 1e4] {
        let data = logistic(2000, &[scale, 3.0 * scale]);
        let found = posed("logistic-gd", &Logistic, data, &Options::default());
        assert!(found.solved.converged && found.solved.iterations < 300, "{scale}: {:?}", found.solved);
        assert!(found.solved.residuals.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + ROUNDING)));
    }
    // What cannot be done in time is told.
    let short = posed("logistic-gd", &Logistic, logistic(500, &[1.0, 1e4]), &Options::default());
    assert!(!short.solved.converged && short.solved.residual < 2f64.ln(), "{short:?}");
    let wild = Options { step: Step::Fixed(5.0), iterations: 20, ..Options::default() };
    let wild = posed("logistic-gd", &Logistic, logistic(500, &[1.0, 30.0]), &wild);
    assert!(!wild.solved.converged, "{wild:?}");
}

#[test]
fn separable_labels_are_not_solved() {
    let (a, _) = logistic(200, &[1.0, 2.0]);
    let b: Vec<f64> = (0..200).map(|i| f64::from(u8::from(a.get(i, 0) > 0.3 * a.get(i, 1)))).collect();
    for name in ["newton", "newton-sketch", "logistic-gd"] {
        let found = posed(name, &Logistic, (a.clone(), b.clone()), &Options::default());
        assert_eq!(found.solved.ended, Ended::Blocked, "{name}");
        assert!(found.obstacle.as_ref().unwrap().contains("the labels are linearly separable"), "{found:?}");
    }
    // A column that is 1 where all labels are 1 separates a part of them.
    let (a, b) = logistic(300, &[1.0]);
    let rare = |i: usize| b[i] == 1.0 && i < 12;
    let with =
        Matrix::from_fn(300, 2, |i, j| if j == 0 { a.get(i, 0) } else { f64::from(u8::from(rare(i))) });
    let found = posed("newton", &Logistic, (with, b), &Options::default());
    assert!(!found.solved.converged, "{found:?}");
    assert!(found.obstacle.as_ref().unwrap().contains("no minimum"), "{found:?}");
}

#[test]
fn the_optimum_at_the_start_takes_no_iteration() {
    let (a, b) = (Matrix::from_rows(&[&[1.0], &[1.0], &[2.0], &[2.0]]), vec![0.0, 1.0, 1.0, 0.0]);
    let found = posed("newton", &Logistic, (a, b), &Options::default());
    assert_eq!((found.solved.converged, found.solved.iterations, &found.solved.x[..]), (true, 0, &[0.0][..]));
}

#[test]
fn an_eigenvector_is_told_from_what_a_sketch_makes_of_it() {
    let family =
        Family { condition: Some(100.0), ..Family::named("eigenvalue").unwrap() }.sized(Some(40), None);
    let instance = family.draw(&Stream::new(1)).unwrap();
    let data = || ((*instance.A).clone(), vec![]);
    let found = posed("power-iteration", &Eigenvalue, data(), &Options::default());
    assert!(found.solved.converged && found.solved.iterations < 1000, "{found:?}");
    assert!((found.figures[0].1 - 1.0).abs() < 1e-9, "{:?}", found.figures);
    let options = Options { sketch_factor: 0.5, ..Options::default() };
    let sketched = posed("sketched-power-iteration", &Eigenvalue, data(), &options);
    assert!(!sketched.solved.converged && sketched.solved.gradient > 0.01, "{sketched:?}");
    // The smallest eigenvalue has an eigenvector too.
    let inverse: Document =
        "family: eigenvalue\nupdate: assign\nsetup:\n R1 = MAT_INV(A)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n v1 = VEC_NORMALIZE(v1)\n"
            .parse()
            .unwrap();
    let instance = Eigenvalue.pose((*instance.A).clone(), vec![]).unwrap();
    let smallest = solve_posed(&inverse, &instance, &Options::default()).unwrap();
    assert!(!smallest.solved.converged && smallest.solved.gradient > 0.5, "{smallest:?}");
}

#[test]
fn programs_of_other_tasks_are_refused_by_both_names() {
    let (a, b) = logistic(60, &[1.0, 1.0]);
    let large = Large::new(a.clone(), b.clone()).unwrap();
    for (name, made_for) in
        [("newton", "logistic"), ("power-iteration", "eigenvalue"), ("logistic-forward", "logistic-forward")]
    {
        let SolveError::Run(refused) = solve(named(name), large.clone(), &Options::default()).unwrap_err()
        else {
            panic!("{name} is refused before it runs")
        };
        assert_eq!(refused.fault, Fault::Task(Box::new(Misfit::OtherTask { made_for, asked: "linear" })));
        assert!(
            refused.to_string().contains(made_for) && refused.to_string().contains("linear"),
            "{refused}"
        );
    }
    let instance = Logistic.pose(a, b).unwrap();
    let refused = solve_posed(named("ls-gd"), &instance, &Options::default()).unwrap_err();
    assert_eq!(
        refused.fault,
        Fault::Task(Box::new(Misfit::OtherTask { made_for: "linear", asked: "logistic" }))
    );
}

#[test]
fn what_a_run_carries_along_may_go_on_where_x_stays() {
    // The gradient and twice the direction before: what is remembered grows, and soon points uphill.
    let heavy: Document = "family: logistic\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_SIGMOID(v1)\n \
         v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_VEC_ADD(v1, m1)\n m1 = VEC_VEC_ADD(v1, v1)\n"
        .parse()
        .unwrap();
    let (a, b) = logistic(400, &[1.0, 2.0]);
    let instance = Logistic.pose_unsolved(a, b).unwrap();
    let found = solve_posed(&heavy, &instance, &Options::default()).unwrap();
    assert!(!found.solved.converged && found.solved.residual < 2f64.ln(), "{found:?}");
    assert!(found.solved.iterations > 1);
}

#[test]
fn labels_that_are_partly_separated_have_no_solution_at_any_tolerance() {
    // Where the second column is 1 every label is 0: its coefficient only falls.
    let rows = [(0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.0)];
    let a = Matrix::from_fn(rows.len(), 2, |i, j| if j == 0 { 1.0 } else { rows[i].0 });
    let b: Vec<f64> = rows.iter().map(|row| row.1).collect();
    for (name, tolerance) in
        [("newton", 1e-2), ("newton", 1e-4), ("newton", 1e-6), ("newton", 1e-9), ("logistic-gd", 1e-2)]
    {
        let options = Options { tolerance, ..Options::default() };
        let found = posed(name, &Logistic, (a.clone(), b.clone()), &options);
        assert!(!found.solved.converged, "{name} {tolerance}: {found:?}");
    }
}

#[test]
fn columns_are_brought_to_even_units_where_the_task_allows_it() {
    let (a, b) = logistic(800, &[3e6, 1e-3]);
    let (even, units) = in_even_units(&Logistic, a.clone());
    let found = posed("newton", &Logistic, (even, b.clone()), &Options::default());
    let x: Vec<f64> = found.solved.x.iter().zip(&units).map(|(x, unit)| x / unit).collect();
    let known = Logistic.pose(a, b).unwrap().x_star;
    assert!(found.solved.converged && x.iter().zip(&known).all(|(x, y)| (x / y - 1.0).abs() < 1e-8));
    // A symmetric matrix would not stay so.
    let symmetric = Matrix::from_fn(2, 2, |i, j| [[2.0, 8.0], [8.0, 1.0]][i][j]);
    assert_eq!(in_even_units(&Eigenvalue, symmetric).1, [1.0, 1.0]);
}
