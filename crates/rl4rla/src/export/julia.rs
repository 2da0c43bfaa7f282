//! Julia, using only its standard library.

use super::defaults::Parameter;
use super::error::ExportError;
use super::frame::{Code, arguments, body, data, given, gives, runners, seen};
use super::head::comment;
use super::language::Trial;
use super::listing::Listing;
use super::pieces::Pieces;
use super::run_loop::RunLoop;
use super::style::Style;
use super::subject::Export;
use crate::execute::Sampling;
use crate::problem::Goal;
use crate::program::{Reg, Section, Templates, Type, Update};

/// The language.
pub struct Julia;

impl Style for Julia {
    const LANGUAGE: &'static str = "Julia";

    fn template(templates: &Templates) -> &'static str {
        templates.julia
    }
}

impl Code for Julia {
    const COMMENT: &'static str = "#";
    const REMARK: &'static str = "  # ";
    const ITERATE: [&'static str; 2] = ["x", ""];
    const GIVEN_STEP: &'static str = "step";
    const WARM_START: &'static str = "x";
    const HALVES: &'static str = "fill(0.5, size(A, 1))";

    fn assign(targets: &[String], expression: &str, _: bool) -> String {
        format!("{} = {expression}", targets.join(", "))
    }

    fn recall(target: &str, kept_in: &str, value: &str, kept: bool) -> String {
        let targets = [target, kept_in].map(String::from);
        Julia::assign(&targets, &format!("(t == 0 ? {value} : {kept_in}), {value}"), kept)
    }

    fn when(refreshing: bool, expression: &str, _: Type) -> String {
        format!("t % every {} 0 ? {expression} : nothing", if refreshing { "==" } else { "!=" })
    }

    fn alias(name: &str, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn draw(section: Section) -> String {
        format!("{} = sketch(sketch_rows, size(A, 1))", Julia::sketch(section))
    }

    fn moved(result: &str) -> String {
        format!("x - step * {result}")
    }

    fn inner(run_loop: &RunLoop, statements: Vec<String>, given: &[String], of: &str) -> Vec<String> {
        let told: String = run_loop.arguments().iter().map(|name| format!(", {name}")).collect();
        let mut lines = vec![format!("function {}({of}{told})", run_loop.function())];
        if !run_loop.memory.is_empty() {
            lines.push("    if t == 0".into());
            lines.extend(run_loop.memory.iter().map(|reg| format!("        {reg} = {}", zeros(*reg))));
            lines.push("    end".into());
        }
        lines.extend(statements.iter().map(|line| format!("    {line}")));
        lines.push(format!("    return {}", given.join(", ")));
        lines.push("end".into());
        lines
    }

    fn run(called: &str, with: &[&str]) -> String {
        let mut with = with.to_vec();
        let every = with.iter().position(|name| *name == "iterations").map_or(with.len(), |i| i + 1);
        with.insert(every, "callback");
        format!("return {called}({})", with.join(", "))
    }

    fn every(listing: &Listing) -> &'static str {
        match () {
            () if listing.has_sample() => "max(1, size(A, 1) ÷ batch)",
            () if listing.refreshes() => "every",
            () => "1",
        }
    }

    fn answer(result: &str) -> String {
        format!("return {result}")
    }
}

/// The initial value of a carried register.
fn zeros(reg: Reg) -> String {
    format!("zeros(size(A, {}))", if reg == Reg::U1 { 1 } else { 2 })
}

/// Functions used, and the standard library modules besides `LinearAlgebra` that provide them.
const LIBRARIES: [(&[&str], &str); 2] =
    [(&["default_rng(", "randperm(", "randexp("], "Random"), (&["sparse("], "SparseArrays")];

/// A program as a file with one function.
pub fn write(export: &Export) -> Result<String, ExportError> {
    let pieces = Pieces::new(include_str!("templates/pieces.jl"), "#");
    let runs = Pieces::new(include_str!("templates/runs.jl"), "#");
    let listing = &export.listing;
    let function = function(export)?;
    let mut parts: Vec<String> = Vec::new();
    if listing.has_sketch() {
        parts.push(pieces.sketch(export.defaults.sketch));
    }
    if listing.has_sample() {
        let sampling = match export.defaults.sampling {
            Sampling::Unbiased => "unbiased",
            Sampling::Released => "released",
        };
        parts.extend(
            ["rows_by", "subsample"].map(|name| pieces.get(&format!("{name}-{sampling}")).to_string()),
        );
    }
    parts.extend(pieces.called(&HELPERS, &function).into_iter().map(String::from));
    if listing.loops() {
        parts.extend(runners::<Julia>(&export.run_loop, &runs));
    }
    parts.push(function);
    let code = parts.join("\n");
    let used = LIBRARIES.iter().filter(|(uses, _)| uses.iter().any(|call| code.contains(call)));
    let libraries: String = used.map(|(_, library)| format!(", {library}")).collect();
    Ok(format!("{}\nusing LinearAlgebra{libraries}\n\n{code}", comment(export, "#")))
}

const HELPERS: [&str; 8] = [
    "probabilities",
    "triangle",
    "inverse",
    "stacked",
    "orthonormal_rows",
    "leading_ritz_vector",
    "shifted_triangle",
    "nystrom",
];

fn function(export: &Export) -> Result<String, ExportError> {
    let listing = &export.listing;
    let update = listing.signature.update;
    let result = match (listing.loops(), export.run_loop.goal) {
        (false, _) => ".",
        (true, Goal::Squares) => {
            ", and gives (; x, converged, iterations, step, residual, gradient): residual is ‖Ax − b‖, gradient the\n\
             largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A. It warns if it did not converge."
        }
        (true, Goal::CrossEntropy) => {
            ", and gives\n(; x, converged, iterations, step, gradient): gradient is the largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all \
             columns aⱼ of A,\nr = σ(Ax) − b. It warns if it did not converge."
        }
        (true, Goal::Eigenvector) => {
            ", and gives (; x, converged, iterations, eigenvalue, residual): residual is\n\
             ‖Ax − λx‖/(|λ|‖x‖). It warns if it did not converge."
        }
        (true, Goal::Standstill) => {
            ", and gives (; x, converged, iterations, change). It warns if it did not converge."
        }
    };
    let mut text = format!("\"\"\"\n{}{result}\n\n", gives(export));
    for (name, doc) in arguments(export) {
        text += &format!("- `{name}`: {doc}\n");
    }
    if listing.is_random() {
        text += "- `rng`: a generator of random numbers\n";
    }
    if listing.has_sketch() {
        text += "- `sketch`: gives a random matrix of s rows and m columns; from `rng` if not given\n";
    }
    if listing.has_sample() {
        text += "- `sample`: gives k row numbers by their probabilities; from `rng` if not given\n";
    }
    if listing.loops() {
        text += &format!("- `callback`: called with {}\n", seen(export));
    }
    text += &format!("\"\"\"\nfunction {}(\n", export.identifier());
    let positional: Vec<String> = data(export)
        .into_iter()
        .map(|name| match name {
            "x0" if update == Update::Subtract => "x0 = zeros(size(A, 2))".into(),
            name => name.to_string(),
        })
        .collect();
    let keywords = keywords(export);
    text += &format!("    {}{}\n", positional.join(", "), if keywords.is_empty() { "" } else { ";" });
    keywords.iter().for_each(|keyword| text += &format!("    {keyword},\n"));
    text += ")\n";
    let mut lines = Vec::new();
    match update {
        Update::Subtract | Update::Assign if listing.takes_start() => {
            lines.push("x = Vector{Float64}(x0)".to_string());
        }
        _ => {}
    }
    if listing.finds(Reg::P1) {
        lines.push("p1 = fill(1 / size(A, 1), size(A, 1))".into());
    }
    let zero = listing.carried().into_iter().chain(listing.finds_step_in_setup());
    lines.extend(zero.map(|reg| format!("{reg} = {}", zeros(reg))));
    lines.extend(export.run_loop.kept.iter().map(|name| format!("{name} = nothing")));
    lines.iter().for_each(|line| text += &format!("    {line}\n"));
    text += &body::<Julia>(export)?;
    Ok(text + "end\n")
}

/// The keyword arguments.
fn keywords(export: &Export) -> Vec<String> {
    let (listing, defaults) = (&export.listing, &export.defaults);
    let default = |parameter: &Parameter| match parameter {
        Parameter::Step => export.step().map_or("nothing".into(), |step| format!("{step:?}")),
        Parameter::Mu => format!("{:?}", defaults.mu),
        Parameter::Lambda => "0.0".into(),
        Parameter::Every => defaults.every.to_string(),
        Parameter::Tolerance => format!("{:e}", defaults.tolerance),
        Parameter::Iterations => defaults.iterations.to_string(),
        Parameter::SketchRows => match defaults.sketch_factor {
            whole if whole.fract() == 0.0 => format!("min({whole} * size(A, 2), size(A, 1))"),
            factor => format!("min(ceil(Int, {factor:?} * size(A, 2)), size(A, 1))"),
        },
        Parameter::Batch => format!("min({}, size(A, 1))", defaults.batch),
    };
    let parameters = Parameter::of(listing);
    let mut keywords: Vec<String> =
        parameters.iter().map(|p| format!("{} = {}", p.name(), default(p))).collect();
    keywords.extend(listing.is_random().then(|| "rng = Random.default_rng()".into()));
    keywords
        .extend(listing.has_sketch().then(|| format!("sketch = (s, m) -> {}(rng, s, m)", defaults.sketch)));
    keywords.extend(listing.has_sample().then(|| "sample = (p, k) -> rows_by(rng, p, k)".into()));
    keywords.extend(listing.loops().then(|| "callback = x -> nothing".into()));
    keywords
}

/// A script that runs the exported functions of its folder, each in its own module.
pub fn driver(trials: &[Trial]) -> String {
    let mut text = include_str!("templates/driver.jl").to_string();
    for Trial { export, settings, problems } in trials {
        let (name, listing) = (export.identifier(), &export.listing);
        let mut named: Vec<String> =
            Parameter::of(listing).iter().map(|p| format!("{} = {}", p.name(), p.value(settings))).collect();
        named.extend(listing.has_sketch().then(|| "sketch = sketch".into()));
        named.extend(listing.has_sample().then(|| "sample = sample".into()));
        named.extend(listing.loops().then(|| "callback = callback".into()));
        let module = format!("Module_{name}");
        let call = format!("{module}.{name}({}; {})", given(export).join(", "), named.join(", "));
        let shown = if listing.loops() { call } else { format!("callback({call})") };
        text += &format!("\nmodule {module}\ninclude(\"{name}.jl\")\nend\n");
        text += &format!("run_on(\"{name}\", (A, b, x0, sketch, sample, callback) -> {shown})\n");
        for problem in problems {
            let call = format!("{module}.{name}({})", given(export).join(", "));
            text += &format!("try_on(\"{problem}\", \"{name}\", (A, b, x0) -> {call})\n");
        }
    }
    text
}
