//! `rl4rla sweep`.

use crate::args::{Shared, SweepArguments};
use crate::commands::campaign::{computed, interruption, of_sweep};
use crate::commands::discover::{method, settings_for};
use crate::curriculum;
use crate::failure::Failure;
use crate::interrupt::{self, Terminal};
use crate::page::{Page, accent, duration, faint, ledger, strong};
use rl4rla::experiment::sweep::{self, cores};
use rl4rla::experiment::words::{values, whole};
use rl4rla::experiment::{Sweep, Tally, tallies};
use rl4rla::record::Quantity;
use rl4rla::report::{Rate, Spread};
use rl4rla::store::Store;
use serde_json::{Value, json};

/// The sweeps that are asked for, with places for the results of this many seeds.
pub fn sweeps(args: &SweepArguments, seeds: u64) -> Result<Vec<Sweep>, Failure> {
    let mut sweeps = Vec::new();
    for name in &args.curricula {
        let curriculum = curriculum::find(name)?;
        curriculum::permits(&curriculum, args.searching.typed)?;
        for way in &args.methods {
            let settings = settings_for(&curriculum, &args.searching, method(way)?)?;
            sweeps.push(Sweep::new(curriculum.clone(), settings, args.seed, seeds));
        }
    }
    Ok(sweeps)
}

/// Runs every curriculum with every method and every seed.
pub fn run(args: &SweepArguments, shared: &Shared) -> Result<Page, Failure> {
    let mut sweeps = sweeps(args, args.seeds)?;
    let campaigned = computed(&args.as_campaign, || of_sweep(args), &args.resources, shared)?;
    if let Some(page) = interruption(campaigned) {
        return Ok(page);
    }
    // After a campaign all runs are in the store.
    interrupt::saving(interrupt::resumable());
    let mut store = Store::open(&shared.store)?;
    let threads = args.threads.threads.map_or_else(cores, |threads| threads as usize);
    args.resources.allow_for(threads);
    let complete = sweep::run(&mut sweeps, &mut store, threads, &Terminal)?;
    if !complete {
        return Ok(interrupt::resumable());
    }
    let rows: Vec<Tally> = sweeps.iter().flat_map(tallies).collect();
    let json = json!({ "rows": rows.iter().map(json).collect::<Vec<_>>() });
    let head =
        ["transition", "method", "found", "playouts", "median", "programs", "evaluations", "time", "form"];
    let mut text = String::new();
    for group in rows.chunk_by(|a, b| a.curriculum == b.curriculum) {
        let table = ledger(&head, group.iter().map(cells), 2..8);
        text += &format!("{}\n{table}\n", strong(group[0].curriculum));
    }
    if !shared.quiet {
        text += &faint(
            "better: not the target, but a higher reward on the final instances\nmeans over the runs that reached the stage, or the values for fewer than five; medians of their \
             playouts\nform: how the program found represents its preconditioner, and the κ from which that loses \
             accuracy\nruns of one seed share instances and rewards: times are those of the first run that needs \
             them",
        );
    }
    // The success rate is the answer, whatever it is.
    Ok(Page::ok(json, text))
}

fn json(tally: &Tally) -> Value {
    let playouts = tally.spread(Quantity::Playouts);
    let Rate { successes, trials } = tally.found();
    json!({
        "curriculum": tally.curriculum,
        "transition": tally.transition,
        "method": tally.method,
        "label": tally.label,
        "seeds": trials,
        "successes": successes,
        "better": tally.better(),
        "playouts_mean": playouts.map(|p| p.mean),
        "playouts_median": playouts.map(|p| p.median),
        "playouts_iqr": playouts.map(|p| p.iqr()),
        "evaluations_mean": tally.mean(Quantity::Evaluations),
        "first_mean": Spread::of(tally.firsts()).map(|first| first.mean),
        "first_error": Spread::of(tally.firsts()).map(|first| first.error),
        "programs_mean": tally.mean(Quantity::Programs),
        "seconds_mean": tally.mean(Quantity::Seconds),
        "revisit_rate_mean": tally.mean(Quantity::RevisitRate),
        "forms": tally.forms().0,
    })
}

fn cells(tally: &Tally) -> Vec<String> {
    // For a few runs the values themselves are shown, without a median.
    let told = |quantity: Quantity, pick: fn(&Spread) -> f64| {
        let spread = tally.spread(quantity);
        spread.map_or("–".into(), |s| values(&s, whole).unwrap_or_else(|| whole(pick(&s))))
    };
    let playouts = tally.spread(Quantity::Playouts);
    let median = playouts.filter(|playouts| playouts.few().is_none());
    vec![
        accent(&tally.transition),
        tally.label.clone(),
        match tally.better() {
            0 => tally.found().to_string(),
            better => format!("{}, {better} better", tally.found()),
        },
        told(Quantity::Playouts, |spread| spread.mean),
        median.map_or("–".into(), |playouts| whole(playouts.median)),
        told(Quantity::Programs, |spread| spread.mean),
        told(Quantity::Evaluations, |spread| spread.mean),
        duration(tally.mean(Quantity::Seconds)),
        faint(&tally.forms().to_string()),
    ]
}
