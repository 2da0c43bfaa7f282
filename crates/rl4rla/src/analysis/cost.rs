//! The cost of a program to reach the tolerance, and the sizes at which it is cheaper than QR and LSQR.

use super::crossover::Region;
use super::iterations::Wait;
use super::study::Study;
use crate::baseline::{Baseline, Request};
use crate::program::{ProgramCost, Sizes};
use rayon::prelude::*;
use serde::Serialize;

/// The cost of a program, as polynomials and at one size.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Costs {
    /// Cost of setup, as polynomials.
    pub setup: Symbols,
    /// Cost of one iteration, as polynomials.
    pub iteration: Symbols,
    /// What is added every k iterations, as polynomials, if the program refreshes a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Symbols>,
    /// ζ: the flops of the sketch per entry of the matrix it compresses.
    pub sketch_work: f64,
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// Cost of setup at this size.
    pub once: Spent,
    /// Mean cost of an iteration at this size.
    pub each: Spent,
    /// Iterations to the tolerance at the first condition number; `None` if it is not reached.
    pub iterations: Option<f64>,
    /// Total cost to the tolerance.
    pub total: Option<Spent>,
    /// The methods it is compared with.
    pub rivals: Vec<Rival>,
}

/// Costs as polynomials.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Symbols {
    /// Floating-point operations.
    pub flops: String,
    /// Entries of A read.
    pub data: String,
}

/// Costs as numbers.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spent {
    /// Floating-point operations.
    pub flops: f64,
    /// Passes over A.
    pub passes: f64,
}

/// A competing method, and the sizes at which the program is cheaper.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// Its flops at this size; `None` if it does not reach the tolerance.
    pub flops: Option<f64>,
    /// Its iterations to the tolerance at the first condition number, if it iterates.
    pub iterations: Option<f64>,
    /// The m for which the program is cheaper, at this n; `None` if it does not reach the tolerance, or A is square.
    pub rows: Option<Region>,
    /// The n for which the program is cheaper, at this m.
    pub cols: Option<Region>,
}

/// Largest number of rows considered for a crossover.
const MOST_ROWS: u64 = 1_000_000_000_000;
/// Largest number of columns considered for square problems.
const MOST_COLS: u64 = 10_000_000;

impl Costs {
    /// The costs of a study's program, given its iterations to the tolerance at the first condition number.
    pub fn of(study: &Study, wait: &Wait) -> Costs {
        let ProgramCost { setup, iteration, refresh } = &study.cost;
        let (rows, cols) = (study.family.rows, study.family.cols);
        let sizes = sizes(study, rows as u64, cols as u64);
        let symbols = |flops: &dyn ToString, data: &dyn ToString| Symbols {
            flops: flops.to_string(),
            data: data.to_string(),
        };
        let spent =
            |t: usize| Spent { flops: study.cost.flops(&sizes, t), passes: study.cost.passes(&sizes, t) };
        let once = spent(0);
        let refreshes = !refresh.flops.is_zero();
        let span = if refreshes { study.protocol.settings(rows, cols, study.step).every } else { 1 };
        let (all, mean) = (spent(span), |sum: f64| sum / span as f64);
        let each = Spent { flops: mean(all.flops - once.flops), passes: mean(all.passes - once.passes) };
        let observed = wait.observed.filter(|_| wait.reached == wait.count);
        let iterations = observed.or(wait.predicted).map(|t| t.value);
        Costs {
            setup: symbols(&setup.flops, &setup.data),
            iteration: symbols(&iteration.flops, &iteration.data),
            refresh: refreshes.then(|| symbols(&refresh.flops, &refresh.data)),
            sketch_work: sizes.sketch_work,
            rows,
            cols,
            once,
            each,
            iterations,
            total: iterations.map(|t| spent(t.round() as usize)),
            rivals: rivals(study, iterations),
        }
    }
}

fn sizes(study: &Study, rows: u64, cols: u64) -> Sizes {
    let (rows, cols) = (rows as usize, cols as usize);
    study.protocol.settings(rows, cols, study.step).sizes(rows, cols)
}

/// The flops of a competing method as a function of m and n.
type Flops<'a> = Box<dyn Fn(f64, f64) -> f64 + 'a>;

fn rivals(study: &Study, iterations: Option<f64>) -> Vec<Rival> {
    let task = study.family.kind.info().task;
    let direct: Flops = Box::new(|m, n| task.direct(m, n)[0]);
    let name = if task.is_least_squares() { "qr" } else { "direct" };
    let mut rivals = vec![compare(study, iterations, name, None, Some(direct))];
    if task.is_least_squares() {
        let needed = lsqr(study);
        // Two products with A, and a few vector updates.
        let flops = needed.map(|t| -> Flops { Box::new(move |m, n| t * (4.0 * m * n + 3.0 * m + 5.0 * n)) });
        rivals.push(compare(study, iterations, "lsqr", needed, flops));
    }
    rivals
}

fn compare(
    study: &Study,
    ours: Option<f64>,
    name: &'static str,
    iterations: Option<f64>,
    flops: Option<Flops>,
) -> Rival {
    let (m, n) = (study.family.rows as u64, study.family.cols as u64);
    let square = study.family.kind.info().square;
    let cheaper = |m: u64, n: u64| {
        let program = ours.map(|t| study.cost.flops(&sizes(study, m, n), t.round() as usize));
        match (program, &flops) {
            (Some(program), Some(rival)) => program < rival(m as f64, n as f64),
            // A method that reaches the tolerance counts as cheaper than one that does not.
            (program, _) => program.is_some(),
        }
    };
    let rows = ours.filter(|_| !square).map(|_| Region::of([n, MOST_ROWS.max(n)], |m| cheaper(m, n)));
    let cols = ours.map(|_| match square {
        true => Region::of([1, MOST_COLS], |n| cheaper(n, n)),
        false => Region::of([1, m], |n| cheaper(m, n)),
    });
    Rival { name, flops: flops.map(|flops| flops(m as f64, n as f64)), iterations, rows, cols }
}

/// The median over the replicates of the iterations that LSQR needs to the tolerance. Its excess never grows, so
/// bisection finds them.
fn lsqr(study: &Study) -> Option<f64> {
    let baseline = Baseline::named("lsqr")?;
    let most = 10 * (4 * study.family.cols).max(100);
    let needed = |index: u64| {
        let instance = study.instance(&study.family, study.care.seed, index).ok()?;
        let enough = |iterations: u64| {
            let request = Request {
                iterations: Some(iterations as usize),
                tolerance: Some(0.0),
                ..Request::new(&instance.A, &instance.b, study.stream(index))
            };
            baseline.solve(&request).is_ok_and(|found| instance.excess(&found.x) <= study.care.tolerance)
        };
        match Region::of([1, most as u64], enough) {
            Region::Always => Some(1.0),
            Region::From { from } | Region::Between { from, .. } => Some(from as f64),
            Region::Never | Region::UpTo { .. } => None,
        }
    };
    let each: Vec<Option<f64>> = (0..study.care.replicates).into_par_iter().map(needed).collect();
    let mut each = each.into_iter().collect::<Option<Vec<f64>>>()?;
    each.sort_by(f64::total_cmp);
    each.get(each.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;
    use crate::statistics::Interval;

    fn wait(iterations: f64) -> Wait {
        let value = Interval { value: iterations, low: iterations, high: iterations, count: 3 };
        Wait { kappa: None, predicted: None, observed: Some(value), reached: 3, count: 3, within: 100 }
    }

    #[test]
    fn crossovers_are_where_the_polynomials_cross() {
        let study = study("ls-gd", "mid-cond", (1000, 10), &[10.0], Some(1.0));
        let costs = Costs::of(&study, &wait(50.0));
        assert_eq!(costs.iteration.flops, "4mn + m + 2n");
        assert_eq!(costs.total.unwrap().flops, 50.0 * (4.0 * 1e4 + 1e3 + 20.0));
        let qr = &costs.rivals[0];
        // 50(4mn + m + 2n) < 2mn² − 2n³/3 with m = 1000: from n ≈ 100 on.
        let Some(Region::From { from }) = qr.cols else { panic!("{qr:?}") };
        let cheaper = |n: f64| 50.0 * (4e3 * n + 1e3 + 2.0 * n) < 2e3 * n * n - 2.0 / 3.0 * n.powi(3);
        assert!(cheaper(from as f64) && !cheaper(from as f64 - 1.0), "{from}");
        assert_eq!(qr.rows, Some(Region::Never), "with ten columns 200mn is more than 20mn at every m");
        let lsqr = &costs.rivals[1];
        assert!(lsqr.iterations.unwrap() <= 12.0, "as many as there are singular values, and rounding");
        assert_eq!((lsqr.rows, lsqr.cols), (Some(Region::Never), Some(Region::Never)));
    }

    #[test]
    fn who_never_arrives_is_compared_with_nobody() {
        let study = study("ls-gd", "mid-cond", (100, 5), &[10.0], Some(1.0));
        let lost = Wait { observed: None, reached: 0, ..wait(1.0) };
        let costs = Costs::of(&study, &lost);
        assert!(costs.total.is_none() && costs.rivals.iter().all(|rival| rival.rows.is_none()));
    }
}
