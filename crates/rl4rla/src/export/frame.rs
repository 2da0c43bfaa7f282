//! What languages of statements share: how a listing becomes the body of a function.

use super::defaults::Parameter;
use super::error::ExportError;
use super::listing::Listing;
use super::subject::Export;
use super::table::Style;
use crate::program::{Access, Geometry, Reg, Section, Update};

/// A language of statements.
pub trait Code: Style {
    /// The sign of a comment.
    const COMMENT: &'static str;
    /// What stands between a statement and a remark on it.
    const REMARK: &'static str;
    /// What stands before and after the statements of a loop.
    const LOOP: [&'static str; 2];

    /// Gives values names; one that is kept between iterations has its name already.
    fn assign(targets: &[String], expression: &str, kept: bool) -> String;

    /// Draws the sketch of a section.
    fn draw(section: Section) -> String;

    /// Ends an iteration: moves on by the value named, and shows where that leads.
    fn update(update: Update, result: &str) -> Vec<String>;

    /// Ends a function that needs no iterations.
    fn answer(result: &str) -> String;
}

/// The statements of setup and of the iterations, indented by four.
pub fn body<C: Code>(listing: &Listing) -> Result<String, ExportError> {
    let setup = section::<C>(listing, Section::Setup)?;
    let mut lines = Vec::new();
    if !setup.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} Setup, once.", C::COMMENT));
        lines.extend(setup);
    }
    let iteration = section::<C>(listing, Section::Iteration)?;
    let result = C::name(listing.result);
    lines.push(String::new());
    if listing.loops() {
        let [head, end] = C::LOOP;
        lines.push(head.into());
        let inside = iteration.into_iter().chain(C::update(listing.signature.update, &result));
        lines.extend(inside.map(|line| format!("    {line}")));
        lines.extend(Some(end.to_string()).filter(|end| !end.is_empty()));
    } else {
        lines.extend(iteration);
        lines.push(C::answer(&result));
    }
    Ok(lines.iter().map(|line| format!("{}\n", format!("    {line}").trim_end())).collect())
}

fn section<C: Code>(listing: &Listing, section: Section) -> Result<Vec<String>, ExportError> {
    let mut lines: Vec<String> = listing.sketches(section).then(|| C::draw(section)).into_iter().collect();
    for statement in listing.section(section) {
        let targets: Vec<String> = statement.targets.iter().map(|name| C::name(*name)).collect();
        let kept = statement.targets.iter().any(|name| name.reg.access() == Access::Carried);
        let line = C::assign(&targets, &C::expression(statement)?, kept);
        let shape = statement.result.map_or_else(String::new, |ty| format!("{}{ty}", C::REMARK));
        lines.push(line + &shape);
    }
    Ok(lines)
}

/// The sizes of A that a function needs to know: m and n.
pub fn sizes(export: &Export) -> [bool; 2] {
    let listing = &export.listing;
    let answers = listing.signature.update == Update::Answer && listing.loops();
    let rows = listing.has_sketch() || listing.has_sample() || listing.finds(Reg::P1) || answers;
    let starts = listing.signature.update == Update::Subtract;
    let cols = starts || !listing.carried().is_empty() || listing.has_sketch();
    [rows, cols]
}

/// What a function takes first: the data, and where it starts.
pub fn data(listing: &Listing) -> Vec<&'static str> {
    let b = listing.reads_b().then_some("b");
    let start = match listing.signature.update {
        Update::Subtract | Update::Assign => Some("x0"),
        Update::Answer => listing.finds(Reg::X).then_some("x"),
    };
    ["A"].into_iter().chain(b).chain(start).collect()
}

/// The same as a driver calls it.
pub fn given(listing: &Listing) -> Vec<&'static str> {
    data(listing).into_iter().map(|name| if name == "x" { "x0" } else { name }).collect()
}

/// What every argument is, a line for each; numbers with what they are if not given.
pub fn arguments(export: &Export) -> Vec<(&'static str, String)> {
    let (square, update) = (export.is_square(), export.listing.signature.update);
    let square_matrix = match export.listing.signature.geometry {
        Geometry::Symmetric => "a symmetric n×n matrix",
        Geometry::Tall | Geometry::Square => "an n×n matrix",
    };
    let mut lines: Vec<(&str, String)> = Vec::new();
    for name in data(&export.listing) {
        let doc = match (name, square) {
            ("A", false) => "an m×n matrix with m ≥ n",
            ("A", true) => square_matrix,
            ("b", false) => "a vector of m numbers",
            ("b", true) => "a vector of n numbers",
            ("x", _) => "a vector of n numbers",
            (_, _) if update == Update::Assign => "where to start",
            _ => "where to start; zero if not given",
        };
        lines.push((name, doc.into()));
    }
    for parameter in Parameter::of(&export.listing) {
        let doc =
            format!("{}, {}; {}", parameter.symbol(), parameter.doc(), parameter.default(&export.defaults));
        lines.push((parameter.name(), doc));
    }
    lines
}
