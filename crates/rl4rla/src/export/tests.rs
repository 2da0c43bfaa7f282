//! Exports of every program in every language, one of them compared letter by letter, and exports that are refused.

use super::*;
use crate::execute::{Sampling, SketchKind};
use crate::problem::Family;
use crate::program::{
    CATALOGUE, Compute, Document, Entry, Form, Geometry, Instruction, Op, Operator, Pattern, Program, Reg,
    Signature, Size, Update,
};

fn provenance(name: &str) -> Provenance {
    let origin = vec![("catalogue entry".to_string(), name.to_string())];
    Provenance { name: name.into(), known: None, origin, version: "0.0.0".into() }
}

fn exported<'a>(entry: &'a Entry, defaults: Defaults) -> Export<'a> {
    let signature = Family::named(&entry.document.family).unwrap().signature();
    Export::new(&entry.document, signature, defaults, provenance(entry.name)).unwrap()
}

fn code(text: &str, update: Update, language: &str) -> Result<String, ExportError> {
    let document: Document = update.text(&text.parse().unwrap()).parse().unwrap();
    let signature = Signature::new(Geometry::Tall, update);
    let export = Export::new(&document, signature, Defaults::default(), provenance("mine")).unwrap();
    export.write(Language::named(language).unwrap())
}

#[test]
fn every_program_exports_to_every_language_and_says_where_it_is_from() {
    for entry in CATALOGUE.iter() {
        for sketch in SketchKind::ALL {
            for sampling in Sampling::ALL {
                let export = exported(entry, Defaults { sketch, sampling, ..Defaults::default() });
                for language in Language::all() {
                    let text = export.write(language).unwrap();
                    let first = if language.name == "json" { "equation" } else { "Origin: catalogue entry" };
                    assert!(text.contains(first) && text.contains(entry.name), "{} {language}", entry.name);
                    assert!(text.contains(&entry.document.title), "{} {language}", entry.name);
                    assert!(text.lines().all(|line| line.trim_end() == line), "{} {language}", entry.name);
                    assert!(text.ends_with('\n') && !text.contains('\t'));
                }
                let [julia, latex] =
                    ["julia", "latex"].map(|name| export.write(Language::named(name).unwrap()).unwrap());
                assert_eq!(unbalanced(&julia), None, "{}", entry.name);
                assert_eq!(latex_faults(&latex), None, "{}", entry.name);
            }
        }
    }
}

#[test]
fn least_squares_gradient_descent_to_the_letter() {
    let export = exported(Entry::named("ls-gd").unwrap(), Defaults::default());
    let python = export.write(Language::named("python").unwrap()).unwrap();
    let (head, rest) = python.split_once("\nclass Solution").unwrap();
    assert_eq!(
        head,
        "\
# Least Square Gradient Descent
# Gradient descent on the least-squares loss; its speed depends on the condition number squared.
# Reference: Cauchy (1847); Landweber (1951)
#
#     xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)
#
# Flops: 4mn + m + 2n in every iteration.
# Symbols: A is m×n, η the step size, τ the tolerance, T the largest number of iterations.
# Settings: family low-cond, η found by line searches along the first directions, halved while it
#   diverges, τ = 1e-10, T = 1000.
# It ends where ‖A(x − x*)‖ ≤ τ‖r‖ or ‖r‖ ≤ τ‖b‖ up to rounding; r = Ax − b, x* the best x.
# Origin: catalogue entry ls-gd; exported by rl4rla 0.0.0.

import warnings
from typing import NamedTuple

import numpy as np

"
    );
    // The code between them runs the iterations.
    let (_, function) = rest.split_once("def ls_gd(").unwrap();
    assert_eq!(
        function,
        "
    A,
    b,
    x0=None,
    *,
    step=None,
    tolerance=1e-10,
    iterations=1000,
    callback=None,
):
    \"\"\"Minimises ‖Ax − b‖, and gives a Solution; warns if that did not converge.

    A: an m×n matrix with m ≥ n
    b: a vector of m numbers
    x0: where to start; zero if not given
    step: η, the step size; found by line searches along the first directions, halved while it diverges
    tolerance: τ, the tolerance; 1e-10
    iterations: T, the largest number of iterations; 1000
    callback: called with every iterate, those of attempts that diverged included
    \"\"\"
    A = np.asarray(A, dtype=float)
    b = np.asarray(b, dtype=float)
    n = A.shape[1]
    x = np.zeros(n) if x0 is None else np.asarray(x0, dtype=float)

    def direction(x):
        v1 = A @ x  # vector m
        v1 = v1 - b  # vector m
        r = v1
        v1 = A.T @ v1  # vector n
        g = v1
        return v1, r, g

    return descend(direction, A, b, x, step, tolerance, iterations, callback)
"
    );
    let line = |language: &str, wanted: &str| {
        let text = export.write(Language::named(language).unwrap()).unwrap();
        assert!(text.contains(wanted), "{text}");
    };
    line("rust", "let v1 = A.transpose() * &v1; // vector n");
    line("julia", "v1 = A' * v1  # vector n");
    line("latex", "\\State $v_1 \\gets A^\\top v_1$ \\Comment{$\\mathbb{R}^n$}");
    line("json", "\"text\": \"v1 = VEC_MAT_MUL(v1, A)\"");
}

#[test]
fn a_function_takes_what_its_program_needs() {
    let takes = |name: &str| {
        let text = exported(Entry::named(name).unwrap(), Defaults::default())
            .write(Language::named("python").unwrap())
            .unwrap();
        let (_, rest) = text.split_once(&format!("def {}(\n", name.replace('-', "_"))).unwrap();
        let (arguments, _) = rest.split_once("):").unwrap();
        arguments
            .lines()
            .map(|line| line.trim().trim_end_matches(',').to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(takes("power-iteration"), "A x0 * tolerance=1e-10 iterations=1000 callback=None");
    assert_eq!(takes("logistic-forward"), "A x");
    assert_eq!(
        takes("precond-weighted-sgd"),
        "A b x0=None * step=None tolerance=1e-10 iterations=1000 sketch_rows=None batch=None rng=None draws=None callback=None"
    );
}

#[test]
fn what_is_carried_and_what_is_answered_again_and_again() {
    let momentum = "iteration:\n m1 = VEC_VEC_ADD(m1, x)\n v1 = SCALAR_VEC_MUL(eta, m1)\n";
    let rust = code(momentum, Update::Subtract, "rust").unwrap();
    assert!(
        rust.contains("let mut m1: Col<f64> = Col::zeros(n);") && rust.contains("\n        m1 = &x + &m1;"),
        "{rust}"
    );
    // A restarted run resets the carried registers.
    assert!(rust.contains("if t == 0 {") && rust.contains("direction(x.as_ref(), step, t)"), "{rust}");
    let counting = "iteration:\n m1 = VEC_VEC_ADD(m1, x)\n v1 = MAT_VEC_MUL(A, m1)\n";
    let python = code(counting, Update::Answer, "python").unwrap();
    assert!(python.contains("return iterate_until(advance, np.full(m, 0.5), "), "{python}");
}

#[test]
fn text_of_a_file_cannot_leave_its_comment() {
    let mut document = Entry::named("ls-gd").unwrap().document.clone();
    document.title = "a\rimport os\u{2028}\"\"\" % */ \\end{document} \u{202e}".into();
    let signature = document.signature().unwrap();
    let export = Export::new(&document, signature, Defaults::default(), provenance("x")).unwrap();
    for language in Language::all() {
        let text = export.write(language).unwrap();
        assert!(!text.contains(['\r', '\u{2028}', '\u{202e}']) || language.name == "json", "{text}");
        assert!(!text.contains("\nimport os"));
    }
    assert_eq!(latex_faults(&export.write(Language::named("latex").unwrap()).unwrap()), None);
}

/// An operator without templates.
static STRANGE: Operator = Operator {
    name: "STRANGE",
    doc: "v, as it is",
    forms: &[Form { operands: &[Pattern::Vector(Size::A)], result: Pattern::Vector(Size::A) }],
    compute: Compute::Pure(|values| Ok(values[0].clone())),
    ..Operator::PLAIN
};

#[test]
fn an_operator_without_a_row_is_refused_by_name() {
    let operands = [Reg::X].into_iter().collect();
    let iteration = vec![Instruction { target: Some(Reg::V1), op: Op(&STRANGE), operands }];
    let document = Document { program: Program { iteration, ..Program::default() }, ..Document::default() };
    let export =
        Export::new(&document, Geometry::Tall.into(), Defaults::default(), provenance("mine")).unwrap();
    for language in Language::all() {
        match (language.name, export.write(language)) {
            ("json", text) => assert!(text.unwrap().contains(STRANGE.name)),
            (_, text) => assert!(text.unwrap_err().to_string().contains(STRANGE.name)),
        }
    }
}
