//! Errors of the store: the file, what was expected, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use super::Holder;

/// Maximum number of runs listed in a message.
const LISTED: usize = 8;

/// Why a store could not be opened, read or written.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // the fields are what the message shows
pub enum StoreError {
    /// The file or its folder does not exist.
    NotThere { path: PathBuf },
    /// The file is not a store.
    NotAStore { path: PathBuf, why: String },
    /// The file was written by a newer version of this program.
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The file is empty: its creation was interrupted.
    Empty { path: PathBuf },
    /// The file has several hard links, and SQLite names its log after the path.
    Linked { path: PathBuf, names: u64 },
    /// A writer was interrupted, and the reader lacks the permission to recover the file.
    Unsettled { path: PathBuf, why: String },
    /// Another process works on this run or, without one, needs the whole store for itself; the holder is unknown if it
    /// has not yet written its name.
    Held { path: PathBuf, run: Option<String>, holder: Option<Holder> },
    /// A run that was to go on has ended.
    Ended { path: PathBuf, run: String },
    /// A program other than rl4rla has locked the file.
    Busy { path: PathBuf },
    /// The disk is full or writing failed.
    Full { path: PathBuf, why: String },
    /// The store was opened for reading only.
    ReadOnly { path: PathBuf },
    /// The file or its folder may not be read or written.
    Permission { path: PathBuf, why: String },
    /// No run has this id; these are the last ones.
    UnknownRun { path: PathBuf, wanted: String, last: Vec<String> },
    /// Several runs begin with these characters.
    AmbiguousRun { path: PathBuf, wanted: String, candidates: Vec<String> },
    /// These cannot be the tags or the note of a run.
    Unfit { path: PathBuf, why: String },
    /// The file is damaged.
    Corrupt { path: PathBuf, why: String },
    /// A record in the store cannot be read by this version.
    Unreadable { path: PathBuf, what: String, why: String },
    /// The SQLite library is older than the first version that is safe here.
    OldLibrary { found: String },
    /// Any other error, with the message of SQLite or the operating system.
    Other { path: PathBuf, why: String },
}

impl StoreError {
    /// Converts an SQLite error.
    pub(super) fn sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        let (path, why) = (path.to_path_buf(), error.to_string());
        let Some(failure) = error.sqlite_error() else {
            // Every statement is fixed, so a value of the wrong type can only come from the file.
            return StoreError::Corrupt { path, why };
        };
        match failure.code {
            ErrorCode::NotADatabase => StoreError::NotAStore { path, why },
            ErrorCode::DiskFull => StoreError::Full { path, why },
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_READ => {
                StoreError::Other { path, why }
            }
            ErrorCode::SystemIoFailure => StoreError::Full { path, why },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy { path },
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                StoreError::Permission { path, why }
            }
            // `Unknown` is an error in a statement: a missing table or column.
            ErrorCode::DatabaseCorrupt | ErrorCode::Unknown => StoreError::Corrupt { path, why },
            _ => StoreError::Other { path, why },
        }
    }

    /// Converts an I/O error.
    pub(super) fn io(path: &Path, error: io::Error) -> StoreError {
        let (path, why) = (path.to_path_buf(), error.to_string());
        match error.kind() {
            io::ErrorKind::NotFound => StoreError::NotThere { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::Permission { path, why }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path, why },
            _ => StoreError::Other { path, why },
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use StoreError::*;
        match self {
            NotThere { path } => {
                let path = path.display();
                write!(f, "`{path}`: no such file or folder; check the path, or start a run to create it")
            }
            NotAStore { path, why } => {
                let path = path.display();
                write!(f, "`{path}` is not a store of runs ({why}); it was left as it is, give another path")
            }
            Newer { path, found, known } => write!(
                f,
                "`{}` has format {found} and this program knows formats up to {known}; it was left as it \
                 is, update the program",
                path.display()
            ),
            Empty { path } => write!(
                f,
                "`{}` is empty: its creation was interrupted before anything was saved; start a run in it, or \
                 remove it",
                path.display()
            ),
            Linked { path, names } => write!(
                f,
                "`{}` has {names} names (hard links), under which writers do not see each other; make a copy \
                 with `cp` and use that",
                path.display()
            ),
            Unsettled { path, why } => write!(
                f,
                "`{}` was being written when its process was killed and needs recovery, which requires write \
                 permission for it and its folder ({why}): let its owner run `rl4rla list runs`, or copy it with the \
                 files next to it into a folder of your own",
                path.display()
            ),
            Held { path, run, holder } => {
                let path = path.display();
                let holder = holder.as_ref().map_or("another process".into(), Holder::to_string);
                match run {
                    Some(run) => write!(
                        f,
                        "run {run} in `{path}` is being worked on by {holder}; wait for it or stop it, then resume \
                         the run"
                    ),
                    None => write!(
                        f,
                        "`{path}` is being written by {holder}; wait for it or stop it, or give another path"
                    ),
                }
            }
            Ended { path, run } => {
                let path = path.display();
                write!(f, "run {run} in `{path}` has ended meanwhile; `rl4rla resume {run}` shows its result")
            }
            Busy { path } => {
                let path = path.display();
                write!(f, "`{path}` is locked by another program; close that program and try again")
            }
            Full { path, why } => write!(
                f,
                "`{}` could not be written ({why}); what was committed before is safe: free some space on \
                 the disk, then resume the run",
                path.display()
            ),
            ReadOnly { path } => {
                write!(f, "`{}` was opened for reading only; open it for writing", path.display())
            }
            Permission { path, why } => write!(
                f,
                "`{}` may not be opened ({why}); check the permissions of the file and of its folder, where \
                 SQLite keeps two more files",
                path.display()
            ),
            UnknownRun { path, wanted, last } if last.is_empty() => {
                write!(f, "no run `{wanted}` in `{}`: it holds no runs yet; start one", path.display())
            }
            UnknownRun { path, wanted, last } => {
                let (path, last) = (path.display(), list(last));
                write!(f, "no run `{wanted}` in `{path}`; the last ones are {last}")
            }
            AmbiguousRun { path, wanted, candidates } => {
                let (path, candidates) = (path.display(), list(candidates));
                write!(f, "`{wanted}` may be any of {candidates} in `{path}`; give more characters")
            }
            Corrupt { path, why } => write!(
                f,
                "`{0}` is damaged ({why}); move it away together with `{0}-wal` and `{0}-shm`, if they are there, \
                 and restore a copy or run again",
                path.display()
            ),
            Unreadable { path, what, why } => write!(
                f,
                "{what} in `{}` cannot be read: {why}; another version may have written it",
                path.display()
            ),
            OldLibrary { found } => write!(
                f,
                "SQLite {found} may damage a store that is read while it is written; build with 3.51.3 or \
                 later, such as the bundled one"
            ),
            Unfit { why, .. } => write!(f, "{why}"),
            Other { path, why } => write!(f, "`{}`: {why}", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}

/// A comma-separated list, shortened if it is long.
fn list(names: &[String]) -> String {
    match names.get(..LISTED) {
        Some(some) if names.len() > LISTED => {
            format!("{} and {} more", some.join(", "), names.len() - LISTED)
        }
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_sqlite_and_of_the_system_find_their_meaning() {
        let path = Path::new("runs.db");
        let sqlite =
            |code| StoreError::sqlite(path, rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(matches!(sqlite(ffi::SQLITE_FULL), StoreError::Full { .. }));
        assert!(matches!(sqlite(ffi::SQLITE_IOERR_WRITE), StoreError::Full { .. }));
        assert!(matches!(sqlite(ffi::SQLITE_IOERR_READ), StoreError::Other { .. }));
        assert!(matches!(sqlite(ffi::SQLITE_READONLY), StoreError::Permission { .. }));
        assert!(matches!(sqlite(ffi::SQLITE_NOTADB), StoreError::NotAStore { .. }));
        assert!(matches!(sqlite(ffi::SQLITE_CORRUPT), StoreError::Corrupt { .. }));
        let io = |kind: io::ErrorKind| StoreError::io(path, kind.into());
        assert!(matches!(io(io::ErrorKind::NotFound), StoreError::NotThere { .. }));
        assert!(matches!(io(io::ErrorKind::StorageFull), StoreError::Full { .. }));
        assert!(matches!(io(io::ErrorKind::PermissionDenied), StoreError::Permission { .. }));
    }

    #[test]
    fn every_message_names_its_file() {
        let (path, why) = (PathBuf::from("runs.db"), String::from("why"));
        let full = StoreError::Full { path: path.clone(), why };
        assert!(full.to_string().contains("`runs.db`") && full.to_string().contains("is safe"));
        let unknown =
            StoreError::UnknownRun { path, wanted: "ab".into(), last: vec!["cd".into(), "ef".into()] };
        assert_eq!(unknown.to_string(), "no run `ab` in `runs.db`; the last ones are cd, ef");
    }
}
