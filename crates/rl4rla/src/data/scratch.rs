//! Storage for a matrix while its file is read: memory, or a temporary file if there is not enough.

use super::DataError;
use crate::linalg::Matrix;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Storage for the entries of A.
pub enum ScratchStorage {
    Memory(Vec<f64>),
    File(BufWriter<File>, Scratch, u64),
}

impl ScratchStorage {
    /// In memory, with this capacity.
    pub fn memory(entries: usize) -> ScratchStorage {
        ScratchStorage::Memory(Vec::with_capacity(entries))
    }

    /// In a temporary file; `path` is the name of the data in messages.
    pub fn file(path: &Path) -> Result<ScratchStorage, DataError> {
        let (file, scratch) = Scratch::new().map_err(|error| unwritable(path, &error))?;
        Ok(ScratchStorage::File(BufWriter::with_capacity(1 << 20, file), scratch, 0))
    }

    /// The entries in memory, with room to append `more` without a copy; none if there may be too many, or in a file.
    pub fn direct(&mut self, more: usize, within: impl Fn(u64) -> bool) -> Option<&mut Vec<f64>> {
        match self {
            ScratchStorage::Memory(all) if within(8 * (all.len() + more) as u64) => {
                grow(all, more);
                Some(all)
            }
            _ => None,
        }
    }

    /// Appends entries; if there are too many for memory, all are moved to a file.
    pub fn take(
        &mut self,
        entries: &mut Vec<f64>,
        within: impl Fn(u64) -> bool + Copy,
        path: &Path,
    ) -> Result<(), DataError> {
        match self {
            ScratchStorage::Memory(all) if within(8 * (all.len() + entries.len()) as u64) => {
                grow(all, entries.len());
                all.append(entries);
            }
            ScratchStorage::Memory(all) => {
                let mut held = std::mem::take(all);
                *self = ScratchStorage::file(path)?;
                self.take(&mut held, within, path)?;
                self.take(entries, within, path)?;
            }
            ScratchStorage::File(file, _, count) => {
                *count += entries.len() as u64;
                let mut write = || entries.iter().try_for_each(|entry| file.write_all(&entry.to_le_bytes()));
                write().map_err(|error| unwritable(path, &error))?;
                entries.clear();
            }
        }
        Ok(())
    }

    /// The matrix with this number of columns.
    pub fn matrix(self, cols: usize, path: &Path) -> Result<(Matrix, Option<Scratch>), DataError> {
        match self {
            ScratchStorage::Memory(entries) => {
                Ok((Matrix::from_row_major(entries.len() / cols, cols, entries), None))
            }
            ScratchStorage::File(file, scratch, count) => {
                let file = file.into_inner().map_err(|error| error.into_error());
                let matrix = file.and_then(|file| Matrix::in_file(file, count as usize / cols, cols));
                matrix.map(|matrix| (matrix, Some(scratch))).map_err(|error| unwritable(path, &error))
            }
        }
    }
}

/// Makes room, by an eighth at least: the size may be unknown, and doubling could take twice the memory.
fn grow(all: &mut Vec<f64>, more: usize) {
    if all.len() + more > all.capacity() {
        all.reserve_exact(more.max(all.len() / 8));
    }
}

fn unwritable(path: &Path, error: &io::Error) -> DataError {
    let folder = std::env::temp_dir();
    let message = format!("it is too large for memory, and cannot be kept in {}: {error}", folder.display());
    DataError::file(
        path,
        message,
        "another folder in TMPDIR, on a disk with room for the matrix, or more `--max-memory`",
    )
}

/// A temporary file, removed when it is no longer needed.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a file in the directory for temporary files, which is shared: never opens an existing one.
    fn new() -> io::Result<(File, Scratch)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("rl4rla-{}-{number}.matrix", std::process::id()));
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => {
                    let file = file?;
                    // On Unix the name is removed at once, so that nothing stays behind.
                    let _ = cfg!(unix).then(|| fs::remove_file(&path));
                    return Ok((file, Scratch(path)));
                }
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
