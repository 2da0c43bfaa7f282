//! Memory for values that are pure functions of their inputs: what it holds affects run time but never a result.
//!
//! One limit bounds the small values that many runs share (`Cache`) and the rows of problems (`Evictable`) together.
//! Values may take three quarters of it and rows what values leave, because rows are quickly drawn again.

mod bounded;
mod evictable;
mod memo;

pub(crate) use bounded::Cache;
pub(crate) use evictable::Evictable;
pub(crate) use memo::Memo;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Limit on the bytes held, in all.
static LIMIT: AtomicUsize = AtomicUsize::new(128 << 20);

/// Sets the limit on the bytes held. No result depends on it.
pub fn set_cache_limit(bytes: usize) {
    LIMIT.store(bytes, Relaxed);
}

/// The limit on the bytes held.
pub fn cache_limit() -> usize {
    LIMIT.load(Relaxed)
}

/// The bytes currently held.
pub fn cache_bytes() -> usize {
    bounded::held() + evictable::held()
}

/// The part of the limit that shared values may take.
fn for_values() -> usize {
    cache_limit() / 4 * 3
}

/// The part of the limit that rows may take now.
fn for_rows() -> usize {
    cache_limit().saturating_sub(bounded::held())
}

/// Whether less than half of the memory for shared values is left.
pub(crate) fn is_short() -> bool {
    bounded::held() > for_values() / 2
}

/// Memory use of a value.
pub(crate) trait Bytes {
    /// Approximate size in bytes.
    fn bytes(&self) -> usize;
}

impl<T: Bytes> Bytes for Arc<T> {
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
}

/// Tests that change the limit take turns.
#[cfg(test)]
pub(crate) fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
