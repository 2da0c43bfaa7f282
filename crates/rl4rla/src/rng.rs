//! Random streams: every number is a pure function of a seed and a path of labels.

#[cfg(test)]
pub(crate) mod assertions;
mod discrete;

pub use discrete::{Discrete, WeightError};

use rand::{Rng, RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

/// ChaCha produces its keystream in blocks of this many 32-bit words.
const WORDS_PER_BLOCK: u128 = 16;

/// A counter-based RNG stream: an immutable value that names a sequence of random numbers.
///
/// Draws read the ChaCha8 keystream at nonce 0, derivations read it at nonzero nonces, so that no
/// derived key ever overlaps a draw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stream {
    key: [u8; 32],
}

impl Stream {
    /// The root stream of `seed`.
    pub fn new(seed: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Stream { key }
    }

    /// The child stream named `(label, index)`, independent of this one and of its other children.
    ///
    /// child key = ChaCha8(key, nonce = xxh3(label) | 1, block = index), first half of the block.
    pub fn derive(&self, label: &str, index: u64) -> Stream {
        let mut rng = self.rng();
        rng.set_stream(xxh3_64(label.as_bytes()) | 1);
        rng.set_word_pos(u128::from(index) * WORDS_PER_BLOCK);
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Stream { key }
    }

    /// The bytes that tell this stream from all others.
    pub fn name(&self) -> &[u8; 32] {
        &self.key
    }

    /// A generator at the start of this stream. Two calls give the same numbers: derive for
    /// independent ones.
    pub fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.key)
    }

    /// `n` draws from U[0, 1).
    pub fn uniforms(&self, n: usize) -> Vec<f64> {
        self.draw(StandardUniform, n)
    }

    /// `n` draws from N(0, 1).
    pub fn normals(&self, n: usize) -> Vec<f64> {
        self.draw(StandardNormal, n)
    }

    /// Other draws from N(0, 1), some at a time and twice as fast, for large matrices: the stream is only the initial
    /// state of a generator that is faster than ChaCha.
    pub fn many_normals(&self) -> Normals {
        Normals(Xoshiro256PlusPlus::from_rng(&mut self.rng()))
    }

    /// `n` draws from χ²(degrees).
    ///
    /// # Panics
    /// If `degrees` is not positive and finite.
    pub fn chi_squares(&self, degrees: f64, n: usize) -> Vec<f64> {
        assert!(degrees > 0.0 && degrees.is_finite(), "chi-square degrees must be positive, got {degrees}");
        self.draw(ChiSquared::new(degrees).expect("degrees are positive"), n)
    }

    /// `n` fair draws from {−1, +1}.
    pub fn signs(&self, n: usize) -> Vec<f64> {
        let mut rng = self.rng();
        (0..n).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect()
    }

    /// A uniformly random order of `0..n`.
    pub fn permutation(&self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut self.rng());
        order
    }

    fn draw(&self, law: impl Distribution<f64>, n: usize) -> Vec<f64> {
        law.sample_iter(self.rng()).take(n).collect()
    }
}

/// Draws from N(0, 1), as many as are asked for.
pub struct Normals(Xoshiro256PlusPlus);

impl Normals {
    /// Fills a slice with the next draws.
    pub fn fill(&mut self, draws: &mut [f64]) {
        // A local generator stays in registers.
        let mut rng = self.0.clone();
        draws.iter_mut().for_each(|draw| *draw = StandardNormal.sample(&mut rng));
        self.0 = rng;
    }
}

#[cfg(test)]
mod tests {
    use super::assertions::{assert_counts, assert_law, assert_uncorrelated};
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, Normal};
    use statrs::function::gamma::{gamma, gamma_lr};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn first_bytes(stream: &Stream) -> String {
        let mut bytes = [0; 16];
        stream.rng().fill_bytes(&mut bytes);
        hex(&bytes)
    }

    #[test]
    fn keystream_is_the_published_one() {
        // ChaCha8, 256-bit zero key, zero nonce, block 0 (draft-strombergson-chacha-test-vectors, TC1).
        let mut block = [0; 64];
        Stream::new(0).rng().fill_bytes(&mut block);
        assert_eq!(
            hex(&block),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
             984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
        );
    }

    #[test]
    fn frozen_vectors() {
        // Stored results depend on these numbers: a change here invalidates every recorded run.
        let root = Stream::new(42);
        assert_eq!(first_bytes(&root), "87a88f19713427592bf79d16a48a2349");
        assert_eq!(first_bytes(&root.derive("a", 0)), "d22f5f6efda78fd93d21e0d6b4926f0d");
        assert_eq!(first_bytes(&root.derive("a", u64::MAX)), "e8f876b644cf61a49b3b2bb8c53973b7");
        assert_eq!(first_bytes(&root.derive("a", 1).derive("b", 2)), "8ad859aa002da15d20b9a7213aeb2772");
        assert_eq!(root.uniforms(2), [0.3482544685480763, 0.28569857126296205]);
        assert_eq!(root.normals(2), [-0.4516282364694901, -0.9632313609364687]);
        // The platform's powf decides the last bits of a chi-square.
        for (draw, frozen) in
            root.chi_squares(0.1, 2).iter().zip([2.3603978429728806e-10, 5.1880294713820325e-9])
        {
            assert!((draw / frozen - 1.0).abs() < 1e-12);
        }
        assert_eq!(root.signs(8), [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, -1.0]);
        assert_eq!(root.permutation(8), [5, 7, 4, 2, 6, 1, 0, 3]);
    }

    #[test]
    fn uniforms_are_uniform() {
        assert_law(Stream::new(1).uniforms(100_000), |x| x);
    }

    #[test]
    fn normals_are_normal() {
        let law = Normal::new(0.0, 1.0).unwrap();
        assert_law(Stream::new(2).normals(100_000), |x| law.cdf(x));
    }

    #[test]
    fn many_normals_are_normal_and_a_function_of_the_stream() {
        let draws = |seed: u64, parts: &[usize]| {
            let (mut normals, mut all) = (Stream::new(seed).many_normals(), Vec::new());
            for &part in parts {
                let mut some = vec![0.0; part];
                normals.fill(&mut some);
                all.append(&mut some);
            }
            all
        };
        let all = draws(2, &[100_000]);
        assert_eq!(all, draws(2, &[1, 50_000, 49_999]));
        assert_eq!(all[..2], FROZEN, "stored results depend on these numbers");
        assert_uncorrelated(&all, &draws(3, &[100_000]));
        assert_uncorrelated(&all[1..], &all[..99_999]);
        let law = Normal::new(0.0, 1.0).unwrap();
        assert_law(all, |x| law.cdf(x));
    }

    const FROZEN: [f64; 2] = [0.45978704558274697, 0.10067175230598593];

    #[test]
    fn chi_squares_follow_their_law() {
        for degrees in [0.1, 1.0, 5.0, 100.0] {
            let a = degrees / 2.0;
            // P(χ² ≤ x) = P(a, x/2) = (x/2)ᵃ/Γ(a+1)·(1 + O(x)); the library calls tiny arguments zero, where
            // χ²(0.1) has a sixth of its mass.
            let cdf = |x: f64| {
                if x < 1e-9 { (x / 2.0).powf(a) / gamma(a + 1.0) } else { gamma_lr(a, x / 2.0) }
            };
            assert_law(Stream::new(3).chi_squares(degrees, 50_000), cdf);
        }
    }

    #[test]
    #[should_panic(expected = "must be positive")]
    fn chi_square_degrees_must_be_positive() {
        Stream::new(0).chi_squares(0.0, 1);
    }

    #[test]
    fn signs_are_fair() {
        let signs = Stream::new(4).signs(100_000);
        let plus = signs.iter().filter(|s| **s == 1.0).count();
        assert!(signs.iter().all(|s| s.abs() == 1.0));
        assert_counts(&[plus, signs.len() - plus], &[0.5, 0.5]);
    }

    #[test]
    fn derived_streams_are_independent() {
        const N: usize = 50_000;
        let root = Stream::new(5);
        let child = root.derive("x", 0);
        let family = [
            root,
            child,
            root.derive("x", 1),
            root.derive("y", 0),
            root.derive("x", 1 << 63),
            child.derive("x", 0),
            Stream::new(6),
            Stream::new(6).derive("x", 0),
        ]
        .map(|s| s.normals(N));
        for (i, x) in family.iter().enumerate() {
            for y in &family[..i] {
                assert_uncorrelated(x, y);
                assert_uncorrelated(&x[1..], &y[..N - 1]);
                assert_uncorrelated(&x[..N - 1], &y[1..]);
            }
        }
    }

    #[test]
    fn first_draws_across_derived_streams_are_uniform() {
        let root = Stream::new(7);
        let by_index: Vec<f64> = (0..10_000).map(|i| root.derive("x", i).uniforms(1)[0]).collect();
        let by_label: Vec<f64> = (0..10_000).map(|i| root.derive(&i.to_string(), 0).uniforms(1)[0]).collect();
        let by_seed: Vec<f64> = (0..10_000).map(|i| Stream::new(i).uniforms(1)[0]).collect();
        assert_uncorrelated(&by_index, &by_label);
        for draws in [by_index, by_label, by_seed] {
            assert_uncorrelated(&draws[1..], &draws[..draws.len() - 1]);
            assert_law(draws, |x| x);
        }
    }

    #[test]
    fn permutations_are_uniform() {
        let root = Stream::new(8);
        let mut counts = std::collections::BTreeMap::new();
        for i in 0..24_000 {
            *counts.entry(root.derive("p", i).permutation(4)).or_insert(0) += 1;
        }
        let counts: Vec<usize> = counts.into_values().collect();
        assert_counts(&counts, &[1.0 / 24.0; 24]);
        assert_eq!(counts.len(), 24);
        assert!(root.permutation(0).is_empty());
    }

    proptest! {
        #[test]
        fn derivation_is_deterministic_and_distinct(
            seed: u64, a in ".{0,8}", b in ".{0,8}", i: u64, j: u64,
        ) {
            let root = Stream::new(seed);
            let child = root.derive(&a, i);
            prop_assert_eq!(child, Stream::new(seed).derive(&a, i));
            prop_assert_ne!(child, root);
            prop_assert_eq!(child == root.derive(&b, j), a == b && i == j);
            prop_assert_ne!(child, root.derive(&a, i.wrapping_add(1)));
            prop_assert_ne!(child.derive(&a, i), child);
        }

        #[test]
        fn permutations_are_bijections(seed: u64, n in 0..200_usize) {
            let mut p = Stream::new(seed).permutation(n);
            p.sort_unstable();
            prop_assert_eq!(p, (0..n).collect::<Vec<_>>());
        }
    }
}
