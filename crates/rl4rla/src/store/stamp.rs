//! Identification of a file, read before anything is written to it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;

use super::error::StoreError;

/// SQLite application id of a store: `rla` and a byte that does not occur in text.
pub(super) const APPLICATION: i64 = 0x726c_6101;

/// Identification of a file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Stamp {
    /// SQLite application id.
    pub(super) application: i64,
    /// Format number.
    pub(super) format: i64,
    /// Whether there are no tables.
    pub(super) empty: bool,
}

impl Stamp {
    /// A newly created file.
    const NEW: Stamp = Stamp { application: 0, format: 0, empty: true };

    /// Parses the first bytes of a file: the 100-byte header and the header of the page that lists the tables.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Stamp> {
        if bytes.is_empty() {
            return Some(Stamp::NEW);
        }
        let number = |at: usize| Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?).into());
        let empty = bytes.get(100..105)? == [13, 0, 0, 0, 0];
        bytes.starts_with(b"SQLite format 3\0").then_some(Stamp {
            application: number(68)?,
            format: number(60)?,
            empty,
        })
    }

    /// Reads the bytes on disk. Must not be used on a file that this process may have open in SQLite: closing any
    /// handle on a file drops all POSIX locks that the process has on it.
    pub(super) fn of_file(path: &Path) -> Result<Stamp, StoreError> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(105).read_to_end(&mut bytes));
        read.map_err(|error| StoreError::io(path, error))?;
        Stamp::of_bytes(&bytes).ok_or_else(|| foreign(path, "it is not an SQLite file"))
    }

    /// As SQLite sees it, the write-ahead log included.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Stamp> {
        let number = |sql| connection.query_row(sql, [], |row| row.get(0));
        Ok(Stamp {
            application: number("PRAGMA application_id")?,
            format: number("PRAGMA user_version")?,
            empty: number("SELECT count(*) FROM sqlite_schema")? == 0,
        })
    }

    /// The format of a store, or the reason why it cannot be used.
    pub(super) fn format(self, path: &Path, known: i64) -> Result<i64, StoreError> {
        match self {
            Stamp::NEW => Ok(0),
            Stamp { application, .. } if application != APPLICATION => {
                Err(foreign(path, "it is an SQLite file of another program"))
            }
            Stamp { format, .. } if format < 0 => Err(foreign(path, "its format is negative")),
            Stamp { format, .. } if format > known => {
                Err(StoreError::Newer { path: path.to_path_buf(), found: format, known })
            }
            Stamp { format, .. } => Ok(format),
        }
    }
}

/// The error for a file that is not a store.
pub(super) fn foreign(path: &Path, why: &str) -> StoreError {
    StoreError::NotAStore { path: path.to_path_buf(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_are_read_without_a_panic() {
        let path = Path::new("runs.db");
        let mut bytes = b"SQLite format 3\0".to_vec();
        bytes.resize(200, 0);
        assert_eq!(Stamp::of_bytes(&bytes[..0]), Some(Stamp::NEW));
        for size in 1..105 {
            assert_eq!(Stamp::of_bytes(&bytes[..size]), None);
        }
        bytes[60..64].copy_from_slice(&2_i32.to_be_bytes());
        bytes[68..72].copy_from_slice(&(APPLICATION as i32).to_be_bytes());
        let stamp = Stamp::of_bytes(&bytes).unwrap();
        assert_eq!(stamp, Stamp { application: APPLICATION, format: 2, empty: false });
        assert_eq!(stamp.format(path, 2), Ok(2));
        let newer = StoreError::Newer { path: path.into(), found: 2, known: 1 };
        assert_eq!(stamp.format(path, 1), Err(newer));
        bytes[100] = 13;
        assert!(Stamp::of_bytes(&bytes).unwrap().empty);
        bytes[0] = b's';
        assert_eq!(Stamp::of_bytes(&bytes), None);
    }
}
