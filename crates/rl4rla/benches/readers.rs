//! Readers of data: megabytes of file a second, on one core.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rl4rla::data::{Reading, read, write_npy};
use rl4rla::rng::Stream;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

const ROWS: usize = 300_000;
const COLS: usize = 40;

/// A file that is gone when the benchmark is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("rl4rla-bench-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Parquet and Arrow files, as their writers make them by default.
#[cfg(feature = "columnar")]
fn columnar(rows: usize, entries: &[f64]) -> Vec<(&'static str, Scratch)> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use std::sync::Arc;
    let column =
        |j: usize| Arc::new(Float64Array::from_iter_values(entries.iter().skip(j).step_by(COLS).copied()));
    let columns = (0..COLS).map(|j| (format!("c{j}"), column(j) as ArrayRef));
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    assert_eq!(batch.num_rows(), rows);
    let snappy = parquet::basic::Compression::SNAPPY;
    let properties = parquet::file::properties::WriterProperties::builder().set_compression(snappy).build();
    let parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties));
    let mut parquet = parquet.expect("a schema of numbers");
    parquet.write(&batch).expect("memory");
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("memory");
    for start in (0..rows).step_by(1 << 16) {
        arrow.write(&batch.slice(start, (rows - start).min(1 << 16))).expect("memory");
    }
    let files = [
        ("parquet, snappy", Scratch::new("parquet"), parquet.into_inner().expect("memory")),
        ("arrow", Scratch::new("arrow"), arrow.into_inner().expect("memory")),
    ];
    let written = files.into_iter().map(|(name, file, bytes)| {
        fs::write(&file.0, bytes).expect("a folder for temporary files");
        (name, file)
    });
    written.collect()
}

#[cfg(not(feature = "columnar"))]
fn columnar(_: usize, _: &[f64]) -> Vec<(&'static str, Scratch)> {
    Vec::new()
}

fn readers(c: &mut Criterion) {
    let bench = std::env::args().any(|arg| arg == "--bench");
    // As a test, to see that it runs.
    let rows = if bench { ROWS } else { 100 };
    let entries = Stream::new(1).normals(rows * COLS);
    let (npy, full, short) = (Scratch::new("npy"), Scratch::new("full.csv"), Scratch::new("short.csv"));
    write_npy(&npy.0, rows, COLS, &entries).expect("a folder for temporary files");
    // Sixteen digits behind the point, as other programs write all that they have; and six, as people do.
    for (file, digits) in [(&full, 16), (&short, 6)] {
        let mut text = String::new();
        for row in entries.chunks(COLS) {
            for (col, entry) in row.iter().enumerate() {
                let sign = if col == 0 { "" } else { "," };
                write!(text, "{sign}{entry:.digits$}").expect("memory");
            }
            text.push('\n');
        }
        fs::write(&file.0, text).expect("a folder for temporary files");
    }
    let columnar = columnar(rows, &entries);
    let mut group = c.benchmark_group("readers");
    group.sample_size(10);
    let texts = [
        ("npy", &npy),
        ("csv, 16 digits behind the point", &full),
        ("csv, 6 digits behind the point", &short),
    ];
    for (name, file) in texts.into_iter().chain(columnar.iter().map(|(name, file)| (*name, file))) {
        let bytes = fs::metadata(&file.0).expect("the file just written").len();
        group.throughput(Throughput::BytesDecimal(bytes));
        group.bench_function(name, |b| {
            b.iter_batched(
                Reading::default,
                |reading| read(&file.0, &reading).expect("the file just written"),
                BatchSize::PerIteration,
            )
        });
    }
    group.finish();
}

criterion_group!(benches, readers);
criterion_main!(benches);
