//! Products with A that are known before an iteration begins, because judging the iterate needed them too.

use super::machine::Machine;
use super::plan::Planned;
use super::run_draws::is_data;
use crate::program::{Core, Datum};

/// A·u = y or Aᵀ·u = y.
#[derive(Clone, Debug)]
pub struct KnownProduct {
    core: Core,
    operand: Datum,
    product: Datum,
}

impl KnownProduct {
    /// A·x = y.
    pub fn image(x: Vec<f64>, y: Vec<f64>) -> KnownProduct {
        KnownProduct { core: Core::MatVecMul, operand: x.into(), product: y.into() }
    }

    /// Aᵀ·r = g.
    pub fn transposed(r: Vec<f64>, g: Vec<f64>) -> KnownProduct {
        KnownProduct { core: Core::VecMatMul, operand: r.into(), product: g.into() }
    }

    /// The result of an instruction, if this is the product that it asks for.
    pub(super) fn of(&self, planned: &Planned, machine: &Machine) -> Option<Datum> {
        if !planned.typed.instruction.op.is(self.core) {
            return None;
        }
        let [left, right] = planned.typed.args[..] else { return None };
        let (matrix, vector) = if self.core == Core::MatVecMul { (left, right) } else { (right, left) };
        let asked = || machine.value(vector.reg).is_some_and(|value| value.vector() == self.operand.vector());
        (is_data(&matrix) && asked()).then(|| self.product.clone())
    }
}
