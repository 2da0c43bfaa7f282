//! Macros: values that several good programs compute, offered to mutations as single moves.

use super::expression::{Expressions, Id};
use rustc_hash::FxHashMap;

/// The values of at least two instructions that at least two of these programs compute, given as steps with rewards:
/// first those that would save the most instructions, where a program counts as much as its reward.
pub fn mined(expressions: &Expressions, programs: &[(Id, f64)], count: usize) -> Vec<Id> {
    let mut shared: FxHashMap<Id, (usize, f64)> = FxHashMap::default();
    for &(step, reward) in programs {
        for &call in expressions.of(step).calls.iter().filter(|&&call| call != step) {
            let (programs, rewards) = shared.entry(call).or_default();
            *programs += 1;
            *rewards += reward;
        }
    }
    let mut macros: Vec<(Id, f64)> = shared
        .into_iter()
        .filter(|(id, (programs, _))| *programs >= 2 && expressions.of(*id).edits() >= 2)
        .map(|(id, (_, rewards))| (id, rewards * (expressions.of(id).edits() - 1) as f64))
        .collect();
    macros.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    macros.truncate(count);
    macros.into_iter().map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Core, Geometry, Reg, Sizes, TaskUnits};

    #[test]
    fn macros_are_what_good_programs_share() {
        let sizes =
            Sizes { rows: 1000.0, cols: 10.0, sketch: 40.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        let mut all = Expressions::new(Geometry::Tall.into(), sizes, f64::INFINITY, Some(TaskUnits::LINEAR));
        let [a, b, x, d] = [Reg::A, Reg::B, Reg::X, Reg::D].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let moved = all.core(Core::MatVecMul, &[a, d]).unwrap();
        // Two programs that step along the gradient, and one along its change.
        let ratio = |all: &mut Expressions, above: [Id; 2], below: [Id; 2]| {
            let [above, below] = [above, below].map(|pair| all.core(Core::VecVecDot, &pair).unwrap());
            all.core(Core::ScalarDiv, &[above, below]).unwrap()
        };
        let [long, short] = [[d, d], [d, gradient]]
            .map(|above| ratio(&mut all, above, if above[1] == d { [moved; 2] } else { [gradient; 2] }));
        let steps = [long, short].map(|ratio| all.core(Core::ScalarVecMul, &[ratio, gradient]).unwrap());
        let other = all.core(Core::VecMatMul, &[moved, a]).unwrap();
        let found = mined(&all, &[(steps[0], 0.9), (steps[1], 0.5), (other, 0.9)], 10);
        // The gradient saves two instructions, the residual one; Ad is a single instruction.
        assert_eq!(found, [gradient, residual]);
        assert_eq!(mined(&all, &[(steps[0], 0.9), (steps[1], 0.5)], 1), [gradient]);
        // The better of two pairs of programs comes first.
        let other_length = ratio(&mut all, [d, d], [moved, residual]);
        let better = [other, all.core(Core::ScalarVecMul, &[long, other]).unwrap()];
        let pairs = [(steps[0], 0.1), (steps[1], 0.1), (better[0], 0.9), (better[1], 0.9)];
        assert!(all.of(other_length).edits() > 1);
        assert_eq!(mined(&all, &pairs, 2)[0], long);
    }
}
