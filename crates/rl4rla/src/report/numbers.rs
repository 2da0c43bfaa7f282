//! Number formatting for display.

/// A number to three significant digits, as short as possible.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        a if (1e-3..1e4).contains(&a) => {
            let digits = if a >= 100.0 {
                0
            } else if a >= 10.0 {
                1
            } else if a >= 1.0 {
                2
            } else {
                4
            };
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

/// The shortest decimal that gives back the same number, in powers of ten if far from 1.
pub fn exact(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}

/// A duration in ms or s.
pub fn duration(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.5, 12.345, 123.4, 1e-7, 5e8].map(number);
        assert_eq!(shown, ["0", "0.5000", "12.3", "123", "1.00e-7", "5.00e8"]);
    }

    #[test]
    fn numbers_are_exact_in_few_letters() {
        let shown = [3.0, 0.25, 1e300, -1e-9, 123456.0, f64::NAN].map(exact);
        assert_eq!(shown, ["3", "0.25", "1e300", "-1e-9", "123456", "NaN"]);
    }

    #[test]
    fn times_are_short() {
        assert_eq!([0.0, 0.0234, 0.0996, 75.04].map(duration), ["0 ms", "23 ms", "0.1 s", "75.0 s"]);
    }
}
