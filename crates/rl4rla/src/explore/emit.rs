//! From expressions to programs: an order of the calls, and registers for their values.

use super::expression::{ExpressionOrigin, Expressions, Id};
use super::spec::AllowedPrograms;
use crate::program::{Access, Instruction, Kind, Program, Reg, Section};
use rustc_hash::FxHashMap;

/// A register that is carried from one iteration to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CarriedUpdate {
    /// The register.
    pub reg: Reg,
    /// What the iteration finds there.
    pub held: Id,
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
    let results: Vec<Id> = [step].into_iter().chain(carried.map(|carried| carried.next)).collect();
    let mut wanted = results.clone();
    wanted.extend(start);
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
    let edits = |id: &Id| expressions.of(*id).edits();
    let orders: [&dyn Fn() -> Vec<Id>; 4] = [
        &|| iterated.clone(),
        &|| depth_first(expressions, &results, |operands| operands.sort_by_key(edits)),
        &|| {
            depth_first(expressions, &results, |operands| {
                operands.sort_by_key(|id| std::cmp::Reverse(edits(id)))
            })
        },
        &|| frugal(expressions, &results, &iterated),
    ];
    orders.iter().find_map(|order| {
        let iteration = order();
        let mut registers = Registers::new(expressions, start, carried, allowed);
        // What the iteration reads of setup is kept to the end of setup.
        let read = |id: &Id| iteration.iter().any(|&call| operands(expressions, call).contains(id));
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

fn operands(expressions: &Expressions, id: Id) -> &[Id] {
    match &expressions.of(id).origin {
        ExpressionOrigin::Call(_, operands) => operands,
        ExpressionOrigin::Input(_) => &[],
    }
}

/// The calls of an iteration in the order of a depth-first walk, operands sorted by `order`.
fn depth_first(expressions: &Expressions, roots: &[Id], order: impl Fn(&mut Vec<Id>)) -> Vec<Id> {
    fn visit(expressions: &Expressions, id: Id, order: &impl Fn(&mut Vec<Id>), done: &mut Vec<Id>) {
        let is_call = matches!(expressions.of(id).origin, ExpressionOrigin::Call(..));
        if !is_call || expressions.of(id).section == Section::Setup || done.contains(&id) {
            return;
        }
        let mut before = operands(expressions, id).to_vec();
        order(&mut before);
        before.into_iter().for_each(|operand| visit(expressions, operand, order, done));
        done.push(id);
    }
    let mut done = Vec::new();
    roots.iter().for_each(|&root| visit(expressions, root, &order, &mut done));
    done
}

/// The calls of an iteration in an order that keeps few vectors: the next is always the one that frees the most
/// registers, of those whose operands are known.
fn frugal(expressions: &Expressions, results: &[Id], calls: &[Id]) -> Vec<Id> {
    let is_vector = |id: &Id| expressions.of(*id).ty.kind() == Kind::Vector;
    let mut done: Vec<Id> = Vec::with_capacity(calls.len());
    let mut left: Vec<Id> = calls.to_vec();
    while !left.is_empty() {
        let is_ready = |call: &&Id| operands(expressions, **call).iter().all(|id| !left.contains(id));
        let is_last_use = |id: &Id, call: Id| {
            done.contains(id)
                && !results.contains(id)
                && !left.iter().any(|&other| other != call && operands(expressions, other).contains(id))
        };
        let gain = |call: Id| {
            let mut freed: Vec<Id> = operands(expressions, call).to_vec();
            freed.sort_unstable();
            freed.dedup();
            freed.retain(|id| is_vector(id) && is_last_use(id, call));
            freed.len() as i32 - i32::from(is_vector(&call))
        };
        let next =
            left.iter().filter(is_ready).copied().max_by_key(|&call| (gain(call), std::cmp::Reverse(call)));
        let next = next.expect("some call has all its operands");
        left.retain(|&call| call != next);
        done.push(next);
    }
    done
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
                    || calls[at + 1..].iter().any(|&later| operands(self.expressions, later).contains(id))
            };
            self.of.retain(|id, _| is_needed(id));
            let target = match self.carried {
                _ if self.start == Some(call) => Reg::X,
                Some(carried) if carried.next == call => carried.reg,
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
    use crate::program::{Core, Geometry, Sizes, TaskUnits, check};

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
