//! `rl4rla reproduce`.

mod ablation;
mod ask;
mod baselines;
mod curves;
mod efficiency;
mod eigenvalue;
mod found;
mod item;
mod newton;
mod paper;
mod progression;
mod scalability;
mod searches;
mod staircase;
mod transitions;
mod tree;
mod way;
mod year;

use crate::args::{Reproduce, Shared};
use crate::campaign::{self, cores};
use crate::failure::Failure;
use crate::interrupt::{self, stopped};
use crate::output::Outputs;
use crate::page::{Page, faint, indent, ledger, strong};
use crate::progress;
use crate::shell::quoted;
use ask::{Runs, Scope};
use item::{Item, Means, Part};
use rl4rla::data::Year;
use rl4rla::program::nearest;
use rl4rla::report::{Align, Block, Document, Section, Table};
use rl4rla::store::Store;
use serde_json::{Value, json};
use std::time::Instant;

/// Everything that can be reproduced, in the paper's order.
const ITEMS: [Item; 16] = [
    row("table1", "Curriculum progression", "Table 1", progression::asks, progression::make),
    row("table2", "End-to-end efficiency", "Table 2", efficiency::asks, efficiency::end_to_end),
    row("staircase", "Discovery staircase", "Figure 2", staircase::asks, staircase::make),
    row("ecdf", "Distribution of search costs", "Figure 3", efficiency::asks, curves::ecdf),
    row("reuse", "State reuse", "Figure 4", curves::reuse_asks, curves::reuse),
    row("eigenvalue", "Eigenvalue problems", "Table 3 and Figure 5", eigenvalue::asks, eigenvalue::make),
    row("stages", "Stage-wise cost", "appendix D, table of stages", efficiency::asks, efficiency::stages),
    row(
        "transitions",
        "Success by transition",
        "appendix D, 20 runs per transition",
        transitions::asks,
        transitions::make,
    ),
    row("tree", "Curriculum tree", "appendix D, table of the tree", tree::table_asks, tree::table),
    row(
        "ablation",
        "Curriculum ablation",
        "appendix D, table of Newton Sketch",
        ablation::asks,
        ablation::make,
    ),
    row("newton", "Newton's method by the paper's search", "not included", newton::asks, newton::make),
    row(
        "method-tree",
        "Tree of methods",
        "appendix D, figure of the tree",
        tree::diagram_asks,
        tree::diagram,
    ),
    row(
        "scalability",
        "Scalability",
        "appendix D, table of revisit ratios",
        scalability::asks,
        scalability::make,
    ),
    row(
        "baselines",
        "Runtime against residual",
        "appendix D, figure of baselines",
        baselines::asks,
        baselines::make,
    ),
    row(
        "year",
        "Transfer to real data",
        "appendix D, table and figure of YearPredictionMSD",
        year::asks,
        year::make,
    ),
    row("searches", "Program searches at equal budgets", "not included", searches::asks, searches::make),
];

const fn row(
    name: &'static str,
    title: &'static str,
    place: &'static str,
    asks: fn(Scope) -> Vec<ask::Ask>,
    make: fn(&Means) -> Result<Part, Failure>,
) -> Item {
    Item { name, title, place, asks, make }
}

/// The items that were asked for.
fn wanted(names: &[String]) -> Result<Vec<&'static Item>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(ITEMS.iter().collect());
    }
    let find = |name: &String| {
        ITEMS.iter().find(|item| item.name == name).ok_or_else(|| {
            let known = ITEMS.iter().map(|item| item.name);
            let all = known.clone().collect::<Vec<_>>().join(", ");
            let failure = Failure::new(format!("there is no item `{name}` to reproduce"));
            match nearest(name, known) {
                Some(meant) => failure.advise(format!("`{meant}`, or another of: all, {all}")),
                None => failure.advise(format!("one of: all, {all}")),
            }
        })
    };
    names.iter().map(find).collect()
}

/// Reproduces items of the paper.
pub fn run(args: &Reproduce, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let items = wanted(&args.items)?;
    if let Some(path) = &args.data {
        Year::check(path).map_err(|error| Failure::new(error.to_string()).advise(error.advice))?;
    }
    let mut outputs = Outputs::new(shared).reads("the data", args.data.as_deref());
    // Not after hours of work.
    outputs.writes_into("--out", &args.out)?;
    let scope = Scope::new(args.quick, args.seeds, args.seed);
    let begin = Instant::now();
    let mut runs = Runs::new(items.iter().flat_map(|item| (item.asks)(scope)), scope)?;
    if args.dry_run {
        return planned(&mut runs, shared);
    }
    interrupt::saving(campaign::interrupted());
    let mut store = Store::open(&shared.store)?;
    let threads = args.threads.threads.map_or_else(cores, |threads| threads as usize);
    if !campaign::run(&mut runs.campaigns, &mut store, threads)? {
        return Ok(campaign::interrupted());
    }
    let means = Means { scope, runs: &runs, store: &store, data: args.data.as_deref() };
    let mut made = Vec::new();
    for item in items {
        if stopped() {
            return Ok(campaign::interrupted());
        }
        progress::doing(format!("producing {}", item.title));
        made.push((item, (item.make)(&means).unwrap_or_else(Part::failed)));
    }
    let document = document(&made, scope, begin.elapsed().as_secs_f64());
    let files = outputs.write(&document, "--out", &args.out)?;
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

/// Which runs it takes, and how many of them are done.
fn planned(runs: &mut Runs, shared: &Shared) -> Result<Page, Failure> {
    if shared.store.exists() {
        campaign::recall(&Store::open_read_only(&shared.store)?, &mut runs.campaigns)?;
    }
    let rows: Vec<[String; 4]> = runs
        .campaigns
        .iter()
        .zip(runs.labels())
        .map(|(campaign, label)| {
            let (done, count) = (campaign.done().count(), campaign.count());
            [campaign.curriculum.name.clone(), label, count.to_string(), done.to_string()]
        })
        .collect();
    let json: Vec<Value> = rows
        .iter()
        .zip(&runs.campaigns)
        .map(|([curriculum, label, ..], campaign)| {
            json!({
                "curriculum": curriculum,
                "method": campaign.method(),
                "search": label,
                "runs": campaign.count(),
                "done": campaign.done().count(),
            })
        })
        .collect();
    let text = ledger(&["curriculum", "search", "runs", "done"], rows.into_iter().map(Vec::from), 2..4);
    Ok(Page::ok(json!({ "dry_run": true, "campaigns": json }), text.to_string()))
}

/// The page of everything that was made.
fn document(made: &[(&Item, Part)], scope: Scope, seconds: f64) -> Document {
    let section = |(item, part): &(&Item, Part)| {
        let origin =
            format!("Paper: {}. To reproduce only this item: `rl4rla reproduce {}`.", item.place, item.name);
        let blocks = std::iter::once(Block::Text(origin)).chain(part.blocks.iter().cloned()).collect();
        Section { id: item.name.into(), title: item.title.into(), blocks }
    };
    let size = match scope.quick {
        true => {
            "Quick version with few seeds: intervals are wide, and times are too low because runs of one seed share \
             results. For fewer than five runs the values are listed instead of means and medians. Without --quick \
             it takes an hour or two."
        }
        false => "",
    };
    Document {
        title: "RL4RLA reproduction".into(),
        lead: format!(
            "Tables and figures of the paper, computed on this machine, with the paper's values next to ours. {size}"
        ),
        sections: made.iter().map(section).collect(),
        colophon: vec![
            ("version".into(), env!("CARGO_PKG_VERSION").into()),
            (
                "seeds".into(),
                format!(
                    "{}–{}; half of them in `ablation` and `newton`, the first that found a program in `baselines` and `year`",
                    scope.first_seed,
                    scope.first_seed.saturating_add(scope.seeds - 1)
                ),
            ),
            ("threads of this machine".into(), cores().to_string()),
            (
                "time of this command".into(),
                format!("{:.0} s, excluding runs reused from the store", seconds),
            ),
        ],
    }
}

/// An item as one reads it in a terminal: its tables; the figures are in their files.
fn in_terminal(item: &Item, part: &Part) -> String {
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
        // The same head again is left out.
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
    use super::*;

    #[test]
    fn help_names_every_item() {
        let mut command = <crate::args::Cli as clap::CommandFactory>::command();
        let help = command.find_subcommand_mut("reproduce").unwrap().render_help().to_string();
        let words: Vec<&str> = help.split([' ', ',', '\n', '.']).collect();
        assert!(ITEMS.iter().all(|item| words.contains(&item.name)), "{help}");
    }

    #[test]
    fn names_of_items_differ_and_are_found() {
        let names: Vec<String> = ITEMS.iter().map(|item| item.name.to_string()).collect();
        assert_eq!(wanted(&names).unwrap().len(), ITEMS.len());
        assert_eq!(wanted(&["all".into()]).unwrap().len(), ITEMS.len());
        let error = wanted(&["tabel2".into()]).err().unwrap().to_string();
        assert!(error.contains("`table2`"), "{error}");
    }
}
