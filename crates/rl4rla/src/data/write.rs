//! Files for other programs: matrices as NPY and CSV, written atomically.

use super::{DataError, write_whole};
use std::io::{self, Write};
use std::path::Path;

/// NumPy wants the offset of the entries to be a multiple of this.
const ALIGNMENT: usize = 64;

/// Writes a matrix, given row by row, as NPY of type `<f8`; a single column is written as a one-dimensional array.
///
/// # Panics
/// If there are not `rows`×`cols` entries.
pub fn write_npy(path: &Path, rows: usize, cols: usize, entries: &[f64]) -> Result<(), DataError> {
    assert_eq!(entries.len(), rows * cols, "as many entries as the shape says");
    let shape = if cols == 1 { format!("({rows},)") } else { format!("({rows}, {cols})") };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes, and the header ends with a newline.
    let blanks = (10 + header.len() + 1).next_multiple_of(ALIGNMENT) - (10 + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', blanks));
    header.push('\n');
    write_whole(path, |file| {
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        entries.iter().try_for_each(|entry| file.write_all(&entry.to_le_bytes()))
    })
    .map_err(|error| unwritten(path, &error))
}

/// Writes a matrix as CSV with a header line. With labels, every row begins with one, and the first name is that of
/// the label column.
///
/// # Panics
/// If the numbers of rows, names and labels do not match.
pub fn write_csv(
    path: &Path,
    names: &[String],
    labels: Option<&[String]>,
    entries: &[f64],
) -> Result<(), DataError> {
    let cols = names.len() - usize::from(labels.is_some());
    assert_eq!(entries.len() % cols.max(1), 0, "as many entries in every row as there are names");
    write_whole(path, |file| {
        file.write_all(csv_line(names.iter().cloned()).as_bytes())?;
        entries.chunks(cols.max(1)).enumerate().try_for_each(|(row, entries)| {
            let label = labels.map(|labels| labels[row].clone());
            let cells = label.into_iter().chain(entries.iter().map(|entry| csv_number(*entry)));
            file.write_all(csv_line(cells).as_bytes())
        })
    })
    .map_err(|error| unwritten(path, &error))
}

/// The shortest decimal representation that parses to the same number.
pub(crate) fn csv_number(value: f64) -> String {
    let size = value.abs();
    match size == 0.0 || (1e-5..1e17).contains(&size) || !size.is_finite() {
        true => format!("{value}"),
        false => format!("{value:e}"),
    }
}

/// A line of a CSV file, with cells quoted as needed.
pub(crate) fn csv_line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.into(),
    }
}

fn unwritten(path: &Path, error: &io::Error) -> DataError {
    DataError::file(
        path,
        format!("cannot be written: {error}"),
        "check the folder, its permissions and the disk",
    )
}
