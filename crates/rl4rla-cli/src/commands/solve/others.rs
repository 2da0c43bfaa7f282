//! What `solve` says of tasks other than least squares.

use crate::page::number;
use rl4rla::problem::{Response, Task};
use rl4rla::solve::Posed;
use serde_json::{Map, Value, json};

/// What a script reads besides.
pub fn json(posed: &Posed, task: &dyn Task, response: Response) -> Value {
    let figures: Map<String, Value> =
        posed.figures.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let classes = match response {
        Response::Classes([negative, positive]) => json!({ "negative": negative, "positive": positive }),
        Response::Number => Value::Null,
    };
    json!({
        "loss": posed.solved.residual,
        "optimality": posed.solved.gradient,
        "optimality_measure": task.optimality_name(),
        "obstacle": posed.obstacle,
        "figures": figures,
        "classes": classes,
    })
}

/// How far the answer is from a solution, and what else the task tells of it.
pub fn facts(posed: &Posed, task: &dyn Task, response: Response) -> Vec<Vec<String>> {
    let mut facts = vec![];
    // Where there is nothing to come near to, there is no distance from it.
    if !posed.solved.gradient.is_nan() {
        facts.push(vec![task.optimality_name().into(), number(posed.solved.gradient)]);
    }
    facts.extend(posed.figures.iter().map(|(name, value)| vec![name.to_string(), value.to_string()]));
    if let Response::Classes([negative, positive]) = response {
        facts.push(vec!["positive class".into(), format!("{positive}; the other is {negative}")]);
    }
    facts
}

/// Why this is no solution, and what may help.
pub fn warning(posed: &Posed, task: &dyn Task, tolerance: f64) -> Option<(String, &'static str)> {
    if posed.solved.converged {
        return None;
    }
    if let Some(obstacle) = &posed.obstacle {
        return Some((format!("Not converged: {obstacle}."), "fewer columns, more rows, or another program"));
    }
    let why = format!(
        "Not converged to the tolerance of {}: {} is {}; {}.",
        number(tolerance),
        task.optimality_name(),
        number(posed.solved.gradient),
        posed.solved.ended.words()
    );
    Some((why, "more --iterations, a larger --tolerance or another program may help"))
}
