//! Colours, dashes and markers: distinguishable without colour vision, readable on white and on black.

use super::svg::at;
use super::{Ink, Role};

/// A colour in light and in dark mode, its dash pattern and its marker.
struct Pot {
    light: &'static str,
    dark: &'static str,
    dash: &'static str,
}

/// The colours of series, after Okabe and Ito, darkened where necessary for contrast on white.
const POTS: [Pot; 8] = [
    Pot { light: "#0072b2", dark: "#5ab4f0", dash: "" },
    Pot { light: "#cc5500", dark: "#ff9a57", dash: "8 3" },
    Pot { light: "#00855f", dark: "#4fd1a5", dash: "2 3" },
    Pot { light: "#a3348c", dark: "#e590d6", dash: "9 3 2 3" },
    Pot { light: "#8a6a00", dark: "#e3c04b", dash: "4 2" },
    Pot { light: "#0e7f8c", dark: "#5fd6e6", dash: "12 3" },
    Pot { light: "#555b63", dark: "#b4bac2", dash: "5 2 1 2 1 2" },
    Pot { light: "#7a1f3d", dark: "#ef93a6", dash: "1 2" },
];

/// Colours that do not belong to a series: name, light mode, dark mode.
const SURFACES: [(&str, &str, &str); 9] = [
    ("paper", "#ffffff", "#14171b"),
    ("card", "#f6f7f9", "#1c2127"),
    ("text", "#1b1f24", "#e7eaee"),
    ("soft", "#57606c", "#a6afba"),
    ("grid", "#e5e8ec", "#2b3138"),
    ("line", "#8b949e", "#6e7783"),
    ("accent", "#0b5cad", "#7ab8ff"),
    ("good", "#1a7345", "#5fd39a"),
    ("bad", "#b3261e", "#ff8f85"),
];

/// CSS rules of all drawings; the first of two declarations is for viewers without support for CSS variables.
const RULES: &str = "\
.rl text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\",sans-serif;\
font-size:12px;fill:#1b1f24;fill:var(--rl-text)}
.rl .t{font-size:13px;font-weight:600}
.rl .h{font-size:15px;font-weight:600}
.rl .s{fill:#57606c;fill:var(--rl-soft)}
.rl .m{text-anchor:middle}.rl .e{text-anchor:end}
.rl .paper{fill:#fff;fill:var(--rl-paper)}
.rl .grid{fill:none;stroke:#e5e8ec;stroke:var(--rl-grid)}
.rl .axis{fill:none;stroke:#8b949e;stroke:var(--rl-line)}
.rl .l{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
.rl .d{fill:currentColor;stroke:#fff;stroke:var(--rl-paper);stroke-width:.8}
.rl .b{fill:currentColor;fill-opacity:.18;stroke:none}
.rl .n{fill:currentColor;fill-opacity:.1;stroke:currentColor;stroke-width:1.3}
.rl .a{fill:none;stroke:#8b949e;stroke:var(--rl-line);stroke-width:1.3}
.rl .p{fill:#8b949e;fill:var(--rl-line)}
.rl .x{fill:none;stroke:#57606c;stroke:var(--rl-soft);stroke-width:1.2}
.rl .c{fill:currentColor;paint-order:stroke;stroke:#fff;stroke:var(--rl-paper);stroke-width:3px;stroke-linejoin:round}
.rl .o{fill:#fff;fill:var(--rl-paper);stroke:currentColor;stroke-width:1.6}
.rl text.k{fill:#000}.rl text.w{fill:#fff}
";

/// The CSS variables of light or dark mode.
pub(super) fn variables(dark: bool) -> String {
    let surfaces = SURFACES.iter().map(|(name, day, night)| (name.to_string(), day, night));
    let inks = POTS.iter().enumerate().map(|(number, pot)| (format!("i{number}"), &pot.light, &pot.dark));
    let line = |(name, day, night)| format!("--rl-{name}:{};", if dark { night } else { day });
    surfaces.chain(inks).map(line).collect()
}

/// The CSS rules of drawings, without the variables.
pub(super) fn rules() -> String {
    let inks = POTS
        .iter()
        .enumerate()
        .map(|(number, pot)| format!(".rl .i{number}{{color:{};color:var(--rl-i{number})}}\n", pot.light));
    RULES.to_string() + &inks.collect::<String>()
}

/// The style sheet of a stand-alone drawing.
pub(super) fn style() -> String {
    format!(
        "<style>\n.rl{{{}}}\n@media (prefers-color-scheme:dark){{.rl{{{}}}}}\n{}</style>\n",
        variables(false),
        variables(true),
        rules()
    )
}

impl Ink {
    /// The CSS class that sets this colour.
    pub(super) fn class(self) -> String {
        format!("i{}", self.0 % POTS.len())
    }

    /// Its dash pattern as an attribute. Colours repeat after eight, but with different dashes.
    pub(super) fn dash(self) -> String {
        match POTS[(self.0 + self.0 / POTS.len() * 3) % POTS.len()].dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        }
    }

    /// Its marker around a point, as SVG path data.
    pub(super) fn marker(self, x: f64, y: f64, r: f64) -> String {
        let around = |corners: &[(f64, f64)]| {
            let places: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{} {}", at(x + dx * r), at(y + dy * r))).collect();
            format!("M{}Z", places.join("L"))
        };
        match (self.0 + self.0 / POTS.len() * 3) % POTS.len() {
            0 => format!(
                "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 -{} 0Z",
                at(x - r),
                at(y),
                at(2.0 * r),
                at(2.0 * r)
            ),
            1 => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            3 => around(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
            4 => around(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
            5 => around(&[
                (-0.4, -1.2),
                (0.4, -1.2),
                (0.4, -0.4),
                (1.2, -0.4),
                (1.2, 0.4),
                (0.4, 0.4),
                (0.4, 1.2),
                (-0.4, 1.2),
                (-0.4, 0.4),
                (-1.2, 0.4),
                (-1.2, -0.4),
                (-0.4, -0.4),
            ]),
            6 => around(&[(0.0, -1.2), (1.1, -0.4), (0.7, 0.9), (-0.7, 0.9), (-1.1, -0.4)]),
            _ => around(&[(-1.2, 0.0), (-0.6, -1.0), (0.6, -1.0), (1.2, 0.0), (0.6, 1.0), (-0.6, 1.0)]),
        }
    }
}

impl Role {
    /// The colour of its boxes.
    pub(super) fn ink(self) -> Ink {
        Ink(match self {
            Role::Base => 6,
            Role::Precondition => 0,
            Role::Project => 2,
            Role::Solve => 1,
            Role::Newton => 3,
            Role::Other => 5,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Contrast ratio of two colours, as defined by WCAG.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let channel = |at: usize| {
                let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_is_seen_by_day_and_by_night() {
        let surface = |wanted: &str| SURFACES.iter().find(|(name, ..)| *name == wanted).unwrap();
        let papers = [surface("paper"), surface("card")];
        let inks = POTS.iter().map(|pot| (pot.light, pot.dark, 3.0));
        let words =
            ["text", "soft", "accent", "good", "bad"].map(|name| (surface(name).1, surface(name).2, 4.5));
        for (light, dark, least) in inks.chain(words) {
            for (_, day, night) in papers {
                assert!(contrast(light, day) >= least, "{light} on {day}");
                assert!(contrast(dark, night) >= least, "{dark} on {night}");
            }
        }
    }

    #[test]
    fn many_inks_stay_distinct() {
        let looks: BTreeSet<_> = (0..24).map(|ink| (Ink(ink).class(), Ink(ink).dash())).collect();
        assert_eq!(looks.len(), 24);
        let markers: BTreeSet<_> = (0..8).map(|ink| Ink(ink).marker(5.0, 5.0, 3.0)).collect();
        assert_eq!(markers.len(), 8);
    }

    #[test]
    fn both_lights_name_the_same_variables() {
        let names = |dark| -> Vec<String> {
            variables(dark).split(';').map(|line| line.split(':').next().unwrap().into()).collect()
        };
        assert_eq!(names(false), names(true));
    }
}
