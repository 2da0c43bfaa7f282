//! From expressions to programs: an order of the calls, and registers for their values.

use super::expression::{ExpressionOrigin, Expressions, Id};
use super::order::fitting_order;
use super::spec::AllowedPrograms;
use crate::program::{Access, Instruction, Program, Reg, Section};
use rustc_hash::FxHashMap;

/// A register that is carried from one iteration to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CarriedUpdate {
    /// The register.
    pub reg: Reg,
    /// What the iteration finds there.
    pub held: Id,
    /// The same, refreshed, which takes its place.
    pub refreshed: Id,
    /// What it leaves there.
    pub next: Id,
}

/// The program whose iteration leaves `step` in v1 and that starts from the value `start` of setup, or from zero; `None`
/// if it is not allowed.
pub fn program(
    expressions: &Expressions,
    step: Id,
    start: Option<Id>,
    allowed: &AllowedPrograms,
) -> Option<Program> {
    emitted(expressions, (step, start), None, allowed)
}

/// The same for a program that carries a register along.
pub fn carrying(
    expressions: &Expressions,
    ends: (Id, Option<Id>),
    carried: CarriedUpdate,
    allowed: &AllowedPrograms,
) -> Option<Program> {
    emitted(expressions, ends, Some(carried), allowed)
}

fn emitted(
    expressions: &Expressions,
    (step, start): (Id, Option<Id>),
    carried: Option<CarriedUpdate>,
    allowed: &AllowedPrograms,
) -> Option<Program> {
    let wanted: Vec<Id> =
        [step].into_iter().chain(carried.map(|carried| carried.next)).chain(start).collect();
    let calls = expressions.calls(&wanted);
    if start.is_some_and(|start| expressions.calls(&[step]).contains(&start))
        || !calls.contains(&step)
        || calls.len() > allowed.length
    {
        return None;
    }
    let in_section = |section| calls.iter().copied().filter(move |&id| expressions.of(id).section == section);
    let setup: Vec<Id> = in_section(Section::Setup).collect();
    let iterated: Vec<Id> = in_section(Section::Iteration).collect();
    let elsewhere: Vec<Id> = carried.iter().flat_map(|carried| [carried.refreshed, carried.next]).collect();
    let writable = allowed.written[Section::Iteration as usize];
    let orders: [&dyn Fn() -> Option<Vec<Id>>; 2] =
        [&|| Some(iterated.clone()), &|| fitting_order(expressions, (step, &iterated), &elsewhere, writable)];
    orders.iter().find_map(|order| {
        let iteration = order()?;
        let mut registers = Registers::new(expressions, start, carried, allowed);
        // What the iteration reads of setup is kept to the end of setup.
        let read = |id: &Id| iteration.iter().any(|&call| expressions.operands(call).contains(id));
        let kept: Vec<Id> = setup.iter().copied().filter(read).collect();
        let setup = registers.assign(&setup, &kept)?;
        let iteration = registers.assign(&iteration, &[step])?;
        let program = with_result_in_v1(Program { setup, iteration }, registers.of[&step]);
        let allowed = |(section, _, instruction): (Section, usize, &Instruction)| {
            let target = instruction.target.filter(|target| *target != Reg::X);
            target.is_none_or(|target| allowed.written[section as usize].contains(target))
        };
        let is_allowed = program.instructions().all(allowed);
        is_allowed.then_some(program)
    })
}

/// The registers that values are in.
struct Registers<'a> {
    expressions: &'a Expressions,
    of: FxHashMap<Id, Reg>,
    start: Option<Id>,
    carried: Option<CarriedUpdate>,
    allowed: &'a AllowedPrograms,
}

impl Registers<'_> {
    fn new<'a>(
        expressions: &'a Expressions,
        start: Option<Id>,
        carried: Option<CarriedUpdate>,
        allowed: &'a AllowedPrograms,
    ) -> Registers<'a> {
        let inputs = expressions.inputs().filter(|(_, reg)| allowed.inputs.contains(*reg));
        let of = inputs.chain(carried.map(|carried| (carried.held, carried.reg))).collect();
        Registers { expressions, of, start, carried, allowed }
    }

    /// The instructions of these calls, whose values in `kept` stay; `None` if there are too few registers.
    fn assign(&mut self, calls: &[Id], kept: &[Id]) -> Option<Vec<Instruction>> {
        let mut instructions = Vec::with_capacity(calls.len());
        for (at, &call) in calls.iter().enumerate() {
            let ExpressionOrigin::Call(op, before) = &self.expressions.of(call).origin else { return None };
            let registers: Vec<Reg> =
                before.iter().map(|id| self.of.get(id).copied()).collect::<Option<_>>()?;
            let is_needed = |id: &Id| {
                let is_input = matches!(self.expressions.of(*id).origin, ExpressionOrigin::Input(_));
                is_input
                    || kept.contains(id)
                    || calls[at + 1..].iter().any(|&later| self.expressions.operands(later).contains(id))
            };
            self.of.retain(|id, _| is_needed(id));
            let target = match self.carried {
                _ if self.start == Some(call) => Reg::X,
                Some(carried) if carried.next == call => carried.reg,
                Some(carried) if carried.refreshed == call => {
                    self.of.insert(call, carried.reg);
                    carried.reg
                }
                _ => {
                    let of = self.expressions.of(call);
                    let (kind, writable) = (of.ty.kind(), self.allowed.written[of.section as usize]);
                    let is_free = |reg: &Reg| {
                        reg.kind() == kind
                            && writable.contains(*reg)
                            && reg.access() == Access::Scratch
                            && !self.of.values().any(|r| r == reg)
                    };
                    let reg = Reg::all().find(is_free)?;
                    self.of.insert(call, reg);
                    reg
                }
            };
            instructions.push(Instruction { target: Some(target), op: *op, operands: registers[..].into() });
        }
        Some(instructions)
    }
}

/// The same program with v1 and the register of the result exchanged.
fn with_result_in_v1(mut program: Program, result: Reg) -> Program {
    let swapped = |reg: Reg| match reg {
        Reg::V1 => result,
        reg if reg == result => Reg::V1,
        reg => reg,
    };
    for section in Section::BOTH {
        for instruction in program.section_mut(section) {
            instruction.target = instruction.target.map(swapped);
            let operands: Vec<Reg> = instruction.operands.iter().map(|&reg| swapped(reg)).collect();
            instruction.operands = operands[..].into();
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Core, Geometry, Op, Sizes, TaskUnits, check};

    fn program(expressions: &Expressions, step: Id, start: Option<Id>) -> Option<Program> {
        super::program(expressions, step, start, &AllowedPrograms::all())
    }

    fn expressions() -> Expressions {
        let sizes =
            Sizes { rows: 1000.0, cols: 10.0, sketch: 40.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        Expressions::new(Geometry::Tall.into(), sizes, f64::INFINITY, Some(TaskUnits::LINEAR))
    }

    #[test]
    fn a_step_ends_in_v1() {
        let mut all = expressions();
        let [a, b, x] = [Reg::A, Reg::B, Reg::X].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let above = all.core(Core::VecVecDot, &[residual, residual]).unwrap();
        let below = all.core(Core::VecVecDot, &[gradient, gradient]).unwrap();
        let ratio = all.core(Core::ScalarDiv, &[above, below]).unwrap();
        let step = all.core(Core::ScalarVecMul, &[ratio, gradient]).unwrap();
        let emitted = program(&all, step, None).unwrap();
        check(&emitted, Geometry::Tall).unwrap();
        assert_eq!((emitted.setup.len(), emitted.iteration.len()), (0, 7));
        assert_eq!(emitted.iteration[6].target, Some(Reg::V1));
        assert_eq!(program(&all, x, None), None, "x is no step");
    }

    /// Each of these matrices is needed in every iteration, and there are registers for three.
    #[test]
    fn too_many_matrices_are_refused() {
        let mut all = expressions();
        let [a, d] = [Reg::A, Reg::D].map(|reg| all.input(reg));
        let sketch = all.core(Core::Sketch, &[a]).unwrap();
        let factors = [a, sketch].map(|matrix| all.core(Core::Hhqr, &[matrix]).unwrap());
        let grams = [a, sketch].map(|matrix| all.core(Core::MatTransMatMul, &[matrix, matrix]).unwrap());
        let mut step = d;
        for factor in factors {
            step = all.core(Core::TriangularSolve, &[factor, step]).unwrap();
        }
        assert!(program(&all, step, None).is_some());
        for gram in grams {
            step = all.core(Core::MatVecMul, &[gram, step]).unwrap();
        }
        assert_eq!(program(&all, step, None), None);
    }

    /// z − (‖t‖²/⟨d, g − g⁻⟩)d, numbered so that both solves come before g⁻: in that order g, t, z and g⁻ would be needed at
    /// once, and there are registers for three vectors.
    #[test]
    fn an_order_is_found_if_there_is_one() {
        let mut all = expressions();
        let [a, b, x, d] = [Reg::A, Reg::B, Reg::X, Reg::D].map(|reg| all.input(reg));
        let sketch = all.core(Core::Sketch, &[a]).unwrap();
        let factor = all.core(Core::Hhqr, &[sketch]).unwrap();
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let half = all.core(Core::TriangularSolve, &[gradient, factor]).unwrap();
        let whole = all.core(Core::TriangularSolve, &[factor, half]).unwrap();
        let before = all.call(Op::named("PREVIOUS").unwrap(), &[gradient]).unwrap();
        let change = all.core(Core::VecVecSub, &[gradient, before]).unwrap();
        let above = all.core(Core::VecVecDot, &[half, half]).unwrap();
        let below = all.core(Core::VecVecDot, &[change, d]).unwrap();
        let ratio = all.core(Core::ScalarDiv, &[above, below]).unwrap();
        let momentum = all.core(Core::ScalarVecMul, &[ratio, d]).unwrap();
        let step = all.core(Core::VecVecSub, &[whole, momentum]).unwrap();
        // With two registers g⁻ comes before the solves, with one there is no order.
        let mut allowed = AllowedPrograms::all();
        let mut written_without = |name: &str| {
            let written = &mut allowed.written[Section::Iteration as usize];
            *written = written.without(Reg::named(name).unwrap());
            super::program(&all, step, None, &allowed)
        };
        let found = written_without("v3").unwrap();
        check(&found, Geometry::Tall).unwrap();
        assert_eq!(found.iteration.len(), 12);
        assert_eq!(written_without("v2"), None);
    }

    #[test]
    fn a_start_is_written_to_x() {
        let mut all = expressions();
        let [a, b, x] = [Reg::A, Reg::B, Reg::X].map(|reg| all.input(reg));
        let sketch = all.core(Core::Sketch, &[a]).unwrap();
        let factor = all.core(Core::Hhqr, &[sketch]).unwrap();
        let right = all.core(Core::VecMatMul, &[b, a]).unwrap();
        let half = all.core(Core::TriangularSolve, &[right, factor]).unwrap();
        let start = all.core(Core::TriangularSolve, &[factor, half]).unwrap();
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let started = program(&all, gradient, Some(start)).unwrap();
        assert_eq!(started.setup.last().unwrap().target, Some(Reg::X));
        check(&started, Geometry::Tall).unwrap();
    }
}
