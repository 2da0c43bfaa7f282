//! Programs constructed by the search of `explore`, as candidates of a stage.
//!
//! That search builds a program from values, not by edits: from the empty program, whatever the stage starts from, and
//! in both sections, whichever are open to edits. It keeps to the operators and registers of the grammar, to the number
//! of instructions that the edits of the stage could reach, and to the problems, settings and step sizes of the stage.
//! What it constructs is then measured like the solutions of any other search.

use super::finishing::Finishing;
use super::space::Space;
use super::stage::Stage;
use crate::explore::{AllowedPrograms, ExploreSpec, FoundProgram, SearchPart, search_given};
use crate::problem::{Family, FamilyKind, Shape};
use crate::program::{Editor, Geometry, Grammar, Instruction, Program, Reg, RegSet, Section};
use crate::reward::{Charge, Profile, Unit};
use crate::rng::Stream;
use crate::search::{Budget, Counters, Domain, Measure, Outcome, Solved, StopReason, Watch, exhaustive};
use std::cell::RefCell;
use std::sync::Arc;

/// The programs constructed, each one move from the root.
struct Constructions<'a> {
    space: Space<'a>,
    programs: Vec<Solved<Program>>,
}

/// Most instructions of a step without its coefficients: the number of values grows fivefold with each.
const STEP_EDITS: usize = 8;

/// Programs that are measured.
const FINALISTS: usize = 60;

/// Instances of each family on which directions are scored. Programs run on all: rounding may spare an unstable form
/// on some by chance.
const SCREENED: usize = 2;

/// The excess to reach if the reward names none.
const TOLERANCE: f64 = 1e-10;

/// Constructs programs for a space and measures them.
pub(super) fn construct(
    space: Space,
    seed: u64,
    (budget, keep): (Budget, usize),
    stream: &Stream,
    watch: &mut dyn Watch<Program>,
) -> Outcome<Program> {
    let ended = |stop: StopReason, counters: Counters| Outcome {
        ranked: vec![],
        stop,
        counters,
        size: Default::default(),
    };
    let most_runs = budget.evaluations.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let Some(spec) = spec(space.stage, space.start, seed, most_runs) else {
        return ended(StopReason::Unsuitable, Counters::default());
    };
    let observer = RefCell::new(&mut *watch);
    let goes_on = |_: &str| observer.borrow_mut().continues(&Counters::default(), None);
    let shape = space.bench.instances()[0].shape();
    let size = |shape: &Shape| (shape.rows, shape.cols);
    let alike = space.bench.instances().iter().filter(|instance| size(&instance.shape()) == size(&shape));
    let instances = alike.cloned().collect();
    let settings = space.stage.protocol.settings(shape.rows, shape.cols, 1.0);
    let Some(found) = search_given(&spec, instances, settings, stream, &goes_on) else {
        return ended(StopReason::Interrupted, Counters::default());
    };
    let (values, runs) = (found.values as u64, found.runs as u64);
    let domain = Constructions::new(space, found.candidates);
    let rest = Budget { evaluations: budget.evaluations.map(|most| most.saturating_sub(runs)), ..budget };
    let mut outcome = exhaustive(&domain, Measure::WhileInTheRunning, rest, keep, watch);
    outcome.counters.playouts += values;
    outcome.counters.unique_states += values;
    outcome.counters.node_visits += values;
    outcome.counters.evaluations += runs;
    outcome
}

/// The search for a stage; `None` if its problems are not such that it applies.
fn spec(stage: &Stage, start: &Program, seed: u64, most_runs: usize) -> Option<ExploreSpec> {
    let grammar = &stage.grammar;
    let family = &stage.families[0];
    if !stage.has_units() || grammar.signature.geometry == Geometry::Square {
        return None;
    }
    let (tolerance, charge) = match stage.protocol.profile {
        Profile::Tolerance { epsilon, charge } => (epsilon, charge),
        _ => (TOLERANCE, Charge { unit: Unit::Flops, rows: family.rows, cols: family.cols }),
    };
    // Values are compared on problems like these, with a part of b outside the range of A where there can be one.
    let like = match family.kind.info().square {
        true => Family { rows: family.rows, cols: family.cols, ..Family::new(family.kind) },
        false => {
            Family { rows: family.rows, cols: family.cols, outside: 0.5, ..Family::new(FamilyKind::MID_COND) }
        }
    };
    let known = ExploreSpec::operators(true);
    let writable = |section| {
        Reg::all().filter(move |&reg| grammar.registers.contains(reg) && grammar.writes(reg, section))
    };
    let allowed = AllowedPrograms {
        written: Section::BOTH.map(|section| writable(section).collect::<RegSet>()),
        inputs: grammar.registers.and(Reg::inputs().collect()),
        length: start.len() + stage.edits,
    };
    Some(ExploreSpec {
        tolerance,
        charge,
        operators: grammar.operators.iter().copied().filter(|op| known.contains(op)).collect(),
        edits: STEP_EDITS.min(allowed.length),
        allowed,
        steps: Some(stage.protocol.step.candidates().to_vec()),
        tells_forms_apart: true,
        screened: SCREENED * stage.families.len(),
        most_runs,
        evolve: 0,
        finalists: FINALISTS,
        limit: stage.protocol.iterations,
        without: if grammar.warm_start { vec![] } else { vec![SearchPart::Start] },
        seed,
        ..ExploreSpec::new(like)
    })
}

impl<'a> Constructions<'a> {
    /// The programs among these that the grammar can express.
    fn new(space: Space<'a>, found: Vec<FoundProgram>) -> Constructions<'a> {
        let grammar = &space.stage.grammar;
        let mut editor = Editor::new(grammar, space.start);
        let mut finishing = Finishing::new(&editor, &space);
        let mut programs: Vec<Solved<Program>> = Vec::new();
        for FoundProgram { program, .. } in found {
            if program.len() > space.start.len() + space.stage.edits || !expresses(grammar, &program) {
                continue;
            }
            let words = editor.words(&program);
            let solved = finishing.solved(&mut editor, &words, &space);
            programs.extend(solved.filter(|solved| programs.iter().all(|other| other.key != solved.key)));
        }
        Constructions { space, programs }
    }
}

/// Whether a grammar has all instructions of a program, wherever its edits are allowed.
fn expresses(grammar: &Grammar, program: &Program) -> bool {
    program.instructions().all(|(section, _, instruction)| {
        let Instruction { op, operands, target } = instruction;
        let touched = instruction.reads().union(instruction.writes());
        grammar.operators.contains(op)
            && touched.iter().all(|reg| grammar.registers.contains(reg))
            && target.is_none_or(|target| grammar.writes(target, section))
            && (grammar.legality)(*op, operands, section)
    })
}

/// The root, or the program of this number.
type Place = Option<usize>;

impl Domain for Constructions<'_> {
    type State = Place;
    type Solution = Program;

    fn root(&self) -> Place {
        None
    }

    fn key(&self, place: &Place) -> u128 {
        place.map_or(0, |number| number as u128 + 1)
    }

    fn children(&self, place: &Place) -> Arc<[Place]> {
        if place.is_some() { Arc::new([]) } else { (0..self.programs.len()).map(Some).collect() }
    }

    fn solution(&self, place: &Place) -> Option<Solved<Program>> {
        place.map(|number| self.programs[number].clone())
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn bound(&self, program: &Program) -> f64 {
        self.space.bound(program)
    }

    fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        self.space.values(requests)
    }
}
