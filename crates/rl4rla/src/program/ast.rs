//! Programs: two sections of instructions, a setup that runs once and the iteration.

use super::op::Op;
use super::operands::Operands;
use super::register::{Reg, RegSet};
use std::fmt;

/// A section of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Section {
    /// Runs once, before the first iteration.
    Setup,
    /// Runs every iteration, followed by `x ← x − η·v1`.
    Iteration,
}

impl Section {
    /// Both sections, in the order they run.
    pub const BOTH: [Section; 2] = [Section::Setup, Section::Iteration];

    /// The name in the text format.
    pub fn name(self) -> &'static str {
        match self {
            Section::Setup => "setup",
            Section::Iteration => "iteration",
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `target = operator(operands)`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Instruction {
    /// The register written: `A` stands for the pair `A, b`; `None` for an operator without a result.
    pub target: Option<Reg>,
    /// The operator.
    pub op: Op,
    /// The registers read.
    pub operands: Operands,
}

impl Instruction {
    /// Every register it reads: its operands, and `A, b` if it samples them.
    pub fn reads(&self) -> RegSet {
        let operands: RegSet = self.operands.iter().copied().collect();
        operands.union(self.sampled())
    }

    /// Every register it writes.
    pub fn writes(&self) -> RegSet {
        let target: RegSet = self.target.into_iter().collect();
        target.union(self.sampled())
    }

    fn sampled(&self) -> RegSet {
        if self.op.samples() { [Reg::A, Reg::B].into_iter().collect() } else { RegSet::EMPTY }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.target {
            Some(Reg::A) => f.write_str("A, b = ")?,
            Some(target) => write!(f, "{target} = ")?,
            None => {}
        }
        let operands: Vec<&str> = self.operands.iter().map(|r| r.name()).collect();
        write!(f, "{}({})", self.op, operands.join(", "))
    }
}

/// A program: setup, which runs once, and the iteration.
///
/// ```
/// use rl4rla::program::Program;
/// let text = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n";
/// let landweber: Program = text.parse().unwrap();
/// assert_eq!(landweber.to_string(), text);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Program {
    /// Runs once.
    pub setup: Vec<Instruction>,
    /// Runs every iteration.
    pub iteration: Vec<Instruction>,
}

impl Program {
    /// The instructions of a section.
    pub fn section(&self, section: Section) -> &Vec<Instruction> {
        match section {
            Section::Setup => &self.setup,
            Section::Iteration => &self.iteration,
        }
    }

    /// The instructions of a section, mutable.
    pub fn section_mut(&mut self, section: Section) -> &mut Vec<Instruction> {
        match section {
            Section::Setup => &mut self.setup,
            Section::Iteration => &mut self.iteration,
        }
    }

    /// Every instruction with its section and position, in the order they run.
    pub fn instructions(&self) -> impl Iterator<Item = (Section, usize, &Instruction)> {
        Section::BOTH.into_iter().flat_map(|section| {
            self.section(section).iter().enumerate().map(move |(i, ins)| (section, i, ins))
        })
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.setup.len() + self.iteration.len()
    }

    /// Whether there are no instructions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
