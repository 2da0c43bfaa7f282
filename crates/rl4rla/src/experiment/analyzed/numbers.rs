//! Number formatting for an analysis.

use crate::analysis::MapCell;
use crate::experiment::words::whole;
use crate::report::number;
use crate::statistics::Interval;

/// A contraction factor; close to 1 it is written as a difference from 1.
pub fn factor(value: f64) -> String {
    match value {
        value if (0.999..1.0).contains(&value) => format!("1 − {:.1e}", 1.0 - value),
        value => number(value),
    }
}

/// A value with its confidence interval.
pub fn interval(interval: Option<Interval>, word: fn(f64) -> String) -> String {
    let Some(Interval { value, low, high, .. }) = interval else { return "–".into() };
    match [low, value, high].map(word) {
        [low, value, high] if low == high => {
            if low == value {
                value
            } else {
                format!("{value} [{low}]")
            }
        }
        [low, value, high] => format!("{value} [{low}, {high}]"),
    }
}

/// The value without its interval.
pub fn alone(interval: Option<Interval>, word: fn(f64) -> String) -> String {
    interval.map_or("–".into(), |interval| word(interval.value))
}

/// A condition number.
pub fn kappa(kappa: Option<f64>) -> String {
    kappa.map_or("as drawn".into(), |kappa| format!("{kappa:e}"))
}

/// A count.
pub fn count(value: f64) -> String {
    whole(value)
}

/// The excess of a cell, abbreviated.
pub fn cell(cell: &MapCell) -> String {
    match cell.excess {
        _ if cell.is_broken() => "failed".into(),
        Some(excess) if cell.failed > 0 => format!("{excess:.0e} ({} failed)", cell.failed),
        Some(excess) => format!("{excess:.0e}"),
        None => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_near_one_say_how_near() {
        assert_eq!([0.25, 0.99999999, 1.0, 1.5].map(factor), ["0.2500", "1 − 1.0e-8", "1.00", "1.50"]);
    }

    #[test]
    fn intervals_without_width_are_numbers() {
        let of = |low, value, high| Some(Interval { value, low, high, count: 3 });
        assert_eq!(interval(of(1.0, 1.0, 1.0), number), "1.00");
        assert_eq!(interval(of(1.0, 2.0, 3.0), number), "2.00 [1.00, 3.00]");
        assert_eq!(interval(None, number), "–");
    }
}
