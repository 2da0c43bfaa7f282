//! `rl4rla explore`.

mod limits;
mod live;
mod own_data;
mod seeds;

use crate::args::{Explore, Shared};
use crate::commands::campaign::{Campaigned, computed, of_exploration};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::page::{Page, accent, faint, indent, ledger, number, path, strong, warning};
use live::LiveLog;
use own_data::GivenProblem;
use rl4rla::data::System;
use rl4rla::explore::{ExploreRequest, ExploreSpec, METHOD, RequestError, explore};
use rl4rla::problem::{Choice, ExploreDefaults, Family, FamilyInfo, Leverage, families, tasks};
use rl4rla::program::nearest;
use rl4rla::record::{Build, EXPLORE, HallRecord, RunRecord, TunablesRecord};
use rl4rla::store::{NewRun, ResultRecorder, RunId, Store};
use serde_json::json;
use std::time::Instant;

/// Explores a family of problems.
pub fn run(args: &Explore, shared: &Shared) -> Result<Page, Failure> {
    on(args, shared, None)
}

/// The same for a system in memory, if there is one.
pub fn on(args: &Explore, shared: &Shared, given: Option<System>) -> Result<Page, Failure> {
    args.threads.apply()?;
    args.data.only_with_matrix()?;
    match computed(&args.as_campaign, || of_exploration(args), &args.resources, shared)? {
        Some(Campaigned::Interrupted(page)) => return Ok(page),
        Some(Campaigned::Done(_)) => return seeds::page(args, &checked_request(args)?, shared),
        None if args.seeds.is_some() => {
            return Err(Failure::new("--seeds explores with many seeds as a campaign")
                .advise("--campaign FOLDER, with --local N on this machine"));
        }
        None => {}
    }
    // Wrong options are told before a large file is read.
    spec(&request(args, None)?)?;
    let data =
        args.data.matrix.as_deref().map(|matrix| GivenProblem::new(args, matrix, given)).transpose()?;
    let request = request(args, data.as_ref())?;
    spec(&request)?;
    let mut store = Store::open(&shared.store)?;
    let id = store.begin(&NewRun {
        curriculum: EXPLORE,
        method: METHOD,
        seed: args.seed,
        spec: "",
        settings: &serde_json::to_string(&request)?,
        build: &Build::current(),
    })?;
    go_on(&id, &request, data.as_ref(), &mut store, shared)
}

/// The family that is asked for, and what it is.
fn family(args: &Explore) -> Result<(String, &'static FamilyInfo), Failure> {
    let own = |name: &String| tasks().find(|task| task.name() == name);
    let first = args.task.as_ref().and_then(own).and_then(|task| task.families().first());
    let name = args.family.clone().unwrap_or_else(|| first.map_or("mid-cond", |info| info.name).into());
    let Some(info) = families().find(|info| info.name == name) else {
        let known = nearest(&name, families().map(|info| info.name)).unwrap_or("mid-cond");
        return Err(Failure::new(format!("there is no family `{name}`"))
            .advise(format!("--family {known}; `rl4rla list families` shows all")));
    };
    match &args.task {
        Some(task) if task != info.task.name() => {
            let message = format!("family {name} has the task {}, not `{task}`", info.task.name());
            Err(Failure::new(message)
                .advise(format!("--task {}, or a family of that task", info.task.name())))
        }
        _ => Ok((name, info)),
    }
}

/// What is asked: options first, then what the data say, then the defaults.
fn request(args: &Explore, data: Option<&GivenProblem>) -> Result<ExploreRequest, Failure> {
    let (family, info) = family(args)?;
    let defaults = info.task.explore_defaults();
    let operators = || {
        let all = ExploreSpec::operators_for(info.task, !args.without_matrices);
        all.iter().map(|op| op.name.into()).collect()
    };
    let traits = data.map(|data| data.traits);
    let outside = if info.options.contains(&Choice::Outside) { 0.7 } else { 0.0 };
    let outside = traits.and_then(|traits| traits.outside).unwrap_or(outside);
    let (rows, cols) = data.map_or((args.rows, args.cols), |data| (Some(data.size.0), Some(data.size.1)));
    let cols = cols.or(rows.filter(|_| info.square)).unwrap_or(if info.square { 2000 } else { 500 });
    let kappas = traits.map_or_else(|| defaults.conditions.to_vec(), |traits| vec![traits.kappa]);
    let leverage = traits.map_or(Leverage::default(), |traits| traits.leverage);
    Ok(ExploreRequest {
        family,
        rows: rows.unwrap_or(if info.square { cols } else { 1_000_000 }),
        cols,
        kappas: args.kappa.clone().unwrap_or(kappas),
        leverage: args.leverage.unwrap_or(leverage),
        right: args.right,
        outside: args.outside.unwrap_or(outside),
        numbers: [
            ("rank", args.rank.map(|rank| rank as f64)),
            ("decay", args.decay),
            ("lambda", args.lambda),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect(),
        tolerance: args.tolerance,
        operators: args.operators.clone().unwrap_or_else(operators),
        edits: args.edits.unwrap_or(defaults.edits),
        sketch: args.sketch,
        sketch_factor: args.sketch_factor,
        without: args.without.clone(),
        evolve: args.evolve,
        held_out: args.held_out,
        hall: args.hall,
        seed: args.seed,
        resembles: args.data.matrix.as_ref().filter(|_| data.is_some()).map(|matrix| path(matrix)),
    })
}

/// What is asked without data, if it can be explored.
pub fn checked_request(args: &Explore) -> Result<ExploreRequest, Failure> {
    let request = request(args, None)?;
    spec(&request)?;
    Ok(request)
}

fn spec(request: &ExploreRequest) -> Result<ExploreSpec, Failure> {
    request.spec().map_err(|RequestError { message, advice }| Failure::new(message).advise(advice))
}

/// Explores, starting from what is in the store, until it ends or is interrupted. What is found then runs on the data, if
/// there are any.
pub fn go_on(
    id: &RunId,
    request: &ExploreRequest,
    data: Option<&GivenProblem>,
    store: &mut Store,
    shared: &Shared,
) -> Result<Page, Failure> {
    let again = interrupted(id, shared);
    interrupt::saving(interrupted(id, shared));
    let (start, spec) = (Instant::now(), spec(request)?);
    let live = LiveLog::new(ResultRecorder::new(store, id.clone())?);
    let explored = explore(&spec, &live, &|what| live.goes_on(what));
    let [replayed, computed] = live.close()?;
    let exploration =
        explored.map_err(|error| Failure::new(error.to_string()).advise("another --family or --seed"))?;
    let seconds = start.elapsed().as_secs_f64();
    store.add_seconds(id, seconds)?;
    let Some(exploration) = exploration else {
        store.interrupted(id)?;
        return Ok(again);
    };
    let signature = spec.family.signature();
    let mut record =
        RunRecord::explored(id.as_str(), (METHOD, request.seed), signature, &exploration, seconds);
    for (entry, recorded) in exploration.hall.iter().zip(&mut record.hall) {
        recorded.on_data = data.map(|data| data.problem.run(&spec, entry));
    }
    store.together(|store| {
        store.finish_stage(id, 0, &record.stages[0])?;
        store.finish(id, &record)?;
        store.forget_evaluations(id)
    })?;
    let mut page = page(&record, request, shared);
    page.json["replayed"] = json!(replayed);
    page.json["computed"] = json!(computed);
    Ok(page)
}

fn interrupted(id: &RunId, shared: &Shared) -> Page {
    let command = shared.again(&format!("resume {id}"));
    Page {
        json: json!({ "run": id.as_str(), "interrupted": true, "resume": command, "found": null }),
        text: format!("interrupted; everything computed is saved. To continue:\n  {command}\n"),
        code: INTERRUPTED,
    }
}

/// The result for people.
pub fn page(record: &RunRecord, request: &ExploreRequest, shared: &Shared) -> Page {
    let mut text = format!("{}\n", strong(&title(request)));
    text += &format!(
        "{}\n\n",
        faint(&format!(
            "{} values, {} runs of candidates, {:.1} s",
            record.cost.unique_states, record.cost.evaluations, record.cost.seconds
        ))
    );
    let head = ["", "program", "reached", "iterations", "passes", "flops", "reward", "step", "sketch"];
    let ours = record.hall.iter().map(|entry| {
        let mut row = vec![format!("#{}", entry.place), accent(&named(entry))];
        row.extend(measured(&entry.held_out, &entry.tunables));
        row
    });
    text += &ledger(&head, ours, 2..7);
    let known: Vec<Vec<String>> = record
        .rivals
        .iter()
        .filter(|rival| rival.held_out.reached > 0)
        .map(|rival| {
            let mut row = vec![String::new(), rival.name.clone()];
            row.extend(measured(&rival.held_out, &rival.tunables));
            row
        })
        .collect();
    if !known.is_empty() {
        text += &format!("\n{}\n", strong("the catalogue on the same problems, tuned in the same way"));
        text += &ledger(&head, known, 2..7);
    }
    if let Some(data) = request.resembles.as_ref().filter(|_| !record.hall.is_empty()) {
        let on_data = record.hall.iter().filter_map(|entry| own_data::row(entry, accent(&named(entry))));
        let rows: Vec<Vec<String>> = on_data.collect();
        text += &match rows.is_empty() {
            true => format!("\n{}\n", warning(&format!("resumed without {data}: nothing was run on it"))),
            false => {
                format!("\n{}\n", strong(&format!("on {data} itself"))) + &ledger(&own_data::HEAD, rows, 3..6)
            }
        };
    }
    let lines = |of: fn(&HallRecord) -> String| {
        let line = |entry: &HallRecord| format!("  #{}  {}\n", entry.place, of(entry));
        record.hall.iter().filter(|entry| !of(entry).is_empty()).map(line).collect::<String>()
    };
    for (title, lines) in [
        ("works up to, and fails at", lines(limits::limits)),
        ("work of classical solvers, as a multiple of that of the program", lines(limits::beats)),
    ] {
        if !lines.is_empty() {
            text += &format!("\n{}\n{lines}", strong(title));
        }
    }
    if let Some(best) = record.hall.first() {
        text += &format!("\n{}\n", strong(&format!("#1 · {}", named(best))));
        text += &indent(&best.program);
        if let Some(equation) = &best.equation {
            text += &format!("\n{}\n", indent(&accent(equation)));
        }
    }
    if !record.found {
        text += &format!("\n{}\n", warning("no program reached the tolerance on every final instance"));
    }
    if !shared.quiet {
        let command = shared.again(&format!("show run:{}", record.run));
        let note = format!(
            "rewards are w₀/(w₀ + w), where w₀ is the work of {} at {}×{}; passes and iterations are means over runs on\n\
             matrices that the search has not seen. `{command}` shows the best program.",
            reference(request),
            request.rows,
            request.cols
        );
        text += &format!("\n{}\n", faint(&note));
    }
    let mut json = serde_json::to_value(record).unwrap_or_default();
    json["request"] = json!(request);
    json["seconds"] = json!(record.cost.seconds);
    if request.resembles.is_some() {
        json["searched_on"] = json!(RESEMBLING);
    }
    Page { json, text, code: u8::from(!record.found) }
}

/// What a search for the user's data runs on.
const RESEMBLING: &str =
    "drawn problems of the data's size, condition number, leverage and share of b outside the range of A";

/// What the work of a program is compared with.
fn reference(request: &ExploreRequest) -> &'static str {
    let family = Family::named(&request.family);
    family.map_or(ExploreDefaults::LINEAR, |family| family.kind.info().task.explore_defaults()).reference
}

fn title(request: &ExploreRequest) -> String {
    let has_condition = Family::named(&request.family)
        .is_none_or(|family| family.kind.info().options.contains(&Choice::Condition));
    let kappas: Vec<String> = request.kappas.iter().map(|kappa| number(*kappa)).collect();
    let condition = if has_condition { format!(", κ = {}", kappas.join(", ")) } else { String::new() };
    let ExploreRequest { family, rows, cols, tolerance, .. } = request;
    let title = format!("{family} {rows}×{cols}{condition}, to {}", number(*tolerance));
    match &request.resembles {
        Some(data) => format!("{title}: {RESEMBLING}, {data}"),
        None => title,
    }
}

/// The name of a program, or what it is nearest to.
fn named(entry: &HallRecord) -> String {
    match (&entry.matched, &entry.from_another_start, &entry.nearest) {
        (Some(name), ..) if entry.costs_differ => format!("{name}, at another cost"),
        (Some(name), ..) => name.clone(),
        (None, Some(name), _) => format!("{name} from another start"),
        (None, None, Some(nearest)) => format!("not in the catalogue, nearest {nearest}"),
        (None, None, None) => "not in the catalogue".into(),
    }
}

fn measured(held_out: &rl4rla::explore::HeldOut, tunables: &TunablesRecord) -> Vec<String> {
    let some = |value: Option<f64>| value.map_or("–".into(), number);
    let spread =
        held_out.iterations_range.map_or(String::new(), |[least, most]| format!(" ({least}–{most})"));
    let sketch = match (tunables.sketch, tunables.sketch_factor) {
        (Some(kind), Some(factor)) => format!("{kind} {factor}n"),
        _ => String::new(),
    };
    let batch = tunables.batch.map(|batch| format!("batch {batch}n"));
    let drawn: Vec<String> =
        [Some(sketch).filter(|sketch| !sketch.is_empty()), batch].into_iter().flatten().collect();
    vec![
        format!("{}/{}", held_out.reached, held_out.runs),
        format!("{}{spread}", some(held_out.iterations)),
        some(held_out.passes),
        some(held_out.flops),
        format!("{} ± {}", number(held_out.reward), number(held_out.reward_error)),
        number(tunables.step)
            + &tunables.mu.map_or(String::new(), |mu| format!(", μ {mu}"))
            + &tunables.every.map_or(String::new(), |every| format!(", every {every}")),
        drawn.join(", "),
    ]
}
