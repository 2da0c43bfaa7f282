//! The folder of a campaign, on a file system that many machines share.
//!
//! What is relied on is what every such file system has: a name appears at once with all of its content (rename and link),
//! and what is written is there when the file has been closed. Not relied on: locks, clocks that agree, that others see a
//! new file soon, and that there is space.

use crate::data::write_whole;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder that many machines share. Paths are relative to it, with `/` between names.
pub trait SharedFolder: Sync {
    /// The whole content of a file.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes a file, which appears whole or not at all, or replaces one.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// The same for a file that must not exist: only one of those who try succeeds, others get
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Adds to the end of a file, which is created if there is none. If this is cut short, a part of the bytes may be there.
    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Names in a folder, in order, without hidden ones; none if there is no folder.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Gives a file or a folder another name, which must be free.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Has this machine see what others have written into a folder, if it may be late.
    fn refresh(&self, _folder: &str) {}

    /// Removes a file; that there is none is no error.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// A path as messages name it.
    fn name(&self, path: &str) -> String;

    /// Waits before something that failed is tried again.
    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// A folder of the file system.
#[derive(Clone, Debug)]
pub struct FolderOnDisk {
    root: PathBuf,
}

impl FolderOnDisk {
    /// The folder at this path.
    pub fn new(root: impl Into<PathBuf>) -> FolderOnDisk {
        FolderOnDisk { root: root.into() }
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Does something to a file, and makes its folder first if that fails for want of it. Others may make the folder
    /// meanwhile, and this machine may see it late.
    fn in_folder<T>(path: &Path, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
        for _ in 0..MORE_ATTEMPTS {
            match act() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(path.parent().ok_or(error)?)?;
                }
                done => return done,
            }
        }
        act()
    }
}

/// How often something is done again after its folder was made.
const MORE_ATTEMPTS: usize = 3;

impl SharedFolder for FolderOnDisk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        fs::read(self.file(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.file(path);
        FolderOnDisk::in_folder(&path, || write_whole(&path, |file| file.write_all(bytes)))
    }

    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.file(path);
        // Hidden: a process that is killed leaves it behind.
        let aside = path.with_file_name(format!(".{}", unique()));
        let written = FolderOnDisk::in_folder(&path, || {
            let mut file = File::create_new(&aside)?;
            file.write_all(bytes)?;
            // Otherwise a file system may keep the name and lose the content in a power failure.
            file.sync_all()
        });
        if written.is_err() {
            let _ = fs::remove_file(&aside);
            return written;
        }
        let linked = match fs::hard_link(&aside, &path) {
            // The reply to a request that has succeeded may be lost; the request is repeated and finds its own file.
            Err(_) if is_same_file(&aside, &path) => Ok(()),
            Err(error) if has_no_links(&error) => write_new(&path, |file| file.write_all(bytes)),
            linked => linked,
        };
        let _ = fs::remove_file(&aside);
        linked
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.file(path);
        FolderOnDisk::in_folder(&path, || {
            let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
            file.write_all(bytes)?;
            file.sync_data()
        })
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.file(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            entries => entries?,
        };
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = entries.map(name).collect::<io::Result<_>>()?;
        // Hidden: files that are being written, and those that NFS keeps for whoever has them open.
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.file(from), self.file(to));
        // Of what is missing nothing is made.
        fs::symlink_metadata(&from)?;
        FolderOnDisk::in_folder(&to, || fs::rename(&from, &to))
    }

    fn refresh(&self, folder: &str) {
        // A client of NFS that changes a folder itself notices what others have changed in it.
        let own = self.file(folder).join(format!(".{}", unique()));
        if File::create_new(&own).is_ok() {
            let _ = fs::remove_file(&own);
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        match fs::remove_file(self.file(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn name(&self, path: &str) -> String {
        if path.is_empty() { self.root.display().to_string() } else { self.file(path).display().to_string() }
    }
}

/// Whether an error says that the file system has no links, rather than that it is full or does not answer.
fn has_no_links(error: &io::Error) -> bool {
    // EPERM, as Linux says it, and ENOTSUP there and on other systems.
    const REFUSED: [i32; 3] = [1, 95, 45];
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::TooManyLinks)
        || error.raw_os_error().is_some_and(|code| REFUSED.contains(&code))
}

/// Writes a file that must not exist where there are no links: its name appears before its content, and readers take half
/// a file for none. If it cannot be written, the name is free again.
fn write_new(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    if written.is_err() {
        drop(file);
        let _ = fs::remove_file(path);
    }
    written
}

/// Whether two names are links to one file.
#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &Path| fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((place(a), place(b)), (Ok(a), Ok(b)) if a == b)
}

/// Not known on other systems.
#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// A word that no other process writes, on this machine or another.
pub(super) fn unique() -> String {
    use std::hash::{BuildHasher, RandomState};
    // The keys of a new hasher come from the system's source of random numbers.
    format!("{:x}-{:016x}", std::process::id(), RandomState::new().hash_one(0))
}

/// Tries again what fails for reasons that may pass: a full disk or quota, a server that does not answer.
///
/// Between attempts there are these pauses; `stopped` ends the waiting. If `appearing`, a file that is not there, or of
/// which the end is missing ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)), is waited for: another machine has written it, and
/// this one may see it late.
pub(super) fn patiently<T>(
    folder: &dyn SharedFolder,
    pauses: &[Duration],
    appearing: bool,
    stopped: &dyn Fn() -> bool,
    act: impl Fn() -> io::Result<T>,
) -> io::Result<T> {
    let mut pauses = pauses.iter();
    loop {
        match (act(), pauses.next()) {
            (Err(error), Some(pause))
                if may_pass(&error, appearing) && has_waited(folder, *pause, stopped) => {}
            (done, _) => return done,
        }
    }
}

/// The longest time after which somebody who waits looks whether to stop: a process that is told to is soon killed.
const SLICE: Duration = Duration::from_secs(1);

/// Waits this long; false if it is to stop.
fn has_waited(folder: &dyn SharedFolder, pause: Duration, stopped: &dyn Fn() -> bool) -> bool {
    let mut left = pause;
    while !left.is_zero() && !stopped() {
        folder.pause(left.min(SLICE));
        left = left.saturating_sub(SLICE);
    }
    !stopped()
}

/// Whether an error may pass by itself.
fn may_pass(error: &io::Error, appearing: bool) -> bool {
    use io::ErrorKind::{
        Interrupted, NotFound, QuotaExceeded, ResourceBusy, StaleNetworkFileHandle, StorageFull, TimedOut,
        UnexpectedEof, WouldBlock,
    };
    // EIO: a server of the file system that does not answer.
    const EIO: i32 = 5;
    match error.kind() {
        NotFound | UnexpectedEof => appearing,
        Interrupted
        | QuotaExceeded
        | ResourceBusy
        | StaleNetworkFileHandle
        | StorageFull
        | TimedOut
        | WouldBlock => true,
        _ => error.raw_os_error() == Some(EIO),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::ScratchFolder;
    use super::*;

    #[test]
    fn one_of_many_creates_a_file_and_it_is_whole() {
        let scratch = ScratchFolder::new("create");
        let folder = FolderOnDisk::new(scratch.path());
        let won: usize = std::thread::scope(|scope| {
            let attempt = |i: usize| {
                let folder = &folder;
                scope.spawn(move || folder.create("deep/x.json", format!("{i:9}").as_bytes()))
            };
            let threads: Vec<_> = (0..8).map(attempt).collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended
                .map(|created| match created {
                    Ok(()) => 1,
                    Err(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
                        0
                    }
                })
                .sum()
        });
        assert_eq!((won, folder.read("deep/x.json").unwrap().len()), (1, 9));
        assert_eq!(folder.list("deep").unwrap(), ["x.json"]);
    }

    #[test]
    fn files_are_appended_to_listed_and_removed() {
        let scratch = ScratchFolder::new("append");
        let folder = FolderOnDisk::new(scratch.path());
        assert_eq!(folder.list("none").unwrap(), [""; 0]);
        for part in ["a", "b"] {
            folder.append("logs/1.log", part.as_bytes()).unwrap();
        }
        folder.write("logs/.hidden", b"").unwrap();
        assert_eq!(folder.read("logs/1.log").unwrap(), b"ab");
        assert_eq!(folder.list("logs").unwrap(), ["1.log"]);
        folder.remove("logs/1.log").unwrap();
        folder.remove("logs/1.log").unwrap();
        assert_eq!(folder.list("logs").unwrap(), [""; 0]);
    }

    #[test]
    fn a_folder_that_another_process_makes_meanwhile_is_no_error() {
        let scratch = ScratchFolder::new("meanwhile");
        let path = scratch.path().join("deep/x.json");
        let attempts = std::cell::Cell::new(0);
        let act = || {
            attempts.set(attempts.get() + 1);
            let done = fs::write(&path, b"x");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            done
        };
        FolderOnDisk::in_folder(&path, act).unwrap();
        assert_eq!(attempts.get(), 2);
        let missing: io::Result<()> = FolderOnDisk::in_folder(&path, || Err(io::ErrorKind::NotFound.into()));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound, "it ends");
    }

    #[cfg(unix)]
    #[test]
    fn ones_own_link_is_known_again() {
        let scratch = ScratchFolder::new("links");
        let [aside, path, other] = ["aside", "path", "other"].map(|name| scratch.path().join(name));
        fs::write(&aside, b"x").unwrap();
        assert!(!is_same_file(&aside, &path), "it is not there");
        fs::hard_link(&aside, &path).unwrap();
        assert!(is_same_file(&aside, &path));
        fs::write(&other, b"x").unwrap();
        assert!(!is_same_file(&aside, &other));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_file_system_without_links_is_written_to_without_them() {
        let has_no_links = |code: i32| has_no_links(&io::Error::from_raw_os_error(code));
        // EPERM, EMLINK, ENOSYS, ENOTSUP.
        assert!([1, 31, 38, 95].into_iter().all(has_no_links));
        // EIO, EACCES, EEXIST, ENOSPC, EDQUOT, ESTALE.
        assert!(![5, 13, 17, 28, 122, 116].into_iter().any(has_no_links));
    }

    #[test]
    fn without_links_half_a_file_leaves_its_name_free() {
        let scratch = ScratchFolder::new("linkless");
        let path = scratch.path().join("x.json");
        let half = |file: &mut File| file.write_all(b"ha").and(Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(write_new(&path, half).unwrap_err().kind(), io::ErrorKind::StorageFull);
        write_new(&path, |file| file.write_all(b"whole")).unwrap();
        let again = write_new(&path, |file| file.write_all(b"other")).unwrap_err();
        assert_eq!((again.kind(), fs::read(&path).unwrap()), (io::ErrorKind::AlreadyExists, b"whole".into()));
    }

    #[test]
    fn folders_are_renamed_like_files() {
        let scratch = ScratchFolder::new("rename");
        let folder = FolderOnDisk::new(scratch.path());
        folder.write("a/deep/x", b"x").unwrap();
        folder.rename("a/deep", "b/c/d").unwrap();
        assert_eq!(folder.read("b/c/d/x").unwrap(), b"x");
        assert_eq!(folder.rename("a/deep", "e/f").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(folder.list("").unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_may_pass_is_tried_again_and_what_cannot_is_not() {
        let scratch = ScratchFolder::new("patience");
        let folder = FolderOnDisk::new(scratch.path());
        let pauses = [Duration::ZERO; 3];
        let after = |failures: usize, kind: io::ErrorKind| {
            let tries = std::cell::Cell::new(0);
            let act = || {
                tries.set(tries.get() + 1);
                if tries.get() > failures { Ok(()) } else { Err(io::Error::from(kind)) }
            };
            (patiently(&folder, &pauses, false, &|| false, act).is_ok(), tries.get())
        };
        assert_eq!(after(3, io::ErrorKind::QuotaExceeded), (true, 4));
        assert_eq!(after(4, io::ErrorKind::StorageFull), (false, 4));
        assert_eq!(after(1, io::ErrorKind::PermissionDenied), (false, 1));
    }
}
