//! The log of results, from which an exploration is resumed: its search is replayed, and what is in the log is not
//! computed again.
//!
//! A result is a list of numbers and a pure function of what its key is made of, so knowing it changes only the time.

use super::problem_set::{CandidateRun, RunEnding};
use std::fmt::{Debug, Write};
use xxhash_rust::xxh3::Xxh3;

/// A log of results. It is read and written by all threads.
pub trait ResultLog: Sync {
    /// The numbers of a result, if an earlier attempt has computed it.
    fn known(&self, key: u128) -> Option<Vec<f64>>;

    /// A result was computed.
    fn computed(&self, key: u128, numbers: &[f64]);
}

/// No log: everything is computed.
pub struct NoLog;

impl ResultLog for NoLog {
    fn known(&self, _key: u128) -> Option<Vec<f64>> {
        None
    }

    fn computed(&self, _key: u128, _numbers: &[f64]) {}
}

/// The key of what a result is a function of.
pub(super) fn key(of: &impl Debug) -> u128 {
    struct Hashed(Xxh3);
    impl Write for Hashed {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut hashed = Hashed(Xxh3::new());
    write!(hashed, "{of:?}").expect("a hash takes any text");
    hashed.0.digest128()
}

/// A result that can be logged.
pub(super) trait LoggedResult: Sized {
    /// As numbers.
    fn numbers(&self) -> Vec<f64>;
    /// From these numbers; `None` if they are not such a result.
    fn read(numbers: &[f64]) -> Option<Self>;
}

/// The result of this key, computed if it is not in the log.
pub(super) fn recalled<T: LoggedResult>(log: &dyn ResultLog, key: u128, compute: impl FnOnce() -> T) -> T {
    if let Some(known) = log.known(key).and_then(|numbers| T::read(&numbers)) {
        return known;
    }
    let result = compute();
    log.computed(key, &result.numbers());
    result
}

impl LoggedResult for f64 {
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }

    fn read(numbers: &[f64]) -> Option<f64> {
        let [number] = numbers else { return None };
        Some(*number)
    }
}

/// A count that there may not be is negative where there is none.
impl LoggedResult for Option<usize> {
    fn numbers(&self) -> Vec<f64> {
        vec![self.map_or(-1.0, |count| count as f64)]
    }

    fn read(numbers: &[f64]) -> Option<Option<usize>> {
        let [number] = numbers else { return None };
        Some((*number >= 0.0).then_some(*number as usize))
    }
}

impl LoggedResult for CandidateRun {
    fn numbers(&self) -> Vec<f64> {
        let ending = RunEnding::ALL.iter().position(|ending| *ending == self.ending);
        let ending = ending.expect("every ending has a number");
        let reached = self.reached.map_or(-1.0, |count| count as f64);
        let [ending, iterations, passes] = [ending, self.iterations, self.passes].map(|count| count as f64);
        vec![reached, iterations, passes, self.progress, self.excess, ending]
    }

    fn read(numbers: &[f64]) -> Option<CandidateRun> {
        let &[reached, iterations, passes, progress, excess, ending] = numbers else { return None };
        Some(CandidateRun {
            reached: (reached >= 0.0).then_some(reached as usize),
            iterations: iterations as usize,
            passes: passes as usize,
            progress,
            excess,
            ending: *RunEnding::ALL.get(ending as usize)?,
        })
    }
}

impl<T: LoggedResult> LoggedResult for (T, f64) {
    fn numbers(&self) -> Vec<f64> {
        let mut numbers = self.0.numbers();
        numbers.push(self.1);
        numbers
    }

    fn read(numbers: &[f64]) -> Option<(T, f64)> {
        let (last, first) = numbers.split_last()?;
        Some((T::read(first)?, *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_as_it_was_written() {
        for ending in RunEnding::ALL {
            for reached in [None, Some(0), Some(77)] {
                let run = CandidateRun {
                    reached,
                    iterations: 80,
                    passes: 161,
                    progress: 0.3,
                    excess: 1e-300,
                    ending,
                };
                assert_eq!(CandidateRun::read(&run.numbers()), Some(run));
                assert_eq!(<(CandidateRun, f64)>::read(&(run, 0.1).numbers()), Some((run, 0.1)));
            }
        }
        for count in [None, Some(0), Some(9)] {
            assert_eq!(<Option<usize>>::read(&count.numbers()), Some(count));
        }
        assert!(f64::read(&[f64::NAN.copysign(-1.0)]).unwrap().is_nan());
        assert_eq!(CandidateRun::read(&[0.0; 5]), None, "half a result is none");
        assert_eq!(f64::read(&[]), None);
    }

    #[test]
    fn keys_differ_where_anything_does() {
        let keys = [key(&("run", 1, 0.1)), key(&("run", 1, 0.1000000001)), key(&("true", 1, 0.1))];
        assert!(keys[0] != keys[1] && keys[0] != keys[2]);
        assert_eq!(keys[0], key(&("run", 1, 0.1)));
    }
}
