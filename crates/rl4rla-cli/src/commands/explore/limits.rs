//! Where a program stops working, and which classical solvers it beats, in a line each.

use crate::page::number;
use rl4rla::explore::{Difficulty, DifficultyValue, ProgramLimit, RunEnding, SolverComparison};
use rl4rla::record::HallRecord;

/// The limits of a program: what it can take, and how it fails where it does.
pub fn limits(entry: &HallRecord) -> String {
    entry.limits.iter().map(limit).collect::<Vec<_>>().join("; ")
}

fn limit(limit: &ProgramLimit) -> String {
    let value = |value: DifficultyValue| match (limit.what, value) {
        (Difficulty::SketchFactor, DifficultyValue::Number(factor)) => format!("{factor}n"),
        (Difficulty::LessOutside | Difficulty::MoreOutside, DifficultyValue::Number(weight)) => {
            format!("{weight}")
        }
        (_, DifficultyValue::Number(exact)) => number(exact),
        (_, DifficultyValue::Leverage(leverage)) => leverage.name().into(),
    };
    let what = match limit.what {
        Difficulty::Kappa => "κ",
        Difficulty::Leverage => "leverage",
        Difficulty::LessOutside | Difficulty::MoreOutside => "outside",
        Difficulty::SketchFactor => "sketch",
        Difficulty::Tolerance => "tolerance",
    };
    let at = limit.excess.map_or(String::new(), |excess| format!(" at {}", number(excess)));
    let how = match limit.how {
        Some(RunEnding::Diverged) => "diverges".to_string(),
        Some(RunEnding::Stalled) => format!("stalls{at}"),
        Some(RunEnding::Slow) => format!("is too slow, still{at}"),
        Some(RunEnding::BrokeDown) => "breaks down".to_string(),
        Some(RunEnding::Reached) | None => String::new(),
    };
    match (limit.works, limit.fails) {
        (Some(works), Some(fails)) => format!("{what} {}, {} {how}", value(works), value(fails)),
        (Some(works), None) => format!("{what} {}", value(works)),
        (None, Some(fails)) => format!("{what} {} already {how}", value(fails)),
        (None, None) => format!("{what} not tried"),
    }
}

/// The work of classical solvers, as a multiple of that of a program.
pub fn beats(entry: &HallRecord) -> String {
    let solver = |one: &SolverComparison| {
        let some = match one.reached == one.runs {
            true => String::new(),
            false => format!(" on {} of {}", one.reached, one.runs),
        };
        match one.ratio {
            Some(ratio) => format!("{} {}×{some}", one.solver, number(ratio)),
            None => format!("{} does not reach it", one.solver),
        }
    };
    entry.beats.iter().map(solver).collect::<Vec<_>>().join(", ")
}
