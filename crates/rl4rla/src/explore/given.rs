//! The search on instances that were drawn elsewhere, such as those of a stage.

use super::problem_set::ProblemSet;
use super::search::{SearchOutcome, search};
use super::spec::ExploreSpec;
use crate::execute::{PreparedInstance, RunSettings};
use crate::rng::Stream;
use std::sync::Arc;

/// Searches for programs on these instances, of one size, run with these settings; `None` if `goes_on`, which is told
/// what is being done, says to stop. A pure function of its other arguments.
pub fn search_given(
    spec: &ExploreSpec,
    instances: Vec<Arc<PreparedInstance>>,
    settings: RunSettings,
    stream: &Stream,
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<SearchOutcome> {
    search(spec, &ProblemSet::given(spec, instances, settings, stream), goes_on)
}
