use super::*;
use crate::program::{CATALOGUE, Entry, Geometry, OPERATORS};
use std::collections::HashSet;

/// Searches for an order in which the instructions of the target can be inserted one by one.
fn reachable(grammar: &Grammar, target: &Program) -> bool {
    let all: Vec<(Section, Instruction)> =
        target.instructions().map(|(s, _, ins)| (s, ins.clone())).collect();
    let part = |mask: usize| {
        let mut program = Program::default();
        for (i, (section, ins)) in all.iter().enumerate().filter(|(i, _)| mask & 1 << i != 0) {
            debug_assert!(i < all.len());
            program.section_mut(*section).push(ins.clone());
        }
        grammar.state(&program)
    };
    let goal = (1 << all.len()) - 1;
    let (mut seen, mut stack) = (HashSet::from([0usize]), vec![0usize]);
    while let Some(mask) = stack.pop() {
        if mask == goal {
            return true;
        }
        let here = part(mask);
        let remaining = all.len() - mask.count_ones() as usize;
        let children: HashSet<Canonical> = grammar
            .legal(here.program(), remaining)
            .iter()
            .map(|insertion| grammar.state(&insertion.apply(here.program())))
            .collect();
        // The order in which they are written is tried first: with the last, long programs have dead ends by the thousand.
        for next in (0..all.len()).rev().map(|i| mask | 1 << i).filter(|&next| next != mask) {
            if children.contains(&part(next)) && seen.insert(next) {
                stack.push(next);
            }
        }
    }
    false
}

#[test]
fn every_catalogue_program_is_reachable_from_nothing() {
    for entry in CATALOGUE.iter() {
        let program = &entry.document.program;
        let mut grammar = Grammar::full(entry.signature());
        grammar.warm_start = true;
        // Only the operators and registers it uses: this is about reachability, not the size of the search space.
        let uses = |op: &Op| program.instructions().any(|(_, _, ins)| ins.op == *op);
        grammar.operators = Op::known().filter(uses).collect();
        grammar.registers = program
            .instructions()
            .fold([Reg::A, Reg::B, Reg::X, Reg::ETA].into_iter().collect(), |set: RegSet, (_, _, ins)| {
                set.union(ins.reads()).union(ins.writes())
            });
        assert!(reachable(&grammar, program), "{}", entry.name);
    }
}

#[test]
fn all_forms_of_an_operator_take_as_many_operands() {
    for row in &OPERATORS {
        assert!(row.forms.iter().all(|f| f.operands.len() == row.forms[0].operands.len()), "{}", row.name);
    }
}

#[test]
fn the_last_edit_must_leave_a_well_shaped_program() {
    let grammar = Grammar::full(Geometry::Tall);
    let half: Program = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n".parse().unwrap();
    let last = grammar.legal(&half, 1);
    assert!(!last.is_empty());
    for insertion in &last {
        assert!(grammar.is_well_shaped(&insertion.apply(&half)), "{insertion:?}");
    }
    let gradient: Instruction =
        "iteration:\n v1 = VEC_MAT_MUL(v1, A)\n".parse::<Program>().unwrap().iteration[0].clone();
    assert!(last.iter().any(|i| i.instruction == gradient && i.position == 2));
    assert!(grammar.legal(&half, 0).is_empty());
}

#[test]
fn order_is_fixed_and_do_nothing_is_offered_once() {
    let grammar = Grammar::full(Geometry::Symmetric);
    let empty = Program::default();
    let first = grammar.legal(&empty, 2);
    assert_eq!(first, grammar.legal(&empty, 2));
    assert_eq!(first.iter().filter(|i| i.instruction.op.name == "DO_NOTHING").count(), 1);
}

#[test]
fn the_residual_divides_the_iteration() {
    let mut grammar = Grammar::full(Geometry::Tall);
    grammar.open = vec![Section::Iteration];
    let gradient = &Entry::named("ls-gd").unwrap().document.program;
    let positions = |grammar: &Grammar| -> HashSet<usize> {
        let moves = |i: &Insertion| i.instruction.target.is_some();
        grammar.legal(gradient, 1).iter().filter(|i| moves(i)).map(|i| i.position).collect()
    };
    assert!(positions(&grammar).contains(&0) && positions(&grammar).contains(&3));
    grammar.part = IterationPart::Forward;
    assert!(positions(&grammar).contains(&0) && !positions(&grammar).contains(&3));
    grammar.part = IterationPart::Update;
    assert!(positions(&grammar).iter().all(|&position| position >= 2));
}

#[test]
fn what_is_for_setup_only_is_not_written_in_the_iteration() {
    let mut grammar = Grammar::full(Geometry::Tall);
    let writes_r1 = |grammar: &Grammar, section| {
        let written = |i: &Insertion| i.section == section && i.instruction.target == Some(Reg::R1);
        grammar.legal(&Program::default(), 3).iter().any(written)
    };
    assert!(Section::BOTH.into_iter().all(|section| writes_r1(&grammar, section)));
    grammar.setup_only = RegSet::EMPTY.with(Reg::R1);
    assert!(writes_r1(&grammar, Section::Setup) && !writes_r1(&grammar, Section::Iteration));
}

#[test]
fn what_came_later_is_offered_only_by_name() {
    let mut grammar = Grammar::full(Geometry::Tall);
    let start = &Entry::named("ls-gd").unwrap().document.program;
    let touched = |grammar: &Grammar, reg: Reg| {
        let touches = |i: &Insertion| {
            (i.instruction.reads().contains(reg), i.instruction.target == Some(reg), i.section)
        };
        grammar.legal(start, 1).iter().map(touches).collect::<Vec<_>>()
    };
    let reads = |grammar: &Grammar, reg| touched(grammar, reg).iter().any(|(reads, _, _)| *reads);
    let writes_x = |grammar: &Grammar| -> HashSet<Section> {
        touched(grammar, Reg::X).iter().filter(|(_, writes, _)| *writes).map(|&(_, _, s)| s).collect()
    };
    assert!(![Reg::D, Reg::MU].into_iter().any(|reg| reads(&grammar, reg)));
    assert!(writes_x(&grammar).is_empty());
    grammar.registers = RegSet::all();
    grammar.warm_start = true;
    assert!([Reg::D, Reg::MU].into_iter().all(|reg| reads(&grammar, reg)));
    assert_eq!(writes_x(&grammar), HashSet::from([Section::Setup]));
}

#[test]
fn an_operand_can_be_redirected() {
    let entry = Entry::named("newton").unwrap();
    let to = &entry.document.program;
    let mut grammar = Grammar::full(entry.signature());
    grammar.operators = Op::known().collect();
    grammar.registers =
        to.instructions().fold([Reg::X, Reg::ETA].into_iter().collect(), |set: RegSet, (_, _, ins)| {
            set.union(ins.reads()).union(ins.writes())
        });
    grammar.open = vec![Section::Iteration];
    // Newton's method except for the operand of its Gram matrix: the weights are not used yet.
    let from: Program = to.to_string().replace("MAT_GRAM(R1)", "MAT_GRAM(A)").parse().unwrap();
    let inserted = grammar.legal(&from, 1);
    assert!(inserted.iter().all(|edit| !edit.replaces));
    grammar.redirect = true;
    let legal = grammar.legal(&from, 1);
    assert_eq!(legal[..inserted.len()], inserted, "insertions come first, as they were");
    let redirected = &legal[inserted.len()..];
    assert!(!redirected.is_empty());
    for edit in redirected {
        let old = &from.section(edit.section)[edit.position];
        let changed = edit.instruction.operands.iter().zip(&*old.operands).filter(|(a, b)| a != b);
        assert!(edit.replaces && changed.count() == 1 && edit.instruction.target == old.target);
        assert_eq!(edit.instruction.op, old.op);
        assert!(grammar.is_well_shaped(&edit.apply(&from)), "{edit:?}");
    }
    assert!(redirected.iter().any(|edit| grammar.finish(&edit.apply(&from)) == grammar.finish(to)));
    grammar.open = vec![Section::Setup];
    assert!(grammar.legal(&from, 1).iter().all(|edit| !edit.replaces), "a closed section stays as it is");
    (grammar.open, grammar.part) = (vec![Section::Iteration], IterationPart::Forward);
    let residual = from.iteration.iter().position(is_residual).unwrap();
    let forward = grammar.legal(&from, 1);
    assert!(forward.iter().filter(|edit| edit.replaces).all(|edit| edit.position <= residual));
    // The operands of a sum are in canonical order, which a replacement may change.
    let sum = |operands: &str| -> Instruction {
        format!("iteration:\n v1 = VEC_VEC_ADD({operands})\n").parse::<Program>().unwrap().iteration[0]
            .clone()
    };
    let mut grammar = Grammar { redirect: true, ..Grammar::full(Geometry::Symmetric) };
    grammar.open = vec![Section::Iteration];
    let start: Program = "iteration:\n v2 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_ADD(b, x)\n".parse().unwrap();
    let legal = grammar.legal(&start, 1);
    assert!(legal.iter().any(|edit| edit.replaces && edit.instruction == sum("x, v2")));
}

#[test]
fn sketching_replaces_the_full_factorisation() {
    let mut grammar = Grammar::full(Geometry::Tall);
    grammar.registers = [Reg::A, Reg::B, Reg::X, Reg::V1, Reg::R1].into_iter().collect();
    grammar.open = vec![Section::Setup];
    let named = |name: &str| &Entry::named(name).unwrap().document.program;
    let (from, to) = (named("precond-gd"), named("sketched-precond-gd"));
    let found = grammar.legal(from, 2).iter().any(|first| {
        let half = grammar.state(&first.apply(from));
        grammar
            .legal(half.program(), 1)
            .iter()
            .any(|second| grammar.finish(&second.apply(half.program())) == grammar.finish(to))
    });
    assert!(found);
}
