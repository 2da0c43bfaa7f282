//! An analysis in words, for pages and terminals.

use super::numbers::count;
use crate::analysis::{Costs, Found, Iteration, Rival, StepRange, Symbols};
use crate::report::number;

/// The outcome of a run.
pub fn ended(excess: Option<f64>, failure: Option<&str>) -> String {
    match excess {
        Some(excess) => format!("excess {}", number(excess)),
        None => format!("the run fails: {}", failure.unwrap_or("it does not terminate")),
    }
}

/// The iteration in one line, with a legend of its symbols.
pub fn formula(iteration: &Iteration) -> String {
    // The arrow already tells which x is the next one.
    let plain = |text: &str| text.replace("xₜ", "x");
    match (&iteration.multiplier, &iteration.residual) {
        (Some(multiplier), Some(residual)) if iteration.update.contains('η') => {
            format!("x ← x − η M ({}) with M = {}", plain(residual), plain(multiplier))
        }
        _ => format!("{} with v1 = {}", iteration.update, plain(&iteration.direction)),
    }
}

/// The range of step sizes in words.
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

/// The cost in words: labels and values.
pub fn costs(costs: &Costs) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_string(), value);
    let work = |symbols: &Symbols| format!("{} flops, reads {} entries of data", symbols.flops, symbols.data);
    let mut facts = Vec::new();
    if costs.setup.flops != "0" {
        facts.push(fact("once", work(&costs.setup)));
    }
    facts.push(fact("every iteration", work(&costs.iteration)));
    facts.extend(costs.refresh.as_ref().map(|refresh| fact("every k iterations", work(refresh))));
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

/// The sizes at which a program is cheaper than another method.
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
