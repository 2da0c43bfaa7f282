//! Derivatives: what the linear part of a value makes of a change of x.

use super::expression::{ExpressionOrigin, Expressions, Id};
use crate::program::{Compute, Core, Reg};

/// The sign of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// It is added.
    Plus,
    /// It is subtracted.
    Minus,
}

impl Sign {
    fn opposite(self) -> Sign {
        if self == Sign::Plus { Sign::Minus } else { Sign::Plus }
    }
}

impl Expressions {
    /// The derivative of a value along a change of x, with its sign, or `None` if there is none: what the linear part of
    /// the value makes of that vector.
    pub fn derivative(&mut self, id: Id, along: Id) -> Option<(Sign, Id)> {
        let (op, operands) = match self.of(id).origin.clone() {
            ExpressionOrigin::Input(Reg::X) => return Some((Sign::Plus, along)),
            ExpressionOrigin::Input(_) => return None,
            ExpressionOrigin::Call(op, operands) => (op, operands),
        };
        let Compute::Core(core) = op.compute else { return None };
        let parts: Vec<Option<(Sign, Id)>> =
            operands.iter().map(|&operand| self.derivative(operand, along)).collect();
        let minus = core == Core::VecVecSub;
        match (core, &parts[..]) {
            (Core::VecVecAdd | Core::VecVecSub, [Some((one, u)), Some((other, v))]) => {
                let alike = (one == other) != minus;
                Some((*one, self.core(if alike { Core::VecVecAdd } else { Core::VecVecSub }, &[*u, *v])?))
            }
            (Core::VecVecAdd | Core::VecVecSub, [Some(part), None]) => Some(*part),
            (Core::VecVecAdd, [None, Some(part)]) => Some(*part),
            (Core::VecVecSub, [None, Some((sign, v))]) => Some((sign.opposite(), *v)),
            (
                Core::MatVecMul | Core::VecMatMul | Core::ScalarVecMul | Core::TriangularSolve,
                [Some((sign, v)), None] | [None, Some((sign, v))],
            ) => {
                let place = usize::from(parts[0].is_none());
                let mut operands = operands;
                operands[place] = *v;
                Some((*sign, self.call(op, &operands)?))
            }
            _ => None,
        }
    }

    /// Whether a value is a sum of two terms that depend on x, such as Aᵀ(Ax − b) + λx.
    pub fn is_sum(&mut self, id: Id) -> bool {
        let ExpressionOrigin::Call(op, operands) = self.of(id).origin.clone() else { return false };
        let adds = op.is(Core::VecVecAdd) || op.is(Core::VecVecSub);
        let x = self.input(Reg::X);
        adds && operands.iter().all(|&operand| self.derivative(operand, x).is_some())
    }
}
