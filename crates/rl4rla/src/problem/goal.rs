//! Goals: how to recognize a solution without knowing it.

/// How to recognize a solution of a task, for exported code that runs without this crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// min ‖Ax − b‖: Aᵀr = 0 with r = Ax − b.
    Squares,
    /// Minimum cross-entropy: Aᵀr = 0 with r = σ(Ax) − b.
    CrossEntropy,
    /// Ax = λx.
    Eigenvector,
    /// None known: only that iterations no longer change the result.
    Standstill,
}
