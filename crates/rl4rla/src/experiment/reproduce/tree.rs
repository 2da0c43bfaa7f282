//! The curriculum tree, as a table of transitions and as a diagram of methods.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::EDGES;
use super::way::label;
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::record::Quantity;
use crate::report::{Block, Cell, Column, Diagram, DiagramNode, Role, Table};
use crate::search::Method;

/// The sweeps of the table: the paper's method under both settings.
pub fn table_asks(scope: Scope) -> Vec<Ask> {
    let mut asks = Vec::new();
    for edge in &EDGES {
        for setting in Setting::PAPER {
            asks.push(Ask::new(edge.curriculum, Method::McgsUcd, setting, scope.seeds));
        }
        asks.push(Ask::new(edge.curriculum, Method::Best, Setting::Repaired, scope.seeds));
    }
    asks
}

/// The table of transitions.
pub fn table(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let (mut trunk, mut branches) = (Vec::new(), Vec::new());
    for edge in &EDGES {
        let curriculum = crate::experiment::reproduce::ask::builtin(edge.curriculum)?;
        let stage = curriculum.stages.iter().find(|(stage, _)| stage.name == edge.stage);
        let distance = stage.map_or(0, |(stage, _)| stage.edits);
        let mut cells: Vec<Cell> = vec![
            edge.title.into(),
            Cell::number(edge.distance as f64, edge.distance.to_string()),
            Cell::number(distance as f64, distance.to_string()),
            Cell::number(
                edge.median,
                format!(
                    "{} ± {} / {:.0} %",
                    words::whole(edge.median),
                    words::whole(edge.iqr),
                    100.0 * edge.found
                ),
            ),
        ];
        let ways = [
            (Method::McgsUcd, Setting::Released, Quantity::Playouts),
            (Method::McgsUcd, Setting::Matched, Quantity::Playouts),
            (Method::Best, Setting::Repaired, Quantity::Evaluations),
        ];
        for (method, setting, quantity) in ways {
            let Some(tally) = means.runs.stage(edge.curriculum, edge.stage, method, setting) else {
                cells.push(words::nothing());
                continue;
            };
            let (found, spread) = (tally.found(), tally.spread(quantity));
            let median = spread.map_or(f64::NAN, |spread| spread.median);
            cells.push(Cell::number(median, format!("{} / {found}", words::median_iqr(spread).text)));
            let what = format!("{} · {}", edge.title, method.name());
            let (name, theirs) = match quantity {
                Quantity::Playouts => ("playouts, median", Some(edge.median)),
                _ => ("evaluations, median", None),
            };
            let mut row = ComparisonRow::mean(&*what, name, setting.name(), theirs, spread);
            row.ours = serde_json::json!(median);
            row.interval = spread.map(|spread| [spread.lower, spread.upper]);
            part.rows.push(row);
            let theirs = (method == Method::McgsUcd).then_some(edge.found);
            part.rows.push(ComparisonRow::rate(&*what, setting.name(), theirs, found));
        }
        if edge.stage == "landweber" || edge.stage == "ls-gd" { &mut trunk } else { &mut branches }
            .push(cells);
    }
    part.add(Block::Table(Table {
        name: "table-tree".into(),
        title: "Curriculum tree".into(),
        caption: "Every transition of the shared-trunk curriculum: median ± interquartile range of playouts (for \
                  `best`: of evaluations), or the values for fewer than five runs, and success among the runs that \
                  reached it. The edit distance is the number of instructions to insert."
            .into(),
        columns: vec![
            Column::words("transition"),
            Column::numbers("edit distance: paper"),
            Column::numbers("ours"),
            Column::numbers("paper, MCGS+UCD"),
            Column::numbers(label(Method::McgsUcd, Setting::Released)),
            Column::numbers(label(Method::McgsUcd, Setting::Matched)),
            Column::numbers(format!("{}: evaluations", label(Method::Best, Setting::Repaired))),
        ],
        groups: vec![trunk, branches],
        notes: vec![
            "The transition to Sketched Preconditioned GD is one stage here with one set of constants; the paper \
             lists it twice with different numbers."
                .into(),
        ],
    }));
    Ok(part)
}

/// A box of the diagram: title, curriculum and stage that reach it, role, position, and index of its parent.
struct Place(&'static str, &'static str, &'static str, Role, usize, f64, usize);

const PLACES: [Place; 13] = [
    Place("Empty", "", "", Role::Base, 0, 2.0, 0),
    Place("Landweber iteration", "sketched-precond-gd", "landweber", Role::Base, 1, 1.0, 0),
    Place("Least Square GD", "sketched-precond-gd", "ls-gd", Role::Base, 2, 1.0, 1),
    Place("Block Randomized Kaczmarz", "block-kaczmarz", "block-kaczmarz", Role::Project, 3, 0.0, 2),
    Place("Preconditioned GD", "sketched-precond-gd", "precond-gd", Role::Base, 3, 1.0, 2),
    Place("Subsampled Least Square GD", "subsampled-ls-gd", "subsampled-ls-gd", Role::Solve, 3, 2.0, 2),
    Place(
        "Sketched Preconditioned GD",
        "sketched-precond-gd",
        "sketched-precond-gd",
        Role::Precondition,
        4,
        0.5,
        4,
    ),
    Place(
        "Subsampled Preconditioned GD",
        "subsampled-precond-gd",
        "subsampled-precond-gd",
        Role::Solve,
        4,
        1.5,
        4,
    ),
    Place(
        "Preconditioned Weighted SGD",
        "precond-weighted-sgd",
        "precond-weighted-sgd",
        Role::Precondition,
        5,
        0.5,
        6,
    ),
    Place("Logistic forward pass", "newton-sketch", "forward", Role::Base, 1, 3.0, 0),
    Place("Logistic GD", "newton-sketch", "logistic-gd", Role::Base, 2, 3.0, 9),
    Place("Full Newton", "newton-sketch", "newton", Role::Base, 3, 3.0, 10),
    Place("Newton Sketch", "newton-sketch", "newton-sketch", Role::Newton, 4, 3.0, 11),
];

/// The sweeps of the diagram.
pub fn diagram_asks(scope: Scope) -> Vec<Ask> {
    let named = PLACES.iter().map(|place| place.1).filter(|name| !name.is_empty());
    named.map(|name| Ask::new(name, Method::Best, Setting::Repaired, scope.seeds)).collect()
}

/// The diagram of methods.
pub fn diagram(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let (mut nodes, mut arrows) = (Vec::new(), Vec::new());
    for (number, &Place(title, curriculum, stage, role, column, row, from)) in PLACES.iter().enumerate() {
        let tally = means.runs.stage(curriculum, stage, Method::Best, Setting::Repaired);
        let remark = tally.as_ref().map_or(String::new(), |tally| {
            format!(
                "{} found, {} evaluations",
                tally.found(),
                words::whole(tally.mean(Quantity::Evaluations))
            )
        });
        if let Some(tally) = &tally {
            part.rows.push(ComparisonRow::rate(title, Setting::Repaired.name(), None, tally.found()));
        }
        nodes.push(DiagramNode { title: title.into(), remark, role, column, row });
        if number > 0 {
            arrows.push((from, number, String::new()));
        }
    }
    part.add(Block::Diagram(Diagram {
        name: "figure-method-tree".into(),
        title: "Tree of methods".into(),
        caption: "Discovered methods and the stages between them, as found by `best` on the repaired curricula: \
                  success rate of each step among the runs that reached it, and its cost. The paper draws the same \
                  tree without its forward pass and without numbers."
            .into(),
        nodes,
        arrows,
        legend: vec![
            (Role::Precondition, "sketch-and-precondition".into()),
            (Role::Project, "sketch-and-project".into()),
            (Role::Solve, "sketch-and-solve".into()),
            (Role::Newton, "Newton Sketch".into()),
            (Role::Base, "base method".into()),
        ],
    }));
    Ok(part)
}
