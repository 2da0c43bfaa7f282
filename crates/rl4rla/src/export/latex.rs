//! LaTeX: a document with one algorithm.

use super::defaults::Parameter;
use super::error::ExportError;
use super::head::comment;
use super::listing::{Name, Statement, ValueVersion};
use super::style::Style;
use super::subject::Export;
use crate::execute::Sampling;
use crate::problem::Goal;
use crate::program::{Core, Dim, NeededIn, Reg, Section, Templates, Type, Update};

/// The language.
pub struct Latex;

impl Style for Latex {
    const LANGUAGE: &'static str = "LaTeX";

    fn template(templates: &Templates) -> &'static str {
        templates.latex
    }

    fn name(Name { reg, mark }: Name) -> String {
        let (letter, index) = reg.name().split_at(1);
        let letter = match letter {
            _ if reg == Reg::ETA => return "\\eta".into(),
            _ if reg == Reg::MU => return "\\mu".into(),
            _ if reg == Reg::LAMBDA => return "\\lambda".into(),
            "a" => "\\alpha",
            letter => letter,
        };
        // There is only one distribution, so it needs no index.
        let index = if reg == Reg::P1 { "" } else { index };
        let mark = match mark {
            ValueVersion::Plain => "",
            ValueVersion::Once => "0",
            ValueVersion::Again => "t",
        };
        match (index, mark) {
            ("", "") => letter.into(),
            ("", one) | (one, "") => format!("{letter}_{one}"),
            (index, mark) => format!("{letter}_{{{index},{mark}}}"),
        }
    }

    fn sketch(section: Section) -> &'static str {
        match section {
            Section::Setup => "S",
            Section::Iteration => "\\Omega_t",
        }
    }
}

/// Symbols that not every reader knows, with their meaning.
const LEGEND: [(&str, &str); 7] = [
    (
        "\\operatorname{qr}(",
        "$\\operatorname{qr}(M)$ is the upper triangular $R$ of $M = QR$ with a nonnegative diagonal",
    ),
    ("^{+}", "$M^{+}$ is $M^{-1}$, or the pseudo-inverse where $M$ is singular"),
    (
        "\\operatorname{norms}(",
        "$\\operatorname{norms}(M)$ are probabilities proportional to the squared row norms of $M$",
    ),
    ("\\sigma(", "$\\sigma(z) = 1/(1 + e^{-z})$, entry by entry"),
    ("\\odot", "$\\odot$ multiplies entry by entry"),
    ("^{-}", "$v^{-}$ is the value of $v$ in the iteration before, and $v$ itself in the first"),
    ("\\lvert", "$\\lvert v \\rvert$ is taken entry by entry"),
];

const PREAMBLE: &str = "\\documentclass{article}
\\usepackage[T1]{fontenc}
\\usepackage[margin=25mm]{geometry}
\\usepackage{amsmath,amssymb}
\\usepackage{algorithm}
\\usepackage{algpseudocode}
\\algrenewcommand\\algorithmicrequire{\\textbf{Input:}}
\\algrenewcommand\\algorithmicensure{\\textbf{Output:}}
\\pagestyle{empty}
";

/// A document with one algorithm; the text between `\\begin{algorithm}` and `\\end{algorithm}` can be copied into
/// another document.
pub fn write(export: &Export) -> Result<String, ExportError> {
    let algorithm = algorithm(export)?;
    let lines = export.equation.latex.replace(",\\quad ", " \\\\\n").replace(";\\ ", " \\\\\n");
    let legend: Vec<String> =
        notes(export, &algorithm).iter().map(|note| format!("\\item {note}.\n")).collect();
    let legend = match legend.is_empty() {
        true => String::new(),
        false => format!("\\noindent Here\n\\begin{{itemize}}\n{}\\end{{itemize}}\n", legend.concat()),
    };
    Ok(format!(
        "{}\n{PREAMBLE}\\begin{{document}}\n{algorithm}\nOne iteration computes\n\\begin{{gather*}}\n{lines}\n\\end{{gather*}}\n\
         {legend}\n\\noindent It costs {}.\n\n\\noindent Origin: {}; exported by rl4rla {}.\n\\end{{document}}\n",
        comment(export, "%"),
        flops(export),
        escaped(&export.provenance.words()),
        escaped(&export.provenance.version),
    ))
}

fn algorithm(export: &Export) -> Result<String, ExportError> {
    let listing = &export.listing;
    let update = listing.signature.update;
    let result = Latex::name(listing.result);
    let mut text = format!(
        "\\begin{{algorithm}}[h]\n\\caption{{{}}}\n\\label{{alg:{}}}\n\\begin{{algorithmic}}[1]\n",
        escaped(export.title()),
        export.identifier().replace('_', "-")
    );
    text += &format!("\\Require {}\n", inputs(export).join(", "));
    text += match update {
        Update::Subtract | Update::Assign => "\\Ensure $x$\n",
        Update::Answer => "\\Ensure $y$, a number for each row of $A$\n",
        Update::Basis => "\\Ensure $y$, an orthonormal basis by rows\n",
    };
    if listing.finds(Reg::P1) {
        text += "\\State $p \\gets (1/m, \\dots, 1/m)$\n"
            .replace('m', if export.is_square() { "n" } else { "m" })
            .as_str();
    }
    for reg in listing.carried().into_iter().chain(listing.finds_step_in_setup()) {
        text += &format!("\\State ${} \\gets 0$\n", Latex::name(Name { reg, mark: ValueVersion::Plain }));
    }
    text += &section(export, Section::Setup)?;
    if listing.loops() {
        text += "\\For{$t = 1, \\dots, T$}\n";
        text += &format!("\\State stop if {}\n", stop(export.run_loop.goal));
    }
    text += &section(export, Section::Iteration)?;
    text += &match update {
        Update::Subtract => format!("\\State $x \\gets x - \\eta \\, {result}$\n"),
        Update::Assign => format!("\\State $x \\gets {result}$\n"),
        Update::Answer | Update::Basis => format!("\\State $y \\gets {result}$\n"),
    };
    if listing.loops() {
        text += "\\EndFor\n";
    }
    text += if update.is_answer() { "\\State \\Return $y$\n" } else { "\\State \\Return $x$\n" };
    Ok(text + "\\end{algorithmic}\n\\end{algorithm}\n")
}

fn section(export: &Export, section: Section) -> Result<String, ExportError> {
    let (mut text, listing) = (String::new(), &export.listing);
    if listing.sketches(section) {
        let rows = if export.is_square() { "n" } else { "m" };
        let sketch = Latex::sketch(section);
        text += &format!("\\State draw a sketch ${sketch} \\in \\mathbb{{R}}^{{s \\times {rows}}}$\n");
    }
    if section == Section::Iteration && listing.follows_steps() {
        text += "\\State $d \\gets x - x^{-}$ \\Comment{the last step}\n";
    }
    for statement in listing.section(section) {
        text += match statement.needed {
            NeededIn { ordinary: false, .. } => "\\State if $k \\mid t - 1$: ",
            NeededIn { refreshing: false, .. } => "\\State if $k \\nmid t - 1$: ",
            _ => "\\State ",
        };
        text += &format!("${} \\gets {}$", targets(statement), Latex::expression(statement)?);
        text += &statement.result.map_or_else(String::new, |ty| format!(" \\Comment{{{}}}", shape(ty)));
        text += "\n";
    }
    Ok(text)
}

fn targets(statement: &Statement) -> String {
    let names: Vec<String> = statement.targets.iter().map(|name| Latex::name(*name)).collect();
    names.join(", ")
}

/// The shape of a value.
fn shape(ty: Type) -> String {
    match ty {
        Type::Scalar => "scalar".into(),
        Type::Vector(length) | Type::Weights(length) => format!("$\\mathbb{{R}}^{length}$"),
        Type::Matrix(rows, cols, _) => format!("$\\mathbb{{R}}^{{{rows} \\times {cols}}}$"),
    }
}

/// The inputs with their shapes.
fn inputs(export: &Export) -> Vec<String> {
    let listing = &export.listing;
    let geometry = listing.signature.geometry;
    let mut inputs = vec![format!("$A \\in {}$", shape(geometry.matrix()).trim_matches('$'))];
    if listing.reads_b() {
        inputs.push(format!("$b \\in \\mathbb{{R}}^{}$", geometry.dim(Dim::Rows)));
    }
    match listing.signature.update {
        Update::Subtract | Update::Assign if !listing.takes_start() => {}
        Update::Subtract | Update::Assign => inputs.push("start $x \\in \\mathbb{R}^n$".into()),
        Update::Answer | Update::Basis if listing.finds(Reg::X) => {
            inputs.push("$x \\in \\mathbb{R}^n$".into())
        }
        Update::Answer | Update::Basis => {}
    }
    for parameter in Parameter::of(listing) {
        let symbol = parameter
            .symbol()
            .replace('η', "\\eta")
            .replace('μ', "\\mu")
            .replace('λ', "\\lambda")
            .replace('τ', "\\tau");
        inputs.push(format!("{} ${symbol}$", parameter.doc().trim_start_matches("the ")));
    }
    inputs
}

/// Explanations of the symbols that occur in the algorithm.
fn notes(export: &Export, algorithm: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if export.listing.has_sketch() {
        let sketch = export.defaults.sketch;
        notes.push(format!(
            "a sketch is random with $\\mathbb{{E}}\\, S^\\top S = I$: {} ({sketch})",
            sketch.latex()
        ));
    }
    if export.listing.has_sample() {
        let rows =
            "$\\operatorname{rows}_k(A, b; p)$ are $k$ rows of $A$ and $b$ drawn with probabilities $p$";
        notes.push(match export.defaults.sampling {
            Sampling::Unbiased => format!("{rows}, independently, row $i$ times $1/\\sqrt{{k p_i}}$"),
            Sampling::Released => format!("{rows}, without replacement"),
        });
    }
    if export.listing.reads_step() && export.listing.loops() && export.run_loop.finds_step() {
        notes.push(format!("$\\eta$ is, unless given, {}", export.run_loop.step()));
    }
    if export.listing.statements.iter().any(|statement| statement.op.is(Core::ScalarDiv)) {
        notes.push("a quotient of two numbers is $0$ where the divisor is $0$".into());
    }
    let used = LEGEND.iter().filter(|(sign, _)| algorithm.contains(sign));
    notes.extend(used.map(|(_, note)| note.to_string()));
    notes
}

/// The stopping criterion, in formulas.
fn stop(goal: Goal) -> &'static str {
    match goal {
        Goal::Squares => {
            "$|a_j^\\top r| \\le \\tau \\|a_j\\| \\|r\\|$ for every column $a_j$ of $A$, or $\\|r\\| \\le \\tau \\|b\\|$, with $r = A x - b$"
        }
        Goal::CrossEntropy => {
            "$|a_j^\\top r| \\le \\tau \\|a_j\\| \\|r\\|$ for every column $a_j$ of $A$, with $r = \\sigma(A x) - b$"
        }
        Goal::Eigenvector => {
            "$\\|A x - \\lambda x\\| \\le \\tau |\\lambda| \\|x\\|$, with $\\lambda = x^\\top A x / x^\\top x$"
        }
        Goal::Standstill => "an iteration changes the result by no more than $\\tau$ of its length",
    }
}

/// The cost, in formulas.
fn flops(export: &Export) -> String {
    let [setup, iteration, refresh] = export.flops().map(|flops| flops.latex());
    let each = match refresh == "0" {
        true => "in every iteration".to_string(),
        false => format!("in every iteration and ${refresh}$ every $k$ iterations"),
    };
    match (setup == "0", export.listing.loops()) {
        (true, true) => format!("${iteration}$ floating-point operations {each}"),
        (false, true) => {
            format!("${setup}$ floating-point operations once and ${iteration}$ {each}")
        }
        (true, false) => format!("${iteration}$ floating-point operations"),
        (false, false) => format!("${setup} + {iteration}$ floating-point operations"),
    }
}

/// The text with LaTeX's special characters escaped and characters replaced that its fonts lack.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\\' => "\\textbackslash{}".to_string(),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        ' '..='~' | 'À'..='ž' => c.into(),
        c if c.is_whitespace() => " ".into(),
        '–' | '−' => "--".into(),
        '’' => "'".into(),
        _ => "?".into(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_made_harmless() {
        assert_eq!(escaped("a_b & 50% \\x Müller ∞"), "a\\_b \\& 50\\% \\textbackslash{}x Müller ?");
    }
}
