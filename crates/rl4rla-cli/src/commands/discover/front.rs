//! The Pareto front of a stage as text, and the user's preference.

use crate::failure::Failure;
use crate::page::{accent, ledger, number, strong};
use rl4rla::discovery::Preference;
use rl4rla::record::{FrontEntry, PreferredEntry, StageRecord};

/// The words of `--prefer`, with their weights.
const WORDS: [(&str, Preference); 3] = [
    ("accuracy", Preference { accuracy: 1.0, speed: 1e-3, stability: 1e-3 }),
    ("speed", Preference { accuracy: 1e-3, speed: 1.0, stability: 1e-3 }),
    ("stability", Preference { accuracy: 1e-3, speed: 1e-3, stability: 1.0 }),
];

/// Parses a preference: one word, or weights such as `accuracy=2,speed=1`.
pub fn preference(text: &str) -> Result<Preference, Failure> {
    if let Some((_, preference)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(*preference);
    }
    let refused = || {
        let message = format!("--prefer takes accuracy, speed, stability, or weights of them, got `{text}`");
        Failure::new(message).advise("--prefer speed, or --prefer accuracy=2,speed=1")
    };
    let mut preference = Preference { accuracy: 0.0, speed: 0.0, stability: 0.0 };
    for part in text.split(',') {
        let (word, weight) = part.split_once('=').ok_or_else(refused)?;
        let weight: f64 = weight.trim().parse().map_err(|_| refused())?;
        let place = match word.trim() {
            "accuracy" => &mut preference.accuracy,
            "speed" => &mut preference.speed,
            "stability" => &mut preference.stability,
            _ => return Err(refused()),
        };
        *place = Some(weight).filter(|w| w.is_finite() && *w >= 0.0).ok_or_else(refused)?;
    }
    Ok(preference)
}

/// The Pareto front of the last stage as a table.
pub fn text(result: &StageRecord, preferred: Option<&PreferredEntry>) -> String {
    if result.front.is_empty() {
        return String::new();
    }
    let row = |entry: &FrontEntry| {
        let marks = [
            (result.program.as_ref() == Some(&entry.program), "the one above"),
            (preferred.is_some_and(|preferred| preferred.entry.place == entry.place), "preferred"),
        ];
        let marks: Vec<&str> = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
        vec![
            format!("#{}", entry.place),
            number(entry.tradeoff.excess),
            number(entry.tradeoff.flops),
            number(entry.tradeoff.condition),
            accent(entry.name.as_ref().or(entry.equation.as_ref()).map_or("", String::as_str)),
            strong(&marks.join(", ")),
        ]
    };
    let head = ["", "excess", "flops", "effective κ", "program", ""];
    let title = format!("Pareto front of the programs evaluated in {}", result.name);
    format!("{}\n{}", strong(&title), ledger(&head, result.front.iter().map(row), 1..4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_words_or_weights() {
        assert_eq!(preference("speed").unwrap().speed, 1.0);
        let weights = preference("accuracy=2, speed=1").unwrap();
        assert_eq!((weights.accuracy, weights.speed, weights.stability), (2.0, 1.0, 0.0));
        for bad in ["", "fast", "speed=", "speed=x", "speed=-1", "speed=inf", "beauty=1"] {
            assert!(preference(bad).unwrap_err().to_string().contains("--prefer"), "{bad}");
        }
    }
}
