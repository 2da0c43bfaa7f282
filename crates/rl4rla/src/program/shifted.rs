//! Operators for problems with a shift λ: factors and preconditioners of MᵀM + λI and M + λI.

use super::datum::Datum;
use super::expr::Expr;
use super::op::{Arg, Compute, Form, Meaning, Operator, Sections, take};
use super::poly::Poly;
use super::rules::{has_dimension_but_rows, is_symmetric, shape, sketch, upper};
use super::template::Templates;
use super::types::Dim;
use super::types::Pattern::{Matrix, Scalar, Vector};
use super::types::Size::{A, B, Is};
use super::units::{DataQuantity, DataUnit, UnitFault};
use crate::linalg;

/// The operator of ridge regression.
pub static RIDGE_OPERATORS: &[Operator] = &[Operator {
    name: "SHIFTED_QR",
    doc: "R of the Householder factorisation of M on top of √α·I; RᵀR = MᵀM + αI for every shape of M and α ≥ 0",
    forms: &[Form { operands: &[Matrix(A, B), Scalar], result: Matrix(B, B) }],
    structure: upper,
    flops: stacked_householder,
    released_flops: stacked_householder,
    formula: |_, exprs, _| Expr::call("qr", "\\operatorname{qr}", exprs),
    compute: Compute::Pure(|values| Ok(linalg::qr_r_shifted(values[0].matrix(), values[1].scalar()).into())),
    units: Some(|operands| {
        let [m, shift] = [operands[0].unit, operands[1].unit];
        if shift == m.times(m) { Ok(DataQuantity::vector(m)) } else { Err(UnitFault::Operand(shift)) }
    }),
    fixes: has_dimension_but_rows,
    meaning: Meaning::ShiftedFactor,
    export: Some(Templates {
        python: "shifted_triangle($0, $1)",
        rust: "shifted_triangle($0.as_ref(), $1)",
        julia: "shifted_triangle($0, $1)",
        latex: "\\operatorname{qr}\\begin{bmatrix} $0 \\\\ \\sqrt{$1}\\, I \\end{bmatrix}",
    }),
    ..Operator::PLAIN
}];

/// The operator of logistic regression with a penalty.
pub const SHIFTED_SOLVE: Operator = Operator {
    name: "SHIFTED_SOLVE",
    doc: "(M + αI)⁻¹v for a symmetric M, by Cholesky in units where the diagonal is 1; fails unless M + αI is positive \
          definite",
    forms: &[Form { operands: &[Matrix(A, A), Scalar, Vector(A)], result: Vector(A) }],
    flops: shifted_cholesky,
    released_flops: shifted_cholesky,
    redundant: |args| !is_symmetric(&args[0]),
    formula: |_, exprs, _| Expr::call("shifted-solve", "\\operatorname{solve}", exprs),
    compute: Compute::Pure(|values| {
        let shift = values[1].scalar();
        let factor = linalg::ShiftedFactor::of(values[0].matrix(), |_| shift)?;
        factor.solve(values[2].vector()).map(Datum::from)
    }),
    export: Some(Templates {
        python: "np.linalg.solve($0 + $1 * np.eye(len($2)), $2)",
        rust: "(&$0 + Scale($1) * Mat::<f64>::identity($2.nrows(), $2.nrows())).partial_piv_lu().solve(&$2)",
        julia: "($0 + $1 * I) \\ $2",
        latex: "($0 + $1\\, I)^{-1} $2",
    }),
    ..Operator::PLAIN
};

/// The operator of symmetric positive definite systems.
pub static SEMIDEFINITE_OPERATORS: &[Operator] = &[Operator {
    name: "NYSTROM",
    doc: "G of s rows such that I − GᵀG is, up to a factor, a Nyström preconditioner of M + αI, by the S of SKETCH",
    forms: &[Form {
        operands: &[Matrix(Is(Dim::Rows), Is(Dim::Rows)), Scalar],
        result: Matrix(Is(Dim::Sketch), Is(Dim::Rows)),
    }],
    // One S for a run, so that the value is the same wherever it is used.
    sections: Sections::Setup,
    flops: nystrom,
    released_flops: nystrom,
    redundant: |args| !is_symmetric(&args[0]),
    formula: |_, exprs, names| {
        let [m, shift] = take(exprs);
        Expr::call("nystrom", "\\operatorname{nystrom}", vec![names.sketch(), m, shift])
    },
    compute: Compute::Sketching(|values, sketched| {
        let y = sketched(values[0]);
        let w = sketched(&y.matrix().transpose().into());
        Ok(linalg::nystrom_deflation(y.matrix(), w.matrix(), values[1].scalar())?.into())
    }),
    units: Some(|operands| {
        let [m, shift] = [operands[0].unit, operands[1].unit];
        if shift == m { Ok(DataQuantity::vector(DataUnit::NONE)) } else { Err(UnitFault::Operand(shift)) }
    }),
    export: Some(Templates {
        python: "nystrom($0, $1, $S)",
        rust: "nystrom($0.as_ref(), $1, &$S)",
        julia: "nystrom($0, $1, $S)",
        latex: "\\operatorname{nystrom}($S, $0, $1)",
    }),
    ..Operator::PLAIN
}];

/// A shift, the Cholesky factor, and two triangular solves: ⅓n³ + 2n² + n.
fn shifted_cholesky(args: &[Arg]) -> Poly {
    let (n, _) = shape(&args[0]);
    let square = n.clone() * n.clone();
    (square.clone() * n.clone()).times(1.0 / 3.0) + square.times(2.0) + n
}

/// Householder QR of (a + b)×b, R only: 2(a + b)b² − ⅔b³.
fn stacked_householder(args: &[Arg]) -> Poly {
    let (a, b) = shape(&args[0]);
    let square = b.clone() * b.clone();
    (a * square.clone()).times(2.0) + (square * b).times(4.0 / 3.0)
}

/// Y = SM and SYᵀ, the Cholesky factor C of the latter and C⁻ᵀY, its transpose Q·R with Q, the singular values and left
/// vectors X of R, and QX.
fn nystrom(args: &[Arg]) -> Poly {
    let (_, n) = shape(&args[0]);
    let s = Poly::dim(Dim::Sketch);
    let (square, cube) = (s.clone() * s.clone(), s.clone() * s.clone() * s.clone());
    let sketches = sketch(args) + Poly::sketch_work() * s * n.clone();
    sketches + (square * n).times(1.0 + 4.0 + 2.0) + cube.times(1.0 / 3.0 - 4.0 / 3.0 + 17.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::program::{Datum, Op};

    #[test]
    fn the_factor_of_a_shifted_gram_matrix_keeps_its_digits() {
        let Compute::Pure(compute) = Op::named("SHIFTED_QR").unwrap().compute else { panic!("it is pure") };
        let factor = |m: Matrix, shift: f64| compute(&[&Datum::from(m), &shift.into()]).unwrap();
        let r = factor(Matrix::from_rows(&[&[3.0, 0.0], &[0.0, 1e-9], &[0.0, 0.0]]), 16.0);
        assert_eq!((r.matrix().get(0, 0), r.matrix().get(1, 0)), (5.0, 0.0));
        // A Gram matrix would lose the last column.
        let r = factor(Matrix::from_rows(&[&[1.0, 1.0], &[0.0, 3e-9]]), 16e-18);
        assert!((r.matrix().get(1, 1) / 5e-9 - 1.0).abs() < 0.3, "{:?}", r.matrix());
        // Of less than full rank, with fewer rows than columns, and with nothing to shift.
        let r = factor(Matrix::from_rows(&[&[0.0, 0.0, 0.0]]), 4.0);
        assert_eq!(r.matrix().row_major(), [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
        assert_eq!(factor(Matrix::zeros(2, 2), 0.0).matrix(), &Matrix::zeros(2, 2));
        for (m, shift) in [(Matrix::identity(2), -1.0), (Matrix::from_rows(&[&[f64::NAN]]), 1.0)] {
            assert!(!factor(m, shift).is_finite());
        }
    }

    #[test]
    fn a_shifted_system_is_solved_in_all_units() {
        let Compute::Pure(compute) = SHIFTED_SOLVE.compute else { panic!("it is pure") };
        let solve =
            |m: Matrix, shift: f64, v: &[f64]| compute(&[&m.into(), &shift.into(), &v.to_vec().into()]);
        let m = || Matrix::from_rows(&[&[3.0, 1.0], &[1.0, 2.0]]);
        // (M + 2I)(1, −1)ᵀ.
        let x = solve(m(), 2.0, &[4.0, -3.0]).unwrap();
        assert!(linalg::norm(&linalg::sub(x.vector(), &[1.0, -1.0])) < 1e-15);
        // Units that differ by 2⁴⁰, as those of a column without penalty do.
        let unit = 2f64.powi(40);
        let far = Matrix::from_rows(&[&[5.0, unit], &[unit, 4.0 * unit * unit]]);
        let x = solve(far, 0.0, &[4.0, -3.0 * unit]).unwrap();
        assert!(linalg::norm(&linalg::sub(&[x.vector()[0], unit * x.vector()[1]], &[1.0, -1.0])) < 1e-14);
        for (shift, v) in [(-3.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(solve(m(), shift, &[v, 1.0]).is_err(), "{shift} {v}");
        }
        assert!(solve(Matrix::zeros(2, 2), 0.0, &[1.0, 1.0]).is_err());
    }

    #[test]
    fn a_nystrom_preconditioner_applies_the_sketch_from_both_sides() {
        let Compute::Sketching(compute) = Op::named("NYSTROM").unwrap().compute else {
            panic!("it sketches")
        };
        // S = I: the approximation is M itself, with the smallest eigenvalue μ = 1.
        let m = Matrix::from_rows(&[&[3.0, 0.0], &[0.0, 1.0]]);
        let both = |m: &Datum| Datum::from(m.matrix().clone());
        let g = compute(&[&m.clone().into(), &0.5.into()], &both).unwrap();
        // (μ + λ)/(3 + λ) = 1.5/3.5 in the first direction, 1 in the second.
        let gram = linalg::gram(g.matrix());
        assert!((gram.get(0, 0) - 2.0 / 3.5).abs() < 1e-14 && gram.get(1, 1).abs() < 1e-14, "{gram:?}");
        let none = |m: &Datum| Datum::from(m.matrix().map(|_| f64::NAN));
        assert!(compute(&[&m.into(), &0.5.into()], &none).is_err());
    }
}
