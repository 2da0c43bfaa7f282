//! The operator table: one row per operator drives the grammar, the parser, typing, cost, formulas and help.

use super::ast::Section;
use super::datum::Datum;
use super::expr::{Expr, Names};
use super::extension::EXTENSIONS;
use super::poly::Poly;
use super::register::Reg;
use super::registry::{Registry, Taken};
use super::rules::*;
use super::types::{Dim, Pattern, Size, Structure, Type};
use crate::linalg::NumericError;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

static REGISTERED: Registry<Op> = Registry::new();

/// Where an operator may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    /// Only in setup.
    Setup,
    /// Anywhere.
    Both,
}

impl Sections {
    /// Whether an operator may stand in `section`.
    pub fn allow(self, section: Section) -> bool {
        self == Sections::Both || section == Section::Setup
    }
}

/// One way to call an operator.
#[derive(Debug)]
pub struct Form {
    /// What it takes.
    pub operands: &'static [Pattern],
    /// What it gives.
    pub result: Pattern,
}

/// An operand with its type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg {
    /// The register read.
    pub reg: Reg,
    /// What it holds.
    pub ty: Type,
}

/// A row of the operator table.
pub struct Operator {
    /// Its name in programs.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The ways to call it; the first that fits is taken.
    pub forms: &'static [Form],
    /// Where it may stand.
    pub sections: Sections,
    /// Whether its two operands may be exchanged.
    pub commutative: bool,
    /// What is known of a matrix it makes.
    pub structure: fn(&[Arg]) -> Structure,
    /// Floating-point operations.
    pub flops: fn(&[Arg]) -> Poly,
    /// Floating-point operations as the paper's released code charges them.
    pub released_flops: fn(&[Arg]) -> Poly,
    /// Whether a shorter or plainer call gives the same value, so that a search need not offer this one.
    pub redundant: fn(&[Arg]) -> bool,
    /// What it computes, as a formula.
    pub formula: fn(&[Arg], Vec<Expr>, &mut Names) -> Expr,
    /// How it computes it.
    pub compute: Compute,
}

/// The arithmetic of an operator.
#[derive(Clone, Copy)]
pub enum Compute {
    /// One of the paper's: the executor knows it, and what of it can be shared, drawn or reduced.
    Core,
    /// A function of the operands' values. A result that is not finite counts as a failure.
    Pure(fn(&[&Datum]) -> Result<Datum, NumericError>),
}

impl Operator {
    /// An operator that may stand anywhere and of which nothing special is known: a row says what differs.
    pub const PLAIN: Operator = Operator {
        name: "",
        doc: "",
        forms: &[],
        sections: Sections::Both,
        commutative: false,
        structure: general,
        flops: length,
        released_flops: length,
        redundant: never,
        formula: |_, exprs, _| Expr::call("f", "f", exprs),
        compute: Compute::Core,
    };

    /// Whether it replaces the pair `A, b` by a sample of its rows.
    pub fn samples(&self) -> bool {
        matches!(self.forms[0].result, Pattern::System(_))
    }

    /// Whether it draws a sketch.
    pub fn sketches(&self) -> bool {
        self.forms[0].result == Pattern::Matrix(Size::Is(Dim::Sketch), Size::A)
    }

    /// Whether chance has a part in its result.
    pub fn draws(&self) -> bool {
        self.samples() || self.sketches()
    }
}

/// An operator: a reference to its row. Equality, order and hash are those of the name.
#[derive(Clone, Copy)]
pub struct Op(pub &'static Operator);

impl Op {
    /// The operator of this name: one of the paper's, or one that a task adds.
    pub fn named(name: &str) -> Option<Op> {
        Op::known().find(|op| op.name == name)
    }

    /// The paper's operators, in the order of its appendix A.
    pub fn all() -> impl Iterator<Item = Op> {
        OPERATORS.iter().map(Op)
    }

    /// Whether it is one of the paper's.
    pub fn is_core(self) -> bool {
        matches!(self.compute, Compute::Core)
    }

    /// Every operator: the paper's, those that the tasks of this crate add, and those registered since.
    pub fn known() -> impl Iterator<Item = Op> {
        Op::all().chain(EXTENSIONS.iter().map(Op)).chain(REGISTERED.all())
    }

    /// Makes an operator known by its name to all who read programs. Once is enough; a second of the same name is
    /// refused.
    ///
    /// # Panics
    /// If the row has no form, forms of different numbers of operands or of more than four, samples, or brings no
    /// arithmetic: these are faults of the table.
    pub fn register(row: &'static Operator) -> Result<Op, Taken> {
        assert!(!row.forms.is_empty(), "{} has no form", row.name);
        let operands = row.forms[0].operands.len();
        let alike = row.forms.iter().all(|form| form.operands.len() == operands);
        assert!(alike && operands <= 4, "{}: every form takes the same one to four operands", row.name);
        let pure = matches!(row.compute, Compute::Pure(_)) && !row.samples();
        assert!(pure, "{} needs a function to compute it: `compute: Compute::Pure(…)`", row.name);
        REGISTERED.add(Op(row), |known| known.name == row.name, Op::all().chain(EXTENSIONS.iter().map(Op)))
    }
}

impl std::ops::Deref for Op {
    type Target = Operator;
    fn deref(&self) -> &Operator {
        self.0
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        self.name == other.name
    }
}
impl Eq for Op {}
impl PartialOrd for Op {
    fn partial_cmp(&self, other: &Op) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Op {
    fn cmp(&self, other: &Op) -> Ordering {
        self.name.cmp(other.name)
    }
}
impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The single or the two formulas of an operator's operands.
pub(super) fn take<const N: usize>(exprs: Vec<Expr>) -> [Expr; N] {
    exprs.try_into().expect("typing gives an operator as many operands as its form has")
}

use Pattern::{Matrix, Nothing, Scalar, System, Upper, Vector, Weights};
use Size::{A, B, C, Is};

const BINARY_VECTOR: &[Form] = &[Form { operands: &[Vector(A), Vector(A)], result: Vector(A) }];

/// The paper's 17 operators, in the order of its appendix A.
pub static OPERATORS: [Operator; 17] = [
    Operator {
        name: "VEC_VEC_ADD",
        doc: "u + v",
        forms: BINARY_VECTOR,
        commutative: true,
        flops: length,
        released_flops: length,
        redundant: same,
        formula: |_, exprs, _| {
            let [u, v] = take(exprs);
            Expr::sum(u, v)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "VEC_VEC_SUB",
        doc: "u − v",
        forms: BINARY_VECTOR,
        flops: length,
        released_flops: length,
        redundant: same,
        formula: |_, exprs, _| {
            let [u, v] = take(exprs);
            Expr::difference(u, v)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "VEC_VEC_DOT",
        doc: "uᵀv, a scalar",
        forms: &[Form { operands: &[Vector(A), Vector(A)], result: Scalar }],
        commutative: true,
        flops: twice_length,
        released_flops: twice_length,
        formula: |_, exprs, _| {
            let [u, v] = take(exprs);
            Expr::dot(u, v)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "MAT_VEC_MUL",
        doc: "M v",
        forms: &[Form { operands: &[Matrix(A, B), Vector(B)], result: Vector(A) }],
        flops: apply,
        released_flops: apply_full,
        formula: |_, exprs, _| Expr::product(exprs),
        ..Operator::PLAIN
    },
    Operator {
        name: "VEC_MAT_MUL",
        doc: "vᵀM as a vector, that is Mᵀv",
        forms: &[Form { operands: &[Vector(A), Matrix(A, B)], result: Vector(B) }],
        flops: apply,
        released_flops: apply_full,
        redundant: symmetric_second,
        formula: |_, exprs, _| {
            let [v, m] = take(exprs);
            Expr::product([m.transpose(), v])
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "SCALAR_VEC_MUL",
        doc: "α v",
        forms: &[Form { operands: &[Scalar, Vector(A)], result: Vector(A) }],
        flops: length,
        released_flops: length,
        formula: |_, exprs, _| Expr::product(exprs),
        ..Operator::PLAIN
    },
    Operator {
        name: "SCALAR_DIV",
        doc: "α / β",
        forms: &[Form { operands: &[Scalar, Scalar], result: Scalar }],
        flops: one,
        released_flops: one,
        redundant: same,
        formula: |_, exprs, _| {
            let [a, b] = take(exprs);
            Expr::quotient(a, b)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "MAT_MAT_MUL",
        doc: "P Q",
        forms: &[Form { operands: &[Matrix(A, B), Matrix(B, C)], result: Matrix(A, C) }],
        structure: product_structure,
        flops: multiply,
        released_flops: multiply_released,
        formula: |_, exprs, _| Expr::product(exprs),
        ..Operator::PLAIN
    },
    Operator {
        name: "MAT_MAT_TRANS_MUL",
        doc: "P Qᵀ",
        forms: &[Form { operands: &[Matrix(A, B), Matrix(C, B)], result: Matrix(A, C) }],
        structure: symmetric_if_same,
        flops: multiply_transposed,
        released_flops: multiply_transposed_released,
        redundant: symmetric_second,
        formula: |_, exprs, _| {
            let [p, q] = take(exprs);
            Expr::product([p, q.transpose()])
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "MAT_TRANS_MAT_MUL",
        doc: "Pᵀ Q",
        forms: &[Form { operands: &[Matrix(A, B), Matrix(A, C)], result: Matrix(B, C) }],
        structure: symmetric_if_same,
        flops: transposed_multiply,
        released_flops: transposed_multiply_released,
        redundant: symmetric_first,
        formula: |_, exprs, _| {
            let [p, q] = take(exprs);
            Expr::product([p.transpose(), q])
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "MAT_INV",
        doc: "M⁻¹; the pseudo-inverse when M is singular and not triangular",
        forms: &[Form { operands: &[Matrix(A, A)], result: Matrix(A, A) }],
        structure: kept,
        flops: invert,
        released_flops: invert_released,
        formula: |_, exprs, _| {
            let [m] = take(exprs);
            m.inverse()
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "TRIANGULAR_SOLVE",
        doc: "(R, v) gives R⁻¹v, (v, R) gives R⁻ᵀv, for upper triangular R",
        forms: &[
            Form { operands: &[Upper(A), Vector(A)], result: Vector(A) },
            Form { operands: &[Vector(A), Upper(A)], result: Vector(A) },
        ],
        flops: apply,
        released_flops: apply,
        formula: |args, exprs, _| {
            let [left, right] = take(exprs);
            match is_upper(&args[0]) {
                true => Expr::product([left.inverse(), right]),
                false => Expr::product([right.inverse().transpose(), left]),
            }
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "HHQR",
        doc: "R of the Householder factorisation M = QR; RᵀR = MᵀM for every shape of M",
        forms: &[Form { operands: &[Matrix(A, B)], result: Matrix(B, B) }],
        structure: upper,
        flops: householder,
        released_flops: householder_released,
        redundant: |args| is_upper(&args[0]),
        formula: |_, exprs, names| {
            let [m] = take(exprs);
            names.factor(m)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "SKETCH",
        doc: "S M or S v for a random S with s rows; one S for setup, a fresh one each iteration",
        forms: &[
            Form { operands: &[Matrix(Is(Dim::Rows), A)], result: Matrix(Is(Dim::Sketch), A) },
            Form { operands: &[Vector(Is(Dim::Rows))], result: Vector(Is(Dim::Sketch)) },
        ],
        flops: sketch,
        released_flops: sketch_released,
        formula: |_, exprs, names| {
            let [m] = take(exprs);
            Expr::product([names.sketch(), m])
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "SUBSAMPLING",
        doc: "draws k rows of A and b with these probabilities, afresh at every execution, and replaces A, b",
        forms: &[Form { operands: &[Weights(A)], result: System(Is(Dim::Batch)) }],
        flops: sample,
        released_flops: sample_released,
        formula: |_, exprs, names| {
            let [weights] = take(exprs);
            names.sample(&weights)
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "LEVERAGE_SCORE",
        doc: "probabilities proportional to the squared row norms of M",
        forms: &[Form { operands: &[Matrix(A, B)], result: Weights(A) }],
        sections: Sections::Setup,
        flops: twice_length,
        released_flops: twice_length,
        formula: |_, exprs, _| {
            let [m] = take(exprs);
            Expr::Symbol(
                format!("by the squared row norms of {}", m.text()),
                format!("\\text{{by the squared row norms of }}{}", m.latex()),
            )
        },
        ..Operator::PLAIN
    },
    Operator {
        name: "DO_NOTHING",
        doc: "nothing: a program may end before its edits are used up",
        forms: &[Form { operands: &[], result: Nothing }],
        flops: free,
        released_flops: free,
        formula: |_, _, _| Expr::product([]),
        ..Operator::PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: std::collections::BTreeSet<_> = Op::known().map(|op| op.name).collect();
        assert_eq!((Op::all().count(), names.len()), (17, OPERATORS.len() + EXTENSIONS.len()));
        assert!(Op::known().all(|op| Op::named(op.name) == Some(op)));
        assert!(Op::register(&EXTENSIONS[0]).is_err());
    }

    #[test]
    fn every_size_of_a_result_is_bound_by_the_operands() {
        fn sizes(pattern: Pattern) -> Vec<Size> {
            match pattern {
                Nothing | Scalar => vec![],
                Vector(a) | Upper(a) | Weights(a) | System(a) => vec![a],
                Matrix(a, b) => vec![a, b],
            }
        }
        for op in Op::known() {
            for form in op.forms {
                let bound: Vec<Size> = form.operands.iter().copied().flat_map(sizes).collect();
                for size in sizes(form.result) {
                    assert!(matches!(size, Is(_)) || bound.contains(&size), "{op}");
                }
            }
        }
    }
}
