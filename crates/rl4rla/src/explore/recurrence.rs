//! Recurrences: a value that is affine in x, such as the residual, is carried along with x instead of computed anew.
//!
//! If e(x) = Mx + c, then e(x − ηv) = e(x) − ηMv, and a program that steps along v = αp and computes Mp anyway gets
//! the next value of e for the price of a sum. Rounding errors add up, so e is computed afresh every k iterations.

use super::derivative::Sign;
use super::emit::{self, CarriedUpdate};
use super::expression::{Expression, ExpressionOrigin, Expressions, Id};
use super::spec::AllowedPrograms;
use crate::program::{Core, Kind, Op, Program, Reg, Section};

/// The programs with the same iterates that carry one of their values along.
pub fn recurred(
    expressions: &mut Expressions,
    (step, start): (Id, Option<Id>),
    allowed: &AllowedPrograms,
) -> Vec<(Id, Program)> {
    let calls = expressions.of(step).calls.clone();
    let found = calls.iter().filter_map(|&value| {
        let (step, carried) = carrying(expressions, step, value, &calls)?;
        Some((step, emit::carrying(expressions, (step, start), carried, allowed)?))
    });
    found.collect()
}

/// The step with a value that is carried along, and how it is.
fn carrying(expressions: &mut Expressions, step: Id, value: Id, calls: &[Id]) -> Option<(Id, CarriedUpdate)> {
    let Expression { ty, quantity, section, .. } = expressions.of(value).clone();
    if ty.kind() != Kind::Vector || section != Section::Iteration {
        return None;
    }
    let (length, direction) = match &expressions.of(step).origin {
        ExpressionOrigin::Call(op, operands) if op.is(Core::ScalarVecMul) => (Some(operands[0]), operands[1]),
        _ => (None, step),
    };
    let (sign, image) = expressions.derivative(value, direction)?;
    // Otherwise the recurrence would cost what it saves.
    if !calls.contains(&image) || expressions.of(image).calls.contains(&step) {
        return None;
    }
    let reg = Reg::carried().find(|reg| expressions.type_of(*reg) == Some(ty))?;
    let held = expressions.carry(reg, quantity);
    let refreshed = expressions.call(Op::named("REFRESH")?, &[value, held])?;
    let renamed = expressions.substituted(step, (value, refreshed));
    let new = |id: Id| *renamed.get(&id).unwrap_or(&id);
    let step = *renamed.get(&step)?;
    let mut change = new(image);
    if let Some(length) = length {
        change = expressions.core(Core::ScalarVecMul, &[new(length), change])?;
    }
    let eta = expressions.input(Reg::ETA);
    let change = expressions.core(Core::ScalarVecMul, &[eta, change])?;
    let next = if sign == Sign::Plus { Core::VecVecSub } else { Core::VecVecAdd };
    let next = expressions.core(next, &[refreshed, change])?;
    Some((step, CarriedUpdate { reg, held, refreshed, next }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Task;
    use crate::program::{Canonical, Entry, Geometry, LiveOut, Model, ProgramCost, Sizes, TaskUnits, check};

    /// The expression of v1 of a program.
    fn step_of(all: &mut Expressions, program: &Program) -> Id {
        let mut held: Vec<Option<Id>> =
            Reg::all().map(|reg| all.inputs().find(|(_, input)| *input == reg).map(|(id, _)| id)).collect();
        for (_, _, instruction) in program.instructions() {
            let operands: Vec<Id> =
                instruction.operands.iter().map(|reg| held[reg.index()].unwrap()).collect();
            held[instruction.target.unwrap().index()] = Some(all.call(instruction.op, &operands).unwrap());
        }
        held[Reg::V1.index()].unwrap()
    }

    /// The program of a name, and the passes of an iteration and of a refresh of its cheapest form that carries a value.
    fn carried(name: &str) -> (Program, [String; 2]) {
        let sizes =
            Sizes { rows: 1e6, cols: 500.0, sketch: 2000.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        let entry = Entry::named(name).unwrap();
        let units = <dyn Task>::of(&entry.document).unwrap().units();
        let mut all = Expressions::new(entry.signature(), sizes, f64::INFINITY, units);
        let step = step_of(&mut all, &entry.document.program);
        let forms = recurred(&mut all, (step, None), &AllowedPrograms::all());
        let cost = |program: &Program| {
            check(program, entry.signature()).unwrap();
            ProgramCost::of(&Canonical::new(program, LiveOut::Finished), entry.signature(), Model::True)
                .unwrap()
        };
        let mean = |program: &Program| cost(program).rates(&sizes).mean_iteration();
        let (_, best) = forms.into_iter().min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1))).unwrap();
        let data = [cost(&best).iteration.data, cost(&best).refresh.data].map(|data| data.to_string());
        (best, data)
    }

    #[test]
    fn conjugate_gradients_need_one_product_less() {
        let (cgls, passes) = carried("cgls");
        assert_eq!(passes, ["2mn", "mn"], "{cgls}");
        let (cg, passes) = carried("spd-cg");
        assert_eq!(passes, ["n²", "n²"], "{cg}");
    }

    /// Few vectors are left for the rest of a program that carries its residual along.
    #[test]
    fn there_are_registers_for_preconditioned_and_shifted_programs() {
        let (pcg, passes) = carried("sketched-pcg");
        assert_eq!(passes, ["2mn", "mn"], "{pcg}");
        let (nystrom, passes) = carried("nystrom-pcg");
        assert_eq!(passes, ["n²", "n²"], "{nystrom}");
        let (ridge, passes) = carried("sketched-ridge-pcg");
        assert_eq!(passes, ["2mn", "2mn"], "{ridge}");
    }

    /// Without A·v1 at hand there is nothing to gain.
    #[test]
    fn gradient_descent_is_left_alone() {
        let sizes = Sizes { rows: 1e3, cols: 9.0, sketch: 1.0, batch: 1.0, sketch_work: 1.0, every: 10.0 };
        let mut all = Expressions::new(Geometry::Tall.into(), sizes, f64::INFINITY, Some(TaskUnits::LINEAR));
        let step = step_of(&mut all, &Entry::named("ls-gd").unwrap().document.program);
        assert_eq!(recurred(&mut all, (step, None), &AllowedPrograms::all()), []);
    }
}
