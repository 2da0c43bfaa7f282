//! The names that most programs need: `use rl4rla::prelude::*;`.

pub use crate::curriculum::{Curriculum, Discovery, StageBuilder, discover};
pub use crate::discovery::{Approach, Context, Observer, StageResult};
pub use crate::equivalence::{Verdict, equivalent};
pub use crate::linalg::Matrix;
pub use crate::problem::{Family, Instance, Task};
pub use crate::program::{Document, Entry, Op, Operator, Program, equation};
pub use crate::record::RunRecord;
pub use crate::reward::{Evaluation, Profile, Protocol, StepRule, evaluate};
pub use crate::rng::Stream;
pub use crate::search::Method;
pub use crate::solve::{NotConverged, Problem, Solution, SolveOptions, solve};
