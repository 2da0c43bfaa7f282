//! Vectors as slices.

use super::wide::wide;
use rayon::prelude::*;

/// Entries of a vector that one thread takes at a time, where threads share one.
pub(super) const PARALLEL: usize = 1 << 15;

/// a·b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    wide(
        #[inline(always)]
        || inner(a, b),
    )
}

/// a·b, for inlining into wide loops.
#[inline(always)]
pub(super) fn inner(a: &[f64], b: &[f64]) -> f64 {
    let [product] = inners([a], b);
    product
}

/// Partial sums of a dot product: independent ones hide the latency of addition, and fix an order of summation that
/// does not depend on where the slices lie in memory.
pub(super) const LANES: usize = 8;

/// aₖ·b for several aₖ at once, each with the bits it has alone.
#[inline(always)]
pub(super) fn inners<const K: usize>(a: [&[f64]; K], b: &[f64]) -> [f64; K] {
    let mut sums = [[0.0; LANES]; K];
    let rest = add_products(&mut sums, a, b);
    std::array::from_fn(|k| total(sums[k], rest[k]))
}

/// Adds the products of entries to the partial sums; returns the sums of those left over after the last whole group.
#[inline(always)]
pub(super) fn add_products<const K: usize>(
    sums: &mut [[f64; LANES]; K],
    a: [&[f64]; K],
    b: &[f64],
) -> [f64; K] {
    let (chunks, rest) = b.as_chunks::<LANES>();
    let parts = a.map(|a| {
        assert_eq!(a.len(), b.len(), "dot product of unequal lengths");
        let (a, a_rest) = a.as_chunks::<LANES>();
        (&a[..chunks.len()], a_rest)
    });
    let mut local = *sums;
    for (i, b) in chunks.iter().enumerate() {
        for k in 0..K {
            for lane in 0..LANES {
                local[k][lane] += parts[k].0[i][lane] * b[lane];
            }
        }
    }
    *sums = local;
    parts.map(|(_, a_rest)| a_rest.iter().zip(rest).map(|(a, b)| a * b).sum())
}

/// A dot product from its partial sums.
#[inline(always)]
pub(super) fn total(s: [f64; LANES], rest: f64) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])) + rest
}

/// Whether every entry is a finite number.
pub fn is_finite(v: &[f64]) -> bool {
    // A number is not finite if all its exponent bits are set.
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    wide(
        #[inline(always)]
        || !v.iter().fold(false, |bad, a| bad | (a.to_bits() & EXPONENT == EXPONENT)),
    )
}

/// Largest absolute value (0 if empty), or `None` if some value is not finite.
pub(super) fn magnitude(values: &[f64]) -> Option<f64> {
    let mut largest = [0.0_f64; LANES];
    // 0·x is 0 for a finite x and NaN otherwise; a sum propagates NaN, a maximum would not.
    let mut poison = [0.0_f64; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    wide(
        #[inline(always)]
        || {
            for chunk in chunks {
                for lane in 0..LANES {
                    let x = chunk[lane].abs();
                    largest[lane] = if x > largest[lane] { x } else { largest[lane] };
                    poison[lane] += 0.0 * x;
                }
            }
        },
    );
    for x in rest {
        largest[0] = largest[0].max(x.abs());
        poison[0] += 0.0 * x;
    }
    let finite = poison.iter().all(|p| *p == 0.0);
    finite.then(|| largest.into_iter().fold(0.0, f64::max))
}

/// The same, by all threads.
pub(super) fn magnitude_in_parallel(values: &[f64]) -> Option<f64> {
    let blocks = values.par_chunks(PARALLEL).map(magnitude);
    blocks.try_reduce(|| 0.0, |a, b| Some(a.max(b)))
}

/// √vᵢ for every entry.
pub(crate) fn square_roots(v: &[f64]) -> Vec<f64> {
    wide(
        #[inline(always)]
        || v.iter().map(|v| v.sqrt()).collect(),
    )
}

/// The power of two 2^⌊log₂ x⌋ for x > 0, but never subnormal, so that its reciprocal is exact.
pub(crate) fn power_of_two_below(x: f64) -> f64 {
    f64::from_bits((x.to_bits() >> 52).max(1) << 52)
}

/// ‖v‖₂, without intermediate overflow or underflow.
pub fn norm(v: &[f64]) -> f64 {
    let sum = dot(v, v);
    // Within these bounds nothing overflowed, and anything that underflowed is below rounding error.
    if (1e-280..1e300).contains(&sum) {
        return sum.sqrt();
    }
    match magnitude(v) {
        Some(0.0) => 0.0,
        Some(largest) => {
            let factor = power_of_two_below(largest);
            let scaled = scale(factor.recip(), v);
            dot(&scaled, &scaled).sqrt() * factor
        }
        None if v.iter().any(|x| x.is_nan()) => f64::NAN,
        None => f64::INFINITY,
    }
}

/// a + b.
pub fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), b.len(), "sum of unequal lengths");
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// a − b.
pub fn sub(a: &[f64], b: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), b.len(), "difference of unequal lengths");
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// s·v.
pub fn scale(s: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| s * v).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn dot_agrees_with_the_plain_sum(pairs in prop::collection::vec((-1e3..1e3_f64, -1e3..1e3_f64), 0..70)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs.iter().map(|(a, b)| a * b).sum();
            let size: f64 = pairs.iter().map(|(a, b)| (a * b).abs()).sum();
            prop_assert!((dot(&a, &b) - plain).abs() <= 100.0 * f64::EPSILON * size);
        }

        #[test]
        fn norm_is_homogeneous_over_the_whole_range(
            v in prop::collection::vec(-1.0..1.0, 1..40), exponent in -1000..1000,
        ) {
            let v: Vec<f64> = v;
            let factor = 2.0_f64.powi(exponent);
            let direct = norm(&scale(factor, &v));
            let expected = norm(&v) * factor;
            prop_assert!((direct - expected).abs() <= 1e-14 * expected, "{direct} {expected}");
        }

        #[test]
        fn sums_and_multiples_are_elementwise(pairs in prop::collection::vec((-1e3..1e3, -1e3..1e3), 0..20)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            prop_assert_eq!(add(&sub(&a, &b), &scale(-1.0, &a)), sub(&sub(&a, &b), &a));
        }
    }

    #[test]
    fn norm_at_the_edges() {
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, -0.0]), 0.0);
        assert_eq!(norm(&[3.0, -4.0]), 5.0);
        let huge = 2.0_f64.powi(900);
        assert_eq!(norm(&[3.0 * huge, -4.0 * huge]), 5.0 * huge);
        assert_eq!(norm(&[-5e-324]), 5e-324);
        assert_eq!(norm(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
        assert!(norm(&[f64::INFINITY, f64::NAN]).is_nan());
        assert_eq!(norm(&[f64::MAX]), f64::MAX);
    }
}
