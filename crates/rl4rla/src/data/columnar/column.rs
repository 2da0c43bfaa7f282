//! Columns of numbers, whatever their type, as 64-bit floating-point numbers.

use super::super::error::CATEGORIES;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::DataType;
use std::ops::Range;
use std::sync::Arc;

/// Powers of ten up to this one are exact.
const EXACT_POWER: i8 = 22;

/// Why a column of this type is refused, and what to do about it; nothing if it holds numbers.
pub(super) fn objection(kind: &DataType) -> Option<(&'static str, &'static str)> {
    match kind {
        DataType::Boolean => None,
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => objection(values),
        kind if kind.is_numeric() => None,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(("text", CATEGORIES)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Some(("bytes", "leave the column out, or save it as numbers"))
        }
        DataType::Null => Some(("nothing", "leave the column out")),
        kind if kind.is_temporal() => {
            Some(("dates or times", "convert them to numbers, for example days since the first"))
        }
        _ => Some(("nested values", "save every number in a column of its own")),
    }
}

/// Number of bits that an entry takes in an uncompressed Arrow file.
pub(super) fn bits(kind: &DataType) -> usize {
    match kind {
        DataType::Dictionary(keys, _) => bits(keys),
        DataType::Boolean => 1,
        kind => 8 * kind.primitive_width().unwrap_or(0),
    }
}

/// The column without a dictionary, so that entries can be read at their place.
pub(super) fn direct(column: ArrayRef) -> ArrayRef {
    let Some(dictionary) = column.as_any_dictionary_opt() else { return column };
    let values = dictionary.values();
    let mut numbers = vec![0.0; values.len()];
    spread(values, 0..values.len(), &mut numbers, 1);
    let keys = if values.is_empty() { vec![0; column.len()] } else { dictionary.normalized_keys() };
    let entries = keys.into_iter().enumerate().map(|(place, key)| {
        let present = !values.is_empty() && column.is_valid(place) && values.is_valid(key);
        present.then(|| numbers[key])
    });
    Arc::new(entries.collect::<Float64Array>())
}

/// Writes some rows of a column to `into`, an entry every `step` places; NaN for what is missing.
pub(super) fn spread(column: &dyn Array, rows: Range<usize>, into: &mut [f64], step: usize) {
    let places = into.iter_mut().step_by(step);
    match column.data_type() {
        DataType::Boolean => {
            let values = column.as_boolean().values();
            places.zip(rows.clone()).for_each(|(place, row)| *place = f64::from(values.value(row)));
        }
        DataType::Int8 => numbers::<Int8Type>(column, &rows, places, f64::from),
        DataType::Int16 => numbers::<Int16Type>(column, &rows, places, f64::from),
        DataType::Int32 => numbers::<Int32Type>(column, &rows, places, f64::from),
        DataType::Int64 => numbers::<Int64Type>(column, &rows, places, |value| value as f64),
        DataType::UInt8 => numbers::<UInt8Type>(column, &rows, places, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(column, &rows, places, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(column, &rows, places, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(column, &rows, places, |value| value as f64),
        DataType::Float16 => numbers::<Float16Type>(column, &rows, places, |value| value.to_f64()),
        DataType::Float32 => numbers::<Float32Type>(column, &rows, places, f64::from),
        DataType::Float64 => numbers::<Float64Type>(column, &rows, places, |value| value),
        DataType::Decimal32(_, scale) => {
            numbers::<Decimal32Type>(column, &rows, places, |value| decimal(value.into(), *scale));
        }
        DataType::Decimal64(_, scale) => {
            numbers::<Decimal64Type>(column, &rows, places, |value| decimal(value.into(), *scale));
        }
        DataType::Decimal128(_, scale) => {
            numbers::<Decimal128Type>(column, &rows, places, |value| decimal(value, *scale));
        }
        DataType::Decimal256(_, scale) => {
            numbers::<Decimal256Type>(column, &rows, places, |value| match value.to_i128() {
                Some(value) => decimal(value, *scale),
                None => parsed(&value.to_string(), *scale),
            });
        }
        kind => unreachable!("a column of {kind} was let in"),
    }
    if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (place, row) in into.iter_mut().step_by(step).zip(rows) {
            if nulls.is_null(row) {
                *place = f64::NAN;
            }
        }
    }
}

fn numbers<'a, T: ArrowPrimitiveType>(
    column: &dyn Array,
    rows: &Range<usize>,
    places: impl Iterator<Item = &'a mut f64>,
    number: impl Fn(T::Native) -> f64,
) {
    let values = &column.as_primitive::<T>().values()[rows.clone()];
    places.zip(values).for_each(|(place, value)| *place = number(*value));
}

/// digits·10⁻ˢᶜᵃˡᵉ, rounded once.
fn decimal(digits: i128, scale: i8) -> f64 {
    // Both exact, so that the quotient is rounded correctly.
    match digits.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS && (0..=EXACT_POWER).contains(&scale) {
        true => digits as f64 / 10_f64.powi(scale.into()),
        false => parsed(&digits.to_string(), scale),
    }
}

fn parsed(digits: &str, scale: i8) -> f64 {
    format!("{digits}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        BooleanArray, Decimal128Array, Decimal256Array, DictionaryArray, Int32Array, UInt64Array,
    };
    use arrow_buffer::i256;
    use arrow_schema::TimeUnit;

    fn all(column: impl Array + 'static) -> Vec<f64> {
        let column = direct(Arc::new(column));
        let mut numbers = vec![-1.0; 2 * column.len()];
        spread(&column, 0..column.len(), &mut numbers, 2);
        assert!(numbers.chunks(2).all(|pair| pair[1] == -1.0), "the other column is untouched");
        numbers.into_iter().step_by(2).collect()
    }

    #[test]
    fn numbers_of_every_type_are_widened() {
        assert_eq!(all(BooleanArray::from(vec![true, false])), [1.0, 0.0]);
        assert_eq!(all(UInt64Array::from(vec![u64::MAX, 7])), [u64::MAX as f64, 7.0]);
        let decimals = Decimal128Array::from(vec![12345, -1, (1 << 53) + 1]);
        let decimals = decimals.with_precision_and_scale(30, 3).unwrap();
        assert_eq!(all(decimals), [12.345, -0.001, 9007199254740.993]);
        let far = i256::from_parts(0, 1 << 100);
        let wide = Decimal256Array::from(vec![far]).with_precision_and_scale(76, 0).unwrap();
        assert_eq!(all(wide), [2_f64.powi(228)]);
        let column = Float64Array::from(vec![Some(1.5), None, Some(-0.0)]);
        let numbers = all(column);
        assert!(numbers[0] == 1.5 && numbers[1].is_nan() && numbers[2].to_bits() == (-0.0_f64).to_bits());
        let mut part = [0.0; 2];
        spread(&Int32Array::from(vec![1, 2, 3, 4]), 1..3, &mut part, 1);
        assert_eq!(part, [2.0, 3.0]);
    }

    #[test]
    fn dictionaries_are_looked_up() {
        let values = Arc::new(Int32Array::from(vec![Some(10), None, Some(30)]));
        let keys = Int32Array::from(vec![Some(2), Some(0), None, Some(1)]);
        let numbers = all(DictionaryArray::new(keys, values));
        assert_eq!(numbers[..2], [30.0, 10.0]);
        assert!(numbers[2..].iter().all(|number| number.is_nan()));
        let none =
            DictionaryArray::new(Int32Array::from(vec![None]), Arc::new(Int32Array::from(Vec::<i32>::new())));
        assert!(all(none)[0].is_nan());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
        for kind in [DataType::Float16, DataType::Decimal256(40, 2), dictionary(DataType::UInt8)] {
            assert_eq!(objection(&kind), None, "{kind}");
        }
        for (kind, found) in [
            (DataType::LargeUtf8, "text"),
            (dictionary(DataType::Utf8View), "text"),
            (DataType::FixedSizeBinary(4), "bytes"),
            (DataType::Timestamp(TimeUnit::Second, None), "dates or times"),
            (DataType::Duration(TimeUnit::Second), "dates or times"),
            (DataType::Null, "nothing"),
            (DataType::new_list(DataType::Float64, true), "nested values"),
        ] {
            assert_eq!(objection(&kind).unwrap().0, found, "{kind}");
        }
    }
}
