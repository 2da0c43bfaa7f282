//! Arrays indexed by term: weights, values, and which values are wanted.

use super::term::{MOST, Need, RewardTerm, TermIndex};
use crate::problem::Task;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Index, IndexMut};

/// The weights of the terms; 0 by default.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Weights([f64; MOST]);

/// The values of the terms, each between 0 and 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Terms([f64; MOST]);

/// The set of terms to compute.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Wanted([bool; MOST]);

/// The built-in terms first, 0 for all others.
const fn first([acc, decay, comp, cond]: [f64; 4]) -> [f64; MOST] {
    [acc, decay, comp, cond, 0.0, 0.0, 0.0, 0.0]
}

impl Weights {
    /// The weights in the paper's order.
    pub const fn new(acc: f64, decay: f64, comp: f64, cond: f64) -> Weights {
        Weights(first([acc, decay, comp, cond]))
    }

    /// Default weights of a task.
    pub fn of(task: &dyn Task) -> Weights {
        Weights(first(task.weights()))
    }

    /// Their sum.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The weighted mean of the terms.
    pub(super) fn mean(&self, terms: &Terms) -> f64 {
        let sum: f64 = self.0.iter().zip(&terms.0).map(|(weight, term)| weight * term).sum();
        let total = self.total();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// The built-in terms, and registered ones with a weight.
    fn told(&self) -> impl Iterator<Item = TermIndex> {
        TermIndex::places().filter(|term| TermIndex::BUILTIN.contains(term) || self[*term] != 0.0)
    }
}

impl Terms {
    /// Values of the built-in terms, in the paper's order.
    pub(super) fn new(acc: f64, decay: f64, comp: f64, cond: f64) -> Terms {
        Terms(first([acc, decay, comp, cond]))
    }

    /// The value of `make` for every wanted term; 0 for the others.
    pub(super) fn made(wanted: &Wanted, make: impl Fn(&'static RewardTerm) -> f64) -> Terms {
        Terms::made_at(wanted, |term| make(term.row()))
    }

    /// The same, by index.
    pub(super) fn made_at(wanted: &Wanted, make: impl Fn(TermIndex) -> f64) -> Terms {
        let mut terms = Terms::default();
        wanted.terms().for_each(|term| terms.0[term.place()] = make(term));
        terms
    }
}

impl Wanted {
    /// Exactly these terms.
    pub fn only(terms: impl IntoIterator<Item = TermIndex>) -> Wanted {
        let mut wanted = Wanted::default();
        terms.into_iter().for_each(|term| wanted.0[term.place()] = true);
        wanted
    }

    /// All but this term.
    pub fn without(mut self, term: TermIndex) -> Wanted {
        self.0[term.place()] = false;
        self
    }

    /// This term, if it is wanted.
    pub fn and(self, term: TermIndex) -> Wanted {
        Wanted::only(self.terms().filter(|wanted| *wanted == term))
    }

    /// Whether one of the terms is not built in.
    pub fn has_registered(&self) -> bool {
        self.terms().any(|term| !TermIndex::BUILTIN.contains(&term))
    }

    fn terms(&self) -> impl Iterator<Item = TermIndex> {
        TermIndex::places().filter(|term| self.0[term.place()])
    }

    /// Whether one of the terms needs this measurement.
    pub fn need(&self, need: Need) -> bool {
        self.terms().any(|term| term.row().needs.contains(&need))
    }
}

impl Index<TermIndex> for Weights {
    type Output = f64;
    fn index(&self, term: TermIndex) -> &f64 {
        &self.0[term.place()]
    }
}

impl IndexMut<TermIndex> for Weights {
    fn index_mut(&mut self, term: TermIndex) -> &mut f64 {
        &mut self.0[term.place()]
    }
}

impl Index<TermIndex> for Terms {
    type Output = f64;
    fn index(&self, term: TermIndex) -> &f64 {
        &self.0[term.place()]
    }
}

impl IndexMut<TermIndex> for Terms {
    fn index_mut(&mut self, term: TermIndex) -> &mut f64 {
        &mut self.0[term.place()]
    }
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for term in self.told() {
            map.serialize_entry(term.row().key, &self[term])?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Weights, D::Error> {
        struct ByKey;
        impl<'de> Visitor<'de> for ByKey {
            type Value = Weights;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("weights by the keys of their terms")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Weights, A::Error> {
                let (mut weights, mut named) = (Weights::default(), Wanted::default());
                while let Some((key, weight)) = map.next_entry::<String, f64>()? {
                    let unknown = || A::Error::custom(format!("there is no reward term `{key}`"));
                    let term = TermIndex::named(&key).ok_or_else(unknown)?;
                    (weights[term], named.0[term.place()]) = (weight, true);
                }
                match TermIndex::BUILTIN.iter().find(|term| !named.0[term.place()]) {
                    Some(term) => Err(A::Error::missing_field(term.row().key)),
                    None => Ok(weights),
                }
            }
        }
        deserializer.deserialize_map(ByKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_by_key_and_read_back() {
        let weights = Weights::new(1.0, 10.0, 8.0, 0.0);
        let text = toml::to_string(&weights).unwrap();
        assert_eq!(text, "acc = 1.0\ndecay = 10.0\ncomp = 8.0\ncond = 0.0\n");
        assert_eq!(toml::from_str::<Weights>(&text), Ok(weights));
        let wrong = |text: &str| toml::from_str::<Weights>(text).unwrap_err().to_string();
        assert!(wrong("acc = 1\ndecay = 1\ncomp = 1\n").contains("missing field `cond`"));
        assert!(wrong(&format!("{text}speed = 1.0\n")).contains("there is no reward term `speed`"));
    }

    #[test]
    fn the_mean_is_that_of_the_weights() {
        let terms = Terms::new(1.0, 0.5, 0.25, 0.75);
        assert_eq!(Weights::new(1.0, 2.0, 0.0, 1.0).mean(&terms), 2.75 / 4.0);
    }
}
