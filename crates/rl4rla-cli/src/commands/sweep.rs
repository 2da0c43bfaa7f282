//! `rl4rla sweep`.

use crate::args::{Shared, Sweep};
use crate::campaign::{self, Campaign, cores};
use crate::commands::discover::{method, settings};
use crate::curriculum;
use crate::failure::Failure;
use crate::interrupt;
use crate::page::{Page, accent, duration, faint, ledger, strong};
use crate::tally::{Tally, tallies};
use crate::words::{values, whole};
use rl4rla::report::{Rate, Spread};
use rl4rla::store::Store;
use serde_json::{Value, json};

/// Runs every curriculum with every method and every seed.
pub fn run(args: &Sweep, shared: &Shared) -> Result<Page, Failure> {
    let mut campaigns = Vec::new();
    for name in &args.curricula {
        for way in &args.methods {
            let settings = settings(&args.searching, method(way)?)?;
            let curriculum = curriculum::find(name)?;
            campaigns.push(Campaign::new(curriculum, settings, args.seed, args.seeds));
        }
    }
    interrupt::saving(campaign::interrupted());
    let mut store = Store::open(&shared.store)?;
    let threads = args.threads.threads.map_or_else(cores, |threads| threads as usize);
    let complete = campaign::run(&mut campaigns, &mut store, threads)?;
    if !complete {
        return Ok(campaign::interrupted());
    }
    let rows: Vec<Tally> = campaigns.iter().flat_map(tallies).collect();
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
            "means over the runs that reached the stage, or the values for fewer than five; medians of their \
             playouts\nform: how the program found represents its preconditioner, and the κ from which that loses \
             accuracy\nruns of one seed share instances and rewards: times are those of the first run that needs \
             them",
        );
    }
    // How often something was found is the answer, whatever it is.
    Ok(Page::ok(json, text))
}

fn json(tally: &Tally) -> Value {
    let playouts = tally.spread("playouts");
    let Rate { successes, trials } = tally.found();
    json!({
        "curriculum": tally.curriculum,
        "transition": tally.transition,
        "method": tally.method,
        "label": tally.label,
        "seeds": trials,
        "successes": successes,
        "playouts_mean": playouts.map(|p| p.mean),
        "playouts_median": playouts.map(|p| p.median),
        "playouts_iqr": playouts.map(|p| p.iqr()),
        "evaluations_mean": tally.mean("evaluations"),
        "programs_mean": tally.mean("programs"),
        "seconds_mean": tally.mean("seconds"),
        "revisit_rate_mean": tally.mean("revisit_rate"),
        "forms": tally.forms().0,
    })
}

fn cells(tally: &Tally) -> Vec<String> {
    // Of a few runs the numbers themselves, which need no median beside them.
    let told = |key: &str, pick: fn(&Spread) -> f64| {
        let spread = tally.spread(key);
        spread.map_or("–".into(), |s| values(&s, whole).unwrap_or_else(|| whole(pick(&s))))
    };
    let playouts = tally.spread("playouts");
    let median = playouts.filter(|playouts| playouts.few().is_none());
    vec![
        accent(&tally.transition),
        tally.label.clone(),
        tally.found().to_string(),
        told("playouts", |spread| spread.mean),
        median.map_or("–".into(), |playouts| whole(playouts.median)),
        told("programs", |spread| spread.mean),
        told("evaluations", |spread| spread.mean),
        duration(tally.mean("seconds")),
        faint(&tally.forms().to_string()),
    ]
}
