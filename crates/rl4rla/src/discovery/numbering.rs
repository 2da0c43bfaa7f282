//! Numbers of distinct things, found by hash; the things themselves are stored by the caller, in order.

/// An open-addressing hash table of numbers.
pub(super) struct Numbering {
    /// Its size is a power of two, and it is at most half full.
    places: Vec<u32>,
    count: u32,
}

const FREE: u32 = u32::MAX;

impl Numbering {
    /// No numbers yet.
    pub fn new() -> Numbering {
        Numbering { places: vec![FREE; 64], count: 0 }
    }

    /// The number of a thing with this hash: one for which `is` holds, or else the next one, which is assigned to it.
    /// `hash_of` gives the hashes of those known.
    pub fn number(&mut self, hash: u64, is: impl Fn(u32) -> bool, hash_of: impl Fn(u32) -> u64) -> u32 {
        if self.count as usize * 2 >= self.places.len() {
            self.places = vec![FREE; self.places.len() * 2];
            for number in 0..self.count {
                let place = self.place(hash_of(number), |_| false);
                self.places[place] = number;
            }
        }
        let place = self.place(hash, is);
        if self.places[place] == FREE {
            self.places[place] = self.count;
            self.count += 1;
        }
        self.places[place]
    }

    /// Number of things.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.places[..])
    }

    /// The slot of a thing, or the free slot where it belongs.
    fn place(&self, hash: u64, is: impl Fn(u32) -> bool) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash as usize & last;
        while self.places[place] != FREE && !is(self.places[place]) {
            place = (place + 1) & last;
        }
        place
    }
}
