//! Liveness: which instructions can affect the result.

use super::ast::Instruction;
use super::lexicon::InstructionNumber;
use super::register::{Reg, RegSet};

/// Which registers are live at the end of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LiveOut {
    /// A finished program: only `x`, and with it the `v1` of every iteration.
    Finished,
    /// A stage that prepares something for later: `x`, and the values of these registers after setup.
    Keeping(RegSet),
    /// A program still being written: any register may be read by an instruction yet to be inserted, so only values
    /// that are overwritten before they are read are dead. This is the paper's redundancy elimination. The values of
    /// the given registers after setup are kept.
    Partial(RegSet),
}

impl LiveOut {
    /// A program still being written that keeps no registers but x.
    pub const PARTIAL: LiveOut = LiveOut::Partial(RegSet::EMPTY);

    /// The same for a program that is still being written.
    pub fn partial(self) -> LiveOut {
        LiveOut::Partial(self.kept())
    }

    /// The registers whose values after setup are kept.
    pub fn kept(self) -> RegSet {
        match self {
            LiveOut::Finished => RegSet::EMPTY,
            LiveOut::Keeping(registers) | LiveOut::Partial(registers) => registers,
        }
    }
}

/// An instruction as a word, with the registers it reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub word: InstructionNumber,
    pub reads: RegSet,
    pub writes: RegSet,
}

/// Both sections of a program.
pub(super) type SectionLines = [Vec<Line>; 2];

impl Line {
    pub fn new(word: InstructionNumber, instruction: &Instruction) -> Line {
        Line { word, reads: instruction.reads(), writes: instruction.writes() }
    }

    /// The registers live before it, given those live after it; `None` if it is dead.
    pub fn counting(&self, after: RegSet) -> Option<RegSet> {
        self.writes.meets(after).then(|| after.minus(self.writes).union(self.reads))
    }
}

/// A flag for each line of both sections.
pub(super) type Verdicts = [Vec<bool>; 2];

/// The registers live before the lines, given those live after them, with a flag for each line that is live.
fn backward(lines: &[Line], mut live: RegSet, alive: &mut Vec<bool>) -> RegSet {
    alive.clear();
    alive.resize(lines.len(), false);
    for (line, alive) in lines.iter().zip(alive).rev() {
        if let Some(before) = line.counting(live) {
            (live, *alive) = (before, true);
        }
    }
    live
}

/// The registers live before each line and after the last, given those live at the `end`.
pub(super) fn counting(lines: &[Line], end: RegSet, points: &mut Vec<RegSet>) {
    points.clear();
    points.resize(lines.len() + 1, end);
    for (i, line) in lines.iter().enumerate().rev() {
        points[i] = line.counting(points[i + 1]).unwrap_or(points[i + 1]);
    }
}

/// The registers live at the end of an iteration if nothing is carried over to the next.
pub(super) fn ends(out: LiveOut) -> RegSet {
    match out {
        LiveOut::Partial(_) => RegSet::all(),
        // `x ← x − η·v1` ends every iteration.
        LiveOut::Finished | LiveOut::Keeping(_) => RegSet::EMPTY.with(Reg::V1),
    }
}

/// The registers live at the end of setup, given those live before the iteration. If setup writes x, the run starts
/// there.
pub(super) fn left_by_setup(head: RegSet, out: LiveOut) -> RegSet {
    head.union(out.kept()).with(Reg::X)
}

/// Which lines of setup and of the iteration are live.
pub(super) fn alive([setup, iteration]: &SectionLines, out: LiveOut, verdicts: &mut Verdicts) {
    let (_, head) = around(iteration, out, &mut verdicts[1]);
    backward(setup, left_by_setup(head, out), &mut verdicts[0]);
}

/// The registers live at the end of an iteration and before it.
fn around(iteration: &[Line], out: LiveOut, alive: &mut Vec<bool>) -> (RegSet, RegSet) {
    let mut end = ends(out);
    // Carried registers are live at the end if the next iteration reads them: iterate to a fixed point.
    loop {
        let head = backward(iteration, end, alive);
        let grown = end.union(head.and(RegSet::carried()));
        if grown == end {
            return (end, head);
        }
        end = grown;
    }
}

/// In which iterations an instruction is needed, if some value is refreshed every k iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeededIn {
    /// In those that refresh.
    pub refreshing: bool,
    /// In all others.
    pub ordinary: bool,
}

impl NeededIn {
    /// Whether it is needed in an iteration that refreshes, or in one that does not.
    pub fn when(self, refreshing: bool) -> bool {
        if refreshing { self.refreshing } else { self.ordinary }
    }
}

/// In which iterations each instruction of a finished program is needed: in all of them if no value is refreshed.
/// Otherwise those that draw or remember something are, so that all iterations draw and remember alike, and dead ones
/// are needed nowhere, since what they read may be missing.
pub fn needed(iteration: &[Instruction]) -> Vec<NeededIn> {
    let mut needed = vec![NeededIn { refreshing: true, ordinary: true }; iteration.len()];
    if !iteration.iter().any(|instruction| instruction.op.refreshes()) {
        return needed;
    }
    let lines: Vec<Line> = iteration.iter().map(|instruction| Line::new(0, instruction)).collect();
    let mut alive = Vec::new();
    let (end, _) = around(&lines, LiveOut::Finished, &mut alive);
    for (operand, is_ordinary) in [(0, false), (1, true)] {
        let mut live = end;
        for (i, instruction) in iteration.iter().enumerate().rev() {
            let op = instruction.op;
            if !alive[i] || !(op.draws() || op.remembers() || instruction.writes().meets(live)) {
                *(if is_ordinary { &mut needed[i].ordinary } else { &mut needed[i].refreshing }) = false;
                continue;
            }
            let taken = || RegSet::EMPTY.with(instruction.operands[operand]);
            let reads = if op.refreshes() { taken() } else { instruction.reads() };
            live = live.minus(instruction.writes()).union(reads);
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Program, Section};

    fn after(text: &str, out: LiveOut) -> String {
        let mut program: Program = text.parse().unwrap();
        let lines = Section::BOTH.map(|section| {
            program.section(section).iter().map(|instruction| Line::new(0, instruction)).collect()
        });
        let mut verdicts = Verdicts::default();
        alive(&lines, out, &mut verdicts);
        for (section, alive) in Section::BOTH.into_iter().zip(verdicts) {
            let mut alive = alive.into_iter();
            program.section_mut(section).retain(|_| alive.next().unwrap());
        }
        program.to_string()
    }

    #[test]
    fn what_nobody_reads_is_dead() {
        let text = "setup:\n  R1 = HHQR(A)\n  R2 = HHQR(A)\niteration:\n  v1 = MAT_VEC_MUL(R1, x)\n  v2 = MAT_VEC_MUL(A, x)\n";
        let live = "setup:\n  R1 = HHQR(A)\niteration:\n  v1 = MAT_VEC_MUL(R1, x)\n";
        assert_eq!(after(text, LiveOut::Finished), live);
        assert_eq!(after(text, LiveOut::PARTIAL), text);
        let kept = RegSet::EMPTY.with(Reg::named("R2").unwrap());
        assert!(after(text, LiveOut::Keeping(kept)).contains("R2 = HHQR(A)"));
    }

    #[test]
    fn overwritten_before_read_is_dead_even_in_a_partial_program() {
        let text = "setup:\n  R1 = HHQR(A)\n  R1 = SKETCH(A)\n";
        assert_eq!(after(text, LiveOut::PARTIAL), "setup:\n  R1 = SKETCH(A)\n");
        let hidden = "setup:\n  R1 = HHQR(A)\niteration:\n  R1 = SKETCH(A)\n";
        assert_eq!(after(hidden, LiveOut::PARTIAL), "iteration:\n  R1 = SKETCH(A)\n");
        assert_eq!(after(hidden, LiveOut::Partial(RegSet::EMPTY.with(Reg::R1))), hidden);
    }

    #[test]
    fn carried_registers_live_around_the_loop() {
        let momentum = "iteration:\n  v1 = VEC_VEC_ADD(x, m1)\n  m1 = SCALAR_VEC_MUL(eta, v1)\n";
        assert_eq!(after(momentum, LiveOut::Finished), momentum);
        let written_only = "iteration:\n  v1 = VEC_VEC_ADD(x, x)\n  m1 = SCALAR_VEC_MUL(eta, v1)\n";
        assert_eq!(after(written_only, LiveOut::Finished), "iteration:\n  v1 = VEC_VEC_ADD(x, x)\n");
        let chain =
            "iteration:\n  v1 = VEC_VEC_ADD(x, m1)\n  m1 = VEC_VEC_ADD(v1, m2)\n  m2 = VEC_VEC_ADD(v1, x)\n";
        assert_eq!(after(chain, LiveOut::Finished), chain);
    }

    #[test]
    fn the_x_that_setup_leaves_is_live_even_if_no_instruction_reads_it() {
        let text = "setup:\n  v2 = VEC_MAT_MUL(b, A)\n  x = SCALAR_VEC_MUL(eta, v2)\n  x = SCALAR_VEC_MUL(mu, v2)\niteration:\n  v1 = VEC_MAT_MUL(b, A)\n";
        let last = text.replace("  x = SCALAR_VEC_MUL(eta, v2)\n", "");
        assert_eq!(after(text, LiveOut::Finished), last);
        assert_eq!(after(text, LiveOut::PARTIAL), last);
    }

    #[test]
    fn what_a_refresh_needs_is_needed_every_k_iterations() {
        let text = "iteration:\n v2 = MAT_VEC_MUL(A, x)\n v3 = VEC_VEC_SUB(v2, b)\n v2 = SCALAR_VEC_MUL(mu, u1)\n v2 = REFRESH(v3, v2)\n v1 = VEC_MAT_MUL(v2, A)\n u1 = VEC_VEC_SUB(v2, b)\n a1 = VEC_VEC_DOT(v3, v3)\n";
        let needed = |text: &str| {
            let program: Program = text.parse().unwrap();
            needed(&program.iteration).iter().map(|n| (n.refreshing, n.ordinary)).collect::<Vec<_>>()
        };
        let [always, fresh, other, never] = [(true, true), (true, false), (false, true), (false, false)];
        // The dead instruction at the end reads what is missing in most iterations.
        assert_eq!(needed(text), [fresh, fresh, other, always, always, always, never]);
        // A value that is remembered is needed in every iteration.
        let remembered =
            text.replace("u1 = VEC_VEC_SUB(v2, b)", "v3 = PREVIOUS(v3)\n u1 = VEC_VEC_SUB(v2, v3)");
        assert_eq!(needed(&remembered)[..2], [always, always]);
    }

    #[test]
    fn a_sample_nobody_reads_is_dead() {
        let text = "iteration:\n  v1 = VEC_VEC_ADD(x, x)\n  A, b = SUBSAMPLING(p1)\n";
        assert_eq!(after(text, LiveOut::Finished), "iteration:\n  v1 = VEC_VEC_ADD(x, x)\n");
    }
}
