//! A bounded cache of small values: those that save the most time for their size are kept longest.
//!
//! Eviction is by greedy dual size with frequency (Cherkasova 1998): a value has priority L + uses·cost/size, where L
//! is the priority of the value evicted last, at the time of the last use.

use super::{Bytes, cache_limit, evictable, for_values};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
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
/// least time per byte. The clock decides only what is computed again.
pub(crate) struct Cache<K, V: Bytes> {
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    values: FxHashMap<K, Entry<V>>,
    /// The keys by priority. Uses since a key was added are not counted in its place, but found when it comes first.
    order: BinaryHeap<Place<K>>,
    /// L, the priority of the value evicted last.
    level: u64,
}

struct Entry<V> {
    value: V,
    /// Time saved per byte and use; see [`saving`].
    saving: u64,
    uses: u64,
    /// L at the last use.
    level: u64,
}

impl<V> Entry<V> {
    fn priority(&self) -> u64 {
        self.level + self.uses * self.saving
    }
}

/// A key in the order of eviction, the lowest priority first.
struct Place<K> {
    priority: u64,
    key: K,
}

impl<K> Ord for Place<K> {
    fn cmp(&self, other: &Place<K>) -> Ordering {
        other.priority.cmp(&self.priority)
    }
}
impl<K> PartialOrd for Place<K> {
    fn partial_cmp(&self, other: &Place<K>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> PartialEq for Place<K> {
    fn eq(&self, other: &Place<K>) -> bool {
        self.priority == other.priority
    }
}
impl<K> Eq for Place<K> {}

/// The saving from which on values may use the whole limit: 64 nanoseconds per byte.
const DEAR: u64 = 64 * PER_NANOSECOND;

const PER_NANOSECOND: u64 = 256;

/// What a value saves with each use: time per byte.
fn saving(spent: Duration, bytes: usize) -> u64 {
    (PER_NANOSECOND * spent.as_nanos() as u64 / bytes.max(1) as u64).max(1)
}

impl<K: Copy + Eq + Hash, V: Clone + Bytes> Cache<K, V> {
    /// An empty cache.
    pub fn new() -> Cache<K, V> {
        Cache { held: Mutex::new(Held::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Held<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all values.
    pub fn clear(&self) {
        let mut held = self.lock();
        HELD.fetch_sub(held.bytes(), Relaxed);
        *held = Held::new();
    }

    /// The value of `key`, computed by `make` if it is not cached; `make` cannot fail.
    pub fn find(&self, key: K, make: impl FnOnce() -> V) -> V {
        let Ok(value) = self.get(key, || Ok::<V, Infallible>(make()));
        value
    }

    /// The value of `key`, computed by `make` if it is not cached; errors are not cached. Two threads may compute the
    /// same value at once, because the lock is not held meanwhile.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.lock().take(&key) {
            return Ok(value);
        }
        let start = Instant::now();
        let value = make()?;
        let bytes = value.bytes();
        let saving = saving(start.elapsed(), bytes);
        let mut held = self.lock();
        if !held.values.contains_key(&key) && held.make_room(bytes, saving) {
            if HELD.fetch_add(bytes, Relaxed) + bytes + evictable::counted() > cache_limit() {
                evictable::make_room();
            }
            held.insert(key, value.clone(), saving);
        }
        Ok(value)
    }
}

impl<K, V: Bytes> Held<K, V> {
    fn bytes(&self) -> usize {
        self.values.values().map(|entry| entry.value.bytes()).sum()
    }
}

impl<K: Copy + Eq + Hash, V: Bytes> Held<K, V> {
    fn new() -> Held<K, V> {
        Held { values: FxHashMap::default(), order: BinaryHeap::new(), level: 0 }
    }

    /// A value to be used.
    fn take(&mut self, key: &K) -> Option<V>
    where
        V: Clone,
    {
        let entry = self.values.get_mut(key)?;
        (entry.uses, entry.level) = (entry.uses + 1, self.level);
        Some(entry.value.clone())
    }

    fn insert(&mut self, key: K, value: V, saving: u64) {
        let entry = Entry { value, saving, uses: 1, level: self.level };
        self.order.push(Place { priority: entry.priority(), key });
        self.values.insert(key, entry);
    }

    /// Evicts values of lower priority than a new one with this saving until there is room for its bytes; returns
    /// whether there is.
    fn make_room(&mut self, bytes: usize, saving: u64) -> bool {
        // A cache cannot evict the values of another, so some room is reserved for values such as rewards.
        let limit = if saving >= DEAR { cache_limit() } else { for_values() };
        let fits = || HELD.load(Relaxed).saturating_add(bytes) <= limit;
        while !fits() {
            let Some(mut first) = self.order.peek_mut() else { return false };
            let priority = self.values.get(&first.key).map_or(0, Entry::priority);
            if first.priority < priority {
                first.priority = priority;
                continue;
            }
            if priority > self.level + saving {
                // The new value has the lowest priority.
                self.level += saving;
                return false;
            }
            let Place { key, .. } = PeekMut::pop(first);
            let freed = self.values.remove(&key).map_or(0, |entry| entry.value.bytes());
            HELD.fetch_sub(freed, Relaxed);
            self.level = self.level.max(priority);
        }
        true
    }
}

impl<K, V: Bytes> Drop for Cache<K, V> {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        HELD.fetch_sub(held.bytes(), Relaxed);
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
        // There is room for two, and the first has been used more often than the others.
        assert_eq!([3, 1, 2, 1, 3].map(made), [true, false, true, false, true]);
        assert!(made(2));
        assert!(cache_bytes() >= 2 << 40);
        set_cache_limit(usual);
        assert!(made(4) && made(4), "without room nothing is kept");
        drop(cache);
        assert!(cache_bytes() < 1 << 40);
    }
}
