//! The methods, by name.

use super::backup::Backup;
use super::best::{Confidence, best};
use super::domain::Domain;
use super::engine::{Plan, graph_search};
use super::evolution::evolution;
use super::exhaustive::{Measure, exhaustive};
use super::graph::Sharing;
use super::islands::{Breeder, islands};
use super::ledger::{Budget, Watch};
use super::outcome::Outcome;
use super::random::random;
use super::rule::{Puct, Rule, Ucd, Uct};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// A way to search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Monte Carlo graph search with the UCD rule: the paper's method.
    McgsUcd,
    /// Monte Carlo graph search with the UCT rule.
    McgsUct,
    /// Monte Carlo graph search with the PUCT rule.
    McgsPuct,
    /// Monte Carlo tree search with the UCT rule.
    Mcts,
    /// Best-solution search with a confidence.
    Best,
    /// Everything.
    Exhaustive,
    /// Regularised evolution, as in AutoML-Zero.
    Evolution,
    /// Island evolution, as in FunSearch.
    Islands,
    /// Chance.
    Random,
}

/// A row of the table of methods.
pub struct MethodInfo {
    /// The method.
    pub method: Method,
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub doc: &'static str,
}

/// Every method.
pub const METHODS: [MethodInfo; 9] = [
    row(
        Method::Best,
        "best",
        "graph search for the maximum: every state measured, max back-up, confidence 1 − δ",
    ),
    row(Method::McgsUcd, "mcgs-ucd", "Monte Carlo graph search, UCD rule: the paper's method"),
    row(Method::McgsUct, "mcgs-uct", "Monte Carlo graph search, UCT rule"),
    row(Method::McgsPuct, "mcgs-puct", "Monte Carlo graph search, PUCT rule"),
    row(Method::Mcts, "mcts", "Monte Carlo tree search: no sharing of states"),
    row(Method::Exhaustive, "exhaustive", "exhaustive enumeration; proves its winner"),
    row(
        Method::Evolution,
        "evolution",
        "regularized evolution as in AutoML-Zero: mutate the best, remove the oldest",
    ),
    row(Method::Islands, "islands", "island evolution as in FunSearch: parents by score, periodic resets"),
    row(Method::Random, "random", "random programs"),
];

const fn row(method: Method, name: &'static str, doc: &'static str) -> MethodInfo {
    MethodInfo { method, name, doc }
}

/// Options of a search besides its method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuning {
    /// c, the weight of exploration.
    pub exploration: f64,
    /// The constants and the back-up of the released code: its tree search explores √2 times as much, and its values
    /// come from the latest rollout.
    pub released: bool,
    /// Back-up rule; none for the default of the method.
    pub backup: Option<Backup>,
    /// Whether only LUCB or the budget ends a decision, as in the released code, even when nothing is left to learn.
    pub patient: bool,
    /// Whether closed children are passed over.
    pub skip_closed: bool,
    /// Whether to return to the root when the subtree decided for is closed.
    pub return_to_root: bool,
    /// Maximum playouts per decision, if limited.
    pub decision: Option<u64>,
    /// Maximum number of playouts.
    pub budget: u64,
    /// Maximum number of evaluations, if limited.
    pub evaluations: Option<u64>,
    /// δ and the like, for the methods that have one.
    pub confidence: Confidence,
    /// How many solutions to bring back.
    pub keep: usize,
}

impl Tuning {
    /// What may be spent.
    pub fn budget(&self) -> Budget {
        Budget { playouts: self.budget, evaluations: self.evaluations }
    }
}

impl Method {
    /// The method of this name.
    pub fn named(name: &str) -> Option<Method> {
        METHODS.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|row| row.method == self).expect("every method has a row").name
    }

    /// Whether it is a Monte Carlo search, which decides edit by edit.
    pub fn is_monte_carlo(self) -> bool {
        matches!(self, Method::McgsUcd | Method::McgsUct | Method::McgsPuct | Method::Mcts)
    }

    /// Searches a domain.
    pub fn search<D: Domain>(
        self,
        domain: &D,
        tuning: &Tuning,
        stream: &Stream,
        watch: &mut dyn Watch<D::Solution>,
    ) -> Outcome<D::Solution> {
        let Tuning {
            exploration,
            released,
            patient,
            confidence,
            keep,
            skip_closed,
            return_to_root,
            decision,
            ..
        } = *tuning;
        let budget = tuning.budget();
        let (sharing, rule): (Sharing, &dyn Rule) = match self {
            Method::McgsUcd => (Sharing::Graph, &Ucd),
            Method::McgsUct => (Sharing::Graph, &Uct),
            Method::McgsPuct => (Sharing::Graph, &Puct),
            Method::Mcts => (Sharing::Tree, &Uct),
            Method::Best => return best(domain, confidence, exploration, budget, keep, watch),
            Method::Exhaustive => {
                return exhaustive(domain, Measure::WhileInTheRunning, budget, keep, watch);
            }
            Method::Evolution => return evolution(domain, budget, keep, stream, watch),
            Method::Islands => return islands(domain, &mut Breeder, budget, keep, stream, watch),
            Method::Random => return random(domain, budget, keep, stream, watch),
        };
        let wider = if released && sharing == Sharing::Tree { SQRT_2 } else { 1.0 };
        let plan = Plan {
            sharing,
            rule,
            exploration: exploration * wider,
            backup: tuning.backup.unwrap_or(if released { Backup::Latest } else { Backup::Idempotent }),
            patient,
            skip_closed,
            return_to_root,
            decision,
            budget,
            keep,
            stream: *stream,
        };
        graph_search(domain, &plan, watch)
    }
}
