//! The canonical form: one representative of all programs that differ only in dead code, in the order of commutative
//! operands, or in the order of independent instructions.

use super::ast::{Instruction, Program, Section};
use super::lexicon::InstructionNumber;
use super::liveness::{Line, LiveOut, SectionLines, Verdicts, alive};
use super::register::Reg;
use std::fmt;

/// A program in canonical form. It defines equality, hash and order of search states.
///
/// ```
/// use rl4rla::program::{Canonical, LiveOut, Program};
/// let canonical = |text: &str| Canonical::new(&text.parse::<Program>().unwrap(), LiveOut::Finished);
/// let tidy = canonical("iteration:\n v1 = VEC_VEC_ADD(b, x)\n");
/// let untidy = canonical("setup:\n R1 = HHQR(A)\niteration:\n DO_NOTHING()\n v1 = VEC_VEC_ADD(x, b)\n");
/// assert_eq!(tidy, untidy);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canonical(Program);

impl Canonical {
    /// The canonical form of a program, for these live registers at its end.
    pub fn new(program: &Program, out: LiveOut) -> Canonical {
        let program = normal(program);
        let mut known: Vec<&Instruction> = program.instructions().map(|(_, _, ins)| ins).collect();
        known.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        let word = |ins: &Instruction| known.partition_point(|&other| order(other) < order(ins));
        let mut lines = Section::BOTH.map(|section| {
            program
                .section(section)
                .iter()
                .map(|ins| Line::new(word(ins) as InstructionNumber, ins))
                .collect()
        });
        tidy(&mut lines, out, &mut Verdicts::default());
        let instruction = |line: Line| known[line.word as usize].clone();
        let [setup, iteration] = lines.map(|lines| lines.into_iter().map(instruction).collect());
        Canonical(Program { setup, iteration })
    }

    /// The program itself.
    pub fn program(&self) -> &Program {
        &self.0
    }

    /// A 128-bit hash of the program text, the same on every machine and in every version with the same text format.
    pub fn id(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(self.0.to_string().as_bytes())
    }
}

impl fmt::Debug for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The program with commutative operands in canonical order.
pub(super) fn normal(program: &Program) -> Program {
    let mut program = program.clone();
    for instruction in program.setup.iter_mut().chain(&mut program.iteration) {
        exchange(instruction);
    }
    program
}

/// Puts commutative operands in canonical order.
pub(super) fn exchange(instruction: &mut Instruction) {
    if instruction.op.commutative {
        instruction.operands.sort();
    }
}

/// The sort key of instructions: v1 is written last.
pub(super) fn order(instruction: &Instruction) -> (bool, &Instruction) {
    (instruction.target == Some(Reg::V1), instruction)
}

/// Brings the lines of setup and iteration into canonical form: removes dead code and puts them in canonical order.
/// Commutative operands must be in order already.
pub(super) fn tidy(sections: &mut SectionLines, out: LiveOut, verdicts: &mut Verdicts) {
    alive(sections, out, verdicts);
    for (lines, alive) in sections.iter_mut().zip(verdicts) {
        let mut alive = alive.iter();
        lines.retain(|_| alive.next() == Some(&true));
        first_order(lines);
    }
}

/// The lexicographically first order that respects all dependences, in which instructions that write v1 come as late
/// as possible: a matrix must be available wherever a later insertion may use it. The order is unique: equal
/// instructions write the same register, so one depends on the other.
fn first_order(lines: &mut [Line]) {
    for placed in 0..lines.len() {
        let waiting = &mut lines[placed..];
        // Registers read and written by the waiting lines before line i: a line that conflicts with them cannot be
        // moved ahead of them.
        let (mut read, mut written) = (waiting[0].reads, waiting[0].writes);
        let mut first = 0;
        for i in 1..waiting.len() {
            let Line { word, reads, writes } = waiting[i];
            let ready = !written.meets(reads.union(writes)) && !writes.meets(read);
            if ready && word < waiting[first].word {
                first = i;
            }
            (read, written) = (read.union(reads), written.union(writes));
        }
        if first > 0 {
            waiting[..=first].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Canonical {
        Canonical::new(&text.parse().unwrap(), LiveOut::Finished)
    }

    #[test]
    fn independent_instructions_may_change_places() {
        let one = canonical(
            "iteration:\n v1 = VEC_VEC_ADD(x, b)\n v2 = VEC_VEC_SUB(x, b)\n v1 = VEC_VEC_ADD(v1, v2)\n",
        );
        let two = canonical(
            "iteration:\n v2 = VEC_VEC_SUB(x, b)\n v1 = VEC_VEC_ADD(x, b)\n v1 = VEC_VEC_ADD(v2, v1)\n",
        );
        assert_eq!(one, two);
        assert_eq!(one.id(), two.id());
    }

    #[test]
    fn dependent_ones_may_not() {
        let one = canonical("iteration:\n v1 = VEC_VEC_SUB(x, b)\n v1 = VEC_VEC_SUB(v1, x)\n");
        let two = canonical("iteration:\n v1 = VEC_VEC_SUB(b, x)\n v1 = VEC_VEC_SUB(v1, x)\n");
        assert_ne!(one, two);
        let sampled = canonical("iteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)\n");
        let late = canonical("iteration:\n v1 = VEC_MAT_MUL(b, A)\n A, b = SUBSAMPLING(p1)\n");
        assert_ne!(sampled, late);
    }
}
