//! A bounded memory for values that are functions of their keys: what it holds changes the time taken and no result.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Remembers up to a fixed number of values; the oldest goes first.
pub struct Cache<K, V> {
    room: usize,
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    values: FxHashMap<K, V>,
    /// The keys, oldest first.
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache for `room` values.
    pub fn new(room: usize) -> Cache<K, V> {
        Cache { room, held: Mutex::new(Held { values: FxHashMap::default(), order: VecDeque::new() }) }
    }

    /// The value of `key`, made if it is not held. Two threads may make it at once: the lock is not kept meanwhile.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        let lock = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().values.get(&key) {
            return value.clone();
        }
        let value = make();
        let mut held = lock();
        if held.values.insert(key.clone(), value.clone()).is_none() {
            held.order.push_back(key);
            if held.order.len() > self.room
                && let Some(oldest) = held.order.pop_front()
            {
                held.values.remove(&oldest);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_while_there_is_room() {
        let cache = Cache::new(2);
        let made = |key: u32| {
            let mut made = false;
            let value = cache.get(key, || {
                made = true;
                key * 10
            });
            assert_eq!(value, key * 10);
            made
        };
        assert_eq!([1, 1, 2, 1].map(made), [true, false, true, false]);
        // The third pushes out the first.
        assert_eq!([3, 2, 1, 3].map(made), [true, false, true, false]);
        assert!(made(2));
    }
}
