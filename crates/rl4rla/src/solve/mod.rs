//! Solving user data with a program until the solution meets a tolerance.

mod certificate;
mod certified;
mod error;
mod factor;
mod line_search;
mod options;
mod prediction;
mod prepared;
mod problem;
mod progress;
mod solution;
mod solver;

pub use certificate::Certificate;
pub use error::{SolveError, Unsupported};
pub use factor::Dependence;
pub use options::{RankDeficient, SolveOptions, StepSize};
pub use prediction::{Agreement, PredictError, Prediction, predict};
pub use problem::Problem;
pub use solution::{NotConverged, Solution, Termination};
pub use solver::solve;
