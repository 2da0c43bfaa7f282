//! Locks: an operating system lock on a file next to the store, in which its holder identifies itself. It is released when
//! its process ends, in whatever way.
//!
//! Writers share the lock of their store. Whoever creates, migrates or repairs the file holds it alone, and briefly, and so
//! does every writer of an earlier version, for as long as it runs. Which of the writers works on which run: `run_lock`.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::StoreError;
use super::holder::Holder;

/// Maximum time to wait for those who hold a lock briefly, and the time between two attempts.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// Attempts to see whether a lock is held for longer than another such attempt takes.
const LOOKS: usize = 3;

/// Maximum number of bytes read from a lock file.
const MOST_BYTES: u64 = 4096;

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mode {
    /// By one.
    Alone,
    /// By any number.
    Shared,
}

/// A lock, until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// The holder's name, as it is in the file unless another holder has replaced it.
    name: String,
}

impl Lock {
    /// Takes the lock in this file, which gets the owner and the permissions of the store; `None` if it is held.
    pub(super) fn attempt(path: &Path, store: &Path, mode: Mode) -> Result<Option<Lock>, StoreError> {
        let mut file = open(path).map_err(|error| StoreError::io(path, error))?;
        follow(&file, store);
        let taken = match mode {
            Mode::Alone => file.try_lock(),
            Mode::Shared => file.try_lock_shared(),
        };
        match taken {
            Ok(()) => {
                let name = Holder::this().to_text();
                // The holder's name is informative only: a full disk must not prevent resuming.
                let _ = file.set_len(0).and_then(|()| file.write_all(name.as_bytes()));
                Ok(Some(Lock { file, name }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::io(path, error)),
        }
    }

    /// Takes the lock of this store; `None` if it is held.
    pub(super) fn attempt_store(store: &Path, mode: Mode) -> Result<Option<Lock>, StoreError> {
        Lock::attempt(&sidecar(store), store, mode)
    }

    /// Takes the lock of this store alone, after a moment if necessary, or returns the holder as an error.
    pub(super) fn alone(store: &Path) -> Result<Lock, StoreError> {
        let patience = Patience::new();
        loop {
            if let Some(lock) = Lock::attempt_store(store, Mode::Alone)? {
                return Ok(lock);
            }
            patience.wait(store)?;
        }
    }

    /// Gives up a shared lock to hold it alone; false if others share it, and then nothing is held any more.
    pub(super) fn becomes_alone(&self) -> bool {
        self.file.unlock().and_then(|()| Ok(self.file.try_lock()?)).is_ok()
    }

    /// Whether this is the lock of the file at this path, which may have been removed.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        own(path).is_ok_and(|found| self.file.metadata().is_ok_and(|own| same(&found, &own)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Clears the holder's own name. A killed process leaves its name, which the next holder overwrites.
        if content(&mut self.file) == self.name.as_bytes() {
            let _ = self.file.set_len(0);
        }
    }
}

/// How long one waits for a lock.
pub(super) struct Patience(Instant);

impl Patience {
    pub(super) fn new() -> Patience {
        Patience(Instant::now() + PATIENCE)
    }

    /// Waits a little, or returns the holder as an error.
    pub(super) fn wait(&self, store: &Path) -> Result<(), StoreError> {
        if Instant::now() >= self.0 {
            let holder = holder(&sidecar(store));
            return Err(StoreError::Held { path: store.to_path_buf(), run: None, holder });
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

/// Who is named in a lock file.
pub(super) fn holder(path: &Path) -> Option<Holder> {
    let mut file = existing(path)?;
    Holder::from_text(&String::from_utf8_lossy(&content(&mut file)))
}

/// The beginning of a lock file.
fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(MOST_BYTES).read_to_end(&mut bytes));
    bytes
}

/// Opens a lock file that is there, to look at it.
fn existing(path: &Path) -> Option<File> {
    // Checked first, because opening a pipe would block until it has a writer.
    own(path).and_then(|_| File::open(path)).ok()
}

/// Opens the lock file, creating it if necessary. A read-only lock file of another user can be locked as well.
fn open(path: &Path) -> io::Result<File> {
    // `create_new` never follows a link, even one that is created at this moment.
    match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    own(path)?;
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path).map_err(|_| error),
        file => file,
    }?;
    // The file will be written and its owner may be changed, so it must be the file at this path and not the target
    // of a link that was put there in the meantime.
    match same(&own(path)?, &file.metadata()?) {
        true => Ok(file),
        false => Err(foreign()),
    }
}

/// Metadata of the file at this path, if it is a regular file with a single link: otherwise anyone who may write to
/// the folder could use a link to have another file emptied and its owner changed.
fn own(path: &Path) -> io::Result<Metadata> {
    let found = std::fs::symlink_metadata(path)?;
    #[cfg(unix)]
    let alone = std::os::unix::fs::MetadataExt::nlink(&found) == 1;
    #[cfg(not(unix))]
    let alone = true;
    if found.is_file() && alone { Ok(found) } else { Err(foreign()) }
}

fn foreign() -> io::Error {
    io::Error::other("the lock file of the store is a link or not a regular file; remove it")
}

#[cfg(unix)]
fn same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Gives the lock file the owner (as far as permitted) and the permissions of the store, so that anyone who may write
/// to the store may lock it.
fn follow(file: &File, store: &Path) {
    #[cfg(unix)]
    if let (Ok(store), Ok(lock)) = (std::fs::metadata(store), file.metadata()) {
        use std::os::unix::fs::{MetadataExt, fchown};
        if (store.uid(), store.gid()) != (lock.uid(), lock.gid()) {
            let _ = fchown(file, Some(store.uid()), Some(store.gid()));
        }
        if store.permissions() != lock.permissions() {
            let _ = file.set_permissions(store.permissions());
        }
    }
}

/// Whether a process holds this lock alone. The question is no obstacle to others who ask it.
pub(super) fn held_alone(path: &Path) -> bool {
    existing(path).is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether a process holds this lock in either way. To find out the lock is taken alone for a moment, so that whoever
/// asks or wants it at the same time has to try again.
pub(super) fn held(path: &Path) -> bool {
    let Some(file) = existing(path) else { return false };
    for look in 0..LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if look + 1 < LOOKS => std::thread::sleep(PAUSE / 10),
            found => return matches!(found, Err(TryLockError::WouldBlock)),
        }
    }
    true
}

/// The file next to the store that carries its lock.
pub(super) fn sidecar(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_os_string();
    name.push(".lock");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Folder;
    use super::*;

    fn attempt(store: &Path, mode: Mode) -> Option<Lock> {
        Lock::attempt_store(store, mode).unwrap()
    }

    #[test]
    fn writers_share_a_lock_that_one_may_hold_alone() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        let path = sidecar(&store);
        let shared = [(); 2].map(|()| attempt(&store, Mode::Shared).unwrap());
        assert!(held(&path) && !held_alone(&path));
        let Err(StoreError::Held { holder: Some(holder), path: of, run: None }) = Lock::alone(&store) else {
            panic!()
        };
        assert_eq!((holder.pid, of), (std::process::id(), store.clone()));
        assert!(!holder.command.is_empty() && holder.since > 1_700_000_000);
        let [one, other] = shared;
        assert!(!one.becomes_alone());
        drop(one);
        assert!(other.becomes_alone() && held_alone(&path));
        assert!(attempt(&store, Mode::Shared).is_none());
        drop(other);
        assert!(!held(&path) && path.exists());
        let lock = Lock::alone(&store).unwrap();
        assert!(held(&path) && held_alone(&path));
        drop(lock);
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn what_the_dead_left_in_the_file_does_not_matter() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        for junk in [&b""[..], b"\xff\xfe\x00", b"12\n", b"x\ny\nz\nw\n", &[b'7'; 100_000]] {
            std::fs::write(sidecar(&store), junk).unwrap();
            let other = File::open(sidecar(&store)).unwrap();
            other.try_lock().unwrap();
            assert!(attempt(&store, Mode::Shared).is_none() && holder(&sidecar(&store)).is_none());
            drop(other);
            drop(attempt(&store, Mode::Shared).unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_its_own_is_refused_and_left_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new();
        let (store, other) = (folder.file("runs.db"), folder.file("other"));
        std::fs::write(&store, "").unwrap();
        std::fs::set_permissions(&store, PermissionsExt::from_mode(0o666)).unwrap();
        let lock = sidecar(&store);
        let refused = || {
            let error = Lock::alone(&store).unwrap_err().to_string();
            assert!(error.contains("runs.db.lock`") && error.contains("remove it"), "{error}");
            assert!(!held(&lock) && !held_alone(&lock));
            std::fs::remove_file(&lock).unwrap();
        };
        symlink(&other, &lock).unwrap();
        refused();
        assert!(!other.exists(), "nothing is made where a link leads");
        std::fs::write(&other, "precious").unwrap();
        std::fs::set_permissions(&other, PermissionsExt::from_mode(0o600)).unwrap();
        symlink(&other, &lock).unwrap();
        refused();
        std::fs::hard_link(&other, &lock).unwrap();
        refused();
        let kept = std::fs::metadata(&other).unwrap().permissions().mode() & 0o777;
        assert_eq!((std::fs::read(&other).unwrap().as_slice(), kept), (&b"precious"[..], 0o600));
        if std::process::Command::new("mkfifo").arg(&lock).status().is_ok_and(|made| made.success()) {
            refused();
        }
        drop(Lock::alone(&store).unwrap());
    }
}
