//! The gaps of the program a stage starts from, in which instructions are added from left to right.

use super::growing::{Growing, Tools};
use crate::program::{Editor, Grammar, InstructionNumber, Program, Section, TypePoint, TypePoints};
use std::ops::Range;

/// A place between two instructions.
#[derive(Clone, Copy)]
pub(super) struct Gap {
    pub section: Section,
    pub position: usize,
    /// Whether instructions may be added here.
    pub open: bool,
    /// The instruction after it, if there is one in this section.
    pub next: Option<InstructionNumber>,
}

/// The gaps of setup and then those of the iteration.
pub(super) struct Gaps(Vec<Gap>);

impl Gaps {
    pub fn new(grammar: &Grammar, program: &Program, editor: &Editor) -> Gaps {
        let of = |section: Section| {
            let instructions = program.section(section);
            (0..=instructions.len()).map(move |position| {
                let next = instructions.get(position);
                let next = next.map(|next| editor.word(next).expect("the lexicon knows what it starts from"));
                Gap { section, position, open: grammar.opens(section, position, instructions), next }
            })
        };
        Gaps(Section::BOTH.into_iter().flat_map(of).collect())
    }

    /// The gap with this number.
    pub fn get(&self, number: u16) -> &Gap {
        &self.0[number as usize]
    }

    /// The number of the last gap.
    pub fn last(&self) -> u16 {
        self.0.len() as u16 - 1
    }

    fn between(&self, gaps: Range<u16>) -> &[Gap] {
        &self.0[gaps.start as usize..gaps.end as usize]
    }

    /// Extends a prefix that ends at the first of these gaps up to the end of the range: copies instructions and the
    /// end of setup.
    pub fn copy(&self, growing: &mut Growing, gaps: Range<u16>, tools: &mut Tools) {
        for gap in self.between(gaps) {
            match gap.next {
                Some(word) => growing.push(word, tools),
                None => growing.turn(tools),
            }
        }
    }

    /// The types after doing so, from the types before.
    pub fn copied(&self, points: &mut TypePoints, point: TypePoint, gaps: Range<u16>) -> TypePoint {
        let words = self.between(gaps).iter().filter_map(|gap| Some((gap.next?, gap.section)));
        words.fold(point, |point, (word, section)| points.step(point, word, section).point)
    }

    /// Whether v1 has the required type if nothing is added after an edit at this gap, with these types after it.
    pub fn moves_x(&self, points: &mut TypePoints, point: TypePoint, gap: u16) -> bool {
        let end = self.copied(points, point, gap..self.last());
        points.moves(end)
    }
}
