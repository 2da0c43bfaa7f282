//! `rl4rla list`.

use crate::args::{List, Listed, Shared};
use crate::failure::Failure;
use crate::page::{Page, accent, duration, faint, ledger, table};
use rl4rla::baseline::BASELINES;
use rl4rla::curriculum::{BUILTIN, Curriculum};
use rl4rla::experiment::unreadable;
use rl4rla::problem;
use rl4rla::program::{Document, Entry, Op, Section};
use rl4rla::search::METHODS;
use rl4rla::store::{RunRow, Store, utc};
use serde_json::{Value, json};
use std::path::Path;

/// Lists the requested items.
pub fn run(args: &List, shared: &Shared) -> Result<Page, Failure> {
    let (items, rows): (Vec<Value>, Vec<Vec<String>>) = match args.what {
        Listed::Runs => return list_runs(args, shared),
        Listed::Curricula => curricula().unzip(),
        Listed::Methods => methods().unzip(),
        Listed::Programs => programs().unzip(),
        Listed::Operators => operators().unzip(),
        Listed::Families => families().unzip(),
        Listed::Baselines => baselines().unzip(),
    };
    Ok(Page::ok(json!({ "items": items }), table(rows)))
}

fn curricula() -> impl Iterator<Item = (Value, Vec<String>)> {
    BUILTIN.iter().map(|(name, text)| {
        let curriculum =
            Curriculum::parse(name, text).expect("a built-in curriculum is valid; a test checks it");
        let stages: Vec<&str> = curriculum.stages.iter().map(|(stage, _)| stage.name.as_str()).collect();
        let item = json!({
            "name": name,
            "title": curriculum.title,
            "about": curriculum.about,
            "reference": curriculum.reference,
            "stages": stages,
        });
        let about = format!("{}\n{}", curriculum.about, faint(&stages.join(" → ")));
        (item, vec![accent(name), about])
    })
}

fn methods() -> impl Iterator<Item = (Value, Vec<String>)> {
    METHODS
        .iter()
        .map(|row| (json!({ "name": row.name, "doc": row.doc }), vec![accent(row.name), row.doc.to_string()]))
}

fn list_runs(args: &List, shared: &Shared) -> Result<Page, Failure> {
    let (items, rows): (Vec<Value>, Vec<Vec<String>>) = runs(&shared.store, args.check)?.into_iter().unzip();
    let text = match rows.is_empty() {
        true => format!(
            "no runs in {} yet; `{}` starts one\n",
            shared.store.display(),
            shared.again("discover sketched-precond-gd")
        ),
        false => {
            let head = ["run", "curriculum", "method", "seed", "status", "stages", "time", "begun"];
            ledger(&head, rows, 5..7)
        }
    };
    Ok(Page::ok(json!({ "items": items }), text))
}

/// The runs of a store; empty if there is no store yet.
fn runs(path: &Path, check: bool) -> Result<Vec<(Value, Vec<String>)>, Failure> {
    if !path.exists() {
        return Ok(vec![]);
    }
    let store = Store::open_read_only(path)?;
    if check {
        examine(&store)?;
    }
    let shown = |row: RunRow| {
        let item = json!({
            "name": row.id.as_str(),
            "run": row.id.as_str(),
            "curriculum": row.curriculum,
            "method": row.method,
            "seed": row.seed,
            "status": row.status.name(),
            "found": row.status.found(),
            "created": utc(row.created),
            "seconds": row.seconds,
            "playouts": row.playouts,
            "evaluations": row.evaluations,
            "stages": row.stages,
            "tags": row.tags,
            "note": row.note,
        });
        let found = match row.status.found() {
            Some(true) => "found".into(),
            Some(false) => "not found".into(),
            None => row.status.name().to_string(),
        };
        let cells = vec![
            accent(row.id.as_str()),
            row.curriculum,
            row.method,
            row.seed.to_string(),
            found,
            row.stages.to_string(),
            duration(row.seconds),
            faint(&utc(row.created)),
        ];
        (item, cells)
    };
    Ok(store.runs()?.into_iter().map(shown).collect())
}

/// Verifies a store: its structure, the checksum of every row, and every program.
fn examine(store: &Store) -> Result<(), Failure> {
    store.integrity()?;
    for row in store.runs()? {
        for stage in store.stages(&row.id)? {
            for text in stage.program.iter().chain(stage.front.iter().map(|entry| &entry.program)) {
                let read: Result<Document, _> = text.parse();
                read.map_err(|error| {
                    unreadable(&format!("a program of stage {} of run {}", stage.name, row.id), &error)
                })?;
            }
        }
    }
    Ok(())
}

fn programs() -> impl Iterator<Item = (Value, Vec<String>)> {
    Entry::known().map(|entry| {
        let d = &entry.document;
        let item = json!({
            "name": entry.name,
            "title": d.title,
            "about": d.about,
            "reference": d.reference,
            "paper": d.paper,
            "literature": d.literature,
            "differs": d.differs,
            "family": d.family,
            "update": d.update.name(),
            "program": d.update.text(&d.program),
        });
        let names = d.names().map(|(label, line)| format!("\n{}", faint(&format!("{label}: {line}"))));
        let about = format!("{}\n{}{}", d.about, faint(&d.reference), names.collect::<String>());
        (item, vec![accent(entry.name), about])
    })
}

fn operators() -> impl Iterator<Item = (Value, Vec<String>)> {
    Op::known().map(|op| {
        let signatures: Vec<String> = op.forms.iter().map(ToString::to_string).collect();
        let sections: Vec<&str> = Section::BOTH
            .into_iter()
            .filter(|section| op.sections.allow(*section))
            .map(Section::name)
            .collect();
        let item = json!({
            "name": op.name,
            "doc": op.doc,
            "forms": signatures,
            "sections": sections,
            "commutative": op.commutative,
        });
        (item, vec![accent(op.name), format!("{}\n{}", op.doc, faint(&signatures.join("\n")))])
    })
}

fn families() -> impl Iterator<Item = (Value, Vec<String>)> {
    problem::families().map(|family| {
        let numbers: Vec<Value> = family
            .numbers
            .iter()
            .map(|n| json!({ "name": n.name, "doc": n.doc, "default": n.default, "least": n.least, "most": n.most }))
            .collect();
        let item = json!({
            "name": family.name,
            "doc": family.doc,
            "task": family.task.name(),
            "numbers": numbers,
            "rows": family.rows,
            "cols": family.cols,
            "square": family.square,
        });
        let numbers = family.numbers.iter().map(|n| format!("; {} = {}: {}", n.name, n.default, n.doc));
        let size = format!("{}×{} by default{}", family.rows, family.cols, numbers.collect::<String>());
        (item, vec![accent(family.name), format!("{}\n{}", family.doc, faint(&size))])
    })
}

fn baselines() -> impl Iterator<Item = (Value, Vec<String>)> {
    BASELINES.iter().map(|row| {
        let item = json!({
            "name": row.name,
            "group": row.group.name(),
            "doc": row.doc,
            "reference": row.reference,
            "randomized": row.randomized,
            "task": row.task.name(),
        });
        let about = format!("{}; {}", row.group.name(), row.reference);
        (item, vec![accent(row.name), format!("{}\n{}", row.doc, faint(&about))])
    })
}
