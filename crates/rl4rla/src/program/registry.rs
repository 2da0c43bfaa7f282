//! Registries: entries that users add at run time to the tables of this crate.

use std::fmt;
use std::sync::{PoisonError, RwLock};

/// A table that grows. Entries are never removed, so that a name keeps its meaning while the process lives.
pub struct Registry<T> {
    added: RwLock<Vec<T>>,
}

impl<T: Copy> Registry<T> {
    /// An empty registry.
    pub const fn new() -> Registry<T> {
        Registry { added: RwLock::new(Vec::new()) }
    }

    /// Everything added, in order.
    pub fn all(&self) -> std::vec::IntoIter<T> {
        self.added.read().unwrap_or_else(PoisonError::into_inner).clone().into_iter()
    }

    /// Adds an item unless the registry or `built_in` has one that is the `same`.
    pub fn add(
        &self,
        item: T,
        same: impl Fn(&T) -> bool,
        built_in: impl Iterator<Item = T>,
    ) -> Result<T, Taken> {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        if built_in.chain(added.iter().copied()).any(|known| same(&known)) {
            return Err(Taken);
        }
        added.push(item);
        Ok(item)
    }
}

impl<T: Copy> Default for Registry<T> {
    fn default() -> Registry<T> {
        Registry::new()
    }
}

/// A name that is already taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken;

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name is taken")
    }
}

impl std::error::Error for Taken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once() {
        let registry = Registry::new();
        let add = |n: i32| registry.add(n, |known| *known == n, [1].into_iter());
        assert_eq!((add(1), add(2), add(2), add(3)), (Err(Taken), Ok(2), Err(Taken), Ok(3)));
        assert_eq!(registry.all().collect::<Vec<_>>(), [2, 3]);
    }
}
