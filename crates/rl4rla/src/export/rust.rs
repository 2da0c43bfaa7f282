//! Rust, using the crate faer.

use super::defaults::Parameter;
use super::error::ExportError;
use super::frame::{Code, arguments, body, data, given, gives, length, runners, seen};
use super::head::comment;
use super::language::Trial;
use super::listing::Listing;
use super::pieces::Pieces;
use super::run_loop::RunLoop;
use super::style::Style;
use super::subject::Export;
use crate::execute::Sampling;
use crate::program::{Reg, Section, Templates, Type};

/// The language.
pub struct Rust;

impl Style for Rust {
    const LANGUAGE: &'static str = "Rust";

    fn template(templates: &Templates) -> &'static str {
        templates.rust
    }
}

impl Code for Rust {
    const COMMENT: &'static str = "//";
    const REMARK: &'static str = " // ";
    const ITERATE: [&'static str; 2] = ["x.as_ref()", "ColRef<'_, f64>"];
    const GIVEN_STEP: &'static str = "Some(step)";
    const WARM_START: &'static str = "x.as_ref()";
    const HALVES: &'static str = "Col::from_fn(m, |_| 0.5).as_ref()";

    fn assign(targets: &[String], expression: &str, kept: bool) -> String {
        match targets {
            [target] if kept => format!("{target} = {expression};"),
            [target] => format!("let {target} = {expression};"),
            targets => format!("let ({}) = {expression};", targets.join(", ")),
        }
    }

    fn recall(target: &str, kept_in: &str, value: &str, kept: bool) -> String {
        let first = format!("if t == 0 {{ {kept_in} = {value}.to_owned(); }}");
        let block = format!("{{ {first} std::mem::replace(&mut {kept_in}, {value}.to_owned()) }}");
        Rust::assign(&[target.into()], &block, kept)
    }

    fn when(refreshing: bool, expression: &str, ty: Type) -> String {
        let unused = match ty {
            Type::Scalar => "0.0",
            Type::Vector(_) => "Col::zeros(0)",
            Type::Matrix(..) => "Mat::zeros(0, 0)",
            Type::Weights(_) => "vec![]",
        };
        let not = if refreshing { "" } else { "!" };
        format!("if {not}t.is_multiple_of(every) {{ {expression} }} else {{ {unused} }}")
    }

    fn alias(name: &str, value: &str) -> String {
        format!("let {name} = {value}.clone();")
    }

    fn draw(section: Section) -> String {
        format!("let {} = draws.sketch(sketch_rows, m);", Rust::sketch(section))
    }

    fn moved(result: &str) -> String {
        format!("(&x - Scale(step) * &{result})")
    }

    fn inner(run_loop: &RunLoop, statements: Vec<String>, given: &[String], of: &str) -> Vec<String> {
        let told = run_loop.arguments();
        let told: String = told
            .iter()
            .map(|name| format!(", {name}: {}", if *name == "t" { "usize" } else { "f64" }))
            .collect();
        let mut lines = vec![format!("let {} = |{of}: ColRef<'_, f64>{told}| {{", run_loop.function())];
        if !run_loop.memory.is_empty() {
            lines.push("    if t == 0 {".into());
            lines.extend(
                run_loop.memory.iter().map(|reg| format!("        {reg} = Col::zeros({});", length(*reg))),
            );
            lines.push("    }".into());
        }
        lines.extend(statements.iter().map(|line| format!("    {line}")));
        lines.push(match given {
            [only] => format!("    {only}.to_owned()"),
            [first, rest @ ..] => format!("    [{first}.to_owned(), {}]", rest.join(", ")),
            [] => unreachable!("an iteration gives v1"),
        });
        lines.push("};".into());
        lines
    }

    fn run(called: &str, with: &[&str]) -> String {
        let with: Vec<&str> = with.iter().map(|name| if *name == "x" { "x0" } else { name }).collect();
        format!("{called}({}, observe)", with.join(", "))
    }

    fn every(listing: &Listing) -> &'static str {
        match () {
            () if listing.has_sample() => "(A.nrows() / batch).max(1)",
            () if listing.refreshes() => "every",
            () => "1",
        }
    }

    fn answer(result: &str) -> String {
        format!("{result}.to_owned()")
    }
}

const HELPERS: [&str; 11] = [
    "probabilities",
    "triangle",
    "inverse",
    "invert_upper",
    "solve_upper",
    "solve_upper_transposed",
    "stacked",
    "orthonormal_rows",
    "leading_ritz_vector",
    "shifted_triangle",
    "nystrom",
];

/// A program as a module with one public function.
pub fn write(export: &Export) -> Result<String, ExportError> {
    let pieces = Pieces::new(include_str!("templates/pieces.rs"), "//");
    let runs = Pieces::new(include_str!("templates/runs.rs"), "//");
    let function = function(export)?;
    let sampling = match export.defaults.sampling {
        Sampling::Unbiased => "unbiased",
        Sampling::Released => "released",
    };
    let mut parts = vec![options(export)];
    if export.listing.loops() {
        parts.push(runs.get(export.run_loop.solution()).into());
    }
    parts.push(function.clone());
    if export.listing.loops() {
        parts.extend(runners::<Rust>(&export.run_loop, &runs).into_iter().rev());
    }
    parts.extend(draws(export, &pieces, sampling));
    if export.listing.has_sample() {
        parts.push(pieces.get(&format!("subsample-{sampling}")).into());
    }
    parts.extend(pieces.called(&HELPERS, &function).into_iter().map(String::from));
    parts.retain(|part| !part.is_empty());
    let code = parts.join("\n");
    let solvers =
        if code.contains(".inverse()") { "use faer::linalg::solvers::DenseSolveCore;\n" } else { "" };
    let cell = if code.contains("OnceCell::") { "use std::cell::OnceCell;\n" } else { "" };
    Ok(format!(
        "{}//\n// Cargo.toml: faer = {{ version = \"0.24\", default-features = false, features = [\"std\", \"linalg\"] }}\n\n\
         #![allow(non_snake_case)]\n\n{solvers}use faer::prelude::*;\n{cell}\n{code}",
        comment(export, "//")
    ))
}

/// The struct of numeric parameters.
fn options(export: &Export) -> String {
    let parameters = Parameter::of(&export.listing);
    if parameters.is_empty() {
        return String::new();
    }
    let (mut fields, mut values) = (String::new(), String::new());
    for parameter in &parameters {
        let ty = match parameter {
            Parameter::Step if export.run_loop.finds_step() => "Option<f64>",
            Parameter::Step | Parameter::Mu | Parameter::Lambda | Parameter::Tolerance => "f64",
            Parameter::Every | Parameter::Iterations | Parameter::SketchRows | Parameter::Batch => "usize",
        };
        let found = match parameter {
            Parameter::Step if export.run_loop.finds_step() => {
                format!("; if there is none, {}", export.run_loop.step())
            }
            _ => String::new(),
        };
        fields += &format!(
            "    /// {}, {}{found}.\n    pub {}: {ty},\n",
            parameter.symbol(),
            parameter.doc(),
            parameter.name()
        );
        values += &format!("            {}: {},\n", parameter.name(), default(*parameter, export));
    }
    let uses = |size: &str| parameters.iter().any(|p| default(*p, export).contains(size));
    let [m, n] = [("m", "(m)"), ("n", "* n")].map(|(name, used)| match uses(used) {
        true => format!("{name}: usize"),
        false => format!("_{name}: usize"),
    });
    format!(
        "/// How it runs.\n#[derive(Clone, Debug)]\npub struct Options {{\n{fields}}}\n\n\
         impl Options {{\n    /// The settings it was exported with, for an m×n matrix.\n    \
         pub fn for_size({m}, {n}) -> Options {{\n        Options {{\n{values}        }}\n    }}\n}}\n"
    )
}

fn default(parameter: Parameter, export: &Export) -> String {
    let defaults = &export.defaults;
    match parameter {
        Parameter::Step if export.run_loop.finds_step() => format!("{:?}", export.step()),
        Parameter::Step => format!("{:?}", export.step().unwrap_or(1.0)),
        Parameter::Mu => format!("{:?}", defaults.mu),
        Parameter::Lambda => "0.0".into(),
        Parameter::Every => defaults.every.to_string(),
        Parameter::Tolerance => format!("{:e}", defaults.tolerance),
        Parameter::Iterations => defaults.iterations.to_string(),
        Parameter::SketchRows => match defaults.sketch_factor {
            whole if whole.fract() == 0.0 => format!("({whole} * n).min(m)"),
            factor => format!("(({factor:?} * n as f64).ceil() as usize).min(m)"),
        },
        Parameter::Batch => format!("{}_usize.min(m)", defaults.batch),
    }
}

fn function(export: &Export) -> Result<String, ExportError> {
    let listing = &export.listing;
    let seen = match listing.loops() {
        true => format!("; `observe` sees {}", seen(export)),
        false => String::new(),
    };
    let mut text = format!("/// {}{seen}.\n///\n", gives(export));
    let named = data(export);
    for (name, doc) in arguments(export).into_iter().filter(|(name, _)| named.contains(name)) {
        text += &format!("/// `{name}`: {}.\n", doc.replace("; zero if not given", ""));
    }
    text += &format!("pub fn {}(\n", export.identifier());
    for name in named {
        let ty = if name == "A" { "MatRef<'_, f64>" } else { "ColRef<'_, f64>" };
        text += &format!("    {name}: {ty},\n");
    }
    let parameters: Vec<&str> = Parameter::of(listing).iter().map(|p| p.name()).collect();
    if !parameters.is_empty() {
        text += "    options: &Options,\n";
    }
    if listing.is_random() {
        text += "    draws: &mut impl Draws,\n";
    }
    if listing.loops() {
        text += "    observe: impl FnMut(ColRef<'_, f64>),\n";
    }
    text += if listing.loops() { ") -> Solution {\n" } else { ") -> Col<f64> {\n" };
    text += &prologue(export, &parameters);
    text += &body::<Rust>(export)?;
    Ok(text + "}\n")
}

/// Conversion and checks of the arguments.
fn prologue(export: &Export, parameters: &[&str]) -> String {
    let listing = &export.listing;
    let mut lines = Vec::new();
    if !parameters.is_empty() {
        lines.push(format!("let Options {{ {} }} = options.clone();", parameters.join(", ")));
    }
    let answers = listing.signature.update.is_answer() && listing.loops();
    let [long, short] =
        [true, false].map(|long| listing.carried().iter().any(|reg| (*reg == Reg::U1) == long));
    let rows = long || listing.has_sketch() || listing.finds(Reg::P1) || answers;
    lines.extend(match [rows, short] {
        [true, true] => Some("let (m, n) = A.shape();".into()),
        [true, false] => Some("let m = A.nrows();".into()),
        [false, true] => Some("let n = A.ncols();".into()),
        [false, false] => None,
    });
    let at_start =
        listing.section(Section::Setup).any(|s| s.operands.iter().any(|(name, _)| name.reg == Reg::X));
    if !listing.signature.update.is_answer() && at_start && listing.takes_start() {
        lines.push("let x = x0;".into());
    }
    if listing.finds(Reg::P1) {
        lines.push("let p1 = vec![1.0 / m as f64; m];".into());
    }
    let kept = |reg: &Reg| {
        let written = listing.statements.iter().any(|s| s.targets.iter().any(|name| name.reg == *reg));
        format!("let {}{reg}: Col<f64> = Col::zeros({});", if written { "mut " } else { "" }, length(*reg))
    };
    lines.extend(listing.carried().iter().map(kept));
    lines.extend(
        listing.finds_step_in_setup().map(|reg| format!("let {reg}: Col<f64> = Col::zeros(A.ncols());")),
    );
    lines.extend(listing.kept().iter().map(|(name, ty)| match ty {
        Type::Scalar => format!("let mut {name} = 0.0;"),
        _ => format!("let mut {name}: Col<f64> = Col::zeros(0);"),
    }));
    lines.iter().map(|line| format!("    {line}\n")).collect()
}

/// The trait for random draws and a generator that implements it, if the program needs them.
fn draws(export: &Export, pieces: &Pieces, sampling: &str) -> Vec<String> {
    let listing = &export.listing;
    if !listing.is_random() {
        return Vec::new();
    }
    let sketch = listing.has_sketch().then(|| ("trait-sketch", pieces.sketch(export.defaults.sketch)));
    let sample =
        listing.has_sample().then(|| ("trait-sample", pieces.get(&format!("sample-{sampling}")).to_string()));
    let (promised, made): (Vec<&str>, Vec<String>) =
        sketch.into_iter().chain(sample).map(|(promised, made)| (pieces.get(promised), made)).unzip();
    let methods = made.join("\n");
    let mut generator = pieces.get("Random").to_string();
    for method in pieces.called(&["below", "sign", "uniform", "normal"], &methods) {
        generator += &format!("\n{method}");
    }
    vec![
        format!("{}{}}}\n", pieces.get("Draws"), promised.join("\n")),
        format!("{generator}}}\n"),
        format!("impl Draws for Random {{\n{methods}}}\n"),
    ]
}

/// A main file that runs the exported functions of its folder.
pub fn driver(trials: &[Trial]) -> String {
    let mut text = include_str!("templates/driver.rs").to_string();
    let mut main = String::new();
    for Trial { export, settings, problems } in trials {
        let (name, listing) = (export.identifier(), &export.listing);
        text += &format!("\nmod {name};\n{}", replay(&name, listing));
        let mut given: Vec<String> = given(export).into_iter().map(String::from).collect();
        let data = given.join(", ");
        let value = |parameter: &Parameter| match parameter {
            Parameter::Step if export.run_loop.finds_step() => format!("Some({})", parameter.value(settings)),
            other => other.value(settings),
        };
        let values: Vec<String> =
            Parameter::of(listing).iter().map(|p| format!("{}: {}", p.name(), value(p))).collect();
        given.extend((!values.is_empty()).then(|| format!("&{name}::Options {{ {} }}", values.join(", "))));
        given.extend(listing.is_random().then(|| "draws".into()));
        given.extend(listing.loops().then(|| "|x| results.push(x.to_owned())".into()));
        let call = format!("{name}::{name}({})", given.join(", "));
        let run = match listing.loops() {
            true => format!("let mut results = Vec::new();\n        let _ = {call};\n        results"),
            false => format!("vec![{call}]"),
        };
        // Inputs that the program does not use get no variable.
        let used = |name: &str| {
            if given.iter().any(|given| given == name) { name.into() } else { format!("_{name}") }
        };
        let [b, x0, draws] = ["b", "x0", "draws"].map(used);
        main += &format!("    run(\"{name}\", &|A, {b}, {x0}, {draws}| {{\n        {run}\n    }});\n");
        let options = format!("&{name}::Options::for_size(A.nrows(), A.ncols())");
        let random = if listing.is_random() { format!(", &mut {name}::Random(1)") } else { String::new() };
        for problem in problems {
            main += &format!(
                "    try_on(\"{problem}\", \"{name}\", &|A, {b}, {x0}| {{\n        \
                 let found = {name}::{name}({data}, {options}{random}, |_| ());\n        \
                 (found.converged, found.iterations, found.x)\n    }});\n"
            );
        }
    }
    format!("{text}\nfn main() {{\n{main}}}\n")
}

/// Recorded draws as an implementation of the module's trait.
fn replay(name: &str, listing: &Listing) -> String {
    if !listing.is_random() {
        return String::new();
    }
    let mut methods = String::new();
    if listing.has_sketch() {
        methods += "    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {\n        \
                    Replay::sketch(self, s, m)\n    }\n";
    }
    if listing.has_sample() {
        methods += "    fn sample(&mut self, _: &[f64], _: usize) -> Vec<usize> {\n        Replay::sample(self)\n    }\n";
    }
    format!("impl {name}::Draws for Replay {{\n{methods}}}\n")
}
