//! Reward terms, one table row each. Weight keys in curricula and options, keys in results, upper bounds and what a
//! search must measure are all read from the rows.

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

/// A reward term: a number from 0 to 1 for every run.
pub struct RewardTerm {
    /// The key of its weight in curricula and of its value in results.
    pub key: &'static str,
    /// Display name.
    pub title: &'static str,
    /// What it measures, in a few words.
    pub doc: &'static str,
    /// What must be measured for it besides the excess at both ends of a run; the cost of a program is always known.
    pub needs: &'static [Need],
    /// Under the profile `sound`.
    pub sound: Formula,
    /// Under the profile `paper`.
    pub paper: Formula,
}

/// A measurement that a search makes only if a term needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Every iterate instead of only the first and the last; without this the histories contain NaN in between.
    Iterates,
    /// Losses in addition to excesses.
    Losses,
    /// R1 as a preconditioner of AᵀA: the term is 0 and not shown for tasks without one.
    Preconditioner,
}

/// How a term is computed under one profile.
#[derive(Clone, Copy)]
pub struct Formula {
    /// The term of a run: a pure function. Non-finite values count as 0, others are clipped to [0, 1].
    pub compute: fn(&TermInput) -> f64,
    /// Upper bound for a program with this work, whatever its run; programs that cannot take the lead are not run.
    pub most: fn(&dyn Task, &Work) -> f64,
    /// Whether it counts in the weighted mean. If not, it enters as 0 with its weight.
    pub counts: bool,
}

impl Formula {
    /// A formula that can reach 1 at any cost.
    pub const fn new(compute: fn(&TermInput) -> f64) -> Formula {
        Formula { compute, most: |_, _| 1.0, counts: true }
    }

    /// The term of a run, with non-finite values set to 0 and clipped to [0, 1].
    pub(super) fn value(&self, input: &TermInput) -> f64 {
        let value = (self.compute)(input);
        if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The upper bound; 1 if the formula's bound is not a number.
    pub(super) fn bound(&self, task: &dyn Task, work: &Work) -> f64 {
        let most = (self.most)(task, work);
        if most.is_finite() { most.clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// The inputs of a term. A search runs programs in reduced coordinates: lengths, angles and the iterate x are those
/// of the original problem, rows of A and entries of b are not.
pub struct TermInput<'a> {
    /// The problem instance.
    pub instance: &'a Instance,
    /// The run.
    pub trace: &'a Trace,
    /// The reward profile.
    pub profile: &'a Profile,
    pub(super) price: &'a dyn Fn() -> Work,
}

impl TermInput<'_> {
    /// The cost of the run, in the profile's model.
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
    /// A term with one formula for both profiles, which needs every iterate.
    pub const fn new(
        key: &'static str,
        title: &'static str,
        doc: &'static str,
        compute: fn(&TermInput) -> f64,
    ) -> RewardTerm {
        let formula = Formula::new(compute);
        RewardTerm { key, title, doc, needs: &[Need::Iterates, Need::Losses], sound: formula, paper: formula }
    }

    /// Whether the term is defined for this task.
    pub fn applies(&self, task: &dyn Task) -> bool {
        !self.needs.contains(&Need::Preconditioner) || task.is_least_squares()
    }
}

/// The built-in terms, in the order of summation.
static BUILTIN: [&RewardTerm; 4] = [&ACCURACY, &DECAY, &COMPLEXITY, &CONDITION];

static REGISTERED: Registry<&'static RewardTerm> = Registry::new();

/// Maximum number of terms.
pub(super) const MOST: usize = 8;

/// A term by its position in the table, which indexes weights and values.
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
    /// The built-in terms.
    pub const BUILTIN: [TermIndex; 4] = [Self::ACC, Self::DECAY, Self::COMP, Self::COND];

    /// All terms: the built-in ones and those registered since.
    pub fn all() -> impl Iterator<Item = TermIndex> {
        (0..BUILTIN.len() + REGISTERED.all().len()).map(TermIndex)
    }

    /// All possible positions.
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

/// Reserved keys, which mean something else in the reward of a stage or in results.
#[rustfmt::skip]
const RESERVED: [&str; 46] = [
    "profile", "condition-only", "ungated", "epsilon", "unit", "rows", "cols",
    "algorithm", "attainable", "auxiliary", "candidates", "equation", "evaluations", "excess", "excess_history",
    "failures", "family", "first", "flops", "form", "found", "front", "history", "instances", "iterations", "kappas", "matched",
    "name", "node_visits", "passes", "playouts", "program", "programs", "reason", "residual", "reward", "reward_error",
    "revisit_rate", "runs", "seconds", "seed", "stable", "step", "stop", "transposition_rate", "unique_states",
];

/// The reason why a term cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TermError {
    /// Its key is not a word of lowercase letters, digits, `-` and `_`.
    Key,
    /// Its key is reserved or in use.
    Taken,
    /// The table is full.
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

/// Registers a term: from here on curricula and options may give it a weight by its key. Without a weight it is
/// neither computed nor shown.
pub fn register(term: &'static RewardTerm) -> Result<TermIndex, TermError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if term.key.is_empty() || !term.key.chars().all(plain) {
        return Err(TermError::Key);
    }
    if RESERVED.contains(&term.key) {
        return Err(TermError::Taken);
    }
    // Serialized, so that the number of terms is the position of the next one.
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
