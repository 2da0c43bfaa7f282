//! An analysis as a page.

use super::numbers::{alone, cell, count, factor, interval, kappa};
use super::words::{costs, ended, formula, steps};
use super::{Analyzed, figures};
use crate::analysis::{Analysis, Worst};
use crate::report::number;
use crate::report::{Block, Cell, Column, Document, Section, Table};

impl Analyzed<'_> {
    /// Everything, on one page.
    pub fn document(&self) -> Document {
        let analysis = self.analysis;
        let section = |id: &str, title: &str, blocks: Vec<Block>| Section {
            id: id.into(),
            title: title.into(),
            blocks,
        };
        let iterations = self.study.protocol.iterations;
        let figure = |figure: Option<_>| figure.map(Block::Figure).into_iter();
        let mut speed = vec![Block::Text(format!("{}.", capital(steps(&analysis.step_range).trim_end())))];
        speed.push(Block::Table(contraction(analysis)));
        speed.extend(figure(figures::contraction(analysis)));
        speed.push(Block::Table(waits(analysis)));
        let map = figure(figures::map(&analysis.map, iterations))
            .chain([Block::Folded("All cells".into(), vec![Block::Table(map(analysis))])]);
        let digits =
            [Block::Table(precision(analysis))].into_iter().chain(figure(figures::precision(analysis)));
        let fact = |name: &str, value: String| (name.to_string(), value);
        Document {
            title: format!("{}, analysed", self.title),
            lead: self.program.about.clone(),
            sections: vec![
                section("iteration", "Iteration", self.iteration(analysis)),
                section("speed", "Speed", speed),
                section("cost", "Cost", vec![Block::Facts(costs(&analysis.flops))]),
                section("map", "Robustness", map.collect()),
                section("worst", "Worst case", self.worst_blocks(analysis.worst.as_ref())),
                section("digits", "Digits", digits.collect()),
            ],
            colophon: vec![
                fact("made by", format!("rl4rla {}", crate::VERSION)),
                fact("problems", super::setting(self.study).replace('\n', "; ")),
                fact("run id", format!("`{}`", self.study.id())),
                fact("with", format!("`{}`", self.command)),
            ],
        }
    }

    fn iteration(&self, analysis: &Analysis) -> Vec<Block> {
        let iteration = &analysis.iteration;
        let mut facts = vec![("kind".to_string(), iteration.nature.words().to_string())];
        facts
            .extend(iteration.definitions.iter().map(|definition| ("where".to_string(), definition.clone())));
        vec![
            Block::Code(formula(iteration)),
            Block::Facts(facts),
            Block::Folded("Program".into(), vec![Block::Code(self.program.program.to_string())]),
        ]
    }

    fn worst_blocks(&self, worst: Option<&Worst>) -> Vec<Block> {
        let Some(worst) = worst else {
            return vec![Block::Text("Not applicable: no instance could be drawn.".into())];
        };
        let said = |value: Option<f64>| value.map_or("–".to_string(), number);
        let mut facts = vec![
            ("excess".to_string(), worst.excess.map_or("the run fails".into(), number)),
            ("usual excess".into(), said(worst.typical)),
            ("runs searched".into(), worst.evaluations.to_string()),
        ];
        facts.extend(worst.failure.iter().map(|failure| ("failure".to_string(), failure.clone())));
        let mut blocks = vec![
            Block::Remark(format!("{}. {}", capital(worst.name), worst.why)),
            Block::Text("The worst run of the search and of the robustness map:".into()),
            Block::Facts(facts),
            Block::Code((self.again)(&worst.point)),
        ];
        let mildest = &worst.mildest;
        if mildest.point != worst.point {
            let there = ended(mildest.excess, mildest.failure.as_deref());
            blocks.push(Block::Text(format!("The mildest case that shows why: {there}.")));
            blocks.push(Block::Code((self.again)(&mildest.point)));
        }
        blocks
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn named(name: &str, title: &str, caption: &str, head: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let columns = head.iter().enumerate().map(|(i, head)| match i {
        0 => Column::words(*head),
        _ => Column::numbers(*head),
    });
    Table {
        name: name.into(),
        title: title.into(),
        caption: caption.into(),
        columns: columns.collect(),
        groups: vec![rows],
        notes: vec![],
    }
}

fn contraction(analysis: &Analysis) -> Table {
    let rows = analysis.contraction.iter().map(|row| {
        let computed = row.computed;
        vec![
            kappa(row.kappa).into(),
            interval(computed.map(|c| c.radius), factor).into(),
            interval(computed.map(|c| c.norm), factor).into(),
            interval(row.measured, factor).into(),
            row.failed.to_string().into(),
        ]
    });
    named(
        "contraction",
        "Contraction of the excess in an iteration.",
        "Computed from the iteration matrix G where it is one; measured over the last iterations before rounding or noise. \
         Means with 95 % confidence intervals over the replicates.",
        &["κ", "ρ(G)", "‖AGA⁺‖", "measured", "failed"],
        rows.collect(),
    )
}

fn waits(analysis: &Analysis) -> Table {
    let rows = analysis.iterations.iter().zip(&analysis.step_range.rows).map(|(wait, step)| {
        vec![
            kappa(wait.kappa).into(),
            interval(step.high, number).into(),
            interval(step.best, number).into(),
            alone(wait.predicted, count).into(),
            interval(wait.observed, count).into(),
            format!("{} of {} within {}", wait.reached, wait.count, wait.within).into(),
        ]
    });
    named(
        "iterations",
        "Steps and iterations to the tolerance.",
        "Predicted from the contraction factor, and observed: medians with 95 % confidence intervals.",
        &["κ", "ηmax", "best η", "predicted", "observed", "reached"],
        rows.collect(),
    )
}

fn precision(analysis: &Analysis) -> Table {
    let rows = analysis.precision.iter().map(|digits| {
        vec![
            kappa(digits.kappa).into(),
            interval(digits.double, number).into(),
            interval(digits.single, number).into(),
            (digits.failed_single + digits.failed_double).to_string().into(),
        ]
    });
    named(
        "digits",
        "The best excess with 64 and with 32 bits.",
        "Medians with 95 % confidence intervals over the replicates.",
        &["κ", "64 bits", "32 bits", "failed"],
        rows.collect(),
    )
}

fn map(analysis: &Analysis) -> Table {
    let number = |value: Option<f64>| value.map_or("–".into(), |value| Cell::number(value, number(value)));
    let rows = analysis.map.iter().map(|place| {
        let excess = Cell { text: cell(place), value: place.excess, strong: false };
        vec![
            place.leverage.name().into(),
            number(Some(place.noise)),
            format!("{}×{}", place.rows, place.cols).into(),
            kappa(place.kappa).into(),
            excess,
            number(place.low),
            number(place.high),
            number(place.direct),
            format!("{} of {}", place.failed, place.count).into(),
        ]
    });
    named(
        "map-cells",
        "The cells of the map.",
        "The median excess with its 95 % confidence interval, that of a QR solve, and how many runs failed.",
        &["leverage", "noise", "size", "κ", "excess", "low", "high", "QR", "failed"],
        rows.collect(),
    )
}
