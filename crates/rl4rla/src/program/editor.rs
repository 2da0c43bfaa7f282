//! The editor: how a search lists and makes edits, on programs encoded as words.
//!
//! A program is a short sequence of numbers: the number of instructions in setup, then the index of each instruction
//! in the lexicon. Results that can be reused for other programs are memoized.

use super::ast::{Instruction, Program, Section};
use super::canon::{exchange, tidy};
use super::draft::Draft;
use super::grammar::{Grammar, Insertion, TypeSystem};
use super::lexicon::{InstructionNumber, part};
use super::liveness::{Line, LiveOut, SectionLines, Verdicts};
use super::points::TypePoints;
use super::register::{Reg, RegSet};
use super::repair::Repair;
use super::units::unit_of_step;

/// A legal edit, with the instruction as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The section edited.
    pub section: Section,
    /// The index of the instruction before which it is inserted.
    pub position: u16,
    /// The new instruction.
    pub word: InstructionNumber,
    /// Whether it replaces the instruction there.
    pub replaces: bool,
}

/// Lists and makes the edits that a grammar allows, starting from one program.
pub struct Editor<'a> {
    points: TypePoints<'a>,
    repair: Repair,
    draft: Draft,
    /// The lines of the program being processed.
    lines: SectionLines,
    verdicts: Verdicts,
    text: String,
}

impl<'a> Editor<'a> {
    /// The editor for all programs reachable from `start`.
    ///
    /// # Panics
    /// If the grammar has more than 65,535 different instructions.
    pub fn new(grammar: &'a Grammar, start: &Program) -> Editor<'a> {
        Editor {
            points: TypePoints::new(grammar, start),
            repair: Repair::default(),
            draft: Draft::default(),
            lines: SectionLines::default(),
            verdicts: Verdicts::default(),
            text: String::new(),
        }
    }

    /// The words of a program.
    ///
    /// # Panics
    /// If the program is not reachable from the start by edits.
    pub fn words(&self, program: &Program) -> Vec<InstructionNumber> {
        self.points.lexicon.words(program)
    }

    /// The word of an instruction, with commutative operands in any order; `None` if no edit offers it.
    pub fn word(&self, instruction: &Instruction) -> Option<InstructionNumber> {
        let mut instruction = instruction.clone();
        exchange(&mut instruction);
        self.points.lexicon.word(&instruction)
    }

    /// The instruction of a word.
    pub fn instruction(&self, word: InstructionNumber) -> &Instruction {
        self.points.lexicon.instruction(word)
    }

    /// A number shared by all words with the same operator and operands, whatever their target.
    pub fn call(&self, word: InstructionNumber) -> InstructionNumber {
        self.points.lexicon.call(word)
    }

    /// The types at the points of programs.
    pub fn points(&mut self) -> &mut TypePoints<'a> {
        &mut self.points
    }

    /// The program encoded by these words.
    pub fn program(&self, words: &[InstructionNumber]) -> Program {
        self.points.lexicon.program(words)
    }

    /// The hash of the program encoded by these words: that of [`Canonical::id`](super::Canonical::id).
    pub fn id(&mut self, words: &[InstructionNumber]) -> u128 {
        self.text.clear();
        self.points.lexicon.print(words, &mut self.text);
        xxhash_rust::xxh3::xxh3_128(self.text.as_bytes())
    }

    /// The legal edits, as defined by [`Grammar::legal`].
    pub fn legal(&mut self, words: &[InstructionNumber], remaining: usize, edits: &mut Vec<Edit>) {
        edits.clear();
        if remaining > 0 {
            self.draft.read(words, &mut self.points);
            self.draft.legal(&mut self.points, &mut self.repair, remaining - 1, edits);
            if self.points.grammar.redirect {
                self.redirections(words, remaining - 1, edits);
            }
        }
    }

    /// An edit as an insertion.
    pub fn insertion(&self, edit: Edit) -> Insertion {
        let Edit { section, position, word, replaces } = edit;
        let instruction = self.instruction(word).clone();
        Insertion { section, position: position as usize, instruction, replaces }
    }

    /// Appends the state after an edit to `found`: the partial canonical form.
    pub fn edit(&mut self, words: &[InstructionNumber], edit: Edit, found: &mut Vec<InstructionNumber>) {
        self.load(words);
        let line = self.points.lexicon.line(edit.word);
        let (lines, position) = (&mut self.lines[edit.section as usize], edit.position as usize);
        match edit.replaces {
            true => lines[position] = line,
            false => lines.insert(position, line),
        }
        self.tidy(self.points.grammar.live_out.partial(), found);
    }

    /// Appends the search state of a program to `found`: its partial canonical form.
    pub fn state(&mut self, words: &[InstructionNumber], found: &mut Vec<InstructionNumber>) {
        self.load(words);
        self.tidy(self.points.grammar.live_out.partial(), found);
    }

    /// Adds the legal redirections: an editable instruction with one operand replaced, if the resulting program is
    /// new and fits or can be made to fit by `left` insertions.
    fn redirections(&mut self, words: &[InstructionNumber], left: usize, edits: &mut Vec<Edit>) {
        let (mut here, mut child) = (Vec::new(), Vec::new());
        self.state(words, &mut here);
        let mut point = TypePoints::START;
        for section in Section::BOTH {
            let old = part(words, section);
            let residual = self.points.lexicon.residual();
            let last = || old.iter().rposition(|&word| Some(word) == residual);
            let open = self.points.grammar.places(section, old.len(), last);
            // The last insertion position is after the last editable instruction.
            let open = open.start..open.end.saturating_sub(1);
            for (position, &word) in old.iter().enumerate() {
                let offers =
                    if open.contains(&position) { self.points.continuations(point, section) } else { 0..0 };
                for number in offers {
                    let edit = Edit {
                        section,
                        position: position as u16,
                        word: self.points.continuation(number).word,
                        replaces: true,
                    };
                    if !redirects(self.instruction(edit.word), self.instruction(word)) {
                        continue;
                    }
                    child.clear();
                    self.edit(words, edit, &mut child);
                    if child != here && self.may_fit(&child, left) {
                        edits.push(edit);
                    }
                }
                point = self.points.step(point, word, section).point;
            }
        }
    }

    /// Whether a program fits, or can be made to fit by `left` insertions.
    fn may_fit(&mut self, words: &[InstructionNumber], left: usize) -> bool {
        let mut finished = Vec::new();
        // Redundant instructions are only rejected in the finished program.
        if self.finish(words, words, &mut finished) {
            return true;
        }
        self.load(words);
        left > 0 && self.repair.possible(&self.lines, left, &mut self.points)
    }

    /// Appends the finished program to `found`: only its live code. Returns whether it fits, writes the registers to
    /// be kept, and has no redundant instruction except those of `old`.
    pub fn finish(
        &mut self,
        words: &[InstructionNumber],
        old: &[InstructionNumber],
        found: &mut Vec<InstructionNumber>,
    ) -> bool {
        self.load(words);
        let live_out = self.points.grammar.live_out;
        self.tidy(live_out, found);
        let mut point = TypePoints::START;
        for section in Section::BOTH {
            for line in &self.lines[section as usize] {
                let after = self.points.step(point, line.word, section);
                if !after.fits || after.redundant && !part(old, section).contains(&line.word) {
                    return false;
                }
                point = after.point;
            }
        }
        let written = |reg: Reg| self.lines[0].iter().any(|line| line.writes.contains(reg));
        self.points.moves(point) && live_out.kept().iter().all(written) && self.is_steady()
    }

    /// Whether the units of the carried registers of the finished program are the same in every iteration: those of
    /// the first are not known before its end.
    fn is_steady(&self) -> bool {
        let reads_carried = self.lines[1].iter().any(|line| line.reads.meets(RegSet::carried()));
        if self.points.grammar.types == TypeSystem::Shapes || !reads_carried {
            return true;
        }
        let of = |lines: &[Line]| {
            lines.iter().map(|line| self.points.lexicon.instruction(line.word).clone()).collect()
        };
        let [setup, iteration] = [0, 1].map(|s| of(&self.lines[s]));
        unit_of_step(&Program { setup, iteration }, self.points.grammar.signature).is_ok()
    }

    fn load(&mut self, words: &[InstructionNumber]) {
        for (section, lines) in Section::BOTH.into_iter().zip(&mut self.lines) {
            lines.clear();
            lines.extend(part(words, section).iter().map(|&word| self.points.lexicon.line(word)));
        }
    }

    fn tidy(&mut self, out: LiveOut, found: &mut Vec<InstructionNumber>) {
        tidy(&mut self.lines, out, &mut self.verdicts);
        found.push(self.lines[0].len() as InstructionNumber);
        found.extend(self.lines.iter().flatten().map(|line: &Line| line.word));
    }
}

/// Whether two instructions differ in exactly one operand.
fn redirects(new: &Instruction, old: &Instruction) -> bool {
    let one_differs =
        |new: &[Reg], old: &[Reg]| new.iter().zip(old).filter(|(new, old)| new != old).count() == 1;
    let turned: Vec<Reg> = old.operands.iter().rev().copied().collect();
    (new.op, new.target, new.operands.len()) == (old.op, old.target, old.operands.len())
        && (one_differs(&new.operands, &old.operands)
            || new.op.commutative && one_differs(&new.operands, &turned))
}
