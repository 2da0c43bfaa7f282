//! Verdicts in words.

use super::law::LEVEL;
use super::numeric::Numeric;
use super::rule::{NormalisationStop, Rule};
use super::verdict::Symbolic;
use std::collections::BTreeSet;

impl Symbolic {
    /// The result of algebra, as a word and a sentence.
    pub fn words(&self) -> (&'static str, String) {
        match self {
            Symbolic::Equal(rules) => ("equal", format!("equal normal forms{}", by(rules))),
            Symbolic::EqualByState(rules) => (
                "equal",
                format!("equal normal forms after a linear change of the carried registers{}", by(rules)),
            ),
            Symbolic::Different => ("different", "the normal forms differ".into()),
            Symbolic::Stopped(stop) => ("stopped", stop_words(*stop).into()),
        }
    }
}

impl Numeric {
    /// The result of execution for programs with these names, as a word and a sentence.
    pub fn words(&self, [p, q]: [&str; 2]) -> (&'static str, String) {
        match self {
            Numeric::Agree => {
                ("agree", "the iterates agree on every instance, starting from the initial state".into())
            }
            Numeric::NeverRun => {
                let words =
                    "both fail in the first iteration of a run; from a generic point their iterates agree";
                ("agree", words.into())
            }
            Numeric::Differ { instance, iteration, from } => {
                ("differ", format!("{from} the iterates differ in iteration {iteration} on {instance}"))
            }
            Numeric::Domain { instance, iteration, from, first_fails } => {
                let (fails, runs) = if *first_fails { (p, q) } else { (q, p) };
                let words =
                    format!("{from} {fails} fails in iteration {iteration} on {instance}, where {runs} runs");
                ("domain", words)
            }
            Numeric::Sizes { instance, first_fails } => {
                let (fails, runs) = if *first_fails { (p, q) } else { (q, p) };
                let words = format!(
                    "the iterates agree wherever both run; {fails} cannot run on {instance}, where {runs} can"
                );
                ("domain", words)
            }
            Numeric::DifferInLaw { functional } => (
                "differ",
                format!(
                    "different random draws, and the distribution of {functional} differs (level {LEVEL:e})"
                ),
            ),
            Numeric::Unclear(why) => ("unclear", why.clone()),
        }
    }
}

/// The rules that lead to a normal form, if any.
fn by(rules: &BTreeSet<Rule>) -> String {
    let rules: Vec<&str> = rules.iter().map(|rule| rule.formula()).collect();
    if rules.is_empty() { String::new() } else { format!(", by {}", rules.join("; ")) }
}

fn stop_words(stop: NormalisationStop) -> &'static str {
    match stop {
        NormalisationStop::Steps => "stopped after too many steps",
        NormalisationStop::Size => "stopped: an expression grew too long",
        NormalisationStop::Overflow => "stopped: a coefficient grew too large",
        NormalisationStop::DivisionByZero => "stopped: the program divides by zero",
    }
}
