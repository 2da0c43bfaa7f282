//! Directions: every vector that a program of a few instructions can step along.

use super::expression::{ExpressionOrigin, Expressions, Id};
use super::probe::ValueProbe;
use crate::program::{Affinity, Compute, Core, DataUnit, Dim, Kind, Op, Pattern, Reg, RegSet, Section, Type};

/// The largest power of the unit of A, that of AᵀA: higher ones lose more digits than there are. That of the unit of b
/// is the one that b has.
const MOST_POWER: i8 = 2;

/// Expressions after which no longer ones are looked for.
const MOST_EXPRESSIONS: usize = 100_000;

/// Most instructions that make the matrices on the way to a matrix, itself included.
const MATRIX_EDITS: usize = 4;

/// All values of at most `edits` instructions by these operators from these inputs, one for each value up to scale, in
/// the order of their lengths. Numbers are left out: coefficients are chosen later. Without `sums`, only points are
/// subtracted.
pub fn values(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    operators: &[Op],
    inputs: RegSet,
    size: (usize, bool),
) -> Vec<Id> {
    let active: Vec<Id> = expressions
        .ids()
        .filter(|&id| expressions.of(id).ty.kind() != Kind::Scalar)
        .filter(
            |&id| !matches!(expressions.of(id).origin, ExpressionOrigin::Input(reg) if !inputs.contains(reg)),
        )
        .filter(|&id| probe.representative(expressions, id) == Some(id))
        .collect();
    grown(expressions, probe, operators, (active, &[]), size)
}

/// All values of at most `edits` instructions by these operators from A and a direction, which counts as an input: what
/// preconditioners make of it.
pub fn wrapped(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    operators: &[Op],
    direction: Id,
    edits: usize,
) -> Vec<Id> {
    let given = expressions.of(direction).calls.clone();
    let active = vec![expressions.input(Reg::A), direction];
    grown(expressions, probe, operators, (active, &given), (edits, true))
}

/// These values and all that can be made of them, where calls that are given do not count.
fn grown(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    operators: &[Op],
    (mut active, given): (Vec<Id>, &[Id]),
    (edits, sums): (usize, bool),
) -> Vec<Id> {
    for size in 1..=edits {
        if expressions.count() > MOST_EXPRESSIONS {
            break;
        }
        let mut found: Vec<Id> = Vec::new();
        for &op in operators.iter().filter(|op| is_geometric(**op)) {
            for form in op.forms {
                let makes_matrix = form.result.kind() == Some(Kind::Matrix);
                let fits = |id: Id, i: usize| {
                    let kind = form.operands.get(i).and_then(|pattern| pattern.kind());
                    kind == Some(expressions.of(id).ty.kind())
                };
                let choices =
                    |i: usize| active.iter().copied().filter(|&id| fits(id, i)).collect::<Vec<Id>>();
                match form.operands.len() {
                    1 => {
                        let fits = |id: &Id| {
                            new_calls(expressions, *id, given) + 1 == size
                                && !(makes_matrix && has_enough_matrices(expressions, &[*id]))
                        };
                        for id in choices(0).into_iter().filter(fits).collect::<Vec<_>>() {
                            found.extend(expressions.call(op, &[id]));
                        }
                    }
                    2 => {
                        let (left, right) = (choices(0), choices(1));
                        for &one in &left {
                            for &other in &right {
                                if op.commutative && one > other {
                                    continue;
                                }
                                if (sums || !is_sum(expressions, op, one, other))
                                    && fit_together(expressions, one, other)
                                    && union_size(expressions, one, other, given) + 1 == size
                                    && !(makes_matrix && has_enough_matrices(expressions, &[one, other]))
                                {
                                    found.extend(expressions.call(op, &[one, other]));
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        found.extend(with_lambda(expressions, operators, &active, (size, given)));
        found.sort_unstable();
        found.dedup();
        found.retain(|&id| is_worthwhile(expressions, id));
        // Among equal values the cheapest stands for all.
        found.sort_by(|&i, &j| expressions.of(i).flops.total_cmp(&expressions.of(j).flops).then(i.cmp(&j)));
        found.retain(|&id| probe.representative(expressions, id) == Some(id));
        found.sort_unstable();
        active.extend(found);
    }
    active
}

/// What operators on a number and another value make of λ and values with one instruction less, such as λv; nothing if
/// the problems have no λ.
fn with_lambda(
    expressions: &mut Expressions,
    operators: &[Op],
    active: &[Id],
    (size, given): (usize, &[Id]),
) -> Vec<Id> {
    let lambda = expressions.inputs().find(|(_, reg)| *reg == Reg::LAMBDA);
    let Some((lambda, _)) = lambda else { return vec![] };
    let mut found = Vec::new();
    for &op in operators {
        for form in op.forms {
            let makes_matrix = form.result.kind() == Some(Kind::Matrix);
            let [Some(one), Some(other)] = [0, 1].map(|i| form.operands.get(i).and_then(|p| p.kind())) else {
                continue;
            };
            if (one == Kind::Scalar) == (other == Kind::Scalar) {
                continue;
            }
            let kind = if one == Kind::Scalar { other } else { one };
            let fits = |id: &Id| {
                expressions.of(*id).ty.kind() == kind
                    && new_calls(expressions, *id, given) + 1 == size
                    && !(makes_matrix && has_enough_matrices(expressions, &[*id]))
            };
            for id in active.iter().copied().filter(fits).collect::<Vec<_>>() {
                let operands = if one == Kind::Scalar { [lambda, id] } else { [id, lambda] };
                found.extend(expressions.call(op, &operands));
            }
        }
    }
    found
}

/// Whether an operator makes vectors and matrices of vectors and matrices of the same iteration.
pub fn is_geometric(op: Op) -> bool {
    let is_number = |pattern: Pattern| pattern.kind() == Some(Kind::Scalar);
    let numbers =
        op.forms.iter().any(|form| is_number(form.result) || form.operands.iter().any(|p| is_number(*p)));
    !numbers && !matches!(op.compute, Compute::Previous)
}

/// Whether two operands can have a common operator, by a quick look at their shapes.
fn fit_together(expressions: &Expressions, one: Id, other: Id) -> bool {
    let (one, other) = (expressions.of(one), expressions.of(other));
    match (one.ty, other.ty) {
        (Type::Vector(i), Type::Vector(j)) => i == j && one.quantity.unit == other.quantity.unit,
        (Type::Matrix(r, c, _), Type::Vector(k)) | (Type::Vector(k), Type::Matrix(r, c, _)) => {
            r == k || c == k
        }
        _ => true,
    }
}

/// Numbers are left out; matrices are of the size of A, of its sketch or of its Gram matrix.
fn is_worthwhile(expressions: &Expressions, id: Id) -> bool {
    let expression = expressions.of(id);
    let DataUnit { a, b } = expression.quantity.unit;
    if a.abs() > MOST_POWER || b.abs() > expressions.data_unit().b {
        return false;
    }
    match expression.ty {
        Type::Scalar | Type::Weights(_) => false,
        // In setup only b and its sketch: what the iteration subtracts.
        Type::Vector(dim) => expression.section == Section::Iteration || dim == Dim::Sketch,
        Type::Matrix(_, cols, _) => cols == Dim::Cols,
    }
}

/// Whether a call adds or subtracts what is not the position of a point.
fn is_sum(expressions: &Expressions, op: Op, one: Id, other: Id) -> bool {
    let is_point = |id: Id| expressions.of(id).quantity.affinity == Affinity::Point;
    op.is(Core::VecVecAdd) || (op.is(Core::VecVecSub) && !(is_point(one) && is_point(other)))
}

/// Whether no further matrix is made of these.
fn has_enough_matrices(expressions: &Expressions, operands: &[Id]) -> bool {
    let is_matrix = |call: &&Id| expressions.of(**call).ty.kind() == Kind::Matrix;
    expressions.calls(operands).iter().filter(is_matrix).count() >= MATRIX_EDITS
}

/// Number of calls that compute both, without those that are given.
fn union_size(expressions: &Expressions, one: Id, other: Id, given: &[Id]) -> usize {
    let (first, second) = (&expressions.of(one).calls, &expressions.of(other).calls);
    let is_common = |call: &&Id| first.binary_search(call).is_ok() && given.binary_search(call).is_err();
    let common = second.iter().filter(is_common).count();
    new_calls(expressions, one, given) + new_calls(expressions, other, given) - common
}

/// Number of calls that compute a value, without those that are given.
fn new_calls(expressions: &Expressions, id: Id, given: &[Id]) -> usize {
    let calls = &expressions.of(id).calls;
    if given.is_empty() {
        return calls.len();
    }
    calls.iter().filter(|call| given.binary_search(call).is_err()).count()
}
