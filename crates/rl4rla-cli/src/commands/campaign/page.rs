//! How a campaign goes, for people.

use crate::args::{Shared, again};
use crate::page::{Page, accent, duration, faint, ledger, several, strong, warning};
use crate::shell::quoted;
use rl4rla::experiment::campaign::{CampaignStatus, FailedTask, LOCAL, SearchStatus, TaskCounts};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// Most searches that are listed in a terminal.
const LISTED: usize = 60;

/// The page of a status, with the command to continue with.
pub fn of(status: &CampaignStatus, folder: &Path, shared: &Shared) -> Page {
    let mut page = without_next(status);
    let next = next(status, folder, shared);
    if let Some((words, command)) = next.as_ref().filter(|_| !shared.quiet) {
        page.text += &format!("\n{}\n", faint(&format!("{words}: `{command}`")));
    }
    page.json["next"] =
        next.map_or(Value::Null, |(words, command)| json!({ "words": words, "command": command }));
    page
}

/// The page of a status, of which the work is done.
pub fn without_next(status: &CampaignStatus) -> Page {
    let mut text = format!("{} {}\n", strong(&status.title), faint(&format!("campaign {}", status.campaign)));
    text += &format!("{}\n\n", progress(&status.counts));
    if let Some(seconds) = status.seconds_left {
        text += &format!("about {} left at the present rate\n\n", span(seconds));
    }
    text += &searches(&status.searches);
    // Those with the same reason together, since one cause may make many tasks fail.
    let key = |failure: &FailedTask| (failure.reason.clone(), failure.advice.clone());
    let mut reasons: Vec<_> = status.failures.iter().map(key).collect();
    let mut met = HashSet::new();
    reasons.retain(|reason| met.insert(reason.clone()));
    for reason in reasons {
        let same: Vec<_> = status.failures.iter().filter(|failure| key(failure) == reason).collect();
        text += &format!("\n{} {}: {}", warning("failed:"), same[0].what, same[0].reason);
        text += &same[0].advice.as_ref().map_or("\n".into(), |advice| format!("\n  try: {advice}\n"));
        if same.len() > 1 {
            let others = several(same.len() as u64 - 1, "other task");
            text += &format!("  {}\n", faint(&format!("and {others} for the same reason")));
        }
    }
    if status.failures_left_out > 0 {
        let others = several(status.failures_left_out as u64, "other task");
        text += &format!("{}\n", faint(&format!("and {others} failed")));
    }
    for note in &status.notes {
        text += &format!("\n{}\n", warning(note));
    }
    let mut json = json!(status);
    json["next"] = Value::Null;
    Page::ok(json, text)
}

/// The numbers of tasks, in words.
pub fn progress(counts: &TaskCounts) -> String {
    let TaskCounts { tasks, done, found, running, waiting, failed, lost } = *counts;
    let mut words = format!("{done} of {tasks} tasks done, {found} found their targets");
    for (count, what) in
        [(running, "running"), (waiting, "waiting"), (failed, "failed"), (lost, "lost (no job has them)")]
    {
        if count > 0 {
            words += &format!(" · {count} {what}");
        }
    }
    words
}

fn searches(searches: &[SearchStatus]) -> String {
    let any = |of: fn(&TaskCounts) -> u64| searches.iter().any(|search| of(&search.counts) > 0);
    let (failed, lost) = (any(|counts| counts.failed), any(|counts| counts.lost));
    let mut head = vec!["kind", "name", "search", "tasks", "done", "found", "share", "95 % interval"];
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
            search.interval.map_or("–".into(), |_| format!("{share:.2}")),
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

/// A step of a campaign with its options as it is to be typed, with --local if this machine computes so many tasks at a time.
pub fn step(words: &str, folder: &Path, local: Option<u64>) -> String {
    let (step, options) = words.split_once(' ').unwrap_or((words, ""));
    let local = local.map_or(String::new(), |threads| format!("--local {threads}"));
    let options =
        [options, &local].into_iter().filter(|option| !option.is_empty()).map(|option| format!(" {option}"));
    format!("rl4rla campaign {step} {}{}", quoted(folder), options.collect::<String>())
}

/// What to do next, and the command for it.
fn next(status: &CampaignStatus, folder: &Path, shared: &Shared) -> Option<(&'static str, String)> {
    let TaskCounts { waiting, failed, lost, .. } = status.counts;
    let at_work = status.submissions.iter().any(|submission| submission.active > 0);
    // As it was handed out before.
    let local = status.submissions.last().filter(|last| last.on == LOCAL).map(|last| last.threads);
    if status.complete {
        let collect = again(&format!("campaign collect {}", quoted(folder)), &shared.store);
        return Some(("all tasks are done; to enter the results into a store", collect));
    }
    if status.submissions.is_empty() {
        return Some(("nothing is handed out yet; to begin", step("submit", folder, None)));
    }
    if lost > 0 || (waiting > 0 && !at_work) {
        return Some(("to hand out what is missing", step("resume", folder, local)));
    }
    (failed > 0 && !at_work)
        .then(|| ("to compute the failed tasks again", step("resume --failed", folder, local)))
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
