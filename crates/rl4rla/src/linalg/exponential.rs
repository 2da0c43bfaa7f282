//! Functions of vectors that need an exponential: loops without branches or calls, so that they run as wide vectors.
//!
//! Each is one formula for one number; the loops only repeat it, so that a number gets the same bits wherever it
//! stands. Errors are below two units in the last place, except that results below 10⁻³⁰⁷ may be flushed to 0.

use super::vector::PARALLEL;
use super::wide::wide;
use rayon::prelude::*;
use std::f64::consts::LOG2_E;

/// Arguments of an exponential beyond ±this are taken to be ±this: its square would be out of range.
const LARGEST: f64 = 708.0;
/// ln 2 in two parts: the first has so few digits that its product with an exponent is exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Adding it rounds to an integer, which is then in the lowest bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
/// 1/2!, 1/3!, …, 1/13!.
const TAYLOR: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];
/// The polynomial of the logarithm in s², where s = f/(2 + f) and |f| ≤ √2 − 1, from FreeBSD's `e_log.c`, the last
/// coefficient first.
const LOGARITHM: [f64; 7] = [
    1.479_819_860_511_658_6e-1,
    1.531_383_769_920_937_3e-1,
    1.818_357_216_161_805e-1,
    2.222_219_843_214_978_4e-1,
    2.857_142_874_366_239e-1,
    3.999_999_999_940_942e-1,
    6.666_666_666_666_735e-1,
];

/// eˣ for |x| ≤ [`LARGEST`], and that of the nearest such number elsewhere; NaN stays NaN.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let x = if x > LARGEST { LARGEST } else { x };
    let x = if x < -LARGEST { -LARGEST } else { x };
    // x = k·ln 2 + r with an integer k and |r| ≤ ln(2)/2.
    let shifted = x * LOG2_E + ROUNDING;
    let k = shifted - ROUNDING;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    // In parts of four terms, which do not wait for each other.
    let r2 = r * r;
    let part = |i: usize| (TAYLOR[i] + TAYLOR[i + 1] * r) + (TAYLOR[i + 2] + TAYLOR[i + 3] * r) * r2;
    let tail = part(0) + r2 * r2 * (part(4) + r2 * r2 * part(8));
    let power = 1.0 + (r + r2 * tail);
    // The exponent of a result in range can be added to the bits.
    let scaled = f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x.is_nan() { x } else { scaled }
}

/// ln(1 + y) for 0 ≤ y ≤ 1.
#[inline(always)]
fn ln_1p(y: f64) -> f64 {
    // 1 + y = 2ᵏ·(1 + f), and c is what rounding 1 + y lost.
    let u = 1.0 + y;
    let halved = u > std::f64::consts::SQRT_2;
    let k = if halved { 1.0 } else { 0.0 };
    let f = if halved { 0.5 * u - 1.0 } else { y };
    let c = if halved { (1.0 - (u - y)) / u } else { 0.0 };
    let (s, half) = (f / (2.0 + f), 0.5 * f * f);
    let z = s * s;
    let series = z * LOGARITHM.iter().fold(0.0, |sum, coefficient| sum * z + coefficient);
    k * LN_2[0] - ((half - (s * (half + series) + (k * LN_2[1] + c))) - f)
}

/// σ(z) = 1/(1 + e⁻ᶻ).
#[inline(always)]
pub fn sigmoid(z: f64) -> f64 {
    let p = 1.0 / (1.0 + exp(-z));
    if z < -LARGEST { 0.0 } else { p }
}

/// ln(1 + eᶻ), without overflow.
#[inline(always)]
pub fn softplus(z: f64) -> f64 {
    let positive = if z > 0.0 { z } else { 0.0 };
    positive + ln_1p(exp(-z.abs()))
}

/// σ of every entry; long vectors are shared by all threads.
pub fn sigmoids(z: &[f64]) -> Vec<f64> {
    let mut p = z.to_vec();
    let each = |p: &mut [f64]| {
        wide(
            #[inline(always)]
            || {
                for p in p {
                    *p = sigmoid(*p);
                }
            },
        );
    };
    if p.len() > PARALLEL {
        p.par_chunks_mut(PARALLEL).for_each(each)
    } else {
        each(&mut p)
    }
    p
}

/// Σᵢ ln(1 + exp(zᵢ)) − bᵢ·zᵢ, the cross-entropy at margins z of labels bᵢ ∈ {0, 1}; long vectors are shared by all
/// threads, in blocks of fixed length.
pub fn cross_entropy(z: &[f64], b: &[f64]) -> f64 {
    assert_eq!(z.len(), b.len(), "margins and labels of unequal lengths");
    if z.len() <= PARALLEL {
        return cross_entropy_of_block(z, b);
    }
    let blocks = z.par_chunks(PARALLEL).zip(b.par_chunks(PARALLEL));
    let sums: Vec<f64> = blocks.map(|(z, b)| cross_entropy_of_block(z, b)).collect();
    sums.iter().sum()
}

fn cross_entropy_of_block(z: &[f64], b: &[f64]) -> f64 {
    // As in a dot product, several sums that do not wait for each other.
    const LANES: usize = 8;
    wide(
        #[inline(always)]
        || {
            let ((z, z_rest), (b, b_rest)) = (z.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (z, b) in z.iter().zip(b) {
                for lane in 0..LANES {
                    sums[lane] += softplus(z[lane]) - b[lane] * z[lane];
                }
            }
            let rest: f64 = z_rest.iter().zip(b_rest).map(|(z, b)| softplus(*z) - b * z).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The distance of two numbers, relative to a unit in the last place of the second.
    fn ulps(found: f64, expected: f64) -> f64 {
        let unit = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
        (found - expected).abs() / unit
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn they_agree_with_the_library(x in -708.0..708.0, small in -3.0..3.0, y in 0.0..1.0, e in -300..0) {
            for x in [x, small, 1e-9 * small] {
                prop_assert!(ulps(exp(x), x.exp()) <= 2.0, "exp {x}");
                // Two units of the exponential can be four of its reciprocal; a sum and a quotient are rounded.
                prop_assert!(ulps(sigmoid(x), 1.0 / (1.0 + (-x).exp())) <= 5.0, "sigmoid {x}");
                let plus = x.max(0.0) + (-x.abs()).exp().ln_1p();
                prop_assert!(ulps(softplus(x), plus) <= 3.0, "softplus {x}");
            }
            for y in [y, y * 10f64.powi(e)] {
                prop_assert!(ulps(ln_1p(y), f64::ln_1p(y)) <= 2.0, "ln_1p {y}");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!([0.0, 40.0, 800.0, -800.0, f64::INFINITY].map(sigmoid), [0.5, 1.0, 1.0, 0.0, 1.0]);
        assert_eq!([1000.0, -1000.0, 0.0].map(softplus), [1000.0, softplus(-708.0), 2f64.ln()]);
        assert!(softplus(-708.0) < 1e-307);
        assert!([sigmoid(f64::NAN), softplus(f64::NAN), exp(f64::NAN)].iter().all(|x| x.is_nan()));
        assert_eq!([ln_1p(0.0), ln_1p(1.0), ln_1p(1e-300)], [0.0, 2f64.ln(), 1e-300]);
    }

    #[test]
    fn a_vector_has_the_bits_of_its_entries() {
        let z: Vec<f64> = (0..37).map(|i| 1.7 * (i as f64 - 18.0)).collect();
        let b: Vec<f64> = (0..37).map(|i| f64::from(i % 3 == 0)).collect();
        assert_eq!(sigmoids(&z), z.iter().map(|z| sigmoid(*z)).collect::<Vec<_>>());
        let plain: f64 = z.iter().zip(&b).map(|(z, b)| z.max(0.0) + (-z.abs()).exp().ln_1p() - b * z).sum();
        assert!((cross_entropy(&z, &b) - plain).abs() <= 1e-13 * plain);
        // Longer ones are shared by threads.
        let many = |v: &[f64]| v.iter().copied().cycle().take(3 * PARALLEL + 37).collect::<Vec<f64>>();
        let (z, b) = (many(&z), many(&b));
        assert_eq!(sigmoids(&z), z.iter().map(|z| sigmoid(*z)).collect::<Vec<_>>());
        let plain: f64 = z.iter().zip(&b).map(|(z, b)| softplus(*z) - b * z).sum();
        let all = || cross_entropy(&z, &b);
        assert!((all() - plain).abs() <= 1e-12 * plain);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(all), all(), "{threads} threads");
        }
    }
}
