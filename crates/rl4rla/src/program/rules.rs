//! Rules used by the operator table: the structure of results, costs, and redundant calls.
//!
//! A cost is a polynomial in the dimensions. Some operators have two: the actual work, and the cost model of the
//! paper's released code.

use super::op::Arg;
use super::poly::Poly;
use super::types::{Dim, Structure, Type};

/// Whether an operand is known to be upper triangular.
pub fn is_upper(arg: &Arg) -> bool {
    arg.ty.structure() == Structure::Upper
}

/// Whether an operand is known to be symmetric.
pub fn is_symmetric(arg: &Arg) -> bool {
    arg.ty.structure() == Structure::Symmetric
}

/// Whether both operands are the same register.
pub fn same(args: &[Arg]) -> bool {
    args[0].reg == args[1].reg
}

// Structure of results.
/// No known structure.
pub fn general(_: &[Arg]) -> Structure {
    Structure::General
}
/// Symmetric.
pub fn symmetric(_: &[Arg]) -> Structure {
    Structure::Symmetric
}
pub fn symmetric_if_same(args: &[Arg]) -> Structure {
    if same(args) { Structure::Symmetric } else { Structure::General }
}
pub fn product_structure(args: &[Arg]) -> Structure {
    if args.iter().all(is_upper) { Structure::Upper } else { Structure::General }
}
pub fn kept(args: &[Arg]) -> Structure {
    args[0].ty.structure()
}
/// Upper triangular.
pub fn upper(_: &[Arg]) -> Structure {
    Structure::Upper
}

// Costs.

/// The rows and columns of an operand, as polynomials: a vector is one column.
pub(super) fn shape(arg: &Arg) -> (Poly, Poly) {
    match arg.ty {
        Type::Scalar => (Poly::number(1.0), Poly::number(1.0)),
        Type::Vector(d) | Type::Weights(d) => (Poly::dim(d), Poly::number(1.0)),
        Type::Matrix(r, c, _) => (Poly::dim(r), Poly::dim(c)),
    }
}

fn entries(arg: &Arg) -> Poly {
    let (rows, cols) = shape(arg);
    rows * cols
}

fn times(c: f64, p: Poly) -> Poly {
    p.times(c)
}

/// One operation per entry of the last operand.
pub fn length(args: &[Arg]) -> Poly {
    entries(args.last().expect("has operands"))
}
/// A multiplication and an addition per entry.
pub fn twice_length(args: &[Arg]) -> Poly {
    times(2.0, length(args))
}
fn matrix(args: &[Arg]) -> &Arg {
    args.iter().find(|a| matches!(a.ty, Type::Matrix(..))).expect("one operand is a matrix")
}
/// Matrix times vector, in either order: 2ab, or n² if the matrix is triangular.
pub fn apply(args: &[Arg]) -> Poly {
    let matrix = matrix(args);
    times(if is_upper(matrix) { 1.0 } else { 2.0 }, entries(matrix))
}
/// Matrix times vector: 2ab.
pub fn apply_full(args: &[Arg]) -> Poly {
    times(2.0, entries(matrix(args)))
}
/// P·Q: 2pqr, half of it for each triangular factor.
pub fn multiply(args: &[Arg]) -> Poly {
    let triangular = args.iter().filter(|a| is_upper(a)).count() as i32;
    times(2.0 * 0.5f64.powi(triangular), entries(&args[0]) * shape(&args[1]).1)
}
/// P·Q: 2pqr, or half of it when Q is triangular.
pub fn multiply_released(args: &[Arg]) -> Poly {
    times(if is_upper(&args[1]) { 1.0 } else { 2.0 }, entries(&args[0]) * shape(&args[1]).1)
}
/// P·Qᵀ: 2pqr, or the fraction needed for a symmetric result.
pub fn multiply_transposed(args: &[Arg]) -> Poly {
    symmetric_share(args, entries(&args[0]) * shape(&args[1]).0)
}
/// M·Mᵀ and MᵀM need only one triangle, and a third of that if M is triangular.
fn symmetric_share(args: &[Arg], full: Poly) -> Poly {
    match (same(args), is_upper(&args[0])) {
        (true, true) => times(1.0 / 3.0, full),
        (true, false) => full,
        (false, _) => times(2.0, full),
    }
}
/// P·Qᵀ with an explicit transpose.
pub fn multiply_transposed_released(args: &[Arg]) -> Poly {
    times(2.0, entries(&args[0]) * shape(&args[1]).0) + entries(&args[1])
}
/// Pᵀ·Q: 2pqr, or the fraction needed for a symmetric result.
pub fn transposed_multiply(args: &[Arg]) -> Poly {
    symmetric_share(args, entries(&args[0]) * shape(&args[1]).1)
}
/// MᵀM, only one triangle.
pub fn gram(args: &[Arg]) -> Poly {
    transposed_multiply(&[args[0], args[0]])
}
/// The Gram matrix and its Cholesky factor: ⅓n³ more.
pub fn cholesky(args: &[Arg]) -> Poly {
    let (_, b) = shape(&args[0]);
    gram(args) + times(1.0 / 3.0, b.clone() * b.clone() * b)
}
/// The same after MP⁻¹, ab², and before a product of triangles, ⅓b³.
pub fn precond_cholesky(args: &[Arg]) -> Poly {
    let (a, b) = shape(&args[0]);
    let square = b.clone() * b.clone();
    cholesky(&args[..1]) + a * square.clone() + times(1.0 / 3.0, square * b)
}
/// Elimination and two substitutions: ⅔n³ + 2n², or n² for a triangular matrix.
pub fn solve(args: &[Arg]) -> Poly {
    let square = entries(&args[0]);
    if is_upper(&args[0]) { square } else { times(2.0 / 3.0, cube(args)) + times(2.0, square) }
}
/// Pᵀ·Q with an explicit transpose.
pub fn transposed_multiply_released(args: &[Arg]) -> Poly {
    times(2.0, entries(&args[0]) * shape(&args[1]).1) + entries(&args[0])
}
fn cube(args: &[Arg]) -> Poly {
    let (n, _) = shape(&args[0]);
    n.clone() * n.clone() * n
}
/// 2n³ by elimination, ⅓n³ for a triangular matrix.
pub fn invert(args: &[Arg]) -> Poly {
    times(if is_upper(&args[0]) { 1.0 / 3.0 } else { 2.0 }, cube(args))
}
/// ⅔n³, or n² for a triangular matrix.
pub fn invert_released(args: &[Arg]) -> Poly {
    if is_upper(&args[0]) { entries(&args[0]) } else { times(2.0 / 3.0, cube(args)) }
}
/// Householder QR, R only: 2ab² − ⅔b³ if a ≥ b is known; otherwise the upper bound 2ab².
pub fn householder(args: &[Arg]) -> Poly {
    let (_, b) = shape(&args[0]);
    let tall = match args[0].ty {
        Type::Matrix(rows, cols, _) => rows == cols || (rows, cols) == (Dim::Rows, Dim::Cols),
        _ => false,
    };
    let saved = if tall { times(-2.0 / 3.0, b.clone() * b.clone() * b) } else { Poly::default() };
    householder_released(args) + saved
}
/// 2ab².
pub fn householder_released(args: &[Arg]) -> Poly {
    let (a, b) = shape(&args[0]);
    times(2.0, a * b.clone() * b)
}
/// ζ for every entry of the operand.
pub fn sketch(args: &[Arg]) -> Poly {
    Poly::sketch_work() * entries(&args[0])
}
/// 8·s·cols: the released code uses the rows of the sketch instead of those of the data.
pub fn sketch_released(args: &[Arg]) -> Poly {
    times(8.0, Poly::dim(Dim::Sketch) * shape(&args[0]).1)
}
/// Every sampled row of A and entry of b is read and scaled.
pub fn sample(args: &[Arg]) -> Poly {
    Poly::dim(Dim::Batch) * (shape(&args[1]).1 + Poly::number(1.0))
}
/// k·n.
pub fn sample_released(args: &[Arg]) -> Poly {
    Poly::dim(Dim::Batch) * shape(&args[1]).1
}
/// One operation.
pub fn one(_: &[Arg]) -> Poly {
    Poly::number(1.0)
}
/// No cost.
pub fn free(_: &[Arg]) -> Poly {
    Poly::default()
}

/// Whether an operand has this dimension.
pub fn has_dimension(args: &[Arg], dim: Dim) -> bool {
    args.iter().any(|arg| match arg.ty {
        Type::Scalar => false,
        Type::Vector(d) | Type::Weights(d) => d == dim,
        Type::Matrix(rows, cols, _) => rows == dim || cols == dim,
    })
}

/// The same for the R of a factor, which depends on the rows of its operand only through MᵀM.
pub fn has_dimension_but_rows(args: &[Arg], dim: Dim) -> bool {
    !matches!(args[0].ty, Type::Matrix(_, Dim::Cols, _)) && has_dimension(args, dim)
}

// Calls that a search need not offer.

pub fn never(_: &[Arg]) -> bool {
    false
}
/// Mᵀv = Mv and P·Mᵀ = P·M for symmetric M.
pub fn symmetric_second(args: &[Arg]) -> bool {
    is_symmetric(&args[1])
}
/// Pᵀ·Q = P·Q for symmetric P.
pub fn symmetric_first(args: &[Arg]) -> bool {
    is_symmetric(&args[0])
}
