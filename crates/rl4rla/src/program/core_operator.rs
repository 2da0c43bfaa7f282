//! The paper's operators as an enum, for exhaustive matches in the executor and the algebra.

use super::operators::OPERATORS;

/// One of the paper's 17 operators, in the order of its appendix A. Kernels and algebraic meanings are exhaustive
/// matches on it, so that the compiler points to every place that a new operator needs.
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
    /// α / β, or 0 if β = 0.
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
    /// No operation.
    DoNothing,
}

impl Core {
    /// Number of operators.
    pub const COUNT: usize = Core::DoNothing as usize + 1;
}

// The table has one row per operator, in this order.
const _: () = {
    let mut row = 0;
    while row < Core::COUNT {
        assert!(OPERATORS[row].is_core_at(row));
        row += 1;
    }
};
