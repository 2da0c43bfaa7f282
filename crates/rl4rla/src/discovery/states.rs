//! A table of states: each is stored once and referred to by its number.

use super::numbering::Numbering;
use crate::program::InstructionNumber;

/// The states so far, each a few words. Equal words have the same number.
pub(super) struct States {
    /// The same number of words for every state, padded at the end.
    words: Vec<InstructionNumber>,
    width: usize,
    numbers: Numbering,
}

/// Padding.
const BLANK: InstructionNumber = InstructionNumber::MAX;

impl States {
    /// An empty table for states of at most `width` words.
    pub fn new(width: usize) -> States {
        States { words: Vec::new(), width, numbers: Numbering::new() }
    }

    /// The number of a state, assigned when it is first seen.
    pub fn number(&mut self, state: &[InstructionNumber]) -> u32 {
        debug_assert!(state.len() <= self.width && !state.contains(&BLANK));
        let States { words, width, numbers } = self;
        let known = |number: u32| unpadded(&words[number as usize * *width..][..*width]);
        let number = numbers.number(hash(state), |n| known(n) == state, |n| hash(known(n)));
        let start = number as usize * *width;
        if start == words.len() {
            words.extend_from_slice(state);
            words.resize(start + *width, BLANK);
        }
        number
    }

    /// The words of a state.
    pub fn get(&self, number: u32) -> &[InstructionNumber] {
        unpadded(&self.words[number as usize * self.width..][..self.width])
    }

    /// Number of states.
    pub fn count(&self) -> usize {
        self.numbers.count()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + self.numbers.bytes()
    }
}

fn unpadded(words: &[InstructionNumber]) -> &[InstructionNumber] {
    &words[..words.iter().position(|&word| word == BLANK).unwrap_or(words.len())]
}

/// A hash in which every word affects every bit.
fn hash(state: &[InstructionNumber]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = |hash: u64| (hash ^ hash >> 32).wrapping_mul(ODD);
    let four = |words: &[InstructionNumber]| words.iter().fold(0, |sum, &word| sum << 16 | u64::from(word));
    let hash = state.chunks(4).fold(state.len() as u64, |hash, words| mixed(hash ^ four(words)));
    mixed(hash) >> 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn equal_words_have_one_number() {
        let (mut states, mut known) = (States::new(6), HashMap::new());
        let mut seed = 1u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Few different words and lengths, so that most states occur many times.
            let state: Vec<InstructionNumber> =
                (0..(seed >> 60) % 7).map(|i| (seed >> (20 + 2 * i)) as InstructionNumber % 4).collect();
            let next = known.len() as u32;
            let number = *known.entry(state.clone()).or_insert(next);
            assert_eq!(states.number(&state), number);
            assert_eq!(states.get(number), state);
        }
        assert!(states.count() == known.len() && known.len() > 1_000);
        assert!(known.iter().all(|(state, &number)| states.get(number) == state));
        assert!(states.bytes() < 40 * states.count());
    }
}
