//! A few small values that are remembered for the whole process.

use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Maximum number of values; beyond that all are forgotten.
const MOST: usize = 1 << 16;

/// Remembered values: like a [`Cache`](super::Cache), but so small that no limit on memory concerns them.
pub(crate) struct Memo<K, V>(Mutex<FxHashMap<K, V>>);

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// Nothing remembered yet.
    pub fn new() -> Memo<K, V> {
        Memo(Mutex::default())
    }

    /// The value of `key`, computed by `make` if it is not remembered. The lock is not held meanwhile.
    pub fn find(&self, key: K, make: impl FnOnce() -> V) -> V {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().get(&key) {
            return value.clone();
        }
        let value = make();
        let mut values = lock();
        if values.len() >= MOST {
            values.clear();
        }
        values.insert(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_until_there_are_too_many() {
        let (memo, mut made) = (Memo::new(), 0);
        let mut find = |key: usize| {
            memo.find(key, || {
                made += 1;
                key + 1
            })
        };
        assert_eq!([find(1), find(1), find(2)], [2, 2, 3]);
        (0..=MOST).for_each(|key| assert_eq!(find(key), key + 1));
        assert_eq!(find(1), 2);
        assert_eq!(made, MOST + 2, "1 was forgotten with all others, and made again");
    }
}
