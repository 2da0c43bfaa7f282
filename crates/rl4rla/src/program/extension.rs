//! Operators beyond the paper's 17: those that tasks add, and five more that any curriculum may use. Their rows have
//! the same form, and include the arithmetic.

use super::datum::Datum;
use super::expr::Expr;
use super::factors::FACTOR_OPERATORS;
use super::op::{Arg, Compute, Form, Meaning, Operator, Sections, take};
use super::poly::Poly;
use super::rules::{free, gram, length, shape, solve, symmetric};
use super::shifted::{RIDGE_OPERATORS, SEMIDEFINITE_OPERATORS, SHIFTED_SOLVE};
use super::template::{Templates, added};
use super::types::Size::{A, AaboveC, AaboveOne, B, C, EntriesOfA, Is};
use super::types::{
    Dim,
    Pattern::{Matrix, Scalar, Vector},
};
use super::units::{Affinity, DataQuantity, DataUnit, UnitFault};
use crate::linalg;

const VECTOR_TO_VECTOR: &[Form] = &[Form { operands: &[Vector(A)], result: Vector(A) }];

/// The operators added by the tasks of this crate, and five that none of them needs.
pub static EXTENSIONS: [&[Operator]; 8] = [
    RIDGE_LOGISTIC_OPERATORS,
    EIGENVALUE_OPERATORS,
    LOW_RANK_OPERATORS,
    RITZ_OPERATORS,
    RIDGE_OPERATORS,
    SEMIDEFINITE_OPERATORS,
    FACTOR_OPERATORS,
    FREE_OPERATORS,
];

/// The operators of the logistic tasks without λ: all but the last of those with λ.
pub static LOGISTIC_OPERATORS: &[Operator] = RIDGE_LOGISTIC_OPERATORS.split_at(5).0;

/// The operators of logistic regression, and one for a penalty.
pub static RIDGE_LOGISTIC_OPERATORS: &[Operator] = &[
    Operator {
        name: "VEC_SIGMOID",
        doc: "σ(v) = 1/(1 + e⁻ᵛ), entry by entry",
        forms: VECTOR_TO_VECTOR,
        // A negation, an exponential, a sum and a quotient.
        flops: |args| length(args).times(4.0),
        formula: |_, exprs, _| Expr::call("σ", "\\sigma", exprs),
        compute: Compute::Pure(|values| Ok(linalg::sigmoids(values[0].vector()).into())),
        units: Some(|operands| match operands[0] {
            LOG_ODDS => Ok(PROBABILITIES),
            other => Err(misfit(other, LOG_ODDS)),
        }),
        ..added(
            Meaning::Sigmoid,
            Templates {
                python: "expit($0)",
                rust: "Col::from_fn($0.nrows(), |i| 1.0 / (1.0 + (-$0[i]).exp()))",
                julia: "1 ./ (1 .+ exp.(-$0))",
                latex: "\\sigma($0)",
            },
        )
    },
    Operator {
        name: "VEC_DSIGMOID",
        doc: "p(1 − p), entry by entry: the slope of σ where it has the value p",
        forms: VECTOR_TO_VECTOR,
        flops: |args| length(args).times(2.0),
        formula: |_, exprs, _| {
            let [p] = take(exprs);
            match p {
                Expr::Call(name, latex, z) if name == "σ" => Expr::call("σ′", &(latex + "'"), z),
                p => Expr::call("slope", "\\operatorname{slope}", vec![p]),
            }
        },
        compute: Compute::Pure(|values| Ok(mapped(values[0], |p| p * (1.0 - p)))),
        // A probability per log-odds.
        units: Some(|operands| match operands[0] {
            PROBABILITIES => Ok(DataQuantity::vector(DataUnit::PROBABILITY)),
            other => Err(misfit(other, PROBABILITIES)),
        }),
        ..added(
            Meaning::SigmoidSlope,
            Templates {
                python: "$0 * (1 - $0)",
                rust: "Col::from_fn($0.nrows(), |i| $0[i] * (1.0 - $0[i]))",
                julia: "$0 .* (1 .- $0)",
                latex: "$0 \\odot (1 - $0)",
            },
        )
    },
    Operator {
        name: "VEC_MAT_SCALE",
        doc: "diag(√v) M: every row of M times the root of an entry of v",
        forms: &[Form { operands: &[Vector(A), Matrix(A, B)], result: Matrix(A, B) }],
        flops: |args| length(&args[..1]) + length(&args[1..]),
        formula: |_, exprs, names| {
            let [v, m] = take(exprs);
            Expr::product([names.diagonal(v), m])
        },
        compute: Compute::Pure(|values| {
            let roots = linalg::square_roots(values[0].vector());
            Ok(linalg::Matrix::with_scaled_rows(roots, values[1].shared_matrix().clone()).into())
        }),
        units: Some(|operands| {
            let [v, m] = [vector(operands[0])?, vector(operands[1])?];
            let root = v.root().ok_or(UnitFault::Operand(v))?;
            Ok(DataQuantity::vector(root.times(m)))
        }),
        ..added(
            Meaning::RowScaling,
            Templates {
                python: "np.sqrt($0)[:, None] * $1",
                rust: "Mat::from_fn($1.nrows(), $1.ncols(), |i, j| $0[i].sqrt() * $1[(i, j)])",
                julia: "sqrt.($0) .* $1",
                latex: "\\operatorname{diag}($0)^{1/2} \\, $1",
            },
        )
    },
    Operator {
        name: "MAT_GRAM",
        doc: "MᵀM",
        forms: &[Form { operands: &[Matrix(A, B)], result: Matrix(B, B) }],
        structure: symmetric,
        flops: gram,
        formula: |_, exprs, _| {
            let [m] = take(exprs);
            Expr::product([m.clone().transpose(), m])
        },
        compute: Compute::Pure(|values| Ok(linalg::gram(values[0].matrix()).into())),
        units: Some(|operands| {
            let unit = vector(operands[0])?;
            Ok(DataQuantity::vector(unit.times(unit)))
        }),
        ..added(
            Meaning::Gram,
            Templates {
                python: "$0.T @ $0",
                rust: "$0.transpose() * &$0",
                julia: "$0' * $0",
                latex: "$0^\\top $0",
            },
        )
    },
    Operator {
        name: "MAT_VEC_SOLVE",
        doc: "M⁻¹v, by elimination; fails when M is singular",
        forms: &[Form { operands: &[Matrix(A, A), Vector(A)], result: Vector(A) }],
        flops: solve,
        formula: |_, exprs, _| {
            let [m, v] = take(exprs);
            Expr::product([m.inverse(), v])
        },
        compute: Compute::Pure(|values| {
            linalg::solve(values[0].matrix(), values[1].vector()).map(Datum::from)
        }),
        units: Some(|operands| Ok(DataQuantity::vector(vector(operands[1])?.per(vector(operands[0])?)))),
        ..added(
            Meaning::Solution,
            Templates {
                python: "np.linalg.solve($0, $1)",
                rust: "$0.partial_piv_lu().solve(&$1)",
                julia: "$0 \\ $1",
                latex: "$0^{-1} $1",
            },
        )
    },
    SHIFTED_SOLVE,
];

/// The operator of the eigenvalue task.
pub static EIGENVALUE_OPERATORS: &[Operator] = &[Operator {
    name: "VEC_NORMALIZE",
    doc: "v/‖v‖; fails when v = 0",
    forms: VECTOR_TO_VECTOR,
    flops: |args| length(args).times(3.0),
    formula: |_, exprs, _| {
        let [v] = take(exprs);
        Expr::quotient(v.clone(), v.norm())
    },
    compute: Compute::Pure(|values| {
        let v = values[0].vector();
        Ok(linalg::scale(linalg::norm(v).recip(), v).into())
    }),
    ..added(
        Meaning::UnitVector,
        Templates {
            python: "$0 / np.linalg.norm($0)",
            rust: "Scale(1.0 / $0.norm_l2()) * &$0",
            julia: "$0 / norm($0)",
            latex: "$0 / \\| $0 \\|",
        },
    )
}];

/// The operators of the low-rank task.
pub static LOW_RANK_OPERATORS: &[Operator] = &[
    Operator {
        name: "MAT_STACK",
        doc: "the rows of M above those of N: sketches, and vectors as single rows",
        forms: &[
            Form { operands: &[Matrix(A, B), Matrix(C, B)], result: Matrix(AaboveC, B) },
            Form { operands: &[Matrix(A, B), Vector(B)], result: Matrix(AaboveOne, B) },
            Form { operands: &[Vector(B), Vector(B)], result: Matrix(Is(PAIR), B) },
        ],
        flops: free,
        released_flops: free,
        formula: |_, exprs, _| Expr::call("stack", "\\operatorname{stack}", exprs),
        compute: Compute::Pure(|values| Ok(stacked(values[0], values[1]).into())),
        ..added(
            Meaning::Function,
            Templates {
                python: "np.vstack([$0, $1])",
                rust: "stacked(&$0, &$1)",
                julia: "stacked($0, $1)",
                latex: "\\begin{bmatrix} $0 \\\\ $1 \\end{bmatrix}",
            },
        )
    },
    Operator {
        name: "MAT_ORTH",
        doc: "the rows of M made orthonormal, from the first to the last; a dependent row becomes zero",
        forms: &[Form { operands: &[Matrix(A, B)], result: Matrix(A, B) }],
        flops: orthonormalisation,
        released_flops: orthonormalisation,
        formula: |_, exprs, _| Expr::call("orth", "\\operatorname{orth}", exprs),
        compute: Compute::Pure(|values| Ok(linalg::orthonormal_rows(values[0].matrix()).into())),
        ..added(
            Meaning::Function,
            Templates {
                python: "orthonormal_rows($0)",
                rust: "orthonormal_rows($0.as_ref())",
                julia: "orthonormal_rows($0)",
                latex: "\\operatorname{orth}($0)",
            },
        )
    },
    Operator {
        name: "MAT_ROWS",
        doc: "the rows of M one after the other: a matrix as an answer",
        forms: &[Form { operands: &[Matrix(A, Is(Dim::Cols))], result: Vector(EntriesOfA) }],
        flops: free,
        released_flops: free,
        formula: |_, exprs, _| {
            let [m] = take(exprs);
            m
        },
        compute: Compute::Pure(|values| Ok(values[0].matrix().row_major().to_vec().into())),
        ..added(
            Meaning::Function,
            Templates {
                python: "$0.ravel()",
                rust: "Col::from_fn($0.nrows() * $0.ncols(), |i| $0[(i / $0.ncols(), i % $0.ncols())])",
                julia: "vec(permutedims($0))",
                latex: "$0",
            },
        )
    },
];

/// Operators for eigenvalue methods that keep more than one vector; a search uses them only if it is told to.
static RITZ_OPERATORS: &[Operator] = &[Operator {
    name: "RAYLEIGH_RITZ",
    doc: "the unit vector v in the row space of M with the largest vᵀNv, for a symmetric N",
    forms: &[Form { operands: &[Matrix(A, B), Matrix(B, B)], result: Vector(B) }],
    flops: rayleigh_ritz,
    released_flops: rayleigh_ritz,
    formula: |_, exprs, _| Expr::call("ritz", "\\operatorname{ritz}", exprs),
    compute: Compute::Pure(|values| {
        linalg::leading_ritz_vector(values[0].matrix(), values[1].matrix()).map(Datum::from)
    }),
    ..added(
        Meaning::Function,
        Templates {
            python: "leading_ritz_vector($0, $1)",
            rust: "leading_ritz_vector($0.as_ref(), $1.as_ref())",
            julia: "leading_ritz_vector($0, $1)",
            latex: "\\operatorname{ritz}($0, $1)",
        },
    )
}];

const PAIR: Dim = Dim::Stack { sketches: 0, vectors: 2 };

/// Gram-Schmidt twice: 4p²n for p rows.
fn orthonormalisation(args: &[Arg]) -> Poly {
    let (p, n) = shape(&args[0]);
    (p.clone() * p * n).times(4.0)
}

/// Orthonormal rows Q, QN, QNQᵀ, its eigenvectors, and their combination.
fn rayleigh_ritz(args: &[Arg]) -> Poly {
    let (p, n) = shape(&args[0]);
    let square = p.clone() * p.clone();
    let products =
        (p.clone() * n.clone() * n.clone() + square.clone() * n.clone() + p.clone() * n).times(2.0);
    orthonormalisation(args) + products + (square * p).times(9.0)
}

/// The rows of one value above those of another; a vector is one row.
fn stacked(above: &Datum, below: &Datum) -> linalg::Matrix {
    let rows = |value: &Datum| match value {
        Datum::Vector(v) => v.to_vec(),
        value => value.matrix().row_major().to_vec(),
    };
    let mut entries = rows(below);
    let cols = match below {
        Datum::Vector(v) => v.len(),
        value => value.matrix().cols(),
    };
    entries.splice(0..0, rows(above));
    linalg::Matrix::from_row_major(entries.len() / cols, cols, entries).by_columns()
}

/// Operators that any curriculum may use.
static FREE_OPERATORS: &[Operator] = &[
    Operator {
        name: "VEC_VEC_MUL",
        doc: "u∘v, entry by entry",
        forms: &[Form { operands: &[Vector(A), Vector(A)], result: Vector(A) }],
        commutative: true,
        flops: |args| length(&args[..1]),
        formula: |_, exprs, _| Expr::call("mul", "\\operatorname{mul}", exprs),
        compute: Compute::Pure(|values| {
            let products = values[0].vector().iter().zip(values[1].vector()).map(|(u, v)| u * v);
            Ok(products.collect::<Vec<f64>>().into())
        }),
        ..added(
            Meaning::Function,
            Templates {
                python: "$0 * $1",
                rust: "Col::from_fn($0.nrows(), |i| $0[i] * $1[i])",
                julia: "$0 .* $1",
                latex: "$0 \\odot $1",
            },
        )
    },
    Operator {
        name: "VEC_ABS",
        doc: "|v|, entry by entry",
        forms: VECTOR_TO_VECTOR,
        flops: length,
        formula: |_, exprs, _| Expr::call("abs", "\\operatorname{abs}", exprs),
        compute: Compute::Pure(|values| Ok(mapped(values[0], f64::abs))),
        ..added(
            Meaning::Function,
            Templates {
                python: "np.abs($0)",
                rust: "Col::from_fn($0.nrows(), |i| $0[i].abs())",
                julia: "abs.($0)",
                latex: "\\lvert $0 \\rvert",
            },
        )
    },
    Operator {
        name: "PREVIOUS",
        doc: "v as it was here in the iteration before; v itself in the first",
        forms: &[
            Form { operands: &[Vector(A)], result: Vector(A) },
            Form { operands: &[Scalar], result: Scalar },
        ],
        sections: Sections::Iteration,
        flops: free,
        released_flops: free,
        formula: |_, exprs, _| {
            let [v] = take(exprs);
            v.previous()
        },
        compute: Compute::Previous,
        // Exported code names what it remembers; the templates only refer to that name.
        ..added(Meaning::Function, Templates { python: "$0", rust: "$0", julia: "$0", latex: "$0^{-}" })
    },
    Operator {
        name: "REFRESH",
        doc: "u in every k-th iteration, the first included; v in the others, where what only u needs is not computed",
        forms: &[Form { operands: &[Vector(A), Vector(A)], result: Vector(A) }],
        sections: Sections::Iteration,
        flops: free,
        released_flops: free,
        redundant: |args| args[0].reg == args[1].reg,
        formula: |_, exprs, names| {
            let [u, v] = take(exprs);
            names.refreshed(u, v)
        },
        compute: Compute::Refresh,
        ..added(
            Meaning::Function,
            Templates {
                python: "$0 if t % every == 0 else $1",
                rust: "if t.is_multiple_of(every) { $0.to_owned() } else { $1.to_owned() }",
                julia: "t % every == 0 ? $0 : $1",
                latex: "$0 \\text{ if } k \\mid t - 1 \\text{, else } $1",
            },
        )
    },
];

/// What σ applies to, and what it gives.
const LOG_ODDS: DataQuantity = DataQuantity::point(DataUnit::NONE);
const PROBABILITIES: DataQuantity = DataQuantity::point(DataUnit::PROBABILITY);

/// Why an operator does not apply to a value, where it needs another one.
fn misfit(value: DataQuantity, needed: DataQuantity) -> UnitFault {
    if value.unit == needed.unit { UnitFault::Displacement } else { UnitFault::Operand(value.unit) }
}

/// The unit of a vector or map; a point is refused.
fn vector(value: DataQuantity) -> Result<DataUnit, UnitFault> {
    match value.affinity {
        Affinity::Vector => Ok(value.unit),
        Affinity::Point => Err(UnitFault::Point),
    }
}

fn mapped(vector: &Datum, f: impl Fn(f64) -> f64) -> Datum {
    vector.vector().iter().map(|&v| f(v)).collect::<Vec<f64>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::program::Op;

    fn call(name: &str, values: &[Datum]) -> Datum {
        let Compute::Pure(compute) = Op::named(name).unwrap().compute else { panic!("{name} is pure") };
        compute(&values.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn known_answers() {
        let v = || Datum::from(vec![0.0, 3f64.ln(), -1000.0, 1000.0]);
        assert_eq!(call("VEC_SIGMOID", &[v()]).vector(), [0.5, 0.75, 0.0, 1.0]);
        assert_eq!(call("VEC_DSIGMOID", &[vec![0.5, 0.25].into()]).vector(), [0.25, 0.1875]);
        let m = || Datum::from(Matrix::from_rows(&[&[1.0, 2.0], &[3.0, 4.0]]));
        let scaled = call("VEC_MAT_SCALE", &[vec![4.0, 9.0].into(), m()]);
        assert_eq!(scaled.matrix().row_major(), [2.0, 4.0, 9.0, 12.0]);
        assert_eq!(call("MAT_GRAM", &[m()]).matrix().row_major(), [10.0, 14.0, 14.0, 20.0]);
        let x = call("MAT_VEC_SOLVE", &[m(), vec![5.0, 11.0].into()]);
        assert!(linalg::norm(&linalg::sub(x.vector(), &[1.0, 2.0])) < 1e-14);
        assert_eq!(call("VEC_NORMALIZE", &[vec![3.0, 4.0].into()]).vector(), [0.6000000000000001, 0.8]);
        assert_eq!(
            call("VEC_VEC_MUL", &[vec![2.0, -3.0].into(), vec![0.5, 2.0].into()]).vector(),
            [1.0, -6.0]
        );
        assert_eq!(call("VEC_ABS", &[vec![2.0, -3.0].into()]).vector(), [2.0, 3.0]);
        // A failed computation gives a value that is not finite, and the machine stops there.
        assert!(!call("VEC_NORMALIZE", &[vec![0.0; 3].into()]).is_finite());
        assert!(!call("VEC_MAT_SCALE", &[vec![-1.0, 1.0].into(), m()]).is_finite());
    }
}
