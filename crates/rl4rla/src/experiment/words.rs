//! Number formatting in the tables of pages.

use crate::report::{Cell, Rate, Spread};

/// With fewer values than this, the values themselves say more than a mean or a median with its error.
pub const FEW: usize = 5;

/// A fraction in percent.
pub fn percent(share: f64) -> Cell {
    Cell::number(share, format!("{:.0} %", 100.0 * share))
}

/// A success rate with its confidence interval in percent.
pub fn rate(rate: Option<Rate>) -> Cell {
    let Some(rate) = rate.filter(|rate| rate.trials > 0) else { return nothing() };
    let [low, high] = rate.interval().map(|end| 100.0 * end);
    Cell::number(rate.share(), format!("{rate} ({low:.0}–{high:.0} %)"))
}

/// A mean of counts with the half-width of its confidence interval; the values themselves if there are fewer than
/// five.
pub fn mean(spread: Option<Spread>) -> Cell {
    mean_as(spread, whole)
}

/// A mean of other quantities.
pub fn mean_as(spread: Option<Spread>, word: fn(f64) -> String) -> Cell {
    summary(spread, word, |spread| (spread.mean, within(spread.mean, spread.error, word)))
}

/// A summary in the given format, or the values themselves if there are fewer than five. The number behind the cell
/// is the same in both cases.
fn summary(
    spread: Option<Spread>,
    word: fn(f64) -> String,
    words: impl Fn(&Spread) -> (f64, String),
) -> Cell {
    let Some(spread) = spread else { return nothing() };
    let (value, text) = words(&spread);
    Cell::number(value, values(&spread, word).unwrap_or(text))
}

/// The values themselves if there are fewer than five.
pub fn values(spread: &Spread, word: fn(f64) -> String) -> Option<String> {
    Some(spread.few()?.iter().copied().map(word).collect::<Vec<_>>().join("; "))
}

/// A value with its error, which is left out if it is rounding only.
pub fn within(value: f64, error: f64, word: fn(f64) -> String) -> String {
    let error = if error <= 1e-12 * value.abs() { 0.0 } else { error };
    format!("{} ± {}", word(value), word(error))
}

/// The mean reward of a program on fresh instances with its standard error, which says nothing if they are fewer than
/// five.
pub fn reward(mean: f64, error: Option<f64>, instances: Option<usize>, word: fn(f64) -> String) -> String {
    let count = instances.unwrap_or_default();
    match error.filter(|_| count >= FEW) {
        Some(error) => format!("{} on {count} fresh instances", within(mean, error, word)),
        None if count == 1 => format!("{} on a fresh instance", word(mean)),
        None if count > 1 => format!("{}, the mean of {count} fresh instances", word(mean)),
        None => word(mean),
    }
}

/// A median of counts with the quartiles; the values themselves if there are fewer than five.
pub fn median(spread: Option<Spread>) -> Cell {
    median_as(spread, whole)
}

/// A median of other quantities.
pub fn median_as(spread: Option<Spread>, word: fn(f64) -> String) -> Cell {
    let quartiles = |s: &Spread| format!("{} ({}–{})", word(s.median), word(s.lower), word(s.upper));
    summary(spread, word, |spread| (spread.median, quartiles(spread)))
}

/// A median of other quantities, with minimum and maximum.
pub fn range_as(spread: Option<Spread>, word: fn(f64) -> String) -> Cell {
    let ends = |s: &Spread| format!("{} ({}–{})", word(s.median), word(s.min), word(s.max));
    summary(spread, word, |spread| (spread.median, ends(spread)))
}

/// A median of counts with the interquartile range, as in the paper; the values themselves if there are fewer than
/// five.
pub fn median_iqr(spread: Option<Spread>) -> Cell {
    summary(spread, whole, |s| (s.median, format!("{} ± {}", whole(s.median), whole(s.iqr()))))
}

/// A duration in seconds.
pub fn seconds(spread: Option<Spread>) -> Cell {
    spread.map_or_else(nothing, |spread| Cell::number(spread.mean, short(spread.mean)))
}

/// A number of the paper, if reported.
pub fn paper(value: Option<f64>) -> Cell {
    value.map_or_else(nothing, |value| Cell::number(value, short(value)))
}

/// An empty cell.
pub fn nothing() -> Cell {
    "–".into()
}

/// Larger numbers are written with an exponent.
const MANY: f64 = 1e15;

/// A count with digit grouping.
pub fn whole(value: f64) -> String {
    if value != 0.0 && value.abs() < 10.0 && value.fract() != 0.0 {
        return format!("{value:.1}");
    }
    if value.abs() >= MANY {
        return crate::report::number(value);
    }
    let digits = format!("{value:.0}");
    // Digits are grouped in numbers of five and more: 12 345.
    if digits.len() <= 4 {
        return digits;
    }
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join("\u{202f}")
}

/// A number to three digits, or a count.
pub fn short(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 { whole(value) } else { crate::report::number(value) }
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
        assert_eq!(median(Spread::of([1.0, 2.0, 3.0, 4.0, 5.0])).text, "3 (2–4)");
        assert_eq!((mean(Spread::of([7.0])).text, mean(None).text), ("7".into(), "–".into()));
    }

    #[test]
    fn fewer_than_five_values_are_shown_themselves() {
        let two = Spread::of([3051.0, 1204.0]);
        for cell in [mean(two), median(two), median_iqr(two), range_as(two, whole)] {
            assert_eq!((cell.text.as_str(), cell.value), ("1204; 3051", Some(2127.5)));
        }
        assert_eq!(mean(Spread::of([1.0, 2.0, 3.0, 40_000.0])).text, "1; 2; 3; 40\u{202f}000");
        let few = |count| Spread::of(vec![1.0; count]).unwrap().few().is_some();
        assert!(few(FEW - 1) && !few(FEW));
        let five = Spread::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(mean(five).text, "3 ± 2.0");
        assert_eq!(median_iqr(five).text, "3 ± 2");
        assert_eq!(range_as(five, whole).text, "3 (1–5)");
    }

    #[test]
    fn errors_of_few_instances_are_left_out() {
        let shown = |count| reward(0.5, Some(0.25), count, |value| format!("{value}"));
        assert_eq!(shown(Some(5)), "0.5 ± 0.25 on 5 fresh instances");
        assert_eq!(shown(Some(4)), "0.5, the mean of 4 fresh instances");
        assert_eq!(shown(Some(1)), "0.5 on a fresh instance");
        assert_eq!(shown(None), "0.5");
    }

    #[test]
    fn rates_show_their_interval() {
        assert_eq!(rate(Some(Rate { successes: 20, trials: 20 })).text, "20/20 (84–100 %)");
        assert_eq!(rate(Some(Rate { successes: 0, trials: 0 })).text, "–");
    }
}
