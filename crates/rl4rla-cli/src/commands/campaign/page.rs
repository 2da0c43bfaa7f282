//! How a campaign goes, for people.

use crate::args::{Shared, again};
use crate::page::{Page, accent, duration, faint, ledger, number, strong, warning};
use crate::shell::quoted;
use rl4rla::experiment::campaign::{CampaignStatus, SearchStatus, TaskCounts};
use serde_json::json;
use std::path::Path;

/// Most searches that are listed in a terminal.
const LISTED: usize = 60;

/// The page of a status, with the command to continue with.
pub fn of(status: &CampaignStatus, folder: &Path, shared: &Shared) -> Page {
    let mut page = without_next(status);
    if !shared.quiet {
        page.text +=
            &next(status, folder, shared).map_or(String::new(), |next| format!("\n{}\n", faint(&next)));
    }
    page
}

/// The page of a status.
pub fn without_next(status: &CampaignStatus) -> Page {
    let mut text = format!("{} {}\n", strong(&status.title), faint(&format!("campaign {}", status.campaign)));
    text += &format!("{}\n\n", progress(&status.counts));
    if let Some(seconds) = status.seconds_left {
        text += &format!("about {} left at the present rate\n\n", span(seconds));
    }
    text += &searches(&status.searches);
    for failure in &status.failures {
        text += &format!("\n{} {}: {}", warning("failed:"), failure.what, failure.reason);
        text += &failure.advice.as_ref().map_or("\n".into(), |advice| format!("\n  try: {advice}\n"));
    }
    if status.failures_left_out > 0 {
        text += &format!("{}\n", faint(&format!("and {} others failed", status.failures_left_out)));
    }
    for note in &status.notes {
        text += &format!("\n{}\n", warning(note));
    }
    Page::ok(json!(status), text)
}

/// The numbers of tasks, in words.
pub fn progress(counts: &TaskCounts) -> String {
    let TaskCounts { tasks, done, found, running, waiting, failed, lost } = *counts;
    let mut words = format!("{done} of {tasks} tasks done, {found} found their targets");
    for (count, what) in [
        (running, "in jobs that run"),
        (waiting, "waiting"),
        (failed, "failed"),
        (lost, "lost: handed out, and in nobody's hands"),
    ] {
        if count > 0 {
            words += &format!(" · {count} {what}");
        }
    }
    words
}

fn searches(searches: &[SearchStatus]) -> String {
    let any = |of: fn(&TaskCounts) -> u64| searches.iter().any(|search| of(&search.counts) > 0);
    let (failed, lost) = (any(|counts| counts.failed), any(|counts| counts.lost));
    let mut head = vec!["", "", "search", "tasks", "done", "found", "share", "95 % interval"];
    head.extend(failed.then_some("failed"));
    head.extend(lost.then_some("lost"));
    let row = |search: &SearchStatus| {
        let counts = &search.counts;
        let share = counts.found as f64 / counts.done.max(1) as f64;
        let mut row = vec![
            search.kind.to_string(),
            accent(&search.name),
            search.label.clone(),
            counts.tasks.to_string(),
            counts.done.to_string(),
            counts.found.to_string(),
            search.interval.map_or("–".into(), |_| number(share)),
            search.interval.map_or("–".into(), |[low, high]| format!("{low:.2}–{high:.2}")),
        ];
        row.extend(failed.then(|| counts.failed.to_string()));
        row.extend(lost.then(|| counts.lost.to_string()));
        row
    };
    let left_out = searches.len().saturating_sub(LISTED);
    let columns = head.len();
    let mut text = ledger(&head, searches.iter().take(LISTED).map(row), 3..columns);
    if left_out > 0 {
        text += &format!("{}\n", faint(&format!("and {left_out} other searches; --json has all")));
    }
    text
}

/// The command to continue with.
fn next(status: &CampaignStatus, folder: &Path, shared: &Shared) -> Option<String> {
    let command = |step: &str| format!("rl4rla campaign {step} {}", quoted(folder));
    let TaskCounts { running, waiting, failed, lost, .. } = status.counts;
    let at_work = status.submissions.iter().any(|submission| submission.active > 0);
    if status.complete {
        let collect = again(&format!("campaign collect {}", quoted(folder)), &shared.store);
        return Some(format!("all tasks are done: `{collect}`"));
    }
    if status.submissions.is_empty() {
        return Some(format!("nothing is handed out: `{}`", command("submit")));
    }
    if lost > 0 || (waiting > 0 && !at_work) {
        return Some(format!("`{}` hands out what is missing", command("resume")));
    }
    (running == 0 && failed > 0 && !at_work)
        .then(|| format!("`{}` computes again what has failed", command("resume --failed")))
}

/// A time that may be long, in its usual unit.
pub fn span(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    match units.into_iter().find(|(unit, _)| seconds >= 1.5 * unit) {
        Some((unit, name)) => format!("{:.1} {name}", seconds / unit),
        None => duration(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_people_use() {
        let spans = [0.02, 89.0, 90.0, 5399.0, 7200.0, 1e6].map(span);
        assert_eq!(spans, ["20 ms", "89.0 s", "1.5 min", "90.0 min", "2.0 h", "11.6 days"]);
    }
}
