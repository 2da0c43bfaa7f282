//! Loops over rows of few columns: their length is known to the compiler, so that a row, x and the sums stay in
//! registers. Results have the bits of the loops for any length.

use super::vector::inner;

/// Calls a function with the number of columns as its generic constant; `None` unless there are 1 to 16 of them.
macro_rules! for_width {
    ($cols:expr, $f:ident($($arg:expr),*)) => {
        for_width!(@ $cols, $f($($arg),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (@ $cols:expr, $f:ident $args:tt, $($width:literal)*) => {
        match $cols {
            $($width => Some(for_width!(@call $f, $width, $args)),)*
            _ => None,
        }
    };
    (@call $f:ident, $width:literal, ($($arg:expr),*)) => { $f::<$width>($($arg),*) };
}

/// y ← A·x − y; false if A has too many columns.
#[inline(always)]
pub(super) fn subtract_from_products(rows: &[f64], x: &[f64], y: &mut [f64]) -> bool {
    for_width!(x.len(), subtract(rows, x, y)).is_some()
}

/// r ← A·x − r and sum ← sum + Aᵀ·r; false if A has too many columns.
#[inline(always)]
pub(super) fn residual_and_gradient(rows: &[f64], x: &[f64], r: &mut [f64], sum: &mut [f64]) -> bool {
    for_width!(x.len(), both(rows, x, r, sum)).is_some()
}

#[inline(always)]
fn subtract<const N: usize>(rows: &[f64], x: &[f64], y: &mut [f64]) {
    let x: &[f64; N] = x.try_into().expect("N columns");
    for (row, y) in rows.as_chunks::<N>().0.iter().zip(y) {
        *y = inner(row, x) - *y;
    }
}

#[inline(always)]
fn both<const N: usize>(rows: &[f64], x: &[f64], r: &mut [f64], sum: &mut [f64]) {
    let x: &[f64; N] = x.try_into().expect("N columns");
    let sum: &mut [f64; N] = sum.try_into().expect("N columns");
    let mut total = *sum;
    for (row, r) in rows.as_chunks::<N>().0.iter().zip(r) {
        *r = inner(row, x) - *r;
        for j in 0..N {
            total[j] += *r * row[j];
        }
    }
    *sum = total;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn narrow_rows_give_the_bits_of_any_rows() {
        for n in 1..=16 {
            let (rows, x, b) =
                (Stream::new(1).normals(23 * n), Stream::new(2).normals(n), Stream::new(3).normals(23));
            let (mut y, mut r, mut sum) = (b.clone(), b.clone(), Stream::new(4).normals(n));
            let mut expected = sum.clone();
            assert!(subtract_from_products(&rows, &x, &mut y));
            assert!(residual_and_gradient(&rows, &x, &mut r, &mut sum));
            for (i, row) in rows.chunks(n).enumerate() {
                let difference = inner(row, &x) - b[i];
                assert!(y[i] == difference && r[i] == difference, "{n} columns, row {i}");
                expected.iter_mut().zip(row).for_each(|(sum, a)| *sum += difference * a);
            }
            assert_eq!(sum, expected, "{n} columns");
        }
        assert!(!subtract_from_products(&[1.0; 17], &[1.0; 17], &mut [1.0]));
        assert!(!residual_and_gradient(&[], &[], &mut [], &mut []));
    }
}
