//! The lexicon: the instructions that can occur in a search, numbered.
//!
//! A search handles millions of programs made of a few hundred different instructions. They are encoded as indices in
//! canonical order, so that comparing indices compares instructions.

use super::ast::{Instruction, Program, Section};
use super::canon::{normal, order};
use super::core_operator::Core;
use super::grammar::Grammar;
use super::liveness::Line;
use super::register::Reg;
use rustc_hash::FxHashMap;

/// An instruction, as an index into the lexicon.
pub type InstructionNumber = u16;

/// The instructions that a grammar can offer, and those of the program to start from.
pub(super) struct Lexicon {
    /// In canonical order.
    instructions: Vec<Instruction>,
    lines: Vec<Line>,
    /// The text of each instruction, as a line of a program.
    texts: Vec<String>,
    /// For each instruction the first one with the same operator and operands.
    calls: Vec<InstructionNumber>,
    residual: Option<InstructionNumber>,
}

impl Lexicon {
    /// The lexicon of all programs reachable from `start`.
    ///
    /// # Panics
    /// If there are more than 65,535 different instructions.
    pub fn new(grammar: &Grammar, start: &Program) -> Lexicon {
        let mut instructions: Vec<Instruction> =
            normal(start).instructions().map(|(_, _, instruction)| instruction.clone()).collect();
        grammar.each_conceivable(|instruction| instructions.push(instruction));
        instructions.sort_by(|a, b| order(a).cmp(&order(b)));
        instructions.dedup();
        assert!(
            instructions.len() <= InstructionNumber::MAX as usize,
            "the grammar has too many instructions"
        );
        let line =
            |(word, instruction): (usize, &Instruction)| Line::new(word as InstructionNumber, instruction);
        let lines = instructions.iter().enumerate().map(line).collect();
        let texts = instructions.iter().map(|instruction| format!("  {instruction}\n")).collect();
        let residual = instructions.iter().position(is_residual).map(|word| word as InstructionNumber);
        let mut firsts = FxHashMap::default();
        let call = |(word, instruction): (usize, &Instruction)| {
            *firsts.entry((instruction.op, instruction.operands)).or_insert(word as InstructionNumber)
        };
        let calls = instructions.iter().enumerate().map(call).collect();
        Lexicon { instructions, lines, texts, calls, residual }
    }

    /// The word of an instruction whose commutative operands are in order.
    pub fn word(&self, instruction: &Instruction) -> Option<InstructionNumber> {
        let found = self.instructions.binary_search_by(|known| order(known).cmp(&order(instruction)));
        found.ok().map(|word| word as InstructionNumber)
    }

    /// The instruction of a word.
    pub fn instruction(&self, word: InstructionNumber) -> &Instruction {
        &self.instructions[word as usize]
    }

    /// A number shared by all instructions with the same operator and operands, whatever their target.
    pub fn call(&self, word: InstructionNumber) -> InstructionNumber {
        self.calls[word as usize]
    }

    /// The registers read and written by the instruction of a word.
    pub fn line(&self, word: InstructionNumber) -> Line {
        self.lines[word as usize]
    }

    /// The word of `v1 = v1 − b`.
    pub fn residual(&self) -> Option<InstructionNumber> {
        self.residual
    }

    /// The words of a program: the number of instructions in setup, then all instructions in the order they run.
    ///
    /// # Panics
    /// If an instruction is not in the lexicon.
    pub fn words(&self, program: &Program) -> Vec<InstructionNumber> {
        let word = |instruction: &Instruction| self.word(instruction).expect("the lexicon knows it");
        let setup = program.setup.len() as InstructionNumber;
        let program = normal(program);
        [setup].into_iter().chain(program.instructions().map(|(_, _, ins)| word(ins))).collect()
    }

    /// The program encoded by these words.
    pub fn program(&self, words: &[InstructionNumber]) -> Program {
        let instructions =
            |words: &[InstructionNumber]| words.iter().map(|&w| self.instruction(w).clone()).collect();
        let [setup, iteration] = Section::BOTH.map(|section| instructions(part(words, section)));
        Program { setup, iteration }
    }

    /// Appends the text of the program encoded by these words.
    pub fn print(&self, words: &[InstructionNumber], text: &mut String) {
        for section in Section::BOTH {
            let words = part(words, section);
            if !words.is_empty() {
                text.extend([section.name(), ":\n"]);
            }
            text.extend(words.iter().map(|&word| self.texts[word as usize].as_str()));
        }
    }
}

/// The words of one section.
pub(super) fn part(words: &[InstructionNumber], section: Section) -> &[InstructionNumber] {
    let (setup, iteration) = words[1..].split_at(words[0] as usize);
    match section {
        Section::Setup => setup,
        Section::Iteration => iteration,
    }
}

/// Whether this is `v1 = v1 − b`, which splits the iteration.
pub(super) fn is_residual(instruction: &Instruction) -> bool {
    instruction.op.is(Core::VecVecSub)
        && instruction.target == Some(Reg::V1)
        && instruction.operands[..] == [Reg::V1, Reg::B]
}
