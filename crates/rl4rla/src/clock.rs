//! Time spent per part of a discovery, and by short runs. No result depends on it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A part of the work of a discovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkPhase {
    /// Drawing instances and computing their reduced coordinates.
    Instances,
    /// Rewards of candidates.
    Evaluation,
    /// The search itself: edits, canonical forms, the graph.
    Search,
    /// Measuring the chosen programs with the full executor.
    Report,
}

impl WorkPhase {
    /// All parts.
    pub const ALL: [WorkPhase; 4] =
        [WorkPhase::Instances, WorkPhase::Evaluation, WorkPhase::Search, WorkPhase::Report];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            WorkPhase::Instances => "instances",
            WorkPhase::Evaluation => "evaluation",
            WorkPhase::Search => "search",
            WorkPhase::Report => "report",
        }
    }
}

static RUNNING: AtomicBool = AtomicBool::new(false);
static SPENT: [AtomicU64; WorkPhase::ALL.len()] = [const { AtomicU64::new(0) }; WorkPhase::ALL.len()];

thread_local! {
    /// Nanoseconds of the current part that belong to nested parts.
    static INSIDE: Cell<u64> = const { Cell::new(0) };
}

/// Starts the clock from zero.
pub fn start() {
    SPENT.iter().for_each(|spent| spent.store(0, Relaxed));
    RUNNING.store(true, Relaxed);
}

/// The time spent in a part since the start, summed over all threads, without parts nested in it.
pub fn spent(part: WorkPhase) -> Duration {
    Duration::from_nanos(SPENT[part as usize].load(Relaxed))
}

/// Runs `work` and charges its time to a part.
pub fn spend<R>(part: WorkPhase, work: impl FnOnce() -> R) -> R {
    if !RUNNING.load(Relaxed) {
        return work();
    }
    let (outer, start) = (INSIDE.replace(0), Instant::now());
    let result = work();
    let whole = start.elapsed().as_nanos() as u64;
    SPENT[part as usize].fetch_add(whole.saturating_sub(INSIDE.get()), Relaxed);
    INSIDE.set(outer + whole);
    result
}

/// Waits for work on other threads, which charge their own time; the waiting itself is not charged.
pub fn wait<R>(work: impl FnOnce() -> R) -> R {
    if !RUNNING.load(Relaxed) {
        return work();
    }
    let (outer, start) = (INSIDE.get(), Instant::now());
    let result = work();
    INSIDE.set(outer + start.elapsed().as_nanos() as u64);
    result
}

/// The seconds of the fastest of several runs, three of them or as many as this time allows.
pub fn fastest(time: Duration, run: impl Fn() -> f64) -> f64 {
    let (begun, mut best) = (Instant::now(), f64::INFINITY);
    for i in 0.. {
        let start = Instant::now();
        std::hint::black_box(run());
        best = best.min(start.elapsed().as_secs_f64().max(1e-9));
        if i >= 2 && begun.elapsed() > time {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_parts_are_taken_out_of_outer_ones() {
        start();
        let busy = || std::thread::sleep(Duration::from_millis(20));
        let before = spent(WorkPhase::Report);
        let result = spend(WorkPhase::Report, || {
            busy();
            spend(WorkPhase::Search, busy);
            7
        });
        // Other tests may use the clock too, but none charges time on this thread.
        assert_eq!(result, 7);
        assert!(spent(WorkPhase::Search) >= Duration::from_millis(20));
        assert!(spent(WorkPhase::Report) - before >= Duration::from_millis(20));
    }
}
