//! Tallies: what the runs of a campaign came to, transition by transition.

use crate::campaign::Campaign;
use rl4rla::report::{Rate, Spread};
use serde_json::{Value, json};

/// One transition of a campaign, or all of them together.
pub struct Tally<'a> {
    /// The curriculum's name.
    pub curriculum: &'a str,
    /// From which program to which; `total` for all together.
    pub transition: String,
    /// The method's name.
    pub method: &'static str,
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

    /// The spread of a number that every run tells.
    pub fn spread(&self, key: &str) -> Option<Spread> {
        Spread::of(self.parts.iter().filter_map(|part| part[key].as_f64()))
    }

    /// Its mean; not a number if no run tells it.
    pub fn mean(&self, key: &str) -> f64 {
        self.spread(key).map_or(f64::NAN, |spread| spread.mean)
    }
}
