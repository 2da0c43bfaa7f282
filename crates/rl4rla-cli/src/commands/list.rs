//! `rl4rla list`.

use crate::args::{List, Listed};
use crate::page::{Page, accent, faint, table};
use rl4rla::problem::FAMILIES;
use rl4rla::program::{CATALOGUE, Form, Op, Pattern, Sections};
use serde_json::{Value, json};

/// Lists what was asked for.
pub fn run(args: &List) -> Page {
    let (items, rows): (Vec<Value>, Vec<Vec<String>>) = match args.what {
        Listed::Programs => programs().unzip(),
        Listed::Operators => operators().unzip(),
        Listed::Families => families().unzip(),
    };
    Page::ok(json!({ "items": items }), table(rows))
}

fn programs() -> impl Iterator<Item = (Value, Vec<String>)> {
    CATALOGUE.iter().map(|entry| {
        let d = &entry.document;
        let item = json!({
            "name": entry.name,
            "title": d.title,
            "about": d.about,
            "reference": d.reference,
            "family": d.family,
            "program": d.program.to_string(),
        });
        (item, vec![accent(entry.name), format!("{}\n{}", d.about, faint(&d.reference))])
    })
}

fn operators() -> impl Iterator<Item = (Value, Vec<String>)> {
    Op::all().map(|op| {
        let signatures: Vec<String> = op.forms.iter().map(signature).collect();
        let sections = match op.sections {
            Sections::Setup => vec!["setup"],
            Sections::Both => vec!["setup", "iteration"],
        };
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

fn signature(form: &Form) -> String {
    let operands: Vec<String> = form.operands.iter().map(Pattern::to_string).collect();
    format!("({}) → {}", operands.join(", "), form.result)
}

fn families() -> impl Iterator<Item = (Value, Vec<String>)> {
    FAMILIES.iter().map(|family| {
        let item = json!({
            "name": family.name,
            "doc": family.doc,
            "rows": family.rows,
            "cols": family.cols,
            "square": family.square,
        });
        let size = format!("{}×{} by default", family.rows, family.cols);
        (item, vec![accent(family.name), format!("{}\n{}", family.doc, faint(&size))])
    })
}
