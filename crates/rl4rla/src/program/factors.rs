//! Triangular factors from a Gram matrix: operators that any curriculum may use.

use super::datum::Datum;
use super::op::{Compute, Form, Meaning, Operator, take};
use super::rules::{cholesky, has_dimension_but_rows, is_upper, precond_cholesky, upper};
use super::template::{Templates, added};
use super::types::Pattern::{Matrix, Upper};
use super::types::Size::{A, B};
use crate::linalg;

/// R by Cholesky factorisations.
pub static FACTOR_OPERATORS: &[Operator] = &[
    Operator {
        name: "CHOLQR",
        doc: "R of M = QR by the Cholesky factorisation of MᵀM; fails where MᵀM is not positive definite in double precision",
        forms: &[Form { operands: &[Matrix(A, B)], result: Matrix(B, B) }],
        structure: upper,
        flops: cholesky,
        released_flops: cholesky,
        redundant: |args| is_upper(&args[0]),
        formula: |_, exprs, names| {
            let [m] = take(exprs);
            names.factor(m)
        },
        compute: Compute::Pure(|values| linalg::gram_cholesky_r(values[0].matrix()).map(Datum::from)),
        streams: true,
        units: Some(|operands| Ok(operands[0])),
        fixes: has_dimension_but_rows,
        ..added(
            Meaning::Factor,
            Templates {
                python: "np.linalg.cholesky($0.T @ $0).T",
                rust: "($0.transpose() * &$0).llt(faer::Side::Lower).unwrap().L().transpose().to_owned()",
                julia: "Matrix(cholesky(Symmetric($0' * $0)).U)",
                latex: "\\operatorname{chol}($0^\\top $0)",
            },
        )
    },
    Operator {
        name: "PRECOND_CHOLQR",
        doc: "R of M = QR from the Cholesky factor C of (MP⁻¹)ᵀMP⁻¹ for a triangular P: R = CP; as accurate as P makes MP⁻¹ well conditioned",
        forms: &[Form { operands: &[Matrix(A, B), Upper(B)], result: Matrix(B, B) }],
        structure: upper,
        flops: precond_cholesky,
        released_flops: precond_cholesky,
        formula: |_, exprs, names| {
            let [m, _] = take(exprs);
            names.factor(m)
        },
        compute: Compute::Pure(|values| {
            linalg::preconditioned_cholesky_r(values[0].matrix(), values[1].matrix()).map(Datum::from)
        }),
        streams: true,
        units: Some(|operands| Ok(operands[0])),
        fixes: has_dimension_but_rows,
        ..added(
            Meaning::Factor,
            Templates {
                python: "np.linalg.cholesky((lambda W: W @ W.T)(solve_triangular($1, $0.T, trans=\"T\"))).T @ $1",
                rust: "{ let Q = &$0 * invert_upper($1.as_ref()); (Q.transpose() * &Q).llt(faer::Side::Lower).unwrap().L().transpose() * &$1 }",
                julia: "cholesky(Symmetric((W -> W' * W)($0 / UpperTriangular($1)))).U * $1",
                latex: "\\operatorname{qr}($0\\,$1^{-1})\\,$1",
            },
        )
    },
];
