//! Decimal numbers, correctly rounded: plain ones by a single division, all others by the standard library.

use std::str;

/// Number of decimal digits that always fit into 64 bits.
const DIGITS: usize = 19;

/// 10⁰, …, 10¹⁹.
const POWERS: [u64; DIGITS + 1] = {
    let mut powers = [1; DIGITS + 1];
    let mut k = 1;
    while k <= DIGITS {
        powers[k] = 10 * powers[k - 1];
        k += 1;
    }
    powers
};

/// Parses a number, rounded like [`str::parse`]; it may be infinite or NaN.
pub fn number(text: &[u8], decimal: u8) -> Option<f64> {
    match plain(text, decimal) {
        Some((number, end)) if end == text.len() => Some(number),
        _ if decimal == b'.' => str::from_utf8(text).ok()?.parse().ok(),
        // A point in such a file separates thousands or is a mistake; it must not be taken for the decimal separator.
        _ if text.contains(&b'.') => None,
        _ => str::from_utf8(text).ok()?.replacen(char::from(decimal), ".", 1).parse().ok(),
    }
}

/// The number at the beginning of a text, and where it ends, if it has at most 19 digits and no exponent. The caller
/// must check that the number does not continue after that.
pub fn plain(text: &[u8], decimal: u8) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut mantissa, mut at, mut point) = (0_u64, start, None);
    for &byte in &text[start..] {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // Overflow is rejected below, by the number of digits.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == decimal && point.is_none() {
            point = Some(at + 1);
        } else {
            break;
        }
        at += 1;
    }
    let behind = point.map_or(0, |point| at - point);
    let digits = at - start - usize::from(point.is_some());
    if digits == 0 || digits > DIGITS {
        return None;
    }
    let size = quotient(mantissa, behind);
    Some((if negative { -size } else { size }, at))
}

/// m/10ᵏ rounded to the nearest f64, ties to even, for k ≤ 19.
fn quotient(m: u64, k: usize) -> f64 {
    let d = POWERS[k];
    // Both are exact, as powers of ten are up to 10²²: a single division rounds once.
    if m <= 1 << f64::MANTISSA_DIGITS {
        return m as f64 / d as f64;
    }
    if k == 0 {
        return m as f64;
    }
    // With both shifted to their highest bit, q = ⌊2⁶³m/d⌋ has 63 or 64 bits. Its last bit is set if there is a
    // remainder: this sticky bit is far below the bits that are kept, and is all that rounding needs.
    let (m_shift, d_shift) = (m.leading_zeros(), d.leading_zeros());
    let (n, d) = (u128::from(m << m_shift) << 63, u128::from(d << d_shift));
    let q = (n / d) as u64 | u64::from(n % d != 0);
    let exponent = d_shift as i32 - m_shift as i32 - 63;
    // Multiplying by a power of two is exact: m/10ᵏ is at least 10⁻¹⁹, far from underflow.
    q as f64 * f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(text: &str) {
        let ours = number(text.as_bytes(), b'.').map(f64::to_bits);
        assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits), "{text}");
        if !text.contains(',') {
            let comma = number(text.replacen('.', ",", 1).as_bytes(), b',').map(f64::to_bits);
            assert_eq!(ours, comma, "{text} with a comma");
        }
    }

    #[test]
    fn hard_and_odd_texts_read_as_the_standard_library_reads_them() {
        for text in [
            "",
            "-",
            "+",
            ".",
            "-.",
            "0",
            "-0",
            "-0.0",
            "+1",
            "1.",
            ".5",
            "-.5",
            "00001",
            "1..2",
            "1.2.3",
            "1e5",
            "1e",
            "1e400",
            "-1e400",
            "1e-400",
            "5e-324",
            "inf",
            "NaN",
            "0x10",
            "1_000",
            " 1",
            "1 ",
            "١",
            // Halfway between two adjacent numbers, and next to that.
            "9007199254740993",
            "9007199254740992.5",
            "9007199254740993.0",
            "9007199254740993.001",
            "9007199254740995",
            "900719925474099.35",
            "18446744073709551615",
            "9999999999999999999",
            "0.9999999999999999999",
            "0.0000000000000000001",
            "1844674407370955161.5",
            "12345678901234567890",
            "0.12345678901234567",
            "123456789.123456789012345678901234567890",
        ] {
            same(text);
        }
        assert_eq!(number(b"1.234,5", b','), None, "thousands are not set apart");
        assert_eq!(number(b"1.5", b','), None, "a point may be for thousands");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn digits_read_as_the_standard_library_reads_them(text in "-?[0-9]{0,12}(\\.[0-9]{0,19})?(e-?[0-9]{1,2})?") {
            same(&text);
        }

        #[test]
        fn numbers_written_in_full_are_read_back(x in any::<f64>(), y in -10.0..10.0f64, digits in 0_usize..19) {
            same(&format!("{x}"));
            same(&format!("{y}"));
            same(&format!("{y:.digits$}"));
            same(&format!("{y:.digits$e}"));
        }

        /// h/2ᵗ, halfway between two adjacent f64, truncated to 19 digits, and the next decimal above: only the
        /// remainder of the division distinguishes these from the halfway point.
        #[test]
        fn what_is_next_to_a_middle_is_rounded_to_its_side(
            half in (1_u64 << 52)..(1 << 53),
            t in 0_u32..50,
            up in any::<bool>(),
        ) {
            let h = u128::from(2 * half + 1);
            let scaled = |k: usize| (h * u128::from(POWERS[k])) >> t;
            let k = (0..=DIGITS).rev().find(|k| scaled(*k) + 1 < u128::from(POWERS[DIGITS])).unwrap();
            let digits = (scaled(k) + u128::from(up)).to_string();
            let (whole, behind) = digits.split_at(digits.len() - k);
            same(&format!("{whole}.{behind}"));
        }
    }
}
