//! Words: states are words written letter by letter, solutions the words of full length.
#![allow(dead_code)] // every test file uses its own part

use rl4rla::rng::Stream;
use rl4rla::search::{Confidence, Counters, Domain, Outcome, Solved, StopReason, Tuning};
use std::sync::Arc;

type Truth = Box<dyn Fn(&[u8]) -> Option<f64> + Sync>;

/// Words of a given length, each with a true value and noise around it.
pub struct Words {
    pub letters: u8,
    pub length: usize,
    /// Whether the order of the letters matters; if not, words are multisets and paths meet.
    pub ordered: bool,
    /// Whether shorter words are solutions too.
    pub unfinished: bool,
    /// The true value of a word; none if it is no solution.
    pub truth: Truth,
    /// The spread of the noise.
    pub noise: f64,
    pub replicates: usize,
    pub seed: u64,
}

impl Words {
    /// Without noise, one replicate.
    pub fn new(letters: u8, length: usize, truth: impl Fn(&[u8]) -> Option<f64> + Sync + 'static) -> Words {
        Words {
            letters,
            length,
            ordered: false,
            unfinished: false,
            truth: Box::new(truth),
            noise: 0.0,
            replicates: 1,
            seed: 0,
        }
    }

    pub fn noisy(mut self, noise: f64, replicates: usize, seed: u64) -> Words {
        (self.noise, self.replicates, self.seed) = (noise, replicates, seed);
        self
    }

    pub fn ordered(mut self) -> Words {
        self.ordered = true;
        self
    }

    fn tidied(&self, mut word: Vec<u8>) -> Vec<u8> {
        if !self.ordered {
            word.sort_unstable();
        }
        word
    }

    /// Every word of full length, in the order of the moves.
    pub fn all(&self) -> Vec<Vec<u8>> {
        let mut words = vec![self.root()];
        for _ in 0..self.length {
            words = words.iter().flat_map(|word| self.children(word).to_vec()).collect();
            words.sort();
            words.dedup();
        }
        words
    }

    /// The word of highest true value.
    pub fn optimum(&self) -> Vec<u8> {
        let value = |word: &Vec<u8>| (self.truth)(word).unwrap_or(0.0);
        self.all().into_iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap()
    }
}

impl Domain for Words {
    type State = Vec<u8>;
    type Solution = Vec<u8>;

    fn root(&self) -> Vec<u8> {
        Vec::new()
    }

    fn key(&self, word: &Vec<u8>) -> u128 {
        word.iter().fold(0, |key, &letter| key * (u128::from(self.letters) + 1) + u128::from(letter) + 1)
    }

    fn children(&self, word: &Vec<u8>) -> Arc<[Vec<u8>]> {
        let letters = if word.len() < self.length { self.letters } else { 0 };
        (0..letters).map(|letter| self.tidied([word.as_slice(), &[letter]].concat())).collect()
    }

    fn mutate(&self, word: &Vec<u8>, pick: &mut dyn FnMut(usize) -> usize) -> Option<Vec<u8>> {
        if word.is_empty() || pick(5) == 0 {
            return None;
        }
        let mut mutant = word.clone();
        mutant[pick(word.len())] = pick(self.letters.into()) as u8;
        Some(self.tidied(mutant))
    }

    fn recombine(
        &self,
        one: &Vec<u8>,
        other: &Vec<u8>,
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<u8>> {
        let cut = pick(one.len().min(other.len()) + 1);
        Some(self.tidied([&one[..cut], &other[cut..]].concat()))
    }

    fn solution(&self, word: &Vec<u8>) -> Option<Solved<Vec<u8>>> {
        if word.len() < self.length && !self.unfinished {
            return None;
        }
        (self.truth)(word).map(|_| Solved { key: self.key(word), solution: word.clone() })
    }

    fn replicates(&self) -> usize {
        self.replicates
    }

    fn values(&self, requests: &[(&Solved<Vec<u8>>, usize)]) -> Vec<f64> {
        let stream = Stream::new(self.seed);
        let value = |&(solved, replicate): &(&Solved<Vec<u8>>, usize)| {
            let truth = (self.truth)(&solved.solution).unwrap();
            if self.noise == 0.0 {
                return truth;
            }
            let draws = stream.derive("word", solved.key as u64).derive("replicate", replicate as u64);
            (truth + self.noise * draws.normals(1)[0]).clamp(0.0, 1.0)
        };
        requests.iter().map(value).collect()
    }
}

/// A value between 0.1 and 0.8 for every word, one word aside that is worth 0.95.
pub fn scattered(best: &'static [u8]) -> impl Fn(&[u8]) -> Option<f64> + Sync + 'static {
    move |word| {
        let place = word.iter().fold(7, |place, &letter| 31 * place + u64::from(letter));
        Some(if word == best { 0.95 } else { 0.1 + 0.7 * Stream::new(place).uniforms(1)[0] })
    }
}

/// Worth nothing with `a` in front, but for one word worth 1; mediocre otherwise.
pub fn deceptive(best: &'static [u8]) -> impl Fn(&[u8]) -> Option<f64> + Sync + 'static {
    move |word| {
        Some(if word == best {
            1.0
        } else if word.first() == Some(&0) {
            0.0
        } else {
            0.4
        })
    }
}

/// A search of so many playouts.
pub fn tuning(budget: u64) -> Tuning {
    Tuning {
        exploration: 0.5,
        released: false,
        backup: None,
        patient: false,
        skip_closed: false,
        return_to_root: false,
        decision: None,
        budget,
        evaluations: None,
        confidence: Confidence::default(),
        keep: 3,
    }
}

/// The best word.
pub fn found(outcome: &Outcome<Vec<u8>>) -> &[u8] {
    &outcome.ranked[0].solved.solution
}

/// All that an outcome says.
pub fn told(outcome: &Outcome<Vec<u8>>) -> (StopReason, Counters, Vec<(u128, u64, usize)>) {
    let ranked = outcome.ranked.iter().map(|r| (r.solved.key, r.mean().to_bits(), r.values.len())).collect();
    (outcome.stop, outcome.counters, ranked)
}
