use super::super::Sample;
use super::super::testing::{BUILD, Folder, evaluation, new_run, record, stage};
use super::*;

fn store(folder: &Folder) -> Store {
    Store::open(&folder.file("runs.db")).unwrap()
}

#[test]
fn a_run_comes_back_whole() {
    let folder = Folder::new();
    let mut open = store(&folder);
    let new = NewRun { seed: u64::MAX, spec: "a = \"\u{0}é\"\n", ..new_run() };
    let run = open.begin(&new).unwrap();
    open.append(&run, &[evaluation(0), evaluation(1)]).unwrap();
    let sample = Sample {
        stage: 0,
        playouts: 10,
        unique_states: 1,
        visits: 1,
        revisits: 0,
        evaluations: 2,
        best: 0.0,
    };
    open.sample(&run, &sample).unwrap();
    open.sample(&run, &Sample { playouts: 20, ..sample }).unwrap();
    open.sample(&run, &Sample { stage: 1, playouts: 5, ..sample }).unwrap();
    open.finish_stage(&run, 0, &stage("a")).unwrap();
    open.add_seconds(&run, 1.5).unwrap();
    open.add_seconds(&run, f64::NAN).unwrap();
    open.add_seconds(&run, 2.0).unwrap();
    assert_eq!(open.run(&run).unwrap().row.status, Status::Running);
    open.finish(&run, &record()).unwrap();
    drop(open);
    let open = store(&folder);
    let found = open.run(&run).unwrap();
    assert_eq!((found.spec.as_str(), found.settings.as_str()), (new.spec, new.settings));
    assert_eq!((found.build, found.result), (BUILD.clone(), Ok(Some(record()))));
    let row = found.row;
    assert_eq!(open.runs().unwrap(), std::slice::from_ref(&row));
    assert_eq!((row.curriculum.as_str(), row.method.as_str(), row.seed), ("small", "random", u64::MAX));
    assert_eq!((row.status, row.seconds), (Status::Done { found: true }, 3.5));
    assert_eq!((row.playouts, row.evaluations, row.stages), (25, 2, 1));
    assert!(row.id == run && row.created > 1_700_000_000);
}

#[test]
fn ids_are_short_and_unique_and_say_nothing_of_the_time() {
    let (one, two) = (Folder::new(), Folder::new());
    let [ids, again] = [&one, &two].map(|folder| {
        let mut open = store(folder);
        let mut ids: Vec<String> = (0..50).map(|_| open.begin(&new_run()).unwrap().to_string()).collect();
        ids.push(open.begin(&NewRun { seed: 8, ..new_run() }).unwrap().to_string());
        ids
    });
    assert_eq!(ids, again);
    let mut different = ids.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 51);
    assert!(ids.iter().all(|id| id.len() == 8 && id.chars().all(|c| c.is_ascii_hexdigit())), "{ids:?}");
}

#[test]
fn an_id_that_is_taken_is_not_given_again() {
    let folder = Folder::new();
    let mut open = store(&folder);
    let first = open.begin(&NewRun { seed: 8, ..new_run() }).unwrap();
    // Another run has the id that the next one would get.
    open.connection.execute("UPDATE run SET id = ?1", [&new_run().id(0)]).unwrap();
    let second = open.begin(&new_run()).unwrap();
    assert_eq!(second.as_str(), new_run().id(1));
    assert!(matches!(open.run(&first), Err(StoreError::UnknownRun { .. })), "its id has changed");
}

#[test]
fn runs_are_found_by_the_beginning_of_their_id() {
    let folder = Folder::new();
    let mut open = store(&folder);
    let nothing = open.find("a").unwrap_err();
    assert!(matches!(&nothing, StoreError::UnknownRun { last, .. } if last.is_empty()));
    let ids: Vec<RunId> = (0..40).map(|_| open.begin(&new_run()).unwrap()).collect();
    for id in &ids {
        assert_eq!(&open.find(id.as_str()).unwrap(), id);
        assert_eq!(&open.find(&format!(" {} ", id.as_str().to_uppercase())).unwrap(), id);
        for n in 1..8 {
            let prefix = &id.as_str()[..n];
            let like: Vec<String> =
                ids.iter().map(RunId::to_string).filter(|other| other.starts_with(prefix)).collect();
            match open.find(prefix) {
                Ok(found) => assert_eq!((&found, like.len()), (id, 1)),
                Err(StoreError::AmbiguousRun { candidates, .. }) => assert_eq!(candidates, like),
                Err(error) => panic!("{error}"),
            }
        }
    }
    let last: Vec<String> = ids[35..].iter().map(RunId::to_string).collect();
    for wanted in ["", "%", "________", "xyz", "'; DROP TABLE run; --"] {
        let error = open.find(wanted).unwrap_err();
        let expected =
            StoreError::UnknownRun { path: open.path.clone(), wanted: wanted.into(), last: last.clone() };
        assert_eq!(error, expected);
    }
}

#[test]
fn runs_whose_pages_are_swapped_are_damage() {
    const PAGE: usize = 4096;
    let folder = Folder::new();
    let (path, spec) = (folder.file("runs.db"), "#".repeat(3 * PAGE / 4));
    let mut open = store(&folder);
    let ids = [0; 3].map(|_| open.begin(&NewRun { spec: &spec, ..new_run() }).unwrap());
    drop(open);
    let mut bytes = std::fs::read(&path).unwrap();
    // Each run has its own page, in which the curriculum follows the id; in the index it does not.
    let page = |id: &RunId| {
        let text = [id.as_str(), new_run().curriculum].concat();
        bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap() / PAGE * PAGE
    };
    let (one, other) = (page(&ids[1]), page(&ids[2]));
    (0..PAGE).for_each(|at| bytes.swap(one + at, other + at));
    std::fs::write(&path, bytes).unwrap();
    let found = Store::open_read_only(&path).unwrap().runs();
    assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
}

#[test]
fn a_run_whose_process_is_gone_is_interrupted() {
    let folder = Folder::new();
    let mut open = store(&folder);
    let run = open.begin(&new_run()).unwrap();
    let reader = Store::open_read_only(&folder.file("runs.db")).unwrap();
    assert_eq!(reader.runs().unwrap()[0].status, Status::Running, "its writer lives");
    drop(open);
    assert_eq!(reader.runs().unwrap()[0].status, Status::Interrupted);
    assert_eq!(reader.run(&run).unwrap().row.status, Status::Interrupted);
    let mut open = store(&folder);
    assert_eq!(open.runs().unwrap()[0].status, Status::Interrupted, "the next writer knows");
    open.resume(&run).unwrap();
    assert_eq!(open.runs().unwrap()[0].status, Status::Running);
    open.append(&run, &[evaluation(0)]).unwrap();
    open.interrupted(&run).unwrap();
    let row = &open.runs().unwrap()[0];
    assert_eq!((row.status, row.evaluations), (Status::Interrupted, 1));
    open.set_status(&run, Status::Failed, None).unwrap();
    assert_eq!(open.runs().unwrap()[0].status, Status::Failed);
    assert_eq!(open.stages(&run).unwrap(), []);
}
