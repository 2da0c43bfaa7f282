//! One writer at a time: an operating system lock on a file next to the store, in which the holder identifies itself.
//! The lock is released when its process ends, in whatever way; the file stays.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clock::{now, utc};
use super::error::StoreError;

/// Readers probe the lock for a moment; a writer that collides with a probe tries again.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(10);

/// Maximum number of bytes read from a lock file or written as a command.
const MOST_BYTES: usize = 4096;
const MOST_COMMAND: usize = 200;

/// The process that writes to a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Host name, empty if unknown.
    pub host: String,
    /// When it took the lock, in seconds since 1970.
    pub since: i64,
    /// The command line.
    pub command: String,
}

impl Holder {
    /// The current process.
    fn this() -> Holder {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")))
            .unwrap_or_default();
        let words: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        // One line per field, whatever the arguments contain.
        let line = |text: &str| text.trim().replace(char::is_control, " ");
        let command = line(&words.join(" ")).chars().take(MOST_COMMAND).collect();
        Holder { pid: std::process::id(), host: line(&host), since: now(), command }
    }

    fn to_text(&self) -> String {
        let Holder { pid, host, since, command } = self;
        format!("{pid}\n{host}\n{since}\n{command}\n")
    }

    fn from_text(text: &str) -> Option<Holder> {
        let mut lines = text.lines();
        let pid = lines.next()?.parse().ok()?;
        let host = lines.next()?.to_string();
        let since = lines.next()?.parse().ok()?;
        Some(Holder { pid, host, since, command: lines.next()?.to_string() })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        write!(f, " since {} (`{}`)", utc(self.since), self.command)
    }
}

/// The right to write to a store, until dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock of this store, or returns the holder as an error.
    pub(super) fn take(store: &Path) -> Result<Lock, StoreError> {
        let path = sidecar(store);
        let mut file = open(&path).map_err(|error| StoreError::io(&path, error))?;
        follow(&file, store);
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => {
                    // The holder's name is informative only: a full disk must not prevent resuming.
                    let _ =
                        file.set_len(0).and_then(|()| file.write_all(Holder::this().to_text().as_bytes()));
                    return Ok(Lock(file));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, error)),
            }
        }
        let mut bytes = Vec::new();
        let _ = file.take(MOST_BYTES as u64).read_to_end(&mut bytes);
        let holder = Holder::from_text(&String::from_utf8_lossy(&bytes));
        Err(StoreError::Held { path: store.to_path_buf(), holder })
    }
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

impl Drop for Lock {
    fn drop(&mut self) {
        // Clears the holder's name. A killed process leaves its name, which the next holder overwrites.
        let _ = self.0.set_len(0);
    }
}

/// Whether a process currently holds the lock of this store.
pub(super) fn held(store: &Path) -> bool {
    let path = sidecar(store);
    // Checked first, because opening a pipe would block until it has a writer.
    let Ok(file) = own(&path).and_then(|_| File::open(&path)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
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

    #[test]
    fn a_second_writer_learns_who_is_first_and_may_follow() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        let lock = Lock::take(&store).unwrap();
        assert!(held(&store));
        let Err(StoreError::Held { holder: Some(holder), path }) = Lock::take(&store) else { panic!() };
        assert_eq!((holder.pid, path), (std::process::id(), store.clone()));
        assert!(!holder.command.is_empty() && holder.since > 1_700_000_000);
        drop(lock);
        assert!(!held(&store) && sidecar(&store).exists());
        Lock::take(&store).unwrap();
    }

    #[test]
    fn what_the_dead_left_in_the_file_does_not_matter() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        for junk in [&b""[..], b"\xff\xfe\x00", b"12\n", b"x\ny\nz\nw\n", &[b'7'; 100_000]] {
            std::fs::write(sidecar(&store), junk).unwrap();
            let other = File::open(sidecar(&store)).unwrap();
            other.try_lock().unwrap();
            assert_eq!(
                Lock::take(&store).unwrap_err(),
                StoreError::Held { path: store.clone(), holder: None }
            );
            drop(other);
            drop(Lock::take(&store).unwrap());
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
            let error = Lock::take(&store).unwrap_err().to_string();
            assert!(error.contains("runs.db.lock`") && error.contains("remove it"), "{error}");
            assert!(!held(&store));
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
        drop(Lock::take(&store).unwrap());
    }

    #[test]
    fn a_holder_survives_its_text() {
        let this = Holder::this();
        assert_eq!(Holder::from_text(&this.to_text()), Some(this));
        let holder = Holder { pid: 7, host: "a".into(), since: 0, command: "rl4rla discover x".into() };
        assert_eq!(holder.to_string(), "process 7 on a since 1970-01-01 00:00 UTC (`rl4rla discover x`)");
    }
}
