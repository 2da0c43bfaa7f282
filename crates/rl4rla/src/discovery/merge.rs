//! The merge key: which programs a search takes for one.

use crate::equivalence::fingerprint;
use crate::program::{Canonical, Env, Instruction, LiveOut, Program, RegSet, Section, Signature, Structure};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// Which programs are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// Those with one canonical form.
    #[default]
    Canonical,
    /// Those that behave alike on probe data, as long as they are alike in what decides their stability too: what
    /// setup hands to the iteration, and whether anything but a triangular matrix is inverted.
    Fingerprint,
}

impl Merge {
    /// Both keys.
    pub const ALL: [Merge; 2] = [Merge::Canonical, Merge::Fingerprint];

    /// The key of a finished program.
    pub fn finished(self, program: &Canonical, signature: Signature, kept: RegSet) -> u128 {
        self.key(program, signature, || LiveOut::Keeping(handed_on(program.program()).union(kept)))
    }

    /// The key of the beginning of a program, to which instructions are only appended.
    pub fn beginning(self, program: &Canonical, signature: Signature, kept: RegSet) -> u128 {
        self.key(program, signature, || LiveOut::Partial(kept))
    }

    fn key(self, program: &Canonical, signature: Signature, out: impl Fn() -> LiveOut) -> u128 {
        match self {
            Merge::Canonical => program.id(),
            Merge::Fingerprint => {
                let behaviour = fingerprint(program.program(), signature, out());
                mix(&[behaviour, general_inverses(program.program(), signature)])
            }
        }
    }
}

/// One key of several.
pub fn mix(parts: &[u128]) -> u128 {
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxh3_128(&bytes)
}

/// The registers that the iteration takes from setup.
fn handed_on(program: &Program) -> RegSet {
    let (mut taken, mut own) = (RegSet::EMPTY, RegSet::EMPTY);
    for instruction in &program.iteration {
        taken = instruction.reads().iter().filter(|&reg| !own.contains(reg)).fold(taken, RegSet::with);
        own = own.union(instruction.writes());
    }
    let written: RegSet = program.setup.iter().fold(RegSet::EMPTY, |set, ins| set.union(ins.writes()));
    taken.iter().filter(|&reg| written.contains(reg)).collect()
}

/// How many matrices that are not triangular are inverted or solved with: equal in exact arithmetic, such forms lose twice the
/// digits.
fn general_inverses(program: &Program, signature: Signature) -> u128 {
    let mut env = Env::start(signature);
    let general = |(section, _, instruction): (Section, usize, &Instruction)| {
        let value = env.step(instruction, section);
        ["MAT_INV", "MAT_VEC_SOLVE"].contains(&instruction.op.name)
            && value.is_ok_and(|value| value.args[0].ty.structure() != Structure::Upper)
    };
    program.instructions().map(general).filter(|&general| general).count() as u128
}
