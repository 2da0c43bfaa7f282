//! Checkpoints: what an interrupted task has computed, from which it goes on.
//!
//! A checkpoint is a log of values that are pure functions, in lines with a hash each. So a line that is cut off or mixed up
//! with another is left out, several logs of one task are one log, and what is lost is only computed again. Every attempt
//! writes a file of its own, because appending by two machines at a time is not safe.

use super::shared_folder::{SharedFolder, unique};
use crate::curriculum::Audited;
use crate::discovery::{Known, RewardKey};
use crate::experiment::sweep::RewardLog;
use crate::explore::ResultLog;
use crate::store::StoredReward;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

const CHECKPOINTS: &str = "checkpoints";

/// How often a checkpoint is written: tasks that take less leave none.
const INTERVAL: Duration = Duration::from_secs(30);

/// The files of the checkpoints of a campaign, by task.
pub(super) fn earlier(files: &dyn SharedFolder) -> io::Result<BTreeMap<u64, Vec<String>>> {
    let mut by_task: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for name in files.list(CHECKPOINTS)? {
        if let Some(task) = name.split('.').next().and_then(|task| task.parse().ok()) {
            by_task.entry(task).or_default().push(format!("{CHECKPOINTS}/{name}"));
        }
    }
    Ok(by_task)
}

/// A line of a checkpoint.
#[derive(Serialize, Deserialize)]
enum Entry {
    /// Rewards, or numbers of results of an exploration.
    Values(Vec<Value>),
    /// A stage that was audited.
    Stage(Box<Audited>),
}

/// Stage, key, set, index and the bits of the value.
type Value = (u32, String, u8, u32, String);

fn value(row: &StoredReward) -> Value {
    let key = format!("{:032x}", u128::from_le_bytes(row.key));
    (row.stage, key, row.set, row.index, format!("{:016x}", row.value.to_bits()))
}

fn row((stage, key, set, index, bits): Value) -> Option<StoredReward> {
    let key = u128::from_str_radix(&key, 16).ok()?.to_le_bytes();
    Some(StoredReward { stage, key, set, index, value: f64::from_bits(u64::from_str_radix(&bits, 16).ok()?) })
}

/// The log of one task.
pub(super) struct Checkpoint<'a> {
    files: &'a dyn SharedFolder,
    /// Campaign and task, which are part of every hash.
    of: String,
    /// Files of earlier attempts.
    earlier: Vec<String>,
    own: String,
    rewards: Arc<Known>,
    results: FxHashMap<u128, Vec<f64>>,
    /// Stages that were audited.
    pub(super) stages: Vec<Audited>,
    writing: Mutex<Writing>,
}

/// What is not in the file yet.
struct Writing {
    rows: Vec<StoredReward>,
    text: String,
    last: Instant,
    written: bool,
}

impl<'a> Checkpoint<'a> {
    /// The log of a task with what earlier attempts have left in these files.
    pub(super) fn open(
        files: &'a dyn SharedFolder,
        campaign: &str,
        task: u64,
        earlier: Vec<String>,
    ) -> Checkpoint<'a> {
        let mut open = Checkpoint {
            files,
            of: format!("{campaign} {task}"),
            own: format!("{CHECKPOINTS}/{task:09}.{}", unique()),
            rewards: Arc::default(),
            results: FxHashMap::default(),
            stages: vec![],
            writing: Mutex::new(Writing {
                rows: vec![],
                text: String::new(),
                last: Instant::now(),
                written: false,
            }),
            earlier,
        };
        let (mut rows, mut stages) = (Vec::new(), Vec::new());
        for path in &open.earlier {
            // What cannot be read is computed again.
            let text = files.read(path).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                match open.entry(line) {
                    Some(Entry::Values(values)) => rows.extend(values.into_iter().filter_map(row)),
                    Some(Entry::Stage(stage)) => stages.push(*stage),
                    None => {}
                }
            }
        }
        // Several attempts may have the same values.
        let place = |row: &StoredReward| (row.key, row.stage, row.set, row.index);
        rows.sort_unstable_by_key(place);
        rows.dedup_by_key(|row| place(row));
        for row in &rows {
            let numbers = open.results.entry(u128::from_le_bytes(row.key)).or_default();
            if row.index as usize == numbers.len() {
                numbers.push(row.value);
            }
        }
        open.rewards = Arc::new(rows.into_iter().filter_map(StoredReward::into_known).collect());
        for stage in stages {
            if !open.stages.iter().any(|known: &Audited| known.name == stage.name) {
                open.stages.push(stage);
            }
        }
        open
    }

    fn hash(&self, json: &str) -> String {
        format!("{:016x}", xxh3_64(format!("{}\n{json}", self.of).as_bytes()))
    }

    fn entry(&self, line: &str) -> Option<Entry> {
        let (hash, json) = line.split_once(' ')?;
        (hash == self.hash(json)).then(|| serde_json::from_str(json).ok())?
    }

    fn line(&self, entry: &Entry) -> String {
        let json = serde_json::to_string(entry).expect("an entry can be written");
        format!("{} {json}\n", self.hash(&json))
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, rows: impl Iterator<Item = StoredReward>) {
        let mut writing = self.writing();
        writing.rows.extend(rows);
        self.write_if_due(&mut writing);
    }

    fn write_if_due(&self, writing: &mut Writing) {
        if writing.last.elapsed() >= INTERVAL {
            self.write(writing);
        }
    }

    /// Writes what is new. A failure is no reason to stop: the next time everything is tried again.
    fn write(&self, writing: &mut Writing) {
        if !writing.rows.is_empty() {
            let values = Entry::Values(writing.rows.drain(..).map(|row| value(&row)).collect());
            writing.text += &self.line(&values);
        }
        // A line break first, in case the end of the last attempt is missing.
        let text = format!("\n{}", writing.text);
        if !writing.text.is_empty() && self.files.append(&self.own, text.as_bytes()).is_ok() {
            writing.text.clear();
            writing.written = true;
        }
        writing.last = Instant::now();
    }

    /// Notes a stage that was audited.
    pub(super) fn audited(&self, stage: &Audited) {
        if !self.stages.iter().any(|known| known.name == stage.name) {
            let line = self.line(&Entry::Stage(Box::new(stage.clone())));
            let mut writing = self.writing();
            writing.text += &line;
            self.write_if_due(&mut writing);
        }
    }

    /// Writes everything: the task is interrupted.
    pub(super) fn keep(&self) {
        self.write(&mut self.writing());
    }

    /// Removes it: the task has ended. What cannot be removed does no harm.
    pub(super) fn discard(self) {
        let own = Some(&self.own).filter(|_| self.writing().written);
        for path in self.earlier.iter().chain(own) {
            let _ = self.files.remove(path);
        }
    }
}

impl RewardLog for Checkpoint<'_> {
    fn known(&self) -> Arc<Known> {
        self.rewards.clone()
    }

    fn computed(&self, reward: RewardKey, value: f64) {
        if !self.rewards.contains_key(&reward) {
            self.add(std::iter::once(StoredReward::new(reward, value)));
        }
    }
}

impl ResultLog for Checkpoint<'_> {
    fn known(&self, key: u128) -> Option<Vec<f64>> {
        self.results.get(&key).cloned()
    }

    fn computed(&self, key: u128, numbers: &[f64]) {
        self.add(StoredReward::of_result(key, numbers));
    }
}
