//! Registries: what a user adds to the tables of this crate while a program runs.

use std::fmt;
use std::sync::{PoisonError, RwLock};

/// A table that grows. What is in it stays, so that a name means the same for as long as the process lives.
pub struct Registry<T> {
    added: RwLock<Vec<T>>,
}

impl<T: Copy> Registry<T> {
    /// Nothing added yet.
    pub const fn new() -> Registry<T> {
        Registry { added: RwLock::new(Vec::new()) }
    }

    /// Everything added, in the order it came.
    pub fn all(&self) -> std::vec::IntoIter<T> {
        self.added.read().unwrap_or_else(PoisonError::into_inner).clone().into_iter()
    }

    /// Adds an item unless one that is the `same` is there, or among those `built_in`.
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

/// A name that something else has.
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
