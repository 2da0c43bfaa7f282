//! Runtime against residual: discovered programs, what AlgoTune and FunSearch found, and what a practitioner would use.

use super::ask::{Ask, Scope};
use super::item::{Means, Part, Row};
use crate::contest::{Entrant, Solver, Standing, contest};
use crate::failure::Failure;
use crate::page::number;
use crate::progress;
use crate::words;
use rl4rla::baseline::Baseline;
use rl4rla::execute::{Settings, Stop};
use rl4rla::problem::{Family, InstanceSet, Leverage};
use rl4rla::program::Entry;
use rl4rla::report::{Axis, Block, Cell, Column, Figure, Ink, Label, Mark, Panel, Series, Table};
use rl4rla::reward::{SOUND_GRID, draws};
use serde_json::json;

/// A kind of systems, with who runs on it.
struct Arena {
    title: &'static str,
    family: &'static str,
    size: Option<(usize, usize)>,
    leverage: Leverage,
    /// The weight of what of b is outside the range of A.
    outside: f64,
    programs: &'static [&'static str],
    /// What AlgoTune found for it, where it was asked.
    tuned: Option<&'static str>,
}

const LINEAR: &[&str] = &[
    "precond-gd",
    "sketched-precond-gd",
    "sketched-precond-gd-factored",
    "precond-weighted-sgd",
    "block-kaczmarz",
    "subsampled-ls-gd",
    "subsampled-precond-gd",
];

const fn tall(
    title: &'static str,
    family: &'static str,
    leverage: Leverage,
    tuned: Option<&'static str>,
) -> Arena {
    Arena { title, family, size: None, leverage, outside: 0.0, programs: LINEAR, tuned }
}

/// The same with noise: no x solves every equation.
const fn noisy(title: &'static str, of: Arena) -> Arena {
    Arena { title, outside: 0.3, tuned: None, ..of }
}

const MID: Arena = tall("MID_COND, low leverage", "mid-cond", Leverage::Low, Some("normal-equations"));
const HIGH: Arena = tall("HIGH_COND, low leverage", "high-cond", Leverage::Low, None);

const ARENAS: [Arena; 8] = [
    tall("LOW_COND, high leverage", "low-cond", Leverage::High, Some("normal-equations")),
    MID,
    tall("MID_COND, high leverage", "mid-cond", Leverage::High, Some("svd")),
    HIGH,
    noisy("MID_COND with noise", MID),
    noisy("HIGH_COND with noise", HIGH),
    Arena {
        title: "Logistic regression",
        family: "logistic",
        size: Some((10_000, 100)),
        programs: &["logistic-gd", "newton", "newton-sketch"],
        tuned: Some("lbfgs"),
        ..MID
    },
    Arena { title: "PSD, 5×5", family: "psd", programs: &["landweber"], tuned: None, ..MID },
];

/// Iterations a program is given; each number is a point of its curve.
const ITERATIONS: [usize; 4] = [3, 10, 30, 100];
/// Excesses by which solvers are compared.
const GOALS: [f64; 3] = [1e-2, 1e-6, 1e-12];

/// It needs no campaign: the programs are those of the catalogue, which the others find.
pub fn asks(_: Scope) -> Vec<Ask> {
    vec![]
}

/// A solver in an arena, over all instances.
struct Record {
    name: String,
    kind: &'static str,
    /// Median seconds and median excess, in the order of iterations.
    points: Vec<[f64; 2]>,
    residual: f64,
    failure: Option<String>,
}

/// The figure, the table of results and the table of who wins.
pub fn make(means: &Means) -> Result<Part, Failure> {
    let mut part = Part::default();
    let (mut panels, mut groups, mut winners) = (Vec::new(), Vec::new(), Vec::new());
    for arena in &ARENAS {
        progress::doing(format!("solvers on {}", arena.title));
        let entries = arena.fight(means.scope)?;
        panels.push(panel(arena, &entries));
        groups.push(entries.iter().map(|entry| line(arena, entry)).collect());
        winners.extend(GOALS.map(|goal| winner(arena, &entries, goal)));
        for entry in &entries {
            let mut row =
                Row::mean(format!("{} · {}", arena.title, entry.name), "excess", entry.kind, None, None);
            row.ours = json!(entry.points.last().map(|point| point[1]));
            row.count = arena.instances(means.scope) as usize;
            part.rows.push(row);
        }
    }
    part.add(Block::Figure(Figure {
        name: "figure-baselines".into(),
        title: "Runtime against residual".into(),
        caption: "Excess ‖A(x − x*)‖/‖b‖ (for logistic regression: of the loss, as `rl4rla evaluate` counts it) against \
                  time on one thread of this machine; to the lower left is better. Programs are run for 3, 10, 30 and \
                  100 iterations with the best of eight steps, baselines until they stop; 10⁻¹⁷ stands for nothing left, \
                  and what diverged is left out. The paper prints its figure without numbers."
            .into(),
        panels,
        columns: 2,
    }));
    let words = ["systems", "accuracy", "fastest program", "fastest baseline"].map(Column::words);
    let numbers = ["program: ms", "baseline: ms", "program is faster by"].map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-winners".into(),
        title: "Where discovered programs win, and where they lose".into(),
        caption: "The fastest solver of either kind that gets the excess below the goal on every instance. A factor above \
                  1 is a win of the program. Programs stop after 3, 10, 30 or 100 iterations, with the step that is best \
                  on the instance; a baseline goes on to its own end whatever the goal, which favours programs where the \
                  goal is coarse."
            .into(),
        columns: words.into_iter().chain(numbers).collect(),
        groups: winners.chunks(GOALS.len()).map(<[_]>::to_vec).collect(),
        notes: vec![
            "Without noise any n independent equations give the solution, so a program that keeps a sample can be fast \
             there; where no x has a residual below 39 % (outside 0.3) it stops at the error of its sample. Choose by the systems \
             that look like your data."
                .into(),
            "At 10000×50 a direct solve is a dozen passes over A: there is little to win. Sketching wins where n is in \
             the hundreds (docs/performance.md)."
                .into(),
        ],
    }));
    let words = ["systems", "solver", "kind"].map(Column::words);
    let numbers = ["excess", "residual", "ms"].map(Column::numbers);
    let remark = Column::words("remark");
    part.add(Block::Folded(
        "All solvers".into(),
        vec![Block::Table(Table {
            name: "table-baselines".into(),
            title: "All solvers".into(),
            caption: "Medians over the instances; programs after the last number of iterations that ended on all of them.".into(),
            columns: words.into_iter().chain(numbers).chain([remark]).collect(),
            groups,
            notes: vec![
                "On tall systems FunSearch's iteration falls back to least squares with the lower trapezoid of A, and \
                 its Jacobi start cannot run at all."
                    .into(),
            ],
        })],
    ));
    Ok(part)
}

impl Arena {
    fn instances(&self, scope: Scope) -> u64 {
        if scope.quick { 1 } else { 5 }
    }

    /// Everyone on the same instances.
    fn fight(&self, scope: Scope) -> Result<Vec<Record>, Failure> {
        let mut family = Family::named(self.family).ok_or_else(|| Failure::new("an unknown family"))?;
        (family.leverage, family.outside) = (self.leverage, self.outside);
        if let Some(size) = self.size {
            (family.rows, family.cols) = size;
        }
        let task = family.kind.info().task;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let mut all: Vec<Vec<Standing>> = Vec::new();
        for index in 0..self.instances(scope) {
            let instance = family.draw(&InstanceSet::Final.stream(0, index))?;
            let mut entrants = Vec::new();
            for name in self.programs {
                let program = &Entry::named(name).expect("a program of the catalogue").document.program;
                for iterations in ITERATIONS {
                    let batch = if *name == "block-kaczmarz" { family.cols / 2 } else { 2 * family.cols };
                    let usual = Settings::for_size(family.rows, family.cols);
                    let settings = Settings { iterations, batch: batch.clamp(1, family.rows), ..usual };
                    let (steps, stop) = (SOUND_GRID.to_vec(), Stop::default());
                    entrants.push(Entrant {
                        name: format!("{name} T={iterations}"),
                        solver: Solver::Program { program: program.clone(), settings, steps, stop },
                    });
                }
            }
            let named = |b: Baseline| Entrant { name: b.info().name.into(), solver: Solver::Baseline(b) };
            entrants.extend(Baseline::of(task).map(named));
            let repeats = if scope.quick { 1 } else { 5 };
            all.push(pool.install(|| contest(&entrants, &instance, repeats, &draws(0, index, 0))));
        }
        Ok(gather(&all))
    }
}

/// The least excess that is told apart.
const FLOOR: f64 = 1e-17;

/// The standings of all instances, solver by solver; a program's numbers of iterations become one curve.
fn gather(all: &[Vec<Standing>]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for place in 0..all.first().map_or(0, Vec::len) {
        let same: Vec<&Standing> = all.iter().map(|standings| &standings[place]).collect();
        let over = Standing::over(&same);
        let name = over.solver.split(" T=").next().unwrap_or_default();
        let reached = over.outcome.as_ref().ok();
        let point =
            over.times().zip(reached).map(|([_, middle, _], reached)| [middle, reached.excess.max(FLOOR)]);
        let residual = reached.map_or(f64::NAN, |reached| reached.residual);
        let failure = over.outcome.as_ref().err().cloned();
        match records.last_mut() {
            Some(last) if last.name == name => {
                last.points.extend(point);
                (last.residual, last.failure) = (residual, failure);
            }
            _ => records.push(Record {
                name: name.into(),
                kind: over.kind,
                points: point.into_iter().collect(),
                residual,
                failure,
            }),
        }
    }
    records
}

/// The ink of all baselines, whose names stand beside their points.
const BASELINE: Ink = Ink(7);

fn panel(arena: &Arena, records: &[Record]) -> Panel {
    let series = |record: &Record| {
        // What diverges would hide everything else.
        let points = record.points.iter().copied().filter(|point| point[1] <= WORST);
        match LINEAR.iter().position(|name| *name == record.name) {
            Some(place) => Series::new(&*record.name, Ink(place), Mark::Line, points),
            None if record.kind == "program" => {
                let place = arena.programs.iter().position(|name| *name == record.name).unwrap_or(0);
                Series::new(&*record.name, Ink(BASELINE.0 + 1 + place), Mark::Line, points)
            }
            None => Series::new(&*record.name, BASELINE, Mark::Dots, points).labelled(Label::Beside),
        }
    };
    Panel {
        title: arena.title.into(),
        x: Axis::log("seconds"),
        y: Axis::log("excess residual").within(FLOOR / 3.0, WORST),
        series: records.iter().map(series).collect(),
    }
}

/// The largest excess that is drawn.
const WORST: f64 = 10.0;

fn line(arena: &Arena, record: &Record) -> Vec<Cell> {
    let last = record.points.last();
    let value = |place: usize, factor: f64| {
        last.map_or_else(words::nothing, |point| {
            Cell::number(factor * point[place], number(factor * point[place]))
        })
    };
    let remark = match (&record.failure, Some(record.name.as_str()) == arena.tuned) {
        (Some(failure), _) => failure.clone(),
        (None, true) => "what AlgoTune found for these systems".into(),
        _ => String::new(),
    };
    let residual = Cell::number(record.residual, number(record.residual));
    vec![
        arena.title.into(),
        record.name.as_str().into(),
        record.kind.into(),
        value(1, 1.0),
        if last.is_some() { residual } else { words::nothing() },
        value(0, 1e3),
        remark.into(),
    ]
}

/// The fastest of either kind that reaches the goal.
fn winner(arena: &Arena, records: &[Record], goal: f64) -> Vec<Cell> {
    let fastest = |kind: &str| {
        let points = records.iter().filter(|record| record.kind == kind);
        let good = points.flat_map(|record| record.points.iter().map(move |point| (record, point)));
        good.filter(|(_, point)| point[1] <= goal).min_by(|a, b| a.1[0].total_cmp(&b.1[0]))
    };
    let (program, baseline) = (fastest("program"), fastest("baseline"));
    let name =
        |best: Option<(&Record, &[f64; 2])>| Cell::from(best.map_or("none", |(record, _)| &record.name));
    let time = |best: Option<(&Record, &[f64; 2])>| {
        best.map_or_else(words::nothing, |(_, point)| Cell::number(1e3 * point[0], number(1e3 * point[0])))
    };
    let factor = program.zip(baseline).map(|((_, p), (_, b))| b[0] / p[0]);
    vec![
        arena.title.into(),
        Cell::number(goal, format!("{goal:.0e}")),
        name(program),
        name(baseline),
        time(program),
        time(baseline),
        factor.map_or_else(words::nothing, |factor| Cell::number(factor, format!("{factor:.2}×"))),
    ]
}
