//! Equivalence: whether two programs are one algorithm, by algebra and by execution.

mod draw;
mod fingerprint;
mod naming;
mod normal;
mod numeric;
mod probe;
mod reduce;
mod rule;
mod scalar;
mod value;
mod vector;
mod verdict;
mod word;

pub(crate) use fingerprint::Print;
pub use fingerprint::fingerprint;
pub use naming::{CostGap, Growth, Naming, distance, full_name, name};
pub use normal::Normal;
pub use numeric::{Comparison, LEVEL, Numeric, Stability, compare, solves_systems};
pub(crate) use probe::{ITERATIONS, Probe};
pub use rule::{Rule, Stop};
pub use verdict::{Answer, Symbolic, Verdict, equivalent};
