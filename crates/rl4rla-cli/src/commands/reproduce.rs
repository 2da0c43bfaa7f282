//! `rl4rla reproduce`.

use crate::args::{Reproduce, Shared};
use crate::commands::campaign::{computed, interruption, of_sweeps};
use crate::curriculum;
use crate::failure::Failure;
use crate::interrupt::{self, Terminal};
use crate::output::Outputs;
use crate::page::{Page, faint, indent, ledger, strong};
use crate::shell::quoted;
use rl4rla::data::Year;
use rl4rla::experiment::reproduce::{Item, Means, ReproducedItem, Runs, Scope, document, make, wanted};
use rl4rla::experiment::sweep::{self, cores};
use rl4rla::report::{Align, Block, Table};
use rl4rla::store::Store;
use serde_json::{Value, json};
use std::time::Instant;

fn scope(args: &Reproduce) -> Scope {
    Scope::new(args.quick, args.seeds, args.seed)
}

/// The runs that are needed.
pub fn runs(args: &Reproduce) -> Result<Runs, Failure> {
    let (items, scope) = (wanted(&args.items)?, scope(args));
    let runs = Runs::new(items.iter().flat_map(|item| (item.asks)(scope)), scope)?;
    runs.sweeps.iter().try_for_each(|sweep| curriculum::afford(&sweep.curriculum))?;
    Ok(runs)
}

/// Reproduces items of the paper.
pub fn run(args: &Reproduce, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let items = wanted(&args.items)?;
    if let Some(path) = &args.data {
        Year::check(path).map_err(|error| Failure::new(error.to_string()).advise(error.advice))?;
    }
    let mut outputs = Outputs::new(shared).reads("the data", args.data.as_deref());
    // Checked now and not after hours of work.
    outputs.writes_into("--out", &args.out)?;
    let scope = scope(args);
    let begin = Instant::now();
    let mut runs = runs(args)?;
    if args.dry_run {
        return planned(&mut runs, shared);
    }
    let campaigned = computed(&args.as_campaign, || Ok(of_sweeps(&runs.sweeps)), &args.resources, shared)?;
    if let Some(page) = interruption(campaigned) {
        return Ok(page);
    }
    interrupt::saving(interrupt::resumable());
    let mut store = Store::open(&shared.store)?;
    let threads = args.threads.threads.map_or_else(cores, |threads| threads as usize);
    args.resources.allow_for(threads);
    if !sweep::run(&mut runs.sweeps, &mut store, threads, &Terminal)? {
        return Ok(interrupt::resumable());
    }
    let data = args.data.as_deref();
    let means = Means { scope, runs: &runs, store: &store, data, monitor: &Terminal };
    let Some(made) = make(&items, &means) else { return Ok(interrupt::resumable()) };
    let document = document(&made, scope, begin.elapsed().as_secs_f64());
    let mut files = outputs.write(&document, "--out", &args.out)?;
    for (name, text) in made.iter().flat_map(|(_, part)| &part.attachments) {
        files.push(outputs.attach("--out", &args.out, name, text)?);
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let rows: Vec<Value> =
        made.iter().flat_map(|(item, part)| part.rows.iter().map(|row| row.json(item.name))).collect();
    let mut text: String = made.iter().map(|(item, part)| in_terminal(item, part)).collect();
    if !shared.quiet {
        let page = args.out.join("index.html");
        text += &faint(&format!("{} files in {}; open {}", files.len(), args.out.display(), quoted(page)));
    }
    let json = json!({ "rows": rows, "files": files, "quick": scope.quick });
    Ok(Page { json, text, code: u8::from(made.iter().any(|(_, part)| part.failed)) })
}

/// The runs needed, and how many of them are done.
fn planned(runs: &mut Runs, shared: &Shared) -> Result<Page, Failure> {
    if shared.store.exists() {
        sweep::recall(&Store::open_read_only(&shared.store)?, &mut runs.sweeps)?;
    }
    let rows: Vec<[String; 4]> = runs
        .sweeps
        .iter()
        .zip(runs.labels())
        .map(|(sweep, label)| {
            let (done, count) = (sweep.done().count(), sweep.count());
            [sweep.curriculum.name.clone(), label, count.to_string(), done.to_string()]
        })
        .collect();
    let json: Vec<Value> = rows
        .iter()
        .zip(&runs.sweeps)
        .map(|([curriculum, label, ..], sweep)| {
            json!({
                "curriculum": curriculum,
                "method": sweep.method(),
                "search": label,
                "runs": sweep.count(),
                "done": sweep.done().count(),
            })
        })
        .collect();
    let text = ledger(&["curriculum", "search", "runs", "done"], rows.into_iter().map(Vec::from), 2..4);
    Ok(Page::ok(json!({ "dry_run": true, "campaigns": json }), text.to_string()))
}

/// The tables of an item for the terminal; the figures are in their files.
fn in_terminal(item: &Item, part: &ReproducedItem) -> String {
    let mut text = format!("{}  {}\n\n", strong(item.title), faint(item.place));
    for block in &part.blocks {
        match block {
            Block::Text(words) | Block::Remark(words) => text += &format!("{words}\n\n"),
            Block::Table(table) => text += &table_text(table),
            Block::Figure(figure) => text += &faint(&format!("figure: {}.svg\n\n", figure.name)),
            Block::Diagram(diagram) => text += &faint(&format!("figure: {}.svg\n\n", diagram.name)),
            _ => {}
        }
    }
    text
}

fn table_text(table: &Table) -> String {
    let head: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
    let mut above = None;
    let rows = table.rows().map(|row| {
        let mut cells: Vec<String> = row.iter().map(|cell| cell.text.clone()).collect();
        // A repeated first cell is left out.
        if above == row.first() {
            cells[0].clear();
        }
        above = row.first();
        cells
    });
    let first = table.columns.iter().position(|column| column.align == Align::Right).unwrap_or(0);
    let notes: String = table.notes.iter().map(|note| faint(&indent(note))).collect();
    format!("{}\n{notes}\n", ledger(&head, rows, first..head.len()))
}

#[cfg(test)]
mod tests {
    use rl4rla::experiment::reproduce::ITEMS;

    #[test]
    fn help_names_every_item() {
        let mut command = <crate::args::Cli as clap::CommandFactory>::command();
        let help = command.find_subcommand_mut("reproduce").unwrap().render_help().to_string();
        let words: Vec<&str> = help.split([' ', ',', '\n', '.']).collect();
        assert!(ITEMS.iter().all(|item| words.contains(&item.name)), "{help}");
    }
}
