//! Code shared by the imperative languages: how a listing becomes the body of a function.

use super::defaults::Parameter;
use super::error::ExportError;
use super::listing::{LAST_X, Listing, Statement, last};
use super::pieces::Pieces;
use super::run_loop::RunLoop;
use super::style::Style;
use super::subject::Export;
use crate::problem::Goal;
use crate::program::{Access, Dim, Geometry, NeededIn, Reg, Section, Type, Update};

/// An imperative language.
pub trait Code: Style {
    /// The comment marker.
    const COMMENT: &'static str;
    /// Separator between a statement and a trailing comment.
    const REMARK: &'static str;
    /// The iterate as an argument passed on by a template, and what follows it in a function's type.
    const ITERATE: [&'static str; 2];

    /// Assignment to the targets; `kept` if the variable is declared outside the iteration.
    fn assign(targets: &[String], expression: &str, kept: bool) -> String;

    /// Assignment of what a variable has kept since the iteration before, which then keeps this value: in the first
    /// iteration, of the value itself.
    fn recall(target: &str, kept_in: &str, value: &str, kept: bool) -> String;

    /// An expression of this type that is computed only in iterations that refresh, or only in those that do not.
    fn when(refreshing: bool, expression: &str, ty: Type) -> String;

    /// A second name for a value.
    fn alias(name: &str, value: &str) -> String;

    /// Statement that draws the sketch of a section.
    fn draw(section: Section) -> String;

    /// The expression x − η·`result`.
    fn moved(result: &str) -> String;

    /// One iteration as a local function of x: its statements and return values.
    fn inner(run_loop: &RunLoop, statements: Vec<String>, given: &[String], of: &str) -> Vec<String>;

    /// A given step size, where the parameter is optional.
    const GIVEN_STEP: &'static str;

    /// Final statement: calls the function that runs the iterations, with these arguments.
    fn run(called: &str, with: &[&str]) -> String;

    /// Number of iterations between residual checks, chosen so that the checks cost little.
    fn every(listing: &Listing) -> &'static str;

    /// The x that setup has written, as an argument.
    const WARM_START: &'static str;

    /// Starting value of an answer: probability 1/2 for every row.
    const HALVES: &'static str;

    /// Final statement of a function without iterations.
    fn answer(result: &str) -> String;
}

/// The statements of setup and iteration, indented by four spaces.
pub fn body<C: Code>(export: &Export) -> Result<String, ExportError> {
    let Export { listing, run_loop, .. } = export;
    let setup = section::<C>(listing, Section::Setup, &[])?;
    let mut lines = Vec::new();
    if !setup.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} Setup, once.", C::COMMENT));
        lines.extend(setup);
    }
    let iteration = section::<C>(listing, Section::Iteration, &run_loop.shown)?;
    let result = C::name(listing.result);
    lines.push(String::new());
    if listing.loops() {
        let update = listing.signature.update;
        let first = match (run_loop.goal, update) {
            (Goal::Standstill, Update::Subtract) => C::moved(&result),
            _ => result,
        };
        let given: Vec<String> =
            [first].into_iter().chain(run_loop.shown.iter().map(|(_, name)| name.to_string())).collect();
        // An answer depends on the inputs only, not on the previous answer.
        let of = if update.is_answer() { "_" } else { "x" };
        lines.extend(C::inner(run_loop, iteration, &given, of));
        lines.push(String::new());
        lines.push(run::<C>(export));
    } else {
        lines.extend(iteration);
        lines.push(C::answer(&result));
    }
    Ok(lines.iter().map(|line| format!("{}\n", format!("    {line}").trim_end())).collect())
}

/// The final statement, which runs the iterations.
fn run<C: Code>(export: &Export) -> String {
    let Export { listing, run_loop, .. } = export;
    let start = match listing.signature.update {
        Update::Answer | Update::Basis => C::HALVES,
        _ if listing.starts_warm() => C::WARM_START,
        Update::Subtract | Update::Assign => "x",
    };
    let called = if run_loop.descends() { "descend" } else { "iterate_until" };
    let step = if run_loop.finds_step() { "step" } else { C::GIVEN_STEP };
    let mut with = vec![run_loop.function()];
    with.extend(match run_loop.goal {
        Goal::Squares | Goal::CrossEntropy => vec!["A", "b", start, step],
        Goal::Eigenvector => vec!["A", start],
        Goal::Standstill => vec![start],
    });
    with.extend(["tolerance", "iterations"]);
    if run_loop.goal == Goal::Squares && run_loop.shown.is_empty() {
        with.push(C::every(listing));
    }
    C::run(called, &with)
}

/// The templates that run the iterations, specialized for this program.
pub fn runners<C: Code>(run_loop: &RunLoop, pieces: &Pieces) -> Vec<String> {
    let [iterate, ty] = C::ITERATE;
    let told: String = run_loop.arguments().iter().map(|name| format!(", {name}")).collect();
    let types: String =
        run_loop.arguments().iter().map(|name| if *name == "t" { ", usize" } else { ", f64" }).collect();
    let adapted = |name: &&str| {
        let piece = pieces.when(name, |condition| run_loop.has(condition));
        let call = |more: &str| format!("{}({iterate}{more})", run_loop.function());
        let typed = |more: &str| format!("FnMut({ty}{more}) -> ");
        piece.replace(&call(""), &call(&told)).replace(&typed(""), &typed(&types))
    };
    run_loop.pieces().iter().map(adapted).collect()
}

fn section<C: Code>(
    listing: &Listing,
    section: Section,
    shown: &[(usize, &str)],
) -> Result<Vec<String>, ExportError> {
    let mut lines: Vec<String> = listing.sketches(section).then(|| C::draw(section)).into_iter().collect();
    if section == Section::Iteration && listing.follows_steps() {
        lines.push(C::recall("d", LAST_X, "x", false));
        lines.push(C::assign(&["d".into()], &C::difference("x", "d"), false) + C::REMARK + "the last step");
    }
    let mut remembered = 0;
    for (at, statement) in listing.section(section).enumerate() {
        let targets: Vec<String> = statement.targets.iter().map(|name| C::name(*name)).collect();
        let kept = statement.targets.iter().any(|name| name.reg.access() == Access::Carried);
        let line = if statement.op.remembers() {
            remembered += 1;
            C::recall(&targets[0], &last(remembered), &C::name(statement.operands[0].0), kept)
        } else {
            C::assign(&targets, &conditional::<C>(statement)?, kept)
        };
        let shape = statement.result.map_or_else(String::new, |ty| format!("{}{ty}", C::REMARK));
        lines.push(line + &shape);
        lines.extend(
            shown.iter().filter(|(place, _)| *place == at).map(|(_, name)| C::alias(name, &targets[0])),
        );
    }
    Ok(lines)
}

/// The expression of a statement, which is computed only in iterations that need it.
fn conditional<C: Code>(statement: &Statement) -> Result<String, ExportError> {
    let expression = C::expression(statement)?;
    let NeededIn { refreshing, ordinary } = statement.needed;
    Ok(match statement.result {
        Some(ty) if refreshing != ordinary => C::when(refreshing, &expression, ty),
        _ => expression,
    })
}

/// The length of a carried vector.
pub fn length(reg: Reg) -> &'static str {
    if reg.length() == Some(Dim::Rows) { "m" } else { "n" }
}

/// Whether the function needs m, and whether it needs n.
pub fn sizes(export: &Export) -> [bool; 2] {
    let listing = &export.listing;
    let answers = listing.signature.update.is_answer() && listing.loops();
    let long = listing.carried().contains(&Reg::U1);
    let rows = long || listing.has_sketch() || listing.has_sample() || listing.finds(Reg::P1) || answers;
    let starts = listing.signature.update == Update::Subtract;
    let short = listing.carried().iter().any(|reg| *reg != Reg::U1);
    let cols = starts || short || listing.has_sketch();
    [rows, cols]
}

/// The leading arguments: the data, and the starting point.
pub fn data(export: &Export) -> Vec<&'static str> {
    let listing = &export.listing;
    let b = (listing.reads_b() || export.run_loop.descends()).then_some("b");
    let start = match listing.signature.update {
        Update::Subtract | Update::Assign => listing.takes_start().then_some("x0"),
        Update::Answer | Update::Basis => listing.finds(Reg::X).then_some("x"),
    };
    ["A"].into_iter().chain(b).chain(start).collect()
}

/// The same arguments as the driver passes them.
pub fn given(export: &Export) -> Vec<&'static str> {
    data(export).into_iter().map(|name| if name == "x" { "x0" } else { name }).collect()
}

/// What the history records after every iteration, in words.
pub fn seen(export: &Export) -> &'static str {
    match export.run_loop.goal {
        Goal::Squares if export.run_loop.finds_step() => {
            "every iterate, those of attempts that diverged included"
        }
        _ => "every iterate",
    }
}

/// What a call returns, in one line.
pub fn gives(export: &Export) -> &'static str {
    match (export.listing.loops(), export.run_loop.goal) {
        (false, _) if export.listing.signature.update == Update::Basis => {
            "An orthonormal basis for approximations of A, its rows one after the other"
        }
        (false, _) => "The answer, one number for each row of A",
        (true, Goal::Squares) => "Minimises ‖Ax − b‖",
        (true, Goal::CrossEntropy) => {
            "Minimises the cross-entropy of the labels b and the probabilities σ(Ax)"
        }
        (true, Goal::Eigenvector) => "Looks for the leading eigenvector of A",
        (true, Goal::Standstill) => "Iterates until nothing changes",
    }
}

/// Every argument with its description, defaults included.
pub fn arguments(export: &Export) -> Vec<(&'static str, String)> {
    let (square, update) = (export.is_square(), export.listing.signature.update);
    let square_matrix = match export.listing.signature.geometry {
        Geometry::Symmetric => "a symmetric n×n matrix",
        Geometry::Tall | Geometry::Square => "an n×n matrix",
    };
    let mut lines: Vec<(&str, String)> = Vec::new();
    for name in data(export) {
        let doc = match (name, square) {
            ("A", false) => "an m×n matrix with m ≥ n",
            ("A", true) => square_matrix,
            ("b", false) if export.run_loop.goal == Goal::CrossEntropy => "a vector of m labels, 0 or 1",
            ("b", false) => "a vector of m numbers",
            ("b", true) => "a vector of n numbers",
            ("x", _) => "a vector of n numbers",
            (_, _) if update == Update::Assign => "where to start",
            _ => "where to start; zero if not given",
        };
        lines.push((name, doc.into()));
    }
    for parameter in Parameter::of(&export.listing) {
        let doc = format!("{}, {}; {}", parameter.symbol(), parameter.doc(), parameter.default(export));
        lines.push((parameter.name(), doc));
    }
    lines
}
