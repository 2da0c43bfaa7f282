//! Output of `solve` for tasks other than least squares.

use crate::page::number;
use rl4rla::problem::{Response, Task};
use rl4rla::solve::Solution;
use serde_json::{Map, Value, json};

/// Additional JSON keys.
pub fn json(solution: &Solution, task: &dyn Task, response: Response) -> Value {
    let figures: Map<String, Value> =
        solution.figures.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let classes = match response {
        Response::Classes([negative, positive]) => json!({ "negative": negative, "positive": positive }),
        Response::Number => Value::Null,
    };
    json!({
        "loss": solution.residual,
        "optimality": solution.gradient,
        "optimality_measure": task.optimality_name(),
        "obstacle": solution.obstacle,
        "figures": figures,
        "classes": classes,
    })
}

/// The optimality of the answer, and other facts about it.
pub fn facts(solution: &Solution, task: &dyn Task, response: Response) -> Vec<Vec<String>> {
    let mut facts = vec![];
    // If there is no minimizer, there is no distance from it.
    if !solution.gradient.is_nan() {
        facts.push(vec![task.optimality_name().into(), number(solution.gradient)]);
    }
    facts.extend(solution.figures.iter().map(|(name, value)| vec![name.to_string(), value.to_string()]));
    if let Response::Classes([negative, positive]) = response {
        facts.push(vec!["positive class".into(), format!("{positive}; the other is {negative}")]);
    }
    facts
}

/// Why the answer does not meet the tolerance, and a suggestion.
pub fn warning(solution: &Solution, task: &dyn Task, tolerance: f64) -> Option<(String, &'static str)> {
    if solution.is_converged() {
        return None;
    }
    if let Some(obstacle) = &solution.obstacle {
        return Some((format!("Not converged: {obstacle}."), "fewer columns, more rows, or another program"));
    }
    let why = format!(
        "Not converged to the tolerance of {}: {} is {}; {}.",
        number(tolerance),
        task.optimality_name(),
        number(solution.gradient),
        solution.ended.words()
    );
    Some((why, "more --iterations, a larger --tolerance or another program may help"))
}
