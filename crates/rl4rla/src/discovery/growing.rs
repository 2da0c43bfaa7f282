//! A program built from left to right, with its types and its behaviour.

use super::behaviour::{Held, Lab, Step};
use super::merge::{handed_on, inverts_generally, stable};
use crate::program::{Editor, Instruction, InstructionNumber, RegSet, Section, TypePoint, TypePoints};
use xxhash_rust::xxh3::xxh3_128;

/// What a program is built with.
pub(super) struct Tools<'a> {
    pub editor: Editor<'a>,
    /// Where prefixes are run, if their behaviour is tracked.
    pub labs: Option<[Lab; 2]>,
    /// The text that a key is the hash of.
    text: Vec<u8>,
}

impl<'a> Tools<'a> {
    pub fn new(editor: Editor<'a>, labs: Option<[Lab; 2]>) -> Tools<'a> {
        Tools { editor, labs, text: Vec::new() }
    }
}

/// A prefix of a program.
#[derive(Clone)]
pub(super) struct Growing {
    /// The words of the program so far.
    pub words: Vec<InstructionNumber>,
    lines: Vec<Line>,
    tip: Tip,
}

/// What changes with every instruction.
#[derive(Clone, Copy)]
pub(super) struct Tip {
    /// The section being written.
    pub section: Section,
    /// The types here.
    pub point: TypePoint,
    /// The register contents on the first probe, and on the second if they were needed.
    held: [Option<Held>; 2],
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

impl Growing {
    /// The empty prefix.
    pub fn new(tools: &Tools) -> Growing {
        let held = [tools.labs.as_ref().map(|labs| labs[0].begin()), None];
        let tip = Tip { section: Section::Setup, point: TypePoints::START, held };
        Growing { words: vec![0], lines: Vec::new(), tip }
    }

    /// Where it ends.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Moves from setup to the iteration.
    pub fn turn(&mut self, tools: &Tools) {
        self.tip.section = Section::Iteration;
        for (lab, held) in tools.labs.iter().flatten().zip(&mut self.tip.held) {
            held.iter_mut().for_each(|held| lab.turn(held));
        }
    }

    /// Adds an instruction. One that does not type-check invalidates its target, which does not matter if that is
    /// dead.
    pub fn push(&mut self, word: InstructionNumber, tools: &mut Tools) {
        let Tip { section, point, held } = &mut self.tip;
        let args = tools.editor.points().args(*point, word, *section);
        *point = tools.editor.points().step(*point, word, *section).point;
        let (instruction, call) = (tools.editor.instruction(word), tools.editor.call(word));
        for (lab, held) in tools.labs.iter_mut().flatten().zip(held) {
            held.iter_mut().for_each(|held| lab.step(held, instruction, call, args.as_deref()));
        }
        let (reads, writes) = (instruction.reads(), instruction.writes());
        let general = inverts_generally(instruction, args.as_deref());
        self.lines.push(Line { section: *section, reads, writes, general });
        self.words.push(word);
        self.words[0] += InstructionNumber::from(*section == Section::Setup);
    }

    /// Removes the last instruction; `before` is where the rest ends.
    pub fn pop(&mut self, before: Tip) {
        let last = self.lines.pop().filter(|_| self.words.pop().is_some());
        self.words[0] -= InstructionNumber::from(last.is_some_and(|line| line.section == Section::Setup));
        self.tip = before;
    }

    /// The hash of its canonical form.
    pub fn state(&self, tools: &mut Tools) -> u128 {
        let mut state = Vec::with_capacity(self.words.len());
        tools.editor.state(&self.words, &mut state);
        tools.editor.id(&state)
    }

    /// A key of its behaviour: of the register contents, and of the properties that determine stability. Prefixes
    /// with equal keys have the same continuations with the same results. There must be labs.
    pub fn behaviour(&mut self, kept: RegSet, tools: &mut Tools) -> u128 {
        let (written, handed_on, inverses) = self.counting(kept);
        let mut text = std::mem::take(&mut tools.text);
        text.clear();
        text.extend_from_slice(&inverses.to_le_bytes());
        for which in 0..2 {
            let held = self.tip.held[which].unwrap_or_else(|| self.replayed(which, tools));
            self.tip.held[which] = Some(held);
            let labs = tools.labs.as_ref().expect("behaviour is tracked");
            if labs[which].describe(&held, written, handed_on, &mut text) {
                break;
            }
        }
        let key = xxh3_128(&text);
        tools.text = text;
        key
    }

    /// Its register contents in a lab where it was not tracked.
    fn replayed(&self, which: usize, tools: &mut Tools) -> Held {
        let Tools { editor, labs, .. } = tools;
        let lab = &mut labs.as_mut().expect("behaviour is tracked")[which];
        let (mut held, mut point) = (lab.begin(), TypePoints::START);
        let mut here = Section::Setup;
        for (&word, line) in self.words[1..].iter().zip(&self.lines) {
            if line.section != here {
                lab.turn(&mut held);
                here = line.section;
            }
            let args = editor.points().args(point, word, here);
            lab.step(&mut held, editor.instruction(word), editor.call(word), args.as_deref());
            point = editor.points().step(point, word, here).point;
        }
        if self.tip.section != here {
            lab.turn(&mut held);
        }
        held
    }

    /// The registers written; those among them that count as left by setup; the number of live instructions that
    /// invert a matrix that is not triangular. Every register may still be read by later instructions.
    fn counting(&self, kept: RegSet) -> (RegSet, RegSet, u64) {
        let setup_lines = self.words[0] as usize;
        let (setup, iteration) = self.lines.split_at(setup_lines);
        let written = |lines: &[Line]| lines.iter().fold(RegSet::EMPTY, |set, line| set.union(line.writes));
        let mut inverses = 0;
        let mut before = |lines: &[Line], after: RegSet| {
            lines.iter().rev().fold(after, |live, line| {
                if !line.writes.meets(live) {
                    return live;
                }
                inverses += u64::from(line.general);
                live.minus(line.writes).union(line.reads)
            })
        };
        let left = before(iteration, RegSet::all()).union(kept);
        before(setup, left);
        (written(&self.lines), written(setup).and(left), inverses)
    }

    /// The key of the program once it is finished, as computed by [`Merge::finished`](super::Merge), given the words
    /// of the finished program; `None` if it cannot be determined here.
    pub fn finished(
        &self,
        finished: &[InstructionNumber],
        kept: RegSet,
        editor: &mut Editor,
        labs: Option<&mut [Lab; 2]>,
    ) -> Option<u128> {
        let (lab, held) = (&mut labs?[0], self.tip.held[0]?);
        let mut point = TypePoints::START;
        let section = |i: usize| if i < finished[0] as usize { Section::Setup } else { Section::Iteration };
        let mut args = Vec::with_capacity(finished.len());
        for (i, &word) in finished[1..].iter().enumerate() {
            args.push(editor.points().args(point, word, section(i))?);
            point = editor.points().step(point, word, section(i)).point;
        }
        let step =
            |(i, args)| Step { section: section(i), instruction: editor.instruction(finished[i + 1]), args };
        let steps: Vec<Step> = args.into_iter().enumerate().map(step).collect();
        let handed_on = handed_on(|section| instructions(&steps, section));
        let behaviour = lab.fingerprint(&held, &steps, handed_on.union(kept))?;
        Some(stable(behaviour, &steps))
    }
}

fn instructions<'s>(steps: &'s [Step], section: Section) -> impl Iterator<Item = &'s Instruction> {
    steps.iter().filter(move |step| step.section == section).map(|step| step.instruction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Merge;
    use crate::program::{Canonical, Geometry, Grammar, LiveOut, Op, Program, Reg, Signature, Update};
    use crate::rng::Stream;
    use rand::RngExt;
    use rustc_hash::FxHashMap;

    fn signatures() -> impl Iterator<Item = Signature> {
        let geometries = [Geometry::Tall, Geometry::Square, Geometry::Symmetric];
        geometries.into_iter().flat_map(|shape| Update::ALL.map(|update| Signature::new(shape, update)))
    }

    fn tools(grammar: &Grammar) -> Tools<'_> {
        Tools::new(Editor::new(grammar, &Program::default()), Some(Lab::both(grammar.signature)))
    }

    fn written(program: &Program, section: Section, tools: &mut Tools) -> Growing {
        let mut growing = Growing::new(tools);
        let words = tools.editor.words(program);
        let (setup, iteration) = words[1..].split_at(program.setup.len());
        setup.iter().for_each(|&word| growing.push(word, tools));
        if section == Section::Iteration {
            growing.turn(tools);
        }
        iteration.iter().for_each(|&word| growing.push(word, tools));
        growing
    }

    /// Random prefixes: calls `met` with each, and with an instruction that may be added to it.
    fn walk(seed: u64, tools: &mut Tools, mut met: impl FnMut(&mut Growing, InstructionNumber, &mut Tools)) {
        let mut dice = Stream::new(seed).derive("walk", 0).rng();
        let mut growing = Growing::new(tools);
        let turn = dice.random_range(0..4);
        for length in 0..7 {
            if length == turn {
                growing.turn(tools);
            }
            let Tip { point, section, .. } = growing.tip();
            let offered = tools.editor.points().continuations(point, section);
            let offer = tools.editor.points().continuation(dice.random_range(offered));
            met(&mut growing, offer.word, tools);
            growing.push(offer.word, tools);
        }
    }

    fn everything(signature: Signature) -> Grammar {
        Grammar { operators: Op::known().collect(), ..Grammar::full(signature) }
    }

    #[test]
    fn one_more_instruction_is_as_good_as_running_all_of_it() {
        let kept = RegSet::EMPTY.with(Reg::R1);
        for signature in signatures() {
            let grammar = everything(signature);
            let (mut tools, mut fresh) = (tools(&grammar), tools(&grammar));
            for seed in 0..60 {
                walk(seed, &mut tools, |growing, word, tools| {
                    let (before, words) = (growing.tip(), growing.words.clone());
                    let behaviour = growing.behaviour(kept, tools);
                    growing.push(word, tools);
                    let added = growing.behaviour(kept, tools);
                    let whole = tools.editor.program(&growing.words);
                    // Values that were computed for other prefixes are as good as new ones.
                    fresh.labs.iter_mut().flatten().for_each(Lab::forget);
                    let mut again = written(&whole, before.section, &mut fresh);
                    assert_eq!(added, again.behaviour(kept, &mut fresh), "{whole}");
                    // Dead code and the order of independent instructions do not matter either.
                    let tidy = Canonical::new(&whole, LiveOut::Partial(kept));
                    let mut tidy = written(tidy.program(), before.section, tools);
                    assert_eq!(added, tidy.behaviour(kept, tools), "{whole}");
                    growing.pop(before);
                    assert_eq!(growing.words, words);
                    assert_eq!(growing.behaviour(kept, tools), behaviour);
                });
            }
        }
    }

    #[test]
    fn keys_of_finished_programs_are_those_that_are_stored() {
        for signature in signatures() {
            let grammar = everything(signature);
            let mut tools = tools(&grammar);
            let (mut quick, mut all) = (0, 0);
            for seed in 0..200 {
                walk(seed, &mut tools, |growing, _, tools| {
                    let mut words = Vec::new();
                    if !tools.editor.finish(&growing.words, &growing.words, &mut words) {
                        return;
                    }
                    // What is remembered or refreshed is left to the run of the whole program.
                    let steps = tools.editor.program(&growing.words);
                    let lasts = |op: Op| op.remembers() || op.refreshes();
                    all += usize::from(!steps.instructions().any(|(_, _, ins)| lasts(ins.op)));
                    if let Some(key) =
                        growing.finished(&words, RegSet::EMPTY, &mut tools.editor, tools.labs.as_mut())
                    {
                        quick += 1;
                        let finished = grammar.finish(&tools.editor.program(&growing.words));
                        let stored = Merge::Fingerprint.finished(&finished, signature, RegSet::EMPTY);
                        assert_eq!(key, stored, "{}", finished.program());
                    }
                });
            }
            // Few random programs make a basis.
            let enough = all > 30 || signature.update == Update::Basis;
            assert!(enough && quick * 10 >= all * 8, "{quick} of {all} for {signature:?}");
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
            let mut tools = tools(&grammar);
            let mut known: FxHashMap<(u128, Section), Growing> = FxHashMap::default();
            for seed in 0..300 {
                walk(seed, &mut tools, |growing, word, tools| {
                    let key = growing.behaviour(RegSet::EMPTY, tools);
                    let place = (key, growing.tip().section);
                    let mut other = known.entry(place).or_insert_with(|| growing.clone()).clone();
                    let alike = other.state(tools) == growing.state(tools);
                    // If the types differ, one is more specific about the same matrix. And dead code may have counted
                    // for the stability of one of them.
                    let mut after = |beginning: &mut Growing| {
                        let (tip, before) = (beginning.tip(), beginning.counting(RegSet::EMPTY));
                        beginning.push(word, tools);
                        let (after, key) =
                            (beginning.counting(RegSet::EMPTY), beginning.behaviour(RegSet::EMPTY, tools));
                        beginning.pop(tip);
                        let survives = before.1.minus(after.1) == RegSet::EMPTY && before.2 == after.2;
                        survives.then_some(key)
                    };
                    let [one, two] = [after(growing), after(&mut other)];
                    if !alike && other.tip().point == growing.tip().point && one.is_some() && two.is_some() {
                        pairs += 1;
                        assert_eq!(one, two, "{}", tools.editor.instruction(word));
                    }
                });
            }
        }
        assert!(pairs > 200, "{pairs}");
    }

    #[test]
    fn carried_registers_are_told_apart() {
        let grammar = everything(Geometry::Tall.into());
        let mut tools = tools(&grammar);
        let mut of = |text: &str| {
            let program = text.parse().unwrap();
            written(&program, Section::Iteration, &mut tools).behaviour(RegSet::EMPTY, &mut tools)
        };
        let (one, two) = (
            "iteration:\n v1 = VEC_VEC_ADD(x, m1)\n m1 = VEC_VEC_SUB(x, v1)\n",
            "iteration:\n v1 = VEC_VEC_ADD(x, m2)\n m1 = VEC_VEC_SUB(x, v1)\n",
        );
        assert_ne!(of(one), of(two));
    }
}
