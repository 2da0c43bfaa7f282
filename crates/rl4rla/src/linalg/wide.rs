//! Plain loops, compiled a second time for processors with wider vectors.
//!
//! Products are rounded before they are added in every version, so results are identical to the last bit.

use faer::traits::pulp::Arch;
use std::sync::LazyLock;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs `loops` with the widest vectors available. The loops must be inlined into it to benefit.
#[inline(always)]
pub fn wide<R>(loops: impl FnOnce() -> R) -> R {
    ARCH.dispatch(loops)
}
