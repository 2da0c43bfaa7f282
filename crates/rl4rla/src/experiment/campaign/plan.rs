//! Planning: the manifest as it grows.

use super::manifest::{Entry, Group, Header, Manifest, SearchEntry};
use super::task::CampaignSearch;
use crate::experiment::ExperimentError;
use rustc_hash::FxHashMap;

/// Most searches of a campaign: each is a line of the manifest, which every worker reads.
const MOST_SEARCHES: usize = 100_000;

/// Most tasks: what is known of each is held in memory.
const MOST_TASKS: u64 = 99_999_999;

/// A manifest to which searches are added.
pub struct Plan {
    manifest: Manifest,
    curricula: FxHashMap<String, usize>,
    settings: FxHashMap<String, usize>,
    /// The number of each search by its text.
    searches: FxHashMap<String, usize>,
    /// The seeds of each search: the first, and the one after the last.
    seeds: Vec<Vec<(u64, u64)>>,
}

impl Plan {
    /// An empty one.
    pub fn new(header: Header) -> Plan {
        let (curricula, settings, searches, seeds) = Default::default();
        Plan { manifest: Manifest::new(header), curricula, settings, searches, seeds }
    }

    /// Adds searches that share their seeds, with the seconds that a task of each may take.
    pub fn add(
        &mut self,
        first_seed: u64,
        seeds: u64,
        searches: impl IntoIterator<Item = (CampaignSearch, f64)>,
    ) -> Result<(), ExperimentError> {
        let end = first_seed.saturating_add(seeds);
        let mut group = Group { first_seed, seeds, searches: vec![] };
        for (search, seconds) in searches {
            let what = self.entry(search);
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

    fn entry(&mut self, search: CampaignSearch) -> Entry {
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
                Entry::Sweep { curriculum, settings, alone: sweep.alone }
            }
            CampaignSearch::Explore(mut request) => {
                request.seed = 0;
                Entry::Explore { request }
            }
            CampaignSearch::Audit(audit) => Entry::Audit {
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
