//! Random programs for the integration tests: every one a function of a seed, so that a failure can be repeated.
#![allow(dead_code)] // no test file needs all of it

pub mod mutations;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rl4rla::program::*;
use rl4rla::rng::Stream;

pub const GEOMETRIES: [Geometry; 3] = [Geometry::Tall, Geometry::Square, Geometry::Symmetric];

/// A random choice among many, reproducible from its seed.
pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Stream::new(seed).derive("dice", 0).rng())
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub fn section(&mut self) -> Section {
        *self.pick(&Section::BOTH)
    }
}

pub fn parse(text: &str) -> Program {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub fn reg(name: &str) -> Reg {
    Reg::named(name).expect("a register of the table")
}

pub fn regs(names: &str) -> RegSet {
    names.split(' ').map(reg).collect()
}

/// The operators that know nothing of a task: the paper's, and the one that looks back.
pub fn operators() -> impl Iterator<Item = Op> {
    Op::all().chain(Op::named("PREVIOUS"))
}

/// An operator with registers of the kinds it takes and gives; whether the shapes fit is left to chance.
pub fn plausible(dice: &mut Dice, operators: &[Op], registers: RegSet) -> Instruction {
    let op = *dice.pick(operators);
    let form = dice.pick(op.forms);
    let mut of_kind = |pattern: Pattern, written: bool| {
        let wanted = pattern.kind();
        let written_by_none = |r: &Reg| r.access() == Access::Input && *r != Reg::X;
        let usable = |r: &Reg| Some(r.kind()) == wanted && !(written && written_by_none(r));
        let found: Vec<Reg> = registers.iter().filter(usable).collect();
        *dice.pick(&found)
    };
    let operands: Vec<Reg> = form.operands.iter().map(|&p| of_kind(p, false)).collect();
    let target = match form.result {
        Pattern::Nothing => None,
        Pattern::System(_) => Some(Reg::A),
        pattern => Some(of_kind(pattern, true)),
    };
    Instruction { target, op, operands: operands.into() }
}

/// Whether every instruction fits; the update may still lack its `v1`.
pub fn fits(program: &Program, geometry: Geometry) -> bool {
    check(program, geometry).map_or_else(|error| error.place.is_none(), |_| true)
}

/// Puts a random fitting instruction somewhere, without breaking what is there.
pub fn grow(dice: &mut Dice, program: &mut Program, section: Section, geometry: Geometry) -> bool {
    let operators: Vec<Op> = operators().collect();
    (0..40).any(|_| {
        let at = dice.below(program.section(section).len() + 1);
        let instruction = plausible(dice, &operators, RegSet::all());
        program.section_mut(section).insert(at, instruction);
        let good = fits(program, geometry);
        if !good {
            program.section_mut(section).remove(at);
        }
        good
    })
}

/// A random well-shaped program of about `length` instructions, dead code included.
pub fn well_shaped(dice: &mut Dice, geometry: Geometry, length: usize) -> Program {
    let mut program = Program::default();
    for _ in 0..length {
        let section = dice.section();
        grow(dice, &mut program, section, geometry);
    }
    // Most programs end in a v1 that does not fit: give it a last chance to come from what was computed.
    let operators: Vec<Op> =
        operators().filter(|op| matches!(op.forms[0].result, Pattern::Vector(_))).collect();
    for _ in 0..40 {
        if check(&program, geometry).is_ok() {
            return program;
        }
        let last = Instruction { target: Some(Reg::V1), ..plausible(dice, &operators, RegSet::all()) };
        program.iteration.push(last);
        if check(&program, geometry).is_err() {
            program.iteration.pop();
        }
    }
    if check(&program, geometry).is_err() {
        program.iteration.extend(parse("iteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n").iteration);
    }
    program
}

/// Whether two instructions may change places.
fn independent(a: &Instruction, b: &Instruction) -> bool {
    let clash = |writer: &Instruction, other: &Instruction| {
        writer.writes().iter().any(|r| other.reads().contains(r) || other.writes().contains(r))
    };
    !clash(a, b) && !clash(b, a)
}

/// The program with independent neighbours exchanged and exchangeable operands swapped, many times.
pub fn shuffled(dice: &mut Dice, program: &Program) -> Program {
    let mut program = program.clone();
    for section in Section::BOTH {
        let list = program.section_mut(section);
        for _ in 0..4 * list.len() {
            let i = dice.below(list.len());
            if list[i].op.commutative {
                list[i].operands.reverse();
            }
            if i + 1 < list.len() && independent(&list[i], &list[i + 1]) {
                list.swap(i, i + 1);
            }
        }
    }
    program
}

/// The program with instructions added that cannot matter under any notion of liveness: `DO_NOTHING`, and
/// writes to a register just before it is overwritten unread. What is added fits, if the program does.
pub fn with_dead_code(dice: &mut Dice, program: &Program, geometry: Geometry) -> Program {
    let operators: Vec<Op> = operators().filter(|op| !op.0.samples()).collect();
    let mut program = program.clone();
    let fitted = fits(&program, geometry);
    for _ in 0..20 {
        let section = dice.section();
        let at = dice.below(program.section(section).len() + 1);
        let added = plausible(dice, &operators, RegSet::all());
        let overwritten = program.section(section).get(at).is_some_and(|next| {
            next.target == added.target && !next.reads().iter().any(|r| Some(r) == added.target)
        });
        if added.target.is_none() || overwritten {
            program.section_mut(section).insert(at, added);
            if fitted && !fits(&program, geometry) {
                program.section_mut(section).remove(at);
            }
        }
    }
    program
}

/// A random small grammar: `legal` takes seconds with all registers and operators, and chance covers them all.
pub fn grammar(dice: &mut Dice) -> Grammar {
    let mut grammar = Grammar::full(*dice.pick(&GEOMETRIES));
    grammar.operators = operators().filter(|op| op.name == "DO_NOTHING" || !dice.one_in(3)).collect();
    grammar.warm_start = dice.one_in(3);
    let always = regs("A x v1");
    let others: Vec<Reg> = Reg::all().filter(|&r| !always.contains(r)).collect();
    grammar.registers = (0..3).fold(always, |set, _| set.with(*dice.pick(&others)));
    grammar.open = match dice.below(4) {
        0 => vec![Section::Iteration],
        _ => Section::BOTH.to_vec(),
    };
    grammar
}

/// The states of a random walk through legal edits, from nothing on; fewer than promised where there is no way on.
pub fn legal_walk(dice: &mut Dice, grammar: &Grammar, edits: usize) -> Vec<Program> {
    let mut states = vec![Program::default()];
    for remaining in (1..=edits).rev() {
        let here = states.last().expect("starts with one");
        let legal = grammar.legal(here, remaining);
        if legal.is_empty() {
            break;
        }
        let next = dice.pick(&legal).apply(here);
        states.push(grammar.state(&next).program().clone());
    }
    states
}
