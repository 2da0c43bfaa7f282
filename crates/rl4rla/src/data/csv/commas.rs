//! Distinguishes thousands separators from decimal commas: `1,000` may be either, `1,5` is a decimal number.

use super::super::error::{DataError, FilePosition, shown};
use std::path::Path;

/// The meaning of commas in a file whose detected decimal separator is the comma.
pub enum Commas {
    /// Decimal separators: by a setting, or because a cell shows it.
    Decimal,
    /// Every comma so far may separate thousands; with the first such cell and its place.
    Doubtful(Option<(FilePosition, Vec<u8>)>),
}

impl Commas {
    /// Examines a cell. One that cannot be a whole number with thousands separators decides for decimal commas.
    pub fn see(&mut self, cell: &[u8], place: impl FnOnce() -> FilePosition) {
        let Commas::Doubtful(first) = self else { return };
        if !cell.contains(&b',') {
            return;
        }
        match (grouped(cell), &first) {
            (false, _) => *self = Commas::Decimal,
            (true, None) => *first = Some((place(), cell.to_vec())),
            (true, Some(_)) => {}
        }
    }

    /// At the end of the file: an error if the commas are still ambiguous.
    pub fn settle(&self, path: &Path) -> Result<(), DataError> {
        let Commas::Doubtful(Some((place, cell))) = self else { return Ok(()) };
        let message = format!(
            "{} may contain a decimal comma or a thousands separator: every comma in this file is followed by three digits",
            shown(cell)
        );
        let advice = "`--decimal ,` if the comma is the decimal separator; otherwise write numbers without thousands separators";
        Err(DataError::at(path, place.clone(), message, advice))
    }
}

/// Whether a cell is a whole number with commas as thousands separators: `1,000` or `-12,345,678`, but not `0,125`.
pub fn grouped(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let mut groups = digits.split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let whole = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    (1..=3).contains(&first.len())
        && first[0] != b'0'
        && whole(first)
        && rest.peek().is_some()
        && rest.all(|group| group.len() == 3 && whole(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_groups_of_three() {
        for cell in ["1,000", "-12,345", "+999,999", "1,234,567"] {
            assert!(grouped(cell.as_bytes()), "{cell}");
        }
        for cell in
            ["", ",", "1", "1,5", "1,00", "1,0000", "0,125", "1234,567", ",123", "1,000e3", "1,,000", "a,bcd"]
        {
            assert!(!grouped(cell.as_bytes()), "{cell}");
        }
    }
}
