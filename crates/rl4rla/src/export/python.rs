//! Python, with NumPy, and SciPy where it helps.

use super::defaults::Parameter;
use super::error::ExportError;
use super::frame::{Code, arguments, body, data, given, gives, length, runners, seen, sizes};
use super::head::comment;
use super::language::Trial;
use super::listing::Listing;
use super::pieces::Pieces;
use super::run_loop::RunLoop;
use super::style::Style;
use super::subject::Export;
use crate::execute::Sampling;
use crate::program::{Reg, Section, Templates, Type, Update};

/// The language.
pub struct Python;

impl Style for Python {
    const LANGUAGE: &'static str = "Python";

    fn template(templates: &Templates) -> &'static str {
        templates.python
    }
}

impl Code for Python {
    const COMMENT: &'static str = "#";
    const REMARK: &'static str = "  # ";
    const ITERATE: [&'static str; 2] = ["x", ""];
    const GIVEN_STEP: &'static str = "step";
    const WARM_START: &'static str = "x";
    const HALVES: &'static str = "np.full(m, 0.5)";

    fn assign(targets: &[String], expression: &str, _: bool) -> String {
        format!("{} = {expression}", targets.join(", "))
    }

    fn recall(target: &str, kept_in: &str, value: &str, kept: bool) -> String {
        let targets = [target, kept_in].map(String::from);
        Python::assign(&targets, &format!("{value} if t == 0 else {kept_in}, {value}"), kept)
    }

    fn when(refreshing: bool, expression: &str, _: Type) -> String {
        format!("{expression} if t % every {} 0 else None", if refreshing { "==" } else { "!=" })
    }

    fn alias(name: &str, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn draw(section: Section) -> String {
        format!("{} = draws.sketch(sketch_rows, m)", Python::sketch(section))
    }

    fn moved(result: &str) -> String {
        format!("x - step * {result}")
    }

    fn inner(run_loop: &RunLoop, statements: Vec<String>, given: &[String], of: &str) -> Vec<String> {
        let told: String = run_loop.arguments().iter().map(|name| format!(", {name}")).collect();
        let mut lines = vec![format!("def {}({of}{told}):", run_loop.function())];
        let names: Vec<&str> = run_loop.memory.iter().map(|reg| reg.name()).collect();
        if run_loop.remembers() {
            let kept = run_loop.kept.iter().map(String::as_str);
            let all: Vec<&str> = names.iter().copied().chain(kept).collect();
            lines.extend((!all.is_empty()).then(|| format!("    nonlocal {}", all.join(", "))));
        }
        if !names.is_empty() {
            lines.push("    if t == 0:".into());
            lines.extend(
                run_loop.memory.iter().map(|reg| format!("        {reg} = np.zeros({})", length(*reg))),
            );
        }
        lines.extend(statements.iter().map(|line| format!("    {line}")));
        lines.push(format!("    return {}", given.join(", ")));
        lines
    }

    fn run(called: &str, with: &[&str]) -> String {
        let mut with = with.to_vec();
        // Optional arguments come last.
        let every = with.iter().position(|name| *name == "iterations").map_or(with.len(), |i| i + 1);
        with.insert(every, "callback");
        format!("return {called}({})", with.join(", "))
    }

    fn every(listing: &Listing) -> &'static str {
        match () {
            () if listing.has_sample() => "max(1, m // batch)",
            () if listing.refreshes() => "every",
            () => "1",
        }
    }

    fn answer(result: &str) -> String {
        format!("return {result}")
    }
}

/// Functions used, and where they are imported from.
const IMPORTS: [(&str, &str); 4] = [
    ("sparse.", "from scipy import sparse"),
    ("solve_triangular(", "from scipy.linalg import solve_triangular"),
    ("LinearOperator(", "from scipy.sparse.linalg import LinearOperator"),
    ("expit(", "from scipy.special import expit"),
];

const HELPERS: [&str; 7] = [
    "probabilities",
    "triangle",
    "inverse",
    "orthonormal_rows",
    "leading_ritz_vector",
    "shifted_triangle",
    "nystrom",
];

/// A program as a module with one function.
pub fn write(export: &Export) -> Result<String, ExportError> {
    let pieces = Pieces::new(include_str!("templates/pieces.py"), "#");
    let runs = Pieces::new(include_str!("templates/runs.py"), "#");
    let function = function(export)?;
    let mut parts = pieces.called(&HELPERS, &function);
    let released = export.defaults.sampling == Sampling::Released;
    let kind = if released { "released" } else { "unbiased" };
    let subsample = format!("subsample-{kind}");
    if export.listing.has_sample() {
        parts.push(pieces.get(&subsample));
    }
    let mut parts: Vec<String> = parts.into_iter().map(String::from).collect();
    if export.listing.loops() {
        parts.push(runs.get(export.run_loop.solution()).into());
        parts.extend(runners::<Python>(&export.run_loop, &runs));
    }
    let mut code = draws(export, &pieces, kind);
    for part in parts.into_iter().chain([function]) {
        code += &format!("\n\n{part}");
    }
    let imports: String =
        IMPORTS.iter().filter(|(used, _)| code.contains(used)).map(|(_, line)| format!("{line}\n")).collect();
    let standard =
        if export.listing.loops() { "import warnings\nfrom typing import NamedTuple\n\n" } else { "" };
    Ok(format!("{}\n{standard}import numpy as np\n{imports}{code}", comment(export, "#")))
}

/// The class that makes the random draws, if the program needs one.
fn draws(export: &Export, pieces: &Pieces, sampling: &str) -> String {
    let listing = &export.listing;
    let sketch = listing.has_sketch().then(|| pieces.sketch(export.defaults.sketch));
    let sample = listing.has_sample().then(|| pieces.get(&format!("sample-{sampling}")).to_string());
    let methods: Vec<String> = sketch.into_iter().chain(sample).collect();
    if methods.is_empty() {
        return String::new();
    }
    let mut class = format!("\n\n{}", pieces.get("Draws"));
    methods.iter().for_each(|method| class += &format!("\n{method}"));
    class
}

fn function(export: &Export) -> Result<String, ExportError> {
    let listing = &export.listing;
    let random = listing.is_random();
    let update = listing.signature.update;
    let parameters = Parameter::of(listing);
    let mut text = format!("def {}(\n", export.identifier());
    for name in data(export) {
        let default = if name == "x0" && update == Update::Subtract { "=None" } else { "" };
        text += &format!("    {name}{default},\n");
    }
    let mut named: Vec<String> =
        parameters.iter().map(|p| format!("{}={}", p.name(), default(*p, export))).collect();
    named.extend(["rng=None", "draws=None"].into_iter().filter(|_| random).map(String::from));
    named.extend(listing.loops().then(|| "callback=None".into()));
    if !named.is_empty() {
        text += "    *,\n";
    }
    let result = match listing.loops() {
        true => ", and gives a Solution; warns if that did not converge.",
        false => ".",
    };
    named.iter().for_each(|parameter| text += &format!("    {parameter},\n"));
    text += &format!("):\n    \"\"\"{}{result}\n\n", gives(export));
    for (name, doc) in arguments(export) {
        text += &format!("    {name}: {doc}\n");
    }
    if random {
        text += "    rng: a seed or a generator of numpy.random\n";
        text += "    draws: where random objects come from; Draws(rng) if not given\n";
    }
    if listing.loops() {
        text += &format!("    callback: called with {}\n", seen(export));
    }
    text += "    \"\"\"\n";
    text += &prologue(export);
    text += &body::<Python>(export)?;
    Ok(text)
}

fn default(parameter: Parameter, export: &Export) -> String {
    match parameter {
        Parameter::Step => export.step().map_or("None".into(), |step| format!("{step:?}")),
        Parameter::Mu => format!("{:?}", export.defaults.mu),
        Parameter::Lambda => "0.0".into(),
        Parameter::Every => export.defaults.every.to_string(),
        Parameter::Tolerance => format!("{:e}", export.defaults.tolerance),
        Parameter::Iterations => export.defaults.iterations.to_string(),
        Parameter::SketchRows | Parameter::Batch => "None".into(),
    }
}

/// Conversion and checks of the arguments.
fn prologue(export: &Export) -> String {
    let listing = &export.listing;
    let mut lines: Vec<String> = data(export)
        .iter()
        .filter(|name| **name != "x0")
        .map(|name| format!("{name} = np.asarray({name}, dtype=float)"))
        .collect();
    lines.extend(match sizes(export) {
        [true, true] => Some("m, n = A.shape".into()),
        [true, false] => Some("m = A.shape[0]".into()),
        [false, true] => Some("n = A.shape[1]".into()),
        [false, false] => None,
    });
    match listing.signature.update {
        _ if !listing.takes_start() => {}
        Update::Subtract => {
            lines.push("x = np.zeros(n) if x0 is None else np.asarray(x0, dtype=float)".into())
        }
        Update::Assign => lines.push("x = np.asarray(x0, dtype=float)".into()),
        Update::Answer | Update::Basis => {}
    }
    if listing.has_sketch() {
        let rows = match export.defaults.sketch_factor {
            whole if whole.fract() == 0.0 => format!("{whole} * n"),
            factor => format!("int(np.ceil({factor:?} * n))"),
        };
        lines.push(format!("sketch_rows = min({rows}, m) if sketch_rows is None else sketch_rows"));
    }
    if listing.has_sample() {
        lines.push(format!("batch = min({}, m) if batch is None else batch", export.defaults.batch));
    }
    if listing.is_random() {
        lines.push("draws = Draws(rng) if draws is None else draws".into());
    }
    if listing.finds(Reg::P1) {
        lines.push("p1 = np.full(m, 1 / m)".into());
    }
    let zero = listing.carried().into_iter().chain(listing.finds_step_in_setup());
    lines.extend(zero.map(|reg| format!("{reg} = np.zeros({})", length(reg))));
    lines.extend(export.run_loop.kept.iter().map(|name| format!("{name} = None")));
    lines.iter().map(|line| format!("    {line}\n")).collect()
}

/// A script that runs the exported functions of its folder.
pub fn driver(trials: &[Trial]) -> String {
    let mut text = include_str!("templates/driver.py").to_string() + "\n\n";
    for Trial { export, settings, problems } in trials {
        let (name, listing) = (export.identifier(), &export.listing);
        let data_given = given(export);
        let mut given: Vec<String> = data_given.iter().map(|name| name.to_string()).collect();
        given.extend(Parameter::of(listing).iter().map(|p| format!("{}={}", p.name(), p.value(settings))));
        given.extend(listing.is_random().then(|| "draws=draws".into()));
        given.extend(listing.loops().then(|| "callback=callback".into()));
        let call = format!("{name}.{name}({})", given.join(", "));
        let shown = if listing.loops() { call } else { format!("callback({call})") };
        text += &format!("import {name}\n\nrun(\"{name}\", lambda A, b, x0, draws, callback: {shown})\n");
        let may_be_missing = listing.signature.update == Update::Subtract;
        let mut own: Vec<&str> =
            data_given.into_iter().filter(|name| !(may_be_missing && *name == "x0")).collect();
        own.extend(listing.is_random().then_some("rng=1"));
        let own = own.join(", ");
        for problem in problems {
            text += &format!("try_on(\"{problem}\", \"{name}\", lambda A, b, x0: {name}.{name}({own}))\n");
        }
    }
    text
}
