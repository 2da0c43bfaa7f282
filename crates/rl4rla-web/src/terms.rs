//! The terms of the reward of programs that were the best for a while. The store has their rewards; the terms are computed
//! again, on the same instances, and kept. That takes time, so each answer waits for a few of them only, one at a time; the
//! next answer has more.

use crate::outline::RunOutline;
use rl4rla::discovery::{Bench, Executor, Problems, Stage};
use rl4rla::problem::InstanceSet;
use rl4rla::program::Document;
use rl4rla::store::Run;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Programs whose terms are kept.
const KEPT: usize = 4096;

/// A program of a stage of a run.
type Place = (String, usize, String);

/// How long an answer waits for terms.
pub const WAIT: Duration = Duration::from_millis(300);

/// MeasuredTerms that were computed.
#[derive(Default)]
pub struct KnownTerms {
    known: Mutex<BTreeMap<Place, Value>>,
    measuring: Mutex<()>,
}

impl KnownTerms {
    /// The terms of a program of a run's stage: none if they cannot be computed, null if that has to wait for another answer.
    pub fn find(
        &self,
        run: &Run,
        stage: usize,
        program: &str,
        until: Instant,
        measure: impl FnOnce() -> Option<Value>,
    ) -> Value {
        let place = (run.row.id.to_string(), stage, program.to_string());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terms) = known().get(&place) {
            return terms.clone();
        }
        let Ok(_alone) = self.measuring.try_lock() else { return Value::Null };
        if Instant::now() > until {
            return Value::Null;
        }
        let terms = measure().unwrap_or_else(|| json!({}));
        let mut known = known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(place, terms.clone());
        terms
    }
}

/// Measures programs as a run does.
pub struct MeasuredTerms<'a> {
    outline: &'a RunOutline,
    seed: u64,
    problems: Problems,
}

impl<'a> MeasuredTerms<'a> {
    /// The terms of a run's programs.
    pub fn of(run: &Run, outline: &'a RunOutline) -> MeasuredTerms<'a> {
        MeasuredTerms { outline, seed: run.row.seed, problems: Problems::default() }
    }

    /// The means of the terms on the search instances; `None` if they cannot be computed.
    pub fn measure(&self, number: usize, program: &str) -> Option<Value> {
        let (curriculum, settings) = self.outline.parts()?;
        let (stage, _) = curriculum.stages.get(number)?;
        // Instances of files are not drawn here, and those that every evaluation draws anew are not those of the search.
        if stage.families.iter().any(|family| family.is_of_table()) {
            return None;
        }
        let fresh = settings.approach.fresh.unwrap_or(stage.instances.fresh);
        let instances = rl4rla::discovery::Instances { fresh, ..stage.instances };
        let stage = &Stage { instances, ..stage.clone() };
        let program = program.parse::<Document>().ok()?.program;
        let known = Default::default();
        let bench = Bench::new(stage, InstanceSet::Search, self.seed, number, &known, &self.problems).ok()?;
        let count = stage.instances.search;
        let scores: Vec<_> =
            (0..count).map(|index| bench.score(&program, index, Executor::Reduced)).collect();
        let mean = |of: &dyn Fn(&rl4rla::reward::Score) -> f64| {
            scores.iter().map(of).sum::<f64>() / count.max(1) as f64
        };
        let terms = stage.protocol.profile.shown().into_iter();
        let terms = terms.map(|term| (term.row().key.to_string(), json!(mean(&|score| score.terms[term]))));
        Some(Value::Object(terms.collect::<Map<String, Value>>()))
    }
}
