//! The output of a command, as text and JSON.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use rl4rla::data::visible;
pub use rl4rla::report::{duration, exact, number};
use serde_json::Value;
use std::path::Path;

/// The output of a command.
pub struct Page {
    /// JSON output.
    pub json: Value,
    /// Text output; colours are removed if not wanted.
    pub text: String,
    /// 0 for success, 1 for "ran, but the answer is no".
    pub code: u8,
}

impl Page {
    /// The page of a successful command.
    pub fn ok(json: Value, text: String) -> Page {
        Page { json, text, code: 0 }
    }

    /// The page of a command that has printed its result already.
    pub fn nothing(code: u8) -> Page {
        Page { json: Value::Null, text: String::new(), code }
    }

    /// Whether there is nothing to print.
    pub fn is_nothing(&self) -> bool {
        self.json.is_null() && self.text.is_empty()
    }
}

const STRONG: Style = Style::new().bold();
const ACCENT: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
const FAINT: Style = Style::new().dimmed();
const WARNING: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
const ERROR: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red))).bold();

/// Text in a style, each of its lines [`visible`], since it may come from outside.
fn styled(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", lines(text))
}

/// Lines of text from outside, without control sequences.
pub fn lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A path, safe to print in a terminal.
pub fn path(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// A page, safe to print in a terminal: our own styles are kept, all other control sequences are escaped.
pub fn printable(page: &str) -> String {
    // Errors are bold too, so the longer sequence is tried first.
    let ours = [ERROR, STRONG, ACCENT, FAINT, WARNING].map(|style| style.render().to_string());
    let reset = STRONG.render_reset().to_string();
    let mut safe = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        safe += &lines(before);
        let style = ours.iter().chain([&reset]).find(|style| from.starts_with(style.as_str()));
        let taken = style.map_or(1, String::len);
        safe += &style.cloned().unwrap_or_else(|| visible(&from[..taken]));
        rest = &from[taken..];
    }
    safe + &lines(rest)
}

/// A JSON document, safe to print in a terminal. JSON escapes most control characters; the rest occur only in
/// strings, where an escape means the same.
pub fn printable_json(json: &Value) -> String {
    let text = json.to_string();
    let escape =
        |c: char| match c == '\u{7f}' || !c.is_ascii() && visible(c.encode_utf8(&mut [0; 4])).len() > 4 {
            true => format!("\\u{:04x}", u32::from(c)),
            false => c.to_string(),
        };
    if text.is_ascii() && !text.contains('\u{7f}') { text } else { text.chars().map(escape).collect() }
}

/// A heading.
pub fn strong(text: &str) -> String {
    styled(STRONG, text)
}

/// A formula or a name.
pub fn accent(text: &str) -> String {
    styled(ACCENT, text)
}

/// A remark.
pub fn faint(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    styled(FAINT, text)
}

/// A warning.
pub fn warning(text: &str) -> String {
    styled(WARNING, text)
}

/// The head of an error.
pub fn error(text: &str) -> String {
    styled(ERROR, text)
}

/// A table without rules, fitted to the terminal.
pub fn table(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    columns(rows, 0..0)
}

/// The same with a heading, and numbers aligned right in some columns.
pub fn ledger(
    head: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    numbers: std::ops::Range<usize>,
) -> String {
    let head = head.iter().map(|cell| faint(cell)).collect();
    columns(std::iter::once(head).chain(rows), numbers)
}

fn columns(rows: impl IntoIterator<Item = Vec<String>>, numbers: std::ops::Range<usize>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // A terminal that does not know its width reports 0.
    if table.width().is_some_and(|width| width < 40) {
        table.set_width(80);
    }
    for row in rows {
        table.add_row(row);
    }
    for number in numbers {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A line of text indented by two.
pub fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A number of things: the noun is in the singular.
pub fn several(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Positive numbers on a logarithmic scale, as a line of bars.
pub fn sparkline(values: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let logs: Vec<f64> = values.iter().map(|v| v.max(1e-17).log10()).collect();
    let (low, high) = logs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let bar = |v: f64| match high - low {
        span if span > 0.0 => BARS[(((v - low) / span * 7.0).round() as usize).min(7)],
        _ => BARS[0],
    };
    logs.into_iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        let evil = "a\x1b[2J\x1b]0;title\x07\r\u{9b}31mb\u{202e}";
        for page in
            [strong(evil), faint(evil), format!("{} {evil}\n", accent("x")), table([vec![evil.into()]])]
        {
            let shown = anstream::adapter::strip_str(&printable(&page)).to_string();
            assert!(shown.contains("\\u{1b}[2J\\u{1b}]0;title\\u{7}\\r\\u{9b}31mb\\u{202e}"), "{shown:?}");
        }
        let page = format!("{}\n{}\n{}", strong("a"), warning("b"), error("c"));
        assert_eq!(printable(&page), page, "our own styles stay");
        // Foreign colours are removed: they could hide adjacent text.
        assert_eq!(printable("\x1b[8mhidden"), "\\u{1b}[8mhidden");
        let json = serde_json::json!({ "é\u{9b}\u{7f}": "\x1b" });
        let printed = printable_json(&json);
        assert_eq!(printed, "{\"é\\u009b\\u007f\":\"\\u001b\"}");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), json);
    }

    #[test]
    fn ledgers_put_numbers_flush_right() {
        let rows = ["9", "10"].map(|n| vec!["a".into(), n.into(), "b".into()]);
        let text = anstream::adapter::strip_str(&ledger(&["", "n", ""], rows, 1..2)).to_string();
        assert_eq!(text, "     n\n a   9  b\n a  10  b\n");
    }

    #[test]
    fn sparklines_fall_with_the_logarithm() {
        assert_eq!(sparkline(&[1.0, 1e-7]), "█▁");
        assert_eq!(sparkline(&[1.0, 1.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }
}
