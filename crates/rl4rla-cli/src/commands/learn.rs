//! `rl4rla learn`.

use crate::args::{Learn, Shared};
use crate::curriculum;
use crate::failure::Failure;
use crate::interrupt::Terminal;
use crate::output::Outputs;
use crate::page::{Page, accent, faint, ledger, number, path, strong};
use rl4rla::data::write_whole;
use rl4rla::experiment::{HeldOutLikelihood, LearnedPolicy, Lessons};
use rl4rla::store::Store;
use serde_json::json;
use std::io::Write;

/// Number of weights shown.
const SHOWN: usize = 12;

/// Fits a policy to the searches in the store.
pub fn run(args: &Learn, shared: &Shared) -> Result<Page, Failure> {
    let without = args.without.iter().map(curriculum::find).collect::<Result<Vec<_>, _>>()?;
    if let Some(out) = &args.out {
        Outputs::new(shared).writes("--out", out)?;
    }
    let store = Store::open_read_only(&shared.store)?;
    let lessons = Lessons::of(&store, &Terminal)?;
    let policy = LearnedPolicy::train(&lessons, &without)?;
    if let Some(out) = &args.out {
        let written = write_whole(out, |file| file.write_all(policy.text().as_bytes()));
        written.map_err(|error| Failure::new(format!("cannot write {}: {error}", path(out))))?;
    }
    let json = json!({
        "digest": policy.digest,
        "weights": policy.weights.weights.len(),
        "runs": lessons.runs,
        "skipped": lessons.skipped,
        "out": args.out.as_deref().map(path),
        "training": policy.training,
    });
    let mut page = Page::ok(json, text(&policy, &lessons));
    if let Some(out) = &args.out {
        page.text += &format!("\nwritten to {}\n", accent(&path(out)));
    }
    Ok(page)
}

fn text(policy: &LearnedPolicy, lessons: &Lessons) -> String {
    let training = &policy.training;
    let mut text = format!(
        "{}\n{} weights from {} lessons of {} runs; the mean edit has probability {} (uniform: {})\n\n",
        strong(&format!("policy {}", policy.digest)),
        policy.weights.weights.len(),
        training.lessons.len(),
        lessons.runs,
        number(training.log_likelihood.exp()),
        number(training.uniform.exp()),
    );
    let row = |held_out: &HeldOutLikelihood| {
        vec![
            held_out.curriculum.clone(),
            held_out.lessons.to_string(),
            number(held_out.edits),
            number(held_out.log_likelihood.exp()),
            number(held_out.uniform.exp()),
        ]
    };
    let head = ["left out", "lessons left", "edits", "probability", "uniform"];
    text += &ledger(&head, training.held_out.iter().map(row), 1..5);
    let mut weights: Vec<(&String, &f64)> = policy.weights.weights.iter().collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(b.0)));
    let rows =
        weights.iter().take(SHOWN).map(|(name, weight)| vec![name.to_string(), format!("{weight:+.2}")]);
    text += &format!("\n{}", ledger(&["feature", "weight"], rows, 1..2));
    text += &faint(
        "\nprobability: geometric mean over the edits that led to a target, by a policy that has not seen the \
         curriculum nor its targets\n",
    );
    if !lessons.skipped.is_empty() {
        text += &format!("\nnot learned from:\n  {}\n", lessons.skipped.join("\n  "));
    }
    text
}
