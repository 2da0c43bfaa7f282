//! Drawing of series: lines, steps, dots and bands, without invisible detail.

use super::labels::Rectangle;
use super::svg::at;
use super::{Marker, Series};

/// Maximum number of points drawn per series.
pub(super) const MOST: usize = 2000;
/// Maximum number of markers on a line.
const MARKERS: usize = 9;

/// Positions of the points of a series in its panel; `None` is a gap.
pub(super) type Places = Vec<Option<[f64; 2]>>;

/// SVG of a series, given the positions of its points and, for a band, of its upper ends.
pub(super) fn svg(series: &Series, places: &Places, upper: &Places) -> String {
    let class = series.ink.class();
    let body = match series.mark {
        Marker::Line => stroke(series, &thinned(places), false),
        Marker::Steps => stroke(series, &thinned(places), true),
        Marker::Dots => dots(series, places),
        Marker::Band(_) => band(places, upper),
        // Cells are drawn by `heat`.
        Marker::Cells(_) => String::new(),
    };
    if body.is_empty() { body } else { format!("<g class=\"{class}\">\n{body}</g>\n") }
}

/// Marks at the edge of the plot for points beyond it: an open arrow head for each stretch of them.
pub(super) fn beyond(series: &Series, places: &Places, plot: &Rectangle) -> String {
    // Points on the edge itself, to rounding, are inside.
    let near = |value: f64, low: f64, high: f64| (low - 0.5..=high + 0.5).contains(&value);
    let outside = |place: &Option<[f64; 2]>| {
        place.filter(|[x, y]| !near(*x, plot.left, plot.right) || !near(*y, plot.top, plot.bottom))
    };
    let far: Places = places.iter().map(outside).collect();
    let head = |[x, y]: [f64; 2]| {
        let [at_x, at_y] = [x.clamp(plot.left, plot.right), y.clamp(plot.top, plot.bottom)];
        let length = (x - at_x).hypot(y - at_y);
        let [dx, dy] = [(x - at_x) / length, (y - at_y) / length];
        // The tip points outward.
        let corner = |along: f64, across: f64| {
            let [x, y] = [at_x + along * dx - across * dy, at_y + along * dy + across * dx];
            format!("{} {}", at(x), at(y))
        };
        format!("M{}L{}L{}Z", corner(6.0, 0.0), corner(-4.0, 4.0), corner(-4.0, -4.0))
    };
    let heads: String = far
        .split(Option::is_none)
        .filter_map(|stretch| stretch.last().copied().flatten())
        .map(head)
        .collect();
    match heads.is_empty() {
        true => heads,
        false => format!("<g class=\"{}\"><path class=\"o\" d=\"{heads}\"/></g>\n", series.ink.class()),
    }
}

/// A line with a few markers.
fn stroke(series: &Series, places: &Places, steps: bool) -> String {
    let mut path = String::new();
    // Consecutive points that coincide after rounding are dropped.
    let mut last: Option<[String; 2]> = None;
    for (number, place) in places.iter().enumerate() {
        let Some(place) = place else {
            last = None;
            continue;
        };
        let [x, y] = place.map(at);
        match &last {
            Some([old_x, old_y]) if *old_x == x && *old_y == y => {}
            Some(_) if steps => path += &format!("H{x}V{y}"),
            Some(_) => path += &format!("L{x} {y}"),
            None => {
                path += &format!("M{x} {y}");
                // A point between two gaps becomes visible by its round line ends.
                if places.get(number + 1).is_none_or(Option::is_none) {
                    path += "h0";
                }
            }
        }
        last = Some([x, y]);
    }
    if path.is_empty() {
        return path;
    }
    let markers = markers(series, places);
    format!("<path class=\"l\" stroke-linecap=\"round\"{} d=\"{path}\"/>\n{markers}", series.ink.dash())
}

fn markers(series: &Series, places: &Places) -> String {
    let seen: Vec<[f64; 2]> = places.iter().flatten().copied().collect();
    // Each colour starts at a different offset, so that the markers of coinciding lines stay visible.
    let stride = seen.len().div_ceil(MARKERS).max(1);
    let start = if stride > 1 { stride * (1 + series.ink.0 % 3) / 4 } else { 0 };
    let marks: String =
        seen.iter().skip(start).step_by(stride).map(|[x, y]| series.ink.marker(*x, *y, 3.2)).collect();
    if marks.is_empty() { marks } else { format!("<path class=\"d\" d=\"{marks}\"/>\n") }
}

fn dots(series: &Series, places: &Places) -> String {
    let mut seen: Vec<[f64; 2]> = places.iter().flatten().copied().collect();
    // Coinciding dots are dropped, and large clouds are thinned.
    seen.dedup_by_key(|place| place.map(|c| c.round() as i64));
    let stride = seen.len().div_ceil(MOST).max(1);
    let radius = if seen.len() > 200 { 2.2 } else { 3.6 };
    let marks: String = seen.iter().step_by(stride).map(|[x, y]| series.ink.marker(*x, *y, radius)).collect();
    if marks.is_empty() { marks } else { format!("<path class=\"d\" d=\"{marks}\"/>\n") }
}

/// The area between two lines, one polygon per stretch without gaps.
fn band(lower: &Places, upper: &Places) -> String {
    let both: Vec<Option<[[f64; 2]; 2]>> =
        lower.iter().zip(upper).map(|(low, high)| Some([(*low)?, (*high)?])).collect();
    let step = both.len().div_ceil(MOST / 2).max(1);
    let mut path = String::new();
    for stretch in both.split(Option::is_none) {
        let last = stretch.len().saturating_sub(1);
        let kept = stretch.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last);
        let ends: Vec<[[f64; 2]; 2]> = kept.filter_map(|(_, ends)| *ends).collect();
        let there = ends.iter().map(|[low, _]| *low);
        let back = ends.iter().rev().map(|[_, high]| *high);
        let corners: Vec<String> = there.chain(back).map(|[x, y]| format!("{} {}", at(x), at(y))).collect();
        if corners.len() > 2 {
            path += &format!("M{}Z", corners.join("L"));
        }
    }
    if path.is_empty() { path } else { format!("<path class=\"b\" d=\"{path}\"/>\n") }
}

/// At most `MOST` points: the first, lowest, highest and last of each stretch, and a gap if it has one.
fn thinned(places: &Places) -> Places {
    if places.len() <= MOST {
        return places.clone();
    }
    let size = places.len().div_ceil(MOST / 5);
    let thin = |stretch: &[Option<[f64; 2]>]| -> Places {
        let height = |i: &usize| stretch[*i].map_or(0.0, |[_, y]| y);
        let seen = || (0..stretch.len()).filter(|i| stretch[*i].is_some());
        let by_height = |a: &usize, b: &usize| height(a).total_cmp(&height(b));
        let gap = stretch.iter().position(Option::is_none);
        let kept =
            [seen().next(), seen().min_by(by_height), seen().max_by(by_height), seen().next_back(), gap];
        let mut kept: Vec<usize> = kept.into_iter().flatten().collect();
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().map(|i| stretch[i]).collect()
    };
    places.chunks(size).flat_map(thin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Ink;

    fn series(mark: Marker) -> Series {
        Series::new("s", Ink(1), mark, [])
    }

    fn places(points: &[[f64; 2]]) -> Places {
        points.iter().map(|p| p.iter().all(|c| c.is_finite()).then_some(*p)).collect()
    }

    #[test]
    fn gaps_break_lines_and_lone_points_are_seen() {
        let nan = f64::NAN;
        let line =
            places(&[[0.0, 0.0], [1.0, 1.0], [nan, 0.0], [3.0, 3.0], [nan, nan], [5.0, 5.0], [6.0, 4.0]]);
        let drawn = svg(&series(Marker::Line), &line, &vec![]);
        assert!(drawn.contains("d=\"M0 0L1 1M3 3h0M5 5L6 4\""), "{drawn}");
        let steps = svg(&series(Marker::Steps), &places(&[[0.0, 0.0], [2.0, 5.0]]), &vec![]);
        assert!(steps.contains("M0 0H2V5"), "{steps}");
    }

    #[test]
    fn a_band_is_a_closed_area_for_each_stretch() {
        let lower = places(&[[0.0, 5.0], [1.0, 5.0], [f64::NAN, 0.0], [3.0, 5.0], [4.0, 5.0]]);
        let upper = places(&[[0.0, 1.0], [1.0, 2.0], [2.0, 2.0], [3.0, 1.0], [4.0, 2.0]]);
        let drawn = svg(&series(Marker::Band(vec![])), &lower, &upper);
        assert!(drawn.contains("d=\"M0 5L1 5L1 2L0 1ZM3 5L4 5L4 2L3 1Z\""), "{drawn}");
    }

    #[test]
    fn long_series_keep_their_peaks() {
        let mut long: Places = (0..100_000).map(|i| Some([f64::from(i) / 300.0, 100.0])).collect();
        (long[54_321], long[70_000]) = (Some([181.0, 3.0]), None);
        let thin = thinned(&long);
        assert!(thin.len() <= MOST && thin.contains(&Some([181.0, 3.0])) && thin.contains(&None));
        assert_eq!((thin.first(), thin.last()), (long.first(), long.last()));
        let drawn = svg(&series(Marker::Dots), &long, &vec![]);
        assert!(drawn.len() < 200_000);
    }

    #[test]
    fn what_lies_beyond_the_plot_is_marked_at_its_edge() {
        let plot = Rectangle { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let inside = places(&[[0.0, 0.0], [50.0, 50.0], [100.0, 100.0]]);
        assert_eq!(beyond(&series(Marker::Line), &inside, &plot), "");
        // One mark for the two at the top, and one at the right.
        let out = places(&[[10.0, -500.0], [30.0, -700.0], [50.0, 50.0], [900.0, 60.0], [60.0, 60.0]]);
        let drawn = beyond(&series(Marker::Line), &out, &plot);
        assert_eq!(drawn.matches('M').count(), 2, "{drawn}");
        assert!(drawn.contains("M30 -6L") && drawn.contains("M106 60L"), "{drawn}");
    }

    #[test]
    fn nothing_is_drawn_as_nothing() {
        for mark in [Marker::Line, Marker::Steps, Marker::Dots, Marker::Band(vec![])] {
            assert_eq!(svg(&series(mark), &vec![None; 3], &vec![None; 3]), "");
        }
    }
}
