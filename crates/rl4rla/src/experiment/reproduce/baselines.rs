//! Runtime against residual: discovered programs, the solvers of AlgoTune and FunSearch as printed in the paper's
//! tables, and standard solvers.

mod arena;
mod harness;

use super::ask::{Ask, Scope};
use super::found::{ProgramSource, RunCandidate, few};
use super::item::{ComparisonRow, Means, ReproducedItem};
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::report::number;
use crate::report::{Axis, Block, Cell, Column, Figure, Ink, Label, Marker, Panel, Series, Table};
use arena::{ARENAS, Arena, ArenaRecord, FLOOR, LINEAR};
use serde_json::json;

/// Excesses at which solvers are compared.
const GOALS: [f64; 3] = [1e-2, 1e-6, 1e-12];

/// The sweeps that find its programs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    sources().into_iter().map(|source| source.ask(few(scope))).collect()
}

/// Every program of every problem class, once.
fn sources() -> Vec<ProgramSource> {
    let mut sources: Vec<ProgramSource> = Vec::new();
    for source in ARENAS.iter().flat_map(|arena| arena.programs) {
        if !sources.contains(source) {
            sources.push(*source);
        }
    }
    sources
}

/// The figure, the table of fastest solvers, the paper's own harnesses, and all results.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let candidates = sources().into_iter().map(|source| source.find(means)).collect::<Result<Vec<_>, _>>()?;
    let (mut panels, mut groups, mut winners) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = Vec::new();
    for arena in &ARENAS {
        means.monitor.doing(&format!("solvers on {}", arena.title));
        let own = |candidate: &&RunCandidate| arena.programs.contains(&candidate.source);
        let programs: Vec<RunCandidate> = candidates.iter().filter(own).cloned().collect();
        let entries = arena.fight(&programs, means)?;
        panels.push(panel(arena, &entries));
        groups.push(entries.iter().map(|entry| line(arena, entry)).collect());
        winners.extend(GOALS.map(|goal| winner(arena, &entries, goal)));
        for entry in &entries {
            let mut row = ComparisonRow::mean(
                format!("{} · {}", arena.title, entry.name),
                "excess",
                entry.origin,
                None,
                None,
            );
            row.ours = json!(entry.excess());
            row.count = arena.instances(means.scope) as usize;
            part.rows.push(row);
        }
        records.push(entries);
    }
    part.add(Block::Figure(Figure {
        name: "figure-baselines".into(),
        title: "Runtime against residual".into(),
        caption: "Excess ‖A(x − x*)‖/‖b‖ (for logistic regression: of the loss, as in `rl4rla evaluate`) against time \
                  on one thread of this machine; lower left is better. Programs run for 3, 10, 30 and 100 iterations \
                  with the best of eight step sizes, baselines until they stop; an excess of 0 is drawn at 10⁻¹⁷. \
                  An open arrow head at the edge marks a solver that leaves the axis there; those in the upper right \
                  corner have no result, for the reason in the table of all solvers. Programs are those found by `best` with the first successful seed, \
                  or else the catalogue programs, labelled as such. `normal-equations`, `svd` and `lbfgs` are the \
                  solvers that the paper's table lists for AlgoTune, `funsearch` is the routine that FunSearch \
                  retained and `jacobi` the one it was initialized with: transcribed from the paper's tables, no \
                  language model was run. The paper prints its figure without numbers."
            .into(),
        panels,
        columns: 2,
    }));
    let words = ["systems", "accuracy", "fastest program", "fastest baseline"].map(Column::words);
    let numbers = ["program: ms", "baseline: ms", "program is faster by"].map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-winners".into(),
        title: "Where programs win, and where they lose".into(),
        caption: "The fastest solver of either kind that reaches the target excess on every instance. A factor above \
                  1 means that the program is faster. Programs stop after 3, 10, 30 or 100 iterations, with the best \
                  step size for the instance; baselines run to their own stopping rule regardless of the target, \
                  which favours programs for coarse targets."
            .into(),
        columns: words.into_iter().chain(numbers).collect(),
        groups: winners.chunks(GOALS.len()).map(<[_]>::to_vec).collect(),
        notes: vec![
            noncompetitive(&records),
            "Without noise any n independent equations determine the solution, so a program that keeps a sample can \
             be fast; where the smallest residual is 39 % (outside 0.3) it stops at its sampling error. Choose by \
             the systems that resemble your data."
                .into(),
            "At 10000×50 a direct solve costs a dozen passes over A, so there is little to gain. Sketching wins for n \
             in the hundreds (`rl4rla help performance`)."
                .into(),
        ],
    }));
    let accepted = harness::acceptance(&records, &mut part.rows);
    part.add(Block::Table(accepted));
    means.monitor.doing("FunSearch's score");
    let scores = harness::scores(&candidates, &mut part.rows)?;
    part.add(Block::Table(scores));
    let words = ["systems", "solver", "origin"].map(Column::words);
    let numbers = ["excess", "residual", "ms"].map(Column::numbers);
    let remark = Column::words("remark");
    part.add(Block::Folded(
        "All solvers".into(),
        vec![Block::Table(Table {
            name: "table-baselines".into(),
            title: "All solvers".into(),
            caption: "Medians over the instances; programs after the largest number of iterations that succeeded on all of them.".into(),
            columns: words.into_iter().chain(numbers).chain([remark]).collect(),
            groups,
            notes: vec![
                "`funsearch` is FunSearch's retained routine as printed in the paper's table: a solve in every \
                 iteration, on tall systems a least-squares solve with the lower trapezoid of A. `jacobi`, the \
                 splitting it was initialized with, cannot run on tall systems."
                    .into(),
            ],
        })],
    ));
    Ok(part)
}

/// Colour of all baselines.
const BASELINE: Ink = Ink(7);

fn panel(arena: &Arena, records: &[ArenaRecord]) -> Panel {
    let series = |record: &ArenaRecord| {
        // A solver without a result never comes close.
        let points = match record.points.is_empty() {
            true => vec![[f64::INFINITY; 2]],
            false => record.points.clone(),
        };
        let named = |source: &ProgramSource| record.name.split(" (").next() == Some(source.name);
        let (ink, mark) = match LINEAR.iter().position(named) {
            Some(place) => (Ink(place), Marker::Line),
            None if record.kind == "program" => {
                let place = arena.programs.iter().position(named).unwrap_or(0);
                (Ink(BASELINE.0 + 1 + place), Marker::Line)
            }
            None => (BASELINE, Marker::Dots),
        };
        Series::new(&*record.name, ink, mark, points).labelled(Label::Beside)
    };
    Panel {
        title: arena.title.into(),
        x: Axis::log("seconds"),
        y: Axis::log("excess residual").within(FLOOR / 3.0, WORST),
        series: records.iter().map(series).collect(),
    }
}

/// The upper end of the axis; what is larger is marked there.
const WORST: f64 = 10.0;

fn line(arena: &Arena, record: &ArenaRecord) -> Vec<Cell> {
    let last = record.points.last();
    let value = |place: usize, factor: f64| {
        last.map_or_else(words::nothing, |point| {
            Cell::number(factor * point[place], number(factor * point[place]))
        })
    };
    let remark = match (&record.failure, Some(record.name.as_str()) == arena.tuned) {
        (Some(failure), _) => failure.clone(),
        (None, true) => "AlgoTune's solver for these systems, transcribed from the paper's table".into(),
        _ => String::new(),
    };
    let residual = Cell::number(record.residual, number(record.residual));
    vec![
        arena.title.into(),
        record.name.as_str().into(),
        record.origin.into(),
        value(1, 1.0),
        if last.is_some() { residual } else { words::nothing() },
        value(0, 1e3),
        remark.into(),
    ]
}

/// The fastest program and the fastest baseline that reach the tolerance.
fn winner(arena: &Arena, records: &[ArenaRecord], goal: f64) -> Vec<Cell> {
    let fastest = |kind: &str| {
        let points = records.iter().filter(|record| record.kind == kind);
        let good = points.flat_map(|record| record.points.iter().map(move |point| (record, point)));
        good.filter(|(_, point)| point[1] <= goal).min_by(|a, b| a.1[0].total_cmp(&b.1[0]))
    };
    let (program, baseline) = (fastest("program"), fastest("baseline"));
    let name =
        |best: Option<(&ArenaRecord, &[f64; 2])>| Cell::from(best.map_or("none", |(record, _)| &record.name));
    let time = |best: Option<(&ArenaRecord, &[f64; 2])>| {
        best.map_or_else(words::nothing, |(_, point)| Cell::number(1e3 * point[0], number(1e3 * point[0])))
    };
    let factor = program.zip(baseline).map(|((_, p), (_, b))| b[0] / p[0]);
    vec![
        arena.title.into(),
        Cell::number(goal, format!("{goal:.0e}")),
        name(program),
        name(baseline),
        time(program),
        time(baseline),
        factor.map_or_else(words::nothing, |factor| Cell::number(factor, format!("{factor:.2}×"))),
    ]
}

/// Excesses within this factor of QR's count as equal.
const ALIKE: f64 = 100.0;

/// What FunSearch's routine reaches on consistent tall systems, compared with the paper's statement.
fn noncompetitive(records: &[Vec<ArenaRecord>]) -> String {
    let (mut alike, mut apart) = (Vec::new(), Vec::new());
    for (arena, records) in ARENAS.iter().zip(records).filter(|(arena, _)| arena.is_consistent()) {
        let excess =
            |name: &str| records.iter().find(|record| record.name == name).and_then(ArenaRecord::excess);
        let Some((found, direct)) = excess("funsearch").zip(excess("qr")) else { continue };
        let words = format!("{} {} (QR {})", arena.title, number(found), number(direct));
        if found <= ALIKE * direct { alike.push(words) } else { apart.push(words) }
    }
    let list = |words: &[String]| if words.is_empty() { "none".into() } else { words.join("; ") };
    format!(
        "The paper calls the residuals of FunSearch's routine \"noncompetitive\" on well-conditioned and ill-conditioned \
         systems. Its excess here, transcribed from the paper's table and run for 10 iterations: within a factor of \
         {ALIKE:.0} of QR's on {}; further from it on {}. Its time is in the table of all solvers.",
        list(&alike),
        list(&apart)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, kind: &'static str, points: Vec<[f64; 2]>) -> ArenaRecord {
        let residual = points.last().map_or(f64::NAN, |point| point[1]);
        ArenaRecord {
            name: name.into(),
            kind,
            origin: "baseline",
            points,
            residual,
            failure: None,
            losses: vec![],
        }
    }

    #[test]
    fn every_solver_is_named_in_its_panel_once_and_apart() {
        let arena = &ARENAS[1];
        let curve = |i: usize| {
            let excess = |t: i32| if i == 0 { 1e3_f64.powi(t) } else { 1e-16 * (i + 1) as f64 };
            (0..4).map(|t| [1e-3 * (1.0 + f64::from(t)) * (i + 1) as f64, excess(t)]).collect()
        };
        let programs = LINEAR.iter().enumerate().map(|(i, source)| record(source.name, "program", curve(i)));
        let names =
            ["qr", "svd", "lsqr", "cgls", "lsrn", "blendenpik", "fossils", "kaczmarz", "funsearch", "jacobi"];
        let dot = |i: usize| vec![[2e-3 * (i + 1) as f64, if i < 6 { 1e-15 } else { 1e-3 }]];
        let points = |(i, name): (usize, &&str)| {
            record(name, "baseline", if *name == "jacobi" { vec![] } else { dot(i) })
        };
        let records: Vec<ArenaRecord> = programs.chain(names.iter().enumerate().map(points)).collect();
        let panels = vec![panel(arena, &records)];
        let [name, title, caption] = ["f", "", ""].map(String::from);
        let drawn = Figure { name, title, caption, panels, columns: 1 }.html();
        for record in &records {
            assert_eq!(drawn.matches(&format!(">{}</text>", record.name)).count(), 1, "{}", record.name);
        }
        assert!(!drawn.contains("<ul class=\"legend\">"));
        // A program left the axis, and a baseline has no result.
        assert_eq!(drawn.matches("class=\"o\"").count(), 2);
    }

    #[test]
    fn the_paper_s_word_is_held_against_what_was_measured() {
        let record = |name: &str, excess| record(name, "baseline", vec![[1.0, excess]]);
        let on = |arena: &Arena| {
            let reached = if arena.title.contains("high leverage") { 2e-15 } else { 1e-3 };
            vec![record("qr", 4e-16), record("funsearch", reached)]
        };
        let note = noncompetitive(&ARENAS.iter().map(on).collect::<Vec<_>>());
        let near = "QR's on LOW_COND, high leverage 2.00e-15 (QR 4.00e-16); MID_COND, high leverage 2.00e-15";
        assert!(note.contains(near), "{note}");
        assert!(note.contains("from it on MID_COND, low leverage 0.0010 (QR"), "{note}");
        assert!(!note.contains("noise"), "{note}");
        assert!(noncompetitive(&[]).contains("of QR's on none; further from it on none"));
    }
}
