//! Statistics of the runs of a sweep, by transition.

use super::sweep::Sweep;
use crate::record::{Quantity, RunRecord, SearchCost, StageRecord};
use crate::report::{Rate, Spread};
use std::collections::BTreeMap;
use std::fmt;

/// One transition of a sweep, or all of them together.
pub struct Tally<'a> {
    /// The curriculum's name.
    pub curriculum: &'a str,
    /// The programs it leads from and to; `total` for all together.
    pub transition: String,
    /// The method's name.
    pub method: &'static str,
    /// The method with its settings and limits.
    pub label: String,
    /// The results of the runs that reached it, by seed.
    pub parts: Vec<TransitionRecord<'a>>,
}

/// The result of one run for a transition, or for all of them together.
#[derive(Clone, Copy)]
pub struct TransitionRecord<'a> {
    /// Whether it found the target, or all targets.
    pub found: bool,
    /// The cost of the search.
    pub cost: &'a SearchCost,
    /// The stage, or the last one that the run reached.
    pub stage: Option<&'a StageRecord>,
    /// The evaluations up to the first one of the program, summed over the stages.
    pub first: Option<u64>,
}

impl<'a> TransitionRecord<'a> {
    fn of_stage(stage: &'a StageRecord) -> TransitionRecord<'a> {
        TransitionRecord { found: stage.found, cost: &stage.cost, stage: Some(stage), first: stage.first }
    }

    fn of_run(run: &'a RunRecord) -> TransitionRecord<'a> {
        let first = run.stages.iter().map(|stage| stage.first).sum();
        TransitionRecord { found: run.found, cost: &run.cost, stage: run.stages.last(), first }
    }
}

/// The statistics of a sweep: each stage counts the runs that reached it, the last entry counts all runs.
pub fn tallies(sweep: &Sweep) -> Vec<Tally<'_>> {
    let tally = |transition, parts| Tally {
        curriculum: &sweep.curriculum.name,
        transition,
        method: sweep.method(),
        label: sweep.label(),
        parts,
    };
    let mut from = if sweep.curriculum.start.is_empty() { "∅" } else { "start" };
    let mut all = Vec::new();
    for (number, (stage, _)) in sweep.curriculum.stages.iter().enumerate() {
        let reached: Vec<TransitionRecord> =
            sweep.done().filter_map(|run| run.stages.get(number)).map(TransitionRecord::of_stage).collect();
        if !reached.is_empty() {
            all.push(tally(format!("{from} → {}", stage.name), reached));
        }
        from = &stage.name;
    }
    all.push(tally("total".into(), sweep.done().map(TransitionRecord::of_run).collect()));
    all
}

impl Tally<'_> {
    /// The success rate.
    pub fn found(&self) -> Rate {
        Rate { successes: self.successes().count(), trials: self.parts.len() }
    }

    /// The runs that did not find the target but a program with a higher reward.
    pub fn better(&self) -> usize {
        self.parts.iter().filter(|part| !part.found && part.stage.is_some_and(StageRecord::is_better)).count()
    }

    /// The forms of the programs found: of the stage, or of the last stage for all together.
    pub fn forms(&self) -> Forms {
        Forms::count(self.successes().filter_map(|part| part.stage?.form.as_deref()))
    }

    /// The runs that found the target.
    pub fn successes(&self) -> impl Iterator<Item = &TransitionRecord<'_>> {
        self.parts.iter().filter(|part| part.found)
    }

    /// The evaluations up to the first one of the target, in runs that found it; of all stages together for a total.
    pub fn firsts(&self) -> impl Iterator<Item = f64> {
        self.successes().filter_map(|part| part.first).map(|first| first as f64)
    }

    /// The distribution of a quantity over the runs.
    pub fn spread(&self, quantity: Quantity) -> Option<Spread> {
        Spread::of(self.parts.iter().map(|part| quantity.of(part.cost)))
    }

    /// Its mean; NaN if there are no runs.
    pub fn mean(&self, quantity: Quantity) -> f64 {
        self.spread(quantity).map_or(f64::NAN, |spread| spread.mean)
    }
}

/// The forms of the preconditioners found, with their counts.
#[derive(Default)]
pub struct Forms(pub BTreeMap<String, usize>);

impl Forms {
    /// Counts forms.
    pub fn count<'a>(forms: impl Iterator<Item = &'a str>) -> Forms {
        let mut counts = BTreeMap::new();
        forms.for_each(|form| *counts.entry(form.to_string()).or_insert(0) += 1);
        Forms(counts)
    }
}

/// The most frequent first; empty if no program has a preconditioner.
impl fmt::Display for Forms {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut forms: Vec<(&String, &usize)> = self.0.iter().collect();
        forms.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let words: Vec<String> = forms.iter().map(|(form, count)| format!("{count} × {form}")).collect();
        f.write_str(&words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn forms_are_counted_where_something_was_found() {
        let stage = |found: bool, form: &str| -> StageRecord {
            let stage = json!({ "name": "s", "found": found, "form": form, "stop": "budget", "reward": 0.0,
                                "playouts": 1, "evaluations": 2, "seconds": 0.5 });
            serde_json::from_value(stage).unwrap()
        };
        let run = |found: bool, stages: &[StageRecord]| -> RunRecord {
            let run = json!({ "run": "", "curriculum": "c", "method": "best", "seed": 0, "found": found,
                              "playouts": 1, "evaluations": 2, "seconds": 0.5, "stages": stages });
            serde_json::from_value(run).unwrap()
        };
        let runs = [
            run(true, &[stage(true, "Gram"), stage(true, "QR in turn, stable")]),
            run(true, &[stage(true, "Gram"), stage(true, "QR in turn, stable")]),
            run(true, &[stage(true, "Gram"), stage(true, "Gram")]),
            run(false, &[stage(false, "Gram")]),
        ];
        let tally = |parts| Tally {
            curriculum: "c",
            transition: "t".into(),
            method: "best",
            label: "best".into(),
            parts,
        };
        let total = tally(runs.iter().map(TransitionRecord::of_run).collect());
        assert_eq!(total.forms().to_string(), "2 × QR in turn, stable; 1 × Gram");
        assert_eq!((total.found().successes, total.mean(Quantity::Evaluations)), (3, 2.0));
        let first = runs.iter().map(|run| TransitionRecord::of_stage(&run.stages[0])).collect();
        assert_eq!(tally(first).forms().to_string(), "3 × Gram");
        let none = run(true, &[]);
        assert_eq!(tally(vec![TransitionRecord::of_run(&none)]).forms().to_string(), "");
    }
}
