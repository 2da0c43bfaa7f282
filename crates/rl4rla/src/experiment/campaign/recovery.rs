//! Tests of what a campaign recovers from: servers that do not answer, files that are gone, late or damaged, and tasks that
//! cannot be computed.

use super::checkpoint;
use super::folder::{CampaignFolder, pauses};
use super::shared_folder::{SharedFolder, patiently};
use super::simulated::{Disk, SimulatedMachine, StopsAfter, begin, collected, go_on, hand_out, work};
use super::testing::{
    ScratchFolder, alone, header, mixed_plan, small_curriculum, small_plan, small_sweep, unknown_family,
};
use super::*;
use crate::curriculum::Curriculum;
use crate::experiment::{Sweep, sweep};
use crate::search::Method;
use crate::store::Store;
use std::io;
use std::sync::atomic::Ordering;

#[test]
fn who_waits_looks_whether_to_stop() {
    let disk = Disk::default();
    let machine = SimulatedMachine::new(&disk);
    let absent = || machine.read("absent");
    let stopped = || machine.waited.load(Ordering::SeqCst) >= 15_000;
    patiently(&machine, &pauses(), true, &stopped, absent).unwrap_err();
    assert_eq!(machine.waited.load(Ordering::SeqCst), 15_000, "which is the end of no pause");
    patiently(&machine, &pauses(), true, &|| false, absent).unwrap_err();
    assert_eq!(machine.waited.load(Ordering::SeqCst), 375_000, "six minutes more");
}

#[test]
fn a_worker_begins_although_a_server_does_not_answer_at_once() {
    for answered in 0..8 {
        let disk = Disk::default();
        begin(&disk, small_plan("one", 2), 1);
        let machine = SimulatedMachine::new(&disk);
        let mut errors = vec![None; answered];
        errors.insert(0, Some(io::ErrorKind::TimedOut));
        *machine.unread.lock().unwrap() = errors;
        let end = work(&machine, 1, 0, &()).expect("it has waited");
        assert_eq!(end.computed, 2, "after {answered} answers");
    }
}

#[test]
fn half_a_submission_is_waited_for_and_a_foreign_one_is_not() {
    let disk = Disk::default();
    begin(&disk, small_plan("one", 2), 1);
    let machine = SimulatedMachine::new(&disk);
    let path = "submissions/0001.json";
    let whole = machine.read(path).unwrap();
    for half in [0, whole.len() / 2, whole.len() - 1] {
        machine.write(path, &whole[..half]).unwrap();
        machine.arriving.lock().unwrap().push((path.into(), whole.clone()));
        CampaignFolder::open_for_work(&machine, 1, &()).unwrap();
    }
    machine
        .write(path, String::from_utf8_lossy(&whole).replace("campaign\":\"", "campaign\":\"x").as_bytes())
        .unwrap();
    let waited = machine.waited.load(Ordering::SeqCst);
    let error = CampaignFolder::open_for_work(&machine, 1, &()).err().unwrap();
    assert!(error.message().contains("it is of the campaign x"), "{error}");
    assert_eq!(machine.waited.load(Ordering::SeqCst), waited);
}

#[test]
fn a_result_that_is_gone_when_it_is_read_is_none() {
    let scratch = ScratchFolder::new("gone");
    let disk = Disk::default();
    begin(&disk, small_plan("one", 3), 1);
    go_on(&disk);
    let machine = SimulatedMachine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let path = result_file::path_of(0, folder.results().unwrap().kind(0).unwrap());
    machine.remove(&path).unwrap();
    let failure = TaskOutcome::Failed(TaskFailure { reason: "no".into(), advice: None });
    assert_eq!(folder.finish(0, &failure, &()).unwrap(), ResultKind::Failed);
    let results = folder.results().unwrap();
    for task in 0..2 {
        machine.remove(&result_file::path_of(task, results.kind(task).unwrap())).unwrap();
    }
    assert_eq!(verify(&folder, &results, &()).unwrap(), []);
    task_seconds(&folder, &results).unwrap();
    let state = CampaignState::new(&folder, &results, folder.submissions().unwrap(), InFlight::default());
    assert_eq!(state.status().unwrap().failures, []);
    let mut store = Store::open(&scratch.path().join("runs.db")).unwrap();
    let found = collect(&folder, &results, &mut store, &()).unwrap();
    assert_eq!((found.entered, found.missing, found.failed), (1, 2, 0));
}

#[test]
fn a_task_that_fails_keeps_its_checkpoints() {
    let disk = Disk::default();
    let mut plan = CampaignPlan::new(header("failing"));
    plan.add(0, 1, [(unknown_family(), 1.0)]).unwrap();
    begin(&disk, plan, 1);
    let machine = SimulatedMachine::new(&disk);
    machine.append("checkpoints/000000000.earlier", b"what an earlier attempt has computed").unwrap();
    assert_eq!(work(&machine, 1, 0, &()).unwrap().failed, 1);
    assert_eq!(machine.list("checkpoints").unwrap(), ["000000000.earlier"]);
}

#[test]
fn a_run_whose_times_matter_does_not_go_on_from_a_checkpoint() {
    let mut interrupted = 0;
    for questions in [3, 5, 9, 14, 20] {
        let disk = Disk::default();
        let mut plan = CampaignPlan::new(header("alone"));
        plan.add(0, 1, [(alone(Method::Best), 1.0)]).unwrap();
        begin(&disk, plan, 1);
        let machine = SimulatedMachine::new(&disk);
        interrupted += work(&machine, 1, 0, &StopsAfter(questions.into())).unwrap().left;
        assert!(checkpoint::earlier(&machine).unwrap().is_empty());
    }
    assert!(interrupted >= 3, "{interrupted} of these were interrupted in the middle of the task");
}

#[test]
fn a_search_that_cannot_be_read_fails_its_tasks_alone() {
    let scratch = ScratchFolder::new("unreadable");
    let disk = Disk::default();
    let mut plan = small_plan("one", 2);
    let curriculum = Curriculum { text: "no curriculum".into(), ..small_curriculum() };
    let audit = AuditSettings { curriculum, hints: true, typed: false, budget: 10 };
    plan.add(0, 2, [(CampaignSearch::Audit(Box::new(audit)), 1.0)]).unwrap();
    begin(&disk, plan, 1);
    let machine = SimulatedMachine::new(&disk);
    let end = work(&machine, 1, 0, &()).expect("other tasks go on");
    assert_eq!((end.computed, end.failed, end.left), (4, 2, 0));
    let (found, _) = collected(&disk, &scratch.path().join("runs.db"));
    assert_eq!((found.entered, found.failed), (2, 2));
}

#[test]
fn a_run_of_a_sweep_counts_as_there_where_a_sweep_would_recall_it() {
    let scratch = ScratchFolder::new("alone");
    let computed = |of: fn(Method) -> CampaignSearch| {
        let disk = Disk::default();
        let mut plan = CampaignPlan::new(header("runs"));
        plan.add(0, 2, [(of(Method::Best), 1.0)]).unwrap();
        begin(&disk, plan, 1);
        go_on(&disk);
        disk
    };
    let (shared, own) = (computed(small_sweep), computed(alone));
    let path = scratch.path().join("alone.db");
    assert_eq!(collected(&own, &path).0.entered, 2);
    assert_eq!(collected(&shared, &path).0.present, 2, "their times do not matter");
    let path = scratch.path().join("shared.db");
    assert_eq!(collected(&shared, &path).0.entered, 2);
    assert_eq!(collected(&own, &path).0.entered, 2, "their times matter");
    assert_eq!(collected(&own, &path).0.present, 2);
    // One machine has nothing left to compute.
    let CampaignSearch::Sweep(search) = alone(Method::Best) else { panic!("a sweep") };
    let mut sweeps = [Sweep { results: vec![None; 2], ..*search }];
    sweep::recall(&Store::open(&path).unwrap(), &mut sweeps).unwrap();
    assert_eq!(sweeps[0].done().count(), 2);
}

#[test]
fn a_folder_among_the_results_and_the_same_damage_again_are_set_aside() {
    let disk = Disk::default();
    begin(&disk, small_plan("one", 3), 1);
    go_on(&disk);
    let machine = SimulatedMachine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let path = |task| result_file::path_of(task, ResultKind::Found);
    machine.remove(&path(0)).unwrap();
    machine.write(&format!("{}/notes.txt", path(0)), b"in a folder").unwrap();
    let damage = || machine.write(&path(1), b"damaged").unwrap();
    let faults = || verify(&folder, &folder.results().unwrap(), &()).unwrap();
    damage();
    let first = faults();
    let a_folder = Damage::Unreadable("it is a folder".into());
    assert_eq!(first, [(path(0), a_folder), (path(1), Damage::Changed)]);
    // The disk is full for the first; the other one is moved all the same.
    let full = SimulatedMachine { full: 1.0, draws: vec![0.0].into(), ..SimulatedMachine::new(&disk) };
    CampaignFolder::open(&full).unwrap().set_aside(&first).unwrap_err();
    assert_eq!(faults().len(), 1);
    damage();
    folder.set_aside(&faults()).unwrap();
    assert_eq!((machine.list("damaged").unwrap().len(), faults()), (3, vec![]));
    folder.set_aside(&first).unwrap();
    go_on(&disk);
    assert_eq!(folder.results().unwrap().of(ResultKind::Found).count(), 3);
}

#[test]
fn of_several_results_of_a_task_each_is_named_once() {
    let disk = Disk::default();
    begin(&disk, small_plan("one", 2), 1);
    let machine = SimulatedMachine::new(&disk);
    for kind in ResultKind::ALL {
        machine.write(&result_file::path_of(1, kind), b"").unwrap();
    }
    let folder = CampaignFolder::open(&machine).unwrap();
    let results = folder.results().unwrap();
    let mut named: Vec<&String> = results.faults().iter().map(|(path, _)| path).collect();
    named.sort();
    assert_eq!(
        named,
        ["failed", "found", "missed"].map(|kind| format!("results/000000/000000001.{kind}.json")).each_ref()
    );
    assert_eq!(verify(&folder, &results, &()).unwrap().len(), 3);
}

#[test]
fn submissions_are_in_the_order_of_their_numbers() {
    let disk = Disk::default();
    begin(&disk, mixed_plan(2), 2);
    let machine = SimulatedMachine::new(&disk);
    let folder = CampaignFolder::open(&machine).unwrap();
    let first = folder.submissions().unwrap().remove(0);
    for number in [9999, 10_000, 2] {
        assert!(folder.submit(&Submission { number, ..first.clone() }).unwrap());
    }
    let text = machine.read("submissions/0001.json").unwrap();
    for name in ["1", "+001", "00001", "notes"] {
        machine.write(&format!("submissions/{name}.json"), &text).unwrap();
    }
    let mut submissions = folder.submissions().unwrap();
    let numbers: Vec<u64> = submissions.iter().map(|submission| submission.number).collect();
    assert_eq!(numbers, [1, 2, 9999, 10_000]);
    submissions.reverse();
    let results = folder.results().unwrap();
    let state = CampaignState::new(&folder, &results, submissions, InFlight::default());
    assert_eq!(state.next_submission(), 10_001);
    assert_eq!(hand_out(&folder, 2).unwrap().number, 10_001);
}

#[test]
fn a_submission_with_impossible_tasks_is_refused() {
    let (manifest, _) = mixed_plan(2).finish().unwrap();
    let parse = |number: u64, chunks: &str| {
        let text = format!(
            r#"{{"campaign":"{}","number":{number},"process":{{"host":"h","id":1,"started":null}},"threads":1,"on":"local",
                "chunks":{chunks}}}"#,
            manifest.id()
        );
        Submission::parse(number, text.as_bytes(), &manifest)
    };
    parse(1, "[[[0,2],[3,1]],[[2,1]],[[4,2]]]").unwrap();
    for chunks in
        ["[[[0,7]]]", "[[[6,1]]]", "[[[1,0]]]", "[[[2,1],[0,1]]]", "[[[0,2],[1,1]]]", "[[[0,6]],[[0,1]]]"]
    {
        let error = parse(1, chunks).unwrap_err();
        assert!(error.message().contains("is damaged"), "{chunks}: {error}");
    }
    assert!(parse(1, &format!("[[[{},2]]]", u64::MAX)).is_err());
    assert!(parse(0, "[[[0,2]]]").unwrap_err().message().contains("from 1"));
    let folder = Disk::default();
    begin(&folder, mixed_plan(2), 3);
    let machine = SimulatedMachine::new(&folder);
    let path = Submission::path(1);
    let text = String::from_utf8(machine.read(&path).unwrap()).unwrap();
    let (manifest, _) = mixed_plan(2).finish().unwrap();
    let parse = |text: &str| Submission::parse(1, text.as_bytes(), &manifest);
    parse(&text).unwrap();
    for (whole, other) in [
        ("\"id\":1,", "\"id\":0,"),
        ("\"id\":1,", "\"id\":4294967295,"),
        ("\"threads\":1,", "\"threads\":0,"),
        ("\"first\":0,", "\"first\":1,"),
        ("\"first\":2,", "\"first\":1,"),
        ("\"chunks\":2}", "\"chunks\":0}"),
        ("\"chunks\":1}", "\"chunks\":9}"),
    ] {
        assert!(text.contains(whole), "{text}");
        let error = parse(&text.replacen(whole, other, 1)).unwrap_err();
        assert!(error.message().contains("is damaged"), "{other}: {error}");
    }
}
