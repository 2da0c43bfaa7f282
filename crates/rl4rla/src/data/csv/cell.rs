//! What stands in a cell of a text file: a number, nothing, or something else.

use std::str;

/// A cell, understood.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    /// A finite number.
    Number(f64),
    /// One of the ways to say that there is no value.
    Missing,
    /// Infinity, or a number beyond the largest of 64 bits.
    Infinite,
    /// Anything else.
    Text,
}

/// The ways to say that there is no value, in small letters.
const MISSING: [&str; 12] = ["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "?", "-", "--"];

impl Cell {
    /// Reads a cell without blanks around it.
    pub fn read(cell: &[u8], decimal: u8) -> Cell {
        match number(cell, decimal) {
            Some(number) if number.is_finite() => Cell::Number(number),
            Some(number) if number.is_infinite() => Cell::Infinite,
            _ if MISSING.iter().any(|marker| cell.eq_ignore_ascii_case(marker.as_bytes())) => Cell::Missing,
            _ => Cell::Text,
        }
    }

    /// Whether the cell says something, and no number.
    pub fn is_text(self) -> bool {
        self == Cell::Text
    }
}

/// The number with this text, rounded as [`str::parse`] does it.
pub fn number(text: &[u8], decimal: u8) -> Option<f64> {
    match decimal {
        b'.' => str::from_utf8(text).ok()?.parse().ok(),
        // A point in such a file sets thousands apart, or is a mistake: never to be taken for the decimal sign.
        _ if text.contains(&b'.') => None,
        _ => {
            let mut short = [0; 48];
            let long;
            let pointed = match short.get_mut(..text.len()) {
                Some(short) => {
                    short.copy_from_slice(text);
                    if let Some(place) = text.iter().position(|byte| *byte == decimal) {
                        short[place] = b'.';
                    }
                    &*short
                }
                None => {
                    long = str::from_utf8(text).ok()?.replacen(char::from(decimal), ".", 1);
                    long.as_bytes()
                }
            };
            str::from_utf8(pointed).ok()?.parse().ok()
        }
    }
}
