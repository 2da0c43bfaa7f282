//! Searches and tasks in words. Searches with the same name have different labels.

use super::manifest::{Manifest, PlannedSearch, SearchEntry};
use super::task::CampaignTask;
use crate::experiment::label::{label, limits};
use crate::explore::ExploreRequest;
use rustc_hash::FxHashMap;
use serde_json::Value;

impl Manifest {
    /// What tells a search from others with the same name.
    pub fn label(&self, search: usize) -> String {
        self.label_of(search, &mut FxHashMap::default())
    }

    /// The same for all of them.
    pub(super) fn labels(&self) -> Vec<String> {
        let mut parsed = FxHashMap::default();
        (0..self.searches()).map(|search| self.label_of(search, &mut parsed)).collect()
    }

    /// The same with the settings that were parsed before, which many searches may share.
    fn label_of(&self, search: usize, parsed: &mut FxHashMap<usize, Value>) -> String {
        match &self.searches[search].what {
            PlannedSearch::Sweep { curriculum, settings, alone } => {
                let settings =
                    parsed.entry(*settings).or_insert_with(|| named_settings(&self.settings[*settings]));
                let method = settings["approach"]["method"].as_str().unwrap_or_default();
                let mut words = limits(&self.curricula[*curriculum].0, settings);
                words.extend(alone.then(|| "alone".into()));
                label(method, words)
            }
            PlannedSearch::Explore { request } => {
                let short =
                    |kappa: &f64| if *kappa < 1e4 { format!("{kappa}") } else { format!("{kappa:e}") };
                let kappas: Vec<String> = request.kappas.iter().map(short).collect();
                let size = format!("{}×{}, κ = {}", request.rows, request.cols, kappas.join(", "));
                let differences = self.differences.get(&request.family);
                label(&size, differences.map(|known| known.named(request)).unwrap_or_default())
            }
            PlannedSearch::Audit { budget, hints, typed, .. } => {
                let mut words = vec![format!("at most {budget} states")];
                words.extend((!hints).then(|| "no hints".into()));
                words.extend(typed.then(|| "typed".into()));
                words.join(", ")
            }
        }
    }

    /// A task in words.
    pub fn describe(&self, number: u64) -> String {
        let CampaignTask { search, seed, .. } = self.task(number);
        format!("{} {} · {} · seed {seed}", self.kind(search).name(), self.name(search), self.label(search))
    }
}

/// What labels name of the settings of a sweep.
fn named_settings(text: &str) -> Value {
    let mut settings: Value = serde_json::from_str(text).unwrap_or_default();
    // The table of a policy may be large; it is named by its digest.
    if let Some(weights) = settings.pointer_mut("/policy/weights") {
        weights.take();
    }
    settings
}

/// Number of the [`words`] of a request.
const WORDS: usize = 13;

/// In what the explorations of a family differ, besides size and κ.
#[derive(Clone, Debug)]
pub(super) struct Differences {
    /// The words of the first exploration, and which of them differ from those of another one.
    first: [String; WORDS],
    differ: [bool; WORDS],
    /// The operators of the first, and whether they differ from those of another one.
    operators: Vec<String>,
    operators_differ: bool,
    /// The number of operators at the beginning and at the end of all lists that are the same, and of the shortest list.
    before: usize,
    after: usize,
    shortest: usize,
}

impl Differences {
    /// The differences of every family.
    pub(super) fn by_family(searches: &[SearchEntry]) -> FxHashMap<String, Differences> {
        let mut families: FxHashMap<String, Differences> = FxHashMap::default();
        for entry in searches {
            let PlannedSearch::Explore { request } = &entry.what else { continue };
            match families.get_mut(&request.family) {
                Some(known) => known.add(request),
                None => _ = families.insert(request.family.clone(), Differences::new(request)),
            }
        }
        families
    }

    fn new(request: &ExploreRequest) -> Differences {
        let [before, after, shortest] = [request.operators.len(); 3];
        let (first, operators) = (words(request), request.operators.clone());
        let (differ, operators_differ) = ([false; WORDS], false);
        Differences { first, differ, operators, operators_differ, before, after, shortest }
    }

    fn add(&mut self, request: &ExploreRequest) {
        for (place, word) in words(request).into_iter().enumerate() {
            self.differ[place] |= word != self.first[place];
        }
        let (first, others) = (&self.operators, &request.operators);
        let same = |(first, other): &(&String, &String)| first == other;
        let before = first.iter().zip(others).take_while(same).count();
        let after = first.iter().rev().zip(others.iter().rev()).take_while(same).count();
        self.operators_differ |= first != others;
        self.before = self.before.min(before);
        self.after = self.after.min(after);
        self.shortest = self.shortest.min(others.len());
    }

    /// The words of an exploration in which others differ.
    fn named(&self, request: &ExploreRequest) -> Vec<String> {
        let words = words(request).into_iter().zip(self.differ);
        let named = words.filter_map(|(word, differs)| differs.then_some(word));
        named.chain(self.operators_differ.then(|| self.own_operators(request))).collect()
    }

    /// The operators without those that all lists begin or end with, because lists are long and mostly the same.
    fn own_operators(&self, request: &ExploreRequest) -> String {
        // A short list may begin and end with the same operators.
        let after = self.after.min(self.shortest - self.before);
        match &request.operators[self.before..request.operators.len() - after] {
            [] => "no more operators".into(),
            own => format!("operators +{}", own.join(" +")),
        }
    }
}

/// The fields of a request in the words of its options, except family, size, κ, operators and seed.
fn words(request: &ExploreRequest) -> [String; WORDS] {
    // All by name, so that none is forgotten.
    let ExploreRequest {
        family: _,
        rows: _,
        cols: _,
        kappas: _,
        operators: _,
        seed: _,
        leverage,
        right,
        outside,
        numbers,
        tolerance,
        edits,
        sketch,
        sketch_factor,
        without,
        evolve,
        held_out,
        hall,
        resembles,
    } = request;
    let tuned = || "tuned".to_string();
    let numbers: Vec<String> = numbers.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let without: Vec<String> = without.iter().map(|part| format!("{part:?}").to_lowercase()).collect();
    [
        format!("leverage {}", leverage.name()),
        format!("right {}", right.name()),
        format!("outside {outside}"),
        if numbers.is_empty() { "usual parameters".into() } else { numbers.join(", ") },
        format!("tolerance {tolerance:e}"),
        format!("edits {edits}"),
        format!("sketch {}", sketch.map_or_else(tuned, |kind| kind.to_string())),
        format!("sketch-factor {}", sketch_factor.map_or_else(tuned, |factor| factor.to_string())),
        if without.is_empty() { "all parts".into() } else { format!("without {}", without.join(" and ")) },
        format!("evolve {evolve}"),
        format!("held-out {held_out}"),
        format!("hall {hall}"),
        resembles.as_ref().map_or_else(|| "like no data".into(), |data| format!("like {data}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::plan::CampaignPlan;
    use super::super::task::CampaignSearch;
    use super::super::testing::{alone, header, mixed_plan, small_sweep, unknown_family};
    use super::*;
    use crate::execute::SketchKind;
    use crate::explore::SearchPart;
    use crate::problem::{Leverage, Right};
    use crate::search::Method;
    use std::collections::BTreeSet;

    fn request() -> ExploreRequest {
        match unknown_family() {
            CampaignSearch::Explore(request) => *request,
            _ => panic!("an exploration"),
        }
    }

    /// The labels of explorations of one campaign.
    fn labels(requests: &[ExploreRequest]) -> Vec<String> {
        let mut plan = CampaignPlan::new(header("labels"));
        let search = |request: &ExploreRequest| (CampaignSearch::Explore(Box::new(request.clone())), 1.0);
        plan.add(3, 1, requests.iter().map(search)).unwrap();
        let (planned, text) = plan.finish().unwrap();
        let manifest = Manifest::parse(&text).unwrap();
        let labels = manifest.labels();
        assert_eq!(planned.labels(), labels);
        for (search, label) in labels.iter().enumerate() {
            assert_eq!(&manifest.label(search), label);
            let (name, task) = (manifest.name(search), manifest.describe(search as u64));
            assert_eq!(task, format!("explore {name} · {label} · seed 3"));
        }
        labels
    }

    #[test]
    fn explorations_that_differ_in_any_field_have_different_labels() {
        let usual = request();
        let changed = |change: fn(&mut ExploreRequest)| {
            let mut request = usual.clone();
            change(&mut request);
            request
        };
        let changes = [
            (changed(|r| r.rows = 41), "41×4, κ = 4"),
            (changed(|r| r.cols = 5), "40×5, κ = 4"),
            (changed(|r| r.kappas = vec![4.0, 1e8]), "40×4, κ = 4, 1e8"),
            (changed(|r| r.leverage = Leverage::High), "leverage high"),
            (changed(|r| r.right = Right::StudentT), "right student-t"),
            (changed(|r| r.outside = 0.5), "outside 0.5"),
            (changed(|r| r.numbers = [("rank".into(), 7.0)].into()), "rank 7"),
            (changed(|r| r.tolerance = 1e-8), "tolerance 1e-8"),
            (changed(|r| r.operators = vec!["HHQR".into()]), "operators +HHQR"),
            (changed(|r| r.edits = 3), "edits 3"),
            (changed(|r| r.sketch = Some(SketchKind::Sjlt)), "sketch sjlt"),
            (changed(|r| r.sketch_factor = Some(2.5)), "sketch-factor 2.5"),
            (changed(|r| r.without = vec![SearchPart::Start]), "without start"),
            (changed(|r| r.evolve = 9), "evolve 9"),
            (changed(|r| r.held_out = 3), "held-out 3"),
            (changed(|r| r.hall = 3), "hall 3"),
            (changed(|r| r.resembles = Some("a.csv".into())), "like a.csv"),
        ];
        for (other, words) in &changes {
            let [first, second] = &labels(&[usual.clone(), other.clone()])[..] else { panic!("two labels") };
            assert!(first != second && second.ends_with(words), "{first}; {second}");
            assert!(first.matches(", ").count() <= 2, "{first} names what is the same");
        }
        let all: Vec<ExploreRequest> =
            changes.map(|(request, _)| request).into_iter().chain([usual]).collect();
        let labels: BTreeSet<String> = labels(&all).into_iter().collect();
        assert_eq!(labels.len(), all.len(), "{labels:?}");
    }

    #[test]
    fn an_exploration_is_told_apart_from_those_of_its_family_alone() {
        let other = ExploreRequest { family: "other".into(), edits: 3, ..request() };
        let larger = ExploreRequest { rows: 50, ..request() };
        assert_eq!(labels(&[request(), other, larger]), ["40×4, κ = 4", "40×4, κ = 4", "50×4, κ = 4"]);
    }

    #[test]
    fn of_lists_of_operators_only_the_middle_is_named() {
        let words = |lists: &[&str]| -> Vec<String> {
            let operators = |list: &&str| list.split_whitespace().map(String::from).collect();
            let of = |list| ExploreRequest { operators: operators(list), ..request() };
            let labels = labels(&lists.iter().map(of).collect::<Vec<_>>());
            labels.iter().map(|label| label.trim_start_matches("40×4, κ = 4, ").into()).collect()
        };
        assert_eq!(words(&["A B C D", "A D"]), ["operators +B +C", "no more operators"]);
        assert_eq!(words(&["A B A", "A", "A A"]), ["operators +B +A", "no more operators", "operators +A"]);
        assert_eq!(words(&["A B", "B A", ""]), ["operators +A +B", "operators +B +A", "no more operators"]);
    }

    #[test]
    fn runs_whose_times_matter_are_told_apart() {
        let mut plan = CampaignPlan::new(header("alone"));
        plan.add(0, 1, [small_sweep(Method::Best), alone(Method::Best)].map(|search| (search, 1.0))).unwrap();
        assert_eq!(plan.finish().unwrap().0.labels(), ["best", "best, alone"]);
    }

    #[test]
    fn labels_together_are_those_of_each() {
        let (manifest, _) = mixed_plan(1).finish().unwrap();
        let each: Vec<String> = (0..3).map(|search| manifest.label(search)).collect();
        assert_eq!(manifest.labels(), each);
        assert_eq!(each, ["best", "random", "at most 100000 states"]);
    }
}
