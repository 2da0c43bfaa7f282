//! Checkpoints: what an interrupted task has computed, from which it goes on.
//!
//! A checkpoint is a log of values that are pure functions, in lines with a hash each. So a line that is cut off or mixed up
//! with another is left out, several logs of one task are one log, and what is lost is only computed again. Every attempt
//! writes a file of its own, because appending by two machines at a time is not safe.

use super::folder::pauses;
use super::shared_folder::{SharedFolder, patiently, unique};
use crate::curriculum::Audited;
use crate::discovery::{Known, RewardKey};
use crate::experiment::sweep::RewardLog;
use crate::explore::ResultLog;
use crate::store::StoredReward;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3;

const CHECKPOINTS: &str = "checkpoints";

/// How often a checkpoint is written: tasks that take less leave none.
const INTERVAL: Duration = Duration::from_secs(30);

/// Most values that wait for it: fast tasks compute millions in that time.
const MOST_ROWS: usize = 1 << 16;

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
    /// Rewards, or numbers of results of an exploration, as [`digits`].
    Values(String),
    /// A stage that was audited.
    Stage(Box<Audited>),
}

/// Hexadecimal digits of a value: stage, key, set, index and the value, of which all bits matter.
const DIGITS: usize = 8 + 32 + 2 + 8 + 16;

/// Values as one string, because there are many.
fn digits(rows: &[StoredReward]) -> String {
    let mut text = String::with_capacity(DIGITS * rows.len());
    for StoredReward { stage, key, set, index, value } in rows {
        let (key, bits) = (u128::from_le_bytes(*key), value.to_bits());
        write!(text, "{stage:08x}{key:032x}{set:02x}{index:08x}{bits:016x}")
            .expect("a string takes any text");
    }
    text
}

/// The values of such a string; `None` if it is none.
fn rows(text: &str) -> Option<Vec<StoredReward>> {
    let row = |place: usize| {
        let part = |from: usize, to: usize| text.get(place + from..place + to);
        Some(StoredReward {
            stage: u32::from_str_radix(part(0, 8)?, 16).ok()?,
            key: u128::from_str_radix(part(8, 40)?, 16).ok()?.to_le_bytes(),
            set: u8::from_str_radix(part(40, 42)?, 16).ok()?,
            index: u32::from_str_radix(part(42, 50)?, 16).ok()?,
            value: f64::from_bits(u64::from_str_radix(part(50, DIGITS)?, 16).ok()?),
        })
    };
    (0..text.len()).step_by(DIGITS).map(row).collect()
}

/// The log of one task.
pub(super) struct Checkpoint<'a> {
    files: &'a dyn SharedFolder,
    /// Campaign and task, which are part of every hash.
    of: String,
    /// Files of earlier attempts.
    earlier: Vec<String>,
    own: String,
    /// The values of earlier attempts, until they are asked for: as rewards or as results, whatever the task computes.
    logged: Mutex<Vec<StoredReward>>,
    rewards: OnceLock<Arc<Known>>,
    results: OnceLock<FxHashMap<u128, Vec<f64>>>,
    /// Stages that were audited.
    pub(super) stages: Vec<Audited>,
    writing: Mutex<Writing>,
}

/// What is not in the file yet.
struct Writing {
    rows: Vec<StoredReward>,
    text: String,
    last: Instant,
    /// Whether there may be a file.
    written: bool,
}

impl<'a> Checkpoint<'a> {
    /// The log of a task with what earlier attempts have left in these files; `stopped` ends the waiting for a server that
    /// does not answer.
    pub(super) fn open(
        files: &'a dyn SharedFolder,
        campaign: &str,
        task: u64,
        earlier: Vec<String>,
        stopped: &dyn Fn() -> bool,
    ) -> Checkpoint<'a> {
        let mut open = Checkpoint {
            files,
            of: format!("{campaign} {task}"),
            own: format!("{CHECKPOINTS}/{task:09}.{}", unique()),
            logged: Mutex::default(),
            rewards: OnceLock::new(),
            results: OnceLock::new(),
            stages: vec![],
            writing: Mutex::new(Writing {
                rows: vec![],
                text: String::new(),
                last: Instant::now(),
                written: false,
            }),
            earlier,
        };
        let mut logged = Vec::new();
        for path in &open.earlier {
            // What cannot be read is computed again.
            let text = patiently(files, &pauses(), false, stopped, || files.read(path)).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                match open.entry(line) {
                    Some(Entry::Values(digits)) => logged.extend(rows(&digits).into_iter().flatten()),
                    Some(Entry::Stage(stage)) if open.stage(&stage.name).is_none() => {
                        open.stages.push(*stage);
                    }
                    Some(Entry::Stage(_)) | None => {}
                }
            }
        }
        open.logged = logged.into();
        open
    }

    fn stage(&self, name: &str) -> Option<&Audited> {
        self.stages.iter().find(|known| known.name == name)
    }

    /// The values of earlier attempts, each once and in order; none the next time.
    fn take_logged(&self) -> Vec<StoredReward> {
        let mut rows = std::mem::take(&mut *self.logged.lock().unwrap_or_else(PoisonError::into_inner));
        // Several attempts may have the same values.
        let place = |row: &StoredReward| (row.key, row.stage, row.set, row.index);
        rows.sort_unstable_by_key(place);
        rows.dedup_by_key(|row| place(row));
        rows
    }

    fn rewards(&self) -> &Arc<Known> {
        let known =
            || Arc::new(self.take_logged().into_iter().filter_map(StoredReward::into_known).collect());
        self.rewards.get_or_init(known)
    }

    fn results(&self) -> &FxHashMap<u128, Vec<f64>> {
        self.results.get_or_init(|| {
            let mut results: FxHashMap<u128, Vec<f64>> = FxHashMap::default();
            for row in self.take_logged() {
                let numbers = results.entry(u128::from_le_bytes(row.key)).or_default();
                if row.index as usize == numbers.len() {
                    numbers.push(row.value);
                }
            }
            results
        })
    }

    fn hash(&self, json: &str) -> u64 {
        let mut hash = Xxh3::new();
        [self.of.as_str(), "\n", json].iter().for_each(|part| hash.update(part.as_bytes()));
        hash.digest()
    }

    fn entry(&self, line: &str) -> Option<Entry> {
        let (hash, json) = line.split_once(' ')?;
        (u64::from_str_radix(hash, 16) == Ok(self.hash(json))).then(|| serde_json::from_str(json).ok())?
    }

    /// Adds a line to what is to be written.
    fn put(&self, writing: &mut Writing, entry: &Entry) {
        let (text, json) =
            (&mut writing.text, serde_json::to_string(entry).expect("an entry can be written"));
        // A line break first, in case the end of the last attempt to write is missing.
        write!(text, "\n{:016x} {json}\n", self.hash(&json)).expect("a string takes any text");
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
        if writing.rows.len() >= MOST_ROWS || writing.last.elapsed() >= INTERVAL {
            self.write(writing);
        }
    }

    /// Writes what is new. A failure is no reason to stop: the next time everything is tried again.
    fn write(&self, writing: &mut Writing) {
        if !writing.rows.is_empty() {
            let values = Entry::Values(digits(&writing.rows));
            writing.rows.clear();
            self.put(writing, &values);
        }
        if !writing.text.is_empty() {
            // Before it is: an attempt that fails may leave a part of it.
            writing.written = true;
            if self.files.append(&self.own, writing.text.as_bytes()).is_ok() {
                writing.text.clear();
            }
        }
        writing.last = Instant::now();
    }

    /// Notes a stage that was audited.
    pub(super) fn audited(&self, stage: &Audited) {
        if self.stage(&stage.name).is_none() {
            let mut writing = self.writing();
            self.put(&mut writing, &Entry::Stage(Box::new(stage.clone())));
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
        self.rewards().clone()
    }

    fn computed(&self, reward: RewardKey, value: f64) {
        if !self.rewards().contains_key(&reward) {
            self.add(std::iter::once(StoredReward::new(reward, value)));
        }
    }
}

impl ResultLog for Checkpoint<'_> {
    fn known(&self, key: u128) -> Option<Vec<f64>> {
        self.results().get(&key).cloned()
    }

    fn computed(&self, key: u128, numbers: &[f64]) {
        self.add(StoredReward::of_result(key, numbers));
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Disk, SimulatedMachine};
    use super::*;

    fn open<'a>(machine: &'a SimulatedMachine, earlier: Vec<String>) -> Checkpoint<'a> {
        Checkpoint::open(machine, "campaign", 7, earlier, &|| false)
    }

    fn logs(machine: &SimulatedMachine) -> Vec<String> {
        earlier(machine).unwrap().remove(&7).unwrap_or_default()
    }

    #[test]
    fn every_bit_of_a_value_survives_and_no_cut_goes_unnoticed() {
        let edge = |value| StoredReward { stage: u32::MAX, key: [255; 16], set: 255, index: u32::MAX, value };
        let key = std::array::from_fn(|place| place as u8);
        let values = [StoredReward { stage: 1, key, set: 2, index: 3, value: -0.0 }, edge(f64::NEG_INFINITY)];
        let text = digits(&values);
        assert_eq!((text.len(), rows(&text).unwrap()), (2 * DIGITS, values.into()));
        let nan = f64::from_bits(0xfff8_dead_beef_0001);
        assert_eq!(rows(&digits(&[edge(nan)])).unwrap()[0].value.to_bits(), nan.to_bits());
        assert!((1..text.len()).all(|length| length == DIGITS || rows(&text[..length]).is_none()));
        assert_eq!(rows(""), Some(vec![]));
    }

    #[test]
    fn many_values_are_written_before_the_time_has_come() {
        let disk = Disk::default();
        let machine = SimulatedMachine::new(&disk);
        let checkpoint = open(&machine, vec![]);
        let number = |key: u128| key as f64 / 3.0;
        (1..MOST_ROWS as u128).for_each(|key| ResultLog::computed(&checkpoint, key, &[number(key)]));
        assert!(logs(&machine).is_empty(), "not yet");
        ResultLog::computed(&checkpoint, 0, &[number(0), 0.5]);
        let again = open(&machine, logs(&machine));
        assert_eq!(ResultLog::known(&again, 0), Some(vec![0.0, 0.5]));
        assert!((1..MOST_ROWS as u128).all(|key| ResultLog::known(&again, key) == Some(vec![number(key)])));
    }

    #[test]
    fn what_was_written_in_part_is_removed_with_the_task() {
        let disk = Disk::default();
        let full = SimulatedMachine { full: 1.0, draws: vec![0.0].into(), ..SimulatedMachine::new(&disk) };
        let checkpoint = open(&full, vec![]);
        ResultLog::computed(&checkpoint, 1, &[0.5]);
        checkpoint.keep();
        let part = logs(&full);
        assert_eq!((part.len(), ResultLog::known(&open(&full, part), 1)), (1, None));
        checkpoint.discard();
        assert!(logs(&full).is_empty());
    }

    #[test]
    fn a_server_that_does_not_answer_at_once_loses_no_checkpoint() {
        let disk = Disk::default();
        let machine = SimulatedMachine::new(&disk);
        let checkpoint = open(&machine, vec![]);
        ResultLog::computed(&checkpoint, 1, &[0.5]);
        checkpoint.keep();
        let logs = logs(&machine);
        *machine.unread.lock().unwrap() = vec![Some(io::ErrorKind::StaleNetworkFileHandle); 3];
        assert_eq!(ResultLog::known(&open(&machine, logs), 1), Some(vec![0.5]));
    }
}
