use super::testing::{Folder, evaluation, new_run, record, stage};
use super::*;
use std::process::Command;

#[test]
fn readers_look_on_while_there_are_writers() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut reader = Store::open_read_only(&path).unwrap();
    let run = store.begin(&new_run()).unwrap();
    store.append(&run, &[evaluation(0)]).unwrap();
    store.flush().unwrap();
    assert_eq!(reader.evaluations(&run).unwrap(), [evaluation(0)]);
    let refused = Err(StoreError::ReadOnly { path: path.clone() });
    assert_eq!(reader.append(&run, &[evaluation(1)]), refused);
    assert_eq!(reader.begin(&new_run()).map(drop), refused);
    drop(store);
    Store::open(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_meets_the_same_lock() {
    let folder = Folder::new();
    let (path, link) = (folder.file("runs.db"), folder.file("link.db"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(matches!(Lock::alone(Store::open(&link).unwrap().path()), Err(StoreError::Held { .. })));
    drop(store);
    assert_eq!(Store::open(&link).unwrap().path(), path);
    std::fs::remove_file(&path).unwrap();
    let told = Store::open(&link).unwrap_err().to_string();
    assert!(told.contains("link to") && told.contains("runs.db`, which does not exist"), "{told}");
}

#[test]
fn what_is_done_together_is_there_as_a_whole_or_not_at_all() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let mut store = Store::open(&path).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    let mut attempt = |fails: bool| {
        store.together(|store| {
            let run = store.begin(&new_run())?;
            store.append(&run, &[evaluation(0)])?;
            store.finish_stage(&run, 0, &stage("a"))?;
            store.finish(&run, &record())?;
            assert_eq!(store.runs()?.len(), 1);
            assert_eq!(reader.runs()?.len(), 0, "nobody else sees it yet");
            if fails { Err(StoreError::Busy { path: path.clone() }) } else { Ok(run) }
        })
    };
    attempt(true).unwrap_err();
    let run = attempt(false).unwrap();
    store.integrity().unwrap();
    assert_eq!((reader.runs().unwrap().len(), reader.evaluations(&run).unwrap().len()), (1, 1));
}

const CHILD: &str = "RL4RLA_TEST_STORE";

/// The process that is killed in the next test.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let run = store.begin(&new_run()).unwrap();
    store.append(&run, &[evaluation(0), evaluation(1)]).unwrap();
    store.flush().unwrap();
    store.buffer.interval = std::time::Duration::MAX;
    store.append(&run, &[evaluation(2)]).unwrap();
    std::process::abort();
}

#[test]
fn a_dead_process_leaves_what_it_committed_and_no_lock() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "store::tests::child"]).env(CHILD, &path);
    // Another writer lives on and is not taken for the dead one.
    let mut alive = Store::open(&path).unwrap();
    let going = alive.begin(&NewRun { seed: 8, ..new_run() }).unwrap();
    let output = command.output().unwrap();
    assert!(!output.status.success() && path.exists(), "{output:?}");
    let reader = Store::open_read_only(&path).unwrap();
    let run = reader.runs().unwrap().remove(1);
    let files = || -> Vec<String> {
        let names = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name.contains(".run-")).collect()
    };
    let lock = |run: &RunId| format!("runs.db.run-{run}");
    assert_eq!((run.status, files().len()), (Status::Interrupted, 2));
    let mut store = Store::open(&path).unwrap();
    assert_eq!(files(), [lock(&going)], "that of the dead is cleared away");
    store.integrity().unwrap();
    let rows = store.runs().unwrap();
    assert_eq!((rows[0].status, rows[1].status), (Status::Running, Status::Interrupted));
    assert_eq!(rows[1].evaluations, 2);
    assert_eq!(store.evaluations(&run.id).unwrap(), [evaluation(0), evaluation(1)]);
    // Resuming: known rows are ignored, lost ones are added.
    store.resume(&run.id).unwrap();
    store.append(&run.id, &[evaluation(0), evaluation(1), evaluation(2)]).unwrap();
    store.finish(&run.id, &record()).unwrap();
    assert_eq!(reader.runs().unwrap()[1].evaluations, 3);
    assert_eq!(files(), [lock(&going)]);
    alive.interrupted(&going).unwrap();
    assert_eq!(files(), [""; 0]);
}

#[test]
fn writers_work_side_by_side_and_one_on_each_run() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let mut stores = [0; 2].map(|_| Store::open(&path).unwrap());
    let runs = stores.each_mut().map(|store| store.begin(&new_run()).unwrap());
    for i in 0..10 {
        for (store, run) in stores.iter_mut().zip(&runs) {
            store.append(run, &[evaluation(i)]).unwrap();
            store.flush().unwrap();
        }
    }
    let [mut one, mut other] = stores;
    let Err(StoreError::Held { holder: Some(holder), run, .. }) = other.resume(&runs[0]) else { panic!() };
    assert_eq!((holder.pid, run.as_deref()), (std::process::id(), Some(runs[0].as_str())));
    let status = |store: &Store| store.runs().unwrap().iter().map(|row| row.status).collect::<Vec<_>>();
    assert_eq!(status(&other), [Status::Running; 2]);
    one.finish(&runs[0], &record()).unwrap();
    let ended = StoreError::Ended { path: path.clone(), run: runs[0].to_string() };
    assert_eq!(other.resume(&runs[0]), Err(ended), "nobody works on it, and nothing is left to do");
    let third = Store::open(&path).unwrap();
    assert_eq!(status(&third), [Status::Done { found: true }, Status::Running]);
    drop(other);
    assert_eq!(status(&third), [Status::Done { found: true }, Status::Interrupted]);
    one.resume(&runs[1]).unwrap();
    assert_eq!(status(&third), [Status::Done { found: true }, Status::Running]);
    for run in &runs {
        assert_eq!(third.evaluations(run).unwrap(), (0..10).map(evaluation).collect::<Vec<_>>());
    }
    third.integrity().unwrap();
}

#[test]
fn many_writers_that_come_and_go_at_once_lose_and_double_nothing() {
    const WRITERS: u64 = 4;
    const RUNS: u64 = 8;
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let work = |writer: u64| {
        for number in 0..RUNS {
            let mut store = Store::open(&path).unwrap();
            let new = NewRun { seed: writer * RUNS + number, ..new_run() };
            if number % 2 == 0 {
                let run = store.begin(&new).unwrap();
                store.append(&run, &(0..50).map(evaluation).collect::<Vec<_>>()).unwrap();
                store.interrupted(&run).unwrap();
                store.resume(&run).unwrap();
                store.finish(&run, &record()).unwrap();
            } else {
                let done = store.together(|store| {
                    let run = store.begin(&new)?;
                    store.append(&run, &(0..50).map(evaluation).collect::<Vec<_>>())?;
                    store.finish(&run, &record())
                });
                done.unwrap();
            }
        }
    };
    let mut watcher = Watcher::new(&path);
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|writer| drop(scope.spawn(move || work(writer))));
        // Whoever looks on meets no state that is not a store.
        for _ in 0..100 {
            watcher.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    drop(watcher);
    // A reader that was the last to go leaves empty files, which the next writer takes away.
    drop(Store::open(&path).unwrap());
    let store = Store::open_read_only(&path).unwrap();
    store.integrity().unwrap();
    let rows = store.runs().unwrap();
    let mut seeds: Vec<u64> = rows.iter().map(|row| row.seed).collect();
    seeds.sort();
    assert_eq!(seeds, (0..WRITERS * RUNS).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.evaluations == 50 && row.status == Status::Done { found: true }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the store and its lock");
}

#[test]
fn a_writer_of_an_earlier_version_and_one_of_this_exclude_each_other() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    drop(Store::open(&path).unwrap());
    // As earlier versions take it: alone, and for as long as they run.
    let mut file = fs::OpenOptions::new().read(true).write(true).open(lock::sidecar(&path)).unwrap();
    file.try_lock().unwrap();
    io::Write::write_all(&mut file, b"7\nhost\n0\nrl4rla discover x\n").unwrap();
    let told = Store::open(&path).unwrap_err().to_string();
    assert!(told.contains("is being written by process 7 on host") && told.contains("wait for it"), "{told}");
    file.unlock().unwrap();
    let store = Store::open(&path).unwrap();
    assert!(matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)));
    let name = fs::read_to_string(lock::sidecar(&path)).unwrap();
    assert_eq!(Holder::from_text(&name).unwrap().pid, std::process::id());
    drop(store);
    file.try_lock().unwrap();
}

#[test]
fn the_last_writer_leaves_one_file_even_if_somebody_watches() {
    let folder = Folder::new();
    let path = folder.file("runs.db");
    let mut stores = [0; 2].map(|_| Store::open(&path).unwrap());
    let run = stores[0].begin(&new_run()).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.runs().unwrap().len(), 1);
    let [one, other] = stores;
    drop(one);
    assert!(opening::logged(&path));
    drop(other);
    assert!(!opening::logged(&path));
    let copy = folder.file("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(Store::open_read_only(&copy).unwrap().runs().unwrap()[0].id, run);
    assert_eq!(reader.runs().unwrap().len(), 1);
}
