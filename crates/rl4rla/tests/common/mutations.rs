//! Pairs of programs: one written anew, and one changed a little.

use super::{Dice, plausible, reg, regs};
use rl4rla::program::*;

/// A random instruction on few registers, so that instructions meet.
pub fn random_instruction(dice: &mut Dice) -> Instruction {
    let operators: Vec<Op> = Op::known().collect();
    plausible(dice, &operators, regs("A b x eta a1 a2 v1 v2 v3 R1 R2 p1 m1"))
}

/// One instruction changed, left out, put in or exchanged with its neighbour.
pub fn mutated(program: &Program, signature: impl Into<Signature>, dice: &mut Dice) -> Program {
    let signature = signature.into();
    let mutant = (0..200).find_map(|_| {
        let mut child = program.clone();
        let section = dice.section();
        let instructions = child.section_mut(section);
        let (at, length) = (dice.below(instructions.len() + 1), instructions.len());
        match dice.below(4) {
            0 if at < length => instructions[at] = random_instruction(dice),
            1 if at < length => drop(instructions.remove(at)),
            2 if at + 1 < length => instructions.swap(at, at + 1),
            _ => instructions.insert(at, random_instruction(dice)),
        }
        (check(&child, signature).is_ok() && child != *program).then_some(child)
    });
    mutant.unwrap_or_else(|| program.clone())
}

/// The same algorithm in other words: operands commuted, registers renamed, something added and taken away.
pub fn rewritten(program: &Program, signature: impl Into<Signature>, dice: &mut Dice) -> Program {
    let signature = signature.into();
    let mut child = program.clone();
    let [v2, v3, r1, r2] = ["v2", "v3", "R1", "R2"].map(reg);
    let renamed = |reg: &mut Reg| {
        let pairs = [(v2, v3), (v3, v2), (r1, r2), (r2, r1)];
        *reg = pairs.iter().find(|(from, _)| from == reg).map_or(*reg, |(_, to)| *to);
    };
    let rename = dice.below(2) == 0;
    for section in Section::BOTH {
        for instruction in child.section_mut(section) {
            if rename {
                instruction.target.iter_mut().for_each(renamed);
                instruction.operands.iter_mut().for_each(renamed);
            }
            if instruction.op.commutative && dice.below(2) == 0 {
                instruction.operands.reverse();
            }
        }
    }
    let op = |name| Op::named(name).expect("an operator");
    let detour = |target, term| {
        let step =
            |name| Instruction { target: Some(target), op: op(name), operands: vec![target, term].into() };
        [step("VEC_VEC_ADD"), step("VEC_VEC_SUB")]
    };
    for _ in 0..20 {
        let mut longer = child.clone();
        let instructions = longer.section_mut(Section::Iteration);
        let at = dice.below(instructions.len() + 1);
        let (target, term) = (*dice.pick(&[Reg::V1, v2, v3]), *dice.pick(&[Reg::X, Reg::B, v2, Reg::V1]));
        if target != term {
            instructions.splice(at..at, detour(target, term));
            if check(&longer, signature).is_ok() {
                return longer;
            }
        }
    }
    child
}
