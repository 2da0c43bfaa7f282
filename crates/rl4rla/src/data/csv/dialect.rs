//! The dialect of a text file: the delimiter and the decimal separator.
//!
//! Every dialect is tried on the first lines. The one in which most cells are numbers or missing values is chosen.
//! Ties are broken in favour of dialects with several cells per line, so that `1,2` is not taken for 1.2 if it may be
//! a 1 and a 2; then of those with equally many cells in every line; then of the one with most cells; then of the
//! first in the table.

use super::super::Reading;
use super::cell::CsvCell;
use super::fields::Delimiter;
use std::cmp::Reverse;

/// A dialect of CSV.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// The delimiter.
    pub delimiter: Delimiter,
    /// The decimal separator.
    pub decimal: u8,
}

/// The dialects that are tried, common ones first.
const WAYS: [(u8, u8); 10] = [
    (b',', b'.'),
    (b';', b'.'),
    (b'\t', b'.'),
    (b'|', b'.'),
    (b' ', b'.'),
    (b';', b','),
    (b'\t', b','),
    (b'|', b','),
    (b' ', b','),
    // Only with quoted numbers.
    (b',', b','),
];

/// Number of lines examined.
const RECORDS: usize = 50;

impl Dialect {
    /// The dialect of a file that begins with this sample; explicit settings take precedence.
    pub fn of(sample: &[u8], reading: &Reading) -> Dialect {
        let given = reading.delimiter.into_iter().flat_map(|sign| [(sign, b'.'), (sign, b',')]);
        let ways = WAYS.into_iter().chain(given);
        let allowed = |&(sign, decimal): &(u8, u8)| {
            reading.delimiter.is_none_or(|given| given == sign)
                && reading.decimal.is_none_or(|given| given == decimal)
        };
        ways.filter(allowed)
            .map(|(sign, decimal)| Dialect { delimiter: Delimiter::of(sign), decimal })
            .enumerate()
            .max_by_key(|(place, dialect)| (dialect.fit(sample), Reverse(*place)))
            .map(|(_, dialect)| dialect)
            .expect("every sign is a way with one of the decimal signs")
    }

    /// Goodness of fit: understood cells per 2¹⁶, whether lines have several cells, whether all have equally many,
    /// how many.
    fn fit(self, sample: &[u8]) -> (usize, bool, bool, usize) {
        let records = self.records(sample);
        // The first record may hold the names.
        let body = if records.len() > 1 { &records[1..] } else { &records[..] };
        let cells = || body.iter().flat_map(|record| self.delimiter.fields(record));
        let understood = cells().filter(|cell| !CsvCell::read(cell, self.decimal).is_text()).count();
        let all = cells().count().max(1);
        let count = |record: &&[u8]| self.delimiter.fields(record).count();
        let cols = body.first().map_or(0, count);
        let even = records.iter().all(|record| count(record) == cols);
        ((understood << 16) / all, cols > 1, even, cols)
    }

    /// The first records of a sample, except one that may be cut off at its end.
    fn records(self, sample: &[u8]) -> Vec<&[u8]> {
        let (mut records, mut rest) = (Vec::new(), sample);
        while !rest.is_empty() && records.len() < RECORDS {
            let (mut end, mut inside) = (0, false);
            while end < rest.len() {
                let line = rest[end..].split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
                end += line.len();
                inside = (inside || line.contains(&b'"')) && self.delimiter.ends_inside(line, inside);
                if !inside {
                    break;
                }
            }
            let (record, after) = rest.split_at(end);
            let cut = record.last() != Some(&b'\n') && !records.is_empty();
            if !cut && !self.delimiter.blank(record) {
                records.push(record);
            }
            rest = after;
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sample: &str) -> (u8, char) {
        let dialect = Dialect::of(sample.as_bytes(), &Reading::default());
        let sign = match dialect.delimiter {
            Delimiter::Sign(sign) => sign,
            Delimiter::Blanks => b' ',
        };
        (sign, char::from(dialect.decimal))
    }

    #[test]
    fn ways_of_writing_are_told_apart() {
        for (sample, way) in [
            ("1,2,3\n4,5,6\n", (b',', '.')),
            ("1, 2, 3\n4, 5, 6\n", (b',', '.')),
            ("a;b\n1,5;2,0\n", (b';', ',')),
            ("1,5;2,0", (b';', ',')),
            ("1.5;2.0\n3;4\n", (b';', '.')),
            ("x\ty\n1.5\t\n2\t3\n", (b'\t', '.')),
            ("1,5\t2\n", (b'\t', ',')),
            ("1|2\n3|NA\n", (b'|', '.')),
            ("  1   2.5 3\n 4  5 6\n", (b' ', '.')),
            ("1,5 2,5\n3,5 4,5\n", (b' ', ',')),
            ("\"1,5\",\"2,5\"\n\"3,5\",\"4,5\"\n", (b',', ',')),
            // One column: no delimiter.
            ("1.5\n2.5\n", (b',', '.')),
            // Two columns, not one column with a decimal comma.
            ("1,5\n2,5\n", (b',', '.')),
            ("a note, and more\n1,5\n2,5\n", (b',', '.')),
            ("a note\n1,5\n2,5\n", (b',', '.')),
            ("name,size\nred,1\nblue,2\n", (b',', '.')),
            ("day,a\n2024-01-01 10:00,1\n2024-01-02 11:00,2\n", (b',', '.')),
            ("\"last, first\";a\n\"Doe, J.\";1\n\"Roe; R.\";2\n", (b';', '.')),
            // Lines of different lengths are still lines of numbers.
            ("1,2,3\n4,5\n6,7,8\n", (b',', '.')),
            // Names only.
            ("a;b;c", (b';', '.')),
        ] {
            assert_eq!(told(sample), way, "{sample:?}");
        }
    }

    #[test]
    fn what_is_given_is_not_questioned() {
        let reading = Reading { delimiter: Some(b':'), ..Reading::default() };
        let dialect = Dialect::of(b"1,5:2,5\n", &reading);
        assert_eq!(dialect, Dialect { delimiter: Delimiter::Sign(b':'), decimal: b',' });
        let reading = Reading { decimal: Some(b','), ..Reading::default() };
        assert_eq!(Dialect::of(b"1,5\n2,5\n", &reading).decimal, b',');
        assert_eq!(Dialect::of(b"1;2\n", &reading).delimiter, Delimiter::Sign(b';'));
        let reading = Reading { decimal: Some(b'.'), delimiter: Some(b';'), ..Reading::default() };
        let dialect = Dialect::of(b"1,5;2\n", &reading);
        assert_eq!(dialect, Dialect { delimiter: Delimiter::Sign(b';'), decimal: b'.' });
    }
}
