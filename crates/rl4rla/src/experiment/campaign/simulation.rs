//! Campaigns on a simulated file system that fails in the ways of real ones.

use super::checkpoint;
use super::shared_folder::SharedFolder;
use super::simulated::{
    Disk, SimulatedMachine, StopsAfter, begin, collected, go_on, hand_out, on_one_machine, timeless, work,
};
use super::testing::{ScratchFolder, header, mixed_plan, small_curriculum, small_plan, small_sweep};
use super::*;
use crate::experiment::{audit_seeds, sweep};
use crate::rng::Stream;
use crate::search::Method;
use crate::store::Store;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

#[test]
fn killed_after_any_operation_a_campaign_comes_to_what_one_machine_computes() {
    let scratch = ScratchFolder::new("killed");
    let expected = timeless(&on_one_machine(&scratch.path().join("one.db"), 2));
    let audits = audit_seeds(&small_curriculum(), 0, 2, 100_000, &()).unwrap();
    let mut killed = 0;
    for operations in 0.. {
        let disk = Disk::default();
        begin(&disk, mixed_plan(2), 2);
        let machine = SimulatedMachine::killed_after(&disk, operations);
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

#[test]
fn a_task_that_is_interrupted_goes_on_from_its_checkpoint() {
    let scratch = ScratchFolder::new("interrupted");
    let whole = Disk::default();
    begin(&whole, small_plan("one", 1), 1);
    go_on(&whole);
    let (_, expected) = collected(&whole, &scratch.path().join("whole.db"));
    let mut kept = 0;
    for questions in [1, 2, 3, 5, 9, 14, 20] {
        let disk = Disk::default();
        begin(&disk, small_plan("one", 1), 1);
        let machine = SimulatedMachine::new(&disk);
        let end = work(&machine, 1, 0, &StopsAfter(questions.into())).unwrap();
        let logged = checkpoint::earlier(&machine).unwrap();
        kept += logged.len();
        assert_eq!(end.computed + end.left, 1);
        if let Some(paths) = logged.get(&0) {
            let folder = CampaignFolder::open(&machine).unwrap();
            let again =
                checkpoint::Checkpoint::open(&machine, folder.manifest().id(), 0, paths.clone(), &|| false);
            assert!(!sweep::RewardLog::known(&again).is_empty());
            let foreign = checkpoint::Checkpoint::open(&machine, "another", 0, paths.clone(), &|| false);
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
    let scratch = ScratchFolder::new("faults");
    let expected = timeless(&on_one_machine(&scratch.path().join("one.db"), 3));
    for seed in 0..6 {
        let disk = Disk::default();
        begin(&disk, mixed_plan(3), 4);
        let machines: Vec<SimulatedMachine> = (0..3)
            .map(|number| {
                let mut draws = Stream::new(seed).derive("machine", number).uniforms(1001);
                let until_killed = AtomicUsize::new(5 + (60.0 * draws.pop().unwrap()) as usize);
                let draws = Mutex::new(draws);
                SimulatedMachine {
                    until_killed,
                    full: 0.3,
                    draws,
                    lag: 3 * number as usize,
                    ..SimulatedMachine::new(&disk)
                }
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
    let scratch = ScratchFolder::new("again");
    let disk = Disk::default();
    begin(&disk, mixed_plan(2), 1);
    let path = scratch.path().join("runs.db");
    {
        let machine = SimulatedMachine::new(&disk);
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
    let machine = SimulatedMachine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let kind = folder.results().unwrap().kind(0).unwrap();
    let Some(Ok(TaskOutcome::Run(mut run))) = folder.result(0, kind).unwrap() else { panic!("a run") };
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
    let (machine, elsewhere) = (SimulatedMachine::new(&disk), SimulatedMachine::new(&other));
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
    let machine = SimulatedMachine::new(&disk);
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
    let failed = folder.results().unwrap().without_failures();
    assert_eq!(failed, [9]);
    folder.remove_failures(&failed).unwrap();
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
    let machine = SimulatedMachine::new(&disk);
    let mut other = header("other");
    other.build.digest = Some("0123456789abcdef".into());
    let mut plan = CampaignPlan::new(other);
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
    let machine = SimulatedMachine::new(&disk);
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
    let again =
        |plan: &mut CampaignPlan, first, seeds| plan.add(first, seeds, [(small_sweep(Method::Best), 1.0)]);
    assert!(again(&mut plan, 9, 1).unwrap_err().message().contains("twice"));
    again(&mut plan, 10, 5).unwrap();
    let twice = [small_sweep(Method::Random), small_sweep(Method::Random)].map(|search| (search, 1.0));
    assert!(plan.add(0, 1, twice).is_err());
    assert!(CampaignPlan::new(header("none")).finish().unwrap_err().message().contains("no tasks"));
}
