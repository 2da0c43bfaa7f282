//! Readers meet broken files: valid ones, mutated, in every format, gzipped before or after. Whatever comes, a reader
//! gives a matrix of finite numbers within its limit, or says what is wrong; and so do the readers of programs and
//! curricula.
//!
//! `RL4RLA_FUZZ=1000000 cargo test --release -p rl4rla --test fuzz_readers` makes so many inputs of each kind.

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::{Rng, RngExt};
use rl4rla::curriculum::{BUILTIN, Curriculum};
use rl4rla::data::{DataError, DataTable, Format, Missing, Reading, open_from, read_from};
use rl4rla::program::{Document, Entry, Program};
use rl4rla::rng::Stream;
use std::collections::HashSet;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Inputs of each kind, if the environment says nothing else.
const INPUTS: u64 = 20_000;
/// The most memory that the whole process may have taken, in kilobytes.
const MEMORY: u64 = 512_000;
/// Pieces that have broken readers elsewhere.
const PIECES: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"1e999",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"4294967296",
    b"1000000000",
    b"NaN",
    b"inf",
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b" ",
    b"%",
    b"\xff",
    b"\0",
    b"(",
    b"'",
    b"\xef\xbb\xbf",
];

/// First bytes of formats whose parts may be anywhere in the file.
const IN_PARTS: [&[u8]; 4] = [b"PK", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"];

fn npy(version: u8, descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}   \n");
    let mut file = [b"\x93NUMPY".as_slice(), &[version, 0]].concat();
    match version {
        1 => file.extend((header.len() as u16).to_le_bytes()),
        _ => file.extend((header.len() as u32).to_le_bytes()),
    }
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn npy_seeds() -> Vec<Vec<u8>> {
    let doubles: Vec<u8> = (0..12).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    let singles: Vec<u8> = (0..12).flat_map(|x| (x as f32).to_be_bytes()).collect();
    vec![
        npy(1, "<f8", "False", "(3, 4)", &doubles),
        npy(2, "<f8", "True", "(4, 3)", &doubles),
        npy(3, ">f4", "False", "(12,)", &singles),
        npy(1, "|u1", "True", "(2, 3)", &[1, 2, 3, 4, 5, 6]),
        npy(1, "<i8", "False", "(6L, 2L)", &doubles),
    ]
}

fn csv_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "height,age,weight\n1.75,30,70.5\n1.62,41,55\n1.80,NA,82.25\n1.71,28,61\n",
        "a;b\r\n1,5;2,0\r\n3,25;-4\r\n",
        "\"x, y\"\t\"say \"\"hi\"\"\"\t\n1e-3\t2\t\"3\"\n\n4\t5\t-6.5e2\n",
        "  1   2 3\n 4 5   6\n",
        "\u{feff}x|z||\n1|2|?|4\n\"5\n\"|6|7|8\n",
        "0.12345678901234567\n9007199254740993\n-18446744073709551615\n",
        "a,b\n\"1,000\",\"2,5\"\n\"-12,345\",7\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn market_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "%%MatrixMarket matrix array real general\n% columns first\n2 3\n1\n2\n3.5\n-4\n5e-1\n6\n",
        "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1.5\n2 3 -2\n3 4 1e3\n3 4 1\n1 2 0\n",
        "%%MatrixMarket matrix coordinate real general\n2000 1000 4\n9 3 1.5\n2 3 -2\n9 3 1\n1 2 0\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n1500 1500 3\n1 1 4\n900 3 -2\n9 3 1\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n%\n\n3 3 3\n1 1\n2 1\n3 2\n",
        "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
        "%%matrixmarket MATRIX array real symmetric\r\n2 2\r\n1\r\n2\r\n3\r\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Files that other programs wrote.
fn fixtures(names: &[impl AsRef<str>]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    names.iter().map(|name| std::fs::read(folder.join(name.as_ref())).unwrap()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Changes bytes in one way, where most is decided more often than elsewhere: at the beginning.
fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut impl Rng) {
    let len = bytes.len();
    if len == 0 {
        return bytes.push(rng.random());
    }
    let reach = if rng.random_range(0..2) == 0 { len.min(100) } else { len };
    let at = rng.random_range(0..reach);
    let end = (at + 1 + rng.random_range(0..16_usize)).min(len);
    match rng.random_range(0..10) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = rng.random(),
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        4 => bytes.extend((0..rng.random_range(1..40)).map(|_| rng.random::<u8>())),
        5 => {
            let other = &others[rng.random_range(0..others.len())];
            let from = rng.random_range(0..other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        6 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        7 => drop(bytes.splice(at..at, PIECES[rng.random_range(0..PIECES.len())].iter().copied())),
        // A number for another.
        8 => {
            let Some(start) = (at..len).find(|place| bytes[*place].is_ascii_digit()) else { return };
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let piece = PIECES[rng.random_range(0..10)];
            bytes.splice(start..start + digits, piece.iter().copied());
        }
        // A digit for another.
        _ => {
            let Some(start) = (at..len).find(|place| bytes[*place].is_ascii_digit()) else { return };
            bytes[start] = b'0' + rng.random_range(0..10);
        }
    }
}

fn reading(rng: &mut impl Rng) -> Reading {
    let mut one_in = |n: u32| rng.random_range(0..n) == 0;
    Reading {
        limit: if one_in(4) { 1 << 7 } else { 1 << 22 },
        dense: one_in(2),
        missing: if one_in(2) { Missing::DropRow } else { Missing::Refuse },
        member: None,
        header: one_in(4).then(|| one_in(2)),
        delimiter: one_in(6).then(|| if one_in(2) { b',' } else { b' ' }),
        decimal: one_in(6).then(|| if one_in(2) { b'.' } else { b',' }),
    }
}

/// Bytes in memory that count how many of them are read.
struct Counted(Cursor<Vec<u8>>, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.0.seek(place)
    }
}

/// Shows the input at which a test fails.
struct Input<'a>(u64, &'a [u8]);

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("input {}: b\"{}\"", self.0, self.1.escape_ascii());
        }
    }
}

fn read_whole(bytes: &[u8], reading: &Reading) -> Result<DataTable, DataError> {
    let count = Arc::new(AtomicU64::new(0));
    let read = read_from(Path::new("input"), Counted(Cursor::new(bytes.to_vec()), count.clone()), reading);
    // Twice at most: to count rows and to read them; and the bytes that tell gzip. The parts of an archive may overlap.
    let times = if IN_PARTS.iter().any(|magic| bytes.starts_with(magic)) { 30 } else { 2 };
    assert!(count.load(Ordering::Relaxed) <= times * bytes.len() as u64 + 2, "reads what it has read before");
    read
}

/// What must hold of every answer; says whether the input was read.
fn check(bytes: &[u8], reading: &Reading) -> bool {
    let table = match read_whole(bytes, reading) {
        Ok(table) => table,
        Err(error) => {
            let said = error.to_string();
            assert!(said.starts_with("input") && !said.contains(char::is_control), "{said:?}");
            assert!(!error.message.is_empty() && !error.advice.is_empty() && said.len() < 1000, "{said}");
            return false;
        }
    };
    let DataTable { rows, cols, entries, names, dropped, format } = table;
    assert!(rows > 0 && cols > 0 && entries.len() == rows * cols);
    assert!(entries.len() as u64 * 8 <= reading.limit && entries.iter().all(|entry| entry.is_finite()));
    if let Some(names) = &names {
        assert_eq!((names.len(), names.iter().collect::<HashSet<_>>().len()), (cols, cols));
        assert!(names.iter().all(|name| !name.is_empty() && !name.contains(char::is_control)));
    }
    let named = matches!(format, Format::Csv | Format::Parquet | Format::Arrow);
    assert!(named || (names.is_none() && dropped == 0));
    // Some rows at a time, the same.
    let mut parts = open_from(Path::new("input"), Cursor::new(bytes.to_vec()), reading).unwrap();
    let mut again = Vec::new();
    while parts.next(2, &mut again).unwrap() > 0 {}
    assert_eq!(again, entries);
    assert_eq!((parts.cols(), parts.names(), parts.dropped()), (cols, names.as_deref(), dropped));
    true
}

/// The most memory that this process has taken, in kilobytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

#[derive(Clone, Copy, PartialEq)]
enum Packing {
    /// Never gzipped: a format that is read in parts.
    None,
    Plain,
    Gzip,
}

fn campaign(name: &str, seeds: &[Vec<u8>], packing: Packing) {
    let inputs =
        std::env::var("RL4RLA_FUZZ").map_or(INPUTS, |count| count.parse().expect("a number of inputs"));
    let packed: Vec<Vec<u8>> = match packing {
        Packing::None => Vec::new(),
        Packing::Plain | Packing::Gzip => seeds.iter().map(|seed| gzip(seed)).collect(),
    };
    for seed in seeds.iter().chain(&packed) {
        let reading = Reading { missing: Missing::DropRow, ..Reading::default() };
        assert!(check(seed, &reading), "{name}: the seed b\"{}\" is valid", seed.escape_ascii());
    }
    let mut read = 0;
    for index in 0..inputs {
        let mut rng = Stream::new(8).derive(name, index).rng();
        // Some gzipped inputs are damaged inside, some as files, and some are two files one after the other.
        let outside = packing == Packing::Gzip && rng.random_range(0..3) == 0;
        let pool = if outside { &packed } else { seeds };
        let mut bytes = pool[rng.random_range(0..pool.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            mutate(&mut bytes, pool, &mut rng);
        }
        if packing == Packing::Gzip && !outside {
            let cut = rng.random_range(0..=bytes.len());
            bytes = match rng.random_range(0..4) {
                0 => [gzip(&bytes[..cut]), gzip(&bytes[cut..])].concat(),
                _ => gzip(&bytes),
            };
        }
        let reading = reading(&mut rng);
        let shown = Input(index, &bytes);
        read += u64::from(check(&bytes, &reading));
        drop(shown);
    }
    let peak = peak();
    println!("{name}: {inputs} inputs, {read} read, the others refused; peak memory {peak:?} kB");
    assert!(peak.is_none_or(|peak| peak < MEMORY), "{peak:?} kB");
    // Mutations that leave nothing readable, or break nothing, would test little.
    assert!(read * 100 > inputs && read * 10 < inputs * 9, "{read} of {inputs} were read");
}

#[test]
fn npy_files() {
    campaign("npy", &npy_seeds(), Packing::Plain);
}

#[test]
fn npy_files_gzipped() {
    campaign("npy.gz", &npy_seeds(), Packing::Gzip);
}

#[test]
fn csv_files() {
    campaign("csv", &csv_seeds(), Packing::Plain);
}

#[test]
fn csv_files_gzipped() {
    campaign("csv.gz", &csv_seeds(), Packing::Gzip);
}

#[test]
fn matrix_market_files() {
    campaign("mtx", &market_seeds(), Packing::Plain);
}

#[test]
fn matrix_market_files_gzipped() {
    campaign("mtx.gz", &market_seeds(), Packing::Gzip);
}

#[test]
fn npz_files() {
    let names = ["stored.npz", "deflated.npz", "unnamed.npz", "csr.npz", "csc.npz", "coo.npz"];
    campaign("npz", &fixtures(&names), Packing::None);
}

#[cfg(feature = "columnar")]
#[test]
fn parquet_files() {
    let names = ["pandas", "polars", "gzip", "lz4", "dictionary", "decimal", "missing"];
    campaign("parquet", &fixtures(&names.map(|name| format!("{name}.parquet"))), Packing::None);
}

#[cfg(feature = "columnar")]
#[test]
fn arrow_files() {
    let names = [
        "pandas.feather",
        "polars.arrow",
        "plain.arrow",
        "plain.arrows",
        "dictionary.feather",
        "missing.feather",
    ];
    campaign("arrow", &fixtures(&names), Packing::None);
}

/// Texts that people write, mutated: each is read, or refused with a word, and never a panic.
fn texts(name: &str, seeds: &[&str], read: fn(&str) -> Result<(), String>) {
    let inputs =
        std::env::var("RL4RLA_FUZZ").map_or(INPUTS / 10, |count| count.parse().expect("a number of inputs"));
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    let mut good = 0;
    for index in 0..inputs {
        let mut rng = Stream::new(8).derive(name, index).rng();
        let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            mutate(&mut bytes, &seeds, &mut rng);
        }
        let shown = Input(index, &bytes);
        match read(&String::from_utf8_lossy(&bytes)) {
            Ok(()) => good += 1,
            Err(said) => assert!(!said.is_empty() && said.len() < 4000, "{said}"),
        }
        drop(shown);
    }
    println!("{name}: {inputs} inputs, {good} read, the others refused");
    assert!(good > 0 && good < inputs, "{good} of {inputs} were read");
}

#[test]
fn programs() {
    let seeds: Vec<String> =
        Entry::known().map(|entry| entry.document.update.text(&entry.document.program)).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    texts("rla", &seeds, |text| {
        text.parse::<Document>().map_err(|error| error.to_string()).and_then(|document| {
            // What was read is written and read again.
            let again = document.program.to_string().parse::<Program>().map_err(|error| error.to_string())?;
            assert_eq!(again, document.program);
            Ok(())
        })
    });
}

#[test]
fn curricula() {
    let seeds: Vec<&str> = BUILTIN.iter().map(|(_, text)| *text).collect();
    texts("toml", &seeds, |text| {
        Curriculum::parse("input", text).map(drop).map_err(|error| error.to_string())
    });
}
