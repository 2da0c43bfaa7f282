//! The table of search methods.

use super::backup::Backup;
use super::best::{Confidence, best};
use super::domain::Domain;
use super::engine::{GraphSearchPlan, graph_search};
use super::evolution::evolution;
use super::exhaustive::{Measure, exhaustive};
use super::graph::Sharing;
use super::islands::{Breeder, ProposalSource, islands};
use super::ledger::{Budget, Watch};
use super::outcome::Outcome;
use super::random::random;
use super::rule::{Puct, SelectionRule, Ucd, Uct};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// A search method.
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
    /// Best-solution search with a confidence level.
    Best,
    /// Exhaustive search.
    Exhaustive,
    /// Regularised evolution, as in AutoML-Zero.
    Evolution,
    /// Island evolution, as in FunSearch.
    Islands,
    /// Random search.
    Random,
    /// Values enumerated by value, coefficients by an oracle.
    Oracle,
}

/// A row of the table of methods.
pub struct MethodInfo {
    /// The method.
    pub method: Method,
    /// Its name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The moves in program space.
    pub moves: Moves,
}

/// A search algorithm.
#[derive(Clone, Copy)]
pub enum Algorithm {
    /// A Monte Carlo search, which decides move by move. Its playouts are rollouts.
    MonteCarlo(Sharing, &'static dyn SelectionRule),
    /// [`best`]; its playouts are nodes expanded.
    Best,
    /// [`exhaustive`]; its playouts are states generated.
    Exhaustive,
    /// [`evolution`]; its playouts are individuals.
    Evolution,
    /// [`islands`], which uses a proposer; its playouts are individuals and empty proposals.
    Islands,
    /// [`random`]; its playouts are random walks.
    Random,
}

/// The moves of a method in program space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moves {
    /// Inserts an instruction anywhere.
    Insertions,
    /// Builds the program from left to right, with fewer states; falls back to insertions if that cannot reach
    /// everything.
    Appending,
    /// Appending where a program is written from nothing and states are merged by behaviour, which only prefixes can
    /// be; insertions elsewhere.
    Either,
    /// Adds, replaces and removes instructions.
    Patches,
    /// None: whole programs are constructed from the empty program, whatever a stage starts from.
    Constructions,
}

/// All methods.
pub const METHODS: [MethodInfo; 10] = [
    MethodInfo {
        method: Method::Best,
        name: "best",
        doc: "graph search for the maximum: every state measured, max back-up, confidence 1 − δ",
        algorithm: Algorithm::Best,
        moves: Moves::Either,
    },
    MethodInfo {
        method: Method::McgsUcd,
        name: "mcgs-ucd",
        doc: "Monte Carlo graph search, UCD rule: the paper's method",
        algorithm: Algorithm::MonteCarlo(Sharing::Graph, &Ucd),
        moves: Moves::Insertions,
    },
    MethodInfo {
        method: Method::McgsUct,
        name: "mcgs-uct",
        doc: "Monte Carlo graph search, UCT rule",
        algorithm: Algorithm::MonteCarlo(Sharing::Graph, &Uct),
        moves: Moves::Insertions,
    },
    MethodInfo {
        method: Method::McgsPuct,
        name: "mcgs-puct",
        doc: "Monte Carlo graph search, PUCT rule",
        algorithm: Algorithm::MonteCarlo(Sharing::Graph, &Puct),
        moves: Moves::Insertions,
    },
    MethodInfo {
        method: Method::Mcts,
        name: "mcts",
        doc: "Monte Carlo tree search: no sharing of states",
        algorithm: Algorithm::MonteCarlo(Sharing::Tree, &Uct),
        moves: Moves::Insertions,
    },
    MethodInfo {
        method: Method::Exhaustive,
        name: "exhaustive",
        doc: "exhaustive enumeration; proves its winner",
        algorithm: Algorithm::Exhaustive,
        moves: Moves::Appending,
    },
    MethodInfo {
        method: Method::Evolution,
        name: "evolution",
        doc: "regularized evolution as in AutoML-Zero: mutate the best, remove the oldest",
        algorithm: Algorithm::Evolution,
        moves: Moves::Patches,
    },
    MethodInfo {
        method: Method::Islands,
        name: "islands",
        doc: "island evolution as in FunSearch: parents by score, periodic resets",
        algorithm: Algorithm::Islands,
        moves: Moves::Patches,
    },
    MethodInfo {
        method: Method::Random,
        name: "random",
        doc: "random programs",
        algorithm: Algorithm::Random,
        moves: Moves::Insertions,
    },
    MethodInfo {
        method: Method::Oracle,
        name: "oracle",
        doc: "from the empty program: vectors enumerated by value, scored with an oracle's coefficients",
        algorithm: Algorithm::Exhaustive,
        moves: Moves::Constructions,
    },
];

impl MethodInfo {
    /// The sharing mode and selection rule of a Monte Carlo search.
    pub fn monte_carlo(&self) -> Option<(Sharing, &'static dyn SelectionRule)> {
        match self.algorithm {
            Algorithm::MonteCarlo(sharing, rule) => Some((sharing, rule)),
            _ => None,
        }
    }

    /// Whether it writes whole programs from the empty one, so that no stage needs the result of another.
    pub fn starts_afresh(&self) -> bool {
        self.moves == Moves::Constructions
    }

    /// Whether it uses the probabilities of a policy: as the prior of its selection rule, or for its mutations.
    pub fn takes_policy(&self) -> bool {
        matches!(self.method, Method::McgsPuct) || self.moves == Moves::Patches
    }

    /// Whether it leaves a graph of states, with their values and visits.
    pub fn has_graph(&self) -> bool {
        matches!(self.algorithm, Algorithm::MonteCarlo(..) | Algorithm::Best)
    }

    /// Whether it uses a proposer.
    pub fn takes_proposer(&self) -> bool {
        matches!(self.algorithm, Algorithm::Islands)
    }
}

/// Options of a search besides its method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuning {
    /// c, the exploration constant.
    pub exploration: f64,
    /// Use the constants and the backup rule of the released code: its tree search explores √2 times as much, and its
    /// values come from the latest rollout.
    pub released: bool,
    /// Backup rule; `None` for the default of the method.
    pub backup: Option<Backup>,
    /// Whether only LUCB or the budget ends a decision, as in the released code, even if nothing is left to measure.
    pub patient: bool,
    /// Whether closed children are skipped.
    pub skip_closed: bool,
    /// Whether to return to the root if the chosen subtree is closed.
    pub return_to_root: bool,
    /// Maximum playouts per decision, if limited.
    pub decision: Option<u64>,
    /// Maximum number of playouts.
    pub budget: u64,
    /// Maximum number of evaluations, if limited.
    pub evaluations: Option<u64>,
    /// Parameters of the confidence test, for methods that use it.
    pub confidence: Confidence,
    /// Number of solutions to return.
    pub keep: usize,
}

impl Tuning {
    /// The limits of the search.
    pub fn budget(&self) -> Budget {
        Budget { playouts: self.budget, evaluations: self.evaluations }
    }

    /// The configuration of a Monte Carlo search.
    fn plan<'a>(
        &self,
        sharing: Sharing,
        rule: &'a dyn SelectionRule,
        stream: &Stream,
    ) -> GraphSearchPlan<'a> {
        let wider = if self.released && sharing == Sharing::Tree { SQRT_2 } else { 1.0 };
        let backup = if self.released { Backup::Latest } else { Backup::Idempotent };
        GraphSearchPlan {
            sharing,
            rule,
            exploration: self.exploration * wider,
            backup: self.backup.unwrap_or(backup),
            patient: self.patient,
            skip_closed: self.skip_closed,
            return_to_root: self.return_to_root,
            decision: self.decision,
            budget: self.budget(),
            keep: self.keep,
            stream: *stream,
        }
    }
}

impl Method {
    /// The method of this name.
    pub fn named(name: &str) -> Option<Method> {
        METHODS.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// Its row.
    pub fn info(self) -> &'static MethodInfo {
        METHODS.iter().find(|row| row.method == self).expect("every method has a row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Searches a domain.
    pub fn search<D: Domain>(
        self,
        domain: &D,
        tuning: &Tuning,
        stream: &Stream,
        watch: &mut dyn Watch<D::Solution>,
    ) -> Outcome<D::Solution> {
        self.search_asking(domain, &mut Breeder, tuning, stream, watch)
    }

    /// The same with a proposer, for methods that use one.
    pub fn search_asking<D: Domain>(
        self,
        domain: &D,
        proposer: &mut dyn ProposalSource<D>,
        tuning: &Tuning,
        stream: &Stream,
        watch: &mut dyn Watch<D::Solution>,
    ) -> Outcome<D::Solution> {
        let (budget, keep) = (tuning.budget(), tuning.keep);
        match self.info().algorithm {
            Algorithm::MonteCarlo(sharing, rule) => {
                graph_search(domain, &tuning.plan(sharing, rule, stream), watch)
            }
            Algorithm::Best => best(domain, tuning.confidence, tuning.exploration, budget, keep, watch),
            Algorithm::Exhaustive => exhaustive(domain, Measure::WhileInTheRunning, budget, keep, watch),
            Algorithm::Evolution => evolution(domain, budget, keep, stream, watch),
            Algorithm::Islands => islands(domain, proposer, budget, keep, stream, watch),
            Algorithm::Random => random(domain, budget, keep, stream, watch),
        }
    }
}
