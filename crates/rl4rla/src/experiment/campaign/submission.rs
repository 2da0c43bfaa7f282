//! Submissions: tasks that were handed out, in chunks, to jobs of Slurm or to one process.

use super::chunk::TaskRanges;
use super::manifest::Manifest;
use crate::experiment::ExperimentError;
use serde::{Deserialize, Serialize};

/// A submission, as its file has it. It is written before anything is handed out, so that nothing works unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Submission {
    /// The campaign.
    pub campaign: String,
    /// Its number, from 1.
    pub number: u64,
    /// Who computes it.
    pub on: Computer,
    /// The tasks of each chunk.
    pub chunks: Vec<TaskRanges>,
}

/// Who computes a submission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computer {
    /// Job arrays of Slurm, found again by their names: their numbers are known only after they may have begun.
    Slurm {
        /// The arrays, in the order of their chunks.
        arrays: Vec<JobArray>,
        /// Cores of a job: the number of tasks it computes at a time.
        threads: u64,
    },
    /// One process.
    Local(LocalProcess),
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

/// The process of a local submission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LocalProcess {
    /// The name of its machine.
    pub host: String,
    /// Its process id.
    pub process: u32,
    /// What tells it from earlier and later processes with that id, where the system says so.
    pub started: Option<u64>,
    /// Tasks that it computes at a time.
    pub threads: u64,
}

impl Submission {
    /// The path of the file of a submission.
    pub(super) fn path(number: u64) -> String {
        format!("submissions/{number:04}.json")
    }

    /// Arrays for this many chunks, of at most `longest` jobs each.
    pub fn arrays(campaign: &str, number: u64, chunks: u64, longest: u64) -> Vec<JobArray> {
        let longest = longest.max(1);
        let array = |place: u64| JobArray {
            name: format!("rl4rla-{campaign}-{number}-{place}"),
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

    /// Tasks that are computed at a time by one of its jobs, or by its process.
    pub fn threads(&self) -> u64 {
        match &self.on {
            Computer::Slurm { threads, .. } => *threads,
            Computer::Local(process) => process.threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_every_chunk_once_and_are_no_longer_than_allowed() {
        for (chunks, longest, arrays) in [(1, 1001, 1), (1001, 1001, 1), (1002, 1001, 2), (5000, 1000, 5)] {
            let cut = Submission::arrays("c", 1, chunks, longest);
            assert_eq!(cut.len(), arrays);
            assert!(cut.iter().all(|array| (1..=longest).contains(&array.chunks)));
            assert!(cut.windows(2).all(|pair| pair[0].first + pair[0].chunks == pair[1].first));
            assert_eq!(cut.iter().map(|array| array.chunks).sum::<u64>(), chunks);
        }
    }
}
