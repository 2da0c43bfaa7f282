//! Solving user data with a program until the solution meets a tolerance.

mod certificate;
mod error;
mod factor;
mod options;
mod posed;
mod prepared;
mod solved;
mod solver;

pub use certificate::Certificate;
pub use error::SolveError;
pub use factor::Dependence;
pub use options::{Options, RankDeficient, Step};
pub use posed::{Posed, in_even_units, solve_posed};
pub use solved::{Ended, Solved};
pub use solver::solve;
