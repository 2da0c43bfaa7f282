//! Where a command may write: not over what it reads, not over the store, and not twice to one file.

use crate::args::Shared;
use crate::failure::Failure;
use rl4rla::report::Document;
use std::fs;
use std::path::{Path, PathBuf};

/// What the store keeps beside itself, by the endings of its name.
const BESIDE_STORE: [&str; 6] = ["", "-wal", "-shm", "-journal", ".lock", ".new"];

/// The files that a command reads or has said that it will write.
pub struct Outputs {
    taken: Vec<(String, PathBuf)>,
    json: bool,
}

impl Outputs {
    /// The store is never written over, whether the command uses it or not.
    pub fn new(shared: &Shared) -> Outputs {
        let file = |ending: &str| {
            let mut name = shared.store.as_os_str().to_os_string();
            name.push(ending);
            ("the store".to_string(), name.into())
        };
        Outputs { taken: BESIDE_STORE.iter().map(|ending| file(ending)).collect(), json: shared.json }
    }

    /// This file is read, if there is one.
    pub fn reads(mut self, what: &str, path: Option<&Path>) -> Outputs {
        self.taken.extend(path.map(|path| (what.to_string(), path.to_path_buf())));
        self
    }

    /// Asks to write a file, before any work is done for it.
    pub fn writes(&mut self, option: &str, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        if path.is_dir() {
            return Err(Failure::new(format!("{option} {shown}: it is a folder")).advise("a path to a file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let message = format!("{option} {shown}: there is no folder {}", folder.display());
            return Err(Failure::new(message).advise("make the folder first, or give another path"));
        }
        if self.json && is_standard_output(path) {
            let message = format!("{option} {shown}: standard output is for the JSON document");
            return Err(Failure::new(message).advise("another path, or no --json"));
        }
        // Any number of results may go to one device or pipe.
        if path.exists() && !path.is_file() {
            return Ok(());
        }
        if let Some((what, _)) = self.taken.iter().find(|(_, other)| same(path, other)) {
            let message = format!("{option} {shown} would be written over {what}");
            return Err(Failure::new(message).advise("another path"));
        }
        self.taken.push((format!("the file of {option}"), path.into()));
        Ok(())
    }

    /// Writes a document into a folder, none of its files over anything that is read.
    pub fn write(
        &mut self,
        document: &Document,
        option: &str,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, Failure> {
        let unwritten = |error: std::io::Error| {
            Failure::new(format!("cannot write to {}: {error}", folder.display()))
                .advise(format!("{option} with a folder that can be written to"))
        };
        fs::create_dir_all(folder).map_err(unwritten)?;
        for file in document.files(folder) {
            self.writes(option, &file)?;
        }
        document.write(folder).map_err(unwritten)
    }
}

/// Whether two paths lead to one file, by whatever links.
fn same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((real(a), real(b)), (Some(a), Some(b)) if a == b)
}

/// The place of a file that may not be there yet.
fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    })
}

/// Whether what is written there goes to whoever reads standard output; a terminal or `/dev/null` may take both.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let stream = std::io::stdout().as_fd().try_clone_to_owned().map(fs::File::from);
    match (stream.and_then(|stream| stream.metadata()), fs::metadata(path)) {
        (Ok(stream), Ok(file)) => {
            !file.file_type().is_char_device() && (stream.dev(), stream.ino()) == (file.dev(), file.ino())
        }
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}
