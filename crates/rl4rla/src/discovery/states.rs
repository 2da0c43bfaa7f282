//! States by number: every one is kept once, all of them side by side.

use crate::program::InstructionNumber;

/// The states met so far, each a few words. Equal words have one number.
pub(super) struct States {
    /// As many for every state, those it does not need at the end.
    words: Vec<InstructionNumber>,
    width: usize,
    /// Numbers by hash, at the next free place; a power of two of places, at most half of them taken.
    places: Vec<u32>,
}

const FREE: u32 = u32::MAX;

/// Stands where a state has no more words.
const BLANK: InstructionNumber = InstructionNumber::MAX;

impl States {
    /// None yet, and none will have more than `width` words.
    pub fn new(width: usize) -> States {
        States { words: Vec::new(), width, places: vec![FREE; 64] }
    }

    /// The number of a state, given when it is first met.
    pub fn number(&mut self, state: &[InstructionNumber]) -> u32 {
        debug_assert!(state.len() <= self.width && !state.contains(&BLANK));
        let place = self.place(state);
        if self.places[place] != FREE {
            return self.places[place];
        }
        let number = self.count() as u32;
        self.places[place] = number;
        self.words.extend_from_slice(state);
        self.words.resize((number as usize + 1) * self.width, BLANK);
        if self.count() * 2 > self.places.len() {
            self.grow();
        }
        number
    }

    /// The words of a state.
    pub fn get(&self, number: u32) -> &[InstructionNumber] {
        let words = &self.words[number as usize * self.width..][..self.width];
        &words[..words.iter().position(|&word| word == BLANK).unwrap_or(self.width)]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.len() / self.width
    }

    /// The memory they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.places[..])
    }

    /// Where a state stands, or would.
    fn place(&self, state: &[InstructionNumber]) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash(state) as usize & last;
        while self.places[place] != FREE && self.get(self.places[place]) != state {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![FREE; self.places.len() * 2];
        for number in 0..self.count() as u32 {
            let place = self.place(self.get(number));
            self.places[place] = number;
        }
    }
}

/// Every word reaches every bit.
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
            // Few different words and lengths: most states are met many times.
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
