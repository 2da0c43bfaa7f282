//! The boundary to decoders that may panic on a damaged file: behind it a panic is an error like any other.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside the boundary.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Makes panics inside the boundary silent; all others are reported as before.
fn hush() {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !INSIDE.get() {
                before(panic);
            }
        }));
    });
}

/// The result of `work`, or the message of its panic. What a panic leaves behind must not be used again.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    hush();
    let outer = INSIDE.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outer);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        assert_eq!(contained(|| 7), Ok(7));
        assert_eq!(contained(|| -> u8 { panic!("no {}", 7) }), Err("no 7".into()));
        assert_eq!(contained(|| -> u8 { panic!("no") }), Err("no".into()));
        assert!(!INSIDE.get());
    }
}
