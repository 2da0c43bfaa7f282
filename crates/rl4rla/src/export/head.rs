//! Header comment of every exported file: what the program computes, its name, its settings and its origin.

use super::defaults::Parameter;
use super::subject::Export;
use crate::program::Poly;

/// The header as lines of plain text, without comment markers.
pub fn head(export: &Export) -> Vec<String> {
    let document = export.document;
    let mut lines = vec![export.title().to_string()];
    lines.extend(export.provenance.known.iter().filter(|known| *known != export.title()).cloned());
    if !document.about.is_empty() {
        lines.push(document.about.clone());
    }
    if !document.reference.is_empty() {
        lines.push(format!("Reference: {}", document.reference));
    }
    lines.push(String::new());
    let equation = export.equation.text.replacen(", where ", "\nwhere ", 1).replace("; ", "\n      ");
    lines.extend(equation.lines().map(|line| format!("    {line}")));
    lines.push(String::new());
    lines.push(format!("Flops: {}.", flops(export)));
    lines.push(format!("Symbols: {}.", symbols(export)));
    lines.push(format!("Settings: {}.", settings(export)));
    if export.listing.loops() {
        lines.push(format!("It ends where {}.", export.run_loop.stop()));
    }
    lines.push(format!(
        "Origin: {}; exported by rl4rla {}.",
        export.provenance.words(),
        export.provenance.version
    ));
    lines.iter().flat_map(|line| wrapped(&plain(line))).collect()
}

/// Maximum line length.
const WIDTH: usize = 100;

/// Wraps a long line; continuation lines are indented. Formulas are not broken.
fn wrapped(line: &str) -> Vec<String> {
    if line.starts_with(' ') || line.is_empty() {
        return vec![line.into()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.chars().count() + word.chars().count() < WIDTH => *last += &format!(" {word}"),
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.into()),
        }
    }
    lines
}

/// The header as a comment.
pub fn comment(export: &Export, sign: &str) -> String {
    head(export).iter().map(|line| format!("{}\n", format!("{sign} {line}").trim_end())).collect()
}

/// The text on one line, with characters removed that an editor would not display as they are.
pub fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect()
}

/// The cost, as polynomials.
pub fn flops(export: &Export) -> String {
    let [setup, iteration, refresh] = export.flops().map(|flops: Poly| flops.to_string());
    let each = match refresh.as_str() {
        "0" => "in every iteration".to_string(),
        refresh => format!("in every iteration and {refresh} every k iterations"),
    };
    match (setup == "0", export.listing.loops()) {
        (true, true) => format!("{iteration} {each}"),
        (false, true) => format!("{setup} once and {iteration} {each}"),
        (true, false) => iteration,
        (false, false) => format!("{setup} + {iteration}"),
    }
}

/// Legend of the symbols used.
fn symbols(export: &Export) -> String {
    let mut words = vec![match export.is_square() {
        true => "A is n×n".to_string(),
        false => "A is m×n".to_string(),
    }];
    let parameters = Parameter::of(&export.listing);
    words.extend(
        parameters.into_iter().map(|parameter| format!("{} {}", parameter.symbol(), parameter.doc())),
    );
    if flops(export).contains('ζ') {
        words.push("ζ the flops that a sketch spends on an entry".into());
    }
    words.join(", ")
}

/// The default settings.
fn settings(export: &Export) -> String {
    let defaults = &export.defaults;
    let mut words = Vec::new();
    if !export.document.family.is_empty() {
        words.push(format!("family {}", export.document.family));
    }
    for parameter in Parameter::of(&export.listing) {
        let found = parameter == Parameter::Step && export.step().is_none();
        let sign = if found { "" } else { "= " };
        words.push(format!("{} {sign}{}", parameter.symbol(), parameter.default(export)));
    }
    if export.listing.has_sketch() {
        words.push(format!("{} sketch ({})", defaults.sketch, defaults.sketch.summary()));
    }
    if export.listing.has_sample() {
        words.push(defaults.sampling_words().into());
    }
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_and_formulas_are_not() {
        let words = ["word"; 50].join(" ");
        let lines = wrapped(&words);
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "), words);
        assert_eq!(wrapped(&format!("    {words}")).len(), 1);
        assert_eq!(wrapped(""), [""]);
    }
}
