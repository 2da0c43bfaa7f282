//! The front of a stage, for a person and for a script, and what someone prefers of it.

use crate::failure::Failure;
use crate::page::{accent, ledger, number, strong};
use rl4rla::curriculum::StageResult;
use rl4rla::discovery::{Offer, Preference, Stage};
use rl4rla::equivalence::name;
use rl4rla::program::{Signature, equation};
use serde_json::{Value, json};

/// The words of `--prefer`, and what each means.
const WORDS: [(&str, Preference); 3] = [
    ("accuracy", Preference { accuracy: 1.0, speed: 1e-3, stability: 1e-3 }),
    ("speed", Preference { accuracy: 1e-3, speed: 1.0, stability: 1e-3 }),
    ("stability", Preference { accuracy: 1e-3, speed: 1e-3, stability: 1.0 }),
];

/// A preference as typed: one word, or weights such as `accuracy=2,speed=1`.
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

/// The front as a script reads it, the most accurate first; places count from 1.
pub fn json(stage: &Stage, front: &[Offer]) -> Value {
    let signature = stage.grammar.signature;
    let offer = |(place, offer): (usize, &Offer)| {
        json!({
            "place": place + 1,
            "excess": offer.tradeoff.excess,
            "flops": offer.tradeoff.flops,
            "condition": offer.tradeoff.condition,
            "reward": offer.reward,
            "name": known(offer, signature),
            "equation": equation(&offer.program, signature).ok().map(|equation| equation.text),
            "program": signature.update.text(&offer.program),
        })
    };
    front.iter().enumerate().map(offer).collect()
}

fn known(offer: &Offer, signature: Signature) -> Option<&'static str> {
    name(&offer.program, signature).ok()?.entry().map(|entry| entry.name)
}

/// What is preferred of the last stage's front, as a script reads it.
pub fn preferred(run: &str, result: &StageResult, stage: &Stage, preference: Option<&Preference>) -> Value {
    let place = preference.and_then(|preference| preference.choose(&result.attempt.front));
    place.map_or(Value::Null, |place| {
        let mut chosen = json(stage, &result.attempt.front)[place].take();
        chosen["stage"] = json!(result.name);
        chosen["source"] = json!(source(run, place));
        chosen
    })
}

/// How a program of the last front is called in other commands.
fn source(run: &str, place: usize) -> String {
    format!("run:{run}#{}", place + 1)
}

/// The front of the last stage as a table.
pub fn text(result: &StageResult, stage: &Stage, preference: Option<&Preference>) -> String {
    let front = &result.attempt.front;
    if front.is_empty() {
        return String::new();
    }
    let chosen = preference.and_then(|preference| preference.choose(front));
    let signature = stage.grammar.signature;
    let own = result.program();
    let row = |(place, offer): (usize, &Offer)| {
        let formula = equation(&offer.program, signature).map_or(String::new(), |equation| equation.text);
        let marks = [(own == Some(&offer.program), "the one above"), (chosen == Some(place), "preferred")];
        let marks: Vec<&str> = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
        vec![
            format!("#{}", place + 1),
            number(offer.tradeoff.excess),
            number(offer.tradeoff.flops),
            number(offer.tradeoff.condition),
            accent(&known(offer, signature).map_or(formula, str::to_string)),
            strong(&marks.join(", ")),
        ]
    };
    let head = ["", "excess", "flops", "effective κ", "program", ""];
    let rows = front.iter().enumerate().map(row);
    let title = format!("Pareto front of the programs evaluated in {}", result.name);
    format!("{}\n{}", strong(&title), ledger(&head, rows, 1..4))
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
            assert!(preference(bad).unwrap_err().message().contains("--prefer"), "{bad}");
        }
    }
}
