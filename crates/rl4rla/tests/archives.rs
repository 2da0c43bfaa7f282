//! NPZ files: arrays of NumPy and sparse matrices of SciPy, which array is read, and archives that lie.

use rl4rla::data::{DataTable, Design, Format, Reading, System, TargetColumn, open, probe, read, read_from};
use std::io::Cursor;
use std::path::{Path, PathBuf};

const A: [f64; 12] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn member(name: &str) -> Reading {
    Reading { member: Some(name.into()), ..Reading::default() }
}

fn take(bytes: Vec<u8>, reading: &Reading) -> Result<DataTable, String> {
    read_from(Path::new("data"), Cursor::new(bytes), reading).map_err(|error| {
        assert!(!error.advice.is_empty(), "{error}");
        error.to_string()
    })
}

/// A ZIP archive of stored members, written by hand so that it can lie.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let size = (content.len() as u32).to_le_bytes();
        let sizes = [sum.sum().to_le_bytes(), size, size].concat();
        let name_length = (name.len() as u16).to_le_bytes();
        let place = (file.len() as u32).to_le_bytes();
        let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes, &name_length, &[0, 0]].concat();
        file.extend([b"PK\x03\x04", &common[..], name.as_bytes(), content].concat());
        directory
            .extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 10][..], &place, name.as_bytes()].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, place) = ((directory.len() as u32).to_le_bytes(), (file.len() as u32).to_le_bytes());
    let end = [b"PK\x05\x06", &[0; 4][..], &count, &count, &size, &place, &[0, 0]].concat();
    [file, directory, end].concat()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), data].concat()
}

fn integers(numbers: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", numbers.len()), &data)
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<f8", &format!("({},)", numbers.len()), &data)
}

#[test]
fn arrays_are_chosen_by_name_or_by_shape() {
    for name in ["stored.npz", "deflated.npz", "unnamed.npz"] {
        let table = read(&fixture(name), &Reading::default()).unwrap();
        assert_eq!((table.rows, table.cols, table.format), (4, 3, Format::Npz), "{name}");
        assert_eq!((&table.entries[..], table.names), (&A[..], None), "{name}");
        let size = probe(&fixture(name), &Reading::default()).unwrap();
        assert_eq!((size.format, size.rows, size.cols, size.bytes), (Format::Npz, Some(4), 3, Some(96)));
        for most in [1, 3, 9] {
            let (mut rows, mut all) = (open(&fixture(name), &Reading::default()).unwrap(), Vec::new());
            while rows.next(most, &mut all).unwrap() > 0 {}
            assert_eq!(all, A, "{name}, {most} rows at a time");
        }
    }
    for name in ["b", "b.npy"] {
        let table = read(&fixture("deflated.npz"), &member(name)).unwrap();
        assert_eq!((table.rows, table.cols, table.entries), (4, 1, vec![1.0, -2.0, 3.5, 0.0]));
    }
    let said = |name: &str, reading: &Reading| read(&fixture(name), reading).unwrap_err();
    let error = said("unclear.npz", &Reading::default());
    assert!(error.message.contains("`first` (4×3), `second` (4×3), `b` (4×1), `y` (4×1)"), "{error}");
    assert!(error.advice.contains("--member"), "{}", error.advice);
    assert!(said("stored.npz", &member("C")).advice.contains("`A` (4×3), `b` (4×1), `names` (no matrix)"));
    let error = said("stored.npz", &member("names"));
    assert!(error.to_string().contains("stored.npz[names]: the array holds elements `<U1`"), "{error}");
    let said = take(b"1,2\n".to_vec(), &member("A")).unwrap_err();
    assert_eq!(said, "data: this is a file in CSV format, which has no array `A`");
}

#[test]
fn one_file_holds_both_sides_of_a_system() {
    for name in ["stored.npz", "deflated.npz", "unnamed.npz"] {
        let file = fixture(name);
        let design =
            Design { target: TargetColumn::File(file.clone()), intercept: false, standardise: false };
        let system = System::load(&file, &design, &Reading::default()).unwrap();
        assert_eq!(
            (system.matrix.row_major(), &system.b[..]),
            (&A[..], &[1.0, -2.0, 3.5, 0.0][..]),
            "{name}"
        );
    }
    let file = fixture("unclear.npz");
    let design = Design { target: TargetColumn::File(file.clone()), intercept: false, standardise: false };
    let error = System::load(&file, &design, &member("first")).err().unwrap();
    assert!(error.message.contains("which array is the right-hand side"), "{error}");
}

#[test]
fn sparse_matrices_are_read_in_three_formats() {
    let dense = [0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, -3.0, 0.0, 4.0, 0.0];
    for name in ["csr.npz", "csc.npz", "coo.npz"] {
        let table = read(&fixture(name), &Reading::default()).unwrap();
        assert_eq!((table.rows, table.cols, &table.entries[..]), (4, 3, &dense[..]), "{name}");
    }
    assert_eq!(read(&fixture("csr.npz"), &member("data")).unwrap().entries, [1.5, 2.0, -3.0, 4.0]);
    let error = read(&fixture("bsr.npz"), &Reading::default()).unwrap_err();
    assert!(error.message.contains("the sparse format `bsr` is not read; csr, csc and coo are"), "{error}");
}

#[test]
fn large_sparse_matrices_stay_sparse() {
    // 2000×1000 with 1 at (i, i mod 1000), given by columns, and once more at (1000, 0).
    let starts: Vec<i64> = (0..=1000).map(|j| 2 * j + i64::from(j > 0)).collect();
    let places: Vec<i64> = [1000].into_iter().chain((0..1000).flat_map(|j| [j + 1000, j])).collect();
    let (format, shape, starts) = (npy("|S3", "()", b"csc"), integers(&[2000, 1000]), integers(&starts));
    let (places, data) = (integers(&places), doubles(&[1.0; 2001]));
    let file = std::env::temp_dir().join(format!("rl4rla-archives-{}.npz", std::process::id()));
    let parts: [(&str, &[u8]); 5] = [
        ("indices.npy", &places),
        ("indptr.npy", &starts),
        ("format.npy", &format),
        ("shape.npy", &shape),
        ("data.npy", &data),
    ];
    std::fs::write(&file, zip(&parts)).unwrap();
    let design = Design { target: TargetColumn::None, intercept: false, standardise: false };
    let sparse = System::load(&file, &design, &Reading::default());
    let dense = System::load(&file, &design, &Reading { dense: true, ..Reading::default() });
    let size = probe(&file, &Reading::default()).unwrap();
    let small = Reading { limit: 30_000, ..Reading::default() };
    let refused = System::load(&file, &design, &small).err().unwrap().to_string();
    std::fs::remove_file(&file).unwrap();
    let (sparse, dense) = (sparse.unwrap().matrix, dense.unwrap().matrix);
    assert!(sparse.is_sparse() && !dense.is_sparse());
    assert!(size.bytes.unwrap() < 100_000, "{size:?}");
    assert!(refused.contains("a sparse matrix of 2,000×1,000 with 2,001 entries takes"), "{refused}");
    for (i, row) in dense.row_major().chunks_exact(1000).enumerate() {
        let expected = |j| if j != i % 1000 { 0.0 } else { 1.0 + f64::from(u8::from(i == 1000)) };
        assert!((0..1000).all(|j| row[j] == expected(j) && sparse.get(i, j) == expected(j)), "row {i}");
    }
}

#[test]
fn sparse_matrices_that_lie_are_refused() {
    let format = npy("|S3", "()", b"csr");
    let matrix = |shape: &[i64], starts: &[i64], indices: &[i64], data: &[f64]| {
        let (shape, starts, indices) = (integers(shape), integers(starts), integers(indices));
        let parts: [(&str, &[u8]); 5] = [
            ("format.npy", &format),
            ("shape.npy", &shape),
            ("indptr.npy", &starts),
            ("indices.npy", &indices),
            ("data.npy", &doubles(data)),
        ];
        take(zip(&parts), &Reading::default())
    };
    // Unsorted columns, and one entry twice.
    let table = matrix(&[2, 3], &[0, 3, 3], &[2, 0, 2], &[1.0, 2.0, 4.0]).unwrap();
    assert_eq!(table.entries, [2.0, 0.0, 5.0, 0.0, 0.0, 0.0]);
    for (shape, starts, indices, data, said) in [
        (
            &[2, 3][..],
            &[0, 1, 1][..],
            &[3][..],
            &[1.0][..],
            "data[indices]: expected whole numbers from 0 to 2, found 3",
        ),
        (&[2, 3], &[0, 1, 1], &[-1], &[1.0], "data[indices]: expected whole numbers from 0 to 2, found -1"),
        (&[2, 3], &[0, 2, 1], &[1], &[1.0], "data[indptr]: expected whole numbers from 0 to 1, found 2"),
        (&[2, 3], &[0, 0, 0], &[1], &[1.0], "data: `indptr` does not ascend from 0 to the number of entries"),
        (&[2, 3], &[0, 1], &[1], &[1.0], "data: the parts of the sparse matrix of 2×3 have 2, 1, 1 numbers"),
        (&[2, 3, 4], &[0, 1, 1], &[1], &[1.0], "data: the sparse array has 3 dimensions instead of 2"),
        (&[0, 3], &[0], &[1], &[1.0], "data: the sparse matrix of 0×3 has no entries"),
        (
            &[2, 3],
            &[0, 1, 1],
            &[1],
            &[f64::NAN],
            "data[data], row 1, column 1: expected a finite number, found NaN",
        ),
        (&[2, 3], &[0, 2, 2], &[1, 1], &[1e308, 1e308], "data, row 1, column 2: the value is not finite"),
        (
            &[2, 3_000_000_000],
            &[0, 1, 1],
            &[1],
            &[1.0],
            "data: a matrix of 2×3,000,000,000 numbers takes 48.0 GB of memory, but only 4.29 GB are allowed",
        ),
    ] {
        assert_eq!(matrix(shape, starts, indices, data).unwrap_err(), said);
    }
    let said = take(
        zip(&[("format.npy", &format), ("shape.npy", &integers(&[1, 1])), ("data.npy", &doubles(&[1.0]))]),
        &Reading::default(),
    );
    assert_eq!(said.unwrap_err(), "data: the sparse matrix has no array `indptr`");
}

#[test]
fn archives_that_lie_are_refused() {
    let array = doubles(&[1.0, 2.0]);
    let good = zip(&[("x.npy", &array)]);
    assert_eq!(take(good.clone(), &Reading::default()).unwrap().entries, [1.0, 2.0]);
    // A comment at the end is no damage.
    let mut commented = good.clone();
    let end = commented.len();
    commented[end - 2] = 5;
    commented.extend(b"hello");
    assert_eq!(take(commented, &Reading::default()).unwrap().entries, [1.0, 2.0]);
    let with = |place: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[place..place + value.len()].copy_from_slice(value);
        take(bytes, &Reading::default()).unwrap_err()
    };
    let (directory, end) = (good.len() - 22 - 46 - 5, good.len() - 22);
    let most = &[0xff, 0xff, 0xff, 0x7f];
    let far = "the ZIP archive is damaged: its directory is outside the file";
    assert_eq!(with(end + 16, most), format!("data: {far}"));
    assert_eq!(
        with(end + 12, most),
        "data: the directory of the ZIP archive takes 2,147,483,647 bytes, more than 1,048,576"
    );
    assert_eq!(with(directory, b"XX"), "data: the ZIP archive is damaged: entry 1 of its directory");
    assert_eq!(with(directory + 28, &[200]), "data: the ZIP archive is damaged: entry 1 of its directory");
    assert_eq!(with(directory + 42, most), "data: the ZIP archive is damaged: it ends too early");
    assert_eq!(with(directory + 42, &[1]), "data[x]: its header in the ZIP archive is damaged");
    assert_eq!(with(directory + 20, most), "data[x]: its 2,147,483,647 bytes are outside the ZIP archive");
    assert_eq!(with(directory + 24, most), "data[x]: the sizes in the ZIP directory contradict each other");
    assert_eq!(with(directory + 10, &[12]), "data[x]: it is compressed with method 12 of ZIP");
    assert_eq!(with(directory + 8, &[1]), "data[x]: it is encrypted");
    let said = with(directory - 1, &[0x41]);
    assert!(said.starts_with("data[x]: the member of the archive is damaged after "), "{said}");
    assert!(said.ends_with("the checksum is wrong"), "{said}");
    assert_eq!(
        take(zip(&[("sheet.xml", b"<a/>")]), &Reading::default()).unwrap_err(),
        "data: this is a ZIP archive without NumPy arrays (as .xlsx is)"
    );
    assert!(take(zip(&[]), &Reading::default()).unwrap_err().contains("without NumPy arrays"));
    // What a member claims is compared with its size, not with that of the file.
    let huge = npy("<f8", "(1000000000, 100)", &[0; 64]);
    let said = take(zip(&[("x.npy", &huge)]), &Reading::default()).unwrap_err();
    assert!(said.starts_with("data[x]: the header claims 1,000,000,000×100 numbers"), "{said}");
    // A damaged member of a compressed archive.
    let mut deflated = bytes("deflated.npz");
    deflated[120] ^= 0x10;
    assert!(take(deflated, &Reading::default()).is_err());
    let twice = zip(&[("x.npy", &array), ("x.npy", &array)]);
    assert!(take(twice, &member("x")).unwrap_err().contains("no array `x`, or more than one"));
}
