//! `rl4rla compare`.

use crate::args::{Compare, ProblemArguments, Shared};
use crate::commands::solve::task_of;
use crate::data::system;
use crate::failure::Failure;
use crate::interrupt::Terminal;
use crate::memory;
use crate::page::{Page, accent, faint, ledger, number, path, strong, warning};
use crate::progress;
use crate::request::{families, protocol, refuse_misfits, steps};
use crate::source::NamedProgram;
use rl4rla::baseline::Baseline;
use rl4rla::data::System;
use rl4rla::execute::StoppingRule;
use rl4rla::experiment::contest::{Entrant, Solver, Standing, ready, standings};
use rl4rla::experiment::draw;
use rl4rla::problem::{Family, Instance, Linear, Task};
use rl4rla::program::{Canonical, LiveOut, Reg, nearest};
use rl4rla::reward::{Profile, SOUND_GRID, StepRule};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

/// Compares programs and baselines.
pub fn run(args: &Compare, shared: &Shared) -> Result<Page, Failure> {
    on(args, shared, None)
}

/// The same on a system in memory, if there is one.
pub fn on(args: &Compare, shared: &Shared, given: Option<System>) -> Result<Page, Failure> {
    if args.programs.is_empty() && args.baselines.is_empty() {
        return Err(Failure::new("nothing to compare").advise(
            "--baselines all, or a program; `rl4rla list programs` and `rl4rla list baselines` show them",
        ));
    }
    let find = |name: &OsString| NamedProgram::find(name, &shared.store);
    let sources: Vec<NamedProgram> = args.programs.iter().map(find).collect::<Result<_, _>>()?;
    let arena = match &args.data.matrix {
        Some(matrix) => Arena::of_data(args, matrix, &sources, given)?,
        None => Arena::of_family(args, &sources)?,
    };
    let entrants = entrants(args, &sources, &arena)?;
    let instances = &arena.instances;
    let (repeats, threads) = (args.repeats as usize, args.threads as usize);
    let rows = standings(&entrants, instances, repeats, threads, args.seed, &Terminal)?;
    let failed = rows.iter().all(|row| row.outcome.is_err());
    let json = json!({
        "family": arena.families.first(),
        "matrix": args.data.matrix.as_ref().map(|matrix| matrix.to_string_lossy()),
        "kappas": arena.kappas(),
        "seed": args.seed,
        "instances": instances.len(),
        "iterations": args.iterations,
        "repeats": args.repeats,
        "threads": args.threads,
        "rows": rows.iter().map(|row| row_json(row, args.repeats)).collect::<Vec<_>>(),
    });
    Ok(Page { json, text: text(args, &arena, &rows, shared.quiet), code: u8::from(failed) })
}

/// The problems that solvers are compared on.
struct Arena {
    /// Display name.
    name: String,
    task: &'static dyn Task,
    /// The families of the problems, if they were drawn.
    families: Vec<Family>,
    instances: Vec<Instance>,
}

impl Arena {
    /// Fresh instances of one family, or of one family per condition number.
    fn of_family(args: &Compare, sources: &[NamedProgram]) -> Result<Arena, Failure> {
        let families = families(&args.problem, sources.first(), args.instances)?;
        for source in sources {
            refuse_misfits(source, &families[0], LiveOut::Finished)?;
        }
        let kind = families[0].kind;
        // One copy of each instance is kept, and drawing needs additional memory for one.
        let each = families.iter().map(Family::bytes).max().unwrap_or(0);
        let what = format!("{} instances of {}×{}", args.instances, families[0].rows, families[0].cols);
        let bytes = each.saturating_add(each / 3 * u128::from(args.instances));
        memory::afford(bytes, &what, "fewer --rows, --cols or --instances")?;
        let drawn = (0..args.instances).map(|index| Ok(ready(draw(&families, index, args.seed)?)));
        let instances = drawn.collect::<Result<_, Failure>>()?;
        Ok(Arena { name: kind.to_string(), task: kind.info().task, families, instances })
    }

    /// The problem given by the user's data.
    fn of_data(
        args: &Compare,
        matrix: &Path,
        sources: &[NamedProgram],
        given: Option<System>,
    ) -> Result<Arena, Failure> {
        let ProblemArguments { family, rows, cols, kappa, outside, numbers, .. } = &args.problem;
        let sized = rows.is_some() || cols.is_some() || *outside > 0.0 || !numbers.is_empty();
        if family.is_some() || sized || !kappa.is_empty() || args.instances > 1 {
            let message = "--matrix defines the problem, so no instances are drawn";
            return Err(Failure::new(message).advise("leave out --instances and the problem options"));
        }
        let task = sources.first().map_or(Ok(&Linear as &'static dyn Task), task_of)?;
        for source in sources {
            if task_of(source)? != task {
                let message = format!("{} and {} are for different tasks", sources[0].name, source.name);
                return Err(Failure::new(message).advise("programs for one task"));
            }
        }
        progress::doing(format!("reading {}", path(matrix)));
        let read = || system(&args.data, matrix, task.inputs().contains(Reg::B));
        let system = given.map_or_else(read, Ok)?;
        if system.matrix.is_in_file() {
            let message = format!("{} is too large for every solver to hold it in memory", matrix.display());
            return Err(Failure::new(message)
                .advise("a larger --max-memory, or `rl4rla solve`, which reads from disk"));
        }
        if system.matrix.is_sparse() && !task.solving().streams {
            let message =
                format!("{} is sparse, and its solvers need all entries in memory", matrix.display());
            return Err(Failure::new(message).advise("--dense"));
        }
        let names = system.columns.labels();
        progress::doing("computing the reference solution");
        let instance = task.pose(system.matrix, system.b).map_err(|error| {
            Failure::new(format!("{}: {}", matrix.display(), error.with_names(&names)))
                .advise("`rl4rla help data` describes the data that can be solved")
        })?;
        Ok(Arena { name: path(matrix), task, families: vec![], instances: vec![instance] })
    }

    fn kappas(&self) -> Vec<f64> {
        self.families.iter().filter_map(|family| family.condition).collect()
    }
}

/// Programs first, in the order typed; then baselines in the order of their table.
fn entrants(args: &Compare, sources: &[NamedProgram], arena: &Arena) -> Result<Vec<Entrant>, Failure> {
    let task = arena.task;
    if args.stop.is_nan() || args.stop < 0.0 {
        let message = format!("--stop must not be negative, got {}", args.stop);
        return Err(Failure::new(message).advise("--stop 1e-14, or --stop 0 to run to the iteration limit"));
    }
    let step = StepRule::Fixed(1.0);
    let protocol = protocol(&args.running.chance, args.iterations, Profile::sound(), step)?;
    let settings = protocol.settings(arena.instances[0].rows(), arena.instances[0].cols(), 1.0);
    let steps = steps(&args.running, task, &SOUND_GRID)?;
    let program = |source: &NamedProgram| Entrant {
        name: source.name.clone(),
        solver: Solver::Program {
            // Without dead code.
            program: Canonical::new(&source.document.program, LiveOut::Finished).program().clone(),
            settings: settings.clone(),
            steps: steps.clone(),
            stop: StoppingRule { gradient: args.stop, ..StoppingRule::default() },
        },
    };
    let baseline = |baseline: Baseline| Entrant {
        name: baseline.info().name.into(),
        solver: Solver::Baseline(baseline),
    };
    let wanted = baselines(&args.baselines, &arena.name, task)?;
    if sources.is_empty() && wanted.is_empty() {
        let message = format!("there is no baseline for {}: {}", arena.name, task.doc());
        return Err(Failure::new(message).advise("--family mid-cond or --family logistic, or a program"));
    }
    Ok(sources.iter().map(program).chain(wanted.into_iter().map(baseline)).collect())
}

/// The baselines with these names, without duplicates, in the order of the table.
fn baselines(names: &[String], arena: &str, task: &'static dyn Task) -> Result<Vec<Baseline>, Failure> {
    for name in names.iter().filter(|name| *name != "all") {
        let Some(baseline) = Baseline::named(name) else {
            let failure = Failure::new(format!("there is no baseline `{name}`"));
            return Err(match nearest(name, Baseline::all().map(|known| known.info().name)) {
                Some(meant) => failure.advise(format!("`{meant}`; `rl4rla list baselines` shows all")),
                None => failure.advise("`rl4rla list baselines` shows all"),
            });
        };
        if baseline.info().task != task {
            let made = baseline.info().task;
            let message = format!("baseline {name} is for {}, and {arena} for {}", made.name(), task.name());
            let advice = format!("--family {}, or --baselines all", made.families()[0].name);
            return Err(Failure::new(message).advise(advice));
        }
    }
    let all = names.iter().any(|name| name == "all");
    Ok(Baseline::of(task).filter(|known| all || names.iter().any(|name| name == known.info().name)).collect())
}

fn row_json(row: &Standing, repeats: u64) -> Value {
    let (reached, times) = (row.outcome.as_ref().ok(), row.times());
    json!({
        "solver": row.solver,
        "kind": row.kind,
        "relative_residual": reached.map(|r| r.residual),
        "excess": reached.map(|r| r.excess),
        "seconds": times.map(|t| t[1]),
        "seconds_min": times.map(|t| t[0]),
        "seconds_max": times.map(|t| t[2]),
        "repeats": repeats,
        "iterations": reached.map(|r| r.iterations),
        "passes": reached.and_then(|r| r.passes),
        "step": reached.and_then(|r| r.step),
        "failure": row.outcome.as_ref().err(),
    })
}

fn cells(row: &Standing) -> Vec<String> {
    let mut cells = vec![accent(&row.solver), row.kind.into()];
    if let (Ok(reached), Some([least, middle, most])) = (&row.outcome, row.times()) {
        let short = |seconds: f64| number(1e3 * seconds);
        cells.extend([
            number(reached.residual),
            number(reached.excess),
            short(middle),
            faint(&format!("{}–{}", short(least), short(most))),
            reached.iterations.to_string(),
            reached.passes.map_or("–".into(), number),
        ]);
    }
    cells
}

fn text(args: &Compare, arena: &Arena, rows: &[Standing], quiet: bool) -> String {
    let mut text = String::new();
    if !quiet {
        let kappas: Vec<String> = arena.kappas().iter().map(|k| format!("{k:e}")).collect();
        let (rows, cols) = (arena.instances[0].rows(), arena.instances[0].cols());
        let kappa = if kappas.is_empty() { String::new() } else { format!(", κ {}", kappas.join(", ")) };
        let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let [loss, excess] = arena.task.measures();
        text += &format!("{} {rows}×{cols}{kappa}\n", strong(&arena.name));
        let measured = [
            count(arena.instances.len() as u64, "instance"),
            format!("seed {}", args.seed),
            count(args.repeats, "repeat"),
            count(args.threads, "thread"),
        ];
        text += &faint(&format!("{}; residual: {loss}; excess: {excess}", measured.join(", ")));
        text += "\n\n";
    }
    let head = ["solver", "kind", "residual", "excess", "ms", "min–max", "iterations", "passes"];
    let done: Vec<&Standing> = rows.iter().filter(|row| row.outcome.is_ok()).collect();
    if !done.is_empty() {
        text += &ledger(&head, done.into_iter().map(cells), 2..8);
    }
    for row in rows {
        if let Err(why) = &row.outcome {
            text += &format!(" {} {why}\n", warning(&format!("{} failed:", row.solver)));
        }
    }
    text
}
