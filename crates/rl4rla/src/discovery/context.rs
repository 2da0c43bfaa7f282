//! The context of a run: shared caches, proposer and observer.

use super::log::Known;
use super::observe::Observer;
use super::policy::Policy;
use super::problems::Problems;
use super::proposer::Proposer;
use std::sync::Arc;

/// The environment of a run. No result depends on it, except through the programs of a proposer and the probabilities
/// of a policy. The default has empty caches, no proposer, no policy and no observer.
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
    /// Instances and rewards shared by runs with the same seed.
    pub problems: Arc<Problems>,
    /// Rewards that an earlier attempt at the same run computed.
    pub known: Arc<Known>,
    /// Proposer of programs, for methods that use one; without it they mutate and recombine.
    pub proposer: Option<&'a mut dyn Proposer>,
    /// Learned probabilities of edits, for methods that use them.
    pub policy: Option<Arc<Policy>>,
    /// Observer of the run, which may stop it.
    pub observer: Option<&'a mut dyn Observer>,
}
