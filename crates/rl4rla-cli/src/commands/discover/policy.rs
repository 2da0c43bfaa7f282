//! A learned policy, as `--policy` names it.

use crate::failure::Failure;
use crate::page::{path as shown, warning};
use rl4rla::experiment::LearnedPolicy;
use std::io::Write;
use std::path::Path;

/// Policies are short; a larger file is rejected.
const MAX_BYTES: u64 = 1 << 24;

/// The policy, unless it is `none`.
pub fn read(typed: &Path) -> Result<Option<LearnedPolicy>, Failure> {
    match typed.to_str() {
        Some("none") => return Ok(None),
        Some("shipped") => return Ok(Some(LearnedPolicy::shipped())),
        _ => {}
    }
    let refused = |why: String| Failure::new(format!("--policy {}: {why}", shown(typed)));
    let unreadable = |error: std::io::Error| {
        refused(format!("it cannot be read: {error}"))
            .advise("a file of `rl4rla learn --out FILE`, or `shipped`")
    };
    let size = typed.metadata().map_err(unreadable)?;
    if !size.is_file() || size.len() > MAX_BYTES {
        let what = if size.is_file() { "it is too large for a policy" } else { "it is not a plain file" };
        return Err(refused(what.into()).advise("a file of `rl4rla learn --out FILE`"));
    }
    let text = std::fs::read_to_string(typed).map_err(unreadable)?;
    let policy = LearnedPolicy::parse(&text);
    policy.map(Some).map_err(|error| refused(error.to_string()).advise(error.advice().unwrap_or_default()))
}

/// Warns that a policy is not new to a curriculum. That can only fail if the reader is gone.
pub fn warn(curriculum: &str) {
    let text = format!(
        "warning: the policy was trained on {curriculum} or on one of its targets, so this does not show what it has \
         learned from other problems"
    );
    let _ = writeln!(anstream::stderr(), "{}", warning(&text));
}
