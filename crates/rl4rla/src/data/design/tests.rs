use super::*;
use crate::linalg::{least_squares, mat_vec};
use std::fs;
use std::io::Write;

struct Text(PathBuf);

impl Text {
    fn new(name: &str, bytes: &[u8]) -> Text {
        let path = std::env::temp_dir().join(format!("rl4rla-design-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Text(path)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// y = 3u − 2w + 1 with u near a million, and a constant column.
fn table() -> String {
    let line = |i: i32| {
        let (u, w) = (1e6 + f64::from(i % 13), f64::from(i * i % 11));
        format!("{u},5,{w},{}\n", 3.0 * u - 2.0 * w + 1.0)
    };
    "u,five,w,y\n".to_string() + &(0..90).map(line).collect::<String>()
}

fn design(target: &str, intercept: bool, standardise: bool) -> Design {
    Design { target: TargetColumn::Column(target.into()), intercept, standardise }
}

fn solved(system: &System) -> Vec<f64> {
    system.columns.coefficients(&least_squares(&system.matrix.clone().by_columns(), &system.b))
}

#[test]
fn coefficients_are_in_the_units_of_the_table() {
    let text = Text::new("units.csv", table().as_bytes());
    let system = System::load(&text.0, &design("y", true, true), &Reading::default()).unwrap();
    // The constant column is zero beside the intercept.
    assert!(system.matrix.row_major().chunks(4).all(|row| row[1] == 0.0 && row[3] == 1.0));
    let means: Vec<f64> =
        (0..3).map(|j| (0..90).map(|i| system.matrix.get(i, j)).sum::<f64>() / 90.0).collect();
    assert!(means[0].abs() < 1e-9 && means[2].abs() < 1e-12, "{means:?}");
    let found = solved(&system);
    assert!((found[0] - 3.0).abs() < 1e-9 && (found[2] + 2.0).abs() < 1e-9, "{found:?}");
    assert!((5.0 * found[1] + found[3] - 1.0).abs() < 1e-3, "{found:?}");
    // Without an intercept nothing is subtracted.
    let system = System::load(&text.0, &design("y", false, true), &Reading::default()).unwrap();
    let back: Vec<f64> = (0..3).map(|j| system.matrix.get(0, j) * system.columns.scales[j]).collect();
    assert!((back[0] - 1e6).abs() < 1e-9 && (back[1] - 5.0).abs() < 1e-12 && back[2] == 0.0, "{back:?}");
}

#[test]
fn a_target_is_found_by_name_or_number_wherever_it_stands() {
    let text = Text::new("target.csv", b"1,2,3\n4,5,6\n7,8,10\n1,0,0\n");
    for (target, b, row) in [("1", 1.0, [2.0, 3.0]), ("2", 2.0, [1.0, 3.0]), ("3", 3.0, [1.0, 2.0])] {
        let system = System::load(&text.0, &design(target, false, false), &Reading::default()).unwrap();
        assert_eq!((system.b[0], system.matrix.row(0)), (b, &row[..]));
    }
    let refused =
        |target| System::load(&text.0, &design(target, false, false), &Reading::default()).err().unwrap();
    assert!(refused("4").advice.contains("1 to 3") && refused("y").advice.contains("names no columns"));
}

#[test]
fn gzipped_and_held_in_a_file_it_is_the_same() {
    let plain = Text::new("same.csv", table().as_bytes());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(table().as_bytes()).unwrap();
    let packed = Text::new("same.csv.gz", &packed.finish().unwrap());
    let small = Reading { limit: 4000, ..Reading::default() };
    let load = |path, reading| System::load(path, &design("y", true, true), reading).unwrap();
    let usual = Reading::default();
    let expected = load(&plain.0, &usual);
    for (path, reading, in_file) in
        [(&packed.0, &usual, false), (&plain.0, &small, true), (&packed.0, &small, true)]
    {
        let system = load(path, reading);
        assert_eq!(system.matrix.is_in_file(), in_file);
        let x = [1.0, -2.0, 0.5, 3.0];
        assert_eq!(mat_vec(&system.matrix, &x), mat_vec(&expected.matrix, &x));
        assert_eq!((&system.b, &system.columns), (&expected.b, &expected.columns));
    }
}

#[test]
fn predictions_find_their_columns() {
    let text = Text::new("fit.csv", table().as_bytes());
    let system = System::load(&text.0, &design("y", true, false), &Reading::default()).unwrap();
    let coefficients = [3.0, 0.0, -2.0, 1.0];
    let predicted = |bytes: &[u8]| {
        let other = Text::new("other.csv", bytes);
        let mut all = Vec::new();
        let done =
            system.columns.predict(&other.0, &Reading::default(), &coefficients, |p, t| all.push((p, t)));
        done.map(|_| all)
    };
    assert_eq!(predicted(b"w,five,u\n1,5,10\n").unwrap(), [(29.0, None)]);
    assert_eq!(predicted(b"y,w,five,u\n7,1,5,10\n").unwrap(), [(29.0, Some(7.0))]);
    assert_eq!(predicted(b"10,5,1\n").unwrap(), [(29.0, None)]);
    assert_eq!(predicted(b"10,5,1,7\n").unwrap(), [(29.0, Some(7.0))]);
    assert!(predicted(b"w,five,v\n1,5,10\n").unwrap_err().message.contains("`u`"));
    assert!(predicted(b"1,2\n").unwrap_err().message.contains("2 columns"));
}

#[test]
fn rows_that_belong_together_stay_together() {
    let matrix = Text::new("holes.csv", b"1\n2\nNA\n4\n5\n");
    let rhs = Text::new("holes-b.csv", b"2\n4\n6\n8\nNA\n");
    let design = Design { target: TargetColumn::File(rhs.0.clone()), intercept: false, standardise: false };
    let reading = Reading { missing: Missing::DropRow, ..Reading::default() };
    let error = System::load(&matrix.0, &design, &reading).err().unwrap();
    assert!(error.message.contains("1 rows have missing values"), "{error}");
    let whole = Text::new("whole.csv", b"1\n2\n3\n4\n5\n");
    let error = System::load(&whole.0, &design, &reading).err().unwrap();
    assert!(error.to_string().contains("holes-b.csv, line 5"), "{error}");
}

#[test]
fn a_column_far_from_zero_is_not_constant() {
    let line = |i: u64| format!("{},{}\n", 1_000_000_000_000_000 + i, i);
    let text = Text::new("far.csv", (0..10).map(line).collect::<String>().as_bytes());
    let system = System::load(&text.0, &design("2", true, true), &Reading::default()).unwrap();
    let x = least_squares(&system.matrix.clone().by_columns(), &system.b);
    let mut gaps = Vec::new();
    let each = |p: f64, t: Option<f64>| gaps.push((p - t.unwrap()).abs());
    system.columns.predict(&text.0, &Reading::default(), &x, each).unwrap();
    assert!(gaps.iter().all(|gap| *gap < 1e-9), "{gaps:?}");
}

#[test]
fn a_target_far_from_zero_loses_no_digits_beside_an_intercept() {
    let line = |i: i32| {
        let u = f64::from(i % 13) - 6.0;
        format!("{u},{}\n", 1e12 + 0.5 * u + f64::from(i % 4))
    };
    let text = "u,y\n".to_string() + &(0..120).map(line).collect::<String>();
    let file = Text::new("offset", text.as_bytes());
    let load = || System::load(&file.0, &design("y", true, false), &Reading::default()).unwrap().centred();
    let system = load().with_target_centred();
    assert!(system.b.iter().all(|b| b.abs() < 10.0), "{:?}", system.b);
    let x = least_squares(&system.matrix.clone().by_columns(), &system.b);
    let [slope, constant] = system.columns.coefficients(&x)[..] else { panic!() };
    assert!((slope - 0.5).abs() < 0.1 && (constant - 1e12).abs() < 10.0, "{slope} {constant}");
    let mut predicted = Vec::new();
    system
        .columns
        .predict(&file.0, &Reading::default(), &x, |p, truth| predicted.push(p - truth.unwrap()))
        .unwrap();
    assert!(predicted.iter().all(|gap| gap.abs() < 3.0), "{predicted:?}");
    // Without an intercept nothing may be subtracted.
    let plain = System::load(&file.0, &design("y", false, false), &Reading::default()).unwrap();
    assert!(plain.with_target_centred().b[0] > 1e11);
}

/// A Matrix Market file with columns first, an entry in twenty; the last column is 2·(column 1) − 3·(column 2) + 4.
fn market() -> String {
    let (m, n) = (30_000, 40);
    let entry = |i: usize, j: usize| match (i * 40 + j).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xfff {
        0..200 => (i % 17) as f64 - 8.5,
        _ => 0.0,
    };
    let mut text = String::new();
    let mut count = 0;
    for j in 0..n {
        for i in 0..m {
            let value = if j + 1 < n { entry(i, j) } else { 2.0 * entry(i, 0) - 3.0 * entry(i, 1) + 4.0 };
            if value != 0.0 {
                text += &format!("{} {} {value}\n", i + 1, j + 1);
                count += 1;
            }
        }
    }
    format!("%%MatrixMarket matrix coordinate real general\n{m} {n} {count}\n{text}")
}

#[test]
fn a_sparse_file_stays_sparse_and_gives_the_same_system() {
    let text = Text::new("sparse.mtx", market().as_bytes());
    let dense = Reading { dense: true, ..Reading::default() };
    // The dense matrix takes 9.6 MB.
    let sparse = Reading { limit: 2_000_000, ..Reading::default() };
    for (intercept, standardise) in [(false, false), (true, false), (false, true), (true, true)] {
        let design = design("40", intercept, standardise);
        let found = System::load(&text.0, &design, &sparse).unwrap();
        let expected = System::load(&text.0, &design, &dense).unwrap();
        assert!(found.matrix.is_sparse() && !expected.matrix.is_sparse());
        assert_eq!((&found.b, found.columns.labels()), (&expected.b, expected.columns.labels()));
        assert!(standardise || found.matrix == expected.matrix);
        assert!(found.columns.means.iter().all(|mean| *mean == 0.0));
        let units: Vec<f64> = linalg::column_norms(&found.matrix);
        assert!(!standardise || units.iter().all(|norm| (norm / 30_000_f64.sqrt() - 1.0).abs() < 1e-12));
        let found = found.centred().with_target_centred();
        assert!(found.matrix.is_sparse());
        if intercept {
            let x = found.columns.coefficients(&least_squares(&found.matrix, &found.b));
            let wanted = [2.0, -3.0, 4.0];
            assert!(
                [x[0], x[1], x[39]].iter().zip(wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-10),
                "{x:?}"
            );
            let mut all = Vec::new();
            let y = least_squares(&found.matrix, &found.b);
            found.columns.predict(&text.0, &sparse, &y, |p, t| all.push((p, t.unwrap()))).unwrap();
            assert!(all.len() == 30_000 && all.iter().all(|(p, t)| (p - t).abs() < 1e-9));
        }
    }
    let none = Reading { limit: 1_000_000, ..Reading::default() };
    let error = System::load(&text.0, &design("40", false, false), &none).err().unwrap();
    assert!(
        error.message.contains("a sparse matrix of 30,000×40 with ") && error.message.contains("1.00 MB")
    );
    let whole = Design { target: TargetColumn::None, ..design("", false, false) };
    assert_eq!(System::load(&text.0, &whole, &sparse).unwrap().matrix.cols(), 40);
    let probed = super::super::probe(&text.0, &sparse).unwrap();
    assert!(probed.bytes.unwrap() < 2_000_000 && probe(&text.0, &dense).unwrap().bytes == Some(9_600_000));
}

#[test]
fn entries_of_a_sparse_file_are_added_and_mirrored() {
    let load = |text: &str| {
        let file = Text::new("entries.mtx", text.as_bytes());
        let whole = Design { target: TargetColumn::None, intercept: false, standardise: false };
        System::load(&file.0, &whole, &Reading::default()).map(|system| system.matrix)
    };
    let head = "%%MatrixMarket matrix coordinate";
    let added = load(&format!("{head} real general\n2000 1000 3\n7 2 1.5\n1 1 4\n7 2 2\n")).unwrap();
    assert_eq!((added.nonzeros(), added.get(6, 1), added.get(0, 0)), (2, 3.5, 4.0));
    let symmetric = load(&format!("{head} integer symmetric\n1500 1500 2\n7 2 3\n1 1 4\n")).unwrap();
    assert_eq!((symmetric.nonzeros(), symmetric.get(1, 6), symmetric.is_symmetric()), (3, 3.0, true));
    let skew = load(&format!("{head} real skew-symmetric\n1500 1500 1\n7 2 3\n")).unwrap();
    assert_eq!((skew.get(6, 1), skew.get(1, 6)), (3.0, -3.0));
    let pattern = load(&format!("{head} pattern general\n2000 1000 1\n7 2\n")).unwrap();
    assert_eq!(pattern.get(6, 1), 1.0);
    let refused = |text: String| load(&text).unwrap_err().to_string();
    let infinite = format!("{head} real general\n2000 1000 2\n7 2 1e308\n7 2 1e308\n");
    assert!(refused(infinite).contains("row 7, column 2: the value is not finite"));
    let outside = format!("{head} real general\n2000 1000 1\n7 1001 1\n");
    assert!(refused(outside).contains("line 3: expected a column from 1 to 1,000"));
    let short = format!("{head} real general\n2000 1000 2\n7 1000 1\n% one is missing here\n");
    assert!(refused(short).contains("after 1 of 2 entries"));
    let long = format!("{head} real general\n5000000000 2 1\n7 1 1\n");
    assert!(refused(long).contains("more rows or columns than 32 bits count"));
    let tall = format!("{head} real general\n4000000000 2 1\n7 1 1\n");
    assert!(refused(tall).contains("takes 32.0 GB of memory, but only 4.29 GB are allowed"));
}
