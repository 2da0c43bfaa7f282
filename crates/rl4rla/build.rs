//! Gives the library a digest of what can change its results: its sources without the lines that are comments, the
//! programs and curricula built into it, and the versions of all dependencies where a lock file is at hand.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// What is digested; in a workspace some of it lies at the root, in a package all of it is in the crate's folder.
const INPUTS: [&str; 4] = ["Cargo.lock", "curricula", "programs", "src"];

/// Modules that no run of a curriculum uses, so that a new caption does not set runs of another build apart. A test of
/// the layers compares the list with the tree.
const UNUSED: [&str; 7] = ["experiment", "export", "fit", "prelude.rs", "report", "solve", "store"];

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells the folder of the crate"));
    let folders = [own.clone(), own.join("../..")];
    let mut digest = Digest::NEW;
    for (folder, input) in
        INPUTS.iter().filter_map(|input| Some((folders.iter().find(|f| f.join(input).exists())?, input)))
    {
        let path = folder.join(input);
        println!("cargo::rerun-if-changed={}", path.display());
        let unused = |file: &Path| UNUSED.iter().any(|module| file.starts_with(path.join(module)));
        for file in files(&path).into_iter().filter(|file| !unused(file)) {
            let name = file.strip_prefix(folder).expect("a file of the folder").to_string_lossy();
            digest.add(name.replace('\\', "/").as_bytes());
            digest.add(&content(&file));
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=RL4RLA_DIGEST={:016x}", digest.0);
}

/// All files below a path in the order of their names, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let entries = fs::read_dir(path).expect("a folder of the sources can be read");
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}

/// The content of a file; of Rust sources only what the compiler sees.
fn content(file: &Path) -> Vec<u8> {
    let bytes = fs::read(file).expect("a source file can be read");
    if file.extension().is_none_or(|ending| ending != "rs") {
        return bytes;
    }
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii_start().starts_with(b"//"));
    lines.flat_map(|line| [line, b"\n"].concat()).collect()
}

/// FNV-1a with 64 bits, over texts and their lengths.
struct Digest(u64);

impl Digest {
    const NEW: Digest = Digest(0xcbf2_9ce4_8422_2325);

    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
