//! Submissions: tasks that were handed out, in chunks, to jobs of Slurm or to one process.

use super::chunk::TaskRanges;
use super::folder::CampaignFolder;
use super::manifest::Manifest;
use crate::experiment::ExperimentError;
use serde::{Deserialize, Serialize};
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// The largest process id of any system. Larger ones would be taken for those of groups of processes.
const MOST_PROCESS: u32 = i32::MAX as u32;

/// A submission, as its file has it. It is written before anything is handed out, so that nothing works unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Submission {
    /// The campaign.
    pub campaign: String,
    /// Its number, from 1.
    pub number: u64,
    /// Who hands it out, and computes it if that is not done by Slurm.
    pub process: Process,
    /// Tasks that are computed at a time by one of its jobs, or by its process.
    pub threads: u64,
    /// Who computes it.
    pub on: Computer,
    /// The tasks of each chunk.
    pub chunks: Vec<TaskRanges>,
}

/// Who computes a submission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computer {
    /// Job arrays of Slurm, in the order of their chunks. They are found again by their names: their numbers are known only
    /// after they may have begun.
    Slurm(Vec<JobArray>),
    /// The process itself.
    Local,
}

/// An array of Slurm jobs, one for each of consecutive chunks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobArray {
    /// The name of its jobs.
    pub name: String,
    /// Its first chunk.
    pub first: u64,
    /// Number of its chunks.
    pub chunks: u64,
}

/// A process of some machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Process {
    /// The name of its machine.
    pub host: String,
    /// Its process id.
    pub id: u32,
    /// What tells it from earlier and later processes with that id, where the system says so.
    pub started: Option<u64>,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "process {} on {}", self.id, self.host)
    }
}

impl Submission {
    /// The path of the file of a submission.
    pub(super) fn path(number: u64) -> String {
        format!("submissions/{number:04}.json")
    }

    /// Arrays for this many chunks, of at most `longest` jobs each.
    pub fn arrays(folder: &CampaignFolder, number: u64, chunks: u64, longest: u64) -> Vec<JobArray> {
        let (campaign, longest) = (folder.manifest().id(), longest.max(1));
        // A copy of the folder is the same campaign, and must not take the jobs of this one for its own.
        let place_of_folder = xxh3_64(folder.name().as_bytes()) >> 32;
        let array = |place: u64| JobArray {
            name: format!("rl4rla-{campaign}-{place_of_folder:08x}-{number}-{place}"),
            first: place * longest,
            chunks: longest.min(chunks - place * longest),
        };
        (0..chunks.div_ceil(longest)).map(array).collect()
    }

    /// Reads the file of a submission.
    pub(super) fn parse(
        number: u64,
        bytes: &[u8],
        manifest: &Manifest,
    ) -> Result<Submission, ExperimentError> {
        let path = Submission::path(number);
        let broken = |why: String| {
            ExperimentError::new(format!("{path} is damaged: {why}")).advise(
                "remove it, and hand its tasks out again with `rl4rla campaign resume`; results are not affected",
            )
        };
        let submission: Submission =
            serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        match submission {
            _ if submission.campaign != manifest.id() => {
                Err(broken(format!("it is of the campaign {}", submission.campaign)))
            }
            _ if submission.number != number => {
                Err(broken(format!("it is the file of submission {}", submission.number)))
            }
            _ if number == 0 => Err(broken("submissions are numbered from 1".into())),
            _ if !submission.chunks.iter().all(|chunk| chunk.fit(manifest.tasks())) => {
                Err(broken("it has tasks that the campaign has not, or not in order".into()))
            }
            _ if submission.threads == 0 || !(1..=MOST_PROCESS).contains(&submission.process.id) => {
                Err(broken("there is no such process, or it computes nothing".into()))
            }
            _ if !submission.arrays_fit() => Err(broken("its arrays do not have its chunks".into())),
            _ if submission.tasks() > manifest.tasks() => {
                Err(broken("it has more tasks than the campaign".into()))
            }
            _ => Ok(submission),
        }
    }

    /// Number of tasks.
    fn tasks(&self) -> u64 {
        self.chunks.iter().fold(0, |sum, chunk| sum.saturating_add(chunk.count()))
    }

    /// Whether its arrays, if there are any, have each chunk once and in order.
    fn arrays_fit(&self) -> bool {
        let mut next = 0;
        let fits = |array: &JobArray| {
            let end =
                array.first.checked_add(array.chunks).filter(|_| array.first == next && array.chunks > 0);
            next = end.unwrap_or(next);
            end.is_some()
        };
        self.job_arrays().iter().all(fits) && (self.on == Computer::Local || next == self.chunks.len() as u64)
    }

    /// Its job arrays.
    pub fn job_arrays(&self) -> &[JobArray] {
        match &self.on {
            Computer::Slurm(arrays) => arrays,
            Computer::Local => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Disk, SimulatedMachine};
    use super::super::testing::{ScratchFolder, small_plan};
    use super::super::{FolderOnDisk, SharedFolder};
    use super::*;

    #[test]
    fn arrays_have_every_chunk_once_and_are_no_longer_than_allowed() {
        let disk = Disk::default();
        let machine = SimulatedMachine::new(&disk);
        let folder = CampaignFolder::create(&machine, small_plan("arrays", 1)).unwrap();
        for (chunks, longest, arrays) in [(1, 1001, 1), (1001, 1001, 1), (1002, 1001, 2), (5000, 1000, 5)] {
            let cut = Submission::arrays(&folder, 1, chunks, longest);
            assert_eq!(cut.len(), arrays);
            assert!(cut.iter().all(|array| (1..=longest).contains(&array.chunks)));
            assert!(cut.windows(2).all(|pair| pair[0].first + pair[0].chunks == pair[1].first));
            assert_eq!(cut.iter().map(|array| array.chunks).sum::<u64>(), chunks);
        }
    }

    #[test]
    fn a_copy_of_a_folder_has_jobs_of_its_own() {
        let (one, two) = (ScratchFolder::new("original"), ScratchFolder::new("copy"));
        let [first, second] = [&one, &two].map(|scratch| FolderOnDisk::new(scratch.path()));
        CampaignFolder::create(&first, small_plan("copied", 1)).unwrap();
        second.write("manifest.jsonl", &first.read("manifest.jsonl").unwrap()).unwrap();
        let [first, second] = [&first, &second].map(|files| CampaignFolder::open(files).unwrap());
        assert_eq!(first.manifest().id(), second.manifest().id());
        let name = |folder| Submission::arrays(folder, 1, 1, 1)[0].name.clone();
        assert_eq!(name(&first), name(&first));
        assert_ne!(name(&first), name(&second));
    }
}
