//! Experiments: results of many runs, solvers and analyses, as numbers, tables and figures.
//!
//! An experiment prints nothing. Its caller passes a [`Monitor`], which receives progress messages and may ask to
//! stop; errors are an [`ExperimentError`] with a suggestion.
//!
//! Many seeds of one search, kept in a store from which they are reloaded the next time:
//!
//! ```
//! use rl4rla::curriculum::Curriculum;
//! use rl4rla::discovery::Approach;
//! use rl4rla::experiment::{Sweep, SearchSettings, sweep, tallies};
//! use rl4rla::search::Method;
//! use rl4rla::store::Store;
//!
//! let curriculum = Curriculum::parse("mine", r#"
//!     title = "Gradient descent, from nothing"
//!     [[stage]]
//!     name = "ls-gd"
//!     edits = 3
//!     open = ["iteration"]
//!     registers = ["v1"]
//!     step = 0.5
//!     family = { kind = "low-cond", rows = 40, cols = 4 }
//!     instances = { search = 6, select = 4, report = 4 }
//!     target = "ls-gd"
//! "#).unwrap();
//! let settings = SearchSettings::new(Approach::new(Method::Best));
//! let mut sweeps = [Sweep::new(curriculum, settings, 0, 3)];
//! let path = std::env::temp_dir().join(format!("rl4rla-sweep-{}.db", std::process::id()));
//! let mut store = Store::open(&path).unwrap();
//! // Nobody waits: `()` hears nothing and never asks to stop.
//! assert!(sweep::run(&mut sweeps, &mut store, 1, &()).unwrap());
//! let total = tallies(&sweeps[0]).pop().unwrap();
//! assert_eq!(total.found().to_string(), "3/3");
//! # drop(store);
//! # std::fs::remove_file(path).unwrap();
//! ```

pub mod analyzed;
mod audit;
mod bands;
mod begun;
pub mod campaign;
pub mod contest;
mod costs;
mod error;
mod evaluated;
pub mod exported;
pub mod label;
mod learned;
mod lessons;
mod monitor;
pub mod reproduce;
mod search_graph;
mod settings;
pub mod summary;
pub mod sweep;
mod tally;
pub mod winner_map;
pub mod words;

pub use audit::{AuditedStage, audit_seeds};
pub use begun::{BegunRun, BegunRunError, same_build};
pub use costs::costs;
pub use error::{ExperimentError, unreadable};
pub use evaluated::{Evaluated, EvaluatedRun, draw};
pub use learned::{HeldOutLikelihood, LearnedPolicy, TrainingRecord};
pub use lessons::{Lesson, Lessons};
pub use monitor::Monitor;
pub use search_graph::{GraphError, StoredStage, search_graph};
pub use settings::{PolicySettings, ProposerSettings, SearchSettings};
pub use sweep::Sweep;
pub use tally::{Forms, Tally, TransitionRecord, tallies};
