//! Campaigns on a simulated file system that fails in the ways of real ones: processes are killed between any two operations
//! and in the middle of an appended line, quotas are full, and others see new files late.

use super::checkpoint;
use super::shared_folder::SharedFolder;
use super::testing::{Scratch, header, mixed_plan, small_curriculum, small_plan, small_sweep};
use super::*;
use crate::discovery::Approach;
use crate::experiment::{Monitor, SearchSettings, Sweep, audit_seeds, sweep};
use crate::rng::Stream;
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
struct Disk {
    files: Mutex<BTreeMap<String, (Vec<u8>, usize)>>,
    operations: AtomicUsize,
}

/// How a machine sees it.
struct Machine<'a> {
    disk: &'a Disk,
    /// Operations until its processes are killed.
    until_killed: AtomicUsize,
    /// The share of writes that fail because there is no space, and the draws that decide it.
    full: f64,
    draws: Mutex<Vec<f64>>,
    /// Files of others are seen after this many operations of anybody.
    lag: usize,
}

impl<'a> Machine<'a> {
    fn new(disk: &'a Disk) -> Machine<'a> {
        let until_killed = AtomicUsize::new(usize::MAX);
        Machine { disk, until_killed, full: 0.0, draws: Mutex::new(vec![]), lag: 0 }
    }

    fn killed_after(disk: &'a Disk, operations: usize) -> Machine<'a> {
        Machine { until_killed: AtomicUsize::new(operations), ..Machine::new(disk) }
    }

    /// Counts an operation; an error if the process was killed.
    fn operation(&self) -> io::Result<usize> {
        let one_less = |left: usize| left.checked_sub(1);
        let alive = self.until_killed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        alive.map_err(|_| io::Error::other("killed"))?;
        Ok(self.disk.operations.fetch_add(1, Ordering::SeqCst))
    }

    fn written(&self) -> io::Result<usize> {
        let now = self.operation()?;
        match self.draws.lock().unwrap().pop() {
            Some(draw) if draw < self.full => Err(io::ErrorKind::QuotaExceeded.into()),
            _ => Ok(now),
        }
    }

    fn sees(&self, made: usize) -> bool {
        made + self.lag <= self.disk.operations.load(Ordering::SeqCst)
    }
}

impl SharedFolder for Machine<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.operation()?;
        match self.disk.files.lock().unwrap().get(path) {
            Some((bytes, made)) if self.sees(*made) => Ok(bytes.clone()),
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
        self.operation()?;
        let prefix = format!("{folder}/");
        let files = self.disk.files.lock().unwrap();
        let seen = files.iter().filter(|(_, (_, made))| self.sees(*made));
        let below = seen.filter_map(|(path, _)| path.strip_prefix(&prefix)?.split('/').next());
        let mut names: Vec<String> = below.map(String::from).collect();
        names.dedup();
        Ok(names)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.operation()?;
        self.disk.files.lock().unwrap().remove(path);
        Ok(())
    }

    fn name(&self, path: &str) -> String {
        format!("simulated:{path}")
    }

    fn pause(&self, _: Duration) {}
}

/// Plans a campaign and hands all of it out, in chunks of a few tasks.
fn begin(disk: &Disk, plan: Plan, chunks: u64) {
    let machine = Machine::new(disk);
    let folder = CampaignFolder::create(&machine, plan).unwrap();
    hand_out(&folder, chunks).unwrap();
}

/// Hands out what is missing, as if nobody had anything in hand.
fn hand_out(folder: &CampaignFolder, chunks: u64) -> Option<Submission> {
    let (results, submissions) = (folder.results().unwrap(), folder.submissions().unwrap());
    let state = CampaignState::new(folder, &results, submissions, InFlight::default());
    let missing: TaskRanges = state.missing().into_iter().collect();
    let chunking = Chunking { most: u64::MAX, chunks: Some(chunks), seconds: None, threads: 1 };
    let (campaign, number) = (folder.manifest().id().to_string(), state.last_submission() + 1);
    let chunks = chunking.cut(&missing, |_| 1.0);
    let on =
        Computer::Slurm { arrays: Submission::arrays(&campaign, number, chunks.len() as u64, 2), threads: 1 };
    let submission = Submission { campaign, number, on, chunks };
    let handed_out = !missing.is_empty() && folder.submit(&submission).unwrap();
    handed_out.then_some(submission)
}

/// What a job does.
fn work(machine: &Machine, number: u64, chunk: u64, monitor: &dyn Monitor) -> Option<WorkerEnd> {
    let (folder, submission) = CampaignFolder::open_for_work(machine, number, monitor).ok()?;
    Worker::new(&folder, &submission, [chunk]).ok()?.run(1, monitor).ok()
}

/// Computes what is missing, without faults, until nothing is.
fn go_on(disk: &Disk) {
    let machine = Machine::new(disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    while let Some(submission) = hand_out(&folder, 2) {
        for chunk in 0..submission.chunks.len() as u64 {
            work(&machine, submission.number, chunk, &()).unwrap();
        }
    }
}

/// A run of a store, with all that does not depend on time, as text.
fn timeless(store: &Store) -> Vec<(String, String, Vec<Sample>)> {
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
fn collected(disk: &Disk, path: &Path) -> (Collected, Store) {
    let machine = Machine::new(disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let results = folder.results().unwrap();
    assert_eq!(verify(&folder, &results, &()).unwrap(), []);
    let mut store = Store::open(path).unwrap();
    (collect(&folder, &results, &mut store, &()).unwrap(), store)
}

/// The two sweeps of the mixed plan, as one machine computes them.
fn on_one_machine(path: &Path, seeds: u64) -> Store {
    let mut sweeps = [Method::Best, Method::Random]
        .map(|method| Sweep::new(small_curriculum(), SearchSettings::new(Approach::new(method)), 5, seeds));
    let mut store = Store::open(path).unwrap();
    assert!(sweep::run(&mut sweeps, &mut store, 2, &()).unwrap());
    store
}

#[test]
fn killed_after_any_operation_a_campaign_comes_to_what_one_machine_computes() {
    let scratch = Scratch::new("killed");
    let expected = timeless(&on_one_machine(&scratch.path().join("one.db"), 2));
    let audits = audit_seeds(&small_curriculum(), 0, 2, 100_000, &()).unwrap();
    let mut killed = 0;
    for operations in 0.. {
        let disk = Disk::default();
        begin(&disk, mixed_plan(2), 2);
        let machine = Machine::killed_after(&disk, operations);
        let ends: Vec<Option<WorkerEnd>> = (0..2).map(|chunk| work(&machine, 1, chunk, &())).collect();
        let survived = ends.iter().all(Option::is_some);
        killed += usize::from(!survived);
        go_on(&disk);
        let (found, store) = collected(&disk, &scratch.path().join(format!("{operations}.db")));
        assert_eq!((found.entered, found.present, found.missing, found.failed), (4, 0, 0, 0));
        assert_eq!(timeless(&store), expected);
        for audit in &found.audits {
            assert_eq!(audit.stages[0], audits[0].seeds[audit.seed as usize]);
        }
        assert_eq!(found.audits.len(), 2);
        if survived {
            break;
        }
    }
    assert!(killed >= 12, "every operation of the workers was one to be killed at, not {killed}");
}

/// Stops after some questions.
struct Patience(AtomicUsize);

impl Monitor for Patience {
    fn stopped(&self) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_task_that_is_interrupted_goes_on_from_its_checkpoint() {
    let scratch = Scratch::new("interrupted");
    let whole = Disk::default();
    begin(&whole, small_plan("one", 1), 1);
    go_on(&whole);
    let (_, expected) = collected(&whole, &scratch.path().join("whole.db"));
    let mut kept = 0;
    for questions in [1, 2, 3, 5, 9, 14, 20] {
        let disk = Disk::default();
        begin(&disk, small_plan("one", 1), 1);
        let machine = Machine::new(&disk);
        let end = work(&machine, 1, 0, &Patience(questions.into())).unwrap();
        let logged = checkpoint::earlier(&machine).unwrap();
        kept += logged.len();
        assert_eq!(end.computed + end.left, 1);
        if let Some(paths) = logged.get(&0) {
            let folder = CampaignFolder::open(&machine).unwrap();
            let again = checkpoint::Checkpoint::open(&machine, folder.manifest().id(), 0, paths.clone());
            assert!(!sweep::RewardLog::known(&again).is_empty());
            let foreign = checkpoint::Checkpoint::open(&machine, "another", 0, paths.clone());
            assert!(sweep::RewardLog::known(&foreign).is_empty(), "it is of this campaign alone");
            // A part of another line at the end, as after a kill.
            machine.append(&paths[0], b"\n0123456789abcdef {\"Values\":[[0,").unwrap();
        }
        go_on(&disk);
        assert!(checkpoint::earlier(&machine).unwrap().is_empty(), "it is removed with the task");
        let (found, store) = collected(&disk, &scratch.path().join(format!("{questions}.db")));
        assert_eq!((found.entered, timeless(&store)), (1, timeless(&expected)));
    }
    assert!(kept >= 3, "{kept} of these were interrupted in the middle of the task");
}

#[test]
fn machines_with_full_quotas_and_late_sight_that_work_at_the_same_time_lose_nothing() {
    let scratch = Scratch::new("faults");
    let expected = timeless(&on_one_machine(&scratch.path().join("one.db"), 3));
    for seed in 0..6 {
        let disk = Disk::default();
        begin(&disk, mixed_plan(3), 4);
        let machines: Vec<Machine> = (0..3)
            .map(|number| {
                let mut draws = Stream::new(seed).derive("machine", number).uniforms(1001);
                let until_killed = AtomicUsize::new(5 + (60.0 * draws.pop().unwrap()) as usize);
                let draws = Mutex::new(draws);
                Machine { until_killed, full: 0.3, draws, lag: 3 * number as usize, ..Machine::new(&disk) }
            })
            .collect();
        std::thread::scope(|scope| {
            for machine in &machines {
                // All of them compute everything: a node that was taken for dead may still work.
                scope.spawn(|| (0..4).for_each(|chunk| _ = work(machine, 1, chunk, &())));
            }
        });
        go_on(&disk);
        let (found, store) = collected(&disk, &scratch.path().join(format!("{seed}.db")));
        assert_eq!((found.entered, found.audits.len(), found.missing), (6, 2, 0));
        assert_eq!(timeless(&store), expected);
    }
}

#[test]
fn what_is_collected_again_is_there_and_what_differs_is_refused() {
    let scratch = Scratch::new("again");
    let disk = Disk::default();
    begin(&disk, mixed_plan(2), 1);
    let path = scratch.path().join("runs.db");
    {
        let machine = Machine::new(&disk);
        let folder = CampaignFolder::open(&machine).unwrap();
        let (results, mut store) = (folder.results().unwrap(), Store::open(&path).unwrap());
        let none = collect(&folder, &results, &mut store, &()).unwrap();
        assert_eq!((none.entered, none.missing), (0, 6), "before anything was computed");
    }
    go_on(&disk);
    assert_eq!((collected(&disk, &path).0.entered, collected(&disk, &path).0.present), (4, 4));
    // Into a store with the runs of one machine nothing enters.
    let one = scratch.path().join("one.db");
    drop(on_one_machine(&one, 2));
    let (found, store) = collected(&disk, &one);
    assert_eq!((found.entered, found.present), (0, 4));
    // The same run with another result.
    let machine = Machine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let kind = folder.results().unwrap().kind(0).unwrap();
    let Ok(TaskOutcome::Run(mut run)) = folder.result(0, kind).unwrap() else { panic!("a run") };
    run.record.cost.playouts += 1;
    machine.remove(&result_file::path_of(0, kind)).unwrap();
    folder.finish(0, &TaskOutcome::Run(run), &()).unwrap();
    let (results, mut store) = (folder.results().unwrap(), store);
    let error = collect(&folder, &results, &mut store, &()).unwrap_err();
    assert!(error.message().contains("has another result"), "{error}");
    assert_eq!(store.runs().unwrap().len(), 4);
}

#[test]
fn files_that_do_not_belong_there_are_named_and_set_aside() {
    let (disk, other) = (Disk::default(), Disk::default());
    begin(&disk, small_plan("one", 4), 1);
    begin(&other, small_plan("other", 4), 1);
    go_on(&disk);
    go_on(&other);
    let (machine, elsewhere) = (Machine::new(&disk), Machine::new(&other));
    let folder = CampaignFolder::open(&machine).unwrap();
    let path = |task| result_file::path_of(task, ResultKind::Found);
    let whole = machine.read(&path(0)).unwrap();
    machine.write(&path(0), &whole[..whole.len() / 2]).unwrap();
    machine.write(&path(1), &elsewhere.read(&path(1)).unwrap()).unwrap();
    machine.write(&path(7), &machine.read(&path(2)).unwrap()).unwrap();
    let failure = TaskOutcome::Failed(TaskFailure { reason: "no".into(), advice: None });
    folder.finish(3, &failure, &()).unwrap();
    machine.write("results/000000/notes.txt", b"mine").unwrap();
    let results = folder.results().unwrap();
    let faults = verify(&folder, &results, &()).unwrap();
    let foreign = Damage::Foreign(CampaignFolder::open(&elsewhere).unwrap().manifest().id().into());
    assert_eq!(
        faults,
        [
            (path(0), Damage::Changed),
            (path(1), foreign),
            (result_file::path_of(3, ResultKind::Failed), Damage::Double),
            (path(3), Damage::Double),
            (path(7), Damage::Unknown),
            ("results/000000/notes.txt".into(), Damage::Unknown),
        ]
    );
    folder.set_aside(&faults).unwrap();
    assert_eq!(machine.list("damaged").unwrap().len(), 6);
    go_on(&disk);
    assert_eq!(verify(&folder, &folder.results().unwrap(), &()).unwrap(), []);
    assert_eq!(folder.results().unwrap().of(ResultKind::Found).count(), 4);
}

#[test]
fn the_status_counts_every_task_once() {
    let disk = Disk::default();
    begin(&disk, mixed_plan(4), 5);
    let machine = Machine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let status = |in_flight: &InFlight| {
        let (results, submissions) = (folder.results().unwrap(), folder.submissions().unwrap());
        CampaignState::new(&folder, &results, submissions, in_flight.clone()).status().unwrap()
    };
    let chunk = |number: usize| folder.submissions().unwrap()[0].chunks[number].count();
    work(&machine, 1, 0, &()).unwrap();
    let failure =
        TaskOutcome::Failed(TaskFailure { reason: "no memory".into(), advice: Some("more".into()) });
    folder.finish(9, &failure, &()).unwrap();
    let chunks = vec![(1, 1, ChunkState::Running), (1, 2, ChunkState::Waiting)];
    let all = status(&InFlight { chunks, notes: vec![] });
    let counts = all.counts;
    assert_eq!((counts.tasks, counts.done, counts.failed), (10, chunk(0), 1));
    assert_eq!((counts.running, counts.waiting), (chunk(1), chunk(2)));
    assert_eq!(counts.done + counts.running + counts.waiting + counts.failed + counts.lost, 10);
    assert!(all.seconds_left.unwrap() > 0.0 && !all.complete);
    assert_eq!((all.failures.len(), &*all.failures[0].reason, all.failures[0].task), (1, "no memory", 9));
    assert_eq!(all.searches.iter().map(|search| search.counts.tasks).collect::<Vec<_>>(), [4, 4, 2]);
    assert_eq!(status(&InFlight::default()).counts.lost, 10 - chunk(0) - 1);
    assert_eq!(status(&InFlight::default()).seconds_left, None, "nobody works");
    go_on(&disk);
    assert_eq!(status(&InFlight::default()).counts.failed, 1, "what has failed would fail again");
    let mut results = folder.results().unwrap();
    assert_eq!(folder.forget_failures(&mut results).unwrap(), 1);
    go_on(&disk);
    let all = status(&InFlight::default());
    assert!(all.complete && all.failures.is_empty());
    assert_eq!(
        all.searches[0].interval,
        Some(crate::statistics::Rate { successes: 4, trials: 4 }.interval())
    );
}

#[test]
fn a_worker_of_another_build_is_refused() {
    let disk = Disk::default();
    let machine = Machine::new(&disk);
    let mut other = header("other");
    other.build.digest = Some("0123456789abcdef".into());
    let mut plan = Plan::new(other);
    plan.add(0, 3, [(small_sweep(Method::Best), 1.0)]).unwrap();
    let folder = CampaignFolder::create(&machine, plan).unwrap();
    let submission = hand_out(&folder, 1).unwrap();
    let error = Worker::new(&folder, &submission, [0]).err().unwrap();
    assert!(error.message().contains("0123456789abcdef"), "{error}");
    assert!(folder.results().unwrap().of(ResultKind::Found).next().is_none());
    assert!(Worker::new(&folder, &submission, [9]).is_err(), "there is no such chunk");
}

#[test]
fn a_manifest_is_read_as_it_was_written_and_no_change_goes_unnoticed() {
    let disk = Disk::default();
    begin(&disk, mixed_plan(3), 1);
    let machine = Machine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let manifest = folder.manifest();
    assert_eq!((manifest.tasks(), manifest.searches()), (8, 3));
    let seeds: Vec<(usize, u64)> =
        (0..8).map(|task| (manifest.task(task).search, manifest.task(task).seed)).collect();
    assert_eq!(seeds, [(0, 5), (1, 5), (0, 6), (1, 6), (0, 7), (1, 7), (2, 0), (2, 1)]);
    assert_eq!(manifest.describe(3), "sweep small · random · seed 6");
    assert!((manifest.total_seconds() - 0.26).abs() < 1e-12);
    let again = CampaignFolder::create(&machine, mixed_plan(3)).err().unwrap();
    assert!(again.message().contains("has a campaign already"), "{again}");
    let text = String::from_utf8(machine.read("manifest.jsonl").unwrap()).unwrap();
    for at in (0..text.len()).step_by(7) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'3' { b'4' } else { b'3' };
        let error = Manifest::parse(&String::from_utf8_lossy(&bytes)).err().unwrap();
        assert!(error.message().contains("is damaged"), "{error}");
        assert!(Manifest::parse(&text[..at]).is_err(), "cut off after {at}");
    }
}

#[test]
fn a_search_is_asked_for_once() {
    let mut plan = small_plan("one", 10);
    let again = |plan: &mut Plan, first, seeds| plan.add(first, seeds, [(small_sweep(Method::Best), 1.0)]);
    assert!(again(&mut plan, 9, 1).unwrap_err().message().contains("twice"));
    again(&mut plan, 10, 5).unwrap();
    let twice = [small_sweep(Method::Random), small_sweep(Method::Random)].map(|search| (search, 1.0));
    assert!(plan.add(0, 1, twice).is_err());
    assert!(Plan::new(header("none")).finish().unwrap_err().message().contains("no tasks"));
}
