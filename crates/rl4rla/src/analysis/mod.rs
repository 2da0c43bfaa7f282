//! Analysis of a program: convergence rate, step sizes, cost, robustness and worst case.
//!
//! Every number is measured on the instances of `evaluate`, or computed from the iteration matrix.

mod contraction;
mod cost;
mod crossover;
mod diagnosis;
mod effort;
mod evidence;
mod form;
mod iteration;
mod iterations;
mod map;
mod precision;
mod spectrum;
mod steps;
mod study;
mod whole;
mod worst;

pub use contraction::{Computed, Contraction, rate};
pub use cost::{Costs, Rival, Spent, Symbols};
pub use crossover::Region;
pub use diagnosis::{DIAGNOSES, Diagnosis};
pub use effort::Effort;
pub use evidence::{Evidence, RowSampling, SamplingEvidence};
pub use form::{Factor, PreconditionerForm};
pub use iteration::{Decided, Iteration, Nature};
pub use iterations::Wait;
pub use map::MapCell;
pub use precision::Digits;
pub use spectrum::Spectrum;
pub use steps::{Found, StepRange, StepRow};
pub use study::{Care, ExcessHistory, Study, StudyPoint};
pub use whole::Analysis;
pub use worst::{Mildest, Worst};
