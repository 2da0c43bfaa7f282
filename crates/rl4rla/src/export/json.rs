//! JSON: the program as data. `docs/export.md` documents the keys.

use super::defaults::{Defaults, Parameter};
use super::error::ExportError;
use super::listing::Statement;
use super::subject::Export;
use crate::program::{Cost, Geometry, Poly, Section};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Whole<'a> {
    name: &'a str,
    identifier: String,
    title: &'a str,
    known: Option<&'a str>,
    about: &'a str,
    reference: &'a str,
    family: &'a str,
    geometry: &'static str,
    update: &'static str,
    formula: &'static str,
    equation: &'a str,
    latex: &'a str,
    setup: Vec<Line>,
    iteration: Vec<Line>,
    flops: Sections,
    data: Sections,
    parameters: Vec<&'static str>,
    settings: &'a Defaults,
    stop: Option<&'static str>,
    step: Option<&'static str>,
    program: String,
    origin: BTreeMap<&'a str, &'a str>,
    version: &'a str,
}

/// An instruction.
#[derive(Serialize)]
struct Line {
    targets: Vec<&'static str>,
    operator: &'static str,
    operands: Vec<Operand>,
    result: Option<String>,
    text: String,
    doc: &'static str,
}

#[derive(Serialize)]
struct Operand {
    register: &'static str,
    #[serde(rename = "type")]
    ty: String,
}

/// One polynomial per section, and one for what is added every k iterations.
#[derive(Serialize)]
struct Sections {
    setup: String,
    iteration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<String>,
}

/// A program as one JSON object.
pub fn write(export: &Export) -> Result<String, ExportError> {
    let Export { document, listing, cost, provenance, .. } = export;
    let sections = |of: fn(&Cost) -> &Poly| Sections {
        setup: of(&cost.setup).to_string(),
        iteration: of(&cost.iteration).to_string(),
        refresh: (!cost.refresh.flops.is_zero()).then(|| of(&cost.refresh).to_string()),
    };
    let lines = |section: Section| listing.section(section).map(line).collect();
    let whole = Whole {
        name: &provenance.name,
        identifier: export.identifier(),
        title: export.title(),
        known: provenance.known.as_deref(),
        about: &document.about,
        reference: &document.reference,
        family: &document.family,
        geometry: match listing.signature.geometry {
            Geometry::Tall => "tall",
            Geometry::Square => "square",
            Geometry::Symmetric => "symmetric",
        },
        update: listing.signature.update.name(),
        formula: listing.signature.update.formula(),
        equation: &export.equation.text,
        latex: &export.equation.latex,
        setup: lines(Section::Setup),
        iteration: lines(Section::Iteration),
        flops: sections(|cost| &cost.flops),
        data: sections(|cost| &cost.data),
        parameters: Parameter::of(listing).into_iter().map(Parameter::name).collect(),
        settings: &export.defaults,
        stop: listing.loops().then(|| export.run_loop.stop()),
        step: (listing.loops() && listing.reads_step() && export.step().is_none())
            .then(|| export.run_loop.step()),
        program: document.update.text(&document.program),
        origin: provenance.origin.iter().map(|(what, which)| (what.as_str(), which.as_str())).collect(),
        version: &provenance.version,
    };
    Ok(serde_json::to_string_pretty(&whole).expect("text and finite numbers are JSON") + "\n")
}

fn line(statement: &Statement) -> Line {
    let operands = &statement.operands;
    // The sampled A and b are not operands of the instruction as written.
    let named = operands.len() - if statement.op.samples() { 2 } else { 0 };
    let names: Vec<&str> = operands[..named].iter().map(|(name, _)| name.reg.name()).collect();
    let targets: Vec<&str> = statement.targets.iter().map(|name| name.reg.name()).collect();
    Line {
        text: format!("{} = {}({})", targets.join(", "), statement.op, names.join(", ")),
        operator: statement.op.name,
        operands: operands
            .iter()
            .map(|(name, ty)| Operand { register: name.reg.name(), ty: ty.to_string() })
            .collect(),
        result: statement.result.map(|ty| ty.to_string()),
        doc: statement.op.doc,
        targets,
    }
}
