//! Points: the types at a point of a program, numbered, with the instructions that fit there.
//!
//! All programs of a search have few different points. The effect of an instruction on a point, and the instructions
//! that fit there, are computed once.

use super::ast::{Instruction, Program, Section};
use super::grammar::Grammar;
use super::lexicon::{InstructionNumber, Lexicon};
use super::quick::Args;
use super::register::{Reg, RegSet};
use super::types::Type;
use super::typing::Env;
use rustc_hash::FxHashMap;
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

/// The points met so far.
pub struct TypePoints<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) lexicon: Lexicon,
    envs: Vec<Env>,
    numbers: FxHashMap<Env, TypePoint>,
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
            envs: Vec::new(),
            numbers: FxHashMap::default(),
            steps: FxHashMap::default(),
            offers: FxHashMap::default(),
            offered: Vec::new(),
            writes: FxHashMap::default(),
            written: Vec::new(),
            lost: FxHashMap::default(),
        };
        points.number(Env::start(grammar.signature));
        points
    }

    /// The start of a program.
    pub const START: TypePoint = 0;

    fn number(&mut self, env: Env) -> TypePoint {
        let next = self.envs.len() as TypePoint;
        let number = *self.numbers.entry(env.clone()).or_insert(next);
        if number == next {
            self.envs.push(env);
        }
        number
    }

    /// The types at a point.
    pub fn env(&self, point: TypePoint) -> &Env {
        &self.envs[point as usize]
    }

    /// Whether v1 has the type that the update needs.
    pub fn moves(&self, point: TypePoint) -> bool {
        self.env(point).get(Reg::V1).is_some_and(|ty| self.grammar.signature.accepts(ty))
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
        let mut env = self.env(point).clone();
        let instruction = self.lexicon.instruction(word);
        let value = env.quick(instruction.op, &instruction.operands);
        let redundant = value.is_some_and(|value| (instruction.op.redundant)(&value.args));
        let fits = env.quick_step(instruction, section);
        let after = After { point: self.number(env), fits, redundant: fits && redundant };
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
        let mut env = self.env(point).clone();
        lost.iter().for_each(|reg| env.poison(reg));
        let after = self.number(env);
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
            self.offered.push(Continuation { word, point: after.point });
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
        let mut found: Vec<(Reg, Type)> = Vec::new();
        let env = self.env(point).clone();
        self.grammar.each_instruction(&env, section, |target, _, _, ty| {
            // A sample of `A` writes `b` as well.
            let new = |&(reg, ty): &(Reg, Type)| reg == Reg::A || env.get(reg) != Some(ty);
            found.extend(target.zip(ty).filter(new).filter(|result| !found.contains(result)));
        });
        for (reg, ty) in found {
            let mut after = env.clone();
            after.write(Some(reg), Some(ty));
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
