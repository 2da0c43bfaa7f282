//! Explorations with many seeds, as a campaign leaves them in the store: how often what was found.

use super::{named, page as page_of_one};
use crate::args::{Explore, Shared};
use crate::failure::Failure;
use crate::page::{Page, accent, faint, ledger, number, strong, warning};
use rl4rla::explore::{ExploreRequest, METHOD};
use rl4rla::record::{Build, EXPLORE, RunRecord};
use rl4rla::report::Rate;
use rl4rla::store::{NewRun, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The page of a single exploration, or of all of them.
pub fn page(args: &Explore, request: &ExploreRequest, shared: &Shared) -> Result<Page, Failure> {
    let store = Store::open_read_only(&shared.store)?;
    let build = Build::current();
    let mut records = Vec::new();
    for seed in (0..args.seeds.unwrap_or(1)).map(|place| args.seed.wrapping_add(place)) {
        let settings = serde_json::to_string(&ExploreRequest { seed, ..request.clone() })?;
        let new = NewRun {
            curriculum: EXPLORE,
            method: METHOD,
            seed,
            spec: "",
            settings: &settings,
            build: &build,
        };
        let there = store.ended(&new)?.into_iter().next().map(|run| run.result).transpose()?.flatten();
        let missing = || Failure::new(format!("the store has no exploration with seed {seed}"));
        records.push(there.ok_or_else(missing)?);
    }
    Ok(match &records[..] {
        [record] => page_of_one(record, request, shared),
        _ => of_many(&records, request),
    })
}

/// What came first in the halls of fame, most frequent first.
fn of_many(records: &[RunRecord], request: &ExploreRequest) -> Page {
    let mut by_name: BTreeMap<String, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        let name = record.hall.first().map_or("nothing".into(), named);
        by_name.entry(name).or_default().push(record);
    }
    let mut groups: Vec<(String, Vec<&RunRecord>)> = by_name.into_iter().collect();
    groups.sort_by_key(|(_, records)| std::cmp::Reverse(records.len()));
    let mean = |records: &[&RunRecord], of: fn(&rl4rla::explore::HeldOut) -> Option<f64>| {
        let values: Vec<f64> =
            records.iter().filter_map(|record| of(&record.hall.first()?.held_out)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let shown = |value: Option<f64>| value.map_or("–".into(), number);
    let row = |(name, of): &(String, Vec<&RunRecord>)| {
        let (reached, runs) = of
            .iter()
            .filter_map(|record| record.hall.first())
            .fold((0, 0), |(a, b), entry| (a + entry.held_out.reached, b + entry.held_out.runs));
        vec![
            accent(name),
            format!("{}/{}", of.len(), records.len()),
            format!("{reached}/{runs}"),
            shown(mean(of, |held_out| held_out.iterations)),
            shown(mean(of, |held_out| held_out.passes)),
            shown(mean(of, |held_out| Some(held_out.reward))),
        ]
    };
    let head = ["first in the hall of fame", "seeds", "reached", "iterations", "passes", "reward"];
    let found =
        Rate { successes: records.iter().filter(|record| record.found).count(), trials: records.len() };
    let mut text = format!("{}\n", strong(&super::title(request)));
    text +=
        &format!("{}\n\n", faint(&format!("{found} seeds reached the tolerance on every final instance")));
    text += &ledger(&head, groups.iter().map(row), 1..6);
    let all = found.successes == found.trials;
    if !all {
        text +=
            &format!("\n{}\n", warning("some seeds found no program that reached the tolerance everywhere"));
    }
    let runs: Vec<Value> = records
        .iter()
        .map(|record| {
            let best = record.hall.first();
            json!({
                "run": record.run,
                "seed": record.seed,
                "found": record.found,
                "best": best.map(named),
                "matched": best.and_then(|entry| entry.matched.clone()),
                "program": best.map(|entry| entry.program.clone()),
                "reward": best.map(|entry| entry.held_out.reward),
                "passes": best.and_then(|entry| entry.held_out.passes),
                "evaluations": record.cost.evaluations,
                "seconds": record.cost.seconds,
            })
        })
        .collect();
    let json =
        json!({ "request": request, "seeds": found.trials, "successes": found.successes, "runs": runs });
    Page { json, text, code: u8::from(!all) }
}
