//! The operands of an instruction, stored inline.

use super::register::Reg;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// Up to four registers. Equality, order and hash are those of the slice. Stored inline, because programs are
/// compared and copied very often.
#[derive(Clone, Copy)]
pub struct Operands {
    count: u8,
    regs: [Reg; Operands::MOST],
}

impl Operands {
    /// Maximum number of operands.
    pub const MOST: usize = 4;

    /// No operands.
    pub const NONE: Operands = Operands { count: 0, regs: [Reg::A; Operands::MOST] };

    /// Adds an operand; returns false if there is no room.
    pub fn push(&mut self, reg: Reg) -> bool {
        let room = self.len() < Operands::MOST;
        if room {
            self.regs[self.len()] = reg;
            self.count += 1;
        }
        room
    }
}

impl Deref for Operands {
    type Target = [Reg];
    fn deref(&self) -> &[Reg] {
        &self.regs[..self.count as usize]
    }
}

impl DerefMut for Operands {
    fn deref_mut(&mut self) -> &mut [Reg] {
        &mut self.regs[..self.count as usize]
    }
}

/// # Panics
/// If there are more than four.
impl FromIterator<Reg> for Operands {
    fn from_iter<I: IntoIterator<Item = Reg>>(regs: I) -> Operands {
        regs.into_iter().fold(Operands::NONE, |mut operands, reg| {
            assert!(operands.push(reg), "an operator takes at most {} operands", Operands::MOST);
            operands
        })
    }
}

impl From<&[Reg]> for Operands {
    fn from(regs: &[Reg]) -> Operands {
        regs.iter().copied().collect()
    }
}

impl From<Vec<Reg>> for Operands {
    fn from(regs: Vec<Reg>) -> Operands {
        regs.into_iter().collect()
    }
}

impl PartialEq for Operands {
    fn eq(&self, other: &Operands) -> bool {
        self[..] == other[..]
    }
}
impl Eq for Operands {}
impl PartialOrd for Operands {
    fn partial_cmp(&self, other: &Operands) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Operands {
    fn cmp(&self, other: &Operands) -> Ordering {
        self[..].cmp(&other[..])
    }
}
impl Hash for Operands {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}
impl fmt::Debug for Operands {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    fn registers() -> impl Strategy<Value = Vec<Reg>> {
        prop::collection::vec((0..Reg::COUNT).prop_map(|i| Reg::all().nth(i).unwrap()), 0..=Operands::MOST)
    }

    proptest! {
        #[test]
        fn they_are_compared_as_slices_are((one, other) in (registers(), registers())) {
            let [a, b] = [&one, &other].map(|regs| Operands::from(&regs[..]));
            prop_assert_eq!(&a[..], &one[..]);
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(a == b, one == other);
            let hasher = BuildHasherDefault::<DefaultHasher>::default();
            prop_assert_eq!(hasher.hash_one(a), hasher.hash_one(&one[..]));
            prop_assert_eq!(format!("{a:?}"), format!("{one:?}"));
        }

        #[test]
        fn what_stood_there_before_does_not_matter(regs in registers()) {
            let mut sorted = Operands::from(&regs[..]);
            sorted.sort();
            prop_assert!(sorted.is_sorted());
            prop_assert_eq!(Operands::from(&sorted[..]), sorted);
        }
    }

    #[test]
    fn there_is_room_for_four() {
        let mut operands = Operands::NONE;
        assert!((0..4).all(|_| operands.push(Reg::X)) && !operands.push(Reg::X));
        assert_eq!(operands.len(), 4);
    }
}
