//! The canonical form: one representative for programs that differ in dead code, in the order of exchangeable
//! operands, or in the order of independent instructions.

use super::ast::{Instruction, Program, Section};
use super::liveness::{LiveOut, eliminate};
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
        let mut live = eliminate(program, out);
        for section in Section::BOTH {
            let instructions = live.section_mut(section);
            for instruction in instructions.iter_mut().filter(|i| i.op.commutative) {
                instruction.operands.sort();
            }
            let ordered = first_order(std::mem::take(instructions));
            *live.section_mut(section) = ordered;
        }
        Canonical(live)
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

/// Whether two instructions must keep their order: one writes what the other reads or writes.
fn depends(earlier: &Instruction, later: &Instruction) -> bool {
    let touches = |writer: &Instruction, other: &Instruction| {
        let touched = other.reads().union(other.writes());
        writer.writes().iter().any(|reg| touched.contains(reg))
    };
    touches(earlier, later) || touches(later, earlier)
}

/// The alphabetically first order that respects all dependences, with everything else as early as it can be before
/// what writes v1: a matrix that an insertion will use must not stand behind the place where it is needed. The order
/// is unique: two instructions that are equal write the same register, so one depends on the other.
fn first_order(instructions: Vec<Instruction>) -> Vec<Instruction> {
    let mut waiting = instructions;
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = |i: usize| (0..i).all(|j| !depends(&waiting[j], &waiting[i]));
        let first = (0..waiting.len())
            .filter(|&i| ready(i))
            .min_by_key(|&i| (waiting[i].target == Some(Reg::V1), &waiting[i]));
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
