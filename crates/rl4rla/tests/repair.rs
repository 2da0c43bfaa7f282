//! The repair rule: legal edits are exactly those from which brute force finds a well-shaped program, and walks
//! along them end in one.

mod common;
#[path = "repair/reference.rs"]
mod reference;

use common::*;
use rayon::prelude::*;
use rl4rla::program::*;
use std::collections::BTreeSet;

/// A grammar small enough to try everything.
fn small(geometry: Geometry, operators: &str, registers: &str) -> Grammar {
    let mut grammar = Grammar::full(geometry);
    grammar.operators = operators.split(' ').map(|name| Op::named(name).unwrap()).collect();
    grammar.registers = regs(registers);
    grammar
}

const LINEAR: &str = "SKETCH HHQR MAT_INV MAT_MAT_TRANS_MUL MAT_VEC_MUL VEC_MAT_MUL VEC_VEC_SUB";

fn grammars() -> Vec<Grammar> {
    let mut grammars = Vec::new();
    for geometry in GEOMETRIES {
        grammars.push(small(geometry, LINEAR, "A b x v1 R1"));
        grammars.push(small(geometry, "MAT_VEC_MUL VEC_MAT_MUL VEC_VEC_ADD", "A x v1 v2 m1"));
        grammars.push(small(
            geometry,
            "LEVERAGE_SCORE SUBSAMPLING VEC_MAT_MUL TRIANGULAR_SOLVE HHQR",
            "A b v1 R1 p1",
        ));
        let mut setup_only = small(geometry, LINEAR, "A b x v1 R1");
        setup_only.open = vec![Section::Setup];
        setup_only.warm_start = true;
        grammars.push(setup_only);
    }
    grammars
}

/// Where each instruction of a program stands with its types: those that do not fit are left out of `fitting`,
/// and what they wrote is `poison`.
#[derive(Default)]
struct Prefix {
    fitting: Program,
    poison: RegSet,
}

impl Prefix {
    /// The instruction's types, if it fits here: a second opinion on typing, by way of `check` alone.
    fn admits(&self, section: Section, instruction: &Instruction, geometry: Geometry) -> Option<Vec<Arg>> {
        if instruction.reads().iter().any(|r| self.poison.contains(r)) {
            return None;
        }
        let mut with = self.fitting.clone();
        with.section_mut(section).push(instruction.clone());
        // A last instruction that always fits, so that only the instructions can be at fault.
        with.iteration.extend(parse("iteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n").iteration);
        let typed = check(&with, geometry).ok()?;
        let place = typed.len() - 2;
        Some(typed[place].args.clone())
    }

    fn push(&mut self, section: Section, instruction: &Instruction, geometry: Geometry) {
        let fits = self.admits(section, instruction, geometry).is_some();
        for reg in instruction.writes().iter() {
            self.poison = if fits { self.poison.without(reg) } else { self.poison.with(reg) };
        }
        if fits {
            self.fitting.section_mut(section).push(instruction.clone());
        }
    }
}

/// Every choice of `arity` registers.
fn choices(registers: &[Reg], arity: usize) -> Vec<Vec<Reg>> {
    match arity {
        0 => vec![vec![]],
        _ => choices(registers, arity - 1)
            .into_iter()
            .flat_map(|shorter| registers.iter().map(move |&r| [shorter.clone(), vec![r]].concat()))
            .collect(),
    }
}

/// Every instruction that can be written down with this grammar, whatever the types.
fn vocabulary(grammar: &Grammar, section: Section) -> Vec<Instruction> {
    let registers: Vec<Reg> = grammar.registers.iter().collect();
    let mut all = Vec::new();
    for &op in &grammar.operators {
        let closed = |r: Reg| match section {
            Section::Setup => grammar.iteration_only.contains(r) || r == Reg::X && !grammar.warm_start,
            Section::Iteration => false,
        };
        let writable = |r: &&Reg| !closed(**r);
        let targets: Vec<Option<Reg>> = match op.forms[0].result {
            Pattern::Nothing => vec![None],
            _ => registers.iter().filter(writable).map(|&r| Some(r)).collect(),
        };
        for operands in choices(&registers, op.forms[0].operands.len()) {
            if !op.commutative || operands.is_sorted() {
                let write = |&target| Instruction { target, op, operands: operands.clone().into() };
                all.extend(targets.iter().map(write));
            }
        }
    }
    all
}

/// Every way to insert one well-typed instruction that is not redundant.
fn insertions(grammar: &Grammar, program: &Program) -> Vec<Insertion> {
    let mut found = Vec::new();
    let mut prefix = Prefix::default();
    for section in Section::BOTH {
        let words = if grammar.open.contains(&section) { vocabulary(grammar, section) } else { vec![] };
        for position in 0..=program.section(section).len() {
            for instruction in &words {
                let args = prefix.admits(section, instruction, grammar.signature.geometry);
                if args.is_some_and(|args| !(instruction.op.redundant)(&args)) {
                    found.push(Insertion {
                        section,
                        position,
                        instruction: instruction.clone(),
                        replaces: false,
                    });
                }
            }
            if let Some(instruction) = program.section(section).get(position) {
                prefix.push(section, instruction, grammar.signature.geometry);
            }
        }
    }
    found
}

/// Whether at most `edits` insertions make the program well-shaped, by trying them all.
fn can_be_repaired(grammar: &Grammar, program: &Program, edits: usize) -> bool {
    grammar.is_well_shaped(program)
        || edits > 0
            && insertions(grammar, program)
                .iter()
                .any(|insertion| can_be_repaired(grammar, &insertion.apply(program), edits - 1))
}

/// A partial program such as edits leave behind: every instruction fitted when it was put in.
fn partial(dice: &mut Dice, grammar: &Grammar, edits: usize) -> Program {
    let mut free = grammar.clone();
    free.open = Section::BOTH.to_vec();
    (0..edits).fold(Program::default(), |program, _| {
        let ways = insertions(&free, &program);
        if ways.is_empty() { program } else { dice.pick(&ways).apply(&program) }
    })
}

/// The legal edits by brute force.
fn expected(grammar: &Grammar, program: &Program, remaining: usize) -> BTreeSet<Insertion> {
    let here = grammar.state(program);
    insertions(grammar, program)
        .into_iter()
        .filter(|insertion| {
            let child = grammar.state(&insertion.apply(program));
            child != here && can_be_repaired(grammar, child.program(), remaining - 1)
        })
        .collect()
}

/// Compares `legal` with brute force on random partial programs; returns how many of the edits were refused.
fn compare(programs: u64, length: usize, remaining: usize) -> usize {
    let grammars = grammars();
    let refused = |seed: u64| {
        let mut dice = Dice::new(seed);
        let grammar = &grammars[seed as usize % grammars.len()];
        let edits = dice.below(length + 1);
        let program = partial(&mut dice, grammar, edits);
        let legal: BTreeSet<Insertion> = grammar.legal(&program, remaining).into_iter().collect();
        let expected = expected(grammar, &program, remaining);
        let show = |i: Option<&Insertion>| i.map(|i| i.apply(&program).to_string()).unwrap_or_default();
        let (missing, wrong) = (expected.difference(&legal).next(), legal.difference(&expected).next());
        assert!(
            missing.is_none() && wrong.is_none(),
            "{remaining} edits left in {:?}, {:?} open, from\n{program}refused:\n{}admitted:\n{}",
            grammar.signature.geometry,
            grammar.open,
            show(missing),
            show(wrong),
        );
        insertions(grammar, &program).len() - legal.len()
    };
    (0..programs).into_par_iter().map(refused).sum()
}

#[test]
fn the_last_edit_is_legal_exactly_if_it_leaves_a_well_shaped_program() {
    assert!(compare(1200, 5, 1) > 1000);
}

#[test]
fn with_one_edit_to_come_brute_force_agrees() {
    assert!(compare(360, 4, 2) > 100);
}

#[test]
fn with_two_edits_to_come_brute_force_agrees() {
    assert!(compare(48, 3, 3) > 10);
}

/// A program that no search would write: operands of the right kinds, but misfits and dead code everywhere.
fn untidy(dice: &mut Dice, grammar: &Grammar, length: usize) -> Program {
    let mut program = Program::default();
    for _ in 0..length {
        let section = dice.section();
        let at = dice.below(program.section(section).len() + 1);
        let instruction = plausible(dice, &grammar.operators, RegSet::all());
        program.section_mut(section).insert(at, instruction);
    }
    program
}

/// A grammar with everything left to chance.
fn any_grammar(dice: &mut Dice) -> Grammar {
    let mut grammar = grammar(dice);
    grammar.open = vec![Section::Setup, Section::Iteration];
    if dice.one_in(2) {
        grammar.open.remove(dice.below(2));
    }
    grammar.part = *dice.pick(&[
        IterationPart::Whole,
        IterationPart::Whole,
        IterationPart::Forward,
        IterationPart::Update,
    ]);
    let any = |dice: &mut Dice| RegSet::EMPTY.with(*dice.pick(&Reg::all().collect::<Vec<_>>()));
    if dice.one_in(3) {
        grammar.setup_only = any(dice);
    }
    if dice.one_in(3) {
        grammar.live_out = LiveOut::Keeping(any(dice));
    }
    grammar
}

/// Compares `legal` with the plain rule on random programs, the order included; returns how many edits were legal.
fn compare_with_reference(programs: u64, length: usize, remaining: usize) -> usize {
    let judge = |seed: u64| {
        let mut dice = Dice::new(seed);
        let grammar = any_grammar(&mut dice);
        let length = dice.below(length + 1);
        let program = match dice.below(4) {
            0 => untidy(&mut dice, &grammar, length),
            1 => well_shaped(&mut dice, grammar.signature.geometry, length),
            2 => partial(&mut dice, &grammar, length.min(4)),
            _ => {
                let mut states = legal_walk(&mut dice, &grammar, length + remaining);
                states.swap_remove(length.min(states.len() - 1))
            }
        };
        let program = if dice.one_in(2) { grammar.state(&program).program().clone() } else { program };
        let legal = grammar.legal(&program, remaining);
        let plain = reference::legal(&grammar, &program, remaining);
        assert_eq!(legal, plain, "{remaining} edits left in {grammar:?} from\n{program}");
        legal.len()
    };
    (0..programs).into_par_iter().map(judge).sum()
}

#[test]
fn the_plain_rule_agrees_on_the_last_edit() {
    assert!(compare_with_reference(4000, 8, 1) > 10_000);
}

#[test]
fn the_plain_rule_agrees_with_one_edit_to_come() {
    assert!(compare_with_reference(2000, 7, 2) > 10_000);
}

#[test]
fn the_plain_rule_agrees_with_two_edits_to_come() {
    assert!(compare_with_reference(400, 6, 3) > 5_000);
}

/// The first of two repairs may be a write that is dead until the second reads it, and an edit that is dead at once
/// is not offered. So a state that needs two repairs can be stuck; one that needs at most one never is.
#[test]
fn legal_edits_lead_to_well_shaped_programs() {
    let walks = |seed: u64| {
        let mut dice = Dice::new(seed);
        let grammar = grammar(&mut dice);
        let edits = 1 + dice.below(6);
        let states = legal_walk(&mut dice, &grammar, edits);
        let (last, remaining) = (states.last().unwrap(), edits + 1 - states.len());
        if remaining == 0 {
            let finished = grammar.finish(last);
            assert!(grammar.is_well_shaped(last), "{:?}\n{last}", grammar.signature.geometry);
            assert!(check(finished.program(), grammar.signature.geometry).is_ok(), "{finished:?}");
        } else {
            assert!(!can_be_repaired(&grammar, last, 1), "{remaining} edits left in {grammar:?}:\n{last}");
        }
        // A grammar without any program is no dead end.
        (usize::from(remaining == 0), usize::from(remaining > 0 && remaining < edits))
    };
    let counts = (0..1000_u64).into_par_iter().map(walks);
    let (finished, stuck) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(finished > 800, "only {finished} of 1000 grammars led to a program");
    assert!(stuck <= 5, "{stuck} of 1000 walks were stuck");
}

/// What iteration t leaves in a carried register is read by iteration t + 1: an ill-typed write to it is live.
#[test]
fn a_poisoned_carried_register_is_not_taken_for_well_shaped() {
    let program =
        parse("iteration:\n v1 = VEC_VEC_ADD(x, m1)\n v2 = VEC_VEC_ADD(v1, x)\n m1 = VEC_VEC_ADD(v2, x)\n");
    let spoil = parse("iteration:\n v2 = MAT_VEC_MUL(A, x)\n").iteration[0].clone();
    let spoil = Insertion { section: Section::Iteration, position: 2, instruction: spoil, replaces: false };
    let mut grammar = small(Geometry::Tall, "MAT_VEC_MUL VEC_VEC_ADD DO_NOTHING", "A x v1 v2 m1");
    assert!(!grammar.is_well_shaped(&spoil.apply(&program)));
    assert!(!grammar.legal(&program, 1).contains(&spoil));
    // One more edit can put the damage right.
    grammar.operators.push(Op::named("VEC_MAT_MUL").unwrap());
    assert!(grammar.legal(&program, 2).contains(&spoil));
}
