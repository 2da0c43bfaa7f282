//! The winner map: which program takes the least work for which least-squares problem.
//!
//! How many iterations a program needs depends on κ, on the share of b outside the range of A, on the leverage of the
//! rows, on the tolerance and on s/n, but hardly on m and n. So iterations are measured on problems of 100 columns, once
//! for each [`ProblemClass`], and the work at any size follows from the symbolic cost of the program. [`SurveyCell::answer`]
//! compares all contenders at one size; [`advise`] does so for a user's problem, from the map that comes with the crate.
//!
//! ```
//! use rl4rla::experiment::winner_map::{Question, Rates, WinnerMap, advise};
//! let question = Question { rows: 1_000_000, cols: 500, kappa: 1e6, ..Question::default() };
//! let advice = advise(WinnerMap::shipped(), &question, Rates::USUAL).unwrap();
//! assert!(!advice.extrapolates());
//! assert!(advice.alternatives.iter().all(|other| other.seconds >= advice.chosen.seconds));
//! ```

mod advice;
mod contender;
mod estimate;
mod figures;
mod grid;
mod map;
mod measure;
mod rates;
#[cfg(test)]
mod tests;

pub use advice::{Advice, AdvisedOption, Question, advise};
pub use contender::{Contender, MapTunables};
pub use estimate::{DataTraits, EstimateError};
pub use figures::{figures, tables};
pub use grid::{MapGrid, ProblemClass};
pub use map::{MapAnswer, RankedContender, SurveyCell, SurveyEntry, WinnerMap};
pub use rates::{Rates, RatesSource};
