//! The graph of a search as an observer sees it when the search has ended.

use super::graph::Edge;

/// The graph of a search for solutions of type `S`. Nodes are numbered in order of creation, so the root is 0, and the
/// first parent of a node comes before it.
pub trait GraphView<S> {
    /// Number of nodes, including those never visited.
    fn count(&self) -> usize;

    /// A node's statistics.
    fn view(&self, place: usize) -> NodeView;

    /// The edges of a node in the order of the moves; none if it was not expanded.
    fn children(&self, place: usize) -> &[Edge];

    /// The nodes with an edge to this one, the one that created it first; none for the root.
    fn parents(&self, place: usize) -> Vec<usize>;

    /// What a node holds, in the form of a solution, if its domain can tell.
    fn draft(&self, place: usize) -> Option<S>;
}

/// The statistics of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeView {
    /// Q(s).
    pub value: f64,
    /// N(s).
    pub visits: u32,
    /// Whether it is terminal.
    pub is_end: bool,
    /// Whether everything below has been measured completely.
    pub closed: bool,
}
