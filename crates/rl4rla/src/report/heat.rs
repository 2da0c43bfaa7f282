//! Heat maps: cells coloured by value on a logarithmic scale, with the value printed in them and failures hatched.
//!
//! The scale goes from dark blue through grey to yellow. Lightness alone distinguishes the values, so it can be read
//! in print and without colour vision, and it is the same in light and dark mode.

use super::Axis;
use super::Shades;
use super::strokes::Places;
use super::svg::{self, at, width};
use super::ticks::Extent;

/// The colour scale from its low to its high end.
const SCALE: [[u8; 3]; 5] =
    [[0x0b, 0x2a, 0x5b], [0x44, 0x55, 0x75], [0x83, 0x82, 0x7d], [0xc4, 0xb0, 0x62], [0xff, 0xe2, 0x4d]];
/// Gap between cells.
const GAP: f64 = 1.5;
/// Distance between hatching lines.
const HATCH: f64 = 7.0;
/// Minimum height of cells with printed values.
const LEAST_HEIGHT: f64 = 16.0;
const TEXT: f64 = 12.0;

/// Width and height of the colour bar.
pub(super) const BAR: [f64; 2] = [360.0, 56.0];
/// Number of segments of the colour bar.
const PIECES: usize = 48;

impl Shades {
    /// The cells around these points, all of this size.
    pub(super) fn svg(&self, places: &Places, [w, h]: [f64; 2]) -> String {
        let cell = |(place, value): (&Option<[f64; 2]>, &f64)| {
            let Some([x, y]) = place else { return String::new() };
            let (w, h) = ((w - GAP).max(0.0), (h - GAP).max(0.0));
            let [left, top] = [x - w / 2.0, y - h / 2.0];
            match self.share(*value) {
                Some(share) => {
                    rectangle(colour(share), [left, top, w, h]) + &written(*value, share, [*x, *y], [w, h])
                }
                None => hatching([left, top, w, h]),
            }
        };
        places.iter().zip(&self.values).map(cell).collect()
    }

    /// Position of a value on the scale, from 0 to 1; `None` for NaN. Zero is at the low end.
    fn share(&self, value: f64) -> Option<f64> {
        let [low, high] = self.ends.map(|end| end.max(f64::MIN_POSITIVE).log10());
        let share = (value.max(f64::MIN_POSITIVE).log10() - low) / (high - low);
        (!value.is_nan()).then(|| if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    /// The colour bar with numbers, its label, and the sign for failures.
    pub(super) fn bar(&self) -> String {
        let [full, _] = BAR;
        let (left, right, top, high) = (14.0, full - 96.0, 20.0, 12.0);
        let piece = (right - left) / PIECES as f64;
        // Segments overlap slightly, so that no gap shows between them.
        let block = |i: usize| {
            let place =
                [left + piece * i as f64, top, if i + 1 < PIECES { piece + 0.5 } else { piece }, high];
            rectangle(colour(i as f64 / (PIECES - 1) as f64), place)
        };
        let mut text: String = (0..PIECES).map(block).collect();
        text += &svg::text("s", left, 13.0, &svg::shorten(&self.label, full - 16.0, TEXT));
        let axis = Axis::log("").within(self.ends[0], self.ends[1]);
        let ticks = Extent::of(&axis, std::iter::empty()).ticks(4);
        for (share, label) in ticks.iter().filter(|(share, _)| (0.0..=1.0).contains(share)) {
            let half = width(label, TEXT) / 2.0;
            let x = (left + share * (right - left)).clamp(half, right);
            text += &svg::text("s m", x, top + high + 15.0, label);
        }
        text += &hatching([right + 16.0, top, 22.0, high]);
        text + &svg::text("s", right + 43.0, top + 10.0, "failed")
    }
}

fn rectangle([r, g, b]: [u8; 3], place: [f64; 4]) -> String {
    let [x, y, w, h] = place.map(at);
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>\n")
}

/// A frame filled with diagonal lines.
fn hatching([left, top, w, h]: [f64; 4]) -> String {
    let mut path = format!("M{} {}h{}v{}h{}Z", at(left), at(top), at(w), at(h), at(-w));
    // The lines x + y = c, each from where it enters the frame to where it leaves it.
    let lines = ((w + h) / HATCH).clamp(0.0, 200.0) as usize;
    for c in (1..=lines).map(|i| HATCH * i as f64) {
        let (enter, leave) = ((c - h).max(0.0), c.min(w));
        let [x1, y1, x2, y2] = [left + enter, top + c - enter, left + leave, top + c - leave].map(at);
        path += &format!("M{x1} {y1}L{x2} {y2}");
    }
    format!("<path class=\"x\" d=\"{path}\"/>\n")
}

/// The value printed in its cell, if it fits, in black or white, whichever has more contrast.
fn written(value: f64, share: f64, [x, y]: [f64; 2], [w, h]: [f64; 2]) -> String {
    let text = match value {
        0.0 => "0".to_string(),
        value if (0.01..100.0).contains(&value) => format!("{}", (value * 100.0).round() / 100.0),
        value => format!("{value:.0e}").replace('-', "−"),
    };
    let fits = h >= LEAST_HEIGHT && width(&text, TEXT) <= w - 2.0 && value.is_finite();
    let class = if luminance(colour(share)) > 0.18 { "m k" } else { "m w" };
    if fits { svg::text(class, x, y + 4.0, &text) } else { String::new() }
}

/// The colour at this position of the scale.
fn colour(share: f64) -> [u8; 3] {
    let place = share * (SCALE.len() - 1) as f64;
    let (low, high) = (SCALE[place.floor() as usize], SCALE[place.ceil() as usize]);
    std::array::from_fn(|i| {
        let [low, high] = [low[i], high[i]].map(f64::from);
        (low + (high - low) * place.fract()).round() as u8
    })
}

/// Relative luminance of a colour, as defined by WCAG.
fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::super::testing::{boxes, well_formed};
    use super::super::{Axis, Figure, Ink, Marker, Panel, Series};
    use super::*;

    fn figure() -> Figure {
        let names = |all: &[&str]| all.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let points = (0..4).flat_map(|x| (0..3).map(move |y| [f64::from(x), f64::from(y)]));
        let mut values: Vec<f64> = (0..12).map(|i| 10f64.powi(-i)).collect();
        (values[3], values[7]) = (f64::NAN, 0.0);
        let shades = Shades { label: "excess after 100 iterations".into(), values, ends: [1e-12, 1.0] };
        let panel = Panel {
            title: "low leverage".into(),
            x: Axis::classes("κ", names(&["10", "10³", "10⁶", "10⁹"])),
            y: Axis::classes("m/n", names(&["2", "20", "100"])),
            series: vec![Series::new("excess", Ink(0), Marker::Cells(shades), points)],
        };
        let [name, title, caption] = ["map", "A map", ""].map(String::from);
        Figure { name, title, caption, panels: vec![panel], columns: 1 }
    }

    #[test]
    fn lightness_alone_tells_values_apart_and_words_are_read() {
        let shades: Vec<f64> = (0..=100).map(|i| luminance(colour(f64::from(i) / 100.0))).collect();
        assert!(shades.is_sorted_by(|a, b| a < b), "{shades:?}");
        for light in shades {
            let (black, white) = ((light + 0.05) / 0.05, 1.05 / (light + 0.05));
            let used = if light > 0.18 { black } else { white };
            assert!(used >= 4.5, "{light}: {used}");
        }
    }

    #[test]
    fn every_cell_is_drawn_and_failures_are_hatched() {
        let figure = figure();
        let svg = figure.svg();
        well_formed(&svg);
        // The background, eleven cells and the colour bar.
        assert_eq!(svg.matches("<rect").count(), 1 + 11 + PIECES);
        assert_eq!(svg.matches("class=\"x\"").count(), 2, "a cell and the bar");
        assert_eq!(svg.matches(">10⁶</text>").count(), 1);
        assert!(svg.contains(">excess after 100 iterations</text>") && svg.contains(">1e−9</text>"));
        assert!(figure.legend().is_empty());
    }

    #[test]
    fn texts_of_a_heat_map_keep_apart() {
        for drawing in [figure().panels[0].body(272.0), figure().heat().unwrap().bar()] {
            let boxes = boxes(&drawing);
            for (i, (one, a)) in boxes.iter().enumerate() {
                assert!(a[0] >= 0.0 && a[2] <= 360.0, "{one} {a:?}");
                for (other, b) in &boxes[i + 1..] {
                    let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                    assert!(apart, "{one} {a:?} and {other} {b:?}");
                }
            }
        }
    }

    #[test]
    fn the_csv_names_classes_and_values() {
        let csv = figure().csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            (lines[0], lines[1], lines[2]),
            ("panel,series,x,y,value", "low leverage,excess,10,2,1", "low leverage,excess,10,20,0.1",)
        );
    }
}
