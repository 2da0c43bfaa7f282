//! A bounded cache for values that are pure functions of their keys: it affects run time but never a result.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limit on the bytes held by all caches of the process together.
static LIMIT: AtomicUsize = AtomicUsize::new(1 << 30);
/// Bytes currently held by all caches.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Sets the limit on the bytes held by all caches together. No result depends on it.
pub fn set_cache_limit(bytes: usize) {
    LIMIT.store(bytes, Relaxed);
}

/// The bytes currently held by all caches.
pub fn cache_bytes() -> usize {
    HELD.load(Relaxed)
}

/// The limit on the bytes held by all caches together.
pub fn cache_limit() -> usize {
    LIMIT.load(Relaxed)
}

/// Memory use of a value.
pub trait Bytes {
    /// Approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// A cache that evicts its own oldest values when the common limit is reached.
pub struct Cache<K, V: Bytes> {
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    values: FxHashMap<K, V>,
    /// The keys, oldest first.
    order: VecDeque<K>,
}

impl<K: Copy + Eq + Hash, V: Clone + Bytes> Cache<K, V> {
    /// An empty cache.
    pub fn new() -> Cache<K, V> {
        Cache { held: Mutex::new(Held { values: FxHashMap::default(), order: VecDeque::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Held<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all values.
    pub fn clear(&self) {
        let mut held = self.lock();
        HELD.fetch_sub(held.values.values().map(Bytes::bytes).sum(), Relaxed);
        held.values.clear();
        held.order.clear();
    }

    /// The value of `key`, computed by `make` if it is not cached; `make` cannot fail.
    pub fn find(&self, key: K, make: impl FnOnce() -> V) -> V {
        let Ok(value) = self.get(key, || Ok::<V, Infallible>(make()));
        value
    }

    /// The value of `key`, computed by `make` if it is not cached; errors are not cached. Two threads may compute the
    /// same value at once, because the lock is not held meanwhile.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.lock().values.get(&key) {
            return Ok(value.clone());
        }
        let value = make()?;
        let bytes = value.bytes();
        let mut held = self.lock();
        if !held.values.contains_key(&key) {
            let fits = || HELD.load(Relaxed).saturating_add(bytes) <= LIMIT.load(Relaxed);
            while !fits()
                && let Some(oldest) = held.order.pop_front()
            {
                let freed = held.values.remove(&oldest).map_or(0, |value| value.bytes());
                HELD.fetch_sub(freed, Relaxed);
            }
            if fits() {
                HELD.fetch_add(bytes, Relaxed);
                held.values.insert(key, value.clone());
                held.order.push_back(key);
            }
        }
        Ok(value)
    }
}

impl<K, V: Bytes> Drop for Cache<K, V> {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        HELD.fetch_sub(held.values.values().map(Bytes::bytes).sum(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Bytes for u32 {
        fn bytes(&self) -> usize {
            // So large that the caches of other tests do not matter.
            1 << 40
        }
    }

    #[test]
    fn values_are_made_once_while_there_is_room() {
        let usual = cache_limit();
        set_cache_limit((2 << 40) + (1 << 39));
        let cache = Cache::new();
        let made = |key: u32| {
            let mut made = false;
            let value = cache.get(key, || {
                made = true;
                Ok::<u32, ()>(key * 10)
            });
            assert_eq!(value, Ok(key * 10));
            made
        };
        assert_eq!([1, 1, 2, 1].map(made), [true, false, true, false]);
        assert_eq!(cache.get(7, || Err("no")), Err("no"));
        // The third value evicts the first.
        assert_eq!([3, 2, 1, 3].map(made), [true, false, true, false]);
        assert!(made(2));
        assert!(cache_bytes() >= 2 << 40);
        set_cache_limit(usual);
        assert!(made(4) && made(4), "without room nothing is kept");
        drop(cache);
        assert!(cache_bytes() < 1 << 40);
    }
}
