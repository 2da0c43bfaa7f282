//! rl4rla discovers randomized linear algebra algorithms as explicit, readable programs.
//!
//! [`prelude`] has the names that most programs need. The modules form layers, each using only those above it:
//!
//! | layer | modules |
//! |---|---|
//! | foundation | [`clock`], [`rng`], [`statistics`], [`linalg`], [`data`] |
//! | language | [`program`], [`problem`] |
//! | running | [`execute`], [`solve`], [`baseline`], [`reward`], [`equivalence`], [`analysis`], [`export`], [`fit`] |
//! | searching | [`search`], [`discovery`], [`curriculum`] |
//! | using | [`record`], [`store`], [`report`], [`experiment`] |
//!
//! Cargo features: `store` (runs in SQLite), `report` (figures, tables, pages) and `export` (programs as code) are on by
//! default. Without them the library discovers and solves with pure Rust dependencies only.
//!
//! # Discover an algorithm
//!
//! A [`Curriculum`](curriculum::Curriculum) is a sequence of stages, each with problems on which the previous program fails.
//! Runs are pure functions of curriculum, approach and seed.
//!
//! ```
//! use rl4rla::curriculum::{Curriculum, discover};
//! use rl4rla::discovery::{Approach, Context};
//! use rl4rla::search::Method;
//!
//! let curriculum = Curriculum::parse("mine", r#"
//!     title = "Gradient descent from the empty program"
//!     [[stage]]
//!     name = "ls-gd"
//!     edits = 3
//!     open = ["iteration"]
//!     registers = ["v1"]
//!     step = 0.5
//!     family = { kind = "low-cond", rows = 40, cols = 4 }
//!     instances = { search = 6, select = 4, report = 4 }
//!     target = "ls-gd"
//! "#).unwrap();
//! let approach = Approach::new(Method::Best);
//! let discovery = discover(&curriculum, &approach, 0, &mut Context::default()).unwrap();
//! // The target is only used to judge the result; the search never sees it.
//! assert!(discovery.found);
//! let stage = &discovery.stages[0];
//! assert_eq!(stage.judgement.as_ref().unwrap().matched, Some("ls-gd"));
//! // The Pareto front of accuracy, work and stability.
//! assert!(!stage.attempt.front.is_empty());
//! ```
//!
//! # Evaluate your own program
//!
//! ```
//! use rl4rla::problem::{Family, InstanceSet};
//! use rl4rla::program::{Document, Geometry, equation};
//! use rl4rla::reward::{Profile, Protocol, SOUND_GRID, StepRule, evaluate};
//!
//! let mine: Document = "\
//! setup:
//!   R1 = SKETCH(A)
//!   R1 = HHQR(R1)
//!   R1 = MAT_INV(R1)
//!   R1 = MAT_MAT_TRANS_MUL(R1, R1)
//! iteration:
//!   v1 = MAT_VEC_MUL(A, x)
//!   v1 = VEC_VEC_SUB(v1, b)
//!   v1 = VEC_MAT_MUL(v1, A)
//!   v1 = MAT_VEC_MUL(R1, v1)
//! ".parse().unwrap();
//! println!("{}", equation(&mine.program, Geometry::Tall).unwrap().text);
//!
//! let mut family = Family::named("mid-cond").unwrap();
//! (family.rows, family.cols, family.condition) = (1000, 10, Some(1e6));
//! let instances = [family.draw(&InstanceSet::Final.stream(0, 0)).unwrap()];
//! let mut protocol = Protocol::new(Profile::sound(), StepRule::Best(SOUND_GRID.to_vec()));
//! protocol.iterations = 30;
//! let evaluation = evaluate(&mine.program, &instances, &protocol, 0);
//! assert!(evaluation.last(|trace| &trace.excesses).unwrap().mean < 1e-5);
//! ```
//!
//! # Solve your data
//!
//! [`System::load`](data::System::load) reads NPY, NPZ, CSV, Matrix Market, Parquet and Arrow files, and keeps what is too large for memory in a
//! file; [`solve`](solve::solve) runs a program on it until the solution meets the tolerance.
//!
//! ```
//! use rl4rla::data::{Design, Reading, System, TargetColumn};
//! use rl4rla::{problem::Linear, program::Entry, solve::{SolveOptions, Problem, solve}};
//!
//! let path = std::env::temp_dir().join(format!("rl4rla-example-{}.csv", std::process::id()));
//! let line = |i: i32| format!("{i},{},{}\n", i * i % 7, 3 * i - 2 * (i * i % 7) + 5);
//! std::fs::write(&path, "hours,day,sold\n".to_string() + &(0..60).map(line).collect::<String>()).unwrap();
//!
//! let design = Design { target: TargetColumn::Column("sold".into()), intercept: true, standardise: true };
//! let System { matrix, b, columns, .. } = System::load(&path, &design, &Reading::default()).unwrap();
//! let program = &Entry::named("sketched-precond-gd").unwrap().document;
//! let solution = solve(program, Problem::new(&Linear, matrix, b), &SolveOptions::default()).unwrap();
//! let coefficients = columns.coefficients(&solution.into_x().unwrap());
//! assert_eq!(columns.labels(), ["hours", "day", "(intercept)"]);
//! assert!(coefficients.iter().zip([3.0, -2.0, 5.0]).all(|(found, wanted)| (found - wanted).abs() < 1e-8));
//! # std::fs::remove_file(path).unwrap();
//! ```
//!
//! # Add an operator
//!
//! An operator is a row: its operand and result types, its cost, its notation and its arithmetic. Once registered,
//! programs may use it, and curricula may name it. Whole tasks are added by [`problem::register`].
//!
//! ```
//! use rl4rla::program::{Compute, Expr, Form, Geometry, Op, Operator, Pattern, Program, Size, equation};
//!
//! static SIGN: Operator = Operator {
//!     name: "VEC_SIGN",
//!     doc: "sign(v), entry by entry",
//!     forms: &[Form { operands: &[Pattern::Vector(Size::A)], result: Pattern::Vector(Size::A) }],
//!     formula: |_, operands, _| Expr::call("sign", "\\operatorname{sign}", operands),
//!     compute: Compute::Pure(|values| {
//!         Ok(values[0].vector().iter().map(|v| v.signum()).collect::<Vec<f64>>().into())
//!     }),
//!     ..Operator::PLAIN
//! };
//! Op::register(&SIGN).unwrap();
//! let program: Program = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n \
//!                         v1 = VEC_SIGN(v1)\n v1 = VEC_MAT_MUL(v1, A)\n".parse().unwrap();
//! assert_eq!(equation(&program, Geometry::Tall).unwrap().text, "xₜ₊₁ = xₜ − η Aᵀ sign(A xₜ − b)");
//! ```

#![forbid(unsafe_code)]

/// The version of this library, kept with every run: another may compute other numbers.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod analysis;
pub mod baseline;
pub mod cache;
pub mod clock;
pub mod curriculum;
pub mod data;
pub mod discovery;
pub mod equivalence;
pub mod execute;
#[cfg(all(feature = "store", feature = "report", feature = "export"))]
pub mod experiment;
pub mod explore;
#[cfg(feature = "export")]
pub mod export;
pub mod fit;
pub mod linalg;
pub mod prelude;
pub mod problem;
pub mod program;
pub mod record;
#[cfg(feature = "report")]
pub mod report;
pub mod reward;
pub mod rng;
pub mod search;
pub mod solve;
pub mod statistics;
#[cfg(feature = "store")]
pub mod store;
