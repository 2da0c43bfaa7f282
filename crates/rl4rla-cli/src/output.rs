//! Checks of output paths: not an input, not the store, not used twice, and writable, all before the work is done.

use crate::args::Shared;
use crate::failure::Failure;
use rl4rla::data::write_whole;
use rl4rla::report::ReportPage;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Suffixes of the files that belong to the store.
const BESIDE_STORE: [&str; 6] = ["", "-wal", "-shm", "-journal", ".lock", ".new"];

/// Maximum length of a chain of symbolic links, as on Linux.
const MOST_LINKS: usize = 40;

/// The files that a command reads or will write.
pub struct Outputs {
    taken: Vec<(String, PathBuf)>,
    json: bool,
}

impl Outputs {
    /// The store is never overwritten, whether the command uses it or not.
    pub fn new(shared: &Shared) -> Outputs {
        // The store's files are next to the file itself, not next to a link to it.
        let store = real(&shared.store).unwrap_or_else(|| shared.store.clone());
        let file = |ending: &str| {
            let mut name = store.as_os_str().to_os_string();
            name.push(ending);
            ("the store".to_string(), name.into())
        };
        Outputs { taken: BESIDE_STORE.iter().map(|ending| file(ending)).collect(), json: shared.json }
    }

    /// Registers an input file, if there is one.
    pub fn reads(mut self, what: &str, path: Option<&Path>) -> Outputs {
        self.taken.extend(path.map(|path| (what.to_string(), path.to_path_buf())));
        self
    }

    /// Checks an output file before any work is done for it.
    pub fn writes(&mut self, option: &str, path: &Path) -> Result<(), Failure> {
        self.claims(option, path)?;
        // A path that is not a regular file, such as a pipe, may only be opened once.
        if path.exists() && !path.is_file() {
            return Ok(());
        }
        probe(path).map_err(|error| {
            Failure::new(format!("cannot write {}: {error}", path.display()))
                .advise(format!("{option} with a path that can be written to"))
        })
    }

    /// Checks an output folder, which is created when the first file is written.
    pub fn writes_into(&self, option: &str, folder: &Path) -> Result<(), Failure> {
        let place =
            |folder: &Path| if folder.as_os_str().is_empty() { ".".into() } else { folder.to_path_buf() };
        let there = folder.ancestors().map(place).find(|place| place.exists());
        let name = format!(".rl4rla-{}", std::process::id());
        there
            .map_or(Ok(()), |there| probe(&there.join(name)))
            .map_err(|error| unwritten(option, folder, &error))
    }

    /// Checks a file that is appended to or created.
    pub fn claims(&mut self, option: &str, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        if path.is_dir() {
            return Err(Failure::new(format!("{option} {shown} is a folder")).advise("a path to a file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let message = format!("{option} {shown}: there is no folder {}", folder.display());
            return Err(Failure::new(message).advise("create the folder first, or choose another path"));
        }
        if self.json && is_standard_output(path) {
            let message = format!("{option} {shown}: standard output is reserved for the JSON document");
            return Err(Failure::new(message).advise("another path, or no --json"));
        }
        // Any number of results may go to a device or pipe.
        if path.exists() && !path.is_file() {
            return Ok(());
        }
        if let Some((what, _)) = self.taken.iter().find(|(_, other)| same(path, other)) {
            let message = format!("{option} {shown} would overwrite {what}");
            return Err(Failure::new(message).advise("another path"));
        }
        self.taken.push((format!("the file of {option}"), path.into()));
        Ok(())
    }

    /// Writes a document into a folder; none of its files may overwrite an input.
    pub fn write(
        &mut self,
        document: &ReportPage,
        option: &str,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, Failure> {
        let unwritten = |error: io::Error| unwritten(option, folder, &error);
        fs::create_dir_all(folder).map_err(unwritten)?;
        for file in document.files(folder) {
            self.writes(option, &file)?;
        }
        document.write(folder).map_err(unwritten)
    }

    /// Writes another file into the folder; returns its path.
    pub fn attach(
        &mut self,
        option: &str,
        folder: &Path,
        name: &str,
        text: &str,
    ) -> Result<PathBuf, Failure> {
        let file = folder.join(name);
        self.writes(option, &file)?;
        let written = write_whole(&file, |file| file.write_all(text.as_bytes()));
        written.map_err(|error| unwritten(option, folder, &error))?;
        Ok(file)
    }
}

/// Whether two paths refer to the same file, through any links.
fn same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((real(a), real(b)), (Some(a), Some(b)) if a == b)
}

/// The resolved path of a file that may not exist yet.
fn real(path: &Path) -> Option<PathBuf> {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(to) = fs::read_link(&place) else { break };
        place = folder(&place).join(to);
    }
    Some(fs::canonicalize(folder(&place)).ok()?.join(place.file_name()?))
}

/// Whether a file can be written: tested by starting and abandoning a write, which leaves everything unchanged.
fn probe(path: &Path) -> io::Result<()> {
    let mut begun = false;
    let given_up = write_whole(path, |_| {
        begun = true;
        Err(io::Error::other("given up"))
    });
    if begun { Ok(()) } else { given_up }
}

fn unwritten(option: &str, folder: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write to {}: {error}", folder.display()))
        .advise(format!("{option} with a folder that can be written to"))
}

/// Whether a path is standard output; a terminal or `/dev/null` may receive both.
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
