//! Parquet and Arrow files of pandas, Polars and PyArrow: read as they should be, and every way to be wrong is told with
//! its place.

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use flate2::GzBuilder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use rl4rla::data::{
    DataTable, Design, Format, Missing, Reading, System, TargetColumn, open, probe, read, read_from,
};
use rl4rla::rng::Stream;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAMES: [&str; 5] = ["x", "count", "single", "flag", "y"];

/// Files with the same table, in all ways that writers choose.
const SAME: [&str; 10] = [
    "pandas.parquet",
    "polars.parquet",
    "gzip.parquet",
    "lz4.parquet",
    "dictionary.parquet",
    "pandas.feather",
    "polars.arrow",
    "plain.arrow",
    "plain.arrows",
    "dictionary.feather",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn dropping() -> Reading {
    Reading { missing: Missing::DropRow, ..Reading::default() }
}

fn take(bytes: Vec<u8>, reading: &Reading) -> Result<DataTable, String> {
    read_from(Path::new("data"), Cursor::new(bytes), reading).map_err(|error| {
        assert!(!error.advice.is_empty(), "{error}");
        error.to_string()
    })
}

#[track_caller]
fn refused(name: &str) -> String {
    take(bytes(name), &Reading::default()).unwrap_err()
}

/// The entries of the table, row by row.
fn entries() -> Vec<f64> {
    let x = [0.5, -1.25, 3.0, 1e300, -0.0, 7.125, 2.0];
    let count = [1.0, -2.0, 3.0, 2_147_483_647.0, 0.0, 5.0, 6.0];
    let single = [0.1_f32, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
    let flag = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    let y = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 255.0];
    (0..7).flat_map(|i| [x[i], count[i], single[i].into(), flag[i], y[i]]).collect()
}

fn bits(entries: &[f64]) -> Vec<u64> {
    entries.iter().map(|entry| entry.to_bits()).collect()
}

#[test]
fn tables_of_every_writer_are_the_same() {
    for name in SAME {
        let format = if name.ends_with("parquet") { Format::Parquet } else { Format::Arrow };
        let table = read(&fixture(name), &Reading::default()).unwrap();
        assert_eq!((table.rows, table.cols, table.format, table.dropped), (7, 5, format, 0), "{name}");
        assert_eq!(table.names.unwrap(), NAMES, "{name}");
        assert_eq!(bits(&table.entries), bits(&entries()), "{name}");
        let found = probe(&fixture(name), &Reading::default()).unwrap();
        assert_eq!((found.format, found.rows, found.cols, found.bytes), (format, Some(7), 5, Some(280)));
        assert_eq!(found.names.unwrap(), NAMES, "{name}");
        for most in [1, 2, 3, 100] {
            let (mut rows, mut all) = (open(&fixture(name), &dropping()).unwrap(), Vec::new());
            while rows.next(most, &mut all).unwrap() > 0 {}
            assert_eq!(bits(&all), bits(&entries()), "{name}, {most} rows at a time");
        }
    }
}

#[test]
fn a_column_is_chosen_by_name_or_by_number() {
    for name in SAME {
        for target in ["y", "5"] {
            let target = TargetColumn::Column(target.into());
            let design = Design { target, intercept: true, standardise: false };
            let system = System::load(&fixture(name), &design, &Reading::default()).unwrap();
            assert_eq!(system.b, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 255.0], "{name}");
            assert_eq!(system.columns.names, NAMES[..4], "{name}");
            assert_eq!(system.matrix.row_major()[..5], [0.5, 1.0, 0.1_f32.into(), 1.0, 1.0], "{name}");
        }
    }
}

#[test]
fn decimal_numbers_are_rounded_once() {
    let table = read(&fixture("decimal.parquet"), &dropping()).unwrap();
    assert_eq!((table.entries, table.dropped), (vec![0.5, -1.25, 3.0, 12345678901234567.89], 1));
}

#[test]
fn missing_values_are_named_or_their_rows_dropped() {
    for name in ["missing.parquet", "missing.feather"] {
        assert_eq!(refused(name), "data, row 2, column 2 (`b`): the value is missing", "{name}");
        let kept = take(bytes(name), &dropping()).unwrap();
        assert_eq!((kept.rows, kept.dropped, kept.entries), (2, 2, vec![1.0, 1.0, 4.0, 4.0]), "{name}");
    }
    assert_eq!(
        refused("infinite.parquet"),
        "data, row 2, column 1 (`a`): expected a finite number, found inf"
    );
    let said = take(bytes("infinite.parquet"), &dropping()).unwrap_err();
    assert_eq!(said, refused("infinite.parquet"));
}

#[test]
fn columns_that_are_no_numbers_are_named() {
    for (name, said) in [
        ("text.parquet", ", column 2 (`city`): expected numbers, found text"),
        ("date.feather", ", column 2 (`when`): expected numbers, found dates or times"),
        ("nested.parquet", ", column 2 (`all`): expected numbers, found nested values"),
        ("twice.parquet", ": columns 1 and 2 are both named `a`"),
        ("empty.parquet", ": the table has no rows"),
    ] {
        assert_eq!(refused(name), format!("data{said}"));
    }
    let error = read(&fixture("text.parquet"), &Reading::default()).unwrap_err();
    assert!(error.advice.contains("encode categories as numbers"), "{}", error.advice);
    let reading = Reading { member: Some("x".into()), ..Reading::default() };
    let said = take(bytes("pandas.parquet"), &reading).unwrap_err();
    assert_eq!(said, "data: this is a file in Parquet format, which has no array `x`");
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let small = |limit| Reading { limit, ..Reading::default() };
    for name in ["gzip.parquet", "plain.arrow"] {
        let said = take(bytes(name), &small(100)).unwrap_err();
        assert_eq!(said, "data: 5 columns exceed the memory limit", "{name}");
    }
    let said = take(bytes("gzip.parquet"), &Reading { limit: 279, ..Reading::default() });
    assert!(said.unwrap_err().contains("columns exceed"), "64 bytes for each name");
    let said = take(parquet_of_zeros(), &small(64_000)).unwrap_err();
    let much = "data: a matrix of 1,000×1,000 numbers takes 8.00 MB of memory, but only 64.0 kB are allowed";
    assert_eq!(said, much);
}

/// A Parquet file of a thousand rows and columns of zeros.
fn parquet_of_zeros() -> Vec<u8> {
    let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0; 1000]));
    let columns = (0..1000).map(|place| (format!("c{place}"), zeros.clone()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn files_cut_short_are_refused() {
    for name in SAME {
        let whole = bytes(name);
        for cut in (8..whole.len()).step_by(7) {
            // A stream may end after any batch, and says nowhere how many follow.
            let read = take(whole[..cut].to_vec(), &Reading::default());
            let rows = read.as_ref().map_or(0, |table| table.rows);
            assert!(rows == 0 || (name.ends_with("arrows") && [5, 7].contains(&rows)), "{name} cut at {cut}");
            if let Err(said) = read {
                assert!(said.starts_with("data: "), "{said}");
            }
        }
    }
    assert_eq!(
        take(bytes("pandas.parquet")[..1000].to_vec(), &Reading::default()).unwrap_err(),
        "data: the file is damaged: its end is missing"
    );
    let packed = [&[0x1f, 0x8b][..], &[0; 20]].concat();
    assert!(take(packed, &Reading::default()).is_err());
}

#[test]
fn sizes_that_files_claim_are_not_believed() {
    // The number of columns, field 5 of the first element of the schema, 2³¹ − 1 instead of 5.
    let mut file = bytes("lz4.parquet");
    let name = file.windows(6).position(|piece| piece == b"schema").unwrap();
    assert_eq!(file[name + 6..name + 8], [0x15, 10], "five children");
    file.splice(name + 7..name + 8, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let length = file.len() - 8;
    let footer = u32::from_le_bytes(file[length..length + 4].try_into().unwrap()) + 4;
    file[length..length + 4].copy_from_slice(&footer.to_le_bytes());
    assert_eq!(
        take(file, &Reading::default()).unwrap_err(),
        "data: the file is damaged: its description cannot be decoded"
    );
    // The length of the description.
    let mut file = bytes("lz4.parquet");
    let length = file.len() - 8;
    file[length..length + 4].fill(0xff);
    assert!(take(file, &Reading::default()).unwrap_err().starts_with("data: the file is damaged: "));
    // The size of the first page: field 2 of its header, after the magic bytes and the type.
    let mut file = bytes("lz4.parquet");
    assert_eq!(file[4..7], [0x15, 4, 0x15], "a dictionary page");
    file.splice(7..8, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let said = take(file, &Reading::default()).unwrap_err();
    let place = "data: the file is damaged: row group 1, column `x`: a page claims 2147483647 bytes";
    assert!(said.starts_with(place), "{said}");
    // The rows of a batch, and the size of its buffers before they were compressed.
    let mut file = bytes("plain.arrow");
    let rows = file.windows(8).position(|piece| piece == 2_u64.to_le_bytes()).unwrap();
    file[rows..rows + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let said = take(file, &Reading::default()).unwrap_err();
    assert!(
        said.starts_with("data: the file is damaged: a batch claims 1,099,511,627,776 rows in "),
        "{said}"
    );
    let mut file = bytes("polars.arrow");
    let size = file.windows(8).position(|piece| piece == b"\x38\0\0\0\0\0\0\0").unwrap();
    file[size + 5] = 1;
    let said = take(file, &Reading::default()).unwrap_err();
    assert!(said.starts_with("data: the file is damaged: a batch of 7 rows claims 1,099,511,627,"), "{said}");
}

#[test]
fn pages_that_unpack_to_more_than_they_claim_are_refused() {
    let numbers = Float64Array::from(Stream::new(1).normals(1000));
    let batch = RecordBatch::try_from_iter([("x", Arc::new(numbers) as ArrayRef)]).unwrap();
    // With such a limit a page of so many bytes may not be unpacked before it is known what comes out of it.
    let reading = Reading { limit: 1 << 20, ..Reading::default() };
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(Default::default()))
            .set_dictionary_enabled(false)
            .set_writer_version(version)
            .set_encoding(Encoding::PLAIN)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let metadata = writer.finish().unwrap();
        let (start, length) = metadata.row_group(0).column(0).byte_range();
        let mut file = writer.inner().clone();
        assert_eq!(take(file.clone(), &reading).unwrap().rows, 1000, "{version:?}");
        let page =
            start as usize + file[start as usize..].windows(2).position(|two| two == [0x1f, 0x8b]).unwrap();
        let end = (start + length) as usize;
        // Five megabytes of zeros in as many bytes as the page has.
        let zeros = |padding: usize| {
            let mut packer =
                GzBuilder::new().extra(vec![0; padding]).write(Vec::new(), flate2::Compression::best());
            packer.write_all(&vec![0; 5 << 20]).unwrap();
            packer.finish().unwrap()
        };
        file[page..end].copy_from_slice(&zeros(end - page - zeros(0).len()));
        let said = take(file, &reading).unwrap_err();
        assert!(said.ends_with("a page unpacks to more than 8000 bytes"), "{version:?}: {said}");
    }
}
