//! An analysis in the terminal.

use super::Report;
use super::numbers::{alone, cell, count, factor, interval, kappa};
use crate::page::{accent, faint, indent, ledger, number, strong, table, warning};
use rl4rla::analysis::{Analysis, Cell, Costs, Decided, Found, Iteration, Rival, StepRange, Symbols, Worst};

impl Report<'_> {
    /// Everything, for a person.
    pub fn text(&self, analysis: &Analysis) -> String {
        let mut text = format!("{}\n", strong(self.source.title()));
        if !self.shared.quiet {
            text += &self.setting().lines().map(|line| format!("{}\n", faint(line))).collect::<String>();
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

    /// What was run.
    pub fn setting(&self) -> String {
        let (family, study) = (&self.study.family, &self.study);
        let settings = study.settings(family);
        format!(
            "{} {}×{}, κ {} unless stated otherwise; {} replicates, seed {}\nη = {}, {} sketch s = {}, samples k = {}",
            family.kind,
            family.rows,
            family.cols,
            kappa(family.condition),
            study.care.replicates,
            study.care.seed,
            study.step,
            settings.sketch,
            settings.sketch_rows,
            settings.batch,
        )
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

/// How a run ended.
pub fn ended(excess: Option<f64>, failure: Option<&str>) -> String {
    match excess {
        Some(excess) => format!("excess {}", number(excess)),
        None => format!("the run fails: {}", failure.unwrap_or("it does not terminate")),
    }
}

/// Lines of at most 96 letters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.chars().count() + word.chars().count() > 95 {
            lines.push(word.into());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.join("\n")
}

/// The iteration in one line and what its letters mean.
pub fn formula(iteration: &Iteration) -> String {
    // The arrow says which x is the next one.
    let plain = |text: &str| text.replace("xₜ", "x");
    match (&iteration.multiplier, &iteration.residual) {
        (Some(multiplier), Some(residual)) if iteration.update.contains('η') => {
            format!("x ← x − η M ({}) with M = {}", plain(residual), plain(multiplier))
        }
        _ => format!("{} with v1 = {}", iteration.update, plain(&iteration.direction)),
    }
}

fn iteration(iteration: &Iteration) -> String {
    let how = match iteration.decided {
        Decided::Algebra => "by algebra",
        Decided::Probe => "by execution from several points",
    };
    let mut text = format!("{}\n", accent(&formula(iteration)));
    if !iteration.definitions.is_empty() {
        text += &format!("where {}\n", iteration.definitions.join("\n      "));
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

/// The range of steps in words.
pub fn steps(range: &StepRange) -> String {
    let best = range.best.map_or(String::new(), |best| format!("; the best is {}", number(best)));
    let how = match range.found {
        Found::Spectrum => "from the spectrum of M·A",
        Found::Bisection => "by trial",
        Found::NotApplicable => return "not applicable: the iteration has no step size\n".into(),
    };
    match range.high {
        Some(0.0) => format!("no step size converges, {how}\n"),
        Some(high) => format!("converges for 0 < η < {}{best}, {how}\n", number(high)),
        None => format!("no upper limit was found{best}, {how}\n"),
    }
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

/// The price in words: what is meant, and what it is.
pub fn costs(costs: &Costs) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_string(), value);
    let work = |symbols: &Symbols| format!("{} flops, reads {} entries of data", symbols.flops, symbols.data);
    let mut facts = Vec::new();
    if costs.setup.flops != "0" {
        facts.push(fact("once", work(&costs.setup)));
    }
    facts.push(fact("every iteration", work(&costs.iteration)));
    if facts.iter().any(|(_, value)| value.contains('ζ')) {
        facts.push(fact("ζ", format!("{} flops per sketched entry", number(costs.sketch_work))));
    }
    let size = format!("at {}×{}", costs.rows, costs.cols);
    let Some((total, t)) = costs.total.zip(costs.iterations) else {
        facts.push((size, "the tolerance is not reached, so there is no crossover".into()));
        return facts;
    };
    let (flops, passes) = (number(total.flops), number(total.passes));
    let iterations = count(t);
    facts.push((
        size,
        format!("{iterations} iterations to the tolerance: {flops} flops, {passes} passes over A"),
    ));
    let rivals = costs.rivals.iter();
    facts.extend(rivals.map(|rival| (format!("cheaper than {}", rival.name), crossovers(costs, rival))));
    facts
}

/// When a program is cheaper than another method.
fn crossovers(costs: &Costs, rival: &Rival) -> String {
    let price = match (rival.flops, rival.iterations) {
        (Some(flops), Some(t)) => format!(" ({} flops, {} iterations)", number(flops), count(t)),
        (Some(flops), None) => format!(" ({} flops)", number(flops)),
        (None, _) => " (which does not reach the tolerance)".into(),
    };
    let rows = rival.rows.map(|rows| format!("{} at n = {}", rows.words("m"), costs.cols));
    let fixed = if rival.rows.is_some() { format!(" at m = {}", costs.rows) } else { String::new() };
    let cols = rival.cols.map(|cols| format!("{}{fixed}", cols.words("n")));
    let both: Vec<String> = rows.into_iter().chain(cols).collect();
    format!("{}{price}", both.join(", "))
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

/// A row for each leverage, noise and shape; a column for each condition number, and the worst of QR.
fn map(cells: &[Cell]) -> String {
    let lines = cells.chunk_by(|a, b| (a.leverage, a.noise, a.rows) == (b.leverage, b.noise, b.rows));
    let kappas: Vec<String> = cells
        .chunk_by(|a, b| (a.leverage, a.noise, a.rows) == (b.leverage, b.noise, b.rows))
        .next()
        .map(|line| line.iter().map(|cell| format!("κ {}", kappa(cell.kappa))).collect())
        .unwrap_or_default();
    let row = |line: &[Cell]| {
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
