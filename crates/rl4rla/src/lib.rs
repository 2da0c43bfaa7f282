//! rl4rla discovers randomized linear algebra algorithms as explicit, readable programs.
//!
//! The modules are the stages of a pipeline, each using only those before it:
//! [`clock`] → [`rng`] → [`linalg`] → [`data`] → [`program`] → [`problem`] → [`execute`] → [`solve`] → [`baseline`] →
//! [`reward`] → [`equivalence`] → [`search`] → [`discovery`] → [`curriculum`] → [`store`] → [`report`].
//!
//! ```
//! use rl4rla::problem::{Family, InstanceSet};
//! use rl4rla::program::Entry;
//! use rl4rla::reward::{Profile, Protocol, SOUND_GRID, StepRule, evaluate};
//!
//! let mut family = Family::named("mid-cond").unwrap();
//! (family.rows, family.cols, family.condition) = (1000, 10, Some(1e6));
//! let instances = [family.draw(&InstanceSet::Final.stream(0, 0)).unwrap()];
//! let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
//! let mut protocol = Protocol::new(Profile::sound(), StepRule::Best(SOUND_GRID.to_vec()));
//! protocol.iterations = 30;
//! let evaluation = evaluate(program, &instances, &protocol, 0);
//! assert!(evaluation.last(|trace| &trace.excesses).unwrap().mean < 1e-5);
//! ```

pub mod baseline;
pub mod clock;
pub mod curriculum;
pub mod data;
pub mod discovery;
pub mod equivalence;
pub mod execute;
pub mod linalg;
pub mod problem;
pub mod program;
pub mod report;
pub mod reward;
pub mod rng;
pub mod search;
pub mod solve;
pub mod store;
