//! A panel: axes, grid and series in a rectangle of fixed size, scaled by the viewer.

use super::labels::{self, Rectangle, Wish};
use super::strokes::{self, Places};
use super::svg::{self, at, width, wrap};
use super::ticks::Extent;
use super::{Axis, Label, Marker, Panel, Series};

/// About the width of a phone, so that text stays readable there.
pub(super) const WIDTH: f64 = 360.0;
/// The height of a panel with few labels, and what each further label adds.
const HEIGHT: f64 = 272.0;
const FEW_LABELS: usize = 8;
const PER_LABEL: f64 = 17.0;
/// How many points of a line a data point is worth that a label hides.
const POINT: usize = 3;

const TICK: f64 = 12.0;
const TITLE: f64 = 13.0;
const LEADING: f64 = 15.0;

/// Positions of the elements of a panel.
struct Layout {
    plot: Rectangle,
    x: Extent,
    y: Extent,
    title: Vec<String>,
    x_label: Vec<String>,
    y_label: Vec<String>,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
}

impl Panel {
    /// The height it needs: labels next to points need room.
    pub(super) fn height(&self) -> f64 {
        let labels = self.series.iter().filter(|series| series.label == Label::Beside).count();
        HEIGHT + PER_LABEL * labels.saturating_sub(FEW_LABELS) as f64
    }

    /// The content of the panel, in a rectangle of `WIDTH` by this height.
    pub(super) fn body(&self, height: f64) -> String {
        let layout = Layout::of(self, height);
        let drawn: Vec<(Places, Places)> = self.series.iter().map(|series| layout.places(series)).collect();
        let mut text = svg::lines("t m", WIDTH / 2.0, 17.0, LEADING + 1.0, &layout.title);
        text += &layout.axes();
        // Clipped by a nested SVG element, which needs no id.
        let Rectangle { left, top, right, bottom } = layout.plot;
        let [x, y, w, h] = [left - 3.0, top - 3.0, right - left + 6.0, bottom - top + 6.0].map(at);
        text +=
            &format!("<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">\n");
        let is_band = |series: &Series| matches!(series.mark, Marker::Band(_));
        for bands in [true, false] {
            for (series, (places, upper)) in self.series.iter().zip(&drawn) {
                if is_band(series) == bands {
                    text += &match &series.mark {
                        Marker::Cells(shades) => shades.svg(places, layout.unit()),
                        _ => strokes::svg(series, places, upper),
                    };
                }
            }
        }
        text += "</svg>\n";
        for (series, (places, _)) in self.series.iter().zip(&drawn).filter(|(series, _)| has_points(series)) {
            text += &strokes::beyond(series, places, &layout.plot);
        }
        if drawn.iter().all(|(places, _)| places.iter().all(Option::is_none)) {
            text += &svg::text("s m", (left + right) / 2.0, (top + bottom) / 2.0, "no data");
        }
        text + &self.names(&layout, &drawn)
    }

    /// The labels next to points.
    fn names(&self, layout: &Layout, drawn: &[(Places, Places)]) -> String {
        let plot = layout.plot;
        let inside = |[x, y]: [f64; 2]| [x.clamp(plot.left, plot.right), y.clamp(plot.top, plot.bottom)];
        let wish = |(series, (places, _)): (&Series, &(Places, Places))| {
            let point = inside(places.iter().rev().find_map(|place| *place)?);
            let ends = series.mark != Marker::Dots;
            let text = svg::shorten(&series.name, WIDTH * 0.6, labels::SIZE);
            (series.label == Label::Beside).then_some(Wish { text, point, ink: series.ink, ends })
        };
        let wishes: Vec<Wish> = self.series.iter().zip(drawn).filter_map(wish).collect();
        if wishes.is_empty() {
            return String::new();
        }
        let obstacles: Vec<[f64; 2]> = self
            .series
            .iter()
            .zip(drawn)
            .flat_map(|(series, (places, _))| seen(places, series.mark == Marker::Steps))
            .collect();
        let bounds = Rectangle { right: WIDTH - 2.0, ..plot };
        labels::place(&wishes, &obstacles, bounds).iter().map(labels::Placed::svg).collect()
    }

    /// Right margin needed for the labels of lines that end there.
    fn margin(&self, x: &Extent) -> f64 {
        let ends_right = |series: &&Series| {
            let last = series.points.iter().rev().find_map(|[at, _]| x.share(*at));
            series.label == Label::Beside && last.is_some_and(|share| share > 0.8)
        };
        // Longer names find no room to the right of their points anyway.
        let names = self.series.iter().filter(ends_right).map(|s| width(&s.name, labels::SIZE) + 18.0);
        names.filter(|room| *room <= WIDTH * 0.36).fold(16.0, f64::max)
    }
}

/// Whether its points are drawn as such.
fn has_points(series: &Series) -> bool {
    matches!(series.mark, Marker::Line | Marker::Steps | Marker::Dots)
}

/// The points of a line and some in between, as obstacles for labels.
fn seen(places: &Places, steps: bool) -> Vec<[f64; 2]> {
    let stride = places.len().div_ceil(400).max(1);
    let mut kept: Vec<[f64; 2]> = places.iter().step_by(stride).flatten().copied().collect();
    if steps {
        let corner = |pair: &[[f64; 2]]| [pair[0], [pair[1][0], pair[0][1]]];
        let last = kept.last().copied();
        kept = kept.windows(2).flat_map(corner).chain(last).collect();
    }
    let between = kept.windows(2).flat_map(|pair| {
        let [from, to] = [pair[0], pair[1]];
        let parts = ((to[0] - from[0]).hypot(to[1] - from[1]) / 8.0).clamp(0.0, 60.0) as usize;
        (1..=parts).map(move |part| {
            let share = part as f64 / (parts + 1) as f64;
            [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
        })
    });
    // The points themselves are worth more than the line.
    between.chain(std::iter::repeat_n(&kept, POINT).flatten().copied()).collect()
}

impl Layout {
    fn of(panel: &Panel, height: f64) -> Layout {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let upper = panel.series.iter().flat_map(|series| match &series.mark {
            Marker::Band(upper) => upper.as_slice(),
            _ => &[],
        });
        // Values that one axis cannot show must not stretch the other.
        let x = Extent::of(&panel.x, points().map(|[x, _]| *x));
        let y = Extent::of(&panel.y, points().map(|[_, y]| *y).chain(upper.copied()));
        let title = wrap(&panel.title, WIDTH - 16.0, TITLE * 1.06, 2);
        let x_label = wrap(&panel.x.label, WIDTH * 0.78, TICK, 2);
        let top = 14.0 + (LEADING + 1.0) * title.len() as f64;
        let bottom = height - 26.0 - LEADING * x_label.len() as f64;
        let y_ticks = classes(&panel.y, &y).unwrap_or_else(|| y.ticks((height / 45.0) as usize));
        let y_label = wrap(&panel.y.label, bottom - top, TICK, 2);
        let widest = y_ticks.iter().map(|(_, text)| width(text, TICK)).fold(0.0, f64::max);
        let left = 10.0 + widest.min(WIDTH * 0.3) + (LEADING + 2.0) * y_label.len() as f64;
        let plot = Rectangle { left, top, right: WIDTH - panel.margin(&x), bottom };
        let x_ticks = classes(&panel.x, &x).unwrap_or_else(|| fitting(&x, &plot));
        Layout { plot, x, y, title, x_label, y_label, x_ticks, y_ticks }
    }

    fn across(&self, share: f64) -> f64 {
        self.plot.left + share * (self.plot.right - self.plot.left)
    }

    fn up(&self, share: f64) -> f64 {
        self.plot.bottom - share * (self.plot.bottom - self.plot.top)
    }

    /// Width and height of one axis unit.
    fn unit(&self) -> [f64; 2] {
        let one =
            |extent: &Extent| extent.share(1.0).zip(extent.share(0.0)).map_or(0.0, |(one, zero)| one - zero);
        [self.across(one(&self.x)) - self.across(0.0), self.up(0.0) - self.up(one(&self.y))]
    }

    /// Positions of the points of a series, and of the upper ends if it is a band.
    fn places(&self, series: &Series) -> (Places, Places) {
        let place = |x: f64, y: f64| Some([self.across(self.x.share(x)?), self.up(self.y.share(y)?)]);
        let points = series.points.iter().map(|[x, y]| place(*x, *y)).collect();
        let upper = match &series.mark {
            Marker::Band(upper) => series.points.iter().zip(upper).map(|([x, _], y)| place(*x, *y)).collect(),
            _ => vec![],
        };
        (points, upper)
    }

    fn axes(&self) -> String {
        let Rectangle { left, top, right, bottom } = self.plot;
        let mut grid = String::new();
        let mut text = String::new();
        for (share, label) in &self.x_ticks {
            let x = self.across(*share);
            grid += &format!("M{} {}V{}", at(x), at(top), at(bottom));
            text += &svg::text("s m", kept_inside(x, label), bottom + 16.0, label);
        }
        for (share, label) in &self.y_ticks {
            let y = self.up(*share);
            grid += &format!("M{} {}H{}", at(left), at(y), at(right));
            text += &svg::text("s e", left - 6.0, y + 4.0, label);
        }
        text += &svg::lines("m", (left + right) / 2.0, bottom + 16.0 + LEADING + 3.0, LEADING, &self.x_label);
        for (number, line) in self.y_label.iter().enumerate() {
            let (x, y) = (at(13.0 + LEADING * number as f64), at((top + bottom) / 2.0));
            text += &format!(
                "<text class=\"m\" transform=\"translate({x} {y}) rotate(-90)\">{}</text>\n",
                svg::escape(line)
            );
        }
        let frame = format!("M{} {}V{}H{}", at(left), at(top), at(bottom), at(right));
        format!("<path class=\"grid\" d=\"{grid}\"/>\n<path class=\"axis\" d=\"{frame}\"/>\n{text}")
    }
}

/// The class names of a categorical axis with their positions.
fn classes(axis: &Axis, extent: &Extent) -> Option<Vec<(f64, String)>> {
    let place = |(i, name): (usize, &String)| Some((extent.share(i as f64)?, name.clone()));
    (!axis.classes.is_empty()).then(|| axis.classes.iter().enumerate().filter_map(place).collect())
}

/// A centre that keeps the label inside the panel.
fn kept_inside(x: f64, label: &str) -> f64 {
    let half = width(label, TICK) / 2.0;
    x.min(WIDTH - 1.0 - half)
}

/// As many tick labels as fit side by side with some space between them.
fn fitting(x: &Extent, plot: &Rectangle) -> Vec<(f64, String)> {
    let apart = |ticks: &[(f64, String)]| {
        let ends: Vec<[f64; 2]> = ticks
            .iter()
            .map(|(share, label)| {
                let middle = kept_inside(plot.left + share * (plot.right - plot.left), label);
                let half = width(label, TICK) / 2.0;
                [middle - half, middle + half]
            })
            .collect();
        ends.windows(2).all(|pair| pair[0][1] + 6.0 <= pair[1][0])
    };
    let sets = (1..=7).rev().map(|most| x.ticks(most));
    sets.into_iter().find(|ticks| apart(ticks)).unwrap_or_else(|| x.ticks(1).into_iter().take(1).collect())
}

/// Name of an axis in the description of a panel.
pub(super) fn described(axis: &Axis) -> &str {
    if axis.label.is_empty() { "an unnamed axis" } else { &axis.label }
}
