//! Solving user data with a program until the solution meets a tolerance.

mod auto;
mod candidate;
mod certificate;
mod certified;
mod certify;
mod column_factor;
mod error;
mod examination;
mod factor;
mod line_search;
mod logistic_fit;
mod options;
mod prediction;
mod prepared;
mod problem;
mod progress;
mod regression;
mod ridge_path;
mod sampled_newton;
mod several;
mod solution;
mod solver;
mod spectral;
mod speeds;
mod unfactored;
mod wide;

pub use auto::{BACKWARD_STABLE, Chosen, attempt, auto, candidates};
pub use candidate::{SolveCandidate, SolveScheme};
pub use certificate::Certificate;
pub use certify::certify;
pub use error::{SolveError, Unsupported};
pub use examination::Examination;
pub use factor::Dependence;
pub use logistic_fit::{LogisticFit, logistic_fit};
pub use options::{RankDeficient, SolveOptions, StepSize};
pub use prediction::{Agreement, PredictError, Prediction, predict};
pub use problem::Problem;
pub use regression::Regression;
pub use ridge_path::{RidgePath, RidgePoint, ridge_path};
pub use several::{SeveralSolutions, auto_several};
pub use solution::{NotConverged, Solution, Termination};
pub use solver::solve;
pub use spectral::{
    Pairs, RISK, SecondStart, Spectral, SpectralError, SpectralMethod, SpectralOptions, Unconverged, Which,
    eigenpairs, truncated_svd,
};
pub use speeds::Speeds;
pub use wide::minimum_norm;
