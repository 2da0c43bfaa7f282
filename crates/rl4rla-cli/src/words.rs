//! How numbers are written in the tables of pages.

use rl4rla::report::{Cell, Rate, Spread};

/// A share in percent.
pub fn percent(share: f64) -> Cell {
    Cell::number(share, format!("{:.0} %", 100.0 * share))
}

/// How often something was found, with its confidence interval in percent.
pub fn rate(rate: Option<Rate>) -> Cell {
    let Some(rate) = rate.filter(|rate| rate.trials > 0) else { return nothing() };
    let [low, high] = rate.interval().map(|end| 100.0 * end);
    Cell::number(rate.share(), format!("{rate} ({low:.0}–{high:.0} %)"))
}

/// A mean of counts with half its confidence interval.
pub fn mean(spread: Option<Spread>) -> Cell {
    match spread {
        Some(Spread { count: 1, mean, .. }) => Cell::number(mean, whole(mean)),
        Some(Spread { mean, error, .. }) => Cell::number(mean, within(mean, error, whole)),
        None => nothing(),
    }
}

/// A value and its error; one that is of rounding alone is none.
pub fn within(value: f64, error: f64, word: fn(f64) -> String) -> String {
    let error = if error <= 1e-12 * value.abs() { 0.0 } else { error };
    format!("{} ± {}", word(value), word(error))
}

/// A median of counts with the quartiles.
pub fn median(spread: Option<Spread>) -> Cell {
    median_as(spread, whole)
}

/// A median of other numbers.
pub fn median_as(spread: Option<Spread>, word: fn(f64) -> String) -> Cell {
    match spread {
        Some(Spread { count: 1, median, .. }) => Cell::number(median, word(median)),
        Some(Spread { median, lower, upper, .. }) => {
            Cell::number(median, format!("{} ({}–{})", word(median), word(lower), word(upper)))
        }
        None => nothing(),
    }
}

/// A number in seconds.
pub fn seconds(spread: Option<Spread>) -> Cell {
    spread.map_or_else(nothing, |spread| Cell::number(spread.mean, short(spread.mean)))
}

/// A number of the paper, if it has one.
pub fn paper(value: Option<f64>) -> Cell {
    value.map_or_else(nothing, |value| Cell::number(value, short(value)))
}

/// Nothing to be said.
pub fn nothing() -> Cell {
    "–".into()
}

/// Larger than this, nobody counts digits.
const MANY: f64 = 1e15;

/// A count, as one reads it.
pub fn whole(value: f64) -> String {
    if value != 0.0 && value.abs() < 10.0 && value.fract() != 0.0 {
        return format!("{value:.1}");
    }
    if value.abs() >= MANY {
        return crate::page::number(value);
    }
    let digits = format!("{value:.0}");
    // 12345 is easier read as 12 345, and shorter numbers as they are.
    if digits.len() <= 4 {
        return digits;
    }
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join("\u{202f}")
}

/// A number to three digits, or a count.
pub fn short(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 { whole(value) } else { crate::page::number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0.0, 999.0, 1234.0, 12345.4, 1234567.0].map(whole),
            ["0", "999", "1234", "12\u{202f}345", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!(whole(2.25), "2.2");
        assert_eq!([1e150, -1e300, f64::INFINITY].map(whole), ["1.00e150", "-1.00e300", "inf"]);
        assert_eq!(short(1e200), "1.00e200");
    }

    #[test]
    fn errors_of_rounding_are_none() {
        assert_eq!(within(0.5, 4e-17, whole), "0.5 ± 0");
        assert_eq!(median(Spread::of([1.0, 2.0, 3.0])).text, "2 (1.5–2.5)");
        assert_eq!((mean(Spread::of([7.0])).text, mean(None).text), ("7".into(), "–".into()));
    }

    #[test]
    fn rates_show_their_interval() {
        assert_eq!(rate(Some(Rate { successes: 20, trials: 20 })).text, "20/20 (84–100 %)");
        assert_eq!(rate(Some(Rate { successes: 0, trials: 0 })).text, "–");
    }
}
