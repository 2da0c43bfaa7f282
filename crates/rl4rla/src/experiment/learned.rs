//! Learned policies: fitted to the lessons of a store, and kept in files with the record of their training.

use super::lessons::{Lesson, Lessons};
use super::{ExperimentError, PolicySettings};
use crate::curriculum::Curriculum;
use crate::discovery::{EditChoice, Policy, UNIFORM_SHARE};
use crate::statistics::{LogitChoice, fit, log_likelihood};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

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
    /// Mean log-likelihood of an edit as a search proposes it, the uniform share included.
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
    /// Mean log-likelihood of an edit as a search proposes it, the uniform share included.
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

    /// Fits a policy to the lessons of a store, without those that give away something about these curricula, and
    /// measures how well it would do without each of the others.
    pub fn train(lessons: &Lessons, without: &[Curriculum]) -> Result<LearnedPolicy, ExperimentError> {
        let mut policy = LearnedPolicy::fit(lessons, without)?;
        let kept: Vec<&Lesson> = policy.training.lessons.iter().collect();
        let folds = lessons.curricula.values().map(|curriculum| Fold::new(&kept, curriculum));
        policy.training.held_out = folds.filter_map(|fold| fold.held_out()).collect();
        Ok(policy)
    }

    fn fit(lessons: &Lessons, without: &[Curriculum]) -> Result<LearnedPolicy, ExperimentError> {
        let kept = without.iter().fold(lessons.lessons.iter().collect(), |kept: Vec<&Lesson>, curriculum| {
            unspoiled(&kept, curriculum)
        });
        let choices = distinct(&kept);
        if choices.is_empty() {
            let message = "the store has no stage that found its target by edits to learn from";
            return Err(ExperimentError::new(message)
                .advise("`rl4rla sweep precond-weighted-sgd block-kaczmarz` with the same --store"));
        }
        let weights = fitted(&choices, RIDGE);
        let (edits, log_likelihood, uniform) = fit_of(&choices, &weights);
        let training = TrainingRecord {
            version: crate::VERSION.into(),
            ridge: RIDGE,
            without: without.iter().map(|curriculum| curriculum.name.clone()).collect(),
            choices: choices.len(),
            edits,
            log_likelihood,
            uniform,
            held_out: vec![],
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

    /// A policy fitted to the lessons of the one that comes with the library, without these curricula. How well it
    /// would do without others is not measured.
    pub fn shipped_without(without: &[Curriculum]) -> Result<LearnedPolicy, ExperimentError> {
        LearnedPolicy::fit(shipped_lessons(), without)
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

/// The lessons of the policy that comes with the library.
fn shipped_lessons() -> &'static Lessons {
    static LESSONS: OnceLock<Lessons> = OnceLock::new();
    LESSONS.get_or_init(|| Lessons::again(&LearnedPolicy::shipped().training.lessons))
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
    let mean = |weights: &[f64]| log_likelihood(&choices, weights, UNIFORM_SHARE) / edits;
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

    #[test]
    fn the_shipped_policy_is_what_its_record_says() {
        let LearnedPolicy { digest, training, weights, .. } = LearnedPolicy::shipped();
        assert!(training.lessons.iter().flat_map(|lesson| &lesson.seeds).all(|seed| *seed >= 1000));
        let again = LearnedPolicy::shipped_without(&[]).unwrap();
        let numbers =
            |record: &TrainingRecord| (record.choices, record.edits, record.log_likelihood, record.uniform);
        assert_eq!((again.digest, numbers(&again.training)), (digest, numbers(&training)));
        // One of the curricula; all of them take a while.
        let (left_out, kept) = ("sketched-precond-gd", again.training.lessons.iter().collect::<Vec<_>>());
        let fold = Fold::new(&kept, &shipped_lessons().curricula[left_out]);
        let stated = training.held_out.iter().find(|held_out| held_out.curriculum == left_out);
        assert_eq!(fold.held_out().as_ref(), stated);
        assert!(weights.weights.len() < 500 && training.log_likelihood > training.uniform);
    }

    #[test]
    fn no_curriculum_is_predicted_worse_than_by_chance_without_it() {
        let held_out = LearnedPolicy::shipped().training.held_out;
        assert!(held_out.len() >= 7);
        for HeldOutLikelihood { curriculum, log_likelihood, uniform, .. } in held_out {
            assert!(log_likelihood > uniform, "{curriculum}: {log_likelihood} {uniform}");
        }
    }

    #[test]
    fn what_is_left_out_teaches_nothing() {
        let [ls, newton] =
            ["subsampled-ls-gd", "newton-sketch"].map(|name| Curriculum::named(name).unwrap().unwrap());
        let policy = LearnedPolicy::shipped_without(std::slice::from_ref(&ls)).unwrap();
        assert!(!policy.settings(&ls).trained_here && policy.settings(&newton).trained_here);
        let stages: Vec<&str> = policy.training.lessons.iter().map(|lesson| &*lesson.stage).collect();
        assert!(stages.contains(&"block-kaczmarz"), "{stages:?}");
        // Other curricula find the targets of its first stages too.
        assert!(!stages.contains(&"landweber") && !stages.contains(&"ls-gd"), "{stages:?}");
        // From nothing to sketched preconditioning: on the way the search finds them as well.
        assert!(!stages.contains(&"gram-sketched"), "{stages:?}");
        assert!(LearnedPolicy::shipped().settings(&ls).trained_here);
    }
}
