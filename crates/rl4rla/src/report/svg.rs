//! SVG primitives: escaped text, text widths, and short numbers.

/// Text escaped for XML and HTML, in an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML cannot represent these characters.
            c if (c.is_control() && !c.is_whitespace()) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate with at most two decimals; non-finite values become 0, so that the drawing stays valid.
pub(super) fn at(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".into(),
        short => short.into(),
    }
}

/// Upper estimate of the width of a line of text: fonts differ, so a wide one is assumed.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text.chars().map(advance).sum();
    em * size
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.44,
        'm' | 'M' | 'W' | 'w' | '@' | '%' | '&' | '→' | '−' | '·' | '×' | '±' => 0.92,
        '⁰'..='₟' | '²' | '³' | '¹' | 'ᵀ' => 0.46,
        'A'..='Z' => 0.73,
        c if c.is_ascii() => 0.64,
        // Scripts with full-width characters.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{ffdc}' | '\u{1f000}'.. => 1.1,
        _ => 0.7,
    }
}

/// Wraps text into lines of width `room`; words that are too long and excess lines are cut.
pub(super) fn wrap(text: &str, room: f64, size: f64, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match wrapped.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => wrapped.push(word.into()),
        }
    }
    let cut = wrapped.len() > lines;
    wrapped.truncate(lines);
    if let Some(last) = wrapped.last_mut().filter(|_| cut) {
        last.push('…');
    }
    wrapped.iter().map(|line| shorten(line, room, size)).collect()
}

/// A line cut to this width.
pub(super) fn shorten(line: &str, room: f64, size: f64) -> String {
    if width(line, size) <= room {
        return line.into();
    }
    let mut kept: String = line.trim_end_matches('…').into();
    while !kept.is_empty() && width(&kept, size) + width("…", size) > room {
        kept.pop();
    }
    kept.trim_end().to_string() + "…"
}

/// A line of text.
pub(super) fn text(class: &str, x: f64, y: f64, content: &str) -> String {
    format!("<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>\n", at(x), at(y), escape(content))
}

/// Lines of text, the baseline of the first one at `y`.
pub(super) fn lines(class: &str, x: f64, y: f64, leading: f64, content: &[String]) -> String {
    content
        .iter()
        .enumerate()
        .map(|(number, line)| text(class, x, y + leading * number as f64, line))
        .collect()
}

/// Where a drawing stands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Host {
    /// In a file of its own.
    File,
    /// In a page, as wide as there is room.
    Page,
    /// In a part of a page that scrolls, with this width.
    Scroller(f64),
}

/// The opening SVG tag: size, and a description for screen readers.
pub(super) fn open(class: &str, size: [f64; 2], host: Host, title: &str, about: &str) -> String {
    let [width, height] = size.map(at);
    let size = match host {
        Host::File => {
            format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"")
        }
        Host::Page => String::new(),
        Host::Scroller(shown) => format!(" width=\"{}\"", at(shown)),
    };
    let mut text = format!(
        "<svg{size} class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escape(title)
    );
    for (tag, content) in [("title", title), ("desc", about)] {
        if !content.is_empty() {
            text += &format!("<{tag}>{}</{tag}>\n", escape(content));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_means_something_is_escaped() {
        assert_eq!(
            escape("<a href=\"x\">'&'\u{0}</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;\u{fffd}&lt;/a&gt;"
        );
        assert_eq!(escape("Aᵀ ≤ b\n"), "Aᵀ ≤ b\n");
    }

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        let written = [1.0, 1.504, -0.001, 12.345_6, f64::NAN, f64::NEG_INFINITY, 100.0].map(at);
        assert_eq!(written, ["1", "1.5", "0", "12.35", "0", "0", "100"]);
    }

    #[test]
    fn lines_fit_and_lose_no_word_that_fits() {
        let text = "the excess residual against the iteration";
        let wrapped = wrap(text, 120.0, 12.0, 9);
        assert_eq!(wrapped.join(" "), text);
        assert!(wrapped.iter().all(|line| width(line, 12.0) <= 120.0));
        let cut = wrap(text, 120.0, 12.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1], 12.0) <= 120.0);
        assert!(width(&wrap(&"x".repeat(500), 120.0, 12.0, 2)[0], 12.0) <= 120.0);
        assert_eq!(wrap("", 120.0, 12.0, 2), [""; 0]);
    }
}
