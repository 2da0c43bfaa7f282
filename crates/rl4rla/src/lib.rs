//! rl4rla discovers randomized linear algebra algorithms as explicit, readable programs.

pub mod linalg;
pub mod problem;
pub mod rng;
