//! Files of the right and of other forms, and the stand-in.

use super::*;
use crate::linalg;
use std::fs;
use std::path::PathBuf;

/// A file that is removed at the end of the test.
struct Text(PathBuf);

impl Text {
    fn new(name: &str, text: &str) -> Text {
        let path = std::env::temp_dir().join(format!("rl4rla-year-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        Text(path)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn line(year: &str, value: f64) -> String {
    let fields: Vec<String> = (0..FEATURES).map(|j| format!("{:.5}", value + j as f64)).collect();
    format!("{year},{}", fields.join(","))
}

fn message(name: &str, text: &str) -> String {
    let file = Text::new(name, text);
    let error = Year::read_split(&file.0, 2, 1).unwrap_err();
    assert!(error.advice.contains("UCI"));
    error.to_string().strip_prefix(file.0.to_str().unwrap()).unwrap().to_string()
}

#[test]
fn lines_become_rows_and_parts() {
    let lines = [line("2001", 1.0), line("1999", -2.5), line("1922", 0.0)];
    for text in [lines.join("\n"), lines.join("\r\n") + "\r\n\n"] {
        let file = Text::new("good", &text);
        let data = Year::read_split(&file.0, 2, 1).unwrap();
        assert_eq!((data.train.years, data.test.years), (vec![2001.0, 1999.0], vec![1922.0]));
        assert_eq!((data.train.features.rows(), data.train.features.cols()), (2, FEATURES));
        assert_eq!((data.train.features.get(1, 0), data.train.features.get(1, 89)), (-2.5, 86.5));
        assert!(!data.stand_in);
    }
}

#[test]
fn bad_files_are_told_by_line_and_field() {
    let good = line("2001", 1.0);
    let with = |line: &str| format!("{good}\n{line}\n{good}\n");
    assert_eq!(
        message("word", &with(&good.replacen("1.00000", "one", 1))),
        ", line 2, column 2: expected a number, found `one`"
    );
    assert_eq!(
        message("nan", &with(&good.replacen("1.00000", "NaN", 1))),
        ", line 2, column 2: expected a number, found `NaN`"
    );
    assert_eq!(
        message("year", &with(&good.replacen("2001", "42", 1))),
        ", line 2, column 1: expected a year from 1922 to 2011, found `42`"
    );
    for year in ["1921", "2012", "1999.5"] {
        let expected = format!(", line 2, column 1: expected a year from 1922 to 2011, found `{year}`");
        assert_eq!(message("range", &with(&good.replacen("2001", year, 1))), expected);
    }
    assert_eq!(
        message("short", &with("2001,1,2")),
        ", line 2: expected a year and 90 numbers, found 3 fields"
    );
    assert_eq!(
        message("long-line", &with(&format!("{good},1"))),
        ", line 2: expected a year and 90 numbers, found 92 fields"
    );
    assert_eq!(message("cut", &good), ", line 1: expected 3 rows, found 1: the file ends here");
    assert_eq!(
        message("cut-test", &format!("{good}\n{good}")),
        ", line 2: expected 3 rows, found 2: the file ends here"
    );
    assert_eq!(
        message("more", &format!("{}\n{good}\n{good}", with(&good))),
        ", line 5: expected 3 rows, found 5: here is the first one too many"
    );
    assert_eq!(message("long", &"7".repeat(3 * LONGEST)), ", line 1: more than 8192 bytes in one line");
    assert_eq!(message("empty", ""), ", line 0: expected 3 rows, found 0: the file ends here");
    let missing = Year::read(Path::new("no-such-file")).unwrap_err();
    assert!(missing.to_string().starts_with("no-such-file: ") && missing.advice.contains("dataset 203"));
}

#[test]
fn a_file_of_another_shape_is_refused_whole() {
    let good = [line("1922", 1.0), line("1990", 2.0), line("2011", 3.0)];
    let refused = |name: &str, text: &str, rows: usize| {
        let file = Text::new(name, text);
        let error = Year::check_rows(&file.0, rows).unwrap_err();
        error.to_string().strip_prefix(file.0.to_str().unwrap()).unwrap().to_string()
    };
    let file = Text::new("whole", &good.join("\n"));
    assert_eq!(Year::check_rows(&file.0, 3), Ok(()));
    // The sizes of the real file are expected by default.
    for error in [Year::check(&file.0).unwrap_err(), Year::read(&file.0).unwrap_err()] {
        let error = error.to_string();
        assert!(error.ends_with("line 3: expected 515345 rows, found 3: the file ends here"), "{error}");
    }
    assert_eq!(
        refused("whole-more", &good.join("\n"), 2),
        ", line 3: expected 2 rows, found 3: here is the first one too many"
    );
    assert_eq!(
        refused("whole-years", &good[..2].join("\n"), 2),
        ": expected years from 1922 to 2011, found 1922 to 1990"
    );
    assert_eq!(
        refused("whole-columns", &format!("{}\n2001,1,2", good[0]), 2),
        ", line 2: expected a year and 90 numbers, found 3 fields"
    );
}

#[test]
fn standardised_features_have_mean_0_and_deviation_1() {
    let data = Year::stand_in(2000, 100, &Stream::new(1)).standardised();
    let (means, deviations) = moments(&data.train.features);
    assert!(means.iter().all(|mean| mean.abs() < 1e-12));
    assert!(deviations.iter().all(|deviation| (deviation - 1.0).abs() < 1e-12));
    assert!(data.train.years.iter().sum::<f64>().abs() < 1e-6);
    let constant = Split { features: Matrix::from_fn(3, 1, |_, _| 5.0), years: vec![1.0, 2.0, 3.0] };
    let data = Year { train: constant.clone(), test: constant, stand_in: false }.standardised();
    assert_eq!(data.test.features.row_major(), [0.0; 3]);
}

#[test]
fn the_stand_in_is_as_hard_to_explain_as_the_data() {
    let data = Year::stand_in(20_000, 10, &Stream::new(0)).standardised();
    let x = linalg::least_squares(&data.train.features, &data.train.years);
    let fitted = linalg::mat_vec(&data.train.features, &x);
    let residual = linalg::norm(&linalg::sub(&fitted, &data.train.years)) / linalg::norm(&data.train.years);
    // The paper reports 0.87.
    assert!((0.8..0.92).contains(&residual), "{residual}");
    let explained = 1.0 - residual.powi(2);
    assert!((explained - STAND_IN_EXPLAINS).abs() < 0.03, "{explained}");
    let again = Year::stand_in(20_000, 10, &Stream::new(0)).standardised();
    assert_eq!(data, again);
}
