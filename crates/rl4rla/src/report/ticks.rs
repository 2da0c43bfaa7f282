//! Range and ticks of an axis.

use super::{Axis, AxisScale};

/// Differences of larger numbers may overflow; they are treated as infinite.
const HUGE: f64 = 1e300;

/// The range of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Extent {
    scale: AxisScale,
    /// The ends, or their decimal logarithms.
    low: f64,
    high: f64,
}

impl Extent {
    /// The range given by the axis, or else that of these values with a small margin.
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Extent {
        let scale = axis.scale;
        let ends = |low: f64, high: f64| Extent { scale, low, high };
        let given = axis.range.and_then(|[low, high]| Some((measure(scale, low)?, measure(scale, high)?)));
        if let Some((low, high)) = given.filter(|(low, high)| parted(*low, *high)) {
            return ends(low, high);
        }
        let mut needed = values.filter_map(|value| measure(scale, value));
        let Some(first) = needed.next() else {
            return if scale == AxisScale::Log { ends(-1.0, 0.0) } else { ends(0.0, 1.0) };
        };
        let (low, high) = needed.fold((first, first), |(low, high), v| (low.min(v), high.max(v)));
        if !parted(low, high) {
            let room = match scale {
                AxisScale::Log => 0.5,
                AxisScale::Linear if high == 0.0 => 1.0,
                AxisScale::Linear => high.abs() * 0.1,
            };
            return ends(low - room, high + room);
        }
        let room = (high - low) * 0.05;
        // A linear axis whose smallest value is 0 starts exactly there.
        let bottom = if low == 0.0 && scale == AxisScale::Linear { 0.0 } else { low - room };
        ends(bottom, high + room)
    }

    /// Position of a value: 0 at the low end, 1 at the high end, clipped to a range that can be drawn. An infinite
    /// value lies beyond the end.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        let share = match measure(self.scale, value) {
            Some(measure) => (measure - self.low) / (self.high - self.low),
            None if value == f64::INFINITY => value,
            None => return None,
        };
        Some(share.clamp(-9.0, 10.0))
    }

    /// At most `most` + 1 ticks: positions and labels.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let ticks = match self.scale {
            AxisScale::Linear => linear(self.low, self.high, most),
            AxisScale::Log => log(self.low, self.high, most),
        };
        ticks.into_iter().filter_map(|(value, text)| Some((self.share(value)?, text))).collect()
    }
}

/// The value, or its decimal logarithm; `None` if it cannot be shown.
fn measure(scale: AxisScale, value: f64) -> Option<f64> {
    match scale {
        AxisScale::Linear => (value.abs() <= HUGE).then_some(value),
        AxisScale::Log => (value > 0.0 && value.is_finite()).then(|| value.log10()),
    }
}

/// Whether two numbers are far enough apart for ticks.
fn parted(low: f64, high: f64) -> bool {
    high - low > 1e-9 * low.abs().max(high.abs())
}

/// The spacing and the round numbers between two ends.
fn round(low: f64, high: f64, most: usize) -> (f64, Vec<f64>) {
    let least = (high - low) / most.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|c| c * power).into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    let count = if last >= first { (last - first) as usize + 1 } else { 0 };
    (step, (0..count.min(most + 2)).map(|i| (first + i as f64) * step).collect())
}

fn linear(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let (step, values) = round(low, high, most);
    let size = low.abs().max(high.abs());
    // One unit for all labels of an axis.
    let (unit, name) = match size {
        size if !(1e-3..1e9).contains(&size) => {
            let exponent = size.log10().floor() as i32;
            (10_f64.powi(exponent), format!("·{}", power(exponent)))
        }
        size if size >= 1e6 => (1e6, "M".into()),
        size if size >= 1e4 => (1e3, "k".into()),
        _ => (1.0, String::new()),
    };
    let decimals = (-(step / unit * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = |value: f64| match value {
        0.0 => "0".into(),
        value => format!("{:.decimals$}{name}", value / unit).replace('-', "−"),
    };
    values.into_iter().map(|value| (value, text(value))).collect()
}

/// Ticks between two powers of ten.
fn log(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
    if last > first {
        let stride = ((last - first) as usize / most.max(1) + 1) as i32;
        let shown = (first..=last).filter(|exponent| exponent.rem_euclid(stride) == 0);
        let small = first >= -2 && last <= 3;
        let text = |e: i32| if small { plain(10_f64.powi(e)) } else { power(e) };
        return shown.map(|exponent| (10_f64.powi(exponent), text(exponent))).collect();
    }
    let (low, high) = (10_f64.powf(low), 10_f64.powf(high));
    let within = |value: &f64| (low..=high).contains(value);
    let fine: Vec<f64> = (first - 1..=last + 1)
        .flat_map(|exponent| [1.0, 2.0, 5.0].map(|c| c * 10_f64.powi(exponent)))
        .filter(within)
        .collect();
    if fine.len() >= 2 && fine.len() <= most + 1 {
        return fine.into_iter().map(|value| (value, plain(value))).collect();
    }
    linear(low, high, most)
}

/// A round number as text.
fn plain(value: f64) -> String {
    if (1e-3..1e4).contains(&value) {
        return format!("{}", (value * 1e6).round() / 1e6);
    }
    let exponent = (value.log10() + 1e-9).floor() as i32;
    match (value / 10_f64.powi(exponent)).round() as i64 {
        1 => power(exponent),
        digit => format!("{digit}·{}", power(exponent)),
    }
}

/// A power of ten.
fn power(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c.to_digit(10).unwrap_or(0) as usize],
    };
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(axis: &Axis, values: &[f64], most: usize) -> Vec<String> {
        Extent::of(axis, values.iter().copied()).ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn numbers_are_round_and_read_as_people_write_them() {
        let linear = Axis::linear("");
        assert_eq!(texts(&linear, &[0.0, 1.0], 6), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&linear, &[-3.0, 4.0], 4), ["−2", "0", "2", "4"]);
        assert_eq!(texts(&linear, &[0.0, 40_000.0], 5), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(texts(&linear, &[0.0, 4e-6], 5), ["0", "1·10⁻⁶", "2·10⁻⁶", "3·10⁻⁶", "4·10⁻⁶"]);
        let log = Axis::log("");
        assert_eq!(texts(&log, &[1e-6, 1.0], 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(texts(&log, &[1.0, 1000.0], 5), ["1", "10", "100", "1000"]);
        assert_eq!(texts(&log, &[1.5, 6.0], 5), ["2", "5"]);
        assert_eq!(texts(&log, &[100.0, 130.0], 4), ["100", "110", "120", "130"]);
    }

    #[test]
    fn ranges_that_are_none_become_some() {
        let (linear, log) = (Axis::linear(""), Axis::log(""));
        for values in [&[][..], &[0.0], &[5.0, 5.0], &[f64::NAN, f64::INFINITY], &[-1e308, 1e308], &[1e-320]]
        {
            for axis in [&linear, &log, &linear.clone().within(3.0, 3.0), &log.clone().within(-1.0, 1.0)] {
                let extent = Extent::of(axis, values.iter().copied());
                assert!(extent.high > extent.low && (extent.high - extent.low).is_finite(), "{extent:?}");
                assert!(!extent.ticks(6).is_empty(), "{values:?} {axis:?}");
            }
        }
        assert_eq!(Extent::of(&log, [1.0].into_iter()).share(0.0), None);
        assert_eq!(Extent::of(&linear, [1.0].into_iter()).share(f64::NAN), None);
        assert_eq!(Extent::of(&log, [1.0].into_iter()).share(f64::INFINITY), Some(10.0));
    }

    proptest! {
        #[test]
        fn ticks_are_few_distinct_and_inside(a in -1e12_f64..1e12, b in -1e12_f64..1e12, shrink in 0..20_i32, most in 1_usize..9) {
            let scale = 10_f64.powi(-shrink);
            for (axis, values) in [
                (Axis::linear(""), [a * scale, b * scale]),
                (Axis::log(""), [a.abs() * scale, b.abs() * scale]),
            ] {
                let extent = Extent::of(&axis, values.into_iter());
                let ticks = extent.ticks(most);
                prop_assert!(ticks.len() <= most + 2, "{} for {most}", ticks.len());
                for pair in ticks.windows(2) {
                    prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1, "{ticks:?}");
                }
                prop_assert!(ticks.iter().all(|(share, _)| (-1e-4..=1.0 + 1e-4).contains(share)), "{ticks:?}");
            }
        }
    }
}
