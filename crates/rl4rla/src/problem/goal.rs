//! Goals: how to recognize a solution without knowing it.

/// By what an answer of a task is known for a solution, so that code that runs without this crate can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// min ‖Ax − b‖: Aᵀr = 0 with r = Ax − b.
    Squares,
    /// Least cross-entropy: Aᵀr = 0 with r = σ(Ax) − b.
    CrossEntropy,
    /// Ax = λx.
    Eigenvector,
    /// Nothing is known but that an iteration no longer changes it.
    Standstill,
}
