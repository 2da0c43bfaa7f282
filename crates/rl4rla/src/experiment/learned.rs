//! Learned policies: fitted to the lessons of a store, and kept in files with the record of their training.

use super::lessons::{Lesson, Lessons};
use super::{ExperimentError, PolicySettings};
use crate::curriculum::Curriculum;
use crate::discovery::{EditChoice, Policy};
use crate::statistics::{LogitChoice, fit, log_likelihood};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A policy as its file has it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LearnedPolicy {
    /// Version of this format.
    pub format: u32,
    /// The digest of the table.
    pub digest: String,
    /// The table.
    pub weights: Policy,
    /// What it was fitted to.
    pub training: TrainingRecord,
}

/// What a policy was fitted to, and how well.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// The version that fitted it.
    pub version: String,
    /// The ridge of the fit.
    pub ridge: f64,
    /// Curricula that were left out, with every lesson that found one of their targets.
    pub without: Vec<String>,
    /// Number of choices.
    pub choices: usize,
    /// Number of edits that were learned: the total weight of the choices.
    pub edits: f64,
    /// Mean log-likelihood of an edit.
    pub log_likelihood: f64,
    /// The same of uniform choices.
    pub uniform: f64,
    /// How well a policy without a curriculum predicts it.
    pub held_out: Vec<HeldOutLikelihood>,
    /// The lessons.
    pub lessons: Vec<Lesson>,
}

/// How well a policy that knows nothing of a curriculum predicts the edits there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HeldOutLikelihood {
    /// The curriculum.
    pub curriculum: String,
    /// Lessons left to learn from.
    pub lessons: usize,
    /// Number of edits predicted.
    pub edits: f64,
    /// Mean log-likelihood of an edit.
    pub log_likelihood: f64,
    /// The same of uniform choices.
    pub uniform: f64,
}

/// λ of the penalty λ/2·‖w‖²: a prior of variance one for every weight.
const RIDGE: f64 = 1.0;

/// Weights are rounded to multiples of 1/`FINE`: enough for probabilities, and short to read.
const FINE: f64 = 1e4;

/// The policy that comes with the library.
const SHIPPED: &str = include_str!("../../policies/shipped.json");

impl LearnedPolicy {
    /// The format of the files.
    pub const FORMAT: u32 = 1;

    /// Fits a policy to the lessons of a store, without those that give away something about these curricula.
    pub fn train(lessons: &Lessons, without: &[Curriculum]) -> Result<LearnedPolicy, ExperimentError> {
        let mut kept: Vec<&Lesson> = lessons.lessons.iter().collect();
        without.iter().for_each(|curriculum| kept = unspoiled(&kept, curriculum));
        let choices = distinct(&kept);
        if choices.is_empty() {
            let message = "the store has no stage that found its target by edits to learn from";
            return Err(ExperimentError::new(message)
                .advise("`rl4rla sweep precond-weighted-sgd block-kaczmarz` with the same --store"));
        }
        let folds: Vec<Fold> =
            lessons.curricula.values().map(|curriculum| Fold::new(&kept, curriculum)).collect();
        let weights = fitted(&choices, RIDGE);
        let (edits, log_likelihood, uniform) = fit_of(&choices, &weights);
        let held_out = folds.iter().filter_map(|fold| fold.held_out());
        let training = TrainingRecord {
            version: crate::VERSION.into(),
            ridge: RIDGE,
            without: without.iter().map(|curriculum| curriculum.name.clone()).collect(),
            choices: choices.len(),
            edits,
            log_likelihood,
            uniform,
            held_out: held_out.collect(),
            lessons: kept.into_iter().cloned().collect(),
        };
        Ok(LearnedPolicy { format: Self::FORMAT, digest: weights.digest(), weights, training })
    }

    /// The policy that comes with the library.
    ///
    /// # Panics
    /// Never: a test reads it.
    pub fn shipped() -> LearnedPolicy {
        LearnedPolicy::parse(SHIPPED).expect("the shipped policy is whole")
    }

    /// Reads a file.
    pub fn parse(text: &str) -> Result<LearnedPolicy, ExperimentError> {
        let refused =
            |why: String| ExperimentError::new(why).advise("`rl4rla learn --out FILE` writes a policy");
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head =
            serde_json::from_str(text).map_err(|error| refused(format!("it is not a policy: {error}")))?;
        if head.format != Self::FORMAT {
            let known = Self::FORMAT;
            return Err(refused(format!(
                "its format is {}, but this version reads format {known}",
                head.format
            )));
        }
        let policy: LearnedPolicy =
            serde_json::from_str(text).map_err(|error| refused(format!("it is not a policy: {error}")))?;
        if policy.weights.weights.is_empty() {
            return Err(refused("its table of weights is empty".into()));
        }
        if let Some((name, weight)) = policy.weights.weights.iter().find(|(_, weight)| !weight.is_finite()) {
            return Err(refused(format!("the weight of `{name}` is {weight}, not a finite number")));
        }
        let digest = policy.weights.digest();
        if digest != policy.digest {
            let found = &policy.digest;
            return Err(refused(format!(
                "it is damaged: its table has digest {digest}, but {found} is stated"
            )));
        }
        Ok(policy)
    }

    /// The file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a policy is plain data") + "\n"
    }

    /// The settings of a run of this curriculum with this policy.
    pub fn settings(&self, curriculum: &Curriculum) -> PolicySettings {
        let lessons: Vec<&Lesson> = self.training.lessons.iter().collect();
        PolicySettings {
            digest: self.digest.clone(),
            trained_here: !Lesson::spoiling(&lessons, curriculum).is_empty(),
            weights: self.weights.clone(),
        }
    }
}

/// The lessons that give away nothing about a curriculum.
fn unspoiled<'a>(lessons: &[&'a Lesson], curriculum: &Curriculum) -> Vec<&'a Lesson> {
    let spoiling = Lesson::spoiling(lessons, curriculum);
    lessons.iter().filter(|lesson| !spoiling.contains(lesson)).copied().collect()
}

/// A curriculum to be predicted, and what is left to learn from.
struct Fold<'a> {
    curriculum: String,
    lessons: usize,
    own: Vec<&'a EditChoice>,
    training: Vec<&'a EditChoice>,
}

impl<'a> Fold<'a> {
    fn new(lessons: &[&'a Lesson], curriculum: &Curriculum) -> Fold<'a> {
        let is_own = |lesson: &&&Lesson| lesson.curriculum == curriculum.name;
        let own: Vec<&Lesson> = lessons.iter().filter(is_own).copied().collect();
        let others = unspoiled(lessons, curriculum);
        Fold {
            curriculum: curriculum.name.clone(),
            lessons: others.len(),
            own: distinct(&own),
            training: distinct(&others),
        }
    }

    /// How well a policy of the others predicts it; `None` if there is nothing to predict or to learn from.
    fn held_out(&self) -> Option<HeldOutLikelihood> {
        let (edits, log_likelihood, uniform) = fit_of(&self.own, &fitted(&self.training, RIDGE));
        let (curriculum, lessons) = (self.curriculum.clone(), self.lessons);
        let held_out = HeldOutLikelihood { curriculum, lessons, edits, log_likelihood, uniform };
        (edits > 0.0 && lessons > 0).then_some(held_out)
    }
}

/// The choices of these lessons; what several lessons show in the same way counts once.
fn distinct<'a>(lessons: &[&'a Lesson]) -> Vec<&'a EditChoice> {
    let mut known: Vec<&Lesson> = Vec::new();
    for &lesson in lessons {
        let same = |other: &&Lesson| {
            (&other.start, &other.program, &other.choices)
                == (&lesson.start, &lesson.program, &lesson.choices)
        };
        if !known.iter().any(same) {
            known.push(lesson);
        }
    }
    known.into_iter().flat_map(|lesson| &lesson.choices).collect()
}

/// The policy with the highest penalized likelihood.
fn fitted(choices: &[&EditChoice], ridge: f64) -> Policy {
    let mut names = BTreeMap::new();
    for name in choices.iter().flat_map(|choice| choice.features.iter().flatten()) {
        names.entry(name.as_str()).or_insert(0);
    }
    names.values_mut().zip(0..).for_each(|(place, number)| *place = number);
    let weights = fit(&numbered(choices, &names), names.len(), ridge);
    let round = |weight: f64| (weight * FINE).round() / FINE;
    let table = names.keys().zip(weights).map(|(name, weight)| (name.to_string(), round(weight)));
    Policy { weights: table.filter(|(_, weight)| *weight != 0.0).collect() }
}

/// The number of edits, and their mean log-likelihood by a policy and by uniform choices.
fn fit_of(choices: &[&EditChoice], policy: &Policy) -> (f64, f64, f64) {
    let names: BTreeMap<&str, u32> = policy.weights.keys().map(String::as_str).zip(0..).collect();
    let weights: Vec<f64> = policy.weights.values().copied().collect();
    let choices = numbered(choices, &names);
    let edits: f64 = choices.iter().flat_map(|choice| &choice.taken).sum();
    let mean = |weights: &[f64]| log_likelihood(&choices, weights) / edits;
    (edits, mean(&weights), mean(&vec![0.0; weights.len()]))
}

/// The choices with features as numbers; those without a number weigh nothing and are left out.
fn numbered(choices: &[&EditChoice], names: &BTreeMap<&str, u32>) -> Vec<LogitChoice> {
    let number = |name: &String| names.get(name.as_str()).copied();
    let numbers = |features: &Vec<String>| features.iter().filter_map(number).collect();
    let choice = |choice: &&EditChoice| LogitChoice {
        alternatives: choice.features.iter().map(numbers).collect(),
        taken: choice.taken.clone(),
    };
    choices.iter().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::demonstration;
    use crate::program::Document;

    /// The lessons of a training record with their choices, from the curricula that come with the library.
    fn lessons(training: &TrainingRecord) -> Vec<Lesson> {
        let lesson = |lesson: &Lesson| {
            let curriculum = Curriculum::named(&lesson.curriculum).unwrap().unwrap();
            let (stage, _) = curriculum.stages.iter().find(|(stage, _)| stage.name == lesson.stage).unwrap();
            let [start, found] =
                [&lesson.start, &lesson.program].map(|text| text.parse::<Document>().unwrap().program);
            let choices = demonstration(&stage.grammar, stage.edits, &start, &found);
            assert!(!lesson.seeds.is_empty() && lesson.seeds.iter().all(|seed| *seed >= 1000));
            Lesson { choices, ..lesson.clone() }
        };
        training.lessons.iter().map(lesson).collect()
    }

    #[test]
    fn the_shipped_policy_is_what_its_record_says() {
        let LearnedPolicy { digest, training, weights, .. } = LearnedPolicy::shipped();
        let lessons = lessons(&training);
        let choices = distinct(&lessons.iter().collect::<Vec<_>>());
        let again = fitted(&choices, training.ridge);
        assert_eq!((again.digest(), choices.len()), (digest, training.choices));
        assert_eq!(fit_of(&choices, &again), (training.edits, training.log_likelihood, training.uniform));
        assert!(weights.weights.len() < 400 && training.log_likelihood > training.uniform);
        let trained_on = |name: &str| {
            LearnedPolicy::shipped().settings(&Curriculum::named(name).unwrap().unwrap()).trained_here
        };
        assert!(trained_on("block-kaczmarz") && !trained_on("newton-sketch"));
    }
}
