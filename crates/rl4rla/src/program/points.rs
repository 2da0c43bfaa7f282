//! Points: the types at a point of a program, numbered, with the instructions that fit there.
//!
//! All programs of a search have few different points. The effect of an instruction on a point, and the instructions
//! that fit there, are computed once.

use super::ast::{Instruction, Program, Section};
use super::grammar::{Grammar, TypeSystem};
use super::lexicon::{InstructionNumber, Lexicon};
use super::op::Op;
use super::quick::Args;
use super::register::{Reg, RegSet};
use super::types::Type;
use super::typing::Env;
use super::units::{DataQuantity, Quantities, TaskUnits};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::ops::Range;

/// The index of a set of types.
pub type TypePoint = u32;

/// The effect of an instruction.
#[derive(Clone, Copy)]
pub struct After {
    /// The point after it.
    pub point: TypePoint,
    /// Whether the instruction fits.
    pub fits: bool,
    /// Whether a shorter or simpler instruction gives the same value.
    pub redundant: bool,
}

/// An instruction that fits at a point, and the point after it.
#[derive(Clone, Copy)]
pub struct Continuation {
    /// The instruction.
    pub word: InstructionNumber,
    /// The point after it.
    pub point: TypePoint,
}

/// A register that one instruction can write at a point, and the point after it.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub reg: Reg,
    pub point: TypePoint,
}

/// What is known of the registers at a point.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Held {
    env: Env,
    /// Units and affine types, if the grammar has them.
    quantities: Option<Quantities>,
}

impl Held {
    /// The quantity of an operator's result, `None` if it is not known or units are not looked at; an error if they do
    /// not fit.
    fn quantity(&self, op: Op, operands: &[Reg], section: Section) -> Result<Option<DataQuantity>, ()> {
        let Some(quantities) = &self.quantities else { return Ok(None) };
        let args = self.env.args(op, operands).ok_or(())?;
        quantities.result(op, &args, section).map_err(|_| ())
    }

    fn poison(&mut self, reg: Reg) {
        self.env.poison(reg);
        self.quantities.iter_mut().for_each(|quantities| quantities.write(reg, None));
    }

    /// Applies an instruction; returns whether it fits.
    fn step(&mut self, instruction: &Instruction, section: Section) -> bool {
        let args = self.env.args(instruction.op, &instruction.operands);
        let fits = self.env.quick_step(instruction, section)
            && self
                .quantities
                .as_mut()
                .is_none_or(|held| args.is_some_and(|args| held.step(instruction, &args, section).is_ok()));
        if !fits {
            instruction.writes().iter().for_each(|reg| self.poison(reg));
        }
        fits
    }
}

/// The points met so far.
pub struct TypePoints<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) lexicon: Lexicon,
    held: Vec<Held>,
    numbers: FxHashMap<Held, TypePoint>,
    /// Point, word and section packed into one number, which hashes faster than three.
    steps: FxHashMap<u64, After>,
    /// The offers at a point, as a range of `offered`.
    offers: FxHashMap<(TypePoint, Section), (u32, u32)>,
    offered: Vec<Continuation>,
    /// The possible writes at a point, as a range of `written`.
    writes: FxHashMap<(TypePoint, Section), (u32, u32)>,
    written: Vec<Write>,
    lost: FxHashMap<(TypePoint, RegSet), TypePoint>,
}

impl<'a> TypePoints<'a> {
    /// The points of a search; point 0 is the start of a program.
    pub(super) fn new(grammar: &'a Grammar, start: &Program) -> TypePoints<'a> {
        let mut points = TypePoints {
            grammar,
            lexicon: Lexicon::new(grammar, start),
            held: Vec::new(),
            numbers: FxHashMap::default(),
            steps: FxHashMap::default(),
            offers: FxHashMap::default(),
            offered: Vec::new(),
            writes: FxHashMap::default(),
            written: Vec::new(),
            lost: FxHashMap::default(),
        };
        let quantities = (grammar.types == TypeSystem::Units).then(|| Quantities::start(TaskUnits::LINEAR));
        points.number(Held { env: Env::start(grammar.signature), quantities });
        points
    }

    /// The start of a program.
    pub const START: TypePoint = 0;

    fn number(&mut self, held: Held) -> TypePoint {
        let next = self.held.len() as TypePoint;
        let number = *self.numbers.entry(held.clone()).or_insert(next);
        if number == next {
            self.held.push(held);
        }
        number
    }

    /// The types at a point.
    pub fn env(&self, point: TypePoint) -> &Env {
        &self.held[point as usize].env
    }

    /// A number for the units at a point; 0 if they are not looked at.
    pub fn units(&self, point: TypePoint) -> u64 {
        let quantities = self.held[point as usize].quantities.as_ref();
        quantities.map_or(0, |quantities| FxBuildHasher.hash_one(quantities))
    }

    /// Whether v1 has the type that the update needs.
    pub fn moves(&self, point: TypePoint) -> bool {
        let Held { env, quantities } = &self.held[point as usize];
        env.get(Reg::V1).is_some_and(|ty| self.grammar.signature.accepts(ty))
            && quantities.as_ref().is_none_or(Quantities::moves)
    }

    /// The operands of an instruction with their types; `None` if it does not fit.
    pub fn args(&mut self, point: TypePoint, word: InstructionNumber, section: Section) -> Option<Args> {
        let fits = self.step(point, word, section).fits;
        let Instruction { op, operands, .. } = self.lexicon.instruction(word);
        fits.then(|| self.env(point).args(*op, operands)).flatten()
    }

    /// The effect of an instruction at a point.
    pub fn step(&mut self, point: TypePoint, word: InstructionNumber, section: Section) -> After {
        let key = u64::from(point) << 32 | u64::from(word) << 1 | section as u64;
        if let Some(&known) = self.steps.get(&key) {
            return known;
        }
        let mut held = self.held[point as usize].clone();
        let instruction = self.lexicon.instruction(word);
        let value = held.env.quick(instruction.op, &instruction.operands);
        let redundant = value.is_some_and(|value| (instruction.op.redundant)(&value.args));
        let fits = held.step(instruction, section);
        let after = After { point: self.number(held), fits, redundant: fits && redundant };
        self.steps.insert(key, after);
        after
    }

    /// The same point with these registers poisoned.
    pub(super) fn losing(&mut self, point: TypePoint, lost: RegSet) -> TypePoint {
        if lost == RegSet::EMPTY {
            return point;
        }
        if let Some(&known) = self.lost.get(&(point, lost)) {
            return known;
        }
        let mut held = self.held[point as usize].clone();
        lost.iter().for_each(|reg| held.poison(reg));
        let after = self.number(held);
        self.lost.insert((point, lost), after);
        after
    }

    /// Every instruction that fits at a point, in the grammar's order.
    pub fn continuations(&mut self, point: TypePoint, section: Section) -> Range<usize> {
        if let Some(&(start, end)) = self.offers.get(&(point, section)) {
            return start as usize..end as usize;
        }
        let start = self.offered.len();
        let mut found: Vec<Instruction> = Vec::new();
        self.grammar.each_instruction(self.env(point), section, |target, op, operands, _| {
            found.push(Instruction { target, op, operands: operands.into() });
        });
        for instruction in found {
            let word = self.lexicon.word(&instruction).expect("what is offered is conceivable");
            let after = self.step(point, word, section);
            if after.fits {
                self.offered.push(Continuation { word, point: after.point });
            }
        }
        let end = self.offered.len();
        self.offers.insert((point, section), (start as u32, end as u32));
        start..end
    }

    /// The offer with this index.
    pub fn continuation(&self, number: usize) -> Continuation {
        self.offered[number]
    }

    /// What one instruction can write at a point; values of the type that the register already has are left out,
    /// since they repair nothing.
    pub(super) fn writes(&mut self, point: TypePoint, section: Section) -> Range<usize> {
        if let Some(&(start, end)) = self.writes.get(&(point, section)) {
            return start as usize..end as usize;
        }
        let start = self.written.len();
        let mut found: Vec<(Reg, Type, Option<DataQuantity>)> = Vec::new();
        let held = self.held[point as usize].clone();
        self.grammar.each_instruction(&held.env, section, |target, op, operands, ty| {
            let (Some(reg), Some(ty), Ok(quantity)) = (target, ty, held.quantity(op, operands, section))
            else {
                return;
            };
            // A sample of `A` writes `b` as well, and leaves the units of both.
            let samples = reg == Reg::A;
            let before = held.quantities.as_ref().and_then(|quantities| quantities.get(reg));
            let quantity = if samples { before } else { quantity };
            let new = samples || held.env.get(reg) != Some(ty) || before != quantity;
            let write = (reg, ty, quantity);
            found.extend(Some(write).filter(|write| new && !found.contains(write)));
        });
        for (reg, ty, quantity) in found {
            let mut after = held.clone();
            after.env.write(Some(reg), Some(ty));
            after.quantities.iter_mut().for_each(|quantities| quantities.write(reg, quantity));
            let point = self.number(after);
            self.written.push(Write { reg, point });
        }
        let end = self.written.len();
        self.writes.insert((point, section), (start as u32, end as u32));
        start..end
    }

    /// The write with this index.
    pub(super) fn written(&self, number: usize) -> Write {
        self.written[number]
    }
}
