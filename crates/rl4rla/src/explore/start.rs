//! Starts: the points that setup can compute with the matrices a program has anyway.

use super::expression::{Expressions, Id};
use super::probe::ValueProbe;
use crate::program::{Core, Dim, Kind, Op, Reg, Section, Type};

/// Most instructions from b to the start.
const START_EDITS: usize = 4;

/// Every vector in the space of x that setup can compute from b with the matrices of a program, one for each value.
pub fn starts(
    expressions: &mut Expressions,
    probe: &mut ValueProbe,
    program: Id,
    operators: &[Op],
) -> Vec<Id> {
    let calls = expressions.calls(&[program]);
    let is_matrix = |id: &Id| {
        expressions.of(*id).ty.kind() == Kind::Matrix && expressions.of(*id).section == Section::Setup
    };
    let mut maps: Vec<Id> = calls.into_iter().filter(is_matrix).collect();
    maps.push(expressions.input(Reg::A));
    let has = |core: Core| operators.iter().any(|op| op.is(core));
    let mut all = vec![expressions.input(Reg::B)];
    let mut last = all.clone();
    for _ in 0..START_EDITS {
        let mut found = Vec::new();
        for &vector in &last {
            if has(Core::Sketch) {
                found.extend(expressions.core(Core::Sketch, &[vector]));
            }
            for &map in &maps {
                for (core, operands) in [
                    (Core::MatVecMul, [map, vector]),
                    (Core::VecMatMul, [vector, map]),
                    (Core::TriangularSolve, [map, vector]),
                    (Core::TriangularSolve, [vector, map]),
                ] {
                    if has(core) {
                        found.extend(expressions.core(core, &operands));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&id| probe.representative(expressions, id) == Some(id) && !all.contains(&id));
        all.extend(&found);
        last = found;
    }
    let is_start = |&id: &Id| {
        expressions.of(id).ty == Type::Vector(Dim::Cols) && expressions.unit(id) == expressions.step_unit()
    };
    all.into_iter().filter(is_start).collect()
}
