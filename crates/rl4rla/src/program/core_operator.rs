//! The paper's operators by their identity: what the executor and the algebra match on.

use super::operators::OPERATORS;

/// One of the paper's 17 operators, in the order of its appendix A. Kernels and algebraic meanings are exhaustive matches
/// on it, so that the compiler names every place that a new operator needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    /// u + v.
    VecVecAdd,
    /// u − v.
    VecVecSub,
    /// uᵀv.
    VecVecDot,
    /// M v.
    MatVecMul,
    /// Mᵀv.
    VecMatMul,
    /// α v.
    ScalarVecMul,
    /// α / β.
    ScalarDiv,
    /// P Q.
    MatMatMul,
    /// P Qᵀ.
    MatMatTransMul,
    /// Pᵀ Q.
    MatTransMatMul,
    /// M⁻¹, or the pseudo-inverse.
    MatInv,
    /// R⁻¹v or R⁻ᵀv.
    TriangularSolve,
    /// R of M = QR.
    Hhqr,
    /// S M or S v for a random S.
    Sketch,
    /// Rows of A and b, drawn at random.
    Subsampling,
    /// Probabilities proportional to squared row norms.
    LeverageScore,
    /// Nothing.
    DoNothing,
}

impl Core {
    /// How many there are.
    pub const COUNT: usize = Core::DoNothing as usize + 1;
}

// The table has one row for each, in this order.
const _: () = {
    let mut row = 0;
    while row < Core::COUNT {
        assert!(OPERATORS[row].is_core_at(row));
        row += 1;
    }
};
