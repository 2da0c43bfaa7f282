//! Placement of labels: near their points, without overlap, inside the panel.

use super::Ink;
use super::svg::{self, at, escape};

/// Font size of labels.
pub(super) const SIZE: f64 = 12.0;
const HEIGHT: f64 = 15.0;
/// Distance of a label from its point if nothing is in the way.
const NEAR: f64 = 7.0;
/// How many hidden points a leader line through a label is worth.
const CROSSING: usize = 20;

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rectangle {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rectangle {
    pub(super) fn meets(&self, other: &Rectangle) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn within(&self, outer: &Rectangle) -> bool {
        self.left >= outer.left
            && self.right <= outer.right
            && self.top >= outer.top
            && self.bottom <= outer.bottom
    }

    /// The point of the frame of a label at which its leader line ends.
    fn nearest(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [x.clamp(self.left, self.right), y.clamp(self.top + 2.0, self.bottom - 2.0)]
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }
}

/// A label to be placed, and its point.
pub(super) struct Wish {
    pub(super) text: String,
    pub(super) point: [f64; 2],
    pub(super) ink: Ink,
    /// Whether it labels the end of a line: such labels form a column, labels of dots stay close.
    pub(super) ends: bool,
}

/// A label with its position.
pub(super) struct Placed<'a> {
    pub(super) wish: &'a Wish,
    pub(super) frame: Rectangle,
    /// Whether it is so far from its point that a leader line is needed.
    led: bool,
}

/// Places the labels from top to bottom. Labels never overlap, and obstacles are avoided if possible. A label for
/// which there is no room is left out.
pub(super) fn place<'a>(wishes: &'a [Wish], obstacles: &[[f64; 2]], bounds: Rectangle) -> Vec<Placed<'a>> {
    let mut order: Vec<&Wish> = wishes.iter().collect();
    order.sort_by(|a, b| a.point[1].total_cmp(&b.point[1]).then(a.point[0].total_cmp(&b.point[0])));
    let mut placed: Vec<Placed> = Vec::new();
    for wish in order {
        let free = |frame: &Rectangle| frame.within(&bounds) && placed.iter().all(|p| !p.frame.meets(frame));
        let hidden = |frame: &Rectangle| obstacles.iter().filter(|point| frame.holds(**point)).count();
        // A leader line through another label is worse than a label on a point.
        let crossed = |frame: &Rectangle, led: bool| {
            let other = |other: &&Placed| {
                (led && through(wish.point, frame.nearest(wish.point), &other.frame))
                    || (other.led && through(other.wish.point, other.frame.nearest(other.wish.point), frame))
            };
            CROSSING * placed.iter().filter(other).count()
        };
        // Far from its point, a label costs as much as a few hidden points.
        let cost = |(place, (frame, led)): &(usize, (Rectangle, bool))| {
            10 * (hidden(frame) + crossed(frame, *led)) + place / 2
        };
        let width = svg::width(&wish.text, SIZE);
        let near = around(wish.point, width, wish.ends).enumerate().filter(|(_, (frame, _))| free(frame));
        let anywhere = || {
            let frames = everywhere(bounds, width).filter(free).map(|frame| (0, (frame, true)));
            frames.min_by_key(cost)
        };
        if let Some((_, (frame, led))) = near.min_by_key(cost).or_else(anywhere) {
            placed.push(Placed { wish, frame, led });
        }
    }
    placed
}

/// Whether a line passes through a rectangle, looked at in a few points.
fn through(from: [f64; 2], to: [f64; 2], frame: &Rectangle) -> bool {
    (1..16).any(|part| {
        let share = f64::from(part) / 16.0;
        frame.holds([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share])
    })
}

/// Candidate positions around a point, the best first, and whether they need a leader line.
fn around([x, y]: [f64; 2], width: f64, ends: bool) -> impl Iterator<Item = (Rectangle, bool)> {
    let frame = move |left: f64, middle: f64| {
        let top = middle - HEIGHT / 2.0;
        Rectangle { left, top, right: left + width, bottom: top + HEIGHT }
    };
    // To the right of the point, a little higher or lower if necessary.
    let beside = [0.0, -4.0, 4.0, -7.0, 7.0].map(|shift| (frame(x + NEAR, y + shift), false));
    let column = (1..8).flat_map(move |step| {
        let shift = 4.0 + 5.0 * f64::from(step);
        [shift, -shift].map(|shift| (frame(x + 2.0 * NEAR, y + shift), true))
    });
    let sides = [(0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    let reach = [NEAR, 16.0, 28.0, 42.0, 58.0, 76.0, 96.0, 120.0, 150.0];
    let others = reach.into_iter().flat_map(move |reach| {
        sides.into_iter().map(move |(dx, dy): (f64, f64)| {
            let left = match dx {
                0.0 => x - width / 2.0,
                1.0 => x + NEAR,
                _ if dy == 0.0 => x - reach - width,
                _ => x - NEAR - width,
            };
            (frame(left, y + dy * (reach + 5.0)), reach > NEAR)
        })
    });
    let near = others.clone().take(if ends { 0 } else { sides.len() });
    beside.into_iter().chain(near).chain(column).chain(others)
}

/// Candidate positions all over the panel.
fn everywhere(bounds: Rectangle, width: f64) -> impl Iterator<Item = Rectangle> {
    let rows = ((bounds.bottom - bounds.top) / HEIGHT).max(0.0) as usize;
    let columns = ((bounds.right - bounds.left - width) / 20.0).max(0.0) as usize + 1;
    (0..rows).flat_map(move |row| {
        (0..columns).rev().map(move |column| {
            let (left, top) = (bounds.left + 20.0 * column as f64, bounds.top + HEIGHT * row as f64);
            Rectangle { left, top, right: left + width, bottom: top + HEIGHT }
        })
    })
}

impl Placed<'_> {
    /// The label with its leader line.
    pub(super) fn svg(&self) -> String {
        let Rectangle { left, top, .. } = self.frame;
        let mut text = String::new();
        if self.led {
            let [x, y] = self.wish.point;
            let [nearest_x, nearest_y] = self.frame.nearest([x, y]);
            text += &format!(
                "<path class=\"axis\" d=\"M{} {}L{} {}\"/>\n",
                at(x),
                at(y),
                at(nearest_x),
                at(nearest_y)
            );
        }
        text + &format!(
            "<text class=\"c {}\" x=\"{}\" y=\"{}\">{}</text>\n",
            self.wish.ink.class(),
            at(left),
            at(top + 11.5),
            escape(&self.wish.text)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOUNDS: Rectangle = Rectangle { left: 50.0, top: 30.0, right: 350.0, bottom: 220.0 };

    fn wish(text: &str, x: f64, y: f64) -> Wish {
        Wish { text: text.into(), point: [x, y], ink: Ink(0), ends: text.len().is_multiple_of(2) }
    }

    #[test]
    fn a_name_alone_stands_right_of_its_point() {
        let wishes = [wish("best", 100.0, 100.0)];
        let placed = place(&wishes, &[], BOUNDS);
        assert!(placed[0].frame.left > 100.0 && placed[0].frame.left < 110.0 && !placed[0].led);
        assert!(!placed[0].svg().contains("path"));
    }

    #[test]
    fn names_at_one_place_move_apart_and_are_led_to() {
        let wishes: Vec<Wish> = (0..6).map(|i| wish(&format!("method {i}"), 260.0, 100.0)).collect();
        let placed = place(&wishes, &[], BOUNDS);
        assert_eq!(placed.len(), 6);
        assert!(placed.iter().any(|p| p.led && p.svg().contains("path")));
    }

    proptest! {
        #[test]
        fn names_never_overlap_and_never_leave(
            points in prop::collection::vec((40.0_f64..360.0, 20.0_f64..230.0, 1_usize..30), 0..40),
        ) {
            let wishes: Vec<Wish> = points.iter().map(|(x, y, n)| wish(&"n".repeat(*n), *x, *y)).collect();
            let obstacles: Vec<[f64; 2]> = points.iter().map(|(x, y, _)| [*x, *y]).collect();
            let placed = place(&wishes, &obstacles, BOUNDS);
            for (i, one) in placed.iter().enumerate() {
                prop_assert!(one.frame.within(&BOUNDS));
                for other in &placed[i + 1..] {
                    prop_assert!(!one.frame.meets(&other.frame));
                }
            }
            prop_assert!(placed.len() >= wishes.len().min(5));
        }
    }
}
