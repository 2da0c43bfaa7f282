//! The paper's moves: insert one instruction anywhere.
//!
//! A draft is the number of a state; a state is the number of edits left and the words of a program. Legal edits are
//! cached, each with the draft it leads to once that has been visited: a rollout goes to one child, and needs the
//! number of children but not the others.

use super::finishing::Finishing;
use super::policy::{Policy, Proposal, choose};
use super::space::Space;
use super::states::States;
use crate::program::{Edit, Editor, InstructionNumber, Program};
use crate::search::{Domain, Solved};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// A partial program, with the number of edits left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DraftState(u32);

/// The moves of a space.
pub struct Insertions<'a> {
    space: Space<'a>,
    desk: Mutex<Desk<'a>>,
}

/// All data about drafts.
struct Desk<'a> {
    editor: Editor<'a>,
    states: States,
    finishing: Finishing,
    moves: Vec<Move>,
    /// The moves of a draft, as a range of `moves`.
    known: FxHashMap<u32, (u32, u32)>,
    proposal: Option<Proposal>,
    /// The probabilities of all moves, if a policy proposes.
    probabilities: Vec<f64>,
    edits: Vec<Edit>,
    words: Vec<InstructionNumber>,
}

/// An edit, and the draft it leads to if known.
#[derive(Clone, Copy)]
struct Move {
    edit: Edit,
    child: Option<Child>,
}

/// A draft's number plus one, so that `None` takes no space.
type Child = std::num::NonZeroU32;

/// Maximum number of cached moves, 12 bytes each; beyond that the cache is cleared, which costs only time.
const MOST: usize = 1 << 20;

impl<'a> Insertions<'a> {
    /// The moves of this space.
    pub fn new(space: Space<'a>) -> Insertions<'a> {
        let editor = Editor::new(&space.stage.grammar, space.start);
        let desk = Mutex::new(Desk {
            finishing: Finishing::new(&editor, &space),
            editor,
            // Number of edits left, length of setup, program.
            states: States::new(2 + space.start.len() + space.stage.edits),
            moves: Vec::new(),
            known: FxHashMap::default(),
            proposal: None,
            probabilities: Vec::new(),
            edits: Vec::new(),
            words: Vec::new(),
        });
        Insertions { space, desk }
    }

    /// The same moves with the probabilities of a policy, if there is one.
    #[must_use]
    pub fn guided(self, policy: Option<&Arc<Policy>>) -> Self {
        self.desk().proposal = policy.cloned().map(Proposal::new);
        self
    }

    /// The number of drafts, and the memory they take in bytes.
    pub fn memory(&self) -> (usize, usize) {
        let desk = self.desk();
        (desk.states.count(), desk.states.bytes())
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'a>> {
        self.desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Desk<'_> {
    /// The draft of a program in canonical form.
    fn draft(&mut self, left: usize, program: &[InstructionNumber]) -> DraftState {
        self.words.clear();
        self.words.push(left as InstructionNumber);
        self.words.extend_from_slice(program);
        DraftState(self.states.number(&self.words))
    }

    fn left(&self, draft: DraftState) -> usize {
        self.states.get(draft.0)[0] as usize
    }

    /// The moves of a draft, as a range of `moves`.
    fn moves(&mut self, draft: DraftState) -> Range<usize> {
        if let Some(&(start, end)) = self.known.get(&draft.0) {
            return start as usize..end as usize;
        }
        if self.moves.len() > MOST {
            self.moves.clear();
            self.probabilities.clear();
            self.known.clear();
        }
        let left = self.left(draft);
        self.editor.legal(&self.states.get(draft.0)[1..], left, &mut self.edits);
        let start = self.moves.len();
        self.moves.extend(self.edits.iter().map(|&edit| Move { edit, child: None }));
        if let Some(proposal) = &mut self.proposal {
            let words = &self.states.get(draft.0)[1..];
            self.probabilities.extend(proposal.probabilities(&mut self.editor, words, self.edits.iter()));
        }
        self.known.insert(draft.0, (start as u32, self.moves.len() as u32));
        start..self.moves.len()
    }

    /// The probabilities of these moves, if a policy proposes.
    fn probabilities(&self, moves: Range<usize>) -> Option<&[f64]> {
        self.proposal.as_ref().map(|_| &self.probabilities[moves])
    }

    /// The draft that a move leads to.
    fn child(&mut self, draft: DraftState, number: usize) -> DraftState {
        let Move { edit, child } = self.moves[number];
        if let Some(child) = child {
            return DraftState(child.get() - 1);
        }
        self.words.clear();
        self.words.push(self.left(draft) as InstructionNumber - 1);
        self.editor.edit(&self.states.get(draft.0)[1..], edit, &mut self.words);
        let child = self.states.number(&self.words);
        self.moves[number].child = Child::new(child + 1);
        DraftState(child)
    }
}

impl Domain for Insertions<'_> {
    type State = DraftState;
    type Solution = Program;

    fn root(&self) -> DraftState {
        let mut desk = self.desk();
        let start = desk.editor.words(self.space.stage.grammar.state(self.space.start).program());
        desk.draft(self.space.stage.edits, &start)
    }

    // Independent of the merge key: programs with equal register contents differ in the places where instructions can
    // be inserted, and equal programs with different numbers of edits left have different continuations.
    fn key(&self, draft: &DraftState) -> u128 {
        u128::from(draft.0)
    }

    fn children(&self, draft: &DraftState) -> Arc<[DraftState]> {
        let mut desk = self.desk();
        let moves = desk.moves(*draft);
        moves.map(|number| desk.child(*draft, number)).collect()
    }

    fn child(&self, draft: &DraftState, pick: &mut dyn FnMut(usize) -> usize) -> Option<DraftState> {
        let mut desk = self.desk();
        let moves = desk.moves(*draft);
        (!moves.is_empty()).then(|| {
            let chosen = choose(desk.probabilities(moves.clone()), moves.len(), pick);
            desk.child(*draft, moves.start + chosen)
        })
    }

    fn priors(&self, draft: &DraftState) -> Option<Arc<[f64]>> {
        let mut desk = self.desk();
        let moves = desk.moves(*draft);
        desk.probabilities(moves).map(Arc::from)
    }

    fn is_end(&self, draft: &DraftState) -> bool {
        self.desk().left(*draft) == 0
    }

    fn solution(&self, draft: &DraftState) -> Option<Solved<Program>> {
        let mut desk = self.desk();
        let Desk { editor, states, finishing, .. } = &mut *desk;
        finishing.solved(editor, &states.get(draft.0)[1..], &self.space)
    }

    fn draft(&self, draft: &DraftState) -> Option<Program> {
        let desk = self.desk();
        Some(desk.editor.program(&desk.states.get(draft.0)[1..]))
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn draws(&self, program: &Program) -> usize {
        self.space.bench.draws(program)
    }

    fn bound(&self, program: &Program) -> f64 {
        self.space.bound(program)
    }

    fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        self.space.values(requests)
    }
}
