//! Planning: the manifest as it grows.

use super::manifest::{
    Group, MOST_SEARCHES, MOST_TASKS, Manifest, ManifestHeader, PlannedSearch, SearchEntry,
};
use super::task::CampaignSearch;
use crate::experiment::ExperimentError;
use rustc_hash::FxHashMap;

/// A manifest to which searches are added.
pub struct CampaignPlan {
    manifest: Manifest,
    curricula: FxHashMap<String, usize>,
    settings: FxHashMap<String, usize>,
    /// The number of each search by its text.
    searches: FxHashMap<String, usize>,
    /// The seeds of each search: the first, and the one after the last.
    seeds: Vec<Vec<(u64, u64)>>,
}

impl CampaignPlan {
    /// An empty one.
    pub fn new(header: ManifestHeader) -> CampaignPlan {
        let (curricula, settings, searches, seeds) = Default::default();
        CampaignPlan { manifest: Manifest::new(header), curricula, settings, searches, seeds }
    }

    /// Adds searches that share their seeds, with the seconds that a task of each may take.
    pub fn add(
        &mut self,
        first_seed: u64,
        seeds: u64,
        searches: impl IntoIterator<Item = (CampaignSearch, f64)>,
    ) -> Result<(), ExperimentError> {
        let end = first_seed.checked_add(seeds).ok_or_else(|| {
            let message = format!("{seeds} seeds from {first_seed} on are larger than {}", u64::MAX);
            ExperimentError::new(message).advise("a smaller first seed, or fewer seeds")
        })?;
        let mut group = Group { first_seed, seeds, searches: vec![] };
        for (search, seconds) in searches {
            let what = self.entry(search);
            if !(seconds.is_finite() && seconds > 0.0) {
                let message = format!("a task cannot take {seconds} seconds");
                return Err(ExperimentError::new(message).advise("a positive number of seconds"));
            }
            let key = serde_json::to_string(&what).expect("a search can be written");
            let next = self.manifest.searches.len();
            let number = *self.searches.entry(key).or_insert(next);
            if number == next {
                self.manifest.searches.push(SearchEntry { what, seconds });
                self.seeds.push(vec![]);
            }
            if self.seeds[number].iter().any(|(first, last)| *first < end && first_seed < *last) {
                let (name, label) = (self.manifest.name(number), self.manifest.label(number));
                let message = format!("{name} · {label} is asked for twice with the same seeds");
                return Err(ExperimentError::new(message).advise("each search once, or other seeds"));
            }
            self.seeds[number].push((first_seed, end));
            group.searches.push(number);
        }
        self.manifest.groups.push(group);
        if self.manifest.searches.len() > MOST_SEARCHES {
            let message = format!("the campaign has more than {MOST_SEARCHES} different searches");
            return Err(
                ExperimentError::new(message).advise("several campaigns, or more seeds of fewer searches")
            );
        }
        Ok(())
    }

    fn entry(&mut self, search: CampaignSearch) -> PlannedSearch {
        let manifest = &mut self.manifest;
        let mut curriculum = |name: &str, text: &str| {
            let next = manifest.curricula.len();
            let number = *self.curricula.entry(format!("{name}\n{text}")).or_insert(next);
            if number == next {
                manifest.curricula.push((name.into(), text.into()));
            }
            number
        };
        match search {
            CampaignSearch::Sweep(sweep) => {
                let curriculum = curriculum(&sweep.curriculum.name, &sweep.curriculum.text);
                let (text, next) = (sweep.settings.json(), manifest.settings.len());
                let settings = *self.settings.entry(text.clone()).or_insert(next);
                if settings == next {
                    manifest.settings.push(text);
                }
                PlannedSearch::Sweep { curriculum, settings, alone: sweep.alone }
            }
            CampaignSearch::Explore(mut request) => {
                request.seed = 0;
                PlannedSearch::Explore { request }
            }
            CampaignSearch::Audit(audit) => PlannedSearch::Audit {
                curriculum: curriculum(&audit.curriculum.name, &audit.curriculum.text),
                hints: audit.hints,
                typed: audit.typed,
                budget: audit.budget,
            },
        }
    }

    /// The manifest, and its text.
    pub fn finish(mut self) -> Result<(Manifest, String), ExperimentError> {
        let text = self.manifest.finish();
        match self.manifest.tasks() {
            0 => Err(ExperimentError::new("the campaign has no tasks")
                .advise("a [[sweep]], [[explore]], [[audit]] or [[reproduce]]")),
            1..=MOST_TASKS => Ok((self.manifest, text)),
            tasks => Err(ExperimentError::new(format!("{tasks} tasks are more than {MOST_TASKS}"))
                .advise("fewer seeds, or several campaigns")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mixed_plan, small_plan, small_sweep};
    use super::*;
    use crate::search::Method;

    #[test]
    fn seeds_that_are_too_large_and_times_that_cannot_be_are_refused() {
        let add = |first, seeds, seconds| {
            small_plan("one", 1).add(first, seeds, [(small_sweep(Method::Random), seconds)])
        };
        add(u64::MAX - 3, 3, 1.0).unwrap();
        assert!(
            add(u64::MAX - 3, 4, 1.0).unwrap_err().message().contains("4 seeds from 18446744073709551612")
        );
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(add(0, 1, seconds).unwrap_err().message().contains("seconds"), "{seconds}");
        }
    }

    #[test]
    fn a_manifest_has_no_more_than_a_plan_may_have() {
        let refused = |change: fn(&mut Manifest)| {
            let mut plan = mixed_plan(3);
            change(&mut plan.manifest);
            let text = plan.manifest.finish();
            Manifest::parse(&text).err().map(|error| error.message().to_string()).unwrap_or_default()
        };
        assert_eq!(refused(|_| {}), "");
        let seeds = refused(|manifest| manifest.groups[0].first_seed = u64::MAX - 2);
        assert!(seeds.contains("3 seeds from"), "{seeds}");
        let tasks = refused(|manifest| manifest.groups[1].seeds = MOST_TASKS);
        assert!(tasks.contains("tasks, more than"), "{tasks}");
        let searches = refused(|manifest| {
            let search = manifest.searches[2].clone();
            manifest.searches.resize(MOST_SEARCHES + 1, search);
        });
        assert!(searches.contains("searches, more than"), "{searches}");
    }
}
