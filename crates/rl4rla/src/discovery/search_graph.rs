//! The graph of a search in columns: nodes, edges and programs of those that are shown.

use super::program_table::ProgramTable;
use crate::equivalence::catalogue_name;
use crate::program::{Program, Section, Signature, equation};
use crate::search::Counters;
use serde::{Serialize, Serializer};

/// What is known of a node besides its numbers, as bits.
pub struct NodeFlags;

impl NodeFlags {
    /// It is terminal.
    pub const TERMINAL: u8 = 1;
    /// It is on the best path.
    pub const BEST: u8 = 2;
    /// It has more than one parent.
    pub const MERGED: u8 = 4;
}

/// The graph of a search. Its columns have an entry for each node shown, in order of creation: the root is node 0, and
/// a node comes after its first parent.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchGraph {
    /// Index of the stage.
    pub stage: usize,
    /// Counters of the search, as far as it came.
    pub counters: Counters,
    /// Whether the search came to its end, with all values that it asks for known.
    pub complete: bool,
    /// Number of nodes, those not shown included.
    pub count: usize,
    /// The number of edits that lead to each node.
    pub depth: Vec<u16>,
    /// Q(s).
    pub value: Vec<f64>,
    /// N(s).
    pub visits: Vec<u32>,
    /// [`NodeFlags`].
    pub flags: Vec<u8>,
    /// The parent that created each node; −1 for the root.
    pub parent: Vec<i32>,
    /// The other parents of merged nodes, as far as they are shown, as pairs of child and parent.
    pub more: Vec<[u32; 2]>,
    /// The number of children of each node, those not shown included.
    pub children: Vec<u32>,
    pub(super) programs: ProgramTable,
    pub(super) signature: Signature,
}

/// A node in words.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GraphNode {
    /// The program, finished or not.
    pub program: String,
    /// Its equation, if it fits its problems.
    pub equation: Option<String>,
    /// Its catalogue name, if it has one.
    pub matched: Option<&'static str>,
    /// Q(s).
    pub value: f64,
    /// N(s).
    pub visits: u32,
    /// Its parents, the one that created it first.
    pub parents: Vec<u32>,
    /// Its children, in order of creation.
    pub children: Vec<GraphChild>,
    /// Number of children that are not shown.
    pub hidden: usize,
}

/// A child of a node.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GraphChild {
    /// Its number.
    pub node: u32,
    /// Q(s).
    pub value: f64,
    /// N(s).
    pub visits: u32,
    /// What the edit changes.
    pub edit: String,
}

impl SearchGraph {
    /// Number of nodes shown.
    pub fn shown(&self) -> usize {
        self.depth.len()
    }

    /// Number of nodes not shown.
    pub fn hidden(&self) -> usize {
        self.count - self.shown()
    }

    /// The parents of a node that are shown, the one that created it first.
    pub fn parents(&self, node: usize) -> impl Iterator<Item = u32> {
        let others = self.more.iter().filter(move |[child, _]| *child as usize == node);
        u32::try_from(self.parent[node]).ok().into_iter().chain(others.map(|[_, parent]| *parent))
    }

    /// The program of a node, finished or not.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn program(&self, node: usize) -> Program {
        self.programs.get(node)
    }

    /// A node in words; `None` if there is no such node.
    pub fn node(&self, node: usize) -> Option<GraphNode> {
        let (&value, &visits) = self.value.get(node).zip(self.visits.get(node))?;
        let program = self.program(node);
        let created = (node + 1..self.shown()).filter(|&child| self.parent[child] == node as i32);
        let met = self.more.iter().filter(|[_, parent]| *parent as usize == node);
        let mut children: Vec<usize> = created.chain(met.map(|[child, _]| *child as usize)).collect();
        children.sort_unstable();
        let hidden = self.children[node] as usize - children.len();
        let child = |child: usize| GraphChild {
            node: child as u32,
            value: self.value[child],
            visits: self.visits[child],
            edit: edit(&program, &self.program(child)),
        };
        Some(GraphNode {
            equation: equation(&program, self.signature).ok().map(|equation| equation.text),
            matched: catalogue_name(&program, self.signature),
            value,
            visits,
            parents: self.parents(node).collect(),
            children: children.into_iter().map(child).collect(),
            hidden,
            program: self.signature.update.text(&program),
        })
    }
}

/// What is in one program and not in the other, by section. Besides an insertion this may be a removal: of an instruction
/// that was replaced or lost its effect, or because a node stands for all programs that do the same.
fn edit(before: &Program, after: &Program) -> String {
    let lacking = |whole: &Program, part: &Program| -> Vec<String> {
        let section = |section: Section| {
            let mut left = part.section(section).to_vec();
            let lacks = |instruction: &&_| match left.iter().position(|other| other == *instruction) {
                Some(place) => {
                    left.swap_remove(place);
                    false
                }
                None => true,
            };
            let lacking: Vec<_> = whole.section(section).iter().filter(lacks).collect();
            let name = |instruction| format!("{}: {instruction}", section.name());
            lacking.into_iter().map(name).collect::<Vec<_>>()
        };
        Section::BOTH.into_iter().flat_map(section).collect()
    };
    let (added, removed) = (lacking(after, before).join("; "), lacking(before, after).join("; "));
    match (added.is_empty(), removed.is_empty()) {
        (true, true) => "no effect".into(),
        (false, true) => added,
        (true, false) => format!("without {removed}"),
        (false, false) => format!("{added}, without {removed}"),
    }
}

/// A number with four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The columns as a document.
#[derive(Serialize)]
struct Columns<'a> {
    stage: usize,
    playouts: u64,
    unique_states: u64,
    node_visits: u64,
    complete: bool,
    count: usize,
    root: u32,
    depth: &'a [u16],
    value: Vec<f64>,
    visits: &'a [u32],
    flags: &'a [u8],
    parent: &'a [i32],
    more: &'a [[u32; 2]],
    shown: usize,
    hidden: usize,
}

impl Serialize for SearchGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = Columns {
            stage: self.stage,
            playouts: self.counters.playouts,
            unique_states: self.counters.unique_states,
            node_visits: self.counters.node_visits,
            complete: self.complete,
            count: self.count,
            root: 0,
            depth: &self.depth,
            value: self.value.iter().map(|&value| rounded(value)).collect(),
            visits: &self.visits,
            flags: &self.flags,
            parent: &self.parent,
            more: &self.more,
            shown: self.shown(),
            hidden: self.hidden(),
        };
        columns.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_say_what_changed() {
        let program = |text: &str| text.parse::<Program>().unwrap();
        let product = program("iteration:\n v1 = MAT_VEC_MUL(A, x)\n");
        let residual = program("iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n");
        let twice = program("iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = MAT_VEC_MUL(A, x)\n");
        let inserted = "iteration: v1 = VEC_VEC_SUB(v1, b)";
        assert_eq!(edit(&product, &residual), inserted);
        assert_eq!(edit(&residual, &product), format!("without {inserted}"));
        assert_eq!(edit(&product, &twice), "iteration: v1 = MAT_VEC_MUL(A, x)");
        assert_eq!(edit(&twice, &residual), format!("{inserted}, without iteration: v1 = MAT_VEC_MUL(A, x)"));
        assert_eq!(edit(&product, &product), "no effect");
    }

    #[test]
    fn values_have_four_digits() {
        assert_eq!([0.0, 1.0, 0.123_456, 1.234_56e-7].map(rounded), [0.0, 1.0, 0.1235, 1.235e-7]);
    }
}
