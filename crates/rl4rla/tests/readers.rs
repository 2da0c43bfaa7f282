//! Readers of users' data: files of every format read as they should, and every way to be wrong is told with its place.

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use rl4rla::data::{
    DataTable, Format, Missing, Reading, open, open_from, probe, read, read_from, write_csv, write_npy,
};
use rl4rla::rng::Stream;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::{fs, process};

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rl4rla-readers-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn take(bytes: impl AsRef<[u8]>, reading: &Reading) -> Result<DataTable, String> {
    let input = Cursor::new(bytes.as_ref().to_vec());
    read_from(Path::new("data"), input, reading).map_err(|error| {
        assert!(!error.advice.is_empty(), "{error}");
        error.to_string()
    })
}

#[track_caller]
fn table(bytes: impl AsRef<[u8]>) -> DataTable {
    take(bytes, &Reading::default()).unwrap()
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>) -> String {
    take(bytes, &Reading::default()).unwrap_err()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn header(text: &str) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [header(&text), data.to_vec()].concat()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn market(kind: &str, rest: &str) -> String {
    format!("%%MatrixMarket matrix {kind}\n{rest}")
}

#[test]
fn npy_files_are_read_in_both_orders_and_all_kinds() {
    let by_rows = table(npy("<f8", false, "(2, 3)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    let by_columns = table(npy("<f8", true, "(2, 3)", &doubles(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
    assert_eq!(by_rows, by_columns);
    assert_eq!((by_rows.rows, by_rows.cols, by_rows.format), (2, 3, Format::Npy));
    assert_eq!(by_rows.entries, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let column =
        table(npy(">f4", false, "(2,)", &[1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat()));
    assert_eq!((column.rows, column.cols, column.entries), (2, 1, vec![1.5, -2.0]));
    for (descr, data, number) in [
        ("|b1", &[3_u8][..], 1.0),
        ("|i1", &[255], -1.0),
        ("|u1", &[255], 255.0),
        (">i2", &[255, 254], -2.0),
        ("<u2", &[254, 255], 65534.0),
        ("<i4", &[0, 0, 0, 128], -2_147_483_648.0),
        (">u4", &[128, 0, 0, 0], 2_147_483_648.0),
        ("<i8", &[255; 8], -1.0),
        ("<u8", &[255; 8], 18_446_744_073_709_551_615.0),
    ] {
        assert_eq!(table(npy(descr, false, "(1, 1)", data)).entries, [number], "{descr}");
    }
}

#[test]
fn npy_files_that_lie_are_refused() {
    let six = doubles(&[0.0; 6]);
    assert_eq!(
        refused(npy("<f8", false, "(2, 3)", &six[..40])),
        "data: the header claims 2×3 numbers `<f8` = 48 bytes, but 40 bytes follow"
    );
    assert_eq!(
        refused(npy("<f8", false, "(2, 2)", &six)),
        "data: the header claims 2×2 numbers `<f8` = 32 bytes, but 48 bytes follow"
    );
    assert_eq!(
        refused(npy("<f8", false, "(1000000000, 100)", &[0; 900])),
        "data: the header claims 1,000,000,000×100 numbers `<f8` = 800,000,000,000 bytes (800 GB), but 900 bytes follow"
    );
    let packed = gzip(&npy("<f8", false, "(1000000000, 100)", &[0; 900]));
    let said = refused(&packed);
    assert!(said.contains("(800 GB)") && said.contains("compressed bytes cannot hold that"), "{said}");
    assert_eq!(
        refused(gzip(&npy("<f8", false, "(2, 3)", &six[..40]))),
        "data, row 2, column 3: the header claims 2×3 numbers `<f8` = 48 bytes, but the file ends earlier"
    );
    assert_eq!(
        refused(gzip(&npy("<f8", false, "(2, 2)", &six))),
        "data: the header claims 2×2 numbers `<f8` = 32 bytes, but more follow"
    );
    for (shape, said) in [
        (
            "(4294967296, 4294967296)",
            "claims 4,294,967,296×4,294,967,296 numbers `<f8`, more than any memory",
        ),
        ("(99999999999999999999, 1)", "claims a size of `99999999999999999999`"),
        ("(-3, 4)", "byte 52 of the NPY header: expected a size, a positive integer, found `-3, 4), }\\n`"),
        ("(2.0, 3)", "expected `)`, found `.0, 3), }\\n`"),
        ("(0, 3)", "the array of shape (0, 3) has no entries"),
        ("(2, 3, 4)", "the array has 3 dimensions, at most two are a matrix"),
        ("()", "the array is a single number"),
        ("6", "expected `(`, found `6, }\\n`"),
    ] {
        let found = refused(npy("<f8", false, shape, &six));
        assert!(found.starts_with("data: ") && found.contains(said), "{shape}: {found}");
    }
}

#[test]
fn npy_headers_are_no_python() {
    for (text, said) in [
        ("{'descr': '<f8', 'fortran_order': False}", "has no key `shape`"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", "has an unknown key `more`"),
        ("{'descr': '<f8', 'descr': '<f8'}", "has the key `descr` twice"),
        ("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "expected True or False, found `0,"),
        (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
            "expected the end of the header, found `x`",
        ),
        ("{'descr': '<f8", "expected a text with a closing quote, found `'<f8`"),
        ("{'descr'", "expected `:`, found its end"),
        ("", "byte 1 of the NPY header: expected `{`, found its end"),
        (
            "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}",
            "the array holds elements `<c16`; real numbers",
        ),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "the array holds elements `|O`"),
        ("{'descr': '', 'fortran_order': False, 'shape': (1,)}", "the array holds elements ``"),
        ("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}", "the array is structured"),
    ] {
        let found = refused(header(text));
        assert!(found.starts_with("data: ") && found.contains(said), "{text}: {found}");
    }
    assert_eq!(refused(b"\x93NUMPY\x01"), "data: the file ends within the NPY header");
    assert_eq!(
        refused(b"\x93NUMPY\x09\x00\x00\x00\x00\x00"),
        "data: NPY version 9.0 is not known; 1, 2 and 3 are"
    );
    assert_eq!(
        refused(b"\x93NUMPY\x01\x00\xff\x00{"),
        "data: the NPY header claims to be 255 bytes long, but the file ends after 1 of them"
    );
    assert_eq!(
        refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
        "data: the NPY header claims to be 4,294,967,295 bytes long, more than 65,536"
    );
}

#[test]
fn entries_that_are_not_finite_are_named() {
    let data = doubles(&[1.0, 2.0, 3.0, f64::NAN, 5.0, f64::INFINITY]);
    assert_eq!(
        refused(npy("<f8", false, "(2, 3)", &data)),
        "data, row 2, column 1: expected a finite number, found NaN"
    );
    assert_eq!(
        refused(npy("<f8", true, "(2, 3)", &data)),
        "data, row 2, column 2: expected a finite number, found NaN"
    );
    let single = f32::NEG_INFINITY.to_be_bytes();
    assert_eq!(
        refused(npy(">f4", false, "(1, 1)", &single)),
        "data, row 1, column 1: expected a finite number, found -inf"
    );
}

#[test]
fn csv_files_are_read_however_they_are_written() {
    let plain = table("a,b\n1,2.5\n3,-4e1\n");
    assert_eq!((plain.rows, plain.cols, plain.format), (2, 2, Format::Csv));
    assert_eq!(
        (&plain.entries[..], plain.names.as_deref().unwrap()),
        (&[1.0, 2.5, 3.0, -40.0][..], &["a".into(), "b".into()][..])
    );
    for other in [
        "\u{feff}a;b\r\n1;2,5\r\n\r\n3;-4e1",
        "a\tb\n1\t2.5\n3\t-40\n\n",
        "a|b\n1|2.5\n3|-40.0\n",
        "a b\n  1   2.5\n3 -4.0e+1  \n",
        "\"a\",\"b\"\n\"1\",\"2.5\"\n\" 3\",-40\n",
        "\"a\",b\n1,2.5\n\"3\n\",-40\n",
    ] {
        assert_eq!(table(other), plain, "{other:?}");
        assert_eq!(table(gzip(other.as_bytes())), plain, "{other:?}, gzipped");
    }
    assert_eq!(table("1,2\n3,4").names, None);
    assert_eq!(table("7").entries, [7.0]);
}

#[test]
fn names_are_distinct_and_fit_for_a_terminal() {
    let names = table("x,column 3,,\"two\nlines\x1b[2J\"\n1,2,3,4\n").names.unwrap();
    assert_eq!(names, ["x", "column 3", "column 3'", "two lines [2J"]);
    assert_eq!(refused("\nage,y, age \n1,2,3\n"), "data, line 2: columns 1 and 3 are both named `age`");
    let reading = Reading { header: Some(true), ..Reading::default() };
    assert_eq!(take("1,2\n3,4\n", &reading).unwrap().names.unwrap(), ["1", "2"]);
    let reading = Reading { header: Some(false), ..Reading::default() };
    assert_eq!(
        take("a,b\n3,4\n", &reading).unwrap_err(),
        "data, line 1, column 1: expected a number, found `a`"
    );
}

#[test]
fn commas_that_may_set_thousands_apart_are_refused() {
    let doubt = |cell: &str| {
        format!(
            "`{cell}` may contain a decimal comma or a thousands separator: every comma in this file is followed by three digits"
        )
    };
    for (text, place) in [
        ("price,size\n\"1,000\",3\n\"2,500\",4\n", "line 2, column 1 (`price`)"),
        ("price;size\n3;4\n1,000;3\n2,500;4\n", "line 3, column 1 (`price`)"),
        ("3\t1,000\n4\t2,500\n", "line 1, column 2"),
        ("3 1,000\n4 2,500\n", "line 1, column 2"),
        ("\"1,000\"\n\"12,500\"\n", "line 1, column 1"),
    ] {
        assert_eq!(refused(text), format!("data, {place}: {}", doubt("1,000")), "{text:?}");
        assert_eq!(refused(gzip(text.as_bytes())), refused(text));
        let rows = open_from(Path::new("data"), Cursor::new(text), &Reading::default());
        let (mut rows, mut entries) = (rows.unwrap(), Vec::new());
        let end = loop {
            match rows.next(1, &mut entries) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error.to_string()),
            }
        };
        assert_eq!(end, Err(refused(text)), "some rows at a time");
        // Who says what the comma is gets that.
        let reading = Reading { decimal: Some(b','), ..Reading::default() };
        assert!(take(text, &reading).unwrap().entries.contains(&1.0), "{text:?}");
        let reading = Reading { decimal: Some(b'.'), ..Reading::default() };
        assert!(take(text, &reading).is_err(), "{text:?}");
    }
    // A cell anywhere in the file that can only have a decimal comma settles it, however late.
    let late = format!("a;b\n1,000;2\n{}3;4,5\n", "7,000;8\n".repeat(300));
    assert_eq!(table(&late).entries[..2], [1.0, 2.0]);
    assert_eq!(table("1,000;0,125\n").entries, [1.0, 0.125]);
    assert_eq!(table("1234,567;1\n").entries, [1234.567, 1.0]);
    // A comma where the file had points, or a second one, is named where it stands.
    let said = refused(format!("a;b\n{}1,000;2\n", "1.5;2\n".repeat(300)));
    assert_eq!(said, "data, line 302, column 1 (`a`): expected a number, found `1,000`");
    let said = refused("a;b\n1,5;2\n3;1,234,567\n");
    assert_eq!(said, "data, line 3, column 2 (`b`): expected a number, found `1,234,567`");
}

#[test]
fn cells_that_are_no_numbers_are_named() {
    let with = |cell: &str| format!("height,age\n1.75,30\n\n1.62,{cell}\n");
    for (cell, said) in [
        ("", "the value is missing"),
        ("NA", "the value is missing: `NA`"),
        ("?", "the value is missing: `?`"),
        ("nan", "the value is missing: `nan`"),
        ("inf", "expected a finite number, found `inf`"),
        ("-1e999", "expected a finite number, found `-1e999`"),
        ("forty", "expected a number, found `forty`"),
        ("\x1b[31m", "expected a number, found `\\u{1b}[31m`"),
    ] {
        assert_eq!(refused(with(cell)), format!("data, line 4, column 2 (`age`): {said}"));
    }
    let long = refused(with(&"x".repeat(1000)));
    assert_eq!(
        long,
        format!("data, line 4, column 2 (`age`): expected a number, found `{}…`", "x".repeat(40))
    );
    let error = read_from(Path::new("data"), Cursor::new(with("red")), &Reading::default()).unwrap_err();
    assert!(error.advice.contains("encode categories as numbers"), "{}", error.advice);
}

#[test]
fn rows_with_missing_values_are_dropped_if_asked() {
    let reading = Reading { missing: Missing::DropRow, ..Reading::default() };
    let kept = take("a,b\n1,2\n,3\n4,NA\n5,6\n", &reading).unwrap();
    assert_eq!((kept.rows, kept.dropped, kept.entries), (2, 2, vec![1.0, 2.0, 5.0, 6.0]));
    let said = take("a,b\n1,2\n,red\n", &reading).unwrap_err();
    assert_eq!(said, "data, line 3, column 2 (`b`): expected a number, found `red`");
    let said = take("a,b\n,2\n1,\n", &reading).unwrap_err();
    assert_eq!(said, "data: all rows have missing values, 2 in number");
}

#[test]
fn csv_files_without_form_are_refused() {
    for (text, said) in [
        ("1,2\n3,4,5\n", ", line 2: expected 2 fields, as in the first row, found 3"),
        ("a,b,c\n1,2,3\n4,5\n", ", line 3: expected 3 fields, one per column name, found 2"),
        ("1,2\n3,x,5\n", ", line 2: expected 2 fields, as in the first row, found 3"),
        ("a,b\n", ": there is a header but no rows"),
        ("\n \r\n\n", ": the file contains only blank lines"),
        ("", ": the file is empty"),
        ("a,b\n1,2\n\"3,4\n5,6\n", ", line 3: a quote is opened on this line and never closed"),
        ("1,2\n\x00,4\n", ": this is not text: byte 5 is 0"),
        ("PK\x03\x04....", ": the ZIP archive is damaged: its end is missing"),
        ("# by hand\n1,2\n", ", line 2: expected 1 fields, one per column name, found 2"),
    ] {
        assert_eq!(refused(text), format!("data{said}"), "{text:?}");
    }
    assert_eq!(refused(b"\xff\xfe1\x00,\x00"), "data: this is text in UTF-16");
    assert_eq!(refused(b"FEA1...."), "data: this is a Feather file of version 1");
    #[cfg(not(feature = "columnar"))]
    for (head, format) in [(&b"PAR1...."[..], "Parquet"), (b"ARROW1..", "Arrow"), (&[0xff; 8], "Arrow")] {
        let said = format!("data: this is a file in {format} format, which this build cannot read");
        assert_eq!(refused(head), said);
    }
    assert_eq!(refused(gzip(&gzip(b"1,2\n"))), "data: this is gzipped twice");
    let sign = |delimiter, decimal| {
        take("1,2\n", &Reading { delimiter, decimal, ..Reading::default() }).unwrap_err()
    };
    assert_eq!(sign(Some(b'7'), None), "data: the delimiter cannot be `7`");
    assert_eq!(sign(None, Some(b';')), "data: the decimal separator cannot be `;`");
}

#[test]
fn matrix_market_files_are_read_in_all_symmetries() {
    let array = table(market("array real general", "% by columns\n2 3\n1\n4\n2\n5\n\n3\n6e0\n"));
    assert_eq!((array.rows, array.cols, array.format), (2, 3, Format::MatrixMarket));
    assert_eq!(array.entries, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for (kind, rest, entries) in [
        ("coordinate real general", "2 2 3\n1 2 1.5\n2 1 2\n1 2 0.5\n", [0.0, 2.0, 2.0, 0.0]),
        ("coordinate pattern general", "2 2 1\n2 1\n", [0.0, 0.0, 1.0, 0.0]),
        ("coordinate integer symmetric", "2 2 2\n1 1 3\n2 1 -4\n", [3.0, -4.0, -4.0, 0.0]),
        ("coordinate real skew-symmetric", "2 2 1\n2 1 3\n", [0.0, -3.0, 3.0, 0.0]),
        ("array real symmetric", "2 2\n1\n2\n3\n", [1.0, 2.0, 2.0, 3.0]),
        ("array real skew-symmetric", "2 2\n7\n", [0.0, -7.0, 7.0, 0.0]),
        ("COORDINATE Real General", "2 2 0\n", [0.0; 4]),
    ] {
        assert_eq!(table(market(kind, rest)).entries, entries, "{kind}");
        assert_eq!(table(gzip(market(kind, rest).as_bytes())).entries, entries, "{kind}, gzipped");
    }
    let three = table(market("array real symmetric", "3 3\n1\n2\n3\n4\n5\n6\n"));
    assert_eq!(three.entries, [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]);
    let three = table(market("array real skew-symmetric", "3 3\n1\n2\n3\n"));
    assert_eq!(three.entries, [0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0]);
}

#[test]
fn matrix_market_files_are_refused_with_the_line() {
    for (kind, rest, said) in [
        (
            "array complex general",
            "1 1\n1 0\n",
            "line 1: expected one of real, integer, pattern, found `complex`",
        ),
        (
            "array real hermitian",
            "1 1\n1\n",
            "line 1: expected one of general, symmetric, skew-symmetric, found `hermitian`",
        ),
        ("list real general", "", "line 1: expected one of array, coordinate, found `list`"),
        (
            "array real",
            "",
            "line 1: expected five words, the second `matrix`, found `%%MatrixMarket matrix array real`",
        ),
        (
            "array pattern general",
            "1 1\n",
            "line 1: a `pattern` has no numbers, so it cannot be `array` or `skew-symmetric`",
        ),
        ("array real general", "% no more\n", "line 2: the file ends before its sizes"),
        ("array real general", "2\n", "line 2: expected rows and columns, whole numbers, found `2`"),
        ("array real general", "-2 2\n", "line 2: expected rows and columns, whole numbers, found `-2 2`"),
        ("array real general", "0 2\n", "line 2: the matrix of 0×2 has no entries"),
        ("array real symmetric", "2 3\n", "line 2: a matrix of 2×3 is not square, so it has no symmetry"),
        ("array real general", "1 2\n1\nx\n", "line 4: expected a number, found `x`"),
        ("array real general", "1 2\n1\nNaN\n", "line 4: expected a finite number, found `NaN`"),
        ("array real general", "2 1\n111\n", "line 3: the file ends here, after 1 of 2 entries"),
        ("array real general", "1 1\n1\n2\n", "line 4: there are more than the 1 entries claimed"),
        ("array integer general", "1 1\n1.5\n", "line 3: expected a whole number, found `1.5`"),
        (
            "coordinate real general",
            "2 2\n",
            "line 2: expected rows, columns and the number of entries, whole numbers, found `2 2`",
        ),
        ("coordinate real general", "2 2 1\n3 1 1\n", "line 3: expected a row from 1 to 2, found `3`"),
        ("coordinate real general", "2 2 1\n1 0 1\n", "line 3: expected a column from 1 to 2, found `0`"),
        ("coordinate real general", "2 2 1\n1 1\n", "line 3: expected row, column and value, found `1 1`"),
        ("coordinate pattern general", "2 2 1\n1 1 1\n", "line 3: expected row and column, found `1 1 1`"),
        (
            "coordinate real symmetric",
            "2 2 1\n1 2 1\n",
            "line 3: this entry is above the diagonal, where entries follow from those below",
        ),
        (
            "coordinate real general",
            "1 1 2\n1 1 1e308\n1 1 1e308\n",
            "line 4: the values given for row 1, column 1 sum up to infinity",
        ),
        (
            "coordinate real general",
            "9999999999999999999 9999999999999999999 1\n",
            "line 2: the sizes claim 9,999,999,999,999,999,999×9,999,999,999,999,999,999 entries, more than any memory",
        ),
    ] {
        assert_eq!(refused(market(kind, rest)), format!("data, {said}"), "{kind}: {rest}");
    }
    let said = refused(market("array real general", "1000000000 100\n1\n"));
    assert!(
        said.contains("line 2: the sizes claim a matrix of 1,000,000,000×100 with 100,000,000,000 entries"),
        "{said}"
    );
    assert!(said.ends_with("at least 200 GB; the file has 58 bytes"), "{said}");
    // A few bytes may claim any dense matrix: what they cannot claim is memory.
    let said = refused(market("coordinate real general", "1000000000 100 1\n1 1 1\n"));
    assert_eq!(
        said,
        "data: a sparse matrix of 1,000,000,000×100 with 1 entries takes 8.00 GB of memory, but only 4.29 GB are allowed"
    );
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let reading = Reading { limit: 1000, ..Reading::default() };
    let said = "data: a matrix of 126×1 numbers takes 1.01 kB of memory, but only 1.00 kB are allowed";
    let text = "7\n".repeat(126);
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes()), npy("|u1", false, "(126,)", &[7; 126])] {
        assert_eq!(take(&bytes, &reading).unwrap_err(), said);
        // Some rows at a time need no more than those.
        let mut rows = open_from(Path::new("data"), Cursor::new(bytes), &reading).unwrap();
        let mut some = Vec::new();
        while rows.next(10, &mut some).unwrap() > 0 {
            assert!(some.len() <= 10 && some.iter().all(|entry| *entry == 7.0));
            some.clear();
        }
    }
    let error = read_from(Path::new("data"), Cursor::new(text), &reading).unwrap_err();
    assert!(error.advice.contains("`--max-memory`"));
    assert!(take("7\n".repeat(125), &reading).is_ok());
    let said = take("7".repeat(2000), &reading).unwrap_err();
    assert_eq!(said, "data, line 1: a line of more than 1.00 kB");
    let said = take(",".repeat(900), &reading).unwrap_err();
    assert_eq!(said, "data, line 1: 901 columns exceed the memory limit");
    let held = market("array real general", &format!("126 1\n{}", "7\n".repeat(126)));
    let Err(error) = open_from(Path::new("data"), Cursor::new(held), &reading) else {
        panic!("it is held whole")
    };
    assert!(error.advice.contains("blocks of rows"), "{}", error.advice);
    let packed = gzip(&npy("|u1", true, "(126, 1)", &[7; 126]));
    let Err(error) = open_from(Path::new("data"), Cursor::new(packed), &reading) else {
        panic!("it is held whole")
    };
    assert!(error.advice.contains("decompress the file"), "{}", error.advice);
}

#[test]
fn gzip_files_that_are_damaged_are_told_from_good_ones() {
    let rows: String = (0..2000).map(|row| format!("{row},{}\n", row * row)).collect();
    let packed = gzip(rows.as_bytes());
    assert_eq!(table(&packed), table(&rows));
    let (a, b) = rows.split_at(777);
    assert_eq!(table([gzip(a.as_bytes()), gzip(b""), gzip(b.as_bytes())].concat()), table(&rows));
    for keep in [packed.len() - 1, packed.len() / 2, 11, 3] {
        let said = refused(&packed[..keep]);
        assert!(said.starts_with("data: the gzip file is truncated: it ends after "), "{keep}: {said}");
    }
    let said = refused([&packed[..], b"something else"].concat());
    assert_eq!(said, "data: the gzip file is damaged after 23,427 bytes of content: invalid gzip header");
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20].fill(0xff);
    let said = refused(&damaged);
    assert!(said.contains("data: the gzip file is damaged after"), "{said}");
    let mut sum = packed.clone();
    let place = sum.len() - 8;
    sum[place] ^= 1;
    assert!(
        refused(&sum).starts_with("data: the gzip file is damaged after 23,427 bytes"),
        "{}",
        refused(&sum)
    );
}

#[test]
fn small_files_that_unpack_to_large_ones_take_no_memory() {
    // 16 MB each: of nothing, of one line, of rows that are dropped.
    let reading = Reading { limit: 1 << 16, missing: Missing::DropRow, ..Reading::default() };
    for (piece, said) in [
        ("\n", "data: the file contains only blank lines"),
        ("7", "data, line 1: a line of more than 65.5 kB"),
        (",\n", "data: all rows have missing values, 8,000,000 in number"),
        ("1\n", "data: a matrix of 65,536×1 numbers takes 524 kB of memory, but only 65.5 kB are allowed"),
    ] {
        let bomb = gzip(piece.repeat(16_000_000 / piece.len()).as_bytes());
        assert!(bomb.len() < 100_000);
        assert_eq!(take(bomb, &reading).unwrap_err(), said);
    }
}

#[test]
fn what_is_no_plain_file_is_said_to_be_so() {
    let folder = Folder::new("places");
    let said = |path: &Path| {
        let error = read(path, &Reading::default()).unwrap_err();
        assert_eq!(error, probe(path, &Reading::default()).unwrap_err());
        error.to_string().strip_prefix(path.to_str().unwrap()).unwrap().to_string()
    };
    assert_eq!(said(&folder.0), ": this is a folder");
    assert_eq!(said(&folder.0.join("nothing")), ": there is no such file");
    assert_eq!(said(&folder.file("empty.npy", b"")), ": the file is empty");
    let pipe = folder.0.join("pipe");
    if process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        assert_eq!(said(&pipe), ": this is not a plain file");
    }
}

#[test]
fn sizes_are_told_before_reading() {
    let folder = Folder::new("probe");
    let tell = |name: &str, bytes: &[u8]| {
        let told = probe(&folder.file(name, bytes), &Reading::default()).unwrap();
        (told.format, told.rows, told.cols, told.bytes, told.names.map(|names| names.join(" ")))
    };
    let array = npy("|u1", true, "(2, 3)", &[0; 6]);
    assert_eq!(tell("a.npy", &array), (Format::Npy, Some(2), 3, Some(48), None));
    assert_eq!(tell("a.npy.gz", &gzip(&array)), (Format::Npy, Some(2), 3, Some(48), None));
    let sparse = market("coordinate real general", "1000000 1000 0\n");
    assert_eq!(
        tell("a.mtx", sparse.as_bytes()),
        (Format::MatrixMarket, Some(1_000_000), 1000, Some(8_000_000), None)
    );
    let text = b"x,\"y\n\"\n1,2\n\n3,\n\"5\",6";
    assert_eq!(tell("a.csv", text), (Format::Csv, Some(3), 2, Some(48), Some("x y".into())));
    assert_eq!(tell("a.csv.gz", &gzip(text)), (Format::Csv, None, 2, None, Some("x y".into())));
}

#[test]
fn parts_of_any_size_make_the_whole() {
    let folder = Folder::new("parts");
    let (rows, cols) = (5000, 7);
    let entries = Stream::new(3).normals(rows * cols);
    let by_columns: Vec<f64> =
        (0..cols).flat_map(|j| entries.iter().skip(j).step_by(cols).copied()).collect();
    let shape = format!("({rows}, {cols})");
    let c = npy("<f8", false, &shape, &doubles(&entries));
    let fortran = npy("<f8", true, &shape, &doubles(&by_columns));
    let text: String = entries
        .chunks(cols)
        .map(|row| row.iter().map(|entry| format!("{entry:e}")).collect::<Vec<_>>().join(";") + "\n")
        .collect();
    let columns: String = by_columns.iter().map(|entry| format!("{entry}\n")).collect();
    let array = market("array real general", &format!("{rows} {cols}\n{columns}"));
    for (name, bytes) in [("c", c), ("f", fortran), ("csv", text.into_bytes()), ("mtx", array.into_bytes())] {
        for bytes in [gzip(&bytes), bytes] {
            let path = folder.file(name, &bytes);
            assert_eq!(read(&path, &Reading::default()).unwrap().entries, entries, "{name}");
            for most in [1, 13, 4999, 5000, 10_000] {
                let mut part = open(&path, &Reading::default()).unwrap();
                let mut all = vec![-1.0];
                while part.next(most, &mut all).unwrap() > 0 {}
                assert_eq!(part.cols(), cols);
                assert!(all[1..] == entries, "{name}, {most} rows at a time");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        rows in 1_usize..6,
        cols in 1_usize..4,
        numbers in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 20),
        labelled in any::<bool>(),
    ) {
        let folder = Folder::new("written");
        let (npy, csv, entries) = (folder.0.join("x.npy"), folder.0.join("x.csv"), &numbers[..rows * cols]);
        write_npy(&npy, rows, cols, entries).unwrap();
        let back = read(&npy, &Reading::default()).unwrap();
        prop_assert_eq!((back.rows, back.cols), (rows, cols));
        prop_assert_eq!(doubles(&back.entries), doubles(entries));

        let names: Vec<String> = (0..cols + usize::from(labelled)).map(|j| format!("a, \"{j}\"")).collect();
        let labels: Vec<String> = (0..rows).map(|i| i.to_string()).collect();
        write_csv(&csv, &names, labelled.then_some(&labels[..]), entries).unwrap();
        let back = read(&csv, &Reading::default()).unwrap();
        prop_assert_eq!(back.names.unwrap(), names);
        let skip = usize::from(labelled);
        let kept: Vec<f64> = back.entries.chunks(cols + skip).flat_map(|row| row[skip..].to_vec()).collect();
        prop_assert_eq!(doubles(&kept), doubles(entries));
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let error = write_npy(Path::new("no/such/folder/x.npy"), 1, 1, &[1.0]).unwrap_err();
    assert!(error.to_string().starts_with("no/such/folder/x.npy: cannot be written: "), "{error}");
}
