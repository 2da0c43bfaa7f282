//! Upper bounds on rewards, computed once for all programs whose instructions cost the same.

use super::space::Space;
use crate::program::{Cost, Editor, InstructionNumber, Section, TypePoint, TypePoints, Typed};
use rustc_hash::FxHashMap;

/// The bounds so far. A bound depends on a program only through the costs of its instructions, in their order.
#[derive(Default)]
pub(super) struct Bounds {
    costs: Vec<Cost>,
    /// The cost of an instruction at a point, as an index of `costs`.
    classes: FxHashMap<(TypePoint, InstructionNumber), u16>,
    /// By the number of instructions in setup and the cost of each instruction.
    known: FxHashMap<Box<[u16]>, f64>,
    program: Vec<u16>,
}

impl Bounds {
    /// The upper bound on the reward of a finished program.
    pub fn bound(&mut self, editor: &mut Editor, finished: &[InstructionNumber], space: &Space) -> f64 {
        self.program.clear();
        self.program.push(finished[0]);
        let mut point = TypePoints::START;
        for (i, &word) in finished[1..].iter().enumerate() {
            let section = if i < finished[0] as usize { Section::Setup } else { Section::Iteration };
            let class = self.class(editor, point, word, section, space);
            self.program.push(class);
            point = editor.points().step(point, word, section).point;
        }
        if let Some(&known) = self.known.get(&self.program[..]) {
            return known;
        }
        let bound = space.bound(&editor.program(finished));
        self.known.insert(self.program[..].into(), bound);
        bound
    }

    fn class(
        &mut self,
        editor: &mut Editor,
        point: TypePoint,
        word: InstructionNumber,
        section: Section,
        space: &Space,
    ) -> u16 {
        if let Some(&known) = self.classes.get(&(point, word)) {
            return known;
        }
        let args = editor.points().args(point, word, section).map(|args| args.to_vec()).unwrap_or_default();
        let typed = Typed { section, instruction: editor.instruction(word), args, result: None };
        let geometry = space.stage.grammar.signature.geometry;
        let cost = Cost::of(&typed, geometry, space.stage.protocol.profile.model());
        let class = self.costs.iter().position(|known| *known == cost).unwrap_or_else(|| {
            self.costs.push(cost);
            self.costs.len() - 1
        }) as u16;
        self.classes.insert((point, word), class);
        class
    }
}
