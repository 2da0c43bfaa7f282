//! What a command has to say, for a person and for a script.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

/// The output of a command.
pub struct Page {
    /// For a script.
    pub json: Value,
    /// For a person; colours are taken out where they are not wanted.
    pub text: String,
    /// 0 for success, 1 for "ran, but the answer is no".
    pub code: u8,
}

impl Page {
    /// A command that did what it was asked.
    pub fn ok(json: Value, text: String) -> Page {
        Page { json, text, code: 0 }
    }
}

/// A heading.
pub fn strong(text: &str) -> String {
    let style = Style::new().bold();
    format!("{style}{text}{style:#}")
}

/// A formula or a name.
pub fn accent(text: &str) -> String {
    let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    format!("{style}{text}{style:#}")
}

/// A remark.
pub fn faint(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let style = Style::new().dimmed();
    format!("{style}{text}{style:#}")
}

/// A warning.
pub fn warning(text: &str) -> String {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    format!("{style}{text}{style:#}")
}

/// A table without lines, as wide as the terminal.
pub fn table(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    columns(rows, 0..0)
}

/// The same under a heading, with numbers flush right in some columns.
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
    // A terminal that does not know its width says 0.
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

/// A number to three significant digits, as short as it goes.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        a if (1e-3..1e4).contains(&a) => {
            let digits = if a >= 100.0 {
                0
            } else if a >= 10.0 {
                1
            } else if a >= 1.0 {
                2
            } else {
                4
            };
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

/// A time, as short as it goes.
pub fn duration(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// The course of positive numbers on a logarithmic scale, as a line of bars.
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
    fn numbers_are_short() {
        let shown = [0.0, 0.5, 12.345, 123.4, 1e-7, 5e8].map(number);
        assert_eq!(shown, ["0", "0.5000", "12.3", "123", "1.00e-7", "5.00e8"]);
    }

    #[test]
    fn times_are_short() {
        assert_eq!([0.0, 0.0234, 0.0996, 75.04].map(duration), ["0 ms", "23 ms", "0.1 s", "75.0 s"]);
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
