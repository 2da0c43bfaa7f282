//! Test fixtures: a simulated file system that fails in the ways of real ones. Processes are killed between any two operations
//! and in the middle of an appended line, quotas are full, and others see new files late.

use super::shared_folder::SharedFolder;
use super::testing::{small_curriculum, submission};
use super::*;
use crate::discovery::Approach;
use crate::experiment::{Monitor, SearchSettings, Sweep, sweep};
use crate::search::Method;
use crate::store::{Sample, Store};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What the server of the file system has: for each file its content and the operation that made it.
#[derive(Default)]
pub struct Disk {
    files: Mutex<BTreeMap<String, (Vec<u8>, usize)>>,
    operations: AtomicUsize,
}

/// How a machine sees it.
pub struct SimulatedMachine<'a> {
    pub disk: &'a Disk,
    /// Operations until its processes are killed.
    pub until_killed: AtomicUsize,
    /// The share of writes that fail because there is no space, and the draws that decide it.
    pub full: f64,
    pub draws: Mutex<Vec<f64>>,
    /// Files of others are seen after this many operations of anybody.
    pub lag: usize,
    /// Errors of the next operations that read, if they have any, the last one first.
    pub unread: Mutex<Vec<Option<io::ErrorKind>>>,
    /// Files as they are after a pause.
    pub arriving: Mutex<Vec<(String, Vec<u8>)>>,
    /// Milliseconds that were waited.
    pub waited: AtomicUsize,
}

impl<'a> SimulatedMachine<'a> {
    pub fn new(disk: &'a Disk) -> SimulatedMachine<'a> {
        let until_killed = AtomicUsize::new(usize::MAX);
        let (draws, unread, arriving, waited) = Default::default();
        SimulatedMachine { disk, until_killed, full: 0.0, draws, lag: 0, unread, arriving, waited }
    }

    pub fn killed_after(disk: &'a Disk, operations: usize) -> SimulatedMachine<'a> {
        SimulatedMachine { until_killed: AtomicUsize::new(operations), ..SimulatedMachine::new(disk) }
    }

    /// Counts an operation; an error if the process was killed.
    fn operation(&self) -> io::Result<usize> {
        let one_less = |left: usize| left.checked_sub(1);
        let alive = self.until_killed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        alive.map_err(|_| io::Error::other("killed"))?;
        Ok(self.disk.operations.fetch_add(1, Ordering::SeqCst))
    }

    /// The same for one that reads.
    fn seen(&self) -> io::Result<()> {
        self.operation()?;
        self.unread.lock().unwrap().pop().flatten().map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn written(&self) -> io::Result<usize> {
        let now = self.operation()?;
        match self.draws.lock().unwrap().pop() {
            Some(draw) if draw < self.full => Err(io::ErrorKind::QuotaExceeded.into()),
            _ => Ok(now),
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.disk.files.lock().unwrap().keys().any(|file| file.starts_with(&prefix))
    }

    fn sees(&self, made: usize) -> bool {
        made + self.lag <= self.disk.operations.load(Ordering::SeqCst)
    }
}

impl SharedFolder for SimulatedMachine<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.seen()?;
        let file = self.disk.files.lock().unwrap().get(path).cloned();
        match file {
            Some((bytes, made)) if self.sees(made) => Ok(bytes),
            _ if self.is_folder(path) => Err(io::ErrorKind::IsADirectory.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let now = self.written()?;
        self.disk.files.lock().unwrap().insert(path.into(), (bytes.into(), now));
        Ok(())
    }

    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let now = self.written()?;
        // The server knows, however late others see it.
        let mut files = self.disk.files.lock().unwrap();
        if files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        files.insert(path.into(), (bytes.into(), now));
        Ok(())
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let done = self.written();
        let mut files = self.disk.files.lock().unwrap();
        let file = files.entry(path.into()).or_default();
        // A part may be there all the same.
        file.0.extend_from_slice(&bytes[..if done.is_ok() { bytes.len() } else { bytes.len() / 2 }]);
        done.map(drop)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.seen()?;
        let prefix = format!("{folder}/");
        let files = self.disk.files.lock().unwrap();
        let seen = files.iter().filter(|(_, (_, made))| self.sees(*made));
        let below = seen.filter_map(|(path, _)| path.strip_prefix(&prefix)?.split('/').next());
        let mut names: Vec<String> = below.map(String::from).collect();
        names.dedup();
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let now = self.written()?;
        let mut files = self.disk.files.lock().unwrap();
        let prefix = format!("{from}/");
        let moved = |path: &String| path == from || path.starts_with(&prefix);
        let paths: Vec<String> = files.keys().filter(|path| moved(path)).cloned().collect();
        for path in &paths {
            let (bytes, _) = files.remove(path).unwrap();
            files.insert(path.replacen(from, to, 1), (bytes, now));
        }
        if paths.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.operation()?;
        self.disk.files.lock().unwrap().remove(path);
        Ok(())
    }

    fn name(&self, path: &str) -> String {
        format!("simulated:{path}")
    }

    fn pause(&self, duration: Duration) {
        for (path, bytes) in self.arriving.lock().unwrap().drain(..) {
            self.disk.files.lock().unwrap().insert(path, (bytes, 0));
        }
        self.waited.fetch_add(duration.as_millis() as usize, Ordering::SeqCst);
    }
}

/// Plans a campaign and hands all of it out, in chunks of a few tasks.
pub fn begin(disk: &Disk, plan: CampaignPlan, chunks: u64) {
    let machine = SimulatedMachine::new(disk);
    let folder = CampaignFolder::create(&machine, plan).unwrap();
    hand_out(&folder, chunks).unwrap();
}

/// Hands out what is missing, as if nobody had anything in hand.
pub fn hand_out(folder: &CampaignFolder, chunks: u64) -> Option<Submission> {
    let (results, submissions) = (folder.results().unwrap(), folder.submissions().unwrap());
    let state = CampaignState::new(folder, &results, submissions, InFlight::default());
    let missing: TaskRanges = state.missing().into_iter().collect();
    let (most, longest) = (u64::MAX, f64::INFINITY);
    let chunking = Chunking { most, chunks: Some(chunks), seconds: None, longest, threads: 1 };
    let number = state.next_submission();
    let chunks = chunking.cut(&missing, |_| 1.0);
    let arrays = Submission::arrays(folder, number, chunks.len() as u64, 2);
    let submission = submission(folder, number, Computer::Slurm(arrays), chunks);
    let handed_out = !missing.is_empty() && folder.submit(&submission).unwrap();
    handed_out.then_some(submission)
}

/// What a job does.
pub fn work(machine: &SimulatedMachine, number: u64, chunk: u64, monitor: &dyn Monitor) -> Option<WorkerEnd> {
    let (folder, submission) = CampaignFolder::open_for_work(machine, number, monitor).ok()?;
    Worker::new(&folder, &submission, [chunk]).ok()?.run(1, monitor).ok()
}

/// Computes what is missing, without faults, until nothing is.
pub fn go_on(disk: &Disk) {
    let machine = SimulatedMachine::new(disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    while let Some(submission) = hand_out(&folder, 2) {
        for chunk in 0..submission.chunks.len() as u64 {
            work(&machine, submission.number, chunk, &()).unwrap();
        }
    }
}

/// A run of a store, with all that does not depend on time, as text.
pub fn timeless(store: &Store) -> Vec<(String, String, Vec<Sample>)> {
    let run = |row: &crate::store::RunRow| {
        let run = store.run(&row.id).unwrap();
        let mut record = serde_json::to_value(run.result.unwrap().unwrap()).unwrap();
        record["seconds"] = 0.into();
        record["stages"].as_array_mut().unwrap().iter_mut().for_each(|stage| stage["seconds"] = 0.into());
        let keys = format!("{} {} {} {} {}", row.curriculum, row.method, row.seed, run.spec, run.settings);
        (format!("{} {keys}", row.id), record.to_string(), store.samples(&row.id).unwrap())
    };
    let mut runs: Vec<_> = store.runs().unwrap().iter().map(run).collect();
    runs.sort_by(|a, b| a.0.cmp(&b.0));
    runs
}

/// The results of the campaign in a new store.
pub fn collected(disk: &Disk, path: &Path) -> (Collected, Store) {
    let machine = SimulatedMachine::new(disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let results = folder.results().unwrap();
    assert_eq!(verify(&folder, &results, &()).unwrap(), []);
    let mut store = Store::open(path).unwrap();
    (collect(&folder, &results, &mut store, &()).unwrap(), store)
}

/// The two sweeps of the mixed plan, as one machine computes them.
pub fn on_one_machine(path: &Path, seeds: u64) -> Store {
    let mut sweeps = [Method::Best, Method::Random]
        .map(|method| Sweep::new(small_curriculum(), SearchSettings::new(Approach::new(method)), 5, seeds));
    let mut store = Store::open(path).unwrap();
    assert!(sweep::run(&mut sweeps, &mut store, 2, &()).unwrap());
    store
}

/// Stops after some questions.
pub struct StopsAfter(pub AtomicUsize);

impl Monitor for StopsAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}
