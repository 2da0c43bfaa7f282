//! A table of programs, compact because they consist of few different instructions.

use crate::program::{Instruction, Program, Section};
use rustc_hash::FxHashMap;

/// Programs by number; each is the length of its setup and the numbers of its instructions.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ProgramTable {
    instructions: Vec<Instruction>,
    words: Vec<u32>,
    /// Where each program ends in `words`.
    ends: Vec<usize>,
}

impl ProgramTable {
    /// The table of these programs.
    pub fn new(programs: impl Iterator<Item = Program>) -> ProgramTable {
        let (mut table, mut numbers) = (ProgramTable::default(), FxHashMap::default());
        for program in programs {
            table.words.push(program.setup.len() as u32);
            for section in Section::BOTH {
                for instruction in program.section(section) {
                    let number = *numbers.entry(instruction.clone()).or_insert_with(|| {
                        table.instructions.push(instruction.clone());
                        table.instructions.len() as u32 - 1
                    });
                    table.words.push(number);
                }
            }
            table.ends.push(table.words.len());
        }
        table
    }

    /// The program with this number.
    pub fn get(&self, number: usize) -> Program {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        let words = &self.words[start..self.ends[number]];
        let (setup, iteration) = words[1..].split_at(words[0] as usize);
        let read =
            |words: &[u32]| words.iter().map(|&word| self.instructions[word as usize].clone()).collect();
        Program { setup: read(setup), iteration: read(iteration) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::CATALOGUE;

    #[test]
    fn programs_come_back() {
        let programs = || CATALOGUE.iter().map(|entry| entry.document.program.clone());
        let programs = || [Program::default()].into_iter().chain(programs());
        let table = ProgramTable::new(programs());
        for (number, program) in programs().enumerate() {
            assert_eq!(table.get(number), program);
        }
        assert!(table.ends.len() > 20 && table.instructions.len() < table.words.len() - table.ends.len());
    }
}
