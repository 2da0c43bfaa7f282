//! Audits of a curriculum, over several seeds.

use super::{ExperimentError, Monitor};
use crate::curriculum::{Audited, Curriculum, audit};
use crate::search::Silent;

/// The audit of one stage over all seeds.
#[derive(Default)]
pub struct AuditedStage {
    /// The audit for each seed, at least one.
    pub seeds: Vec<Audited>,
}

impl AuditedStage {
    /// The worst rank of its target; `None` if it is out of reach for some seed.
    pub fn worst_rank(&self) -> Option<usize> {
        let ranks: Option<Vec<usize>> = self.seeds.iter().map(|stage| stage.target_rank).collect();
        ranks?.into_iter().max()
    }

    /// Whether the enumeration was complete for every seed.
    pub fn is_complete(&self) -> bool {
        self.seeds.iter().all(|stage| stage.complete)
    }

    /// Whether its target is certainly the best program for every seed.
    pub fn is_first(&self) -> bool {
        self.seeds.iter().all(Audited::is_first)
    }

    /// The minimum of a quantity over the seeds.
    pub fn least(&self, part: fn(&Audited) -> f64) -> f64 {
        self.seeds.iter().map(part).fold(f64::INFINITY, f64::min)
    }

    /// The seed with the smallest lead of the target.
    pub fn closest(&self) -> &Audited {
        self.seeds.iter().min_by(|a, b| a.margin.total_cmp(&b.margin)).expect("at least one seed")
    }
}

/// Audits the stages of a curriculum with this many seeds, starting at the first.
pub fn audit_seeds(
    curriculum: &Curriculum,
    first_seed: u64,
    seeds: u64,
    budget: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<AuditedStage>, ExperimentError> {
    let mut stages: Vec<AuditedStage> = Vec::new();
    stages.resize_with(curriculum.stages.len(), AuditedStage::default);
    for seed in (0..seeds).map(|number| first_seed.wrapping_add(number)) {
        monitor.doing(&format!("auditing seed {seed}"));
        let told = |stage: &Audited| monitor.doing(&format!("auditing seed {seed} · {} done", stage.name));
        let audited = audit(curriculum, seed, budget, &[], &mut Silent, told)?;
        stages.iter_mut().zip(audited).for_each(|(stage, audited)| stage.seeds.push(audited));
    }
    Ok(stages)
}
