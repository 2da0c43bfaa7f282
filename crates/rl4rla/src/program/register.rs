//! Registers: the variables of a program.

use super::types::Dim;
use std::fmt;

/// The kind of value of a register; its dimensions come from typing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number.
    Scalar,
    /// A vector.
    Vector,
    /// A matrix.
    Matrix,
    /// A probability distribution over rows.
    Weights,
}

impl Kind {
    /// All kinds, in the order of their discriminants.
    pub(crate) const ALL: [Kind; 4] = [Kind::Scalar, Kind::Vector, Kind::Matrix, Kind::Weights];
}

/// How long a register keeps its value, and what may write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Given as input. `A` and `b` change only together, by sampling their rows; setup may write `x`, to start there.
    Input,
    /// Written by the program. Every iteration starts from the value after setup.
    Scratch,
    /// Written in the iteration and carried over to the next; initially zero, of a [fixed length](Reg::length).
    Carried,
}

struct Row(&'static str, Kind, Access);

use Access::*;
use Kind::*;

const TABLE: &[Row] = &[
    Row("A", Matrix, Input),
    Row("b", Vector, Input),
    Row("x", Vector, Input),
    Row("eta", Scalar, Input),
    Row("a1", Scalar, Scratch),
    Row("a2", Scalar, Scratch),
    Row("a3", Scalar, Scratch),
    Row("v1", Vector, Scratch),
    Row("v2", Vector, Scratch),
    Row("v3", Vector, Scratch),
    Row("R1", Matrix, Scratch),
    Row("R2", Matrix, Scratch),
    Row("R3", Matrix, Scratch),
    Row("p1", Weights, Scratch),
    Row("m1", Vector, Carried),
    Row("m2", Vector, Carried),
    Row("d", Vector, Input),
    Row("mu", Scalar, Input),
    Row("lambda", Scalar, Input),
    Row("u1", Vector, Carried),
];

/// A register: a row of the register table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u8);

impl Reg {
    /// Number of registers.
    pub const COUNT: usize = TABLE.len();
    /// The data matrix.
    pub const A: Reg = Reg(0);
    /// The right-hand side.
    pub const B: Reg = Reg(1);
    /// The iterate.
    pub const X: Reg = Reg(2);
    /// The step size.
    pub const ETA: Reg = Reg(3);
    /// The direction: every iteration ends with `x ← x − η·v1`.
    pub const V1: Reg = Reg(7);
    /// The first scratch matrix, where the paper builds its preconditioner.
    pub const R1: Reg = Reg(10);
    /// The sampling probabilities; uniform over the rows of `A` until written.
    pub const P1: Reg = Reg(13);
    /// The last step, x − x of the iteration before; zero in setup and in the first iteration.
    pub const D: Reg = Reg(16);
    /// A number to be tuned, beside the step size.
    pub const MU: Reg = Reg(17);
    /// The regularization parameter λ, an input of tasks that have one.
    pub const LAMBDA: Reg = Reg(18);

    /// The carried register that is as long as a column of the data, such as a residual.
    pub const U1: Reg = Reg(19);

    /// The register of this name.
    pub fn named(name: &str) -> Option<Reg> {
        TABLE.iter().position(|row| row.0 == name).map(|i| Reg(i as u8))
    }

    /// All registers, in table order.
    pub fn all() -> impl Iterator<Item = Reg> {
        (0..Reg::COUNT as u8).map(Reg)
    }

    /// The input registers.
    pub fn inputs() -> impl Iterator<Item = Reg> {
        Reg::all().filter(|reg| reg.access() == Access::Input)
    }

    /// The registers carried over from one iteration to the next.
    pub fn carried() -> impl Iterator<Item = Reg> {
        Reg::all().filter(|reg| reg.access() == Access::Carried)
    }

    /// Its name in the text format.
    pub fn name(self) -> &'static str {
        TABLE[self.index()].0
    }

    /// The kind of value it holds.
    pub fn kind(self) -> Kind {
        TABLE[self.index()].1
    }

    /// How long it keeps its value, and what may write it.
    pub fn access(self) -> Access {
        TABLE[self.index()].2
    }

    /// The length of a vector that it is given or carries; scratch registers hold vectors of any length.
    pub fn length(self) -> Option<Dim> {
        match self.access() {
            _ if self.kind() != Kind::Vector => None,
            _ if [Reg::B, Reg::U1].contains(&self) => Some(Dim::Rows),
            Access::Input | Access::Carried => Some(Dim::Cols),
            Access::Scratch => None,
        }
    }

    /// Its index in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RegSet(u32);

impl RegSet {
    /// The empty set.
    pub const EMPTY: RegSet = RegSet(0);

    /// Every register.
    pub fn all() -> RegSet {
        Reg::all().collect()
    }

    /// The registers that a search uses without naming them: all but `d`, `mu`, `lambda` and `u1`, which came later, so
    /// that searches without them stay what they are.
    pub fn usual() -> RegSet {
        [Reg::D, Reg::MU, Reg::LAMBDA, Reg::U1].into_iter().fold(RegSet::all(), RegSet::without)
    }

    /// The inputs of every task: all but the regularization parameter.
    pub fn common_inputs() -> RegSet {
        Reg::inputs().filter(|reg| *reg != Reg::LAMBDA).collect()
    }

    /// The registers carried over from one iteration to the next.
    pub const fn carried() -> RegSet {
        let (mut set, mut i) = (0, 0);
        while i < TABLE.len() {
            if let Carried = TABLE[i].2 {
                set |= 1 << i;
            }
            i += 1;
        }
        RegSet(set)
    }

    /// Whether `reg` is in the set.
    pub fn contains(self, reg: Reg) -> bool {
        self.0 & (1 << reg.0) != 0
    }

    /// The set with `reg` added.
    #[must_use]
    pub fn with(self, reg: Reg) -> RegSet {
        RegSet(self.0 | 1 << reg.0)
    }

    /// The set with `reg` removed.
    #[must_use]
    pub fn without(self, reg: Reg) -> RegSet {
        RegSet(self.0 & !(1 << reg.0))
    }

    /// The union.
    #[must_use]
    pub fn union(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    /// The intersection.
    #[must_use]
    pub fn and(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// The set difference.
    #[must_use]
    pub fn minus(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// Whether the intersection is nonempty.
    pub fn meets(self, other: RegSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Every subset, the empty one first.
    pub(super) fn subsets(self) -> impl Iterator<Item = RegSet> {
        // Counts in the binary digits of the set.
        let next = move |&RegSet(set): &RegSet| {
            let next = set.wrapping_sub(self.0) & self.0;
            (next != 0).then_some(RegSet(next))
        };
        std::iter::successors(Some(RegSet::EMPTY), next)
    }

    /// Its members in table order.
    pub fn iter(self) -> impl Iterator<Item = Reg> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = Reg(left.trailing_zeros() as u8);
            let any = left != 0;
            left &= left.wrapping_sub(1);
            any.then_some(first)
        })
    }
}

impl FromIterator<Reg> for RegSet {
    fn from_iter<I: IntoIterator<Item = Reg>>(regs: I) -> RegSet {
        regs.into_iter().fold(RegSet::EMPTY, RegSet::with)
    }
}

impl fmt::Debug for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_name_their_rows() {
        let named = [(Reg::A, "A"), (Reg::B, "b"), (Reg::X, "x"), (Reg::ETA, "eta")];
        let written = [(Reg::V1, "v1"), (Reg::R1, "R1"), (Reg::P1, "p1")];
        let later = [(Reg::D, "d"), (Reg::MU, "mu"), (Reg::LAMBDA, "lambda")];
        for (reg, name) in named.into_iter().chain(written).chain(later) {
            assert_eq!(Reg::named(name), Some(reg));
        }
        assert!(Reg::all().all(|r| Reg::named(r.name()) == Some(r)));
    }

    #[test]
    fn sets_behave_like_sets() {
        let set: RegSet = [Reg::A, Reg::V1].into_iter().collect();
        assert!(set.contains(Reg::A) && !set.contains(Reg::B));
        assert_eq!(set.without(Reg::A).iter().collect::<Vec<_>>(), [Reg::V1]);
        assert_eq!(set.union(RegSet::EMPTY.with(Reg::B)).iter().count(), 3);
        assert_eq!(RegSet::all().iter().count(), Reg::COUNT);
        let other: RegSet = [Reg::V1, Reg::R1].into_iter().collect();
        assert_eq!(set.minus(other), RegSet::EMPTY.with(Reg::A));
        assert_eq!(set.and(other), RegSet::EMPTY.with(Reg::V1));
        assert_eq!(RegSet::carried(), Reg::carried().collect());
        assert_eq!(RegSet::usual().iter().collect::<Vec<_>>(), Reg::all().take(16).collect::<Vec<_>>());
        assert_eq!(set.subsets().collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert!(set.subsets().all(|subset| subset.minus(set) == RegSet::EMPTY));
        assert!(set.meets(other) && !set.minus(other).meets(other));
    }
}
