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
