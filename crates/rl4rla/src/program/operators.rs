//! The operator table: the paper's 17 operators, one row each.

use super::core_operator::Core;
use super::expr::Expr;
use super::op::{Compute, Form, Operator, Sections, take};
use super::rules::*;
use super::template::{CallShape, Templates};
use super::types::Dim;
use super::types::Pattern::{Matrix, Nothing, Scalar, System, Upper, Vector, Weights};
use super::types::Size::{A, B, C, Is};

const BINARY_VECTOR: &[Form] = &[Form { operands: &[Vector(A), Vector(A)], result: Vector(A) }];

/// The required fields of a row: which operator it is, and its export templates.
const fn core(core: Core, export: Templates) -> Operator {
    Operator { compute: Compute::Core(core), export: Some(export), ..Operator::PLAIN }
}

/// The paper's 17 operators, in the order of its appendix A.
pub static OPERATORS: [Operator; Core::COUNT] = [
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
        ..core(
            Core::VecVecAdd,
            Templates { python: "$0 + $1", rust: "&$0 + &$1", julia: "$0 + $1", latex: "$0 + $1" },
        )
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
        ..core(
            Core::VecVecSub,
            Templates { python: "$0 - $1", rust: "&$0 - &$1", julia: "$0 - $1", latex: "$0 - $1" },
        )
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
        ..core(
            Core::VecVecDot,
            Templates {
                python: "$0 @ $1",
                rust: "$0.transpose() * &$1",
                julia: "dot($0, $1)",
                latex: "\\langle $0, $1 \\rangle",
            },
        )
    },
    Operator {
        name: "MAT_VEC_MUL",
        doc: "M v",
        forms: &[Form { operands: &[Matrix(A, B), Vector(B)], result: Vector(A) }],
        flops: apply,
        released_flops: apply_full,
        formula: |_, exprs, _| Expr::product(exprs),
        ..core(
            Core::MatVecMul,
            Templates { python: "$0 @ $1", rust: "&$0 * &$1", julia: "$0 * $1", latex: "$0 \\, $1" },
        )
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
        ..core(
            Core::VecMatMul,
            Templates {
                python: "$1.T @ $0",
                rust: "$1.transpose() * &$0",
                julia: "$1' * $0",
                latex: "$1^\\top $0",
            },
        )
    },
    Operator {
        name: "SCALAR_VEC_MUL",
        doc: "α v",
        forms: &[Form { operands: &[Scalar, Vector(A)], result: Vector(A) }],
        flops: length,
        released_flops: length,
        formula: |_, exprs, _| Expr::product(exprs),
        ..core(
            Core::ScalarVecMul,
            Templates { python: "$0 * $1", rust: "Scale($0) * &$1", julia: "$0 * $1", latex: "$0 \\, $1" },
        )
    },
    Operator {
        name: "SCALAR_DIV",
        doc: "α / β; 0 if β = 0",
        forms: &[Form { operands: &[Scalar, Scalar], result: Scalar }],
        flops: one,
        released_flops: one,
        redundant: same,
        formula: |_, exprs, _| {
            let [a, b] = take(exprs);
            Expr::quotient(a, b)
        },
        ..core(
            Core::ScalarDiv,
            Templates {
                python: "$0 / $1 if $1 != 0 else 0.0",
                rust: "if $1 == 0.0 { 0.0 } else { $0 / $1 }",
                julia: "iszero($1) ? 0.0 : $0 / $1",
                latex: "$0 / $1",
            },
        )
    },
    Operator {
        name: "MAT_MAT_MUL",
        doc: "P Q",
        forms: &[Form { operands: &[Matrix(A, B), Matrix(B, C)], result: Matrix(A, C) }],
        structure: product_structure,
        flops: multiply,
        released_flops: multiply_released,
        formula: |_, exprs, _| Expr::product(exprs),
        ..core(
            Core::MatMatMul,
            Templates { python: "$0 @ $1", rust: "&$0 * &$1", julia: "$0 * $1", latex: "$0 \\, $1" },
        )
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
        ..core(
            Core::MatMatTransMul,
            Templates {
                python: "$0 @ $1.T",
                rust: "&$0 * $1.transpose()",
                julia: "$0 * $1'",
                latex: "$0 \\, $1^\\top",
            },
        )
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
        ..core(
            Core::MatTransMatMul,
            Templates {
                python: "$0.T @ $1",
                rust: "$0.transpose() * &$1",
                julia: "$0' * $1",
                latex: "$0^\\top $1",
            },
        )
    },
    Operator {
        name: "MAT_INV",
        doc: "M⁻¹; the pseudo-inverse when M is singular and not triangular",
        forms: &[Form { operands: &[Matrix(A, A)], result: Matrix(A, A) }],
        structure: kept,
        flops: invert,
        // The pseudo-inverse of a singular matrix is computed from an SVD.
        slowdown: 20.0,
        released_flops: invert_released,
        formula: |_, exprs, _| {
            let [m] = take(exprs);
            m.inverse()
        },
        export_when: &[(
            CallShape::Upper,
            Templates {
                python: "solve_triangular($0, np.eye(len($0)))",
                rust: "invert_upper($0.as_ref())",
                julia: "Matrix(inv(UpperTriangular($0)))",
                latex: "$0^{-1}",
            },
        )],
        ..core(
            Core::MatInv,
            Templates {
                python: "inverse($0)",
                rust: "inverse($0.as_ref())",
                julia: "inverse($0)",
                latex: "$0^{+}",
            },
        )
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
        export_when: &[(
            CallShape::UpperSecond,
            Templates {
                python: "solve_triangular($1, $0, trans=\"T\")",
                rust: "solve_upper_transposed($1.as_ref(), $0.as_ref())",
                julia: "UpperTriangular($1)' \\ $0",
                latex: "$1^{-\\top} $0",
            },
        )],
        ..core(
            Core::TriangularSolve,
            Templates {
                python: "solve_triangular($0, $1)",
                rust: "solve_upper($0.as_ref(), $1.as_ref())",
                julia: "UpperTriangular($0) \\ $1",
                latex: "$0^{-1} $1",
            },
        )
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
        ..core(
            Core::Hhqr,
            Templates {
                python: "triangle($0)",
                rust: "triangle($0.as_ref())",
                julia: "triangle($0)",
                latex: "\\operatorname{qr}($0)",
            },
        )
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
        export_when: &[(
            CallShape::Vector,
            Templates {
                python: "$S @ $0",
                rust: "$S($0.as_mat()).col(0).to_owned()",
                julia: "$S * $0",
                latex: "$S \\, $0",
            },
        )],
        ..core(
            Core::Sketch,
            Templates { python: "$S @ $0", rust: "$S($0.as_ref())", julia: "$S * $0", latex: "$S \\, $0" },
        )
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
        ..core(
            Core::Subsampling,
            Templates {
                python: "subsample($1, $2, $0, batch, draws)",
                rust: "subsample($1.as_ref(), $2.as_ref(), &$0, batch, draws)",
                julia: "subsample($1, $2, $0, batch, sample)",
                latex: "\\operatorname{rows}_{k}($1, $2; $0)",
            },
        )
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
        ..core(
            Core::LeverageScore,
            Templates {
                python: "probabilities($0)",
                rust: "probabilities($0.as_ref())",
                julia: "probabilities($0)",
                latex: "\\operatorname{norms}($0)",
            },
        )
    },
    Operator {
        name: "DO_NOTHING",
        doc: "nothing: a program may end before its edits are used up",
        forms: &[Form { operands: &[], result: Nothing }],
        flops: free,
        released_flops: free,
        formula: |_, _, _| Expr::product([]),
        ..core(
            Core::DoNothing,
            Templates { python: "None", rust: "()", julia: "nothing", latex: "\\varnothing" },
        )
    },
];
