//! Export: programs as standalone code in other languages.
//!
//! A program is type-checked, stripped of dead code and turned into a [`Listing`], statements over named values. A
//! language has a template for every operator, a writer that puts the statements into a function, and a driver that
//! runs such functions on given data and random draws, so that they can be compared with the executor.

mod defaults;
mod error;
mod frame;
mod head;
mod json;
mod julia;
mod language;
mod latex;
mod listing;
mod names;
mod pieces;
mod provenance;
mod python;
mod run_loop;
mod rust;
mod structure;
mod style;
mod subject;
#[cfg(test)]
mod tests;

pub use defaults::{Defaults, Parameter, TRIAL_LAMBDA};
pub use error::ExportError;
pub use language::{Language, Trial};
pub use listing::{Listing, Name, Statement, ValueVersion};
pub use provenance::Provenance;
pub use run_loop::RunLoop;
pub use structure::{latex_faults, unbalanced};
pub use subject::Export;
