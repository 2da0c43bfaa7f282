//! Solving: a program on data that somebody brought, until it is good enough.

mod posed;
mod solver;

pub use posed::solve_posed;
pub use solver::{Ended, Options, Solved, Step, solve};
