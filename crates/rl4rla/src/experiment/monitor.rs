//! Progress and cancellation of an experiment.

/// Receives progress messages, and may ask to stop. Called from every thread.
pub trait Monitor: Sync {
    /// The current activity.
    fn doing(&self, _what: &str) {}

    /// Whether to stop; finished work is kept.
    fn stopped(&self) -> bool {
        false
    }
}

/// No messages, never stops.
impl Monitor for () {}
