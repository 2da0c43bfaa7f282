//! The context of a run: what it shares with others, whom it asks, and who watches.

use super::log::Known;
use super::observe::Observer;
use super::problems::Problems;
use super::proposer::Proposer;
use std::sync::Arc;

/// What a run may use and whom it tells. No result depends on it, unless the proposer's programs do. The default shares nothing,
/// asks nobody and tells nobody.
///
/// ```
/// use rl4rla::discovery::{Context, Observer, Progress};
/// struct Patience(u64);
/// impl Observer for Patience {
///     fn continues(&mut self, progress: &Progress) -> bool {
///         progress.counters.evaluations < self.0
///     }
/// }
/// let mut patience = Patience(1000);
/// let context = Context { observer: Some(&mut patience), ..Context::default() };
/// assert!(context.proposer.is_none() && context.known.is_empty());
/// ```
#[derive(Default)]
pub struct Context<'a> {
    /// What runs with the same seed have drawn and computed.
    pub problems: Arc<Problems>,
    /// Rewards that an earlier attempt at the same run computed.
    pub known: Arc<Known>,
    /// Who writes programs, for methods that ask; without one they breed.
    pub proposer: Option<&'a mut dyn Proposer>,
    /// Who hears how the run goes, and may end it.
    pub observer: Option<&'a mut dyn Observer>,
}
