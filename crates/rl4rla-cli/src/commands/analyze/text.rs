//! An analysis in the terminal.

use super::Report;
use crate::page::{accent, faint, indent, ledger, number, strong, table, warning};
use rl4rla::analysis::{Analysis, Decided, Iteration, MapCell, Worst};
use rl4rla::experiment::analyzed::numbers::{alone, cell, count, factor, interval, kappa};
use rl4rla::experiment::analyzed::setting;
use rl4rla::experiment::analyzed::words::{costs, ended, formula, steps};

impl Report<'_> {
    /// The complete text.
    pub fn text(&self, analysis: &Analysis) -> String {
        let mut text = format!("{}\n", strong(self.source.title()));
        if !self.shared.quiet {
            text +=
                &setting(&self.study).lines().map(|line| format!("{}\n", faint(line))).collect::<String>();
        }
        let part = |title: &str, body: String| format!("\n{}\n{body}", strong(title));
        text += &part("Iteration", indent(&iteration(&analysis.iteration)));
        text += &part("Contraction of the excess per iteration", contraction(analysis));
        text += &part(
            &format!("Step sizes, and iterations to an excess of {:e}", self.study.care.tolerance),
            indent(&steps(&analysis.step_range)) + &waits(analysis),
        );
        let cost = costs(&analysis.flops).into_iter().map(|(name, value)| vec![name, value]);
        text += &part("Cost", table(cost));
        text += &part("Best excess in 64-bit and 32-bit precision", precision(analysis));
        let t = self.study.protocol.iterations;
        text += &part(&format!("Robustness: the median excess after {t} iterations"), map(&analysis.map));
        text += &part("Worst case", indent(&self.worst(analysis.worst.as_ref())));
        let id =
            format!("{}  {}\n", self.study.id(), faint("identical for the same program, settings and seed"));
        text + &part("Run id", indent(&format!("{id}{}\n{}\n", faint("reproduce with"), self.command())))
    }

    fn worst(&self, worst: Option<&Worst>) -> String {
        let Some(worst) = worst else { return "not applicable: no instance could be drawn\n".into() };
        let name = if worst.broke { warning(worst.name) } else { accent(worst.name) };
        let mut text = format!("{name}\n{}\n", wrapped(worst.why));
        let typical = worst.typical.map_or("failures".into(), number);
        text += &match (worst.excess, worst.ratio) {
            (Some(excess), Some(ratio)) => {
                format!("excess {}, {} times the typical {typical}\n", number(excess), number(ratio))
            }
            (Some(excess), None) => format!("excess {}, against a typical {typical}\n", number(excess)),
            _ => format!("{}\n", wrapped(&ended(None, worst.failure.as_deref()))),
        };
        text += &faint(&format!(
            "the worst of {} search runs and of all runs of the map; reproduce with\n",
            worst.evaluations
        ));
        text += &format!("{}\n", self.again(&worst.point));
        let mildest = &worst.mildest;
        if mildest.point != worst.point {
            let there = ended(mildest.excess, mildest.failure.as_deref());
            text += &format!("{}\n", wrapped(&format!("the mildest case with the same diagnosis: {there}")));
            text += &format!("{}\n", self.again(&mildest.point));
        }
        text
    }
}

/// Wraps text to lines of at most 90 characters, so that they can be indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.chars().count() + word.chars().count() > 89 {
            lines.push(word.into());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.join("\n")
}

fn iteration(iteration: &Iteration) -> String {
    let how = match iteration.decided {
        Decided::Algebra => "by algebra",
        Decided::Probe => "by execution from several points",
    };
    let mut text = format!("{}\n", accent(&wrapped(&formula(iteration))));
    if !iteration.definitions.is_empty() {
        let lines = iteration.definitions.iter().map(|line| wrapped(line).replace('\n', "\n      "));
        text += &format!("where {}\n", lines.collect::<Vec<_>>().join("\n      "));
    }
    text + &format!("{}, {how}\n", iteration.nature.words())
}

fn contraction(analysis: &Analysis) -> String {
    let rows = analysis.contraction.iter().map(|row| {
        vec![
            kappa(row.kappa),
            alone(row.computed.map(|computed| computed.radius), factor),
            alone(row.computed.map(|computed| computed.norm), factor),
            interval(row.measured, factor),
            if row.failed > 0 { warning(&row.failed.to_string()) } else { "0".into() },
        ]
    });
    ledger(&["κ", "ρ(G) computed", "‖AGA⁺‖ computed", "measured [95 %]", "failed"], rows, 0..5)
}

fn waits(analysis: &Analysis) -> String {
    let rows = analysis.iterations.iter().zip(&analysis.step_range.rows).map(|(wait, step)| {
        vec![
            kappa(wait.kappa),
            alone(step.high, number),
            alone(step.best, number),
            alone(wait.predicted, count),
            interval(wait.observed, count),
            format!("{} of {} within {}", wait.reached, wait.count, wait.within),
        ]
    });
    ledger(&["κ", "ηmax", "best η", "predicted", "observed [95 %]", "reached"], rows, 0..6)
}

fn precision(analysis: &Analysis) -> String {
    let rows = analysis.precision.iter().map(|digits| {
        let failures = digits.failed_single + digits.failed_double;
        vec![
            kappa(digits.kappa),
            interval(digits.double, number),
            interval(digits.single, number),
            if failures > 0 { warning(&failures.to_string()) } else { "0".into() },
        ]
    });
    ledger(&["κ", "64 bits [95 %]", "32 bits [95 %]", "failed"], rows, 0..4)
}

/// One row per leverage, noise and shape; one column per condition number, and the worst excess of QR.
fn map(cells: &[MapCell]) -> String {
    let lines = cells.chunk_by(|a, b| (a.leverage, a.noise, a.rows) == (b.leverage, b.noise, b.rows));
    let kappas: Vec<String> = cells
        .chunk_by(|a, b| (a.leverage, a.noise, a.rows) == (b.leverage, b.noise, b.rows))
        .next()
        .map(|line| line.iter().map(|cell| format!("κ {}", kappa(cell.kappa))).collect())
        .unwrap_or_default();
    let row = |line: &[MapCell]| {
        let first = &line[0];
        let mut row = vec![first.leverage.name().into(), first.noise.to_string(), first.aspect.to_string()];
        row.extend(line.iter().map(cell));
        let worst = line.iter().filter_map(|cell| cell.direct).reduce(f64::max);
        row.push(worst.map_or(String::new(), |worst| faint(&format!("{worst:.0e}"))));
        row
    };
    let qr = if cells.iter().any(|cell| cell.direct.is_some()) { "QR at most" } else { "" };
    let head: Vec<&str> = ["leverage", "noise", "m/n"]
        .into_iter()
        .chain(kappas.iter().map(String::as_str))
        .chain([qr])
        .collect();
    match cells {
        [] => table([vec!["not applicable".to_string()]]),
        _ => ledger(&head, lines.map(row), 1..head.len()),
    }
}
