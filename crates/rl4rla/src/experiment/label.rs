//! Labels of searches: a method with its settings and limits, built in one place so that a search has the same label
//! in all tables and figures, and different searches have different ones.

use super::words::whole;
use serde_json::Value;

/// Default δ.
const USUAL_DELTA: f64 = 0.05;

/// The label of a method with these settings and limits.
pub fn label<T: AsRef<str>>(method: &str, limits: impl IntoIterator<Item = T>) -> String {
    let mut name = method.to_string();
    for limit in limits {
        name += ", ";
        name += limit.as_ref();
    }
    name
}

/// The playout limit of a stage, in words.
pub fn playouts(most: u64) -> String {
    format!("{} playouts a stage", whole(most as f64))
}

/// The evaluation limit of a stage, in words.
pub fn evaluations(most: u64) -> String {
    format!("{} evaluations a stage", whole(most as f64))
}

/// The evaluation and playout limits of a whole run, in words.
pub fn run(evaluations: u64, playouts: u64) -> String {
    format!("{} evaluations and {} playouts a run", whole(evaluations as f64), whole(playouts as f64))
}

/// The playout limit of a decision, in words.
pub fn decision(most: u64) -> String {
    format!("{} playouts a decision", whole(most as f64))
}

/// The stored settings that differ from those of the curriculum; empty if none do. With the paper's curricula the two
/// settings of its figures get the names used there.
pub fn limits(curriculum: &str, settings: &Value) -> Vec<String> {
    let approach = &settings["approach"];
    let on = |key: &str| approach[key] == true;
    let mut words: Vec<String> = Vec::new();
    match (curriculum.starts_with("paper/"), on("released"), on("patient")) {
        (true, true, true) => words.push("released".into()),
        (true, false, true) => words.push("matched".into()),
        (_, released, patient) => {
            words.extend(released.then(|| "released constants".into()));
            words.extend(patient.then(|| "patient".into()));
        }
    }
    // Per stage or per decision, as the curriculum says.
    let most = |most: u64| format!("at most {} playouts", whole(most as f64));
    let budget = |budget: u64| if on("budget_per_decision") { decision(budget) } else { most(budget) };
    words.extend(approach["budget"].as_u64().map(budget));
    let alone = on("budget_per_decision") && approach["budget"].is_null();
    words.extend(alone.then(|| "budget by decision".into()));
    words.extend(approach["evaluations"].as_u64().map(evaluations));
    let run =
        |key: &str, of: &str| approach[key].as_u64().map(|most| format!("{} {of} a run", whole(most as f64)));
    words.extend(run("run_evaluations", "evaluations"));
    words.extend(run("run_playouts", "playouts"));
    words.extend(on("skip_closed").then(|| "skips closed".into()));
    words.extend(on("return_to_root").then(|| "returns to the root".into()));
    words.extend(on("from_targets").then(|| "from targets".into()));
    words.extend(approach["backup"].as_str().map(|rule| format!("back-up {rule}")));
    words.extend(approach["fresh"].as_str().map(|what| format!("fresh {what}")));
    let merge = &approach["merge"];
    words.extend((!merge.is_null()).then(|| format!("merge {}", plain(merge))));
    words.extend(approach["exploration"].as_f64().map(|c| format!("c = {c}")));
    words.extend(
        approach["delta"].as_f64().filter(|delta| *delta != USUAL_DELTA).map(|delta| format!("δ = {delta}")),
    );
    words.extend((settings["hints"] == false).then(|| "no hints".into()));
    words.extend((settings["typed"] == true).then(|| "typed".into()));
    words.extend(settings["policy"]["digest"].as_str().map(|digest| format!("policy {digest:.8}")));
    words.extend(settings["proposer"]["model"].as_str().map(|model| format!("proposed by {model}")));
    words
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{Approach, Fresh, Merge};
    use crate::experiment::SearchSettings;
    use crate::search::{Backup, Method};
    use std::collections::BTreeSet;

    fn name(curriculum: &str, approach: Approach) -> String {
        let settings: Value = serde_json::from_str(&SearchSettings::new(approach).json()).unwrap();
        label(approach.method.name(), limits(curriculum, &settings))
    }

    #[test]
    fn what_is_as_usual_is_not_named() {
        assert_eq!(name("sketched-precond-gd", Approach::new(Method::Best)), "best");
        assert_eq!(label("best", limits("c", &Value::Null)), "best", "settings of another version");
    }

    #[test]
    fn every_setting_makes_another_name() {
        let usual = Approach::new(Method::Best);
        let all = [
            usual,
            Approach { released: true, ..usual },
            Approach { patient: true, ..usual },
            Approach { released: true, patient: true, ..usual },
            Approach { budget: Some(500), ..usual },
            Approach { budget: Some(501), ..usual },
            Approach { evaluations: Some(500), ..usual },
            Approach { exploration: Some(0.5), ..usual },
            Approach { merge: Some(Merge::Fingerprint), ..usual },
            Approach { delta: 0.1, ..usual },
            Approach { method: Method::Mcts, ..usual },
            Approach { budget: Some(500), budget_per_decision: true, ..usual },
            Approach { budget_per_decision: true, ..usual },
            Approach { run_evaluations: Some(500), ..usual },
            Approach { run_playouts: Some(500), ..usual },
            Approach { skip_closed: true, ..usual },
            Approach { return_to_root: true, ..usual },
            Approach { from_targets: true, ..usual },
            Approach { backup: Some(Backup::Printed), ..usual },
            Approach { fresh: Some(Fresh::Draws), ..usual },
        ];
        for curriculum in ["c", "paper/c"] {
            let names: BTreeSet<String> = all.iter().map(|approach| name(curriculum, *approach)).collect();
            assert_eq!(names.len(), all.len(), "{names:?}");
        }
    }

    #[test]
    fn the_papers_settings_have_the_names_of_its_tables() {
        let released = Approach { released: true, patient: true, ..Approach::new(Method::Mcts) };
        assert_eq!(name("paper/block-kaczmarz", released), "mcts, released");
        let matched = Approach { released: false, ..released };
        assert_eq!(name("paper/block-kaczmarz", matched), "mcts, matched");
        let capped = Approach { evaluations: Some(12_000), ..Approach::new(Method::Best) };
        assert_eq!(name("c", capped), "best, 12\u{202f}000 evaluations a stage");
    }
}
