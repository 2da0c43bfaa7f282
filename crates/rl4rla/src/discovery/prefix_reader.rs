//! What an observer of programs sees of a search over prefixes.

use super::appending::{Appending, Beginning};
use crate::program::Program;
use crate::search::{Counters, Edge, GraphView, NodeView, Watch};

/// Forwards the events of a search over prefixes to an observer of programs.
pub(super) struct PrefixReader<'a, 'b> {
    pub appending: &'a Appending<'b>,
    pub watch: &'a mut dyn Watch<Program>,
}

impl Watch<Beginning> for PrefixReader<'_, '_> {
    fn evaluated(&mut self, key: u128, replicate: usize, value: f64) {
        self.watch.evaluated(key, replicate, value);
    }

    fn continues(&mut self, counters: &Counters, best: Option<(&Beginning, f64)>) -> bool {
        let best = best.map(|(beginning, mean)| (self.appending.finished(beginning), mean));
        self.watch.continues(counters, best.as_ref().map(|(program, mean)| (program, *mean)))
    }

    fn permits(&mut self, key: u128, replicate: usize) -> bool {
        self.watch.permits(key, replicate)
    }

    fn has_room(&mut self, nodes: usize) -> bool {
        self.watch.has_room(nodes)
    }

    fn searched(&mut self, graph: &dyn GraphView<Beginning>) {
        self.watch.searched(&WrittenGraph { appending: self.appending, graph });
    }
}

/// A graph of prefixes, with the programs made of them.
struct WrittenGraph<'a, 'b> {
    appending: &'a Appending<'b>,
    graph: &'a dyn GraphView<Beginning>,
}

impl GraphView<Program> for WrittenGraph<'_, '_> {
    fn count(&self) -> usize {
        self.graph.count()
    }

    fn view(&self, place: usize) -> NodeView {
        self.graph.view(place)
    }

    fn children(&self, place: usize) -> &[Edge] {
        self.graph.children(place)
    }

    fn parents(&self, place: usize) -> Vec<usize> {
        self.graph.parents(place)
    }

    fn draft(&self, place: usize) -> Option<Program> {
        self.graph.draft(place).map(|beginning| self.appending.unfinished(&beginning))
    }
}
