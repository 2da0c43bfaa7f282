//! What there is of a campaign at a moment: who has which chunks, and which results there are.

use crate::failure::Failure;
use crate::local_process;
use crate::slurm::{self, Queue};
use rl4rla::experiment::campaign::{
    CampaignFolder, CampaignState, ChunkState, Computer, InFlight, JobArray, ResultIndex, Submission,
    TaskState,
};

/// All that can be seen.
pub struct Look {
    pub submissions: Vec<Submission>,
    pub in_flight: InFlight,
    pub results: ResultIndex,
    /// Why nobody can tell which jobs there are; then all count as waiting.
    pub unknown: Option<Failure>,
}

impl Look {
    /// Looks at a campaign.
    pub fn at(folder: &CampaignFolder) -> Result<Look, Failure> {
        let (submissions, ended) = (folder.submissions()?, folder.ended()?);
        let names: Vec<&str> = submissions.iter().flat_map(names).collect();
        let queue = if names.is_empty() { Ok(Queue::default()) } else { slurm::queue(&names) };
        let mut in_flight = InFlight::default();
        for submission in submissions.iter().filter(|submission| !ended.contains(&submission.number)) {
            in_flight.chunks.extend(chunks(submission, queue.as_ref().ok()));
            in_flight.notes.extend(note(submission));
        }
        // After the jobs: one that has ended meanwhile has left its results.
        let results = folder.results()?;
        let unfinished = (0..folder.manifest().tasks()).any(|task| results.kind(task).is_none());
        if !unfinished {
            in_flight = InFlight::default();
        }
        let unknown = match queue {
            Ok(queue) => {
                let obstacle = |(why, jobs): (&String, &u64)| format!("{jobs} jobs wait in the queue: {why}");
                in_flight.notes.extend(queue.obstacles.iter().map(obstacle));
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
        Ok(Look { submissions, in_flight, results, unknown })
    }

    /// Adds what the logs of some jobs say that ended without having computed everything.
    pub fn read_logs(&mut self, folder: &CampaignFolder) {
        let lost: Vec<u64> = self.state(folder).tasks(|state| state == TaskState::Lost).collect();
        let mut words: Vec<String> = Vec::new();
        // A task may have been handed out several times; the last job knows best.
        for submission in self.submissions.iter().rev() {
            let Computer::Slurm { arrays, .. } = &submission.on else { continue };
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

    /// Whether nothing is running or queued.
    pub fn is_idle(&self) -> bool {
        self.in_flight.chunks.is_empty()
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

/// The names of the jobs of a submission.
fn names(submission: &Submission) -> impl Iterator<Item = &str> {
    let arrays = match &submission.on {
        Computer::Slurm { arrays, .. } => arrays.as_slice(),
        Computer::Local(_) => &[],
    };
    arrays.iter().map(|array| array.name.as_str())
}

/// The chunks of a submission that somebody has.
fn chunks(submission: &Submission, queue: Option<&Queue>) -> Vec<(u64, u64, ChunkState)> {
    let all = |state| (0..submission.chunks.len() as u64).map(move |chunk| (submission.number, chunk, state));
    match (&submission.on, queue) {
        (Computer::Local(process), _) => match local_process::is_running(process) {
            Some(false) => vec![],
            _ => all(ChunkState::Running).collect(),
        },
        (Computer::Slurm { .. }, None) => all(ChunkState::Waiting).collect(),
        (Computer::Slurm { arrays, .. }, Some(queue)) => {
            let of_array = |array: &JobArray| {
                let (first, jobs) = (array.first, queue.jobs.get(&array.name).into_iter().flatten());
                jobs.map(move |(place, state)| (submission.number, first + place, *state)).collect::<Vec<_>>()
            };
            arrays.iter().flat_map(of_array).collect()
        }
    }
}

fn note(submission: &Submission) -> Option<String> {
    let Computer::Local(process) = &submission.on else { return None };
    local_process::is_running(process).is_none().then(|| {
        format!(
            "submission {} was begun by process {} on {}; whether it still runs cannot be seen from here",
            submission.number, process.process, process.host
        )
    })
}
