//! Problem classes: the solvers that run on them, and the accuracy they reach.

use crate::baseline::Baseline;
use crate::execute::{RunSettings, StoppingRule};
use crate::experiment::ExperimentError;
use crate::experiment::contest::{Entrant, Solver, Standing, contest};
use crate::experiment::reproduce::ask::Scope;
use crate::experiment::reproduce::found::{ProgramSource, RunCandidate, source};
use crate::experiment::reproduce::item::Means;
use crate::problem::{Family, InstanceSet, Leverage};
use crate::reward::{SOUND_GRID, draws};

/// A problem class with its solvers.
pub struct Arena {
    pub title: &'static str,
    family: &'static str,
    size: Option<(usize, usize)>,
    leverage: Leverage,
    /// Weight of the component of b outside the range of A.
    outside: f64,
    pub programs: &'static [ProgramSource],
    /// AlgoTune's solver for it in the paper's table, if there is one.
    pub tuned: Option<&'static str>,
}

/// Programs for tall linear systems, in the order of their colours.
pub const LINEAR: &[ProgramSource] = &[
    source("precond-gd", "sketched-precond-gd"),
    source("sketched-precond-gd", "precond-weighted-sgd"),
    ProgramSource {
        name: "sketched-precond-gd-stable",
        curriculum: "sketched-precond-gd",
        stage: "sketched-precond-gd",
        catalogue: "sketched-precond-gd-factored",
    },
    source("precond-weighted-sgd", "precond-weighted-sgd"),
    source("block-kaczmarz", "block-kaczmarz"),
    source("subsampled-ls-gd", "subsampled-ls-gd"),
    source("subsampled-precond-gd", "subsampled-precond-gd"),
];
const LOGISTIC: &[ProgramSource] = &[
    source("logistic-gd", "newton-sketch"),
    source("newton", "newton-sketch"),
    source("newton-sketch", "newton-sketch"),
];
pub const SQUARE: &[ProgramSource] = &[source("landweber", "sketched-precond-gd")];

const fn tall(
    title: &'static str,
    family: &'static str,
    leverage: Leverage,
    tuned: Option<&'static str>,
) -> Arena {
    Arena { title, family, size: None, leverage, outside: 0.0, programs: LINEAR, tuned }
}

/// The same with noise: the systems are inconsistent.
const fn noisy(title: &'static str, of: Arena) -> Arena {
    Arena { title, outside: 0.3, tuned: None, ..of }
}

const MID: Arena = tall("MID_COND, low leverage", "mid-cond", Leverage::Low, Some("normal-equations"));
const HIGH: Arena = tall("HIGH_COND, low leverage", "high-cond", Leverage::Low, None);
const LOGIT: Arena = Arena {
    title: "Logistic regression, noisy labels",
    family: "logistic",
    size: Some((10_000, 100)),
    programs: LOGISTIC,
    tuned: None,
    ..MID
};

pub const ARENAS: [Arena; 9] = [
    tall("LOW_COND, high leverage", "low-cond", Leverage::High, Some("normal-equations")),
    MID,
    tall("MID_COND, high leverage", "mid-cond", Leverage::High, Some("svd")),
    HIGH,
    noisy("MID_COND with noise", MID),
    noisy("HIGH_COND with noise", HIGH),
    LOGIT,
    Arena {
        title: "Logistic regression, separable",
        family: "logistic-separable",
        tuned: Some("lbfgs"),
        ..LOGIT
    },
    Arena { title: "PSD, 5×5", family: "psd", programs: SQUARE, tuned: None, ..MID },
];

/// Iteration counts of programs, one point of the curve each.
const ITERATIONS: [usize; 4] = [3, 10, 30, 100];
/// Smaller excesses are not distinguished.
pub const FLOOR: f64 = 1e-17;

/// A solver on a problem class, over all instances.
pub struct ArenaRecord {
    /// Display name.
    pub name: String,
    /// `program` or `baseline`.
    pub kind: &'static str,
    /// `discovered`, `catalogue` or `baseline`.
    pub origin: &'static str,
    /// Median seconds and median excess, by number of iterations.
    pub points: Vec<[f64; 2]>,
    pub residual: f64,
    pub failure: Option<String>,
    /// The loss on every instance for each number of iterations (`None` for a baseline); `None` if it failed.
    pub losses: Vec<(Option<usize>, Vec<Option<f64>>)>,
}

impl ArenaRecord {
    /// The final excess, if it did not fail.
    pub fn excess(&self) -> Option<f64> {
        self.points.last().map(|point| point[1])
    }
}

impl Arena {
    pub fn instances(&self, scope: Scope) -> u64 {
        if scope.quick { 1 } else { 5 }
    }

    /// Whether its systems are tall, linear and consistent.
    pub fn is_consistent(&self) -> bool {
        self.programs == LINEAR && self.outside == 0.0
    }

    /// Runs all solvers on the same instances.
    pub fn fight(
        &self,
        programs: &[RunCandidate],
        means: &Means,
    ) -> Result<Vec<ArenaRecord>, ExperimentError> {
        let mut family =
            Family::named(self.family).ok_or_else(|| ExperimentError::new("an unknown family"))?;
        if family.kind.info().name != "logistic-separable" {
            (family.leverage, family.outside) = (self.leverage, self.outside);
        }
        if let Some(size) = self.size {
            (family.rows, family.cols) = size;
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let entrants = self.entrants(programs, &family);
        let places: Vec<Place> = entrants.iter().map(|(place, _)| *place).collect();
        let entrants: Vec<Entrant> = entrants.into_iter().map(|(_, entrant)| entrant).collect();
        let mut all: Vec<Vec<Standing>> = Vec::new();
        for index in 0..self.instances(means.scope) {
            let instance = family.draw(&InstanceSet::Final.stream(0, index))?;
            let repeats = if means.scope.quick { 1 } else { 5 };
            all.push(
                pool.install(|| contest(&entrants, &instance, repeats, &draws(0, index, 0), means.monitor)),
            );
        }
        Ok(gather(&places, &all))
    }

    /// Every program with every number of iterations, then the baselines of the task.
    fn entrants(&self, programs: &[RunCandidate], family: &Family) -> Vec<(Place, Entrant)> {
        let mut entrants = Vec::new();
        for candidate in programs {
            for iterations in ITERATIONS {
                let narrow = candidate.source.name == "block-kaczmarz";
                let batch = if narrow { family.cols / 2 } else { 2 * family.cols };
                let usual = RunSettings::for_size(family.rows, family.cols);
                let settings = RunSettings { iterations, batch: batch.clamp(1, family.rows), ..usual };
                let (steps, stop) = (SOUND_GRID.to_vec(), StoppingRule::default());
                let program = candidate.program.clone();
                let solver = Solver::Program { program, settings, steps, stop };
                let place = Place { iterations: Some(iterations), origin: candidate.origin() };
                entrants.push((place, Entrant { name: candidate.title(), solver }));
            }
        }
        let named = |b: Baseline| {
            let entrant = Entrant { name: b.info().name.into(), solver: Solver::Baseline(b) };
            (Place { iterations: None, origin: "baseline" }, entrant)
        };
        entrants.extend(Baseline::of(family.kind.info().task).map(named));
        entrants
    }
}

/// Attributes of a solver besides its name.
#[derive(Clone, Copy)]
struct Place {
    iterations: Option<usize>,
    origin: &'static str,
}

/// Collects the results of all instances by solver; the iteration counts of a program become one curve.
fn gather(places: &[Place], all: &[Vec<Standing>]) -> Vec<ArenaRecord> {
    let mut records: Vec<ArenaRecord> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let same: Vec<&Standing> = all.iter().map(|standings| &standings[number]).collect();
        let Some(first) = same.first() else { continue };
        let over = Standing::over(&same);
        let reached = over.outcome.as_ref().ok();
        let point =
            over.times().zip(reached).map(|([_, middle, _], reached)| [middle, reached.excess.max(FLOOR)]);
        let residual = reached.map_or(f64::NAN, |reached| reached.residual);
        let failure = over.outcome.as_ref().err().cloned();
        let loss = |one: &&Standing| one.outcome.as_ref().ok().map(|reached| reached.residual);
        let losses = (place.iterations, same.iter().map(loss).collect());
        match records.last_mut() {
            Some(last) if last.name == first.solver => {
                last.points.extend(point);
                last.losses.push(losses);
                (last.residual, last.failure) = (residual, failure);
            }
            _ => records.push(ArenaRecord {
                name: first.solver.clone(),
                kind: over.kind,
                origin: place.origin,
                points: point.into_iter().collect(),
                residual,
                failure,
                losses: vec![losses],
            }),
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::contest::Reached;
    use crate::program::Entry;

    #[test]
    fn every_source_names_a_stage_and_a_program_of_the_catalogue() {
        for source in [LINEAR, LOGISTIC, SQUARE].concat() {
            let curriculum = crate::experiment::reproduce::ask::builtin(source.curriculum).unwrap();
            assert!(curriculum.stages.iter().any(|(stage, _)| stage.name == source.stage), "{source:?}");
            assert!(Entry::named(source.catalogue).is_some(), "{source:?}");
        }
        assert!(ARENAS.iter().all(|arena| Family::named(arena.family).is_some()));
        assert!(ARENAS.iter().filter_map(|arena| arena.tuned).all(|name| Baseline::named(name).is_some()));
    }

    #[test]
    fn numbers_of_iterations_become_one_record() {
        let standing = |solver: &str, kind, residual: Result<f64, &str>| Standing {
            solver: solver.into(),
            kind,
            outcome: residual
                .map(|r| Reached { residual: r, excess: r, iterations: 3, passes: None, step: None })
                .map_err(str::to_string),
            seconds: residual.map_or(vec![], |_| vec![0.1]),
        };
        let places = [(Some(3), "discovered"), (Some(10), "discovered"), (None, "baseline")]
            .map(|(iterations, origin)| Place { iterations, origin });
        let instance = |last| {
            vec![
                standing("p", "program", Ok(0.5)),
                standing("p", "program", last),
                standing("q", "baseline", Ok(0.0)),
            ]
        };
        let records = gather(&places, &[instance(Ok(0.25)), instance(Err("no"))]);
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].origin, records[1].origin), ("discovered", "baseline"));
        assert_eq!(records[0].points, [[0.1, 0.5]]);
        let expected = [(Some(3), vec![Some(0.5), Some(0.5)]), (Some(10), vec![Some(0.25), None])];
        assert_eq!(records[0].losses, expected);
        assert_eq!(records[0].failure.as_deref(), Some("no"));
        assert_eq!(records[1].points, [[0.1, FLOOR]]);
    }
}
