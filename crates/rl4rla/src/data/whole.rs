//! Atomic file writes: a file appears whole or not at all, also through symbolic links.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of symbolic links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Files being written under a temporary name.
static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { files: Vec::new(), over: false });

struct Unfinished {
    files: Vec<PathBuf>,
    /// Whether the process is about to exit, so that no further file may be started.
    over: bool,
}

fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a file under a temporary name in the same directory and then renames it: a process that is killed leaves
/// the old file or the new one, never half of one. Symbolic links are followed and kept; the new file has the
/// permissions of the old one. Anything but a regular file, such as a pipe or a device, is written to directly.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(file) = opened_as_it_is(path)? {
        let mut file = BufWriter::new(file);
        return write(&mut file).and_then(|()| file.flush());
    }
    let target = behind_links(path)?;
    let old = match OpenOptions::new().write(true).open(&target) {
        // A read-only file must not be replaced either, although its directory would allow it.
        Ok(file) => Some(file.metadata()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (file, passing) = begin(&target)?;
    let mut file = BufWriter::new(file);
    let done = write(&mut file)
        .and_then(|()| file.flush())
        .and_then(|()| old.map_or(Ok(()), |old| inherit(&passing, &old)))
        // Otherwise a file system may keep the new name and lose the content in a power failure.
        .and_then(|()| file.get_ref().sync_all())
        .and_then(|()| fs::rename(&passing, &target));
    if done.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&passing);
    }
    unfinished().files.retain(|other| *other != passing);
    done
}

/// Removes half-written files, for a process that is about to exit. Any later attempt to write a file blocks until
/// the exit.
pub fn discard_unfinished() {
    let mut unfinished = unfinished();
    unfinished.over = true;
    for path in unfinished.files.drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Creates a file in the same directory, recorded as unfinished from the start.
fn begin(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut unfinished = unfinished();
    if unfinished.over {
        drop(unfinished);
        loop {
            std::thread::park();
        }
    }
    let (file, passing) = create_beside(target)?;
    unfinished.files.push(passing.clone());
    Ok((file, passing))
}

/// The target of a path, opened for writing, if it exists and is not a regular file.
fn opened_as_it_is(path: &Path) -> io::Result<Option<File>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if let Some(stream) = own_stream(&found) {
        return Ok(Some(stream));
    }
    if found.is_file() {
        return Ok(None);
    }
    // The operating system rejects a directory here.
    OpenOptions::new().write(true).open(path).map(Some)
}

/// Standard output or standard error, if the path is one of them: `/dev/stdout` may refer to a file that is being
/// written, and output must continue at its current position.
#[cfg(unix)]
fn own_stream(found: &Metadata) -> Option<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let (output, error) = (io::stdout(), io::stderr());
    [output.as_fd(), error.as_fd()].into_iter().find_map(|stream| {
        let file = File::from(stream.try_clone_to_owned().ok()?);
        let stream = file.metadata().ok()?;
        ((stream.dev(), stream.ino()) == (found.dev(), found.ino())).then_some(file)
    })
}

#[cfg(not(unix))]
fn own_stream(_: &Metadata) -> Option<File> {
    None
}

/// The target of a path: symbolic links are followed, also to a file that does not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&place)?;
                place = place.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
            }
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Creates a file in the same directory. Its name is short, so that it works for the longest allowed target names
/// too.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".rl4rla-{}-{number}.part", std::process::id()));
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => return Ok((file?, path)),
        }
    }
}

/// Gives a file the permissions of the one it replaces, and its owner as far as that is allowed.
fn inherit(path: &Path, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        let new = fs::metadata(path)?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = chown(path, Some(old.uid()), Some(old.gid()));
        }
    }
    fs::set_permissions(path, old.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("rl4rla-whole-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_and_a_failure_leaves_the_old_one() {
        let folder = folder("plain");
        // The maximum length of a name.
        let path = folder.join("n".repeat(255));
        write_whole(&path, |file| file.write_all(b"one")).unwrap();
        let half = write_whole(&path, |file| {
            file.write_all(b"two")?;
            Err(io::Error::other("no more"))
        });
        assert!(half.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(&folder).len(), 1, "nothing else is left");
        write_whole(&folder, |_| Ok(())).unwrap_err();
        write_whole(&folder.join("none/x"), |_| Ok(())).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("links");
        fs::create_dir(folder.join("deep")).unwrap();
        symlink("deep/target", folder.join("link")).unwrap();
        symlink("link", folder.join("chain")).unwrap();
        for text in ["new", "again"] {
            write_whole(&folder.join("chain"), |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(folder.join("deep/target")).unwrap(), text);
        }
        assert!(fs::symlink_metadata(folder.join("chain")).unwrap().is_symlink());
        fs::set_permissions(folder.join("deep/target"), fs::Permissions::from_mode(0o640)).unwrap();
        write_whole(&folder.join("link"), |file| file.write_all(b"x")).unwrap();
        let mode = fs::metadata(folder.join("deep/target")).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, names(&folder.join("deep"))), (0o640, vec!["target".to_string()]));
        symlink("turn", folder.join("turn")).unwrap();
        write_whole(&folder.join("turn"), |_| Ok(())).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_written_to_and_stays() {
        use std::os::unix::fs::FileTypeExt;
        let folder = folder("special");
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read_to_string(pipe).unwrap()
            });
            write_whole(&pipe, |file| file.write_all(b"through")).unwrap();
            assert_eq!(reader.join().unwrap(), "through");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        }
        write_whole(Path::new("/dev/null"), |file| file.write_all(b"x")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        if Path::new("/dev/full").exists() {
            write_whole(Path::new("/dev/full"), |file| file.write_all(b"x")).unwrap_err();
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_unfinished_can_be_discarded() {
        let folder = folder("unfinished");
        let path = folder.join("file");
        let written = write_whole(&path, |file| {
            file.write_all(b"half")?;
            file.flush()?;
            let there = names(&folder);
            assert!(there.len() == 1 && unfinished().files.iter().any(|path| path.starts_with(&folder)));
            // Like `discard_unfinished`, but only for this test's files.
            unfinished().files.retain(|path| !path.starts_with(&folder) || fs::remove_file(path).is_err());
            Ok(())
        });
        assert!(written.is_err() && names(&folder).is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
    const CHILD: &str = "RL4RLA_TEST_WHOLE";

    /// The process killed in the next test while it writes one file after another.
    #[test]
    fn child() {
        let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
        let path = folder.join("0");
        std::thread::spawn(move || {
            for i in 0_u64.. {
                let _ = write_whole(&folder.join(i.to_string()), |file| file.write_all(b"x"));
            }
        });
        while !path.exists() {}
        discard_unfinished();
        std::thread::sleep(std::time::Duration::from_millis(100));
        std::process::exit(7);
    }

    #[test]
    fn nothing_is_begun_after_what_is_unfinished_was_discarded() {
        let folder = folder("ending");
        for _ in 0..5 {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "data::whole::tests::child"]).env(CHILD, &folder);
            assert_eq!(command.output().unwrap().status.code(), Some(7));
            let (names, time) = (names(&folder), std::time::SystemTime::now());
            assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
            // Anything left was started before.
            let age = |name: &String| {
                let written = fs::metadata(folder.join(name)).unwrap().modified().unwrap();
                time.duration_since(written).unwrap_or_default().as_millis()
            };
            assert!(names.iter().all(|name| age(name) > 50), "{names:?}");
            fs::remove_file(folder.join("0")).unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
