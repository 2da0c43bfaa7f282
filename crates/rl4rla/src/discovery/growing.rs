//! A program built from left to right, with its types and its behaviour.

use super::behaviour::{Lab, LabState};
use super::merge::{handed_on, inverts_generally, stable};
use crate::program::{Arg, Canonical, Env, Instruction, Program, RegSet, Section, Signature, Typed};
use xxhash_rust::xxh3::xxh3_128;

/// A prefix of a program.
#[derive(Clone)]
pub(super) struct Growing {
    pub written: Program,
    /// The section being written.
    pub section: Section,
    signature: Signature,
    /// The types after it.
    pub env: Env,
    lines: Vec<Line>,
    /// Its register contents on the first probe, and on the second if they were needed.
    held: [Option<LabState>; 2],
}

/// The properties of an instruction that liveness and stability depend on.
#[derive(Clone, Copy)]
struct Line {
    section: Section,
    reads: RegSet,
    writes: RegSet,
    /// Whether it inverts a matrix that is not triangular.
    general: bool,
}

impl Line {
    fn new(section: Section, instruction: &Instruction, args: Option<&[Arg]>) -> Line {
        let (reads, writes) = (instruction.reads(), instruction.writes());
        Line { section, reads, writes, general: inverts_generally(instruction, args) }
    }
}

impl Growing {
    /// The empty prefix; its behaviour is tracked if there are labs.
    pub fn new(signature: Signature, labs: Option<&[Lab; 2]>) -> Growing {
        Growing {
            written: Program::default(),
            section: Section::Setup,
            signature,
            env: Env::start(signature),
            lines: Vec::new(),
            held: [labs.map(|labs| labs[0].begin()), None],
        }
    }

    /// Moves from setup to the iteration.
    pub fn turn(&mut self, labs: Option<&mut [Lab; 2]>) {
        self.section = Section::Iteration;
        for (lab, held) in labs.into_iter().flatten().zip(&mut self.held) {
            held.iter_mut().for_each(|held| lab.turn(held));
        }
    }

    /// Adds an instruction. One that does not type-check invalidates its target, which does not matter if that is
    /// dead.
    pub fn push(&mut self, instruction: &Instruction, labs: Option<&mut [Lab; 2]>) {
        let value = self.env.step(instruction, self.section).ok();
        let args = value.as_ref().map(|value| &value.args[..]);
        for (lab, held) in labs.into_iter().flatten().zip(&mut self.held) {
            held.iter_mut().for_each(|held| lab.step(held, instruction, args));
        }
        self.lines.push(Line::new(self.section, instruction, args));
        self.written.section_mut(self.section).push(instruction.clone());
    }

    /// The program with one more instruction.
    pub fn with(&self, instruction: Option<&Instruction>) -> Program {
        let mut program = self.written.clone();
        program.section_mut(self.section).extend(instruction.cloned());
        program
    }

    /// A key of its behaviour, with one more instruction if given: of the register contents, and of the properties
    /// that determine stability. Prefixes with equal keys have the same continuations with the same results.
    pub fn behaviour(
        &mut self,
        instruction: Option<&Instruction>,
        kept: RegSet,
        labs: &mut [Lab; 2],
    ) -> u128 {
        let value = instruction.and_then(|last| self.env.result(last, self.section).ok());
        let args = value.as_ref().map(|value| &value.args[..]);
        let last = instruction.map(|instruction| (instruction, args));
        let line = last.map(|(instruction, args)| Line::new(self.section, instruction, args));
        let (written, handed_on, inverses) = self.counting(line, kept);
        let mut text = Vec::with_capacity(256);
        text.extend_from_slice(&inverses.to_le_bytes());
        for (i, lab) in labs.iter_mut().enumerate() {
            let held = match self.held[i].take() {
                Some(held) => held,
                None => self.replayed(lab),
            };
            let complete = lab.describe(&held, last, written, handed_on, &mut text);
            self.held[i] = Some(held);
            if complete {
                break;
            }
        }
        xxh3_128(&text)
    }

    /// Its register contents in a lab where it was not tracked.
    fn replayed(&self, lab: &mut Lab) -> LabState {
        let mut held = lab.begin();
        let mut env = Env::start(self.signature);
        for section in Section::BOTH {
            if section == Section::Iteration && self.section == section {
                lab.turn(&mut held);
            }
            for instruction in self.written.section(section) {
                let value = env.step(instruction, section).ok();
                lab.step(&mut held, instruction, value.as_ref().map(|value| &value.args[..]));
            }
        }
        held
    }

    /// The registers written; those among them that count as left by setup; the number of live instructions that
    /// invert a matrix that is not triangular. Every register may still be read by later instructions.
    fn counting(&self, last: Option<Line>, kept: RegSet) -> (RegSet, RegSet, u64) {
        let lines = |of: Section| {
            let lines = last.iter().chain(self.lines.iter().rev());
            lines.filter(move |line| line.section == of)
        };
        let written = |of| lines(of).fold(RegSet::EMPTY, |set, line| set.union(line.writes));
        let mut inverses = 0;
        let mut before = |of: Section, after: RegSet| {
            lines(of).fold(after, |live, line| {
                if !line.writes.meets(live) {
                    return live;
                }
                inverses += u64::from(line.general);
                live.minus(line.writes).union(line.reads)
            })
        };
        let left = before(Section::Iteration, RegSet::all()).union(kept);
        before(Section::Setup, left);
        let setup = written(Section::Setup);
        let handed_on = setup.iter().filter(|&reg| left.contains(reg)).collect();
        (setup.union(written(Section::Iteration)), handed_on, inverses)
    }

    /// The key of the finished program, as computed by [`Merge::finished`](super::Merge); `None` if it cannot be
    /// determined here.
    pub fn finished(
        &self,
        finished: &Canonical,
        typed: &[Typed],
        kept: RegSet,
        labs: &mut [Lab; 2],
    ) -> Option<u128> {
        let counted = handed_on(finished.program()).union(kept);
        let behaviour = labs[0].fingerprint(self.held[0].as_ref()?, typed, counted)?;
        Some(stable(behaviour, typed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Merge;
    use crate::program::{Geometry, Grammar, Op, Reg, Update, check};
    use crate::rng::Stream;
    use rand::RngExt;
    use rustc_hash::FxHashMap;

    fn signatures() -> impl Iterator<Item = Signature> {
        let geometries = [Geometry::Tall, Geometry::Square, Geometry::Symmetric];
        geometries.into_iter().flat_map(|shape| Update::ALL.map(|update| Signature::new(shape, update)))
    }

    fn written(program: &Program, section: Section, signature: Signature, labs: &mut [Lab; 2]) -> Growing {
        let mut growing = Growing::new(signature, Some(labs));
        program.setup.iter().for_each(|instruction| growing.push(instruction, Some(labs)));
        if section == Section::Iteration {
            growing.turn(Some(labs));
        }
        program.iteration.iter().for_each(|instruction| growing.push(instruction, Some(labs)));
        growing
    }

    /// Random prefixes: calls `met` with each, and with an instruction that may be added to it.
    fn walk(
        grammar: &Grammar,
        seed: u64,
        labs: &mut [Lab; 2],
        mut met: impl FnMut(&mut Growing, &Instruction, &mut [Lab; 2]),
    ) {
        let mut dice = Stream::new(seed).derive("walk", 0).rng();
        let mut growing = Growing::new(grammar.signature, Some(labs));
        let turn = dice.random_range(0..4);
        for length in 0..7 {
            if length == turn {
                growing.turn(Some(labs));
            }
            let offered = grammar.instructions(&growing.env, growing.section);
            let (instruction, _) = &offered[dice.random_range(0..offered.len())];
            met(&mut growing, instruction, labs);
            growing.push(instruction, Some(labs));
        }
    }

    fn everything(signature: Signature) -> Grammar {
        Grammar { operators: Op::known().collect(), ..Grammar::full(signature) }
    }

    #[test]
    fn one_more_instruction_is_as_good_as_running_all_of_it() {
        let kept = RegSet::EMPTY.with(Reg::R1);
        for signature in signatures() {
            let (grammar, mut labs) = (everything(signature), Lab::both(signature));
            for seed in 0..60 {
                walk(&grammar, seed, &mut labs, |growing, instruction, labs| {
                    let added = growing.behaviour(Some(instruction), kept, labs);
                    let whole = growing.with(Some(instruction));
                    let mut again = written(&whole, growing.section, signature, labs);
                    assert_eq!(added, again.behaviour(None, kept, labs), "{whole}");
                    // Dead code and the order of independent instructions do not matter either.
                    let tidy = Canonical::new(&whole, crate::program::LiveOut::Partial(kept));
                    let mut tidy = written(tidy.program(), growing.section, signature, labs);
                    assert_eq!(added, tidy.behaviour(None, kept, labs), "{whole}");
                });
            }
        }
    }

    #[test]
    fn keys_of_finished_programs_are_those_that_are_stored() {
        for signature in signatures() {
            let (grammar, mut labs) = (everything(signature), Lab::both(signature));
            let (mut quick, mut all) = (0, 0);
            for seed in 0..200 {
                walk(&grammar, seed, &mut labs, |growing, _, labs| {
                    let finished = grammar.finish(&growing.written);
                    let Ok(typed) = check(finished.program(), signature) else { return };
                    all += 1;
                    if let Some(key) = growing.finished(&finished, &typed, RegSet::EMPTY, labs) {
                        quick += 1;
                        let stored = Merge::Fingerprint.finished(&finished, signature, RegSet::EMPTY);
                        assert_eq!(key, stored, "{}", finished.program());
                    }
                });
            }
            assert!(all > 30 && quick * 10 > all * 8, "{quick} of {all} for {signature:?}");
        }
    }

    #[test]
    fn equal_beginnings_have_equal_futures() {
        let mut pairs = 0;
        for signature in signatures() {
            let mut grammar = everything(signature);
            // Few registers, so that many walks reach equal states.
            grammar.registers = ["A", "b", "x", "v1", "R1", "p1", "m1"]
                .map(|name| Reg::named(name).unwrap())
                .into_iter()
                .collect();
            let mut labs = Lab::both(signature);
            let mut known: FxHashMap<(u128, Section), Growing> = FxHashMap::default();
            for seed in 0..300 {
                walk(&grammar, seed, &mut labs, |growing, instruction, labs| {
                    let key = growing.behaviour(None, RegSet::EMPTY, labs);
                    let other = known.entry((key, growing.section)).or_insert_with(|| growing.clone());
                    let alike = grammar.state(&other.written) == grammar.state(&growing.written);
                    // If the types differ, one is more specific about the same matrix. And dead code may have counted
                    // for the stability of one of them.
                    let line = Line::new(growing.section, instruction, None);
                    let survives = |beginning: &Growing| {
                        let [before, after] =
                            [None, Some(line)].map(|line| beginning.counting(line, RegSet::EMPTY));
                        before.1.minus(after.1) == RegSet::EMPTY && before.2 == after.2
                    };
                    if !alike && other.env == growing.env && survives(growing) && survives(other) {
                        pairs += 1;
                        let [one, two] =
                            [growing, other].map(|g| g.behaviour(Some(instruction), RegSet::EMPTY, labs));
                        assert_eq!(one, two, "{instruction}");
                    }
                });
            }
        }
        assert!(pairs > 200, "{pairs}");
    }

    #[test]
    fn carried_registers_are_told_apart() {
        let signature = Signature::from(Geometry::Tall);
        let mut labs = Lab::both(signature);
        let mut of = |text: &str| {
            let program = text.parse().unwrap();
            written(&program, Section::Iteration, signature, &mut labs).behaviour(
                None,
                RegSet::EMPTY,
                &mut labs,
            )
        };
        let (one, two) = (
            "iteration:\n v1 = VEC_VEC_ADD(x, m1)\n m1 = VEC_VEC_SUB(x, v1)\n",
            "iteration:\n v1 = VEC_VEC_ADD(x, m2)\n m1 = VEC_VEC_SUB(x, v1)\n",
        );
        assert_ne!(of(one), of(two));
    }
}
