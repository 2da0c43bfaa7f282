//! Solving: a program on data that somebody brought, until it is good enough.

mod certificate;
mod error;
mod factor;
mod posed;
mod prepared;
mod solver;

pub use certificate::Certificate;
pub use error::SolveError;
pub use factor::Dependence;
pub use posed::{Posed, solve_posed};
pub use solver::{Ended, Options, RankDeficient, Solved, Step, solve};
