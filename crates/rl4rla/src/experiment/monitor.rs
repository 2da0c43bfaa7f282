//! Whoever waits for an experiment.

/// Hears what is being done, and may ask to stop. Asked from every thread.
pub trait Monitor: Sync {
    /// What the experiment is doing now.
    fn doing(&self, _what: &str) {}

    /// Whether it should stop; what is done by then is kept.
    fn stopped(&self) -> bool {
        false
    }
}

/// Nobody waits.
impl Monitor for () {}
