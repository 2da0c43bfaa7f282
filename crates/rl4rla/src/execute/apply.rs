//! One operator applied to values, outside a run.

use super::kernels::{Action, Call, Output};
use super::run_draws::Draws;
use crate::program::{Arg, Datum, Op, Reg};

/// The result of an operator on these operands, each with the register that names it; `None` if it fails or is not
/// finite.
pub(crate) fn apply(op: Op, operands: &[(Arg, &Datum)], draws: &mut Draws) -> Option<Datum> {
    let mut registers = vec![None; Reg::COUNT];
    for (arg, datum) in operands {
        registers[arg.reg.index()] = Some((*datum).clone());
    }
    let args: Vec<Arg> = operands.iter().map(|(arg, _)| *arg).collect();
    match Action::of(op).run(&Call { args: &args, registers: &registers, refreshing: true }, draws) {
        Ok(Output::One(datum)) if datum.is_finite() => Some(datum),
        _ => None,
    }
}
