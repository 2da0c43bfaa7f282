//! Values that are dropped when memory is short, the least recently used first, and made again when they are needed.

use super::{Bytes, for_rows};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

/// All values that may be held.
static SLOTS: Mutex<Vec<Weak<dyn Slot>>> = Mutex::new(Vec::new());

/// Their bytes when room was last made.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counts uses, to tell which value was used last.
static USES: AtomicU64 = AtomicU64::new(0);

/// A value that is made on first use, and again if it has been dropped since.
pub(crate) struct Evictable<T>(Arc<Place<T>>);

struct Place<T> {
    value: Mutex<Option<Arc<T>>>,
    used: AtomicU64,
}

/// A place, whatever it holds.
trait Slot: Send + Sync {
    fn used(&self) -> u64;
    /// The size of its value, 0 if there is none; `None` while another thread is using the place.
    fn bytes(&self) -> Option<usize>;
    /// Drops the value, unless another thread is using the place; returns whether it did.
    fn evict(&self) -> bool;
}

impl<T> Place<T> {
    fn try_lock(&self) -> Option<MutexGuard<'_, Option<Arc<T>>>> {
        match self.value.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<T: Bytes + Send + Sync> Slot for Place<T> {
    fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.try_lock()?.as_ref().map_or(0, |value| value.bytes()))
    }

    fn evict(&self) -> bool {
        self.try_lock().map(|mut value| *value = None).is_some()
    }
}

fn lock<T: ?Sized>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Bytes + Send + Sync + 'static> Evictable<T> {
    /// A place for a value that is not made yet.
    pub fn new() -> Evictable<T> {
        Evictable(Arc::new(Place { value: Mutex::new(None), used: AtomicU64::new(0) }))
    }

    /// The value, made if it is not there; it must be the same each time. No lock is held meanwhile: a thread that
    /// waits for parallel work may take up a task that needs the same value. So two threads may make it at once.
    pub fn get(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let place = &self.0;
        place.used.store(USES.fetch_add(1, Relaxed), Relaxed);
        if let Some(value) = &*lock(&place.value) {
            return value.clone();
        }
        let made = Arc::new(make());
        let value = lock(&place.value).get_or_insert(made).clone();
        make_room_beside(place.clone());
        value
    }
}

/// Drops the least recently used values, except for this one, until all together fit into their part of the limit.
fn make_room_beside(newest: Arc<dyn Slot>) {
    let mut slots = lock(&SLOTS);
    slots.retain(|slot| slot.upgrade().is_some_and(|slot| !Arc::ptr_eq(&slot, &newest)));
    let own = newest.bytes().unwrap_or(0);
    evict_from(&mut slots, own);
    slots.push(Arc::downgrade(&newest));
}

/// Drops the least recently used values until the rest fits into its part of the limit.
pub(super) fn make_room() {
    evict_from(&mut lock(&SLOTS), 0);
}

/// Drops the least recently used of these until there is room for them and for so many bytes.
fn evict_from(slots: &mut Vec<Weak<dyn Slot>>, own: usize) {
    let mut held: Vec<Arc<dyn Slot>> = slots.iter().filter_map(Weak::upgrade).collect();
    held.retain(|slot| slot.bytes() != Some(0));
    // Other threads use them meanwhile, so that each key is read only once.
    held.sort_by_cached_key(|slot| slot.used());
    let size = |slot: &Arc<dyn Slot>| slot.bytes().unwrap_or(0);
    let mut bytes: usize = held.iter().map(size).sum::<usize>() + own;
    held.retain(|slot| {
        let freed = size(slot);
        let evicted = bytes > for_rows() && slot.evict();
        bytes -= if evicted { freed.min(bytes) } else { 0 };
        !evicted
    });
    HELD.store(bytes, Relaxed);
    *slots = held.iter().map(Arc::downgrade).collect();
}

/// The bytes held when room was last made.
pub(super) fn counted() -> usize {
    HELD.load(Relaxed)
}

/// The bytes currently held.
pub(super) fn held() -> usize {
    lock(&SLOTS).iter().filter_map(Weak::upgrade).filter_map(|slot| slot.bytes()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{cache_limit, set_cache_limit, turn};
    use super::*;

    impl Bytes for u64 {
        fn bytes(&self) -> usize {
            // So large that other tests, which share the limit, do not matter.
            1 << 45
        }
    }

    #[test]
    fn values_may_be_used_while_others_are_dropped() {
        let (_turn, usual) = (turn(), cache_limit());
        set_cache_limit(100 << 45);
        let places: Vec<Evictable<u64>> = (0..200).map(|_| Evictable::new()).collect();
        std::thread::scope(|scope| {
            // Some are used all the time while one thread makes and drops others.
            for (first, count) in [(0, 60), (0, 60), (60, 140)] {
                let places = &places[first..first + count];
                scope.spawn(move || {
                    for at in (0..20_000).map(|i| i % count) {
                        assert_eq!(*places[at].get(|| at as u64), at as u64);
                    }
                });
            }
        });
        set_cache_limit(usual);
    }

    #[test]
    fn the_least_recently_used_values_are_dropped_and_made_again() {
        let (_turn, usual) = (turn(), cache_limit());
        set_cache_limit((2 << 45) + (1 << 44));
        let places = [0, 1, 2].map(|_| Evictable::new());
        let made = |i: usize| {
            let mut made = false;
            let value = places[i].get(|| {
                made = true;
                10 * i as u64
            });
            assert_eq!(*value, 10 * i as u64);
            made
        };
        assert_eq!([0, 1, 0, 1].map(made), [true, true, false, false]);
        // There is room for two: the third displaces the one used longest ago.
        assert!(!made(0) && made(2) && !made(0) && made(1) && made(2));
        assert!(held() >= 2 << 45);
        set_cache_limit(usual);
        assert!(made(0), "a value larger than the limit is used and dropped by the next");
        drop(places);
        assert!(held() < 1 << 45);
    }
}
