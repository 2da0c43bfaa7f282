//! An operator from outside the crate: one row, and it is parsed, typed, priced, run, shown, compared and exported.
#![allow(non_snake_case)]

use rl4rla::equivalence::{Normal, name};
use rl4rla::execute::{RunSettings, run};
use rl4rla::export::{Defaults, Export, ExportError, Language, Provenance};
use rl4rla::linalg;
use rl4rla::problem::Family;
use rl4rla::program::{
    Canonical, Compute, Document, Expr, Form, Geometry, LiveOut, Meaning, Model, Op, Operator, Pattern,
    Program, ProgramCost, Size, Taken, Templates, check, equation, length,
};
use rl4rla::rng::Stream;
use std::panic::catch_unwind;

const VECTOR_TO_VECTOR: &[Form] =
    &[Form { operands: &[Pattern::Vector(Size::A)], result: Pattern::Vector(Size::A) }];

/// Everything that a row can say.
static CLIP: Operator = Operator {
    name: "VEC_CLIP",
    doc: "v with every entry between −1 and 1",
    forms: VECTOR_TO_VECTOR,
    flops: |args| length(args).times(2.0),
    formula: |_, exprs, _| Expr::call("clip", "\\operatorname{clip}", exprs),
    compute: Compute::Pure(|v| {
        Ok(v[0].vector().iter().map(|v| v.clamp(-1.0, 1.0)).collect::<Vec<_>>().into())
    }),
    export: Some(Templates {
        python: "np.clip($0, -1, 1)",
        rust: "Col::from_fn($0.nrows(), |i| $0[i].clamp(-1.0, 1.0))",
        julia: "clamp.($0, -1, 1)",
        latex: "\\operatorname{clip}($0)",
    }),
    ..Operator::PLAIN
};

/// The least that a row must say.
static COPY: Operator = Operator {
    name: "VEC_COPY",
    doc: "v",
    forms: VECTOR_TO_VECTOR,
    compute: Compute::Pure(|values| Ok(values[0].clone())),
    ..Operator::PLAIN
};

/// MᵀM under another name, known to algebra as what it is.
static SQUARE: Operator = Operator {
    name: "MAT_SQUARE",
    doc: "MᵀM",
    forms: &[Form {
        operands: &[Pattern::Matrix(Size::A, Size::B)],
        result: Pattern::Matrix(Size::B, Size::B),
    }],
    compute: Compute::Pure(|values| Ok(linalg::gram(values[0].matrix()).into())),
    meaning: Meaning::Gram,
    ..Operator::PLAIN
};

/// Gradient descent with the direction or the residual seen through an operator.
fn document(line: &str) -> Document {
    let head =
        "title: Mine\nfamily: low-cond\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";
    format!("{head} {line}\n v1 = VEC_MAT_MUL(v1, A)\n").parse().unwrap()
}

fn registered(row: &'static Operator) -> Op {
    // Tests share a process, and a name is taken once.
    let (Ok(_) | Err(Taken)) = Op::register(row);
    Op::named(row.name).unwrap()
}

#[test]
fn one_row_is_parsed_typed_priced_shown_and_run() {
    let op = registered(&CLIP);
    assert!(Op::known().any(|known| known == op) && !op.is_core());
    let document = document("v1 = VEC_CLIP(v1)");
    let program = &document.program;
    assert_eq!(program.to_string().parse::<Program>().unwrap(), *program);
    let typed = check(program, Geometry::Tall).unwrap();
    assert_eq!(typed[2].instruction.op, op);
    assert_eq!(equation(program, Geometry::Tall).unwrap().text, "xₜ₊₁ = xₜ − η Aᵀ clip(A xₜ − b)");
    let live = Canonical::new(program, LiveOut::Finished);
    let sizes = RunSettings::for_size(200, 5).sizes(200, 5);
    let flops =
        |program: &Canonical| ProgramCost::of(program, Geometry::Tall, Model::True).unwrap().flops(&sizes, 1);
    let plain = self::document("DO_NOTHING()").program;
    assert_eq!(flops(&live) - flops(&Canonical::new(&plain, LiveOut::Finished)), 2.0 * 200.0);
    let family = Family { rows: 200, cols: 5, ..Family::named("low-cond").unwrap() };
    let instance = family.draw(&Stream::new(1)).unwrap();
    let settings = RunSettings { iterations: 1, ..RunSettings::for_size(200, 5) };
    let trace = run(program, &instance, &settings, &Stream::new(2)).unwrap();
    let clipped: Vec<f64> = instance.b.iter().map(|b| b.clamp(-1.0, 1.0)).collect();
    let expected = linalg::scale(settings.step, &linalg::vec_mat(&clipped, &instance.A));
    assert!(linalg::norm(&linalg::sub(&trace.x, &expected)) < 1e-12 * linalg::norm(&expected));
}

#[test]
fn it_is_exported_by_its_own_templates_or_refused() {
    registered(&CLIP);
    registered(&COPY);
    let write = |document: &Document, language: &str| {
        let provenance = Provenance { name: "mine".into(), ..Provenance::default() };
        let export = Export::new(document, Geometry::Tall.into(), Defaults::default(), provenance).unwrap();
        export.write(Language::named(language).unwrap())
    };
    let clipped = document("v1 = VEC_CLIP(v1)");
    for (language, line) in [
        ("python", "v1 = np.clip(v1, -1, 1)"),
        ("rust", "let v1 = Col::from_fn(v1.nrows(), |i| v1[i].clamp(-1.0, 1.0));"),
        ("julia", "v1 = clamp.(v1, -1, 1)"),
        ("latex", "$v_1 \\gets \\operatorname{clip}(v_1)$"),
        ("json", "VEC_CLIP"),
    ] {
        let code = write(&clipped, language).unwrap();
        assert!(code.contains(line), "{code}");
    }
    let copied = document("v1 = VEC_COPY(v1)");
    let refused = write(&copied, "python").unwrap_err();
    assert_eq!(refused, ExportError::Operator { op: "VEC_COPY", language: "Python" });
    assert!(write(&copied, "json").is_ok());
}

#[test]
fn algebra_knows_what_the_row_says() {
    registered(&SQUARE);
    registered(&COPY);
    let step = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n \
                v1 = MAT_VEC_MUL(R1, v1)\n";
    let form = |text: &str| Normal::of(&text.parse().unwrap(), Geometry::Tall).unwrap();
    let squared = format!("setup:\n R1 = MAT_SQUARE(A)\n R1 = MAT_INV(R1)\n{step}");
    let product = format!("setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\n{step}");
    assert!(form(&squared).equals(&form(&product)));
    // Of a row that says nothing it knows that equal operands give equal results.
    let gradient = document("DO_NOTHING()").program;
    let copied = document("v1 = VEC_COPY(v1)").program;
    let [gradient, copied] = [gradient, copied].map(|program| Normal::of(&program, Geometry::Tall).unwrap());
    assert!(!copied.equals(&gradient) && copied.equals(&copied.clone()));
    let named = name(&squared.parse().unwrap(), Geometry::Tall).unwrap();
    assert!(format!("{named:?}").contains("precond-gd"), "{named:?}");
}

#[test]
fn faults_of_a_row_are_told_at_once() {
    static NO_ARITHMETIC: Operator =
        Operator { name: "VEC_IDLE", forms: VECTOR_TO_VECTOR, ..Operator::PLAIN };
    static NO_MATRIX: Operator = Operator { name: "VEC_SQUARE", meaning: Meaning::Gram, ..COPIED };
    static TOO_MANY: Operator = Operator {
        name: "VEC_TWICE",
        export: Some(Templates { python: "$0 + $1", rust: "$0", julia: "$0", latex: "$0" }),
        ..COPIED
    };
    const COPIED: Operator = Operator {
        forms: VECTOR_TO_VECTOR,
        compute: Compute::Pure(|values| Ok(values[0].clone())),
        ..Operator::PLAIN
    };
    for row in [&NO_ARITHMETIC, &NO_MATRIX, &TOO_MANY] {
        assert!(catch_unwind(|| Op::register(row).is_ok()).is_err(), "{}", row.name);
        assert!(Op::named(row.name).is_none());
    }
    registered(&COPY);
    assert_eq!(Op::register(&COPY).err(), Some(Taken));
}
