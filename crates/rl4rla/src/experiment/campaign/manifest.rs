//! The manifest: what a campaign computes. It is written once; its last line has a digest of all others.
//!
//! It is a file of JSON lines, so that a million tasks are a few lines: tasks are numbered by groups of searches that share
//! their seeds, and within a group by seed, because searches with the same seed share instances.

use super::label::Differences;
use super::task::{AuditSettings, CampaignSearch, CampaignTask, SearchKind};
use crate::curriculum::Curriculum;
use crate::experiment::{ExperimentError, SearchSettings, Sweep};
use crate::explore::ExploreRequest;
use crate::record::Build;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_128;

/// Its name in the folder.
pub(super) const MANIFEST: &str = "manifest.jsonl";

/// Version of the format of manifests.
pub const FORMAT: u32 = 1;

/// Most searches of a campaign: each is a line of the manifest, which every worker reads.
pub(super) const MOST_SEARCHES: usize = 100_000;

/// Most tasks: what is known of each is held in memory.
pub(super) const MOST_TASKS: u64 = 99_999_999;

/// The number of hexadecimal digits of a digest that name a campaign.
const ID: usize = 12;

/// The first line: what is said of the whole campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ManifestHeader {
    /// Version of the format.
    pub format: u32,
    /// Its title.
    pub title: String,
    /// When it was planned, in seconds since 1970.
    pub created: i64,
    /// The only build that may compute its tasks.
    pub build: Build,
    /// The folder in which it was planned, to which paths of data in curricula are relative.
    pub directory: PathBuf,
    /// How its jobs are cut.
    pub jobs: JobOptions,
    /// What its jobs ask of Slurm.
    pub slurm: SlurmOptions,
}

/// How tasks are cut into jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobOptions {
    /// The minutes that a chunk should take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// The number of chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u64>,
}

/// What jobs ask of Slurm, in its own words.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmOptions {
    /// `--partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// `--account`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// `--qos`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// `--time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// `--mem`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// `--cpus-per-task`: the number of tasks that a job computes at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// `--constraint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// Other options of `sbatch`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// The other lines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ManifestLine {
    /// The first.
    Campaign(Box<ManifestHeader>),
    /// A curriculum.
    Curriculum { name: String, text: String },
    /// Settings of sweeps, as their store has them.
    Settings(String),
    /// A search.
    Search(SearchEntry),
    /// Searches that share their seeds.
    Group(Group),
    /// The last.
    End { digest: String },
}

/// A search, in terms of the numbers of curricula and settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct SearchEntry {
    #[serde(flatten)]
    pub(super) what: PlannedSearch,
    /// Seconds that a task is expected to take.
    pub(super) seconds: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum PlannedSearch {
    Sweep { curriculum: usize, settings: usize, alone: bool },
    Explore { request: Box<ExploreRequest> },
    Audit { curriculum: usize, hints: bool, typed: bool, budget: u64 },
}

/// Searches with the same seeds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) first_seed: u64,
    pub(super) seeds: u64,
    pub(super) searches: Vec<usize>,
}

impl Group {
    fn tasks(&self) -> u64 {
        self.seeds.saturating_mul(self.searches.len() as u64)
    }
}

/// What a campaign computes.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub(super) header: ManifestHeader,
    pub(super) curricula: Vec<(String, String)>,
    pub(super) settings: Vec<String>,
    pub(super) searches: Vec<SearchEntry>,
    pub(super) groups: Vec<Group>,
    /// The first task of every group, and the number of tasks.
    firsts: Vec<u64>,
    /// In what the explorations of every family differ, which their labels name.
    pub(super) differences: FxHashMap<String, Differences>,
    digest: String,
}

impl Manifest {
    /// Reads a manifest; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Manifest, ExperimentError> {
        let broken = |why: String| {
            ExperimentError::new(format!("{MANIFEST} is damaged: {why}"))
                .advise("a copy of the file as it was planned, or `rl4rla campaign plan` into another folder")
        };
        let (content, end) = text.trim_end_matches('\n').rsplit_once('\n').unwrap_or(("", text));
        let (lines, content) = (content.lines().count(), format!("{content}\n"));
        match serde_json::from_str(end) {
            Ok(ManifestLine::End { digest }) if digest == digest_of(&content) => {}
            Ok(ManifestLine::End { .. }) => {
                return Err(broken("it was changed after it was planned (its digest does not fit)".into()));
            }
            _ => return Err(broken(format!("it ends after {lines} lines, without a digest"))),
        }
        let mut manifest = None;
        for (number, line) in content.lines().enumerate() {
            let line = serde_json::from_str(line).map_err(|e| broken(format!("line {}: {e}", number + 1)))?;
            match (&mut manifest, line) {
                (None, ManifestLine::Campaign(header)) if header.format == FORMAT => {
                    manifest = Some(Manifest::new(*header));
                }
                (None, ManifestLine::Campaign(header)) => {
                    return Err(broken(format!("format {} is of another version", header.format)));
                }
                (Some(manifest), ManifestLine::Curriculum { name, text }) => {
                    manifest.curricula.push((name, text))
                }
                (Some(manifest), ManifestLine::Settings(settings)) => manifest.settings.push(settings),
                (Some(manifest), ManifestLine::Search(entry)) => manifest.searches.push(entry),
                (Some(manifest), ManifestLine::Group(group)) => manifest.groups.push(group),
                _ => return Err(broken(format!("line {} is not expected there", number + 1))),
            }
        }
        let mut manifest = manifest.ok_or_else(|| broken("it is empty".into()))?;
        if let Some(search) = manifest.dangling() {
            return Err(broken(format!("search {search} refers to a line that is not there")));
        }
        manifest.complete();
        if let Some(why) = manifest.excess() {
            return Err(broken(why));
        }
        manifest.digest = digest_of(&content);
        Ok(manifest)
    }

    /// A manifest with nothing but a header.
    pub(super) fn new(header: ManifestHeader) -> Manifest {
        Manifest {
            header,
            curricula: vec![],
            settings: vec![],
            searches: vec![],
            groups: vec![],
            firsts: vec![0],
            differences: FxHashMap::default(),
            digest: String::new(),
        }
    }

    /// The first search that refers to something that is not there.
    fn dangling(&self) -> Option<usize> {
        let fits = |entry: &SearchEntry| match &entry.what {
            PlannedSearch::Sweep { curriculum, settings, .. } => {
                *curriculum < self.curricula.len() && *settings < self.settings.len()
            }
            PlannedSearch::Audit { curriculum, .. } => *curriculum < self.curricula.len(),
            PlannedSearch::Explore { .. } => true,
        };
        let of_groups = self.groups.iter().flat_map(|group| group.searches.iter().copied());
        (self.searches.iter().position(|entry| !fits(entry)))
            .or_else(|| of_groups.into_iter().find(|search| *search >= self.searches.len()))
    }

    /// What there is more of than a campaign may have.
    fn excess(&self) -> Option<String> {
        let overflows = |group: &&Group| group.first_seed.checked_add(group.seeds).is_none();
        if let Some(group) = self.groups.iter().find(overflows) {
            return Some(format!("{} seeds from {} on are too large", group.seeds, group.first_seed));
        }
        let (searches, tasks) = (self.searches(), self.tasks());
        if searches > MOST_SEARCHES {
            return Some(format!("it has {searches} searches, more than {MOST_SEARCHES}"));
        }
        (tasks > MOST_TASKS).then(|| format!("it has {tasks} tasks, more than {MOST_TASKS}"))
    }

    /// Works out what is not written.
    fn complete(&mut self) {
        let mut tasks: u64 = 0;
        self.firsts = vec![0];
        for group in &self.groups {
            tasks = tasks.saturating_add(group.tasks());
            self.firsts.push(tasks);
        }
        self.differences = Differences::by_family(&self.searches);
    }

    /// Its text, with the digest.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        let mut put = |line: &ManifestLine| {
            text += &serde_json::to_string(line).expect("a line can be written");
            text.push('\n');
        };
        put(&ManifestLine::Campaign(Box::new(self.header.clone())));
        for (name, text) in &self.curricula {
            put(&ManifestLine::Curriculum { name: name.clone(), text: text.clone() });
        }
        self.settings.iter().for_each(|settings| put(&ManifestLine::Settings(settings.clone())));
        self.searches.iter().for_each(|entry| put(&ManifestLine::Search(entry.clone())));
        self.groups.iter().for_each(|group| put(&ManifestLine::Group(group.clone())));
        self.complete();
        self.digest = digest_of(&text);
        let end = ManifestLine::End { digest: self.digest.clone() };
        text + &serde_json::to_string(&end).expect("a line can be written") + "\n"
    }

    /// Whether another manifest has the same tasks; when and where they were planned does not matter.
    pub(super) fn computes_the_same(&self, other: &Manifest) -> bool {
        let whats = |manifest: &Manifest| -> Vec<PlannedSearch> {
            manifest.searches.iter().map(|search| search.what.clone()).collect()
        };
        (&self.curricula, &self.settings, &self.groups) == (&other.curricula, &other.settings, &other.groups)
            && whats(self) == whats(other)
    }

    /// An error if this build may compute other numbers than the one that planned it.
    pub fn check_build(&self) -> Result<(), ExperimentError> {
        let (planned, current) = (&self.header.build, Build::current());
        if current.continues(planned) {
            return Ok(());
        }
        let message = format!("the campaign was planned by another build, {planned}; this is {current}");
        Err(ExperimentError::new(message)
            .advise("that build, because another may compute different numbers, or plan the campaign again"))
    }

    /// What is said of the whole campaign.
    pub fn header(&self) -> &ManifestHeader {
        &self.header
    }

    /// The name of the campaign: the beginning of the digest of the manifest.
    pub fn id(&self) -> &str {
        &self.digest[..ID]
    }

    /// Number of tasks.
    pub fn tasks(&self) -> u64 {
        *self.firsts.last().expect("there is always one")
    }

    /// Number of searches.
    pub fn searches(&self) -> usize {
        self.searches.len()
    }

    /// Number of tasks of every search.
    pub fn seeds_by_search(&self) -> Vec<u64> {
        let mut seeds = vec![0; self.searches()];
        for group in &self.groups {
            group.searches.iter().for_each(|search| seeds[*search] += group.seeds);
        }
        seeds
    }

    /// A task by its number.
    ///
    /// # Panics
    /// If there are not that many tasks.
    pub fn task(&self, number: u64) -> CampaignTask {
        assert!(number < self.tasks(), "the campaign has {} tasks", self.tasks());
        let group = self.firsts.partition_point(|first| *first <= number) - 1;
        let (place, Group { first_seed, searches, .. }) = (number - self.firsts[group], &self.groups[group]);
        let searched = searches.len() as u64;
        let seed = first_seed.wrapping_add(place / searched);
        CampaignTask { number, search: searches[(place % searched) as usize], seed }
    }

    /// The seconds that a task of a search is expected to take.
    pub fn seconds(&self, search: usize) -> f64 {
        self.searches[search].seconds
    }

    /// The same for all tasks together.
    pub fn total_seconds(&self) -> f64 {
        let of =
            |group: &Group| group.seeds as f64 * group.searches.iter().map(|s| self.seconds(*s)).sum::<f64>();
        self.groups.iter().map(of).sum()
    }

    /// The kind of a search.
    pub fn kind(&self, search: usize) -> SearchKind {
        match &self.searches[search].what {
            PlannedSearch::Sweep { .. } => SearchKind::Sweep,
            PlannedSearch::Explore { .. } => SearchKind::Explore,
            PlannedSearch::Audit { .. } => SearchKind::Audit,
        }
    }

    /// The curriculum or the family of a search.
    pub fn name(&self, search: usize) -> &str {
        match &self.searches[search].what {
            PlannedSearch::Sweep { curriculum, .. } | PlannedSearch::Audit { curriculum, .. } => {
                &self.curricula[*curriculum].0
            }
            PlannedSearch::Explore { request } => &request.family,
        }
    }

    /// A search, with its curriculum parsed.
    pub fn search(&self, number: usize) -> Result<CampaignSearch, ExperimentError> {
        let curriculum = |at: usize| {
            let (name, text) = &self.curricula[at];
            let parsed = Curriculum::parse_in(&self.header.directory, name, text);
            parsed.map_err(|error| ExperimentError::new(format!("{name}, {error}")))
        };
        Ok(match &self.searches[number].what {
            PlannedSearch::Sweep { curriculum: at, settings, alone } => {
                let settings: SearchSettings = serde_json::from_str(&self.settings[*settings])
                    .map_err(|error| ExperimentError::new(format!("settings of search {number}: {error}")))?;
                let sweep = Sweep::new(curriculum(*at)?, settings, 0, 0);
                CampaignSearch::Sweep(Box::new(Sweep { alone: *alone, ..sweep }))
            }
            PlannedSearch::Explore { request } => CampaignSearch::Explore(request.clone()),
            PlannedSearch::Audit { curriculum: at, hints, typed, budget } => {
                let curriculum = curriculum(*at)?;
                let audit = AuditSettings { curriculum, hints: *hints, typed: *typed, budget: *budget };
                CampaignSearch::Audit(Box::new(audit))
            }
        })
    }
}

fn digest_of(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}
