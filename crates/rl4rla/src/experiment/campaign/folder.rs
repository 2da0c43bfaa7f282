//! The folder of a campaign: what is where in it.

use super::manifest::{MANIFEST, Manifest};
use super::plan::CampaignPlan;
use super::result_file::{self, Damage, ResultKind};
use super::result_index::ResultIndex;
use super::shared_folder::{SharedFolder, patiently, unique};
use super::submission::Submission;
use super::task::TaskOutcome;
use crate::experiment::{ExperimentError, Monitor};
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// Where results are.
pub(super) const RESULTS: &str = "results";

/// What was noted of a submission after it was written, in a file next to its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SubmissionMark {
    /// Its process works on it no more, though the process itself may go on: that of a notebook does.
    Ended,
    /// Somebody has cancelled it.
    Cancelled,
}

impl SubmissionMark {
    const ALL: [SubmissionMark; 2] = [SubmissionMark::Ended, SubmissionMark::Cancelled];

    fn name(self) -> &'static str {
        match self {
            SubmissionMark::Ended => "ended",
            SubmissionMark::Cancelled => "cancelled",
        }
    }

    fn path(self, submission: u64) -> String {
        format!("submissions/{submission:04}.{}", self.name())
    }
}

/// The pauses before something is tried again, in seconds; six minutes in all.
const PAUSES: [u64; 8] = [1, 2, 5, 12, 30, 60, 120, 130];

/// A folder with a manifest.
pub struct CampaignFolder<'a> {
    pub(super) files: &'a dyn SharedFolder,
    manifest: Manifest,
}

impl<'a> CampaignFolder<'a> {
    /// Begins a campaign in a folder that has none.
    pub fn create(
        files: &'a dyn SharedFolder,
        plan: CampaignPlan,
    ) -> Result<CampaignFolder<'a>, ExperimentError> {
        let (manifest, text) = plan.finish()?;
        match files.create(MANIFEST, text.as_bytes()) {
            Ok(()) => Ok(CampaignFolder { files, manifest }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ExperimentError::new(format!("{} has a campaign already", files.name("")))
                    .advise("another folder, or `rl4rla campaign status` for that campaign"))
            }
            Err(error) => Err(unplanned(files, &error)),
        }
    }

    /// The same, or opens the campaign that is there if it computes the same.
    pub fn create_or_open(
        files: &'a dyn SharedFolder,
        plan: CampaignPlan,
    ) -> Result<CampaignFolder<'a>, ExperimentError> {
        let (planned, text) = plan.finish()?;
        let error = match files.create(MANIFEST, text.as_bytes()) {
            Ok(()) => return Ok(CampaignFolder { files, manifest: planned }),
            Err(error) => error,
        };
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(unplanned(files, &error));
        }
        let there = CampaignFolder::open(files)?;
        match there.manifest.computes_the_same(&planned) {
            true => Ok(there),
            false => {
                let (name, title) = (files.name(""), &there.manifest.header().title);
                Err(ExperimentError::new(format!("{name} has another campaign, {title}"))
                    .advise("another folder, or the command with which that campaign was begun"))
            }
        }
    }

    /// Opens the campaign of a folder.
    pub fn open(files: &'a dyn SharedFolder) -> Result<CampaignFolder<'a>, ExperimentError> {
        CampaignFolder::parse(files, files.read(MANIFEST))
    }

    fn parse(
        files: &'a dyn SharedFolder,
        bytes: io::Result<Vec<u8>>,
    ) -> Result<CampaignFolder<'a>, ExperimentError> {
        let bytes = bytes.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ExperimentError::new(format!(
                "there is no campaign in {}: it has no {MANIFEST}",
                files.name("")
            ))
            .advise("the folder that `rl4rla campaign plan` has made"),
            _ => unread(files, MANIFEST, &error),
        })?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(CampaignFolder { files, manifest: Manifest::parse(&text)? })
    }

    /// The same for a worker, whose machine may not see the files of a submission yet.
    pub fn open_for_work(
        files: &'a dyn SharedFolder,
        number: u64,
        monitor: &dyn Monitor,
    ) -> Result<(CampaignFolder<'a>, Submission), ExperimentError> {
        let path = Submission::path(number);
        let stopped = || monitor.stopped();
        let bytes = patiently(files, &pauses(), true, &stopped, || files.read(MANIFEST));
        let folder = CampaignFolder::parse(files, bytes)?;
        // Where there are no links, a file is there before its end.
        let whole = || {
            let bytes = files.read(&path)?;
            match serde_json::from_slice::<IgnoredAny>(&bytes) {
                Err(error) if error.is_eof() => Err(error.into()),
                _ => Ok(bytes),
            }
        };
        let bytes = patiently(files, &pauses(), true, &stopped, whole);
        let bytes = bytes.map_err(|error| unread(files, &path, &error))?;
        let submission = Submission::parse(number, &bytes, &folder.manifest)?;
        Ok((folder, submission))
    }

    /// What the campaign computes.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where it is.
    pub fn name(&self) -> String {
        self.files.name("")
    }

    /// All submissions, in order.
    pub fn submissions(&self) -> Result<Vec<Submission>, ExperimentError> {
        let names =
            self.files.list("submissions").map_err(|error| unread(self.files, "submissions", &error))?;
        let number = |name: &String| {
            let number: u64 = name.strip_suffix(".json")?.parse().ok()?;
            (Submission::path(number) == format!("submissions/{name}")).then_some(number)
        };
        let read = |number: u64| {
            let path = Submission::path(number);
            let bytes = self.files.read(&path).map_err(|error| unread(self.files, &path, &error))?;
            Submission::parse(number, &bytes, &self.manifest)
        };
        let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(read).collect()
    }

    /// Writes the file of a submission; false if somebody else has submitted with the same number meanwhile.
    pub fn submit(&self, submission: &Submission) -> Result<bool, ExperimentError> {
        let path = Submission::path(submission.number);
        let text = serde_json::to_string(submission).expect("a submission can be written");
        match self.files.create(&path, text.as_bytes()) {
            Ok(()) => {
                // Of an earlier submission, whose file was damaged and removed.
                for left in SubmissionMark::ALL.map(|mark| mark.path(submission.number)) {
                    self.files.remove(&left).map_err(|error| unwritten(self.files, &left, &error))?;
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(unwritten(self.files, &path, &error)),
        }
    }

    /// Notes something of a submission.
    pub fn mark(&self, submission: &Submission, mark: SubmissionMark) -> Result<(), ExperimentError> {
        self.write(&mark.path(submission.number), "")
    }

    /// The numbers of the submissions of which this was noted.
    pub fn marked(&self, mark: SubmissionMark) -> Result<BTreeSet<u64>, ExperimentError> {
        let names =
            self.files.list("submissions").map_err(|error| unread(self.files, "submissions", &error))?;
        let number = |name: &String| name.strip_suffix(mark.name())?.strip_suffix('.')?.parse().ok();
        Ok(names.iter().filter_map(number).collect())
    }

    /// Writes any other file, such as the script of a job.
    pub fn write(&self, path: &str, text: &str) -> Result<(), ExperimentError> {
        self.files.write(path, text.as_bytes()).map_err(|error| unwritten(self.files, path, &error))
    }

    /// The text of any other file, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.files.read(path).ok()?).into_owned())
    }

    /// Looks for files that other machines have written a moment ago: before something is taken for lost.
    pub fn refresh(&self) {
        self.files.refresh("submissions");
        self.files.refresh(RESULTS);
        for folder in self.files.list(RESULTS).unwrap_or_default() {
            self.files.refresh(&format!("{RESULTS}/{folder}"));
        }
    }

    /// The results there are.
    pub fn results(&self) -> Result<ResultIndex, ExperimentError> {
        let folders = self.files.list(RESULTS).map_err(|error| unread(self.files, RESULTS, &error))?;
        self.results_in(folders.into_iter().map(|folder| format!("{RESULTS}/{folder}")), &[])
    }

    /// The results in some of the folders; there are these pauses before what may pass is tried again.
    pub(super) fn results_in(
        &self,
        folders: impl IntoIterator<Item = String>,
        pauses: &[Duration],
    ) -> Result<ResultIndex, ExperimentError> {
        let mut index = ResultIndex::new(self.manifest.tasks());
        for folder in folders {
            let list = || self.files.list(&folder);
            let names = match patiently(self.files, pauses, false, &|| false, list) {
                // It was a file.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    index.add_stray(folder);
                    continue;
                }
                names => names.map_err(|error| unread(self.files, &folder, &error))?,
            };
            names.iter().for_each(|name| index.add(&folder, name));
        }
        Ok(index)
    }

    /// Reads the result of a task; `None` if it has been taken away since it was listed.
    pub(super) fn result(
        &self,
        task: u64,
        kind: ResultKind,
    ) -> Result<Option<Result<TaskOutcome, Damage>>, ExperimentError> {
        let path = result_file::path_of(task, kind);
        match self.files.read(&path) {
            Ok(bytes) => Ok(Some(result_file::parse(&self.manifest, task, kind, &bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                Ok(Some(Err(Damage::Unreadable("it is a folder".into()))))
            }
            Err(error) => Err(unread(self.files, &path, &error)),
        }
    }

    /// Writes the result of a task, unless there is one, and says how the task has ended by that.
    pub(super) fn finish(
        &self,
        task: u64,
        outcome: &TaskOutcome,
        monitor: &dyn Monitor,
    ) -> Result<ResultKind, ExperimentError> {
        let (kind, text) = result_file::readable(&self.manifest, task, outcome);
        let path = result_file::path_of(task, kind);
        let write = || {
            let written = self.files.create(&path, text.as_bytes());
            written.inspect_err(|error| monitor.doing(&format!("waiting to write {path}: {error}")))
        };
        match patiently(self.files, &pauses(), false, &|| monitor.stopped(), write) {
            // Another process has computed the task too, and its result is the same.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(kind),
            written => written.map(|()| kind).map_err(|error| unwritten(self.files, &path, &error)),
        }
    }

    /// Takes results away, so that their tasks are computed again. What is damaged is kept under another name. What cannot
    /// be moved does not keep the others; the error is of the first.
    pub fn set_aside(&self, faults: &[(String, Damage)]) -> Result<(), ExperimentError> {
        let mut moved = Ok(());
        for (path, _) in faults {
            // The same path may be damaged again.
            let aside = format!("damaged/{}.{}", path.replace('/', "-"), unique());
            match self.files.rename(path, &aside) {
                // Another process has taken it away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => moved = moved.and(done.map_err(|error| unwritten(self.files, path, &error))),
            }
        }
        moved
    }

    /// Removes the results of tasks that failed, so that they are computed again.
    pub fn remove_failures(&self, tasks: &[u64]) -> Result<(), ExperimentError> {
        for task in tasks {
            let path = result_file::path_of(*task, ResultKind::Failed);
            self.files.remove(&path).map_err(|error| unwritten(self.files, &path, &error))?;
        }
        Ok(())
    }
}

pub(super) fn pauses() -> [Duration; PAUSES.len()] {
    PAUSES.map(Duration::from_secs)
}

pub(super) fn unread(files: &dyn SharedFolder, path: &str, error: &io::Error) -> ExperimentError {
    ExperimentError::new(format!("cannot read {}: {error}", files.name(path)))
        .advise("check the file system and your permissions there; nothing is lost")
}

fn unplanned(files: &dyn SharedFolder, error: &io::Error) -> ExperimentError {
    ExperimentError::new(format!("cannot write {}: {error}", files.name(MANIFEST)))
        .advise("another folder, or check its path, the space there and your permissions")
}

pub(super) fn unwritten(files: &dyn SharedFolder, path: &str, error: &io::Error) -> ExperimentError {
    let error_message = ExperimentError::new(format!("cannot write {}: {error}", files.name(path)));
    error_message.advise(match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space there (`df`, `quota`), then `rl4rla campaign resume`; finished tasks are kept"
        }
        _ => "check the file system and your permissions there, then `rl4rla campaign resume`; finished tasks are kept",
    })
}

#[cfg(test)]
mod tests {
    use super::super::shared_folder::FolderOnDisk;
    use super::super::submission::Computer;
    use super::super::testing::{ScratchFolder, small_plan, submission};
    use super::*;

    #[test]
    fn what_is_noted_of_a_submission_is_forgotten_when_another_has_its_number() {
        let scratch = ScratchFolder::new("ended");
        let files = FolderOnDisk::new(scratch.path());
        let folder = CampaignFolder::create(&files, small_plan("ended", 3)).unwrap();
        let submission = submission(&folder, 1, Computer::Local, vec![(0..3).collect()]);
        let marked = || {
            let numbers = |mark| folder.marked(mark).unwrap().into_iter().collect::<Vec<u64>>();
            SubmissionMark::ALL.map(numbers)
        };
        const NONE: [Vec<u64>; 2] = [vec![], vec![]];
        assert!(folder.submit(&submission).unwrap() && marked() == NONE);
        folder.mark(&submission, SubmissionMark::Ended).unwrap();
        assert_eq!(marked(), [vec![1], vec![]]);
        folder.mark(&submission, SubmissionMark::Cancelled).unwrap();
        assert_eq!(marked(), [[1], [1]]);
        assert_eq!(folder.submissions().unwrap(), std::slice::from_ref(&submission));
        assert!(!folder.submit(&submission).unwrap() && marked() == [[1], [1]]);
        files.remove(&Submission::path(1)).unwrap();
        assert!(folder.submit(&submission).unwrap() && marked() == NONE);
    }
}
