//! The numbers of states, by their keys.

use rustc_hash::FxHashMap;

/// Map from keys to numbers; small integer keys are looked up without hashing.
#[derive(Default)]
pub(super) struct KeyPlaces {
    small: Vec<u32>,
    large: FxHashMap<u128, u32>,
}

const FREE: u32 = u32::MAX;

/// Initial size limit of the table of small keys; it may double later.
const ROOM: usize = 1024;

impl KeyPlaces {
    /// The number of a key; `next` if it is new.
    pub fn get_or_insert(&mut self, key: u128, next: u32) -> u32 {
        let room = 2 * self.small.len() + ROOM;
        let Some(place) = usize::try_from(key).ok().filter(|&key| key < room) else {
            return *self.large.entry(key).or_insert(next);
        };
        // A key may have been too large for the table when it was inserted.
        if let Some(&known) = self.large.get(&key) {
            return known;
        }
        if place >= self.small.len() {
            self.small.resize(place + 1, FREE);
        }
        if self.small[place] == FREE {
            self.small[place] = next;
        }
        self.small[place]
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.small[..]) + self.large.capacity() * size_of::<(u128, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_find_their_places() {
        let mut places = KeyPlaces::default();
        for (next, key) in [5, 0, u128::MAX, 7, 1 << 40, 3000, 900, 1800].into_iter().enumerate() {
            assert_eq!(places.get_or_insert(key, next as u32), next as u32);
            assert_eq!(places.get_or_insert(key, 99), next as u32);
        }
        assert_eq!(places.get_or_insert(3000, 99), 5, "now that there is room for it too");
        assert!(places.bytes() < 1 << 16);
    }
}
