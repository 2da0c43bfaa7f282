//! Test problems with known solutions, on which exported code runs with its own defaults.

use super::make_inside;
use crate::experiment::ExperimentError;
use crate::export::Export;
use crate::linalg::{Matrix, norm};
use crate::problem::{Eigenvalue, Goal, Instance, InstanceError, Linear, Logistic, Task};
use crate::rng::Stream;
use std::fs;
use std::path::Path;

/// A problem with a known solution.
pub struct TrialProblem {
    /// Its name, and that of its data folder.
    pub name: &'static str,
    make: fn(&Stream) -> Result<Instance, InstanceError>,
}

/// Maximum excess of a solution, in the units of the task, at the condition numbers of these problems.
const WRONG: f64 = 1e-4;

/// Systems with noise in b.
static TALL: [TrialProblem; 5] = [
    TrialProblem {
        name: "gaussian-10000x50",
        make: |stream| system(10_000, 50, 1.0, stream, |_, _, entry| entry),
    },
    TrialProblem {
        name: "ill-conditioned",
        // Every column is close to the previous one.
        make: |stream| {
            let mut last = 0.0;
            system(1000, 10, 1.0, stream, move |_, j, entry| {
                last = if j == 0 { entry } else { last + 0.02 * entry };
                last
            })
        },
    },
    TrialProblem { name: "consistent", make: |stream| system(1000, 12, 0.0, stream, |_, _, entry| entry) },
    TrialProblem {
        name: "coherent",
        // A few rows dominate.
        make: |stream| system(2000, 8, 0.1, stream, |i, _, entry| if i < 8 { 300.0 * entry } else { entry }),
    },
    TrialProblem {
        name: "units",
        make: |stream| system(1000, 8, 1.0, stream, |_, j, entry| entry * 10_f64.powi(2 * j as i32 - 7)),
    },
];

static SQUARE: [TrialProblem; 2] = [
    TrialProblem {
        name: "positive-definite",
        make: |stream| Linear.pose(covariance(30, 90, stream), stream.normals(30)),
    },
    TrialProblem {
        name: "covariance",
        make: |stream| Linear.pose(covariance(20, 30, stream), stream.normals(20)),
    },
];

static LABELS: [TrialProblem; 2] = [
    TrialProblem { name: "labels", make: |stream| labels(2000, 10, stream, |_| 1.0) },
    TrialProblem {
        name: "labels-units",
        make: |stream| labels(1000, 6, stream, |j| 10_f64.powi(j as i32 - 3)),
    },
];

static SPECTRA: [TrialProblem; 2] = [
    TrialProblem { name: "spectrum", make: |stream| Eigenvalue.pose(covariance(40, 60, stream), vec![]) },
    TrialProblem {
        name: "spectrum-wide",
        make: |stream| Eigenvalue.pose(covariance(60, 400, stream), vec![]),
    },
];

impl TrialProblem {
    /// The problems for a program; empty if its optimality condition is unknown.
    pub fn all(export: &Export) -> &'static [TrialProblem] {
        match export.run_loop.goal {
            _ if !export.listing.loops() => &[],
            Goal::Squares if export.is_square() => &SQUARE,
            Goal::Squares => &TALL,
            Goal::CrossEntropy => &LABELS,
            Goal::Eigenvector => &SPECTRA,
            Goal::Standstill => &[],
        }
    }

    /// The data and the solution.
    pub fn instance(&self) -> Result<Instance, ExperimentError> {
        let posed = (self.make)(&Stream::new(0).derive("export/problem", 0));
        posed.map_err(|error| {
            ExperimentError::new(format!("the problem `{}` cannot be posed: {error}", self.name))
        })
    }
}

/// Writes the data of a problem into a folder.
pub fn write(instance: &Instance, folder: &Path) -> Result<(), ExperimentError> {
    make_inside(folder)?;
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let rows: Vec<f64> = (0..instance.A.rows()).flat_map(|i| instance.A.row(i).to_vec()).collect();
    fs::write(folder.join("A.bin"), bytes(&rows))?;
    fs::write(folder.join("b.bin"), bytes(&instance.b))?;
    fs::write(folder.join("x0.bin"), bytes(&instance.start))?;
    Ok(())
}

/// The result of a program on a problem.
pub struct TrialOutcome {
    /// The problem.
    pub problem: &'static str,
    /// Whether the program reports convergence.
    pub converged: bool,
    /// Number of iterations.
    pub iterations: usize,
    /// The excess of its answer, in the units of the task.
    pub excess: f64,
    /// The error, if its report is wrong.
    pub fault: Option<String>,
}

impl TrialOutcome {
    /// Reads a program's report on a problem, and compares it with the solution.
    pub fn read(problem: &'static str, instance: &Instance, goal: Goal, file: &Path) -> TrialOutcome {
        let text = fs::read_to_string(file).unwrap_or_else(|_| "gave no results".into());
        let Some((converged, iterations, mut x)) = said(&text, instance.cols()) else {
            // Reporting a matrix that cannot be inverted is not an error.
            let fault = (!text.starts_with("refused: "))
                .then(|| format!("{problem}: {}", text.lines().next().unwrap_or_default()));
            return TrialOutcome { problem, converged: false, iterations: 0, excess: f64::NAN, fault };
        };
        if goal == Goal::Eigenvector {
            // The length of an eigenvector is arbitrary.
            let length = norm(&x);
            x.iter_mut().for_each(|entry| *entry /= length);
        }
        let (loss, excess) = instance.measure(&x);
        let (start, _) = instance.measure(&instance.start);
        let fault = match converged {
            true if excess > WRONG || excess.is_nan() => {
                Some(format!("{problem}: reports convergence, {excess:.1e} from the solution"))
            }
            false if loss > start * (1.0 + 1e-6) || loss.is_nan() => {
                Some(format!("{problem}: diverged, from {start:.1e} to {loss:.1e}"))
            }
            _ => None,
        };
        TrialOutcome { problem, converged, iterations, excess, fault }
    }
}

/// The report: whether it converged, the number of iterations, and x.
fn said(text: &str, length: usize) -> Option<(bool, usize, Vec<f64>)> {
    let (first, rest) = text.split_once('\n')?;
    let (converged, iterations) = first.split_once(' ')?;
    let converged = [("0", false), ("1", true)].into_iter().find(|(word, _)| *word == converged)?.1;
    let number = |word: &str| word.to_lowercase().parse().unwrap_or(f64::NAN);
    let x: Vec<f64> = rest.split_whitespace().map(number).collect();
    (x.len() == length).then_some((converged, iterations.parse().ok()?, x))
}

/// A·1 + noise = b for a matrix made from normal entries.
fn system(
    rows: usize,
    cols: usize,
    noise: f64,
    stream: &Stream,
    mut entry: impl FnMut(usize, usize, f64) -> f64,
) -> Result<Instance, InstanceError> {
    let draws = stream.normals(rows * cols);
    let entries: Vec<f64> = (0..rows * cols).map(|k| entry(k / cols, k % cols, draws[k])).collect();
    let errors = stream.derive("noise", 0).normals(rows);
    let row = |i: usize| entries[i * cols..(i + 1) * cols].iter().sum::<f64>() + noise * errors[i];
    let b = (0..rows).map(row).collect();
    Linear.pose(Matrix::from_row_major(rows, cols, entries), b)
}

/// The sample covariance of this many normal vectors.
fn covariance(size: usize, samples: usize, stream: &Stream) -> Matrix {
    let draws = stream.derive("samples", 0).normals(size * samples);
    let entry = |i: usize, j: usize| {
        let products = (0..samples).map(|k| draws[k * size + i] * draws[k * size + j]);
        products.sum::<f64>() / samples as f64
    };
    Matrix::from_fn(size, size, entry)
}

/// Labels that follow the logistic model, with features in these units.
fn labels(
    rows: usize,
    cols: usize,
    stream: &Stream,
    unit: fn(usize) -> f64,
) -> Result<Instance, InstanceError> {
    let draws = stream.normals(rows * cols);
    let errors = stream.derive("noise", 0).normals(rows);
    let label = |i: usize| {
        let margin: f64 = draws[i * cols..(i + 1) * cols].iter().sum();
        (0.5 * margin + 2.0 * errors[i]).signum()
    };
    let b = (0..rows).map(label).collect();
    Logistic.pose(Matrix::from_fn(rows, cols, |i, j| draws[i * cols + j] * unit(j)), b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_posed_and_its_answer_known() {
        for problem in TALL.iter().chain(&SQUARE).chain(&LABELS).chain(&SPECTRA) {
            let instance = problem.instance().unwrap();
            assert!(instance.measure(&instance.x_star).1 < 1e-10, "{}", problem.name);
            assert!(instance.measure(&instance.start).1 > 1e-3, "{}", problem.name);
        }
    }

    #[test]
    fn wrong_answers_are_told_from_honest_ones() {
        let instance = TALL[2].instance().unwrap();
        let judged = |converged: u8, scale: f64| {
            let x: String = instance.x_star.iter().map(|x| format!("{:e} ", scale * x)).collect();
            let file = std::env::temp_dir()
                .join(format!("rl4rla-outcome-{}-{converged}-{scale}", std::process::id()));
            fs::write(&file, format!("{converged} 7\n{x}")).unwrap();
            let outcome = TrialOutcome::read("consistent", &instance, Goal::Squares, &file);
            fs::remove_file(&file).unwrap();
            (outcome.iterations, outcome.fault.is_some())
        };
        assert_eq!(judged(1, 1.0), (7, false));
        assert_eq!(judged(1, 1.01), (7, true));
        assert_eq!(judged(0, 1.01), (7, false));
        assert_eq!(judged(0, 3.0), (7, true));
        let missing = TrialOutcome::read("consistent", &instance, Goal::Squares, Path::new("/nonexistent"));
        assert!(missing.fault.is_some());
    }
}
