//! The graph of a search: each state is one node. Nodes, edges and links are stored in arrays and referred to by
//! index.

use super::domain::Domain;
use super::outcome::GraphSize;
use super::places::KeyPlaces;
use super::view::{GraphView, NodeView};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Whether equal states share a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Every path has its own nodes: Monte Carlo tree search.
    Tree,
    /// Equal states share a node, whatever path led there: Monte Carlo graph search.
    Graph,
}

/// A move, with its own visit count: a child with many incoming edges was not tried through each of them.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    child: u32,
    /// N(s, a).
    pub visits: u32,
}

impl Edge {
    /// Index of its child.
    pub fn child(&self) -> usize {
        self.child as usize
    }
}

/// A state and its statistics.
pub struct Node<S> {
    pub state: S,
    /// Q(s).
    pub value: f64,
    /// U(s), the value of a rollout from here, if there was one.
    pub own: Option<f64>,
    /// The solution of a terminal node.
    pub end: End,
    /// N(s).
    pub visits: u32,
    /// Index of its first edge; unset until it is expanded.
    edges: u32,
    degree: u32,
    /// Its latest link to a parent, and that parent.
    link: u32,
    parent: u32,
    /// Whether everything below has been measured completely.
    pub closed: bool,
}

const NONE: u32 = u32::MAX;

impl<S> Node<S> {
    /// Whether its edges are known.
    pub fn is_expanded(&self) -> bool {
        self.edges != NONE
    }

    fn range(&self) -> Range<usize> {
        if self.is_expanded() { self.edges as usize..(self.edges + self.degree) as usize } else { 0..0 }
    }
}

/// The kind of a terminal node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Not terminal, or not known yet.
    No,
    /// Terminal, with this solution of the ledger.
    Solution(u32),
    /// Terminal, without a solution.
    Nothing,
}

/// A parent of a node, and the index of the previous link of that node.
#[derive(Clone, Copy)]
struct Link {
    parent: u32,
    before: u32,
}

/// All nodes so far.
pub struct Graph<'a, D: Domain> {
    domain: &'a D,
    sharing: Sharing,
    places: KeyPlaces,
    /// In order of creation.
    pub nodes: Vec<Node<D::State>>,
    edges: Vec<Edge>,
    /// The prior of each edge; empty if the domain has none.
    priors: Vec<f64>,
    /// Q̂(s, a) of each edge, for backup rules that average over edges.
    means: Vec<f64>,
    links: Vec<Link>,
    /// Keys of the children of the node being expanded.
    met: FxHashSet<u128>,
}

impl<'a, D: Domain> Graph<'a, D> {
    /// A graph with only the root, at index 0.
    pub fn new(domain: &'a D, sharing: Sharing) -> Graph<'a, D> {
        let mut graph = Graph {
            domain,
            sharing,
            places: KeyPlaces::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
            priors: Vec::new(),
            means: Vec::new(),
            links: Vec::new(),
            met: FxHashSet::default(),
        };
        graph.node(&domain.root());
        graph
    }

    /// The node of a state, created if necessary.
    fn node(&mut self, state: &D::State) -> usize {
        let next = number(self.nodes.len());
        let place = match self.sharing {
            Sharing::Tree => next,
            Sharing::Graph => self.places.get_or_insert(self.domain.key(state), next),
        };
        if place == next {
            self.nodes.push(Node {
                state: state.clone(),
                value: 0.0,
                own: None,
                end: End::No,
                visits: 0,
                edges: NONE,
                degree: 0,
                link: NONE,
                parent: NONE,
                closed: false,
            });
        }
        place as usize
    }

    /// The edges of a node in the order of the moves, parallel ones merged; empty until it is expanded.
    pub fn edges(&self, place: usize) -> &[Edge] {
        &self.edges[self.nodes[place].range()]
    }

    /// The same edges, mutable.
    pub fn edges_mut(&mut self, place: usize) -> &mut [Edge] {
        &mut self.edges[self.nodes[place].range()]
    }

    /// Q̂(s, a): the mean of the values added to an edge by [`Graph::average`].
    pub fn mean(&self, place: usize, i: usize) -> f64 {
        self.means.get(self.nodes[place].range().start + i).copied().unwrap_or(0.0)
    }

    /// The priors of the edges of a node, if the domain has any.
    pub fn priors(&self, place: usize) -> Option<&[f64]> {
        self.priors.get(self.nodes[place].range()).filter(|priors| !priors.is_empty())
    }

    /// Adds a value to the edge between two nodes: N(s,a) grows by one, and Q̂(s,a) is the mean of all.
    pub fn average(&mut self, parent: usize, child: usize, value: f64) {
        let range = self.nodes[parent].range();
        let i = self.edges[range.clone()].iter().position(|edge| edge.child() == child);
        let place = range.start + i.expect("a parent has an edge to its child");
        self.means.resize(self.edges.len(), 0.0);
        self.edges[place].visits += 1;
        self.means[place] += (value - self.means[place]) / f64::from(self.edges[place].visits);
    }

    /// The nodes with an edge to this one, the latest first.
    pub fn parents(&self, place: usize) -> impl Iterator<Item = usize> {
        let link = |number: u32| self.links.get(number as usize);
        let latest = link(self.nodes[place].link);
        std::iter::successors(latest, move |known| link(known.before)).map(|known| known.parent as usize)
    }

    /// Creates the edges of a node, if it is not expanded yet.
    pub fn expand(&mut self, place: usize) {
        if self.nodes[place].is_expanded() {
            return;
        }
        let start = self.edges.len();
        self.met.clear();
        let priors = self.domain.priors(&self.nodes[place].state);
        for (number, state) in self.domain.children(&self.nodes[place].state).iter().enumerate() {
            // Parallel moves are merged into one edge, also in a tree.
            if self.sharing == Sharing::Tree && !self.met.insert(self.domain.key(state)) {
                continue;
            }
            let child = self.node(state);
            let new = self.link(child, place);
            if new {
                self.edges.push(Edge { child: child as u32, visits: 0 });
            }
            if let Some(priors) = &priors {
                match self.edges[start..].iter().position(|edge| !new && edge.child() == child) {
                    Some(known) => self.priors[start + known] += priors[number],
                    None => self.priors.push(priors[number]),
                }
            }
        }
        let degree = number(self.edges.len()) - start as u32;
        (self.nodes[place].edges, self.nodes[place].degree) = (start as u32, degree);
    }

    /// Adds a parent, unless it is the one added last.
    fn link(&mut self, child: usize, parent: usize) -> bool {
        let (next, parent, child) = (number(self.links.len()), parent as u32, &mut self.nodes[child]);
        let new = child.parent != parent;
        if new {
            self.links.push(Link { parent, before: child.link });
            (child.link, child.parent) = (next, parent);
        }
        new
    }

    /// Whether a node is expanded and all its children are closed.
    pub fn all_closed(&self, place: usize) -> bool {
        self.nodes[place].is_expanded() && self.edges(place).iter().all(|e| self.nodes[e.child()].closed)
    }

    /// Marks a node as closed, and every node above that becomes closed by it, on all paths.
    pub fn close(&mut self, place: usize) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            if self.nodes[place].closed {
                continue;
            }
            self.nodes[place].closed = true;
            waiting.extend(self.parents(place).filter(|&parent| self.all_closed(parent)));
        }
    }

    /// Memory of the graph, without states that are stored elsewhere.
    pub fn size(&self) -> GraphSize {
        let bytes = size_of_val(&self.nodes[..])
            + size_of_val(&self.edges[..])
            + size_of_val(&self.priors[..])
            + size_of_val(&self.means[..])
            + size_of_val(&self.links[..])
            + self.places.bytes();
        GraphSize { nodes: self.nodes.len(), edges: self.edges.len(), bytes }
    }
}

impl<D: Domain> GraphView<D::Solution> for Graph<'_, D> {
    fn count(&self) -> usize {
        self.nodes.len()
    }

    fn view(&self, place: usize) -> NodeView {
        let node = &self.nodes[place];
        let is_end = self.domain.is_end(&node.state) || (node.is_expanded() && node.degree == 0);
        NodeView { value: node.value, visits: node.visits, is_end, closed: node.closed }
    }

    fn children(&self, place: usize) -> &[Edge] {
        self.edges(place)
    }

    fn parents(&self, place: usize) -> Vec<usize> {
        let mut parents: Vec<usize> = Graph::parents(self, place).collect();
        parents.reverse();
        parents
    }

    fn draft(&self, place: usize) -> Option<D::Solution> {
        self.domain.draft(&self.nodes[place].state)
    }
}

/// An index in its stored form.
fn number(place: usize) -> u32 {
    u32::try_from(place).ok().filter(|&place| place != NONE).expect("fewer than 2³² nodes and edges")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_edges_are_small() {
        assert_eq!(size_of::<Edge>(), 8);
        assert!(size_of::<Node<u32>>() <= 64);
    }
}
