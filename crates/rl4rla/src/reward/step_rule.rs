//! Step sizes: one rule for all candidates, so that none wins through a favourable η.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The paper's grid of learning rates (appendix D).
pub const PAPER_GRID: [f64; 7] = [0.01, 0.03, 0.07, 0.1, 0.3, 0.7, 1.0];

/// The grid for instances with ‖A‖₂ = 1. Small steps suit sampled gradients, 1.9 is just inside the stability of
/// plain gradient descent, 1 solves a perfectly preconditioned problem at once, and 2/(λmin + λmax) = 0.67 is best
/// for a sketched preconditioner with s = 8n, whose spectrum fills [1/(1+δ)², 1/(1−δ)²], δ = √(n/s).
pub const SOUND_GRID: [f64; 8] = [0.01, 0.05, 0.2, 0.5, 0.67, 0.8, 1.0, 1.9];

/// How the step size is chosen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRule {
    /// This step size.
    Fixed(f64),
    /// The one of these with the best final result, on the same random draws; at least one.
    Best(#[serde(deserialize_with = "at_least_one")] Vec<f64>),
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let grid = Vec::deserialize(deserializer)?;
    if grid.is_empty() { Err(D::Error::custom("a grid needs at least one step")) } else { Ok(grid) }
}

impl StepRule {
    /// The step sizes to try.
    pub fn candidates(&self) -> &[f64] {
        match self {
            StepRule::Fixed(step) => std::slice::from_ref(step),
            StepRule::Best(grid) => grid,
        }
    }
}
