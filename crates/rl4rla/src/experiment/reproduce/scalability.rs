//! Revisit rate of a graph search, by number of operators and program length.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::{LENGTHS, SCALABILITY};
use super::way::label;
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::program::Op;
use crate::record::Quantity;
use crate::report::{Block, Cell, Column, Table};
use crate::search::Method;

/// Operators added to the paper's 17: the first three make 20, all eight make 25.
const ADDED: [&str; 8] = [
    "MAT_GRAM",
    "MAT_VEC_SOLVE",
    "VEC_NORMALIZE",
    "VEC_VEC_MUL",
    "VEC_ABS",
    "VEC_SIGMOID",
    "VEC_DSIGMOID",
    "VEC_MAT_SCALE",
];

const WAYS: [Method; 2] = [Method::McgsUcd, Method::Mcts];

fn setting(scope: Scope) -> Setting {
    Setting::Playouts(if scope.quick { 500 } else { 2_000 })
}

fn name(operators: usize, length: usize) -> String {
    format!("scalability/{operators}x{length}")
}

/// One search from the empty program for Sketched Preconditioned GD, with this many operators and insertions.
fn curriculum(operators: usize, length: usize) -> String {
    let library: Vec<String> =
        Op::all().map(|op| op.name).chain(ADDED).take(operators).map(|name| format!("\"{name}\"")).collect();
    format!(
        "title = \"Scalability: {operators} operators, {length} insertions\"\n\
         about = \"One search from the empty program, to see how often states are met again.\"\n\
         reference = \"the paper's table of revisit ratios\"\n\n\
         [[stage]]\n\
         name = \"sketched-precond-gd\"\n\
         about = \"Everything at once.\"\n\
         edits = {length}\n\
         operators = [{}]\n\
         family = {{ kind = \"mid-cond\", rows = 1000, cols = 20 }}\n\
         step = 0.5\n\
         instances = {{ search = 4, select = 2, report = 2 }}\n\
         reward = {{ profile = \"sound\", acc = 1, decay = 1, comp = 1, cond = 0 }}\n\
         target = \"sketched-precond-gd\"\n",
        library.join(", ")
    )
}

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let mut asks = Vec::new();
    for (operators, _) in SCALABILITY {
        for length in LENGTHS {
            for method in WAYS {
                let text = curriculum(operators, length);
                asks.push(Ask::text(&name(operators, length), text, method, setting(scope), scope.seeds));
            }
        }
    }
    asks
}

/// The table.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut lines = Vec::new();
    for (operators, papers) in SCALABILITY {
        let mut cells: Vec<Cell> = vec![Cell::number(operators as f64, operators.to_string())];
        for (length, paper) in LENGTHS.into_iter().zip(papers) {
            let ratio = |method| {
                let tally = means.runs.total(&name(operators, length), method, setting(means.scope))?;
                tally.spread(Quantity::TranspositionRate)
            };
            let [graph, tree] = WAYS.map(ratio);
            let what = format!("{operators} operators, length {length}");
            part.rows.push(ComparisonRow::mean(&*what, "revisit ratio, mcgs-ucd", "ours", paper, graph));
            part.rows.push(ComparisonRow::mean(&*what, "revisit ratio, mcts", "ours", Some(0.0), tree));
            cells.push(paper.map_or_else(words::nothing, |paper| Cell::number(paper, format!("{paper:.3}"))));
            cells.push(words::mean_as(graph, |ratio| format!("{ratio:.3}")));
            cells.push(words::mean_as(tree, |ratio| format!("{ratio:.3}")));
        }
        lines.push(cells);
    }
    let of_length = |length| {
        let ours = WAYS.map(|method| format!("{length}: {}", label(method, setting(means.scope))));
        std::iter::once(format!("{length}: paper")).chain(ours).map(Column::numbers)
    };
    let Setting::Playouts(playouts) = setting(means.scope) else { unreachable!("it is counted in playouts") };
    part.add(Block::Table(Table {
        name: "table-scalability".into(),
        title: "Transpositions in graph search".into(),
        caption: format!(
            "Share of edges that led, when first taken, to an already known state, in {} playouts from the empty \
             program towards Sketched Preconditioned GD; columns by program length (insertions). Means ± half a 95 % \
             confidence interval, or the values for fewer than five runs. A tree has no transpositions.",
            words::whole(playouts as f64)
        ),
        columns: std::iter::once(Column::words("operators")).chain(LENGTHS.into_iter().flat_map(of_length)).collect(),
        groups: vec![lines],
        notes: vec![
            format!(
                "The paper does not name the operators it adds to its 17. Here 20 adds {}, and 25 also {}.",
                ADDED[..3].join(", "),
                ADDED[3..].join(", ")
            ),
            "Ours is a share of edges when first taken, the paper's a share of search steps, and both depend on the \
             length of the search, which the paper does not state: compare how it changes between cells, not its \
             level."
                .into(),
        ],
    }));
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curriculum::Curriculum;

    #[test]
    fn libraries_have_the_sizes_they_say() {
        for (operators, _) in SCALABILITY {
            let text = curriculum(operators, 8);
            let read = Curriculum::parse("scalability", &text).unwrap();
            assert_eq!(read.stages[0].0.grammar.operators.len(), operators);
        }
    }
}
