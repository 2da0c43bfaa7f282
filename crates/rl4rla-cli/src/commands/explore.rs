//! `rl4rla explore`.

use crate::args::{Explore, Shared};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED, stopped};
use crate::page::{Page, accent, faint, indent, ledger, number, strong, warning};
use crate::progress;
use rl4rla::explore::{ExploreRequest, ExploreSpec, RequestError, explore};
use rl4rla::problem::Family;
use rl4rla::record::{Build, EXPLORE, HallRecord, RunRecord, TunablesRecord};
use rl4rla::store::{NewRun, RunId, Store};
use serde_json::json;
use std::time::Instant;

/// The name of the search method.
const METHOD: &str = "oracle";

/// Explores a family of problems.
pub fn run(args: &Explore, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let family = Family::named(&args.family);
    if let (Some(task), Some(family)) = (&args.task, family) {
        let own = family.kind.info().task.name();
        if task != own {
            let message =
                format!("the family {} belongs to the task {own}, not to the task `{task}`", args.family);
            return Err(
                Failure::new(message).advise("a --family of that task; `rl4rla list families` shows all")
            );
        }
    }
    let request = request(args);
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
    go_on(&id, &request, &mut store, shared)
}

fn request(args: &Explore) -> ExploreRequest {
    let operators =
        || ExploreSpec::operators(!args.without_matrices).iter().map(|op| op.name.into()).collect();
    let square = Family::named(&args.family).is_some_and(|family| family.kind.info().square);
    let cols = args.cols.or(args.rows.filter(|_| square)).unwrap_or(if square { 2000 } else { 500 });
    ExploreRequest {
        family: args.family.clone(),
        rows: args.rows.unwrap_or(if square { cols } else { 1_000_000 }),
        cols,
        kappas: args.kappa.clone(),
        leverage: args.leverage,
        right: args.right,
        outside: args.outside,
        tolerance: args.tolerance,
        operators: args.operators.clone().unwrap_or_else(operators),
        edits: args.edits,
        sketch: args.sketch,
        sketch_factor: args.sketch_factor,
        without: args.without.clone(),
        held_out: args.held_out,
        hall: args.hall,
        seed: args.seed,
    }
}

fn spec(request: &ExploreRequest) -> Result<ExploreSpec, Failure> {
    request.spec().map_err(|RequestError { message, advice }| Failure::new(message).advise(advice))
}

/// Explores, from the start: everything is computed again, with the same result.
pub fn go_on(
    id: &RunId,
    request: &ExploreRequest,
    store: &mut Store,
    shared: &Shared,
) -> Result<Page, Failure> {
    let again = interrupted(id, shared);
    interrupt::saving(interrupted(id, shared));
    let (start, spec) = (Instant::now(), spec(request)?);
    let explored = explore(&spec, &|what| {
        progress::doing(what);
        !stopped()
    });
    let exploration =
        explored.map_err(|error| Failure::new(error.to_string()).advise("another --family or --seed"))?;
    let seconds = start.elapsed().as_secs_f64();
    store.add_seconds(id, seconds)?;
    let Some(exploration) = exploration else {
        store.interrupted(id)?;
        return Ok(again);
    };
    let signature = spec.family.signature();
    let record = RunRecord::explored(id.as_str(), (METHOD, request.seed), signature, &exploration, seconds);
    store.finish_stage(id, 0, &record.stages[0])?;
    store.finish(id, &record)?;
    Ok(page(&record, request, shared))
}

fn interrupted(id: &RunId, shared: &Shared) -> Page {
    let command = shared.again(&format!("resume {id}"));
    Page {
        json: json!({ "run": id.as_str(), "interrupted": true, "resume": command, "found": null }),
        text: format!("interrupted. To explore again, with the same result:\n  {command}\n"),
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
            "rewards are w₀/(w₀ + w), where w₀ is the work of a direct solver at {}×{}; passes and iterations are means over runs on\n\
             matrices that the search has not seen. `{command}` shows the best program.",
            request.rows, request.cols
        );
        text += &format!("\n{}\n", faint(&note));
    }
    let mut json = serde_json::to_value(record).unwrap_or_default();
    json["request"] = json!(request);
    json["seconds"] = json!(record.cost.seconds);
    Page { json, text, code: u8::from(!record.found) }
}

fn title(request: &ExploreRequest) -> String {
    let kappas: Vec<String> = request.kappas.iter().map(|kappa| number(*kappa)).collect();
    format!(
        "{} {}×{}, κ = {}, to {}",
        request.family,
        request.rows,
        request.cols,
        kappas.join(", "),
        number(request.tolerance)
    )
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
    vec![
        format!("{}/{}", held_out.reached, held_out.runs),
        format!("{}{spread}", some(held_out.iterations)),
        some(held_out.passes),
        some(held_out.flops),
        format!("{} ± {}", number(held_out.reward), number(held_out.reward_error)),
        number(tunables.step) + &tunables.mu.map_or(String::new(), |mu| format!(", μ {mu}")),
        sketch,
    ]
}
