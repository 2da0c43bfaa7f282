//! The canonical form: one representative for programs that differ in dead code, in the order of exchangeable
//! operands, or in the order of independent instructions.

use super::ast::{Program, Section};
use super::liveness::{Line, LiveOut, alive, lines};
use super::register::Reg;
use std::fmt;

/// A program in canonical form. Equality, hash and order of search states come from here and nowhere else.
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
    /// The canonical form of a program, given what counts at its end.
    pub fn new(program: &Program, out: LiveOut) -> Canonical {
        let program = normal(program);
        let lines = Section::BOTH.map(|section| lines(program.section(section)));
        let instructions =
            |lines: Vec<Line>| lines.into_iter().map(|line| line.instruction.clone()).collect();
        let [setup, iteration] = tidy(lines, out).map(instructions);
        Canonical(Program { setup, iteration })
    }

    /// The program itself.
    pub fn program(&self) -> &Program {
        &self.0
    }

    /// A 128-bit name for this program, the same on every machine and in every version that prints it alike.
    pub fn id(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(self.0.to_string().as_bytes())
    }
}

impl fmt::Debug for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The program with exchangeable operands in order.
pub(super) fn normal(program: &Program) -> Program {
    let mut program = program.clone();
    for instruction in program.setup.iter_mut().chain(&mut program.iteration) {
        if instruction.op.commutative {
            instruction.operands.sort();
        }
    }
    program
}

/// Setup and iteration in canonical form: without dead code, in their first order. The operands are in theirs.
pub(super) fn tidy<'a>(sections: [Vec<Line<'a>>; 2], out: LiveOut) -> [Vec<Line<'a>>; 2] {
    let mut alive = alive(sections.each_ref().map(|lines| &lines[..]), out).into_iter().flatten();
    sections.map(|mut lines| {
        lines.retain(|_| alive.next() == Some(true));
        first_order(lines)
    })
}

/// Whether two lines must keep their order: one writes what the other reads or writes.
fn depends(earlier: &Line, later: &Line) -> bool {
    let touches = |writer: &Line, other: &Line| writer.writes.meets(other.reads.union(other.writes));
    touches(earlier, later) || touches(later, earlier)
}

/// The alphabetically first order that respects all dependences, with everything else as early as it can be before
/// what writes v1: a matrix that an insertion will use must not stand behind the place where it is needed. The order
/// is unique: two instructions that are equal write the same register, so one depends on the other.
fn first_order(mut waiting: Vec<Line>) -> Vec<Line> {
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = |i: usize| (0..i).all(|j| !depends(&waiting[j], &waiting[i]));
        let first = (0..waiting.len())
            .filter(|&i| ready(i))
            .min_by_key(|&i| (waiting[i].instruction.target == Some(Reg::V1), waiting[i].instruction));
        let first = first.expect("the first instruction waiting depends on none before it");
        ordered.push(waiting.remove(first));
    }
    ordered
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
