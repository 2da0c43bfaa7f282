//! The grammar: all legal edits of a program.

use super::ast::{Instruction, Program, Section};
use super::canon::Canonical;
use super::editor::Editor;
use super::lexicon::is_residual;
use super::liveness::LiveOut;
use super::op::Op;
use super::register::{Access, Kind, Reg, RegSet};
use super::signature::Signature;
use super::types::{Pattern, Type};
use super::typing::{Env, accepts, check};
use super::units::unit_of_step;
use serde::Serialize;
use std::ops::Range;

/// The edits that a search may make: allowed operators, registers and sections.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// The operators, in the order they are offered.
    pub operators: Vec<Op>,
    /// The registers that may be read or written.
    pub registers: RegSet,
    /// Whether setup may write x, so that the run starts there.
    pub warm_start: bool,
    /// The registers that setup may not write, such as `v1`.
    pub iteration_only: RegSet,
    /// The registers that the iteration may not write; a search may restrict its matrices to setup.
    pub setup_only: RegSet,
    /// The sections open to edits.
    pub open: Vec<Section>,
    /// The part of the iteration that is open to edits, if the iteration is.
    pub part: IterationPart,
    /// Whether an edit may also replace an operand of an instruction.
    pub redirect: bool,
    /// The signature of the problem, for type checking.
    pub signature: Signature,
    /// What has to fit besides the places of operators.
    pub types: TypeSystem,
    /// The live registers at the end of a finished program.
    pub live_out: LiveOut,
    /// Whether an operator may be applied to these operands in that section, apart from their shapes.
    pub legality: fn(Op, &[Reg], Section) -> bool,
}

/// What the live code of a program is checked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeSystem {
    /// Shapes.
    Shapes,
    /// Shapes, units and affine types: see [`unit_of_step`].
    Units,
}

impl TypeSystem {
    /// All of them.
    pub const ALL: [TypeSystem; 2] = [TypeSystem::Shapes, TypeSystem::Units];
}

/// A part of the iteration. The paper's code splits it at the residual, `v1 = v1 − b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IterationPart {
    /// The whole iteration.
    Whole,
    /// Up to the residual, and directly after it.
    Forward,
    /// After the residual.
    Update,
}

/// One edit: an instruction inserted before position `position` of a section, or replacing the one there.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Insertion {
    /// The section edited.
    pub section: Section,
    /// The index of the instruction before which it is inserted.
    pub position: usize,
    /// The new instruction.
    pub instruction: Instruction,
    /// Whether it replaces the instruction there, from which it differs in one operand.
    pub replaces: bool,
}

impl Insertion {
    /// The program after this edit, not canonicalized.
    pub fn apply(&self, program: &Program) -> Program {
        let mut edited = program.clone();
        let (section, instruction) = (edited.section_mut(self.section), self.instruction.clone());
        match self.replaces {
            true => section[self.position] = instruction,
            false => section.insert(self.position, instruction),
        }
        edited
    }
}

impl Grammar {
    /// The paper's operators, the usual registers, both sections.
    pub fn full(signature: impl Into<Signature>) -> Grammar {
        Grammar {
            operators: Op::all().collect(),
            registers: RegSet::usual(),
            warm_start: false,
            iteration_only: RegSet::EMPTY.with(Reg::V1),
            setup_only: RegSet::EMPTY,
            open: Section::BOTH.to_vec(),
            part: IterationPart::Whole,
            redirect: false,
            signature: signature.into(),
            types: TypeSystem::Shapes,
            live_out: LiveOut::Finished,
            legality: |_, _, _| true,
        }
    }

    /// The search state of a program: its partial canonical form.
    pub fn state(&self, program: &Program) -> Canonical {
        Canonical::new(program, self.live_out.partial())
    }

    /// The finished program: only its live code.
    pub fn finish(&self, program: &Program) -> Canonical {
        Canonical::new(program, self.live_out)
    }

    /// Whether the live code of `program` fits, and setup writes the registers to be kept.
    pub fn is_well_shaped(&self, program: &Program) -> bool {
        let finished = self.finish(program);
        let written = |reg: Reg| finished.program().setup.iter().any(|ins| ins.writes().contains(reg));
        let fits = match self.types {
            TypeSystem::Shapes => check(finished.program(), self.signature).is_ok(),
            TypeSystem::Units => unit_of_step(finished.program(), self.signature).is_ok(),
        };
        fits && self.live_out.kept().iter().all(written)
    }

    /// Whether an instruction may be inserted before `position` of a section with these instructions.
    pub fn opens(&self, section: Section, position: usize, instructions: &[Instruction]) -> bool {
        let residual = || instructions.iter().rposition(is_residual);
        self.places(section, instructions.len(), residual).contains(&position)
    }

    /// The positions at which an instruction may be inserted, in a section of `count` instructions. `residual` finds
    /// the last `v1 = v1 − b` among them.
    pub(super) fn places(
        &self,
        section: Section,
        count: usize,
        residual: impl FnOnce() -> Option<usize>,
    ) -> Range<usize> {
        let boundary = || residual().map_or(count, |i| i + 1);
        match (section, self.part) {
            _ if !self.open.contains(&section) => 0..0,
            (Section::Setup, _) | (_, IterationPart::Whole) => 0..count + 1,
            (Section::Iteration, IterationPart::Forward) => 0..boundary() + 1,
            (Section::Iteration, IterationPart::Update) => boundary()..count + 1,
        }
    }

    /// Every legal insertion if `remaining` edits are left, including this one, in a fixed order.
    ///
    /// An insertion is legal if the instruction fits at its position, is not redundant, is not dead code, and results
    /// in a program whose live code fits its shapes, or can be made to fit by the remaining edits. `DO_NOTHING` is
    /// offered once. With `redirect`, an instruction may also be replaced by one that differs from it in one operand.
    pub fn legal(&self, program: &Program, remaining: usize) -> Vec<Insertion> {
        if remaining == 0 {
            return Vec::new();
        }
        let mut editor = Editor::new(self, program);
        let mut edits = Vec::new();
        let words = editor.words(program);
        editor.legal(&words, remaining, &mut edits);
        edits.iter().map(|&edit| editor.insertion(edit)).collect()
    }

    /// Every instruction that fits at a point with these types, with the type of its result.
    pub fn instructions(&self, env: &Env, section: Section) -> Vec<(Instruction, Option<Type>)> {
        let mut found = Vec::new();
        self.each_instruction(env, section, |target, op, operands, ty| {
            found.push((Instruction { target, op, operands: operands.into() }, ty));
        });
        found
    }

    /// Calls `found` with every instruction that may fit at some point; some of them may fit nowhere.
    pub(super) fn each_conceivable(&self, mut found: impl FnMut(Instruction)) {
        let of_kind =
            Kind::ALL.map(|kind| self.registers.iter().filter(|r| r.kind() == kind).collect::<RegSet>());
        let choices = |pattern: Pattern| pattern.kind().map_or(RegSet::EMPTY, |kind| of_kind[kind as usize]);
        for &op in &self.operators {
            let [setup, iteration] = Section::BOTH.map(|section| self.targets(op, section));
            let targets = setup.union(iteration);
            let nothing = op.forms[0].result == Pattern::Nothing;
            let mut each = |operands: &[Reg]| {
                if !op.commutative || operands.is_sorted() {
                    let targets = nothing.then_some(None).into_iter().chain(targets.iter().map(Some));
                    targets.for_each(|target| {
                        found(Instruction { target, op, operands: operands.into() });
                    });
                }
            };
            for form in op.forms {
                each_tuple(&choices, form.operands, &mut Vec::new(), &mut each);
            }
        }
    }

    /// Calls `found` with the target, operator, operands and type of every instruction that fits.
    pub(super) fn each_instruction(
        &self,
        env: &Env,
        section: Section,
        mut found: impl FnMut(Option<Reg>, Op, &[Reg], Option<Type>),
    ) {
        let readable: RegSet = self.registers.iter().filter(|&r| env.get(r).is_some()).collect();
        let of_kind = Kind::ALL.map(|kind| readable.iter().filter(|r| r.kind() == kind).collect::<RegSet>());
        let choices = |pattern: Pattern| pattern.kind().map_or(RegSet::EMPTY, |kind| of_kind[kind as usize]);
        for &op in self.operators.iter().filter(|op| op.sections.allow(section)) {
            let (nothing, targets) = (op.forms[0].result == Pattern::Nothing, self.targets(op, section));
            let mut fitting = |operands: &[Reg]| {
                if op.commutative && !operands.is_sorted() {
                    return;
                }
                let Some(value) = env.quick(op, operands) else { return };
                if (op.redundant)(&value.args) || !(self.legality)(op, operands, section) {
                    return;
                }
                let targets = nothing.then_some(None).into_iter().chain(targets.iter().map(Some));
                let (pattern, ty, geometry) = (value.pattern, value.ty, self.signature.geometry);
                for target in targets.filter(|&t| accepts(t, pattern, ty, section, geometry).is_ok()) {
                    found(target, op, operands, value.ty);
                }
            };
            for form in op.forms {
                each_tuple(&choices, form.operands, &mut Vec::new(), &mut fitting);
            }
        }
    }

    /// The registers that an operator may write, whatever its operands.
    fn targets(&self, op: Op, section: Section) -> RegSet {
        match op.forms[0].result {
            Pattern::Nothing => RegSet::EMPTY,
            Pattern::System(_) => {
                let both = self.registers.contains(Reg::A) && self.registers.contains(Reg::B);
                if both { RegSet::EMPTY.with(Reg::A) } else { RegSet::EMPTY }
            }
            result => {
                let fitting = |r: &Reg| Some(r.kind()) == result.kind() || op.forms.len() > 1;
                self.registers.iter().filter(|&r| self.writes(r, section)).filter(fitting).collect()
            }
        }
    }

    /// Whether a result may be written to `reg` in `section`; this does not include sampling, which replaces `A, b`.
    pub fn writes(&self, reg: Reg, section: Section) -> bool {
        match (reg.access(), section) {
            (Access::Input, _) => reg == Reg::X && section == Section::Setup && self.warm_start,
            (_, Section::Setup) => !self.iteration_only.contains(reg),
            (_, Section::Iteration) => !self.setup_only.contains(reg),
        }
    }
}

/// Calls `found` with all assignments of registers to these operands, with repetition, in order.
fn each_tuple(
    choices: &impl Fn(Pattern) -> RegSet,
    operands: &[Pattern],
    chosen: &mut Vec<Reg>,
    found: &mut impl FnMut(&[Reg]),
) {
    let Some(&pattern) = operands.get(chosen.len()) else { return found(chosen) };
    for reg in choices(pattern).iter() {
        chosen.push(reg);
        each_tuple(choices, operands, chosen, found);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests;
