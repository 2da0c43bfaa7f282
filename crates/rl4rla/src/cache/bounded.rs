//! A bounded cache of small values: those that took longest to compute, relative to their size, are kept longest.

use super::{Bytes, cache_limit, evictable, for_values};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes currently held by all caches.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Bytes currently held by all caches.
pub(super) fn held() -> usize {
    HELD.load(Relaxed)
}

/// A cache that evicts its own values when all caches together take their part of the limit: first those that save the
/// least time per byte, and among these the oldest. The clock decides only what is computed again.
pub(crate) struct Cache<K, V: Bytes> {
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    values: FxHashMap<K, V>,
    /// The keys by what their values save, the oldest first.
    order: [VecDeque<K>; CLASSES],
}

/// Number of classes of values.
const CLASSES: usize = 8;

/// The class from which values may use the whole limit: they save 64 nanoseconds per byte or more.
const DEAR: usize = 5;

/// The class of a value: it saves about 4^(class − 2) nanoseconds per byte.
fn class(spent: Duration, bytes: usize) -> usize {
    let ratio = 16 * spent.as_nanos() as usize / bytes.max(1);
    (ratio.checked_ilog2().unwrap_or(0) as usize / 2).min(CLASSES - 1)
}

impl<K: Copy + Eq + Hash, V: Clone + Bytes> Cache<K, V> {
    /// An empty cache.
    pub fn new() -> Cache<K, V> {
        Cache { held: Mutex::new(Held { values: FxHashMap::default(), order: Default::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Held<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all values.
    pub fn clear(&self) {
        let mut held = self.lock();
        HELD.fetch_sub(held.values.values().map(Bytes::bytes).sum(), Relaxed);
        *held = Held { values: FxHashMap::default(), order: Default::default() };
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
        let start = Instant::now();
        let value = make()?;
        let bytes = value.bytes();
        let class = class(start.elapsed(), bytes);
        let mut held = self.lock();
        if !held.values.contains_key(&key) && held.make_room(bytes, class) {
            if HELD.fetch_add(bytes, Relaxed) + bytes + evictable::counted() > cache_limit() {
                evictable::make_room();
            }
            held.values.insert(key, value.clone());
            held.order[class].push_back(key);
        }
        Ok(value)
    }
}

impl<K: Copy + Eq + Hash, V: Bytes> Held<K, V> {
    /// Evicts values of this class and below until there is room for so many bytes; returns whether there is.
    fn make_room(&mut self, bytes: usize, class: usize) -> bool {
        // A cache cannot evict the values of another, so some room is reserved for values such as rewards.
        let limit = if class >= DEAR { cache_limit() } else { for_values() };
        let fits = || HELD.load(Relaxed).saturating_add(bytes) <= limit;
        while !fits() {
            let Some(oldest) = self.order[..=class].iter_mut().find_map(VecDeque::pop_front) else {
                return false;
            };
            let freed = self.values.remove(&oldest).map_or(0, |value| value.bytes());
            HELD.fetch_sub(freed, Relaxed);
        }
        true
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
    use super::super::{cache_bytes, set_cache_limit, turn};
    use super::*;

    impl Bytes for u32 {
        fn bytes(&self) -> usize {
            // So large that the caches of other tests do not matter.
            1 << 40
        }
    }

    #[test]
    fn values_are_made_once_while_there_is_room() {
        let (_turn, usual) = (turn(), cache_limit());
        // Three quarters of it hold two values and a half.
        set_cache_limit((10 << 40) / 3);
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
