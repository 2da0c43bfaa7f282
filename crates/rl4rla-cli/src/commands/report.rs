//! `rl4rla report`.

use crate::args::{Report, Shared};
use crate::failure::Failure;
use crate::output::Outputs;
use crate::page::{Page, accent, faint};
use crate::shell::quoted;
use crate::source::wanted;
use rl4rla::experiment::summary::{RunSummary, counted};
use rl4rla::store::Store;
use serde_json::json;

/// Writes a report on the runs of the store.
pub fn run(args: &Report, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let begin = format!("`{}` creates a run to report on", shared.again("discover sketched-precond-gd"));
    if !shared.store.exists() {
        let message = format!("there is no store at {}, so nothing to report", shared.store.display());
        return Err(Failure::new(message).advise(begin));
    }
    let store = Store::open_read_only(&shared.store)?;
    let mut rows = if args.runs.is_empty() { store.runs()? } else { store.all_runs()? };
    if !args.runs.is_empty() {
        let mut named = Vec::new();
        for name in &args.runs {
            named.push(wanted(&store, name)?);
        }
        rows.retain(|row| named.contains(&row.id));
    }
    if rows.is_empty() {
        let message = format!("there are no runs in {}, so nothing to report", shared.store.display());
        return Err(Failure::new(message).advise(begin));
    }
    let mut outputs = Outputs::new(shared);
    outputs.writes_into("--out", &args.out)?;
    let count = rows.len();
    let summary = RunSummary::read(&store, rows)?;
    let command: String = args.runs.iter().fold("report".into(), |command, run| format!("{command} {run}"));
    let again = |command: &str| shared.again(command);
    let document = summary.document(&store, !args.runs.is_empty(), &command, &again)?;
    let written = outputs.write(&document, "--out", &args.out)?;
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let mut text = format!("{}\n", accent(&files[0]));
    if !shared.quiet {
        let open = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        text += &faint(&format!(
            "report on {} with {} figure and table files; {open} {} shows it\n",
            counted(count, "run"),
            files.len() - 1,
            quoted(&written[0])
        ));
    }
    Ok(Page::ok(json!({ "files": files, "runs": count, "unfinished": summary.unfinished }), text))
}
