//! Errors in files.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a file; everything is counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilePosition {
    /// The file as a whole.
    File,
    /// A line number, as shown by an editor.
    Line(usize),
    /// A cell of a line, with the name of its column if it has one.
    Cell {
        /// The line number, as shown by an editor.
        line: usize,
        /// The number of the cell in that line.
        column: usize,
        /// The name of the column.
        name: Option<String>,
    },
    /// An entry of a matrix whose file has no lines.
    Entry {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A column of a table that is stored by columns.
    Column {
        /// The column.
        column: usize,
        /// Its name.
        name: String,
    },
    /// An entry of such a table.
    Field {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// Its name.
        name: String,
    },
}

/// A file that cannot be used, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataError {
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub place: FilePosition,
    /// What is wrong there.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

impl DataError {
    /// An error that concerns the whole file.
    pub fn file(path: &Path, message: impl Into<String>, advice: impl Into<String>) -> DataError {
        DataError::at(path, FilePosition::File, message, advice)
    }

    /// An error at one place.
    pub(super) fn at(
        path: &Path,
        place: FilePosition,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> DataError {
        DataError { path: path.into(), place, message: message.into(), advice: advice.into() }
    }

    /// The same error with other advice.
    pub(super) fn advise(self, advice: impl Into<String>) -> DataError {
        DataError { advice: advice.into(), ..self }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FilePosition::File => Ok(()),
            FilePosition::Line(line) => write!(f, ", line {line}"),
            FilePosition::Cell { line, column, name: None } => write!(f, ", line {line}, column {column}"),
            FilePosition::Cell { line, column, name: Some(name) } => {
                write!(f, ", line {line}, column {column} ({})", shown(name.as_bytes()))
            }
            FilePosition::Entry { row, column } => write!(f, ", row {row}, column {column}"),
            FilePosition::Column { column, name } => {
                write!(f, ", column {column} ({})", shown(name.as_bytes()))
            }
            FilePosition::Field { row, column, name } => {
                write!(f, ", row {row}, column {column} ({})", shown(name.as_bytes()))
            }
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}: {}", visible(&self.path.to_string_lossy()), self.place, self.message)
    }
}

impl std::error::Error for DataError {}

/// What to do about missing values.
pub(super) const FILL_IN: &str = "fill it in, or drop such rows with `--drop-missing`";

/// What to do about text among numbers.
pub(super) const CATEGORIES: &str = "encode categories as numbers, for example one 0/1 column per category";

/// Maximum number of characters of a file that a message quotes.
const SHOWN: usize = 40;

/// Whether a terminal would interpret a character instead of showing it: control characters, which start escape
/// sequences, and marks that change the writing direction.
pub(super) fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text from outside, safe to print on one line of a terminal: control characters are written like `\u{1b}`.
pub fn visible(text: &str) -> String {
    let shown = |c: char| if is_obeyed(c) { c.escape_default().collect() } else { vec![c] };
    text.chars().flat_map(shown).collect()
}

/// A piece of a file in quotes, truncated if it is long, without control characters.
pub(super) fn shown(piece: &[u8]) -> String {
    // A character has up to four bytes: at most this many can be shown.
    let text = String::from_utf8_lossy(&piece[..piece.len().min(4 * SHOWN)]);
    let mut words = visible(&text.chars().take(SHOWN).collect::<String>());
    if text.chars().count() > SHOWN || piece.len() > 4 * SHOWN {
        words.push('…');
    }
    format!("`{words}`")
}

/// A whole number with thousands separators: `463,715`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in readable form: `800 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 {
        value /= 1000.0;
        unit += 1;
    }
    match (unit, value) {
        (0, _) => format!("{bytes} bytes"),
        (_, value) if value < 9.995 => format!("{value:.2} {}", UNITS[unit]),
        (_, value) if value < 99.95 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_as_people_say_them() {
        assert_eq!([0, 999, 1000, 463_715].map(grouped), ["0", "999", "1,000", "463,715"]);
        assert_eq!(
            [17, 1500, 96_000, 800_000_000_000].map(size),
            ["17 bytes", "1.50 kB", "96.0 kB", "800 GB"]
        );
        assert_eq!([999_999, u64::MAX].map(size), ["1.00 MB", "18.4 EB"]);
    }

    #[test]
    fn pieces_are_cut_and_cannot_move_the_cursor() {
        assert_eq!(shown(b"red\x1b[2J"), "`red\\u{1b}[2J`");
        assert_eq!(shown("é".repeat(41).as_bytes()), format!("`{}…`", "é".repeat(40)));
        assert_eq!(shown(&[b'7'; 1 << 20]), format!("`{}…`", "7".repeat(40)));
        assert_eq!(shown(&[0xff]), "`\u{fffd}`");
        assert_eq!(visible("a\r\u{9b}2J\u{202e}é"), "a\\r\\u{9b}2J\\u{202e}é");
        let at = DataError::file(Path::new("a\x1b[31m\n.csv"), "m", "a");
        assert_eq!(at.to_string(), "a\\u{1b}[31m\\n.csv: m");
    }

    #[test]
    fn places_are_named() {
        let at = |place| DataError::at(Path::new("f"), place, "m", "a").to_string();
        assert_eq!(at(FilePosition::File), "f: m");
        assert_eq!(at(FilePosition::Line(3)), "f, line 3: m");
        assert_eq!(at(FilePosition::Cell { line: 3, column: 2, name: None }), "f, line 3, column 2: m");
        let name = Some("age".into());
        assert_eq!(at(FilePosition::Cell { line: 3, column: 2, name }), "f, line 3, column 2 (`age`): m");
        assert_eq!(at(FilePosition::Entry { row: 3, column: 2 }), "f, row 3, column 2: m");
        let name = || "age".to_string();
        assert_eq!(at(FilePosition::Column { column: 2, name: name() }), "f, column 2 (`age`): m");
        let field = FilePosition::Field { row: 3, column: 2, name: name() };
        assert_eq!(at(field), "f, row 3, column 2 (`age`): m");
    }
}
