//! The merge key: which programs a search treats as the same.

use super::behaviour::Step;
use crate::equivalence::fingerprint;
use crate::execute::mix;
use crate::program::{
    Arg, Canonical, Core, Env, Instruction, LiveOut, Meaning, Program, RegSet, Section, Signature, Structure,
};
use serde::{Deserialize, Serialize};

/// Which programs are treated as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// Programs with equal canonical forms.
    #[default]
    Canonical,
    /// Programs with equal fingerprints, provided that they also agree in what determines their stability: the
    /// registers handed from setup to the iteration, and the number of inverted matrices that are not triangular.
    Fingerprint,
}

impl Merge {
    /// Both merge keys.
    pub const ALL: [Merge; 2] = [Merge::Canonical, Merge::Fingerprint];

    /// The key of a finished program.
    pub fn finished(self, program: &Canonical, signature: Signature, kept: RegSet) -> u128 {
        match self {
            Merge::Canonical => program.id(),
            Merge::Fingerprint => {
                let handed_on = handed_on(|section| program.program().section(section).iter());
                let out = LiveOut::Keeping(handed_on.union(kept));
                let behaviour = fingerprint(program.program(), signature, out);
                mix([behaviour, general_inverses(program.program(), signature)])
            }
        }
    }
}

/// The registers that the iteration reads as left by setup, by the instructions of each section.
pub(super) fn handed_on<'a, I: Iterator<Item = &'a Instruction>>(section: impl Fn(Section) -> I) -> RegSet {
    let (mut taken, mut own) = (RegSet::EMPTY, RegSet::EMPTY);
    for instruction in section(Section::Iteration) {
        taken = taken.union(instruction.reads().minus(own));
        own = own.union(instruction.writes());
    }
    taken.and(section(Section::Setup).fold(RegSet::EMPTY, |set, instruction| set.union(instruction.writes())))
}

/// The number of non-triangular matrices that are inverted or solved with: such forms are equal in exact arithmetic
/// but lose twice as many digits.
fn general_inverses(program: &Program, signature: Signature) -> u128 {
    let mut env = Env::start(signature);
    let general = |(section, _, instruction): (Section, usize, &Instruction)| {
        let value = env.step(instruction, section).ok();
        inverts_generally(instruction, value.as_ref().map(|value| &value.args[..]))
    };
    program.instructions().map(general).filter(|&general| general).count() as u128
}

/// Whether an instruction with these operands (`None` if it does not type-check) inverts a matrix that is not
/// triangular.
pub(super) fn inverts_generally(instruction: &Instruction, args: Option<&[Arg]>) -> bool {
    let op = instruction.op;
    (op.is(Core::MatInv) || op.meaning == Meaning::Solution)
        && args.is_some_and(|args| args[0].ty.structure() != Structure::Upper)
}

/// The key of a finished program with this behaviour and these instructions.
pub(super) fn stable(behaviour: u128, finished: &[Step]) -> u128 {
    let general = finished.iter().filter(|step| inverts_generally(step.instruction, Some(&step.args)));
    mix([behaviour, general.count() as u128])
}
