//! The content of a cell of a text file: a number, a missing value, or something else.

use super::decimal::number;

/// A parsed cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CsvCell {
    /// A finite number.
    Number(f64),
    /// One of the notations for a missing value.
    Missing,
    /// Infinity, or a number that overflows 64 bits.
    Infinite,
    /// Anything else.
    Text,
}

/// The notations for a missing value, in lower case.
const MISSING: [&str; 12] = ["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "?", "-", "--"];

impl CsvCell {
    /// Parses a cell without surrounding blanks.
    pub fn read(cell: &[u8], decimal: u8) -> CsvCell {
        match number(cell, decimal) {
            Some(number) if number.is_finite() => CsvCell::Number(number),
            Some(number) if number.is_infinite() => CsvCell::Infinite,
            _ if MISSING.iter().any(|marker| cell.eq_ignore_ascii_case(marker.as_bytes())) => {
                CsvCell::Missing
            }
            _ => CsvCell::Text,
        }
    }

    /// Whether the cell has content that is not a number.
    pub fn is_text(self) -> bool {
        self == CsvCell::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_nothing_or_something_else() {
        let read = |cell: &str| CsvCell::read(cell.as_bytes(), b'.');
        assert_eq!([read("1"), read("-2.5e3"), read("+7.")], [1.0, -2500.0, 7.0].map(CsvCell::Number));
        for missing in ["", "NA", "n/a", "NaN", "nan", "NULL", "None", "?", "-", "#N/A"] {
            assert_eq!(read(missing), CsvCell::Missing, "{missing}");
        }
        for infinite in ["inf", "-Infinity", "1e309", "-1e999999999"] {
            assert_eq!(read(infinite), CsvCell::Infinite, "{infinite}");
        }
        for text in ["red", "1,5", "1 000", "0x1f", "2024-01-01", "−1", "1e", "nano"] {
            assert_eq!(read(text), CsvCell::Text, "{text}");
        }
        assert_eq!(CsvCell::read(b"1,5", b','), CsvCell::Number(1.5));
        assert_eq!(CsvCell::read(b"\xff\xfe", b'.'), CsvCell::Text);
    }
}
