//! `rl4rla show`.

use crate::args::{Shared, Show};
use crate::failure::Failure;
use crate::page::{Page, accent, faint, indent, strong};
use crate::shape::{common, name_of};
use crate::source::NamedProgram;
use rl4rla::equivalence::{Naming, Verdict, name};
use rl4rla::experiment::costs;
use rl4rla::program::{
    Canonical, Cost, Geometry, LiveOut, Model, Poly, Program, ProgramCost, Section, Signature, check,
    equation,
};
use serde_json::{Value, json};

/// Shows a program.
pub fn run(args: &Show, shared: &Shared) -> Result<Page, Failure> {
    let source = NamedProgram::find(&args.program, &shared.store)?;
    let program = &source.document.program;
    let signature = common(&[&source], args.shape)?.signature;
    let live = Canonical::new(program, LiveOut::Finished);
    let price = ProgramCost::of(&live, signature, Model::True)?;
    let equation = equation(program, signature)?;
    let [setup, iteration, refresh] = costs(program, signature)?;
    let mut total = if setup.is_zero() { String::new() } else { format!("{setup} + ") };
    total += &format!("T·({iteration})");
    if !refresh.is_zero() {
        total += &format!(" + ⌈T/k⌉·({refresh})");
    }
    let naming = name(program, signature)?;
    let document = &source.document;
    let lines = check(program, signature)?;
    let listing: Vec<Value> = lines
        .iter()
        .map(|line| {
            let shape = line.result.map(|shape| shape.to_string());
            json!({ "section": line.section.to_string(), "text": line.instruction.to_string(), "shape": shape })
        })
        .collect();
    let near = match &naming {
        Naming::Unknown(near) => {
            near.iter().map(|(entry, edits)| json!({ "name": entry.name, "edits": edits })).collect()
        }
        Naming::Known(..) | Naming::SameIterates(..) => vec![],
    };
    let json = json!({
        "name": source.name,
        "title": document.title,
        "about": document.about,
        "reference": document.reference,
        "paper": document.paper,
        "literature": document.literature,
        "differs": document.differs,
        "program": document.update.text(program),
        "listing": listing,
        "equation": equation.text,
        "latex": equation.latex,
        "flops": total,
        "flops_setup": setup.to_string(),
        "flops_iteration": iteration.to_string(),
        "flops_refresh": refresh.to_string(),
        "data_setup": price.setup.data.to_string(),
        "data_iteration": price.iteration.data.to_string(),
        "data_refresh": price.refresh.data.to_string(),
        "family": document.family,
        "update": document.update.name(),
        "geometry": name_of(signature.geometry),
        "id": format!("{:032x}", live.id()),
        "matched": naming.entry().map(|entry| entry.name),
        "same_iterates": match &naming {
            Naming::SameIterates(entry, _, gap) => json!({ "name": entry.name, "cost": gap.to_string() }),
            Naming::Known(..) | Naming::Unknown(_) => json!(null),
        },
        "nearest": near,
    });
    let mut text = strong(source.title()) + "\n";
    for line in [&document.about, &document.reference].into_iter().filter(|line| !line.is_empty()) {
        text += &format!("{}\n", faint(line));
    }
    for (label, line) in document.names() {
        text += &format!("{}\n", faint(&format!("{label}: {line}")));
    }
    text += &known(&naming, &source.name);
    text += &format!(
        "\n{}\n",
        accent(&equation.text.replacen(", where ", "\nwhere ", 1).replace("; ", "\n      "))
    );
    text += &format!("\n{}", annotated(program, signature)?);
    let cost = |name: &str, cost: &Cost, flops: &Poly| {
        if cost.flops.is_zero() {
            String::new()
        } else {
            format!("{name}  {flops} flops, reads {} entries of data\n", cost.data)
        }
    };
    text += &format!("\n{}\n", strong("Cost"));
    text += &indent(
        &(cost("once              ", &price.setup, &setup)
            + &cost("every iteration   ", &price.iteration, &iteration)
            + &cost("every k iterations", &price.refresh, &refresh)),
    );
    let mentions = |symbol: &str| [&setup, &iteration].iter().any(|p| p.to_string().contains(symbol));
    let mut legend = String::from(match signature.geometry {
        Geometry::Tall => "  A is m×n",
        Geometry::Square => "  A is n×n: the program fits square problems only",
        Geometry::Symmetric => "  A is n×n and symmetric: the program fits such problems only",
    });
    for (used, words) in [
        (equation.text.contains("sketch"), ", s rows of an SJLT sketch"),
        (mentions("k"), ", k rows of a sample"),
        (!refresh.is_zero(), ", k iterations from one refresh to the next (`--every`)"),
    ] {
        legend += if used { words } else { "" };
    }
    text += &format!("{}\n", faint(&legend));
    text += &format!("\n{}\n{}", strong("LaTeX"), indent(&equation.latex));
    Ok(Page::ok(json, text))
}

/// The catalogue match of the program; empty if it is obvious.
fn known(naming: &Naming, asked: &str) -> String {
    let remark = match naming {
        Naming::Known(entry, _) if entry.name == asked => return String::new(),
        Naming::Known(entry, verdict) => {
            format!("this is {} ({}){}", entry.document.title, entry.name, accuracy(verdict))
        }
        Naming::SameIterates(entry, verdict, gap) => format!(
            "computes the same iterates as {} ({}), at a different cost: {gap}{}",
            entry.document.title,
            entry.name,
            accuracy(verdict)
        ),
        Naming::Unknown(near) => {
            let near: Vec<String> =
                near.iter().map(|(entry, edits)| format!("{} ({edits} edits away)", entry.name)).collect();
            format!("not in the catalogue; nearest: {}", near.join(", "))
        }
    };
    format!("{}\n", faint(&remark))
}

/// Where rounding separates a program from the catalogue program.
fn accuracy(verdict: &Verdict) -> String {
    let remark = verdict.stability.as_ref().map(|s| {
        let which = if s.first_is_steadier { "more" } else { "less" };
        format!(", {which} accurate from κ = {:e} on", s.kappa)
    });
    remark.unwrap_or_default()
}

/// The program with the types of all results.
fn annotated(program: &Program, signature: Signature) -> Result<String, Failure> {
    let typed = check(program, signature)?;
    let width = typed.iter().map(|t| t.instruction.to_string().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for section in Section::BOTH {
        if !program.section(section).is_empty() {
            text += &format!("{}\n", strong(&format!("{section}:")));
        }
        for t in typed.iter().filter(|t| t.section == section) {
            let ty = t.result.map(|ty| ty.to_string()).unwrap_or_default();
            text += &format!("  {:width$}  {}\n", t.instruction.to_string(), faint(&format!("# {ty}")));
        }
    }
    text += &format!("  {:width$}  {}\n", signature.update.formula(), faint("# implied"));
    Ok(text)
}
