//! `rl4rla report`.

mod courses;
mod curves;
mod fronts;
mod past;
mod programs;
mod runs;
mod summary;
mod trees;

use crate::args::{Report, Shared};
use crate::commands::discover::wanted;
use crate::failure::Failure;
use crate::output::Outputs;
use crate::page::{Page, accent, faint};
use crate::shell::quoted;
use past::{Group, Past, groups};
use rl4rla::report::{Block, Document, Section};
use rl4rla::store::Store;
use serde_json::json;

/// The most of anything that is shown one by one; what is beyond is counted, and said to be.
pub const MOST: usize = 24;

/// Writes a report on the runs of the store.
pub fn run(args: &Report, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let begin = format!("`{}` makes a run to report on", shared.again("discover sketched-precond-gd"));
    if !shared.store.exists() {
        let message = format!("there is no store at {}, so nothing to report", shared.store.display());
        return Err(Failure::new(message).advise(begin));
    }
    let store = Store::open_read_only(&shared.store)?;
    let mut rows = store.runs()?;
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
    let pasts = rows.into_iter().map(|row| Past::read(&store, row)).collect::<Result<Vec<_>, _>>()?;
    let unfinished = pasts.iter().filter(|past| past.found.is_none()).count();
    let groups = groups(pasts);
    let document = document(args, shared, &store, &groups)?;
    let written = outputs.write(&document, "--out", &args.out)?;
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let mut text = format!("{}\n", accent(&files[0]));
    if !shared.quiet {
        let open = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        text += &faint(&format!(
            "a report on {}, with {} files of figures and tables beside it; {open} {} shows it\n",
            counted(count, "run"),
            files.len() - 1,
            quoted(&written[0])
        ));
    }
    Ok(Page::ok(json!({ "files": files, "runs": count, "unfinished": unfinished }), text))
}

fn document(args: &Report, shared: &Shared, store: &Store, groups: &[Group]) -> Result<Document, Failure> {
    let count: usize = groups.iter().map(|group| group.runs.len()).sum();
    let mut curricula: Vec<&str> = groups.iter().map(|group| group.curriculum.as_str()).collect();
    curricula.dedup();
    let section =
        |id: &str, title: &str, blocks: Vec<Block>| Section { id: id.into(), title: title.into(), blocks };
    let sections = vec![
        section("summary", "Summary", summary::summary(groups, shared)),
        section("curricula", "Curricula", trees::trees(groups)),
        section("programs", "Programs", programs::programs(groups, !args.runs.is_empty(), shared)),
        section("transitions", "Transitions", summary::transitions(groups)),
        section("search", "Search", curves::curves(store, groups)?),
        section("runs", "Runs", runs::runs(groups, shared)),
    ];
    let fact = |name: &str, value: String| (name.to_string(), value);
    let mut command = String::from("report");
    for run in &args.runs {
        command += &format!(" {run}");
    }
    Ok(Document {
        title: "Discovered algorithms".into(),
        lead: format!(
            "What {} of {} found, how surely, and at what price.",
            counted(count, "run"),
            counted(curricula.len(), "curriculum")
        ),
        sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
        colophon: vec![
            fact("made by", format!("rl4rla {}", rl4rla::VERSION)),
            fact("with", format!("`{}`", shared.again(&command))),
        ],
    })
}

/// A number of things, in words.
pub fn counted(count: usize, thing: &str) -> String {
    match (count, thing) {
        (1, thing) => format!("1 {thing}"),
        (count, "curriculum") => format!("{count} curricula"),
        (count, thing) => format!("{count} {thing}s"),
    }
}
