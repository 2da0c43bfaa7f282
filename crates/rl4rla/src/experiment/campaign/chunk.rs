//! Chunks: the tasks of one job.

use serde::{Deserialize, Serialize};

/// Numbers of tasks in increasing order, as ranges.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskRanges {
    /// The first number of every range, and how many there are.
    ranges: Vec<(u64, u64)>,
}

impl TaskRanges {
    /// How many tasks there are.
    pub fn count(&self) -> u64 {
        self.ranges.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Their numbers.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|&(first, count)| first..first.saturating_add(count))
    }

    /// Adds a number that is larger than all others.
    fn push(&mut self, number: u64) {
        match self.ranges.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => self.ranges.push((number, 1)),
        }
    }

    /// Whether all are tasks of a campaign of this size, in increasing order.
    pub(super) fn fit(&self, tasks: u64) -> bool {
        let mut next = 0;
        self.ranges.iter().all(|&(first, count)| {
            let end = first.checked_add(count).filter(|end| first >= next && count > 0 && *end <= tasks);
            next = end.unwrap_or(next);
            end.is_some()
        })
    }
}

impl FromIterator<u64> for TaskRanges {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> TaskRanges {
        let mut ranges = TaskRanges::default();
        numbers.into_iter().for_each(|number| ranges.push(number));
        ranges
    }
}

/// How tasks are cut into chunks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chunking {
    /// Most chunks, as the cluster limits them.
    pub most: u64,
    /// The number of chunks, if it is given.
    pub chunks: Option<u64>,
    /// The seconds that a chunk should take, if they are given.
    pub seconds: Option<f64>,
    /// The most that a chunk should take, unless the number is given: what jobs are allowed.
    pub longest: f64,
    /// Tasks that a job computes at a time.
    pub threads: u64,
}

/// The seconds that a chunk takes unless they are given: long enough that starting a job costs little, and short enough
/// that little is lost with one. Within these limits there are [`WANTED`] chunks.
const SHORTEST: f64 = 60.0;
const LONGEST: f64 = 1800.0;
const WANTED: f64 = 1000.0;

impl Chunking {
    /// The number of chunks for tasks that take this long together, one after the other.
    fn number(&self, total: f64, tasks: u64) -> u64 {
        let work = total / self.threads.max(1) as f64;
        let seconds = self.seconds.unwrap_or((work / WANTED).clamp(SHORTEST, LONGEST)).min(self.longest);
        let wanted = self.chunks.unwrap_or((work / seconds).ceil() as u64);
        wanted.min(self.most).min(tasks).max(1)
    }

    /// Cuts tasks into chunks that take about equally long; `seconds` is what a task takes. No chunk is empty.
    pub fn cut(&self, tasks: &TaskRanges, seconds: impl Fn(u64) -> f64) -> Vec<TaskRanges> {
        let total: f64 = tasks.iter().map(&seconds).sum();
        let (count, chunks) = (tasks.count(), self.number(total, tasks.count()));
        let mut cut = Vec::new();
        let (mut current, mut spent) = (TaskRanges::default(), 0.0);
        for (place, task) in tasks.iter().enumerate() {
            current.push(task);
            spent += seconds(task);
            let (ended, left) = (cut.len() as u64 + 1, count - 1 - place as u64);
            // The last chunks may need all tasks that are left, one each.
            let full = spent >= total * ended as f64 / chunks as f64 || left == chunks - ended;
            if full && ended < chunks {
                cut.push(std::mem::take(&mut current));
            }
        }
        if !current.is_empty() {
            cut.push(current);
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_hold_every_task_once_and_in_order(
            gaps in prop::collection::vec((1_u64..4, 0_u8..4), 1..200),
            most in 1_u64..40,
            chunks in prop::option::of(1_u64..60),
            seconds in prop::option::of(0.5_f64..100.0),
        ) {
            let mut next = 0;
            let numbers: Vec<u64> = gaps.iter().map(|(gap, _)| { next += gap; next }).collect();
            let costs: std::collections::HashMap<u64, f64> =
                numbers.iter().zip(&gaps).map(|(number, (_, cost))| (*number, f64::from(*cost))).collect();
            let tasks: TaskRanges = numbers.iter().copied().collect();
            prop_assert_eq!(tasks.iter().collect::<Vec<_>>(), numbers.clone());
            let cut = Chunking { most, chunks, seconds, longest: f64::INFINITY, threads: 1 }.cut(&tasks, |task| costs[&task]);
            prop_assert!(cut.len() as u64 <= most && cut.iter().all(|chunk| !chunk.is_empty()));
            if let Some(chunks) = chunks {
                prop_assert_eq!(cut.len() as u64, chunks.min(most).min(numbers.len() as u64));
            }
            prop_assert_eq!(cut.iter().flat_map(TaskRanges::iter).collect::<Vec<_>>(), numbers);
        }
    }

    #[test]
    fn chunks_take_about_equally_long_and_as_long_as_wanted() {
        let tasks: TaskRanges = (0..100_000).collect();
        // A tenth of the tasks takes most of the time.
        let seconds = |task: u64| if task < 10_000 { 90.0 } else { 1.0 };
        let longest = f64::INFINITY;
        let free = Chunking { most: u64::MAX, chunks: None, seconds: None, longest, threads: 1 };
        let cut = free.cut(&tasks, seconds);
        let work: Vec<f64> = cut.iter().map(|chunk| chunk.iter().map(seconds).sum()).collect();
        assert!(cut.len().abs_diff(1000) <= 1, "{}", cut.len());
        assert!(work.iter().all(|work| (work - 990.0).abs() <= 180.0), "{work:?}");
        assert_eq!(Chunking { most: 7, ..free }.cut(&tasks, seconds).len(), 7, "what the cluster allows");
        assert_eq!(free.cut(&(0..300).collect(), |_| 1.0).len(), 5, "a minute each");
        assert_eq!(Chunking { threads: 5, ..free }.cut(&(0..300).collect(), |_| 1.0).len(), 1);
        assert_eq!(free.cut(&(0..1_000_000).collect(), |_| 36.0).len(), 20_000, "half an hour each");
        let short = Chunking { longest: 30.0, ..free };
        assert_eq!(short.cut(&(0..300).collect(), |_| 1.0).len(), 10, "as jobs are allowed");
    }
}
