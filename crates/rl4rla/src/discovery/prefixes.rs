//! A table of prefixes: each is its parent and one more edit, and those with equal keys have one number.

use super::numbering::Numbering;
use crate::program::InstructionNumber;

/// A prefix: another one, and an instruction in a gap of the old program. The gaps of setup come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prefix {
    /// Its number.
    pub parent: u32,
    pub gap: u16,
    pub word: InstructionNumber,
    /// Number of edits.
    pub edits: u16,
}

impl Prefix {
    /// The number of the empty prefix.
    pub const ROOT: u32 = 0;
}

/// The prefixes so far.
pub(super) struct Prefixes {
    all: Vec<Prefix>,
    keys: Vec<u128>,
    numbers: Numbering,
}

impl Prefixes {
    /// The table with only the empty prefix, which has this key.
    pub fn new(root: u128) -> Prefixes {
        let mut prefixes = Prefixes { all: Vec::new(), keys: Vec::new(), numbers: Numbering::new() };
        prefixes.number(root, Prefix { parent: Prefix::ROOT, gap: 0, word: 0, edits: 0 });
        prefixes
    }

    /// The number of the first prefix with this key; if there is none, `prefix` is added.
    pub fn number(&mut self, key: u128, prefix: Prefix) -> u32 {
        // Keys are hashes.
        let keys = &self.keys;
        let number =
            self.numbers.number(key as u64, |n| keys[n as usize] == key, |n| keys[n as usize] as u64);
        if number as usize == self.all.len() {
            self.all.push(prefix);
            self.keys.push(key);
        }
        number
    }

    /// The prefix with this number.
    pub fn get(&self, number: u32) -> Prefix {
        self.all[number as usize]
    }

    /// Writes the numbers of its prefixes to `path`, from the shortest with an edit to itself.
    pub fn path(&self, number: u32, path: &mut Vec<u32>) {
        path.clear();
        let up = |&number: &u32| Some(self.get(number).parent);
        path.extend(std::iter::successors(Some(number), up).take_while(|&number| number != Prefix::ROOT));
        path.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_one_number() {
        let mut prefixes = Prefixes::new(7);
        let one = Prefix { parent: Prefix::ROOT, gap: 1, word: 5, edits: 1 };
        assert_eq!(prefixes.number(7, one), Prefix::ROOT);
        for key in 0..1000u128 {
            // The same low half: they collide in the hash table.
            let number = prefixes.number(key << 64 | 1, Prefix { word: key as u16, ..one });
            assert_eq!(prefixes.get(number).word, key as u16);
            assert_eq!(prefixes.number(key << 64 | 1, one), number);
        }
        let mut path = Vec::new();
        let last = prefixes.number(8, Prefix { parent: 3, gap: 2, word: 0, edits: 2 });
        prefixes.path(last, &mut path);
        assert_eq!(path, [3, last]);
        prefixes.path(Prefix::ROOT, &mut path);
        assert!(path.is_empty());
    }
}
