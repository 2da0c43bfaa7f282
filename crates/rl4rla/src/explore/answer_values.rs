//! Answers: every value of a few instructions that a program could give.

use super::directions::is_geometric;
use super::expression::{Expressions, Id};
use super::probe::ValueProbe;
use crate::problem::Task;
use crate::program::{Meaning, Op, Reg, Signature, Type, Update};

/// Expressions after which no longer ones are looked for.
const MOST_EXPRESSIONS: usize = 3_000;

/// Operators that make answers: of x and A, or of A alone. With or without those that make matrices of vectors.
pub fn operators(task: &dyn Task, matrices: bool) -> Vec<Op> {
    let vectors: &[&str] = &["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL"];
    let spaces: &[&str] = &["MAT_STACK", "RAYLEIGH_RITZ"];
    let blocks: &[&str] = &["MAT_MAT_MUL", "MAT_MAT_TRANS_MUL", "MAT_TRANS_MAT_MUL", "SKETCH"];
    let names = match (task.inputs().contains(Reg::X), matrices) {
        (true, true) => [vectors, spaces].concat(),
        (true, false) => vectors.to_vec(),
        (false, _) => blocks.to_vec(),
    };
    let named = |name: &&str| Op::named(name).expect("an operator of this crate");
    names.iter().map(named).chain(task.operators().iter().map(Op)).collect()
}

/// All values of at most `edits` instructions by these operators that a program with this signature could answer with,
/// one for each value up to scale, and the number of all values.
pub fn answers(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    signature: Signature,
    operators: &[Op],
    edits: usize,
) -> (Vec<Id>, usize) {
    let given = |id: &Id, expressions: &Expressions| {
        signature.inputs.iter().any(|reg| reg != Reg::ETA && reg != Reg::MU && expressions.input(reg) == *id)
    };
    let mut active: Vec<Id> = expressions.ids().filter(|id| given(id, expressions)).collect();
    active.retain(|&id| probe.representative(expressions, id) == Some(id));
    for size in 1..=edits {
        if expressions.count() > MOST_EXPRESSIONS {
            break;
        }
        let mut found: Vec<Id> = Vec::new();
        for &op in operators.iter().filter(|op| is_geometric(**op)) {
            for form in op.forms {
                let fits = |id: Id, i: usize| form.operands[i].kind() == Some(expressions.of(id).ty.kind());
                let choices =
                    |i: usize| active.iter().copied().filter(|&id| fits(id, i)).collect::<Vec<Id>>();
                let calls: Vec<Vec<Id>> = match form.operands.len() {
                    1 => choices(0).into_iter().map(|id| vec![id]).collect(),
                    2 => {
                        let alike = form.operands[0].kind() == form.operands[1].kind();
                        let unordered = alike && (op.commutative || op.name == "MAT_STACK");
                        pairs(&choices(0), &choices(1), unordered)
                    }
                    _ => vec![],
                };
                for call in calls {
                    if expressions.calls(&call).len() + 1 == size {
                        found.extend(expressions.call(op, &call));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&id| is_block(expressions.of(id).ty));
        // Among equal values the cheapest stands for all.
        let flops = |id: Id| expressions.flops(&[id]).iter().sum::<f64>();
        found.sort_by(|&i, &j| flops(i).total_cmp(&flops(j)).then(i.cmp(&j)));
        found.retain(|&id| probe.representative(expressions, id) == Some(id));
        found.sort_unstable();
        active.extend(found);
    }
    let values = active.len();
    // A multiple of a value counts as the same, but not as an answer: one of unit length is an answer of its own.
    let units = operators.iter().copied().filter(|op| op.meaning == Meaning::UnitVector);
    for op in units {
        for i in 0..values {
            if expressions.of(active[i]).edits() < edits {
                active.extend(expressions.call(op, &[active[i]]));
            }
        }
    }
    active.retain(|&id| expressions.of(id).edits() > 0 && signature.accepts(expressions.of(id).ty));
    (active, values)
}

/// The operands of an operator on two values. Of two stacks with the same rows one is enough: they span the same space.
fn pairs(left: &[Id], right: &[Id], unordered: bool) -> Vec<Vec<Id>> {
    let all = left.iter().flat_map(|&one| right.iter().map(move |&other| vec![one, other]));
    all.filter(|pair| !unordered || pair[0] < pair[1]).collect()
}

/// Whether a value is a vector, or a block of few rows: A need not fit into memory, and nothing of its size is made.
fn is_block(ty: Type) -> bool {
    match ty {
        Type::Scalar | Type::Weights(_) => false,
        Type::Vector(_) => true,
        Type::Matrix(rows, cols, _) => rows.entries().is_some() && cols.entries().is_none(),
    }
}

/// Whether programs with this update are looked for among answers: not those that step along a direction.
pub fn has_answers(update: Update) -> bool {
    matches!(update, Update::Assign | Update::Basis)
}
