//! Programs under mutation: the old program with new instructions between its own.
//!
//! Insertions only add instructions, and keep the program in canonical form. Evolution also removes and replaces, so
//! here a state records which of its instructions are new, and nothing is simplified before the program is finished.
//! Only instructions that are legal by the grammar are put in; so a walk from the root is a sequence of insertions,
//! and a mutant has at most as many new instructions as there are edits, in addition to all old ones.

use super::finishing::Finishing;
use super::policy::{Policy, Proposal, choose};
use super::space::Space;
use crate::program::{Edit, Editor, InstructionNumber, Program, Section};
use crate::search::{Domain, Solved};
use std::sync::{Arc, Mutex, MutexGuard};
use xxhash_rust::xxh3::xxh3_128;

/// An instruction of a patched program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    section: Section,
    word: InstructionNumber,
    new: bool,
}

/// A patched program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch(Arc<[Line]>);

/// The patches of a space.
pub struct Patches<'a> {
    space: Space<'a>,
    desk: Mutex<Desk<'a>>,
}

struct Desk<'a> {
    editor: Editor<'a>,
    finishing: Finishing,
    proposal: Option<Proposal>,
    edits: Vec<Edit>,
}

/// Number of attempts at a mutation or recombination that gives a valid program.
const TRIES: usize = 16;

/// One in this many mutations restarts from a random program, like one of the three mutations of AutoML-Zero, so that
/// a population cannot be trapped for ever.
const FRESH: usize = 5;

const MUTATIONS: [Mutation; 4] = [Mutation::Insert, Mutation::Remove, Mutation::Replace, Mutation::Modify];

/// The other mutations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mutation {
    /// Inserts an instruction.
    Insert,
    /// Removes a new instruction.
    Remove,
    /// Replaces a new instruction.
    Replace,
    /// Changes the registers of a new instruction.
    Modify,
}

impl<'a> Patches<'a> {
    /// The patches of this space.
    pub fn new(space: Space<'a>) -> Patches<'a> {
        let editor = Editor::new(&space.stage.grammar, space.start);
        let finishing = Finishing::new(&editor, &space);
        Patches { space, desk: Mutex::new(Desk { editor, finishing, proposal: None, edits: Vec::new() }) }
    }

    /// The same patches, their insertions proposed by a policy, if there is one.
    #[must_use]
    pub fn guided(self, policy: Option<&Arc<Policy>>) -> Self {
        self.desk().proposal = policy.cloned().map(Proposal::new);
        self
    }

    /// The program that all patches contain, in the order they keep it.
    pub fn start(&self) -> Program {
        self.space.stage.grammar.state(self.space.start).program().clone()
    }

    /// The program as written, dead code included.
    pub fn program(&self, patch: &Patch) -> Program {
        self.desk().editor.program(&words(&patch.0))
    }

    /// The patch that makes this program, if there is one: it must contain all old instructions in their order and
    /// not too many new ones, each legal at its place.
    pub fn adopt(&self, program: &Program) -> Option<Patch> {
        let root = self.root();
        let mut lines = Vec::with_capacity(program.len());
        let desk = &mut *self.desk();
        let mut old = root.0.iter().peekable();
        for (section, _, instruction) in program.instructions() {
            let word = desk.editor.word(instruction)?;
            let known = old.next_if(|old| (old.section, old.word) == (section, word)).is_some();
            lines.push(Line { section, word, new: !known });
        }
        let legal = old.next().is_none()
            && self.left(&lines).is_some()
            && (0..lines.len()).filter(|&place| lines[place].new).all(|place| {
                let (mut rest, line) = (lines.clone(), lines[place]);
                rest.remove(place);
                let same = |edit: &Edit, at: usize| {
                    at == place && (edit.section, edit.word) == (line.section, line.word)
                };
                !self.offers(desk, &rest, same).is_empty()
            });
        (legal && self.solved(desk, &lines).is_some()).then(|| Patch(lines.into()))
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'a>> {
        self.desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Number of instructions that may still be inserted; `None` if there are too many already.
    fn left(&self, lines: &[Line]) -> Option<usize> {
        self.space.stage.edits.checked_sub(lines.iter().filter(|line| line.new).count())
    }

    fn solved(&self, desk: &mut Desk, lines: &[Line]) -> Option<Solved<Program>> {
        desk.finishing.solved(&mut desk.editor, &words(lines), &self.space)
    }

    /// The legal insertions that pass the filter, each with its position.
    fn offers(
        &self,
        desk: &mut Desk,
        lines: &[Line],
        wanted: impl Fn(&Edit, usize) -> bool,
    ) -> Vec<(Edit, usize)> {
        let words = words(lines);
        desk.editor.legal(&words, self.left(lines).unwrap_or(0), &mut desk.edits);
        let start = |section| if section == Section::Setup { 0 } else { words[0] };
        let placed = desk.edits.iter().map(|&edit| (edit, usize::from(start(edit.section) + edit.position)));
        placed.filter(|(edit, place)| !edit.replaces && wanted(edit, *place)).collect()
    }

    fn mutant(
        &self,
        desk: &mut Desk,
        lines: &[Line],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<Line>> {
        let mutation = MUTATIONS[pick(MUTATIONS.len())];
        if mutation == Mutation::Insert {
            let offers = self.offers(desk, lines, |_, _| true);
            return (!offers.is_empty()).then(|| with(lines, desk.choose(lines, &offers, pick)));
        }
        let new: Vec<usize> = (0..lines.len()).filter(|&place| lines[place].new).collect();
        if new.is_empty() {
            return None;
        }
        let place = new[pick(new.len())];
        let mut rest = lines.to_vec();
        let gone = rest.remove(place);
        if mutation == Mutation::Remove {
            return Some(rest);
        }
        let mut offers = self.offers(desk, &rest, |edit, at| at == place && edit.section == gone.section);
        if mutation == Mutation::Modify {
            let op = |word| desk.editor.instruction(word).op;
            offers.retain(|(edit, _)| op(edit.word) == op(gone.word));
        }
        offers.retain(|(edit, _)| edit.word != gone.word);
        (!offers.is_empty()).then(|| with(&rest, desk.choose(&rest, &offers, pick)))
    }
}

impl Desk<'_> {
    /// One of the insertions offered for these lines: by the policy, else uniform.
    fn choose(
        &mut self,
        lines: &[Line],
        offers: &[(Edit, usize)],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> (Edit, usize) {
        let edits = offers.iter().map(|(edit, _)| edit);
        let proposal = self.proposal.as_mut();
        let probabilities =
            proposal.map(|proposal| proposal.probabilities(&mut self.editor, &words(lines), edits));
        offers[choose(probabilities.as_deref(), offers.len(), pick)]
    }
}

/// The lines with one more instruction.
fn with(lines: &[Line], (edit, place): (Edit, usize)) -> Vec<Line> {
    let mut lines = lines.to_vec();
    lines.insert(place, Line { section: edit.section, word: edit.word, new: true });
    lines
}

/// The words of a program: the length of setup, then the instructions.
fn words(lines: &[Line]) -> Vec<InstructionNumber> {
    let setup = lines.iter().filter(|line| line.section == Section::Setup).count() as InstructionNumber;
    [setup].into_iter().chain(lines.iter().map(|line| line.word)).collect()
}

impl Domain for Patches<'_> {
    type State = Patch;
    type Solution = Program;

    fn root(&self) -> Patch {
        let start = self.start();
        let desk = self.desk();
        let line = |(section, _, instruction)| {
            Some(Line { section, word: desk.editor.word(instruction)?, new: false })
        };
        Patch(start.instructions().filter_map(line).collect())
    }

    fn key(&self, patch: &Patch) -> u128 {
        let bytes =
            |line: &Line| [u16::from(line.new) << 1 | line.section as u16, line.word].map(u16::to_le_bytes);
        xxh3_128(patch.0.iter().flat_map(bytes).collect::<Vec<[u8; 2]>>().as_flattened())
    }

    fn children(&self, patch: &Patch) -> Arc<[Patch]> {
        let offers = self.offers(&mut self.desk(), &patch.0, |_, _| true);
        offers.into_iter().map(|offer| Patch(with(&patch.0, offer).into())).collect()
    }

    fn child(&self, patch: &Patch, pick: &mut dyn FnMut(usize) -> usize) -> Option<Patch> {
        let desk = &mut *self.desk();
        let offers = self.offers(desk, &patch.0, |_, _| true);
        (!offers.is_empty()).then(|| Patch(with(&patch.0, desk.choose(&patch.0, &offers, pick)).into()))
    }

    fn is_end(&self, patch: &Patch) -> bool {
        self.left(&patch.0) == Some(0)
    }

    fn mutate(&self, patch: &Patch, pick: &mut dyn FnMut(usize) -> usize) -> Option<Patch> {
        if pick(FRESH) == 0 {
            return None;
        }
        let desk = &mut *self.desk();
        (0..TRIES).find_map(|_| {
            let lines = self.mutant(desk, &patch.0, pick)?;
            self.solved(desk, &lines).is_some().then(|| Patch(lines.into()))
        })
    }

    // The start of one and the end of the other, cut at the same position of the old program.
    fn recombine(&self, one: &Patch, other: &Patch, pick: &mut dyn FnMut(usize) -> usize) -> Option<Patch> {
        let old = |lines: &[Line]| lines.iter().filter(|line| !line.new).count();
        let in_order = |lines: &[Line]| lines.is_sorted_by_key(|line| line.section);
        let desk = &mut *self.desk();
        (0..TRIES).find_map(|_| {
            let (i, j) = (pick(one.0.len() + 1), pick(other.0.len() + 1));
            let lines = [&one.0[..i], &other.0[j..]].concat();
            let whole = old(&one.0[..i]) == old(&other.0[..j]) && in_order(&lines);
            let fine = whole && self.left(&lines).is_some() && self.solved(desk, &lines).is_some();
            fine.then(|| Patch(lines.into()))
        })
    }

    fn size(&self, program: &Program) -> usize {
        program.len()
    }

    fn solution(&self, patch: &Patch) -> Option<Solved<Program>> {
        self.solved(&mut self.desk(), &patch.0)
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn bound(&self, program: &Program) -> f64 {
        self.space.bound(program)
    }

    fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        self.space.values(requests)
    }
}
