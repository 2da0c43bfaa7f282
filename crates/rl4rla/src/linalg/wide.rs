//! Plain loops, compiled once more for processors with wider vectors.
//!
//! A product is rounded before it is added, in every version: what is computed is the same to the last bit.

use faer::traits::pulp::Arch;
use std::sync::LazyLock;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs `loops` with the widest vectors there are. They must be inlined into it to gain anything.
#[inline(always)]
pub fn wide<R>(loops: impl FnOnce() -> R) -> R {
    ARCH.dispatch(loops)
}
