//! Tallies: what the runs of a campaign came to, transition by transition.

use super::campaign::Campaign;
use crate::report::{Rate, Spread};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// One transition of a campaign, or all of them together.
pub struct Tally<'a> {
    /// The curriculum's name.
    pub curriculum: &'a str,
    /// From which program to which; `total` for all together.
    pub transition: String,
    /// The method's name.
    pub method: &'static str,
    /// The method with the settings and limits it ran under.
    pub label: String,
    /// What the runs that reached it say of it, seed by seed.
    pub parts: Vec<&'a Value>,
}

/// The tallies of a campaign: a stage counts the runs that reached it, the last tally all of them.
pub fn tallies(campaign: &Campaign) -> Vec<Tally<'_>> {
    let results: Vec<&Value> = campaign.done().collect();
    let tally = |transition, parts| Tally {
        curriculum: &campaign.curriculum.name,
        transition,
        method: campaign.method(),
        label: campaign.label(),
        parts,
    };
    let mut from = if campaign.curriculum.start.is_empty() { "∅" } else { "start" };
    let mut all = Vec::new();
    for (number, (stage, _)) in campaign.curriculum.stages.iter().enumerate() {
        let reached: Vec<&Value> = results.iter().filter_map(|result| result["stages"].get(number)).collect();
        if !reached.is_empty() {
            all.push(tally(format!("{from} → {}", stage.name), reached));
        }
        from = &stage.name;
    }
    all.push(tally("total".into(), results));
    all
}

impl Tally<'_> {
    /// How often the target was found.
    pub fn found(&self) -> Rate {
        let successes = self.parts.iter().filter(|part| part["found"] == json!(true)).count();
        Rate { successes, trials: self.parts.len() }
    }

    /// The forms of what was found: of the stage, or for all stages together of the last.
    pub fn forms(&self) -> Forms {
        let found = self.parts.iter().filter(|part| part["found"] == json!(true));
        let last =
            found.map(|part| part["stages"].as_array().and_then(|stages| stages.last()).unwrap_or(part));
        Forms::count(last.filter_map(|stage| stage["form"].as_str()))
    }

    /// The spread of a number that every run tells.
    pub fn spread(&self, key: &str) -> Option<Spread> {
        Spread::of(self.parts.iter().filter_map(|part| part[key].as_f64()))
    }

    /// Its mean; not a number if no run tells it.
    pub fn mean(&self, key: &str) -> f64 {
        self.spread(key).map_or(f64::NAN, |spread| spread.mean)
    }
}

/// In which forms preconditioners were found, and how often each.
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

/// The most frequent first; nothing where no program has a preconditioner.
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

    #[test]
    fn forms_are_counted_where_something_was_found() {
        let stage = |found: bool, form: &str| json!({ "found": found, "form": form });
        let run = |stages: &[Value]| json!({ "found": true, "stages": stages });
        let runs = [
            run(&[stage(true, "Gram"), stage(true, "QR in turn, stable")]),
            run(&[stage(true, "Gram"), stage(true, "QR in turn, stable")]),
            run(&[stage(true, "Gram"), stage(true, "Gram")]),
            json!({ "found": false, "stages": [stage(false, "Gram")] }),
        ];
        let tally = |parts| Tally {
            curriculum: "c",
            transition: "t".into(),
            method: "best",
            label: "best".into(),
            parts,
        };
        assert_eq!(tally(runs.iter().collect()).forms().to_string(), "2 × QR in turn, stable; 1 × Gram");
        let first = runs.iter().map(|run| &run["stages"][0]).collect();
        assert_eq!(tally(first).forms().to_string(), "3 × Gram");
        let none = json!({ "found": true });
        assert_eq!(tally(vec![&none]).forms().to_string(), "");
    }
}
