//! rl4rla discovers randomized linear algebra algorithms as explicit, readable programs.

pub mod program;
pub mod rng;
