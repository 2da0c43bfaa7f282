//! Finished programs of a space, with their keys.

use super::merge::Merge;
use super::space::Space;
use super::states::States;
use crate::program::{Canonical, Editor, InstructionNumber, Program};
use crate::search::Solved;

/// Finishes programs, and caches the expensive part.
pub(super) struct Finishing {
    /// The program the stage starts from.
    old: Vec<InstructionNumber>,
    /// The finished programs so far, and the key of each, if it is expensive.
    known: States,
    keys: Vec<u128>,
    /// The latest finished program.
    pub words: Vec<InstructionNumber>,
}

impl Finishing {
    pub fn new(editor: &Editor, space: &Space) -> Finishing {
        let old = editor.words(space.start);
        let known = States::new(old.len() + space.stage.edits);
        Finishing { old, known, keys: Vec::new(), words: Vec::new() }
    }

    /// Finishes a program; returns whether the result is valid.
    pub fn finish(&mut self, editor: &mut Editor, program: &[InstructionNumber]) -> bool {
        self.words.clear();
        editor.finish(program, &self.old, &mut self.words)
    }

    /// The key of the latest finished program. `quick` may find it in a quicker way than by running the program.
    pub fn key(
        &mut self,
        editor: &mut Editor,
        space: &Space,
        quick: impl FnOnce(&mut Editor, &[InstructionNumber]) -> Option<u128>,
    ) -> u128 {
        if space.merge == Merge::Canonical {
            return editor.id(&self.words);
        }
        let number = self.known.number(&self.words) as usize;
        if number == self.keys.len() {
            self.keys.push(quick(editor, &self.words).unwrap_or_else(|| {
                let grammar = &space.stage.grammar;
                let finished = Canonical::new(&editor.program(&self.words), grammar.live_out);
                space.merge.finished(&finished, grammar.signature, grammar.live_out.kept())
            }));
        }
        self.keys[number]
    }

    /// The finished program of these words, if it is valid.
    pub fn solved(
        &mut self,
        editor: &mut Editor,
        program: &[InstructionNumber],
        space: &Space,
    ) -> Option<Solved<Program>> {
        self.finish(editor, program).then(|| Solved {
            key: self.key(editor, space, |_, _| None),
            solution: editor.program(&self.words),
        })
    }
}
