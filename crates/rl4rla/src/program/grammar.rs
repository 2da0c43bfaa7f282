//! The grammar: every legal way to add one instruction to a program.

use super::ast::{Instruction, Program, Section};
use super::canon::Canonical;
use super::liveness::LiveOut;
use super::op::Op;
use super::register::{Access, Reg, RegSet};
use super::repair::Repair;
use super::signature::Signature;
use super::types::{Pattern, Type};
use super::typing::{Env, check};

/// What a search may do: the operators it may use, the registers it may touch, the sections it may edit.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// The operators, in the order they are offered.
    pub operators: Vec<Op>,
    /// The registers that may be read or written.
    pub registers: RegSet,
    /// The registers that setup may not write; `v1` belongs to the iteration.
    pub iteration_only: RegSet,
    /// The registers that the iteration may not write; a search may keep its matrices to setup.
    pub setup_only: RegSet,
    /// The sections open to edits.
    pub open: Vec<Section>,
    /// The part of the iteration that is, where the iteration is open.
    pub part: Part,
    /// The problem as typing sees it.
    pub signature: Signature,
    /// What counts at the end of a finished program.
    pub live_out: LiveOut,
    /// Whether an instruction may be written, shapes apart.
    pub legality: fn(&Instruction, Section) -> bool,
}

/// A part of the iteration. The paper's code divides it where the residual is there: `v1 = v1 − b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// Up to the residual and right after it.
    Forward,
    /// What comes after the residual.
    Update,
}

/// One edit: an instruction put before position `position` of a section.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Insertion {
    /// Where.
    pub section: Section,
    /// Before which instruction.
    pub position: usize,
    /// What.
    pub instruction: Instruction,
}

impl Insertion {
    /// The program with this edit made, nothing tidied.
    pub fn apply(&self, program: &Program) -> Program {
        let mut edited = program.clone();
        edited.section_mut(self.section).insert(self.position, self.instruction.clone());
        edited
    }
}

impl Grammar {
    /// All operators, all registers, both sections.
    pub fn full(signature: impl Into<Signature>) -> Grammar {
        Grammar {
            operators: Op::all().collect(),
            registers: RegSet::all(),
            iteration_only: RegSet::EMPTY.with(Reg::V1),
            setup_only: RegSet::EMPTY,
            open: Section::BOTH.to_vec(),
            part: Part::Whole,
            signature: signature.into(),
            live_out: LiveOut::Finished,
            legality: |_, _| true,
        }
    }

    /// The state a search is in after writing `program`: its partial canonical form.
    pub fn state(&self, program: &Program) -> Canonical {
        Canonical::new(program, LiveOut::Partial(self.live_out.kept()))
    }

    /// The finished program: only what counts.
    pub fn finish(&self, program: &Program) -> Canonical {
        Canonical::new(program, self.live_out)
    }

    /// Whether the live code of `program` fits its shapes, and setup leaves what is to be kept.
    pub fn is_well_shaped(&self, program: &Program) -> bool {
        let finished = self.finish(program);
        let written = |reg: Reg| finished.program().setup.iter().any(|ins| ins.writes().contains(reg));
        check(finished.program(), self.signature).is_ok() && self.live_out.kept().iter().all(written)
    }

    /// Whether something may be put before `position` of a section that holds these instructions.
    pub fn opens(&self, section: Section, position: usize, instructions: &[Instruction]) -> bool {
        let is_residual = |ins: &Instruction| {
            ins.op.name == "VEC_VEC_SUB" && ins.target == Some(Reg::V1) && ins.operands == [Reg::V1, Reg::B]
        };
        let boundary = || instructions.iter().rposition(is_residual).map_or(instructions.len(), |i| i + 1);
        self.open.contains(&section)
            && match (section, self.part) {
                (Section::Setup, _) | (_, Part::Whole) => true,
                (Section::Iteration, Part::Forward) => position <= boundary(),
                (Section::Iteration, Part::Update) => position >= boundary(),
            }
    }

    /// Every legal insertion when `remaining` edits are left, this one included, in a fixed order.
    ///
    /// An insertion is legal if the instruction fits where it is put, is not a longer way to write another
    /// one, is not removed at once as dead code, and leaves a program whose live code fits its shapes, or
    /// can be made to fit by the edits that remain. `DO_NOTHING` is offered once.
    pub fn legal(&self, program: &Program, remaining: usize) -> Vec<Insertion> {
        let mut legal = Vec::new();
        if remaining == 0 {
            return legal;
        }
        let here = self.state(program);
        let mut repair = Repair::new(self);
        let mut env = Env::start(self.signature);
        for section in Section::BOTH {
            let instructions = program.section(section);
            for position in 0..=instructions.len() {
                if self.opens(section, position, instructions) {
                    for (instruction, _) in self.instructions(&env, section) {
                        let nothing = instruction.target.is_none();
                        if nothing && legal.iter().any(|i: &Insertion| i.instruction.target.is_none()) {
                            continue;
                        }
                        let insertion = Insertion { section, position, instruction };
                        // Judged as the search will keep it: tidying may remove what a repair would have used.
                        let child = self.state(&insertion.apply(program));
                        let changes = nothing || child != here;
                        if changes && repair.possible(child.program(), remaining - 1) {
                            legal.push(insertion);
                        }
                    }
                }
                if let Some(instruction) = instructions.get(position) {
                    // An instruction that does not fit leaves poison; the repair rule knows what to do.
                    let _ = env.step(instruction, section);
                }
            }
        }
        legal
    }

    /// Every instruction that fits at a point with these types, with the type of its result.
    pub fn instructions(&self, env: &Env, section: Section) -> Vec<(Instruction, Option<Type>)> {
        let readable: Vec<Reg> = self.registers.iter().filter(|&r| env.get(r).is_some()).collect();
        let mut found = Vec::new();
        for &op in self.operators.iter().filter(|op| op.sections.allow(section)) {
            let targets = self.targets(op, section);
            for operands in op.forms.iter().flat_map(|form| tuples(&readable, form.operands)) {
                if op.commutative && !operands.is_sorted() {
                    continue;
                }
                let Ok(value) = env.value(op, &operands) else { continue };
                if (op.redundant)(&value.args) {
                    continue;
                }
                for &target in targets.iter().filter(|t| value.accepted_by(**t, section).is_ok()) {
                    let instruction = Instruction { target, op, operands: operands.clone() };
                    if (self.legality)(&instruction, section) {
                        found.push((instruction, value.ty));
                    }
                }
            }
        }
        found
    }

    fn targets(&self, op: Op, section: Section) -> Vec<Option<Reg>> {
        match op.forms[0].result {
            Pattern::Nothing => vec![None],
            Pattern::System(_) => {
                let both = self.registers.contains(Reg::A) && self.registers.contains(Reg::B);
                if both { vec![Some(Reg::A)] } else { vec![] }
            }
            result => {
                let fitting = |r: &Reg| Some(r.kind()) == result.kind() || op.forms.len() > 1;
                let writable = self.registers.iter().filter(|&r| self.writes(r, section));
                writable.filter(fitting).map(Some).collect()
            }
        }
    }

    /// Whether a result may be put into `reg` in `section`; sampling, which replaces `A, b`, is no such result.
    pub fn writes(&self, reg: Reg, section: Section) -> bool {
        match (reg.access(), section) {
            (Access::Input, _) => false,
            (_, Section::Setup) => !self.iteration_only.contains(reg),
            (_, Section::Iteration) => !self.setup_only.contains(reg),
        }
    }
}

/// All ways to choose registers of the kinds these operands have, with repetition, in order.
fn tuples(registers: &[Reg], operands: &[Pattern]) -> Vec<Vec<Reg>> {
    operands.iter().fold(vec![vec![]], |shorter, pattern| {
        let fitting = registers.iter().filter(|r| Some(r.kind()) == pattern.kind());
        let extend = |t: &Vec<Reg>| fitting.clone().map(|&r| [&t[..], &[r]].concat()).collect::<Vec<_>>();
        shorter.iter().flat_map(extend).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{CATALOGUE, Entry, Geometry, OPERATORS};
    use std::collections::HashSet;

    /// Looks for an order in which the target's own instructions can be inserted one by one.
    fn reachable(grammar: &Grammar, target: &Program) -> bool {
        let all: Vec<(Section, Instruction)> =
            target.instructions().map(|(s, _, ins)| (s, ins.clone())).collect();
        let part = |mask: usize| {
            let mut program = Program::default();
            for (i, (section, ins)) in all.iter().enumerate().filter(|(i, _)| mask & 1 << i != 0) {
                debug_assert!(i < all.len());
                program.section_mut(*section).push(ins.clone());
            }
            grammar.state(&program)
        };
        let goal = (1 << all.len()) - 1;
        let (mut seen, mut stack) = (HashSet::from([0usize]), vec![0usize]);
        while let Some(mask) = stack.pop() {
            if mask == goal {
                return true;
            }
            let here = part(mask);
            let remaining = all.len() - mask.count_ones() as usize;
            let children: HashSet<Canonical> = grammar
                .legal(here.program(), remaining)
                .iter()
                .map(|insertion| grammar.state(&insertion.apply(here.program())))
                .collect();
            for next in (0..all.len()).map(|i| mask | 1 << i).filter(|&next| next != mask) {
                if children.contains(&part(next)) && seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        false
    }

    #[test]
    fn every_catalogue_program_is_reachable_from_nothing() {
        for entry in CATALOGUE.iter() {
            let program = &entry.document.program;
            let mut grammar = Grammar::full(entry.signature());
            grammar.operators = Op::known().collect();
            // Only the registers it uses: reachability is the point here, not the size of the space.
            grammar.registers = program.instructions().fold(
                [Reg::A, Reg::B, Reg::X, Reg::ETA].into_iter().collect(),
                |set: RegSet, (_, _, ins)| set.union(ins.reads()).union(ins.writes()),
            );
            assert!(reachable(&grammar, program), "{}", entry.name);
        }
    }

    #[test]
    fn all_forms_of_an_operator_take_as_many_operands() {
        for row in &OPERATORS {
            assert!(
                row.forms.iter().all(|f| f.operands.len() == row.forms[0].operands.len()),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn the_last_edit_must_leave_a_well_shaped_program() {
        let grammar = Grammar::full(Geometry::Tall);
        let half: Program =
            "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n".parse().unwrap();
        let last = grammar.legal(&half, 1);
        assert!(!last.is_empty());
        for insertion in &last {
            assert!(grammar.is_well_shaped(&insertion.apply(&half)), "{insertion:?}");
        }
        let gradient: Instruction =
            "iteration:\n v1 = VEC_MAT_MUL(v1, A)\n".parse::<Program>().unwrap().iteration[0].clone();
        assert!(last.iter().any(|i| i.instruction == gradient && i.position == 2));
        assert!(grammar.legal(&half, 0).is_empty());
    }

    #[test]
    fn order_is_fixed_and_do_nothing_is_offered_once() {
        let grammar = Grammar::full(Geometry::Symmetric);
        let empty = Program::default();
        let first = grammar.legal(&empty, 2);
        assert_eq!(first, grammar.legal(&empty, 2));
        assert_eq!(first.iter().filter(|i| i.instruction.op.name == "DO_NOTHING").count(), 1);
    }

    #[test]
    fn the_residual_divides_the_iteration() {
        let mut grammar = Grammar::full(Geometry::Tall);
        grammar.open = vec![Section::Iteration];
        let gradient = &Entry::named("ls-gd").unwrap().document.program;
        let positions = |grammar: &Grammar| -> HashSet<usize> {
            let moves = |i: &Insertion| i.instruction.target.is_some();
            grammar.legal(gradient, 1).iter().filter(|i| moves(i)).map(|i| i.position).collect()
        };
        assert!(positions(&grammar).contains(&0) && positions(&grammar).contains(&3));
        grammar.part = Part::Forward;
        assert!(positions(&grammar).contains(&0) && !positions(&grammar).contains(&3));
        grammar.part = Part::Update;
        assert!(positions(&grammar).iter().all(|&position| position >= 2));
    }

    #[test]
    fn what_is_for_setup_only_is_not_written_in_the_iteration() {
        let mut grammar = Grammar::full(Geometry::Tall);
        let writes_r1 = |grammar: &Grammar, section| {
            let written = |i: &Insertion| i.section == section && i.instruction.target == Some(Reg::R1);
            grammar.legal(&Program::default(), 3).iter().any(written)
        };
        assert!(Section::BOTH.into_iter().all(|section| writes_r1(&grammar, section)));
        grammar.setup_only = RegSet::EMPTY.with(Reg::R1);
        assert!(writes_r1(&grammar, Section::Setup) && !writes_r1(&grammar, Section::Iteration));
    }

    #[test]
    fn sketching_replaces_the_full_factorisation() {
        let mut grammar = Grammar::full(Geometry::Tall);
        grammar.registers = [Reg::A, Reg::B, Reg::X, Reg::V1, Reg::R1].into_iter().collect();
        grammar.open = vec![Section::Setup];
        let named = |name: &str| &Entry::named(name).unwrap().document.program;
        let (from, to) = (named("precond-gd"), named("sketched-precond-gd"));
        let found = grammar.legal(from, 2).iter().any(|first| {
            let half = grammar.state(&first.apply(from));
            grammar
                .legal(half.program(), 1)
                .iter()
                .any(|second| grammar.finish(&second.apply(half.program())) == grammar.finish(to))
        });
        assert!(found);
    }
}
