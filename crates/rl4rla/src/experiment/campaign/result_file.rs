//! Result files: one for each task that has ended, with a digest.

use super::manifest::Manifest;
use super::task::{TaskFailure, TaskOutcome};
use crate::record::Build;
use serde::{Deserialize, Serialize};
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// How a task ended. It is a part of the name of its file, so that a listing tells how a campaign goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultKind {
    /// It found its targets; of an audit: they are the best programs of their stages.
    Found,
    /// It did not.
    Missed,
    /// It ended with an error.
    Failed,
}

impl ResultKind {
    /// All of them.
    pub const ALL: [ResultKind; 3] = [ResultKind::Found, ResultKind::Missed, ResultKind::Failed];

    fn name(self) -> &'static str {
        match self {
            ResultKind::Found => "found",
            ResultKind::Missed => "missed",
            ResultKind::Failed => "failed",
        }
    }
}

/// Number of result files of a folder: large ones are slow on some file systems.
const IN_A_FOLDER: u64 = 1000;

/// The folder of the result of a task.
pub(super) fn folder_of(task: u64) -> String {
    format!("results/{:06}", task / IN_A_FOLDER)
}

/// The path of the result of a task.
pub(super) fn path_of(task: u64, kind: ResultKind) -> String {
    format!("{}/{task:09}.{}.json", folder_of(task), kind.name())
}

/// The task and the kind that a name in this folder tells; `None` for other files.
pub(super) fn read_name(folder: &str, name: &str) -> Option<(u64, ResultKind)> {
    let (task, kind) = name.strip_suffix(".json")?.split_once('.')?;
    let kind = *ResultKind::ALL.iter().find(|known| known.name() == kind)?;
    let task: u64 = task.parse().ok()?;
    (path_of(task, kind) == format!("{folder}/{name}")).then_some((task, kind))
}

/// The first line; the second one is the outcome.
#[derive(Serialize, Deserialize)]
struct ResultHead {
    campaign: String,
    task: u64,
    build: Build,
    digest: String,
}

fn digest_of(campaign: &str, task: u64, build: &Build, outcome: &str) -> String {
    format!("{:032x}", xxh3_128(format!("{campaign}\n{task}\n{build}\n{outcome}").as_bytes()))
}

/// The file of a result that was computed by this build.
pub(super) fn text_of(manifest: &Manifest, task: u64, outcome: &TaskOutcome) -> String {
    let outcome = serde_json::to_string(outcome).expect("an outcome can be written");
    let (campaign, build) = (manifest.id().to_string(), Build::current());
    let digest = digest_of(&campaign, task, &build, &outcome);
    let head = ResultHead { campaign, task, build, digest };
    format!("{}\n{outcome}\n", serde_json::to_string(&head).expect("a head can be written"))
}

/// The kind and the file of what is written for an outcome: the outcome itself, or a failure if it would not be read as it
/// is, because a number that must be finite is not.
pub(super) fn readable(manifest: &Manifest, task: u64, outcome: &TaskOutcome) -> (ResultKind, String) {
    let (kind, text) = (outcome.kind(), text_of(manifest, task, outcome));
    let reason = match parse(manifest, task, kind, text.as_bytes()) {
        // As text, in which what is not a number equals itself.
        Ok(read) if text_of(manifest, task, &read) == text => return (kind, text),
        Ok(_) => "it is read as another one".into(),
        Err(damage) => damage.to_string(),
    };
    let failure = TaskFailure {
        reason: format!("the result cannot be written: {reason}"),
        advice: Some("report it with the manifest of the campaign".into()),
    };
    (ResultKind::Failed, text_of(manifest, task, &TaskOutcome::Failed(failure)))
}

/// Why a file is not the result of its task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Damage {
    /// It is cut off or was changed.
    Changed,
    /// It belongs to another campaign, of this id.
    Foreign(String),
    /// It is the result of another task.
    OtherTask(u64),
    /// Another build computed it.
    OtherBuild(String),
    /// Its content cannot be read, or is not what its name says.
    Unreadable(String),
    /// There are several results of its task.
    Double,
    /// The campaign has no such task.
    Unknown,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Damage::Changed => f.write_str("it is cut off or was changed (its digest does not fit)"),
            Damage::Foreign(campaign) => write!(f, "it is of another campaign, {campaign}"),
            Damage::OtherTask(task) => write!(f, "it is the result of task {task}"),
            Damage::OtherBuild(build) => write!(f, "another build computed it, {build}"),
            Damage::Unreadable(why) => write!(f, "it cannot be read: {why}"),
            Damage::Double => f.write_str("there are two results of its task, which differ"),
            Damage::Unknown => f.write_str("the campaign has no such task"),
        }
    }
}

/// Reads the file of a result.
pub(super) fn parse(
    manifest: &Manifest,
    task: u64,
    kind: ResultKind,
    bytes: &[u8],
) -> Result<TaskOutcome, Damage> {
    let text = std::str::from_utf8(bytes).map_err(|_| Damage::Changed)?;
    let (head, outcome) = text.split_once('\n').ok_or(Damage::Changed)?;
    let outcome = outcome.strip_suffix('\n').ok_or(Damage::Changed)?;
    let head: ResultHead = serde_json::from_str(head).map_err(|_| Damage::Changed)?;
    if head.digest != digest_of(&head.campaign, head.task, &head.build, outcome) {
        return Err(Damage::Changed);
    }
    if head.campaign != manifest.id() {
        return Err(Damage::Foreign(head.campaign));
    }
    if head.task != task {
        return Err(Damage::OtherTask(head.task));
    }
    if !manifest.header().build.continues(&head.build) {
        return Err(Damage::OtherBuild(head.build.to_string()));
    }
    let outcome: TaskOutcome =
        serde_json::from_str(outcome).map_err(|error| Damage::Unreadable(error.to_string()))?;
    match outcome.kind() == kind {
        true => Ok(outcome),
        false => Err(Damage::Unreadable("its name tells another outcome than its content".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::small_plan;
    use super::*;
    use crate::curriculum::Audited;

    #[test]
    fn names_tell_tasks_and_outcomes() {
        for task in [0, 999, 1000, 123_456_789] {
            for kind in ResultKind::ALL {
                let path = path_of(task, kind);
                let (folder, name) = path.rsplit_once('/').unwrap();
                assert_eq!(read_name(folder, name), Some((task, kind)));
                assert_eq!(read_name("results/000007", name), None, "it is in another folder");
            }
        }
        for name in ["000000001.json", "1.found.json", "000000001.lost.json", "x.found.json", "notes"] {
            assert_eq!(read_name("results/000000", name), None, "{name}");
        }
    }

    #[test]
    fn what_could_not_be_read_again_is_written_as_a_failure() {
        let (manifest, _) = small_plan("one", 3).finish().unwrap();
        let stage = |target: f64| Audited {
            name: "stage".into(),
            programs: 1,
            classes: 1,
            target_rank: None,
            target,
            best_form: None,
            runner_up: None,
            margin: f64::NAN,
            least_margin: f64::NAN,
            complete: true,
        };
        let written = |target: f64| {
            let outcome = TaskOutcome::Audit { seconds: 1.0, stages: vec![stage(target)] };
            let (kind, text) = readable(&manifest, 1, &outcome);
            (kind, parse(&manifest, 1, kind, text.as_bytes()).unwrap())
        };
        assert!(
            matches!(written(0.5), (ResultKind::Missed, TaskOutcome::Audit { .. })),
            "a margin may be missing"
        );
        for target in [f64::NAN, f64::INFINITY] {
            let (kind, TaskOutcome::Failed(failure)) = written(target) else {
                panic!("{target} was written")
            };
            assert_eq!(kind, ResultKind::Failed);
            assert!(failure.reason.starts_with("the result cannot be written"), "{failure}");
        }
    }

    #[test]
    fn every_change_of_a_file_is_noticed() {
        let (manifest, _) = small_plan("one", 3).finish().unwrap();
        let (other, _) = small_plan("other", 3).finish().unwrap();
        let outcome = TaskOutcome::Failed(TaskFailure { reason: "no".into(), advice: None });
        let text = text_of(&manifest, 2, &outcome);
        let read = |bytes: &[u8]| parse(&manifest, 2, ResultKind::Failed, bytes);
        assert_eq!(read(text.as_bytes()), Ok(outcome.clone()));
        for length in 0..text.len() {
            assert_eq!(read(&text.as_bytes()[..length]), Err(Damage::Changed), "cut off after {length}");
            let mut changed = text.clone().into_bytes();
            changed[length] ^= 1;
            assert!(read(&changed).is_err(), "byte {length} was changed");
        }
        assert_eq!(parse(&manifest, 1, ResultKind::Failed, text.as_bytes()), Err(Damage::OtherTask(2)));
        let foreign = parse(&other, 2, ResultKind::Failed, text.as_bytes());
        assert_eq!(foreign, Err(Damage::Foreign(manifest.id().into())));
        assert!(matches!(
            parse(&manifest, 2, ResultKind::Found, text.as_bytes()),
            Err(Damage::Unreadable(_))
        ));
    }
}
