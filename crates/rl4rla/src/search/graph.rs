//! The graph of a search: states as nodes, each found once.

use super::domain::Domain;
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether equal states are one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Every path has its own node: Monte Carlo tree search.
    Tree,
    /// Equal states are one node, whatever path led there: Monte Carlo graph search.
    Graph,
}

/// A move, counted apart from where it leads: a child reached by many edges was not tried by each of them.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Where it leads.
    pub child: usize,
    /// N(s, a).
    pub visits: u32,
}

/// A state and what is known of it.
pub struct Node<S> {
    pub state: S,
    /// In the order of the moves, parallel ones merged; none until it is expanded.
    pub edges: Option<Vec<Edge>>,
    pub parents: Vec<usize>,
    /// N(s).
    pub visits: u32,
    /// Q(s).
    pub value: f64,
    /// U(s), what a rollout from here gave; none if there was none.
    pub own: Option<f64>,
    /// The solution found here if nothing is left to decide.
    pub end: End,
    /// Whether everything below has been measured as often as can be.
    pub closed: bool,
}

/// What is at a node where nothing is left to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Something is left to decide, or it is not known yet.
    No,
    /// This solution of the ledger.
    Solution(usize),
    /// No solution.
    Nothing,
}

/// The nodes met so far.
pub struct Graph<'a, D: Domain> {
    domain: &'a D,
    sharing: Sharing,
    places: FxHashMap<u128, usize>,
    /// In the order they were met.
    pub nodes: Vec<Node<D::State>>,
}

impl<'a, D: Domain> Graph<'a, D> {
    /// The root alone, at place 0.
    pub fn new(domain: &'a D, sharing: Sharing) -> Graph<'a, D> {
        let mut graph = Graph { domain, sharing, places: FxHashMap::default(), nodes: Vec::new() };
        graph.node(domain.root());
        graph
    }

    /// The node of a state.
    fn node(&mut self, state: D::State) -> usize {
        let next = self.nodes.len();
        let place = match self.sharing {
            Sharing::Tree => next,
            Sharing::Graph => *self.places.entry(self.domain.key(&state)).or_insert(next),
        };
        if place == next {
            self.nodes.push(Node {
                state,
                edges: None,
                parents: Vec::new(),
                visits: 0,
                value: 0.0,
                own: None,
                end: End::No,
                closed: false,
            });
        }
        place
    }

    /// The edges of a node, found when first asked for.
    pub fn expand(&mut self, place: usize) -> &[Edge] {
        if self.nodes[place].edges.is_none() {
            let mut edges: Vec<Edge> = Vec::new();
            let mut met = FxHashSet::default();
            for state in self.domain.children(&self.nodes[place].state).iter() {
                // Parallel moves are one edge, in a tree too.
                if !met.insert(self.domain.key(state)) {
                    continue;
                }
                let child = self.node(state.clone());
                self.nodes[child].parents.push(place);
                edges.push(Edge { child, visits: 0 });
            }
            self.nodes[place].edges = Some(edges);
        }
        self.nodes[place].edges.as_deref().expect("just found")
    }

    /// Whether a node is expanded, and everything below it is closed.
    pub fn all_closed(&self, place: usize) -> bool {
        self.nodes[place].edges.as_ref().is_some_and(|e| e.iter().all(|e| self.nodes[e.child].closed))
    }

    /// Marks a node closed, and whatever above it is closed by that, on any path.
    pub fn close(&mut self, place: usize) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            if self.nodes[place].closed {
                continue;
            }
            self.nodes[place].closed = true;
            let parents = &self.nodes[place].parents;
            waiting.extend(parents.iter().filter(|&&parent| self.all_closed(parent)));
        }
    }
}
