//! What there is of a campaign at a moment: who has which chunks, and which results there are.

use crate::failure::Failure;
use crate::local_process;
use crate::page::several;
use crate::slurm::{self, Queue};
use rl4rla::experiment::campaign::{
    CampaignFolder, CampaignState, ChunkState, Computer, InFlight, JobArray, ResultIndex, Submission,
    SubmissionMark, TaskState,
};

use std::collections::BTreeMap;
use std::ops::Range;

/// All that can be seen.
pub struct Look {
    pub submissions: Vec<Submission>,
    pub in_flight: InFlight,
    pub results: ResultIndex,
    /// Why nobody can tell which jobs there are.
    pub unknown: Option<Failure>,
    /// The processes of which nobody can tell here whether they are still at work on something, in words.
    pub unseen: Vec<String>,
    /// The submissions whose processes may still be at work, by their numbers.
    at_work: BTreeMap<u64, AtWork>,
}

/// What is known of the process of a submission that has not said that it has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtWork {
    Yes,
    /// It is of another machine.
    Unseen,
}

impl Look {
    /// Looks at a campaign.
    pub fn at(folder: &CampaignFolder) -> Result<Look, Failure> {
        let (submissions, ended) = (folder.submissions()?, folder.marked(SubmissionMark::Ended)?);
        // Before the jobs: a process that is not at work any more has submitted all that it will.
        let at_work: BTreeMap<u64, AtWork> = (submissions.iter())
            .filter(|submission| !ended.contains(&submission.number))
            .filter_map(|submission| Some((submission.number, at_work(submission)?)))
            .collect();
        let names: Vec<&str> =
            submissions.iter().flat_map(Submission::job_arrays).map(|array| array.name.as_str()).collect();
        let queue = if names.is_empty() { Ok(Queue::default()) } else { slurm::queue(&names) };
        let mut in_flight = InFlight::default();
        for submission in &submissions {
            let at_work = at_work.get(&submission.number).copied();
            in_flight.chunks.extend(chunks(submission, at_work, queue.as_ref().ok()));
        }
        // After the jobs: one that has ended meanwhile has left its results.
        let results = folder.results()?;
        let unfinished = (0..folder.manifest().tasks()).any(|task| results.kind(task).is_none());
        if !unfinished {
            in_flight = InFlight::default();
        }
        let left = |number: u64, chunk: u64| {
            let submission = submissions.iter().find(|submission| submission.number == number);
            let chunk = submission.and_then(|submission| submission.chunks.get(chunk as usize));
            chunk.is_some_and(|chunk| chunk.iter().any(|task| results.kind(task).is_none()))
        };
        in_flight.chunks.retain(|(of, chunk, state)| *state != ChunkState::Unknown || left(*of, *chunk));
        let mut unseen = Vec::new();
        let unknown = match queue {
            Ok(queue) => {
                let obstacle = |(why, jobs): (&String, &u64)| {
                    format!("{} waiting in the queue: {why}", several(*jobs, "job"))
                };
                in_flight.notes.extend(queue.obstacles.iter().map(obstacle));
                // Where Slurm answers, these are in the hands of processes elsewhere.
                let of = |submission: &&Submission| {
                    let mut chunks = in_flight.chunks.iter();
                    chunks.any(|(of, _, state)| (*of, *state) == (submission.number, ChunkState::Unknown))
                };
                unseen = submissions.iter().filter(of).map(words_on_unseen).collect();
                in_flight.notes.extend(unseen.iter().cloned());
                None
            }
            Err(failure) if unfinished => {
                let message = failure.message();
                in_flight
                    .notes
                    .push(format!("{message}; tasks that were handed out to Slurm are counted as waiting"));
                Some(failure)
            }
            Err(_) => None,
        };
        Ok(Look { submissions, in_flight, results, unknown, unseen, at_work })
    }

    /// Adds what the logs of some jobs say that ended without having computed everything.
    pub fn read_logs(&mut self, folder: &CampaignFolder) {
        let lost: Vec<u64> = self.state(folder).tasks(|state| state == TaskState::Lost).collect();
        let mut words: Vec<String> = Vec::new();
        // A task may have been handed out several times; the last job knows best.
        for submission in self.submissions.iter().rev() {
            let arrays = submission.job_arrays();
            for (number, chunk) in submission.chunks.iter().enumerate() {
                if words.len() < LOGS && chunk.iter().any(|task| lost.binary_search(&task).is_ok()) {
                    words.extend(last_words(folder, submission.number, arrays, number as u64));
                }
            }
        }
        self.in_flight.notes.extend(words);
    }

    /// The state of all tasks.
    pub fn state<'a>(&'a self, folder: &'a CampaignFolder<'a>) -> CampaignState<'a> {
        CampaignState::new(folder, &self.results, self.submissions.clone(), self.in_flight.clone())
    }

    /// Whether nothing is known to be running or queued.
    pub fn is_idle(&self) -> bool {
        self.in_flight.chunks.iter().all(|(.., state)| *state == ChunkState::Unknown)
    }

    /// Whether the process of a submission is at work.
    pub fn is_at_work(&self, submission: &Submission) -> bool {
        self.at_work.get(&submission.number) == Some(&AtWork::Yes)
    }

    /// The submissions of which something is running or queued.
    pub fn active(&self) -> impl Iterator<Item = &Submission> {
        let active = |submission: &&Submission| {
            self.in_flight.chunks.iter().any(|(number, ..)| *number == submission.number)
        };
        self.submissions.iter().filter(active)
    }
}

/// Most logs that are read.
const LOGS: usize = 3;

/// The last lines of the log of a chunk.
fn last_words(folder: &CampaignFolder, submission: u64, arrays: &[JobArray], chunk: u64) -> Option<String> {
    let array = arrays.iter().find(|array| (array.first..array.first + array.chunks).contains(&chunk))?;
    let name = slurm::log_name(submission, array.first, &(chunk - array.first).to_string());
    let log = folder.text(&name)?;
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(2)..];
    (!last.is_empty()).then(|| format!("{name} of a job that ended ends with: {}", last.join("; ")))
}

/// Whether the process of a submission is at work; `None` if it is not.
fn at_work(submission: &Submission) -> Option<AtWork> {
    match local_process::is_running(&submission.process) {
        Some(running) => running.then_some(AtWork::Yes),
        None => Some(AtWork::Unseen),
    }
}

/// The chunks of a submission that somebody has, or may have.
fn chunks(
    submission: &Submission,
    at_work: Option<AtWork>,
    queue: Option<&Queue>,
) -> Vec<(u64, u64, ChunkState)> {
    let some = |chunks: Range<u64>, state| chunks.map(move |chunk| (submission.number, chunk, state));
    let all = |state| some(0..submission.chunks.len() as u64, state).collect();
    match (&submission.on, queue) {
        (Computer::Local, _) => match at_work {
            Some(AtWork::Yes) => all(ChunkState::Running),
            Some(AtWork::Unseen) => all(ChunkState::Unknown),
            None => vec![],
        },
        (Computer::Slurm(_), None) => all(ChunkState::Unknown),
        (Computer::Slurm(arrays), Some(queue)) => {
            let of_array = |array: &JobArray| -> Vec<_> {
                match (queue.jobs.get(&array.name), at_work) {
                    (Some(jobs), _) => {
                        let job = |(place, state): &(u64, ChunkState)| {
                            (submission.number, array.first + place, *state)
                        };
                        jobs.iter().map(job).collect()
                    }
                    // It may be submitted in a moment.
                    (None, Some(at_work)) => {
                        let state = match at_work {
                            AtWork::Yes => ChunkState::Waiting,
                            AtWork::Unseen => ChunkState::Unknown,
                        };
                        some(array.first..array.first + array.chunks, state).collect()
                    }
                    (None, None) => vec![],
                }
            };
            arrays.iter().flat_map(of_array).collect()
        }
    }
}

fn words_on_unseen(submission: &Submission) -> String {
    let does = match submission.on {
        Computer::Slurm(_) => "submits",
        Computer::Local => "computes",
    };
    format!(
        "this machine cannot tell whether {} still {does} submission {}; if not, `resume --take-over` hands its tasks \
         out again",
        submission.process, submission.number
    )
}
