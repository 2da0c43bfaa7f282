//! Equivalence: decides whether two programs are equivalent, by algebra and by execution.

mod budget;
mod fingerprint;
mod fit;
mod law;
mod meaning;
mod naming;
mod normal;
mod numeric;
mod probe;
mod random_object;
mod reduce;
mod rule;
mod scalar;
mod stability;
mod state;
mod value;
mod vector;
mod verdict;
mod word;
mod words;

pub(crate) use fingerprint::Print;
pub use fingerprint::fingerprint;
pub use law::LEVEL;
pub use naming::{CostGap, Growth, Naming, catalogue_name, distance, full_name, name};
pub use normal::Normal;
pub use numeric::{Comparison, Numeric, Start, compare};
pub(crate) use probe::{ITERATIONS, Probe};
pub use rule::{NormalisationStop, Rule};
pub use stability::{Stability, solves_systems};
pub use verdict::{Answer, Symbolic, Verdict, equivalent};
