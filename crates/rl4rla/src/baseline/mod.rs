//! Baselines: classical solvers, and solvers of AlgoTune and FunSearch transcribed from the paper's tables, to compare
//! programs with. No language model was run here.
//!
//! A baseline is a row of [`BASELINES`]: a pure function of a [`Request`] that returns a [`BaselineSolution`] or an error.
//! No input panics, and results do not depend on the number of threads.
//!
//! ```
//! use rl4rla::{baseline::{Baseline, Request}, linalg::Matrix, rng::Stream};
//! let a = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 2.0], &[0.0, 0.0]]);
//! let request = Request::new(&a, &[1.0, 4.0, 3.0], Stream::new(1));
//! let solution = Baseline::named("fossils").unwrap().solve(&request).unwrap();
//! assert!((solution.x[0] - 1.0).abs() < 1e-12 && (solution.x[1] - 2.0).abs() < 1e-12);
//! ```

mod blendenpik;
mod catalogue;
mod cgls;
mod direct;
mod error;
mod fossils;
mod iterative_sketching;
mod kaczmarz;
mod lbfgs;
mod low_rank;
mod lsqr;
mod lsrn;
mod minimum_norm;
mod newton;
mod request;
mod ridge;
mod sgd;
mod sketched;
mod spd;
mod splitting;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use catalogue::{BASELINES, Baseline, BaselineInfo, MethodGroup};
pub use error::BaselineError;
pub use low_rank::OVERSAMPLING;
pub use request::{BaselineSolution, Request};
