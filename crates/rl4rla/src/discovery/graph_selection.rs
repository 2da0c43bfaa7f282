//! Which nodes of a search graph are shown.

use crate::search::{GraphView, NodeView};

/// The nodes of a graph that are shown.
pub(super) struct Selection {
    /// Their numbers, in order of creation.
    pub nodes: Vec<usize>,
    /// The best path, from the root down.
    pub best: Vec<usize>,
}

impl Selection {
    /// The best path and, up to `most` nodes in total, those with the most visits, each with a path to the root. Nodes
    /// that were never visited are left out, unless every node was `measured` when it was created.
    pub fn new<S>(graph: &dyn GraphView<S>, measured: bool, most: usize) -> Selection {
        let best = best_path(graph, measured);
        let mut chosen = vec![false; graph.count()];
        best.iter().for_each(|&place| chosen[place] = true);
        let (mut count, mut path) = (best.len(), Vec::new());
        for place in by_visits(graph, measured, most) {
            path.clear();
            let mut next = Some(place).filter(|&place| !chosen[place]);
            while let Some(place) = next {
                path.push(place);
                next = graph.parents(place).first().copied().filter(|&parent| !chosen[parent]);
            }
            if count + path.len() <= most {
                path.iter().for_each(|&place| chosen[place] = true);
                count += path.len();
            }
        }
        Selection { nodes: (0..graph.count()).filter(|&place| chosen[place]).collect(), best }
    }
}

/// The nodes that may be shown, those with the most visits first if there is no room for all; on ties the better.
fn by_visits<S>(graph: &dyn GraphView<S>, measured: bool, most: usize) -> Vec<usize> {
    let is_seen = |&place: &usize| measured || graph.view(place).visits > 0;
    let mut order: Vec<usize> = (0..graph.count()).filter(is_seen).collect();
    if order.len() > most {
        let ranks: Vec<(u32, f64)> =
            (0..graph.count()).map(|place| graph.view(place)).map(|view| (view.visits, view.value)).collect();
        order.sort_by(|&a, &b| {
            let ((visits, value), (others, other)) = (ranks[a], ranks[b]);
            others.cmp(&visits).then(other.total_cmp(&value)).then(a.cmp(&b))
        });
    }
    order
}

/// From the root always to the child with the highest value, on ties to the one with the most visits, then to the first.
/// If the value of a node is the highest below it, the path ends where that is its own.
fn best_path<S>(graph: &dyn GraphView<S>, measured: bool) -> Vec<usize> {
    let mut path = vec![0];
    let mut here = 0;
    loop {
        let children = graph.children(here).iter().map(|edge| (edge.child(), graph.view(edge.child())));
        let seen = children.filter(|(_, view)| measured || view.visits > 0);
        let rank = |view: &NodeView| (view.value, view.visits);
        let better = |best: (usize, NodeView), next: (usize, NodeView)| match rank(&next.1) > rank(&best.1) {
            true => next,
            false => best,
        };
        let Some((child, view)) = seen.reduce(better) else { return path };
        if measured && view.value < graph.view(here).value {
            return path;
        }
        path.push(child);
        here = child;
    }
}
