//! Renders a diagram as SVG: boxes sized to their text, arrows behind them, a legend below.

use super::labels::Rectangle;
use super::svg::{self, Host, at, width, wrap};
use super::{Diagram, DiagramNode, palette};

const TITLE: f64 = 13.8;
const REMARK: f64 = 12.0;
const LEADING: f64 = 16.0;
/// Padding between a box and its text.
const PAD: f64 = 11.0;
/// Minimum gaps between boxes, horizontal and vertical.
const GAP: [f64; 2] = [44.0, 30.0];
/// Maximum width of the text in a box.
const ROOM: f64 = 300.0;
const EDGE: f64 = 8.0;
/// The room that a phone has, and the smallest scale at which text is readable.
const PHONE: f64 = 356.0;
const SMALLEST: f64 = 0.94;

/// A box with its text and position.
struct Placed {
    title: Vec<String>,
    remark: Vec<String>,
    frame: Rectangle,
}

impl Placed {
    fn middle(&self) -> [f64; 2] {
        let Rectangle { left, top, right, bottom } = self.frame;
        [(left + right) / 2.0, (top + bottom) / 2.0]
    }
}

impl Diagram {
    /// The diagram as a self-contained SVG file.
    pub fn svg(&self) -> String {
        self.draw(true)
    }

    /// The diagram for embedding in a page, whose style it uses.
    pub(super) fn svg_in_page(&self) -> String {
        self.draw(false)
    }

    fn draw(&self, alone: bool) -> String {
        let mut boxes: Vec<Placed> = self.nodes.iter().map(Placed::of).collect();
        let right = self.arrange(&mut boxes);
        // Labels of vertical arrows may extend beyond the boxes.
        let words = self.arrows.iter().filter_map(|(from, to, label)| {
            let (a, b) = (self.nodes.get(*from)?, self.nodes.get(*to)?);
            (a.column == b.column).then(|| boxes[*to].middle()[0] + 9.0 + width(label, REMARK))
        });
        let right = words.fold(right, f64::max);
        let full = (right + EDGE).max(width(&self.title, 16.0).min(340.0) + 2.0 * EDGE);
        let title = if alone { wrap(&self.title, full - 2.0 * EDGE, 16.5, 3) } else { vec![] };
        let top = EDGE + 24.0 * title.len() as f64;
        for placed in &mut boxes {
            placed.frame.top += top;
            placed.frame.bottom += top;
        }
        let bottom = boxes.iter().map(|placed| placed.frame.bottom).fold(top, f64::max);
        let mut body = svg::lines("h m", full / 2.0, 22.0, 20.0, &title) + &self.arrows(&boxes);
        for (node, placed) in self.nodes.iter().zip(&boxes) {
            body += &placed.svg(node);
        }
        let (legend, height) = self.legend_svg(full, bottom + 12.0);
        let size = [full, bottom + height + EDGE];
        let [w, h] = size.map(at);
        // A little smaller, where that spares a phone to scroll or others some of it; text stays readable.
        let shown = full.min((SMALLEST * full).max(PHONE));
        let host = if alone { Host::File } else { Host::Scroller(shown) };
        let mut text = svg::open("rl", size, host, &self.title, &self.described());
        if alone {
            text += &palette::style();
            text += &format!("<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n");
        }
        format!("{text}{body}{legend}</svg>\n")
    }

    /// A description of the arrows in words, for screen readers.
    fn described(&self) -> String {
        let name = |node: usize| self.nodes.get(node).map(|node| node.title.as_str());
        let arrow =
            |(from, to, _): &(usize, usize, String)| Some(format!("{} → {}", name(*from)?, name(*to)?));
        self.arrows.iter().filter_map(arrow).collect::<Vec<_>>().join("; ")
    }

    /// Positions the boxes, with columns as wide as necessary; returns the right edge.
    fn arrange(&self, boxes: &mut [Placed]) -> f64 {
        let mut columns: Vec<usize> = self.nodes.iter().map(|node| node.column).collect();
        columns.sort_unstable();
        columns.dedup();
        let row = |node: &DiagramNode| if node.row.is_finite() { node.row.clamp(-1e3, 1e3) } else { 0.0 };
        let rows = Rows::of(self.nodes.iter().map(row).zip(boxes.iter().map(|placed| placed.frame.bottom)));
        let mut left = EDGE;
        let mut right = EDGE;
        for column in columns {
            let inside: Vec<usize> = (0..boxes.len()).filter(|i| self.nodes[*i].column == column).collect();
            let widest = inside.iter().map(|i| boxes[*i].frame.right).fold(0.0, f64::max);
            if left > EDGE {
                let into =
                    self.arrows.iter().filter(|(from, to, _)| inside.contains(to) && !inside.contains(from));
                let words = into.map(|(.., label)| width(label, REMARK) + 24.0).fold(0.0, f64::max);
                left += GAP[0].max(words);
            }
            for i in inside {
                let Rectangle { bottom: height, .. } = boxes[i].frame;
                // Boxes of one row share a centre line, whatever their heights.
                let middle = rows.middle(row(&self.nodes[i]));
                let (top, bottom) = (middle - height / 2.0, middle + height / 2.0);
                boxes[i].frame = Rectangle { left, top, right: left + widest, bottom };
            }
            right = left + widest;
            left = right;
        }
        right
    }

    fn arrows(&self, boxes: &[Placed]) -> String {
        let mut text = String::new();
        let mut taken: Vec<Rectangle> = boxes.iter().map(|placed| placed.frame).collect();
        for (from, to, label) in &self.arrows {
            let (Some(a), Some(b)) = (boxes.get(*from), boxes.get(*to)) else { continue };
            let upright = self.nodes[*from].column == self.nodes[*to].column;
            let forward = if upright { a.frame.top <= b.frame.top } else { a.frame.left <= b.frame.left };
            let sign = if forward { 1.0 } else { -1.0 };
            let ([ax, ay], [bx, by]) = (a.middle(), b.middle());
            let (start, end) = match (upright, forward) {
                (true, true) => ([ax, a.frame.bottom], [bx, b.frame.top]),
                (true, false) => ([ax, a.frame.top], [bx, b.frame.bottom]),
                (false, true) => ([a.frame.right, ay], [b.frame.left, by]),
                (false, false) => ([a.frame.left, ay], [b.frame.right, by]),
            };
            text += &arrow(start, end, upright, sign);
            if !label.is_empty() {
                let wide = width(label, REMARK);
                let [x, y] = match upright {
                    true => [end[0] + 9.0, (start[1] + end[1]) / 2.0 + 4.0],
                    false => {
                        // On the side that the line does not come from.
                        let y = end[1] + if by > ay + 1.0 { 15.0 } else { -6.0 };
                        [end[0] - sign * (12.0 + wide / 2.0) - wide / 2.0, y]
                    }
                };
                let frame = |y: f64| Rectangle { left: x, top: y - 11.0, right: x + wide, bottom: y + 3.0 };
                let shifts = [0.0, 21.0, -21.0, 36.0, -36.0, 51.0, -51.0].map(|shift| y + shift);
                let free = shifts.into_iter().find(|y| taken.iter().all(|other| !other.meets(&frame(*y))));
                let y = free.unwrap_or(y);
                taken.push(frame(y));
                text += &svg::text("s", x, y, label);
            }
        }
        text
    }

    fn legend_svg(&self, full: f64, top: f64) -> (String, f64) {
        let (mut x, mut y) = (EDGE, top + 8.0);
        let mut text = String::new();
        for (role, name) in &self.legend {
            let name = svg::shorten(name, full - 2.0 * EDGE - 24.0, REMARK);
            let needs = 18.0 + width(&name, REMARK) + 18.0;
            if x > EDGE && x + needs > full {
                (x, y) = (EDGE, y + 20.0);
            }
            let mark = role.ink().marker(x + 6.0, y, 4.5);
            text += &format!("<g class=\"{}\"><path class=\"d\" d=\"{mark}\"/></g>\n", role.ink().class());
            text += &svg::text("", x + 18.0, y + 4.0, &name);
            x += needs;
        }
        (text, if self.legend.is_empty() { 0.0 } else { y - top + 20.0 })
    }
}

/// Centre lines of the rows, each row as high as its boxes; half rows lie between whole ones.
struct Rows {
    first: f64,
    middles: Vec<f64>,
}

impl Rows {
    fn of(boxes: impl Iterator<Item = (f64, f64)>) -> Rows {
        let boxes: Vec<(f64, f64)> = boxes.collect();
        let first = boxes.iter().map(|(row, _)| row.floor()).fold(f64::INFINITY, f64::min);
        let last = boxes.iter().map(|(row, _)| row.ceil()).fold(first, f64::max);
        let tallest = boxes.iter().map(|(_, height)| *height).fold(0.0, f64::max);
        let all_whole = boxes.iter().all(|(row, _)| row.fract() == 0.0);
        let mut top = 0.0;
        let middle = |number: usize| {
            let own =
                boxes.iter().filter(|(row, _)| *row == first + number as f64).map(|(_, height)| *height);
            // Boxes between rows need the space of the tallest box.
            let height = if all_whole { own.fold(0.0, f64::max) } else { tallest };
            top += height + GAP[1];
            top - GAP[1] - height / 2.0
        };
        let count = if first.is_finite() { (last - first) as usize + 1 } else { 0 };
        Rows { first, middles: (0..count).map(middle).collect() }
    }

    fn middle(&self, row: f64) -> f64 {
        let place = row - self.first;
        let (low, high) = (self.middles[place.floor() as usize], self.middles[place.ceil() as usize]);
        low + (high - low) * place.fract()
    }
}

/// A curve with horizontal or vertical ends, and an arrow head.
fn arrow(start: [f64; 2], end: [f64; 2], upright: bool, sign: f64) -> String {
    let ([x0, y0], [x1, y1]) = (start, end);
    // The line ends at the base of the head, so that it does not show at the tip.
    let (tip, head) = match upright {
        true => ([x1, y1 - sign * 7.0], [[x1 - 4.0, y1 - sign * 8.0], [x1 + 4.0, y1 - sign * 8.0]]),
        false => ([x1 - sign * 7.0, y1], [[x1 - sign * 8.0, y1 - 4.0], [x1 - sign * 8.0, y1 + 4.0]]),
    };
    let [bend0, bend1] = match upright {
        true => [[x0, (y0 + tip[1]) / 2.0], [tip[0], (y0 + tip[1]) / 2.0]],
        false => [[tip[0] - sign * 30.0, y0], [tip[0] - sign * 24.0, y1]],
    };
    let place = |[x, y]: [f64; 2]| format!("{} {}", at(x), at(y));
    let curve = format!("M{}C{} {} {}", place(start), place(bend0), place(bend1), place(tip));
    let head = format!("M{}L{}L{}Z", place(end), place(head[0]), place(head[1]));
    format!("<path class=\"a\" d=\"{curve}\"/>\n<path class=\"p\" d=\"{head}\"/>\n")
}

impl Placed {
    /// A box sized to its text, not positioned yet.
    fn of(node: &DiagramNode) -> Placed {
        let title = wrap(&node.title, ROOM - 18.0, TITLE, 2);
        let remark = wrap(&node.remark, ROOM, REMARK, 4);
        let widest = |lines: &[String], size| lines.iter().map(|line| width(line, size)).fold(0.0, f64::max);
        let words = (widest(&title, TITLE) + 18.0).max(widest(&remark, REMARK)).max(40.0);
        let lines = (title.len() + remark.len()).max(1) as f64;
        let frame = Rectangle {
            left: 0.0,
            top: 0.0,
            right: words + 2.0 * PAD,
            bottom: lines * LEADING + 2.0 * PAD - 4.0,
        };
        Placed { title, remark, frame }
    }

    fn svg(&self, node: &DiagramNode) -> String {
        let Rectangle { left, top, right, bottom } = self.frame;
        let [x, y, w, h] = [left, top, right - left, bottom - top].map(at);
        let rect = |class: &str| {
            format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"6\"/>")
        };
        let ink = node.role.ink();
        // A role has a shape as well as a colour, for colour-blind readers.
        let mark = ink.marker(left + PAD + 5.0, top + PAD + 6.5, 4.5);
        let (text, first) = (left + PAD, top + PAD + 11.0);
        format!(
            "{}\n<g class=\"{}\">{}<path class=\"d\" d=\"{mark}\"/></g>\n",
            rect("paper"),
            ink.class(),
            rect("n")
        ) + &svg::lines("t", text + 18.0, first, LEADING, &self.title)
            + &svg::lines("s", text, first + LEADING * self.title.len() as f64, LEADING, &self.remark)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{boxes, well_formed};
    use super::*;
    use crate::report::Role;

    fn node(title: &str, role: Role, column: usize, row: f64) -> DiagramNode {
        DiagramNode {
            title: title.into(), remark: "xₜ₊₁ = xₜ − η (A xₜ − b)".into(), role, column, row
        }
    }

    fn tree() -> Diagram {
        let arrow = |from, to, label: &str| (from, to, label.to_string());
        Diagram {
            name: "tree".into(),
            title: "Methods <and> more".into(),
            caption: "From left to right.".into(),
            nodes: vec![
                node("root", Role::Base, 0, 0.5),
                node("a", Role::Precondition, 1, 0.0),
                node("b & c", Role::Project, 1, 1.0),
                node("leaf", Role::Newton, 7, 0.5),
            ],
            arrows: vec![
                arrow(0, 1, "κ"),
                arrow(0, 2, ""),
                arrow(1, 3, "one"),
                arrow(2, 3, "two"),
                arrow(9, 1, "x"),
            ],
            legend: vec![(Role::Base, "a step".into()), (Role::Newton, "Newton".into())],
        }
    }

    #[test]
    fn boxes_arrows_and_words_are_there_and_keep_apart() {
        let svg = tree().svg();
        well_formed(&svg);
        assert_eq!((svg.matches("class=\"n\"").count(), svg.matches("class=\"p\"").count()), (4, 4));
        let texts = boxes(&svg);
        for (i, (one, a)) in texts.iter().enumerate() {
            for (other, b) in &texts[i + 1..] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(apart, "{one} {a:?} and {other} {b:?}");
            }
        }
    }

    #[test]
    fn hostile_places_draw_something() {
        for row in [f64::NAN, f64::INFINITY, -1e308, 3.0] {
            let mut diagram = tree();
            diagram.nodes[1].row = row;
            diagram.nodes[2].column = usize::MAX;
            let svg = diagram.svg();
            well_formed(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
        let empty = Diagram { nodes: vec![], arrows: vec![], legend: vec![], ..tree() };
        well_formed(&empty.svg());
    }
}
