//! Replay: the search of a stage made again from its known rewards, for the graph that it leaves.

use super::bench::Bench;
use super::graph_selection::Selection;
use super::log::{Known, RewardKey};
use super::problems::Problems;
use super::program_table::ProgramTable;
use super::search_graph::{NodeFlags, SearchGraph};
use super::stage_search::StageSearch;
use crate::problem::InstanceSet;
use crate::program::{Program, Signature};
use crate::search::{Algorithm, Counters, GraphView, Method, StopReason, Watch};
use std::fmt;

/// Limits of a search graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphLimits {
    /// Maximum number of nodes of the search; a replay that needs more is given up.
    pub nodes: usize,
    /// Maximum number of nodes shown.
    pub shown: usize,
}

impl Default for GraphLimits {
    fn default() -> GraphLimits {
        GraphLimits { nodes: 5_000_000, shown: 120_000 }
    }
}

/// Why a search graph cannot be made again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// The method has no graph.
    NoGraph(Method),
    /// The graph has more nodes than this.
    TooLarge(usize),
    /// Asked to stop.
    Stopped,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ReplayError::NoGraph(method) => write!(f, "{} searches without a graph", method.name()),
            ReplayError::TooLarge(most) => write!(f, "the search graph has more than {most} nodes"),
            ReplayError::Stopped => f.write_str("making the search graph again was stopped"),
        }
    }
}

impl std::error::Error for ReplayError {}

impl StageSearch<'_> {
    /// The graph that the search leaves with these rewards. Nothing is computed: the search ends before the first reward
    /// that is not known, and then its graph is not complete.
    ///
    /// `stop` is asked now and then whether to give up.
    pub fn graph(
        &self,
        known: &Known,
        limits: GraphLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<SearchGraph, ReplayError> {
        let method = self.approach.method;
        if !method.info().has_graph() {
            return Err(ReplayError::NoGraph(method));
        }
        let stage = &self.approach.redrawing(self.stage);
        let search = StageSearch { stage, ..*self };
        let set = InstanceSet::Search;
        let bench = Bench::recalling(stage, set, self.seed, self.number, known, &Problems::default());
        let measured = matches!(method.info().algorithm, Algorithm::Best);
        let signature = stage.grammar.signature;
        let number = self.number;
        let mut collector = Collector { known, limits, stop, number, measured, signature, made: None };
        let outcome = search.run(&bench, None, &mut None, &mut collector);
        let graph = collector.made.expect("a method with a graph shows it")?;
        let complete = outcome.stop != StopReason::Interrupted;
        Ok(SearchGraph { counters: outcome.counters, complete, ..graph })
    }
}

/// Stops a search where it leaves what is known, and collects its graph.
struct Collector<'a> {
    known: &'a Known,
    limits: GraphLimits,
    stop: &'a dyn Fn() -> bool,
    number: usize,
    /// Whether the search measures every node.
    measured: bool,
    signature: Signature,
    /// The graph, or why there is none.
    made: Option<Result<SearchGraph, ReplayError>>,
}

impl Watch<Program> for Collector<'_> {
    fn permits(&mut self, key: u128, replicate: usize) -> bool {
        let record = RewardKey { stage: self.number, key, set: InstanceSet::Search, index: replicate };
        self.known.contains_key(&record)
    }

    fn has_room(&mut self, nodes: usize) -> bool {
        let fits = nodes <= self.limits.nodes;
        if !fits {
            self.made = Some(Err(ReplayError::TooLarge(self.limits.nodes)));
        }
        fits
    }

    fn continues(&mut self, _counters: &Counters, _best: Option<(&Program, f64)>) -> bool {
        let stops = (self.stop)();
        if stops {
            self.made.get_or_insert(Err(ReplayError::Stopped));
        }
        !stops
    }

    fn searched(&mut self, graph: &dyn GraphView<Program>) {
        if self.made.is_none() && self.has_room(graph.count()) {
            self.made = Some(Ok(self.collected(graph)));
        }
    }
}

impl Collector<'_> {
    /// The columns of the nodes that are shown.
    fn collected(&self, graph: &dyn GraphView<Program>) -> SearchGraph {
        let Selection { nodes, best } = Selection::new(graph, self.measured, self.limits.shown);
        let mut numbers = vec![None; graph.count()];
        nodes.iter().zip(0u32..).for_each(|(&place, number)| numbers[place] = Some(number));
        let programs = nodes.iter().map(|&place| graph.draft(place).expect("a draft is a program"));
        let mut made = SearchGraph {
            stage: self.number,
            counters: Counters::default(),
            complete: false,
            count: graph.count(),
            depth: Vec::with_capacity(nodes.len()),
            value: Vec::with_capacity(nodes.len()),
            visits: Vec::with_capacity(nodes.len()),
            flags: Vec::with_capacity(nodes.len()),
            parent: Vec::with_capacity(nodes.len()),
            more: Vec::new(),
            children: Vec::with_capacity(nodes.len()),
            programs: ProgramTable::new(programs),
            signature: self.signature,
        };
        for (&place, number) in nodes.iter().zip(0u32..) {
            let (view, parents) = (graph.view(place), graph.parents(place));
            let mut shown = parents.iter().filter_map(|&parent| numbers[parent]);
            let first = shown.next();
            made.more.extend(shown.map(|parent| [number, parent]));
            made.depth.push(first.map_or(0, |parent| made.depth[parent as usize] + 1));
            made.parent.push(first.map_or(-1, |parent| parent as i32));
            let flag = |set: bool, bit: u8| if set { bit } else { 0 };
            let merged = flag(parents.len() > 1, NodeFlags::MERGED);
            made.flags.push(flag(view.is_end, NodeFlags::TERMINAL) | merged);
            made.value.push(view.value);
            made.visits.push(view.visits);
            made.children.push(graph.children(place).len() as u32);
        }
        for number in best.into_iter().filter_map(|place| numbers[place]) {
            made.flags[number as usize] |= NodeFlags::BEST;
        }
        made
    }
}
