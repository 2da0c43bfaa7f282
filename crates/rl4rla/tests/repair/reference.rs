//! The rule for legal edits as it was first written: every edit is made, tidied and judged on its own, by every way
//! the registers can be typed. Slow and plain; what `Grammar::legal` says must be the same, in the same order.

use rl4rla::program::*;
use std::collections::{BTreeSet, HashMap};

/// The ways the registers can be typed at one point, each with the fewest insertions that lead there.
type Frontier = HashMap<Env, usize>;

/// The legal edits, in order.
pub fn legal(grammar: &Grammar, program: &Program, remaining: usize) -> Vec<Insertion> {
    let mut legal: Vec<Insertion> = Vec::new();
    if remaining == 0 {
        return legal;
    }
    let here = grammar.state(program);
    let mut env = Env::start(grammar.signature);
    for section in Section::BOTH {
        let instructions = program.section(section);
        for position in 0..=instructions.len() {
            if opens(grammar, section, position, instructions) {
                for instruction in candidates(grammar, &env, section) {
                    let nothing = instruction.target.is_none();
                    if nothing && legal.iter().any(|i| i.instruction.target.is_none()) {
                        continue;
                    }
                    let insertion = Insertion { section, position, instruction, replaces: false };
                    let child = grammar.state(&insertion.apply(program));
                    let changes = nothing || child != here;
                    if changes && possible(grammar, child.program(), remaining - 1) {
                        legal.push(insertion);
                    }
                }
            }
            if let Some(instruction) = instructions.get(position) {
                let _ = env.step(instruction, section);
            }
        }
    }
    legal
}

fn opens(grammar: &Grammar, section: Section, position: usize, instructions: &[Instruction]) -> bool {
    let is_residual = |ins: &Instruction| ins.to_string() == "v1 = VEC_VEC_SUB(v1, b)";
    let boundary = instructions.iter().rposition(is_residual).map_or(instructions.len(), |i| i + 1);
    grammar.open.contains(&section)
        && match (section, grammar.part) {
            (Section::Setup, _) | (_, IterationPart::Whole) => true,
            (Section::Iteration, IterationPart::Forward) => position <= boundary,
            (Section::Iteration, IterationPart::Update) => position >= boundary,
        }
}

/// Every instruction that fits at a point with these types.
fn candidates(grammar: &Grammar, env: &Env, section: Section) -> Vec<Instruction> {
    let readable: Vec<Reg> = grammar.registers.iter().filter(|&r| env.get(r).is_some()).collect();
    let mut found = Vec::new();
    for &op in &grammar.operators {
        for operands in op.forms.iter().flat_map(|form| tuples(&readable, form.operands)) {
            let Ok(value) = env.value(op, &operands) else { continue };
            if op.commutative && !operands.is_sorted() || (op.redundant)(&value.args) {
                continue;
            }
            for target in targets(grammar, op, section) {
                let instruction = Instruction { target, op, operands: operands.clone().into() };
                if env.result(&instruction, section).is_ok() {
                    found.push(instruction);
                }
            }
        }
    }
    found
}

fn targets(grammar: &Grammar, op: Op, section: Section) -> Vec<Option<Reg>> {
    match op.forms[0].result {
        Pattern::Nothing => vec![None],
        Pattern::System(_) => {
            let both = grammar.registers.contains(Reg::A) && grammar.registers.contains(Reg::B);
            if both { vec![Some(Reg::A)] } else { vec![] }
        }
        _ => grammar.registers.iter().filter(|&r| grammar.writes(r, section)).map(Some).collect(),
    }
}

fn tuples(registers: &[Reg], operands: &[Pattern]) -> Vec<Vec<Reg>> {
    operands.iter().fold(vec![vec![]], |shorter, pattern| {
        let fitting = registers.iter().filter(|r| Some(r.kind()) == pattern.kind());
        let extend = |t: &Vec<Reg>| fitting.clone().map(|&r| [&t[..], &[r]].concat()).collect::<Vec<_>>();
        shorter.iter().flat_map(extend).collect()
    })
}

/// Whether at most `remaining` insertions make the live code of `program` fit.
fn possible(grammar: &Grammar, program: &Program, remaining: usize) -> bool {
    if grammar.is_well_shaped(program) {
        return true;
    }
    let mut lost = vec![RegSet::EMPTY];
    for reg in Reg::carried().filter(|&r| program.iteration.iter().any(|ins| ins.target == Some(r))) {
        lost.extend(lost.clone().into_iter().map(|set| set.with(reg)));
    }
    (1..=remaining).any(|budget| lost.iter().any(|&lost| fits_within(grammar, program, budget, lost)))
}

fn fits_within(grammar: &Grammar, program: &Program, budget: usize, lost: RegSet) -> bool {
    let kept = grammar.live_out.kept();
    let handed_on = Reg::carried().filter(|&r| !lost.contains(r)).collect::<RegSet>();
    let in_iteration = counting(&program.iteration, handed_on.with(Reg::V1));
    let in_setup =
        counting(&program.setup, lost.iter().fold(in_iteration[0], RegSet::without).union(kept).with(Reg::X));
    let mut frontier = Frontier::from_iter([(Env::start(grammar.signature), 0)]);
    for (section, counts) in [(Section::Setup, in_setup), (Section::Iteration, in_iteration)] {
        let instructions = program.section(section);
        for (position, counts) in counts.into_iter().enumerate() {
            if opens(grammar, section, position, instructions) {
                insert(grammar, &mut frontier, section, budget, counts);
            }
            if let Some(instruction) = instructions.get(position) {
                frontier = changed(frontier, |env| drop(env.step(instruction, section)));
            }
        }
        if section == Section::Setup {
            frontier.retain(|env, _| kept.iter().all(|reg| env.get(reg).is_some()));
            frontier = changed(frontier, |env| lost.iter().for_each(|reg| poison(env, reg)));
        }
    }
    frontier.keys().any(|env| {
        env.get(Reg::V1).is_some_and(|ty| grammar.signature.accepts(ty))
            && handed_on.iter().all(|reg| env.get(reg).is_some())
    })
}

/// The registers that count before each instruction, and after the last, where `end` count.
fn counting(instructions: &[Instruction], end: RegSet) -> Vec<RegSet> {
    let mut points = vec![end];
    for instruction in instructions.iter().rev() {
        let after = points[points.len() - 1];
        let alive = instruction.writes().iter().any(|reg| after.contains(reg));
        let without = instruction.writes().iter().fold(after, RegSet::without);
        points.push(if alive { without.union(instruction.reads()) } else { after });
    }
    points.reverse();
    points
}

/// Poisons a register by an instruction that never fits.
fn poison(env: &mut Env, reg: Reg) {
    let op = Op::named("VEC_VEC_ADD").expect("in the table");
    let _ = env.step(&Instruction { target: Some(reg), op, operands: Operands::NONE }, Section::Iteration);
    assert_eq!(env.slot(reg), Slot::Poison);
}

fn insert(grammar: &Grammar, frontier: &mut Frontier, section: Section, budget: usize, counts: RegSet) {
    for cost in 0..budget {
        let here: Vec<Env> =
            frontier.iter().filter(|(_, c)| **c == cost).map(|(env, _)| env.clone()).collect();
        for env in here {
            let after = |instruction: Instruction| {
                let mut next = env.clone();
                next.step(&instruction, section).expect("a candidate fits");
                instruction.target.map(|target| (target, next))
            };
            let nexts: BTreeSet<(Reg, Env)> =
                candidates(grammar, &env, section).into_iter().filter_map(after).collect();
            for (target, next) in nexts {
                let useful = counts.contains(target) || target == Reg::A && counts.contains(Reg::B);
                if useful || cost + 1 < budget {
                    offer(frontier, next, cost + 1);
                }
            }
        }
    }
}

fn changed(frontier: Frontier, change: impl Fn(&mut Env)) -> Frontier {
    let mut next = Frontier::default();
    for (mut env, cost) in frontier {
        change(&mut env);
        offer(&mut next, env, cost);
    }
    next
}

fn offer(frontier: &mut Frontier, env: Env, cost: usize) {
    let best = frontier.entry(env).or_insert(cost);
    *best = cost.min(*best);
}
