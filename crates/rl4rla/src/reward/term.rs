//! Terms: the parts of a reward, one row each. Keys of curricula, options and pages, weights, upper bounds and what a search
//! has to measure are all read from the rows.

use super::accuracy::ACCURACY;
use super::complexity::COMPLEXITY;
use super::condition::CONDITION;
use super::decay::DECAY;
use super::profile::Profile;
use crate::execute::Trace;
use crate::problem::{History, Instance, Task, Work};
use crate::program::{Registry, Taken};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A part of the reward: a number from 0 to 1 for every run.
pub struct RewardTerm {
    /// The key of its weight in curricula and of its value in results.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it judges, in a few words.
    pub doc: &'static str,
    /// What has to be measured for it besides the excess at both ends of a run; what a program costs is always known.
    pub needs: &'static [Need],
    /// Under the profile `sound`.
    pub sound: Formula,
    /// Under the profile `paper`.
    pub paper: Formula,
}

/// What a search measures only where a term asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Every iterate, not the first and the last alone: otherwise the histories hold NaN between their ends.
    Iterates,
    /// Losses, not excesses alone.
    Losses,
    /// R1 as a preconditioner of AᵀA: the term is 0 and not shown where the task knows none.
    Preconditioner,
}

/// How a term is computed under one profile.
#[derive(Clone, Copy)]
pub struct Formula {
    /// The term of a run: a pure function. What is not finite counts as 0, and the rest is clipped to [0, 1].
    pub compute: fn(&TermInput) -> f64,
    /// The most it can be for a program that does this work, whatever its run: programs that cannot lead are not run.
    pub most: fn(&dyn Task, &Work) -> f64,
    /// Whether it counts in the weighted mean. Where it does not, it counts as 0 with its weight.
    pub counts: bool,
}

impl Formula {
    /// A formula that can reach 1 at any price.
    pub const fn new(compute: fn(&TermInput) -> f64) -> Formula {
        Formula { compute, most: |_, _| 1.0, counts: true }
    }

    /// The term of a run, by the rule for what is no number from 0 to 1.
    pub(super) fn value(&self, input: &TermInput) -> f64 {
        let value = (self.compute)(input);
        if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The most it can be; 1 where no number is given.
    pub(super) fn bound(&self, task: &dyn Task, work: &Work) -> f64 {
        let most = (self.most)(task, work);
        if most.is_finite() { most.clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// What a term is computed from. A search runs programs in reduced coordinates: lengths, angles and the iterate x are those of
/// the true problem, rows of A and entries of b are not.
pub struct TermInput<'a> {
    /// What was run on.
    pub instance: &'a Instance,
    /// The run.
    pub trace: &'a Trace,
    /// How it is rewarded.
    pub profile: &'a Profile,
    pub(super) price: &'a dyn Fn() -> Work,
}

impl TermInput<'_> {
    /// What the run cost, as the profile counts it.
    pub fn work(&self) -> Work {
        (self.price)()
    }

    /// Its losses and excesses.
    pub fn history(&self) -> History<'_> {
        History { instance: self.instance, losses: &self.trace.residuals, excesses: &self.trace.excesses }
    }

    /// The last loss.
    pub fn loss(&self) -> f64 {
        *self.trace.residuals.last().expect("a history holds at least the start")
    }
}

impl RewardTerm {
    /// A term with one formula for both profiles, for which every iterate is measured.
    pub const fn new(
        key: &'static str,
        title: &'static str,
        doc: &'static str,
        compute: fn(&TermInput) -> f64,
    ) -> RewardTerm {
        let formula = Formula::new(compute);
        RewardTerm { key, title, doc, needs: &[Need::Iterates, Need::Losses], sound: formula, paper: formula }
    }

    /// Whether it means anything for problems of this task.
    pub fn applies(&self, task: &dyn Task) -> bool {
        !self.needs.contains(&Need::Preconditioner) || task.is_least_squares()
    }
}

/// The terms of this crate, in the order they are added up.
static BUILTIN: [&RewardTerm; 4] = [&ACCURACY, &DECAY, &COMPLEXITY, &CONDITION];

static REGISTERED: Registry<&'static RewardTerm> = Registry::new();

/// The most terms there can be.
pub(super) const MOST: usize = 8;

/// A term, by its place in the table: what weights and terms are indexed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TermIndex(usize);

impl TermIndex {
    /// Accuracy.
    pub const ACC: TermIndex = TermIndex(0);
    /// Decay.
    pub const DECAY: TermIndex = TermIndex(1);
    /// Complexity.
    pub const COMP: TermIndex = TermIndex(2);
    /// Condition.
    pub const COND: TermIndex = TermIndex(3);
    /// The terms of this crate.
    pub const BUILTIN: [TermIndex; 4] = [Self::ACC, Self::DECAY, Self::COMP, Self::COND];

    /// Every term: those of this crate, and those registered since.
    pub fn all() -> impl Iterator<Item = TermIndex> {
        (0..BUILTIN.len() + REGISTERED.all().len()).map(TermIndex)
    }

    /// Every place there can be.
    pub(super) fn places() -> impl Iterator<Item = TermIndex> {
        (0..MOST).map(TermIndex)
    }

    /// The term of this key.
    pub fn named(key: &str) -> Option<TermIndex> {
        TermIndex::all().find(|term| term.row().key == key)
    }

    /// Its place in the table.
    pub(super) fn place(self) -> usize {
        self.0
    }

    /// Its row.
    pub fn row(self) -> &'static RewardTerm {
        let registered = || REGISTERED.all().nth(self.0 - BUILTIN.len()).expect("terms are never removed");
        BUILTIN.get(self.0).copied().unwrap_or_else(registered)
    }
}

/// Keys that mean something else where the keys of terms stand: in the reward of a stage and in results.
#[rustfmt::skip]
const RESERVED: [&str; 45] = [
    "profile", "condition-only", "ungated", "epsilon", "unit", "rows", "cols",
    "algorithm", "attainable", "auxiliary", "candidates", "equation", "evaluations", "excess", "excess_history",
    "failures", "family", "flops", "form", "found", "front", "history", "instances", "iterations", "kappas", "matched",
    "name", "node_visits", "passes", "playouts", "program", "programs", "reason", "residual", "reward", "reward_error",
    "revisit_rate", "runs", "seconds", "seed", "stable", "step", "stop", "transposition_rate", "unique_states",
];

/// Why a term cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TermError {
    /// Its key is no word of small letters, digits, `-` and `_`.
    Key,
    /// Its key stands for something else.
    Taken,
    /// There are as many terms as there can be.
    Full,
}

impl fmt::Display for TermError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TermError::Key => {
                f.write_str("the key of a reward term is made of small letters, digits, `-` and `_`")
            }
            TermError::Taken => f.write_str("the key of the reward term is taken"),
            TermError::Full => write!(f, "there are {MOST} reward terms, and there can be no more"),
        }
    }
}

impl std::error::Error for TermError {}

/// Makes a term known: from here on curricula and options may give it a weight by its key. Without one its weight is 0, and
/// it is neither computed nor shown.
pub fn register(term: &'static RewardTerm) -> Result<TermIndex, TermError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if term.key.is_empty() || !term.key.chars().all(plain) {
        return Err(TermError::Key);
    }
    if RESERVED.contains(&term.key) {
        return Err(TermError::Taken);
    }
    // One at a time, so that the number of terms is the next one's place.
    static ADDING: Mutex<()> = Mutex::new(());
    let _adding = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
    let place = TermIndex::all().count();
    if place == MOST && TermIndex::named(term.key).is_none() {
        return Err(TermError::Full);
    }
    let added = REGISTERED.add(term, |known| known.key == term.key, BUILTIN.into_iter());
    added.map(|_| TermIndex(place)).map_err(|Taken| TermError::Taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_word_of_its_own() {
        for (key, why) in [
            ("", TermError::Key),
            ("Big", TermError::Key),
            ("acc", TermError::Taken),
            ("flops", TermError::Taken),
        ] {
            let term = Box::leak(Box::new(RewardTerm::new(key, key, "", |_| 1.0)));
            assert_eq!(register(term), Err(why), "{key}");
        }
        let keys: Vec<&str> = TermIndex::BUILTIN.iter().map(|term| term.row().key).collect();
        assert_eq!(keys, ["acc", "decay", "comp", "cond"]);
        assert!(TermIndex::BUILTIN.iter().all(|term| TermIndex::named(term.row().key) == Some(*term)));
    }

    #[test]
    fn what_is_no_number_from_0_to_1_is_made_one() {
        let family = crate::problem::Family::named("psd").unwrap();
        let instance = family.draw(&crate::rng::Stream::new(1)).unwrap();
        let trace = Trace {
            residuals: vec![1.0],
            excesses: vec![1.0],
            x: vec![],
            preconditioner: None,
            preconditioner_name: None,
            passes: 0,
        };
        let price = || unreachable!("nobody asks for the price");
        let input =
            TermInput { instance: &instance, trace: &trace, profile: &Profile::sound(), price: &price };
        let value = |compute| Formula::new(compute).value(&input);
        assert_eq!([value(|_| f64::NAN), value(|_| f64::INFINITY), value(|_| -3.0)], [0.0; 3]);
        assert_eq!([value(|_| 3.0), value(|_| 0.25)], [1.0, 0.25]);
    }
}
