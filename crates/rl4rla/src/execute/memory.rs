//! What a run remembers of the iteration before: the state behind `PREVIOUS`.

use crate::program::Datum;

/// One place for every `PREVIOUS` of an iteration, in the order in which they run; that order is the same in every
/// iteration.
#[derive(Clone, Default)]
pub struct Memory {
    places: Vec<Option<Datum>>,
    next: usize,
}

impl Memory {
    /// Begins an iteration, at the first place.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// Remembers a value at the next place, and returns what was there; in the first iteration, the value itself.
    pub fn exchange(&mut self, value: Option<Datum>) -> Option<Datum> {
        let place = self.next;
        self.next += 1;
        match self.places.get_mut(place) {
            Some(held) => std::mem::replace(held, value),
            None => {
                self.places.push(value.clone());
                value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_lags_by_one_iteration() {
        let mut memory = Memory::default();
        let mut iteration = |values: [Option<f64>; 2]| {
            memory.rewind();
            values.map(|value| memory.exchange(value.map(Datum::from)).map(|datum| datum.scalar()))
        };
        assert_eq!(iteration([Some(1.0), None]), [Some(1.0), None]);
        assert_eq!(iteration([Some(3.0), Some(4.0)]), [Some(1.0), None]);
        assert_eq!(iteration([None, Some(6.0)]), [Some(3.0), Some(4.0)]);
    }
}
