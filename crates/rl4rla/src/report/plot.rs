//! Renders a figure as SVG: its panels in rows, with one legend above them.

use super::heat::BAR;
use super::panel::{WIDTH, described};
use super::svg::{self, Host, at, escape, width, wrap};
use super::{Figure, Ink, Label, Marker, Panel, Series, Shades, palette};

const LINE: f64 = 20.0;
/// Length of a line sample in the legend.
const SAMPLE: f64 = 30.0;
/// Maximum number of panels side by side in a page; `page.css` has a rule for each number.
const MOST_COLUMNS: usize = 4;

impl Figure {
    /// The figure as a self-contained SVG file.
    ///
    /// ```
    /// use rl4rla::report::{Axis, Figure, Ink, Marker, Panel, Series};
    /// let line = Series::new("ls-gd", Ink(0), Marker::Line, [[0.0, 1.0], [1.0, 0.1]]);
    /// let panel = Panel {
    ///     title: "κ = 100".into(),
    ///     x: Axis::linear("iteration"),
    ///     y: Axis::log("excess"),
    ///     series: vec![line],
    /// };
    /// let title = "Convergence".to_string();
    /// let figure = Figure { name: "history".into(), title, caption: String::new(), panels: vec![panel], columns: 1 };
    /// assert!(figure.svg().starts_with("<svg"));
    /// ```
    pub fn svg(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let full = WIDTH * columns as f64;
        let title = wrap(&self.title, full - 20.0, 16.0, 3);
        let mut top = 8.0 + LINE * title.len() as f64;
        let mut body = svg::lines("h m", full / 2.0, 22.0, LINE, &title);
        let (legend, height) = self.legend_svg(full, top + 4.0);
        body += &legend;
        top += height + 6.0;
        if let Some(shades) = self.heat() {
            body += &format!(
                "<g transform=\"translate({} {})\">\n{}</g>\n",
                at((full - BAR[0]) / 2.0),
                at(top),
                shades.bar()
            );
            top += BAR[1] + 6.0;
        }
        for row in self.panels.chunks(columns) {
            let height = tallest(row);
            for (number, panel) in row.iter().enumerate() {
                let [x, y] = [WIDTH * number as f64, top].map(at);
                body += &format!("<g transform=\"translate({x} {y})\">\n{}</g>\n", panel.body(height));
            }
            top += height;
        }
        let size = [full, top + 4.0];
        let [w, h] = size.map(at);
        svg::open("rl", size, Host::File, &self.title, &self.caption)
            + &palette::style()
            + &format!("<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n{body}</svg>\n")
    }

    /// The figure as it stands in a page with our [style sheet](super::style_sheet): its legend, and one SVG for each
    /// panel, so that they stack on a phone.
    pub fn html(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().clamp(1, MOST_COLUMNS));
        let rows = self.panels.chunks(columns).map(|row| (row, tallest(row)));
        let panels: String = rows
            .flat_map(|(row, height)| row.iter().map(move |panel| panel.svg_in_page(&self.title, height)))
            .collect();
        format!("{}<div class=\"panels columns-{columns}\">\n{panels}</div>\n", self.legend_html())
    }

    /// The entries of the legend: each name once, with the style of its first series that is not a band.
    pub(super) fn legend(&self) -> Vec<&Series> {
        let mut entries: Vec<&Series> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            let known = entries.iter().position(|entry| entry.name == series.name);
            match known {
                _ if series.label != Label::Legend || matches!(series.mark, Marker::Cells(_)) => {}
                None => entries.push(series),
                Some(place) if matches!(entries[place].mark, Marker::Band(_)) => entries[place] = series,
                Some(_) => {}
            }
        }
        entries
    }

    /// The legend in centred lines from `top` on, and its height.
    fn legend_svg(&self, full: f64, top: f64) -> (String, f64) {
        let mut lines: Vec<Vec<(&Series, String, f64)>> = Vec::new();
        let mut used = full;
        for series in self.legend() {
            let name = svg::shorten(&series.name, full - SAMPLE - 40.0, 12.0);
            let needs = SAMPLE + 6.0 + width(&name, 12.0) + 18.0;
            if used + needs > full - 16.0 {
                lines.push(vec![]);
                used = 0.0;
            }
            used += needs;
            lines.last_mut().expect("a line was begun").push((series, name, needs));
        }
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            let total: f64 = line.iter().map(|(.., needs)| needs).sum();
            let mut x = (full - total + 18.0) / 2.0;
            let y = top + LINE * number as f64 + LINE / 2.0;
            for (series, name, needs) in line {
                text += &sample(series, x, y);
                text += &svg::text("", x + SAMPLE + 6.0, y + 4.0, name);
                x += needs;
            }
        }
        (text, LINE * lines.len() as f64)
    }

    /// The legend as HTML.
    pub(super) fn legend_html(&self) -> String {
        let item = |series: &&Series| {
            let sample = sample(series, 1.0, 8.0);
            let [w, h] = [SAMPLE + 2.0, 16.0].map(at);
            format!(
                "<li><svg class=\"rl\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" aria-hidden=\"true\">\n\
                 {sample}</svg>{}</li>\n",
                escape(&series.name)
            )
        };
        let items: String = self.legend().iter().map(item).collect();
        let list = if items.is_empty() { items } else { format!("<ul class=\"legend\">\n{items}</ul>\n") };
        let bar = |shades: &Shades| {
            let about = "The colours of the cells";
            format!(
                "<div class=\"bar\">\n{}{}</svg>\n</div>\n",
                svg::open("rl", BAR, Host::Page, &shades.label, about),
                shades.bar()
            )
        };
        list + &self.heat().map(bar).unwrap_or_default()
    }

    /// The colour scale of its heat maps, if it has any.
    pub(super) fn heat(&self) -> Option<&Shades> {
        self.panels.iter().flat_map(|panel| &panel.series).find_map(|series| match &series.mark {
            Marker::Cells(shades) => Some(shades),
            _ => None,
        })
    }
}

/// The height of a row of panels: that of the one that needs the most.
fn tallest(row: &[Panel]) -> f64 {
    row.iter().map(Panel::height).fold(0.0, f64::max)
}

/// A sample of a series for the legend.
fn sample(series: &Series, x: f64, y: f64) -> String {
    let Series { ink, mark, .. } = series;
    let marker = |ink: &Ink| format!("<path class=\"d\" d=\"{}\"/>", ink.marker(x + SAMPLE / 2.0, y, 3.6));
    let drawn = match mark {
        Marker::Band(_) => {
            format!("<path class=\"b\" d=\"M{} {}h{}v12h-{}Z\"/>", at(x), at(y - 6.0), at(SAMPLE), at(SAMPLE))
        }
        Marker::Dots => marker(ink),
        Marker::Cells(_) => String::new(),
        Marker::Line | Marker::Steps => {
            let line = format!("M{} {}h{}", at(x), at(y), at(SAMPLE));
            format!("<path class=\"l\"{} d=\"{line}\"/>{}", ink.dash(), marker(ink))
        }
    };
    format!("<g class=\"{}\">{drawn}</g>\n", ink.class())
}

impl Panel {
    /// The panel as SVG for embedding in a page, whose style it uses.
    pub(super) fn svg_in_page(&self, figure: &str, height: f64) -> String {
        let title = if self.title.is_empty() { figure } else { &self.title };
        let names: Vec<&str> =
            self.series.iter().filter(|s| s.label != Label::Hidden).map(|s| s.name.as_str()).collect();
        let about = format!("{} against {}: {}", described(&self.y), described(&self.x), names.join(", "));
        svg::open("rl", [WIDTH, height], Host::Page, title, &about) + &self.body(height) + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{figure, labelled, well_formed};
    use super::*;
    use crate::report::Axis;
    use proptest::prelude::*;

    #[test]
    fn a_figure_names_its_series_once_and_its_axes() {
        let mut figure = figure();
        figure.panels.push(figure.panels[0].clone());
        let svg = figure.svg();
        well_formed(&svg);
        assert_eq!(svg.matches(">ls-gd &lt;1&gt;</text>").count(), 1);
        assert_eq!(svg.matches(">iteration</text>").count(), 2);
        assert_eq!(svg.matches("<title>").count(), 1);
        assert!(svg.contains("prefers-color-scheme:dark"));
        assert_eq!(svg, figure.svg());
    }

    #[test]
    fn the_legend_wraps_where_it_is_full() {
        let mut figure = figure();
        let one = figure.panels[0].series[1].clone();
        figure.panels[0].series =
            (0..20).map(|i| Series { name: format!("series number {i}"), ..one.clone() }).collect();
        let heights: std::collections::BTreeSet<String> = figure
            .svg()
            .lines()
            .filter(|line| line.contains(">series number"))
            .map(|line| line.split(" y=").nth(1).unwrap().split('"').nth(1).unwrap().into())
            .collect();
        assert!(heights.len() > 5, "{heights:?}");
    }

    #[test]
    fn texts_of_a_panel_keep_apart() {
        for panel in labelled() {
            let boxes = super::super::testing::boxes(&panel.body(panel.height()));
            assert!(boxes.len() > 8);
            for (i, (one, a)) in boxes.iter().enumerate() {
                assert!(
                    a[0] >= 0.0 && a[2] <= WIDTH && a[1] >= 0.0 && a[3] <= panel.height(),
                    "{one} is outside: {a:?}"
                );
                for (other, b) in &boxes[i + 1..] {
                    let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                    assert!(apart, "{one} {a:?} and {other} {b:?}");
                }
            }
        }
    }

    fn hostile() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(0.0),
            Just(-0.0),
            Just(1e308),
            Just(-1e308),
            Just(5e-324),
            Just(1.0),
            -10.0_f64..10.0,
        ]
    }

    proptest! {
        #[test]
        fn no_data_break_a_figure(
            points in prop::collection::vec([hostile(), hostile()], 0..12),
            upper in prop::collection::vec(hostile(), 0..12),
            name in "\\PC{0,12}",
            range in prop::option::of([hostile(), hostile()]),
            columns in 0_usize..4,
        ) {
            let shades = Shades { label: name.clone(), values: upper.clone(), ends: range.unwrap_or([1e-9, 1.0]) };
            let marks = [Marker::Line, Marker::Steps, Marker::Dots, Marker::Band(upper), Marker::Cells(shades)];
            let series = |(i, mark): (usize, Marker)| {
                let label = [Label::Legend, Label::Beside, Label::Hidden][i % 3];
                Series::new(name.clone(), Ink(i), mark, points.clone()).labelled(label)
            };
            let series: Vec<Series> = marks.into_iter().enumerate().map(series).collect();
            let axis = |axis: Axis| Axis { range, ..axis };
            let (x, y) = (axis(Axis::linear(name.clone())), axis(Axis::log(name.clone())));
            let panel = Panel { title: name.clone(), x: x.clone(), y: y.clone(), series };
            let turned = Panel { x: y, y: x, ..panel.clone() };
            let (title, caption) = (name.clone(), name.clone());
            let figure = Figure { name, title, caption, panels: vec![panel, turned], columns };
            let svg = figure.svg();
            well_formed(&svg);
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
