//! Creation of a store: atomic, and free of leftovers of an earlier store at the same path.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::opening::beside;
use super::schema::{MIGRATIONS, migrate};

/// Creates a store at a path where there is none. The caller holds its lock alone.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let new = beside(path, ".new");
    // An earlier attempt may have been interrupted.
    let clear = || ["", "-journal"].map(|ending| fs::remove_file(beside(&new, ending)));
    let _ = clear();
    let make = || -> Result<(), StoreError> {
        File::create_new(&new).map_err(|error| StoreError::io(path, error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fill = || {
            let mut connection = Connection::open_with_flags(&new, flags)?;
            migrate(&mut connection, MIGRATIONS)?;
            connection.close().map_err(|(_, error)| error)
        };
        fill().map_err(|error| StoreError::sqlite(path, error))?;
        clear_remains(path)?;
        fs::rename(&new, path).map_err(|error| StoreError::io(path, error))
    };
    make().inspect_err(|_| drop(clear()))
}

/// Removes the log files of a store that was moved away or deleted: SQLite would take them for those of the new store
/// and replay them into it.
fn clear_remains(path: &Path) -> Result<(), StoreError> {
    for file in ["-wal", "-shm", "-journal"].map(|ending| beside(path, ending)) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io(&file, error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::testing::{Folder, evaluation, new_run};
    use super::*;

    /// The names of all files of a folder.
    fn names(folder: &Folder) -> Vec<String> {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_creation_that_was_killed_leaves_no_store_and_is_no_obstacle() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        for ending in [".new", ".new-journal"] {
            fs::write(beside(&path, ending), "half").unwrap();
        }
        assert!(matches!(Store::open_read_only(&path), Err(StoreError::NotThere { .. })));
        drop(Store::open(&path).unwrap());
        assert_eq!(names(&folder), ["runs.db", "runs.db.lock"]);
    }

    #[test]
    fn the_log_of_a_store_that_was_removed_does_not_reach_the_next() {
        let folder = Folder::new();
        let (path, killed) = (folder.file("runs.db"), folder.file("killed.db"));
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &(0..500).map(evaluation).collect::<Vec<_>>()).unwrap();
        store.flush().unwrap();
        // The files that a killed process leaves after the store itself has been moved away.
        for ending in ["-wal", "-shm"] {
            fs::copy(beside(&path, ending), beside(&killed, ending)).unwrap();
        }
        fs::write(beside(&killed, "-journal"), "of an earlier one").unwrap();
        assert!(fs::metadata(beside(&killed, "-wal")).unwrap().len() > 0);
        let new = Store::open(&killed).unwrap();
        assert_eq!(new.runs().unwrap(), []);
        drop(new);
        Store::open_read_only(&killed).unwrap().integrity().unwrap();
        assert!(!beside(&killed, "-journal").exists());
    }
}
