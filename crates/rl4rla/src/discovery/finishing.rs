//! Finished programs of a space, with their keys.

use super::merge::Merge;
use super::space::Space;
use crate::program::{Canonical, Editor, InstructionNumber, Program};
use crate::search::Solved;
use rustc_hash::FxHashMap;

/// Finishes programs, and caches the expensive part.
pub(super) struct Finishing {
    /// The program the stage starts from.
    old: Vec<InstructionNumber>,
    /// The keys of finished programs by id, if the key differs from the id.
    keys: FxHashMap<u128, u128>,
    words: Vec<InstructionNumber>,
}

impl Finishing {
    pub fn new(editor: &Editor, space: &Space) -> Finishing {
        Finishing { old: editor.words(space.start), keys: FxHashMap::default(), words: Vec::new() }
    }

    /// The finished program of these words, if it is valid.
    pub fn solved(
        &mut self,
        editor: &mut Editor,
        program: &[InstructionNumber],
        space: &Space,
    ) -> Option<Solved<Program>> {
        self.words.clear();
        if !editor.finish(program, &self.old, &mut self.words) {
            return None;
        }
        let (id, solution) = (editor.id(&self.words), editor.program(&self.words));
        let key = match space.merge {
            Merge::Canonical => id,
            merge => *self.keys.entry(id).or_insert_with(|| {
                let grammar = &space.stage.grammar;
                let finished = Canonical::new(&solution, grammar.live_out);
                merge.finished(&finished, grammar.signature, grammar.live_out.kept())
            }),
        };
        Some(Solved { key, solution })
    }
}
