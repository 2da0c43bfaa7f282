//! Exploration of tasks whose programs give an answer or the next iterate: there is no direction to step along, so no
//! coefficient to choose. Every value that could be the answer is scored by the reward itself.

use super::answer_set::{AnswerSet, SketchChoice};
use super::answer_solvers;
use super::answer_values::answers;
use super::emit;
use super::exploration::{CatalogueRival, Exploration, HallEntry};
use super::expression::Expressions;
use super::hall::by_reward;
use super::log::ResultLog;
use super::probe::ValueProbe;
use super::spec::ExploreSpec;
use crate::execute::SketchKind;
use crate::problem::{Family, FamilyError, Instance, Task};
use crate::program::{Entry, Program, Update};
use crate::rng::Stream;
use rayon::prelude::*;

/// Columns of the instances.
pub(super) const COLS: usize = 160;

/// Instances of each condition number for search and tuning, and for the selection.
const SEARCH: usize = 3;
const SELECT: usize = 6;

/// Candidates that are tuned.
const TUNED: usize = 8;

/// Candidates that are scored on all search instances: the best on the first.
const SCREENED: usize = 24;

/// Rows of a sketch, relative to those of the answer, or to a small block where it has none.
const FACTOR: f64 = 2.0;
const BLOCK: usize = 4;

/// Iterations of the first look at a candidate.
const LOOK: usize = 60;

/// Explores the answers for a family of problems; `None` if `goes_on`, which is told what is being done, says to stop.
/// A pure function of the spec.
pub fn explore_answers(
    spec: &ExploreSpec,
    log: &dyn ResultLog,
    goes_on: &dyn Fn(&str) -> bool,
) -> Result<Option<Exploration>, FamilyError> {
    let stream = Stream::new(spec.seed).derive("explore", 0);
    let cols = COLS.min(spec.charge.cols);
    let set = |label: &str, count: usize| AnswerSet::draw(spec, cols, count, &stream.derive(label, 0), log);
    let (search, select) = (set("search", SEARCH)?, set("select", SELECT)?);
    let last = set("final", spec.held_out)?;
    let Some((programs, values)) = candidates(spec, &search, goes_on) else { return Ok(None) };
    if !goes_on(&format!("scoring {} answers among {values} values", programs.len())) {
        return Ok(None);
    }
    let sketch = (spec.fixed_sketch.unwrap_or(spec.sketch), rows(spec, &search));
    let mut runs = programs.len();
    let screened = ranked(&search.limited(LOOK), programs, sketch, 1, SCREENED);
    runs += screened.len() * search.len();
    let finalists = ranked(&search, screened, sketch, search.len(), TUNED);
    let mut hall = Vec::new();
    for (i, program) in finalists.iter().enumerate() {
        if !goes_on(&format!("tuning finalist {} of {}", i + 1, finalists.len())) {
            return Ok(None);
        }
        let (sketch, search) = tuned(spec, &search, program);
        hall.push((program.clone(), sketch, search, select.measured(program, sketch).reward));
    }
    let mut hall = by_reward(hall, |(program, _, _, select)| (*select, program.len()));
    hall.truncate(spec.hall);
    if !goes_on("classical solvers") {
        return Ok(None);
    }
    let solvers = answer_solvers::solved(&last, &stream.derive("classical", 0));
    let measured = |(program, sketch, search, select): (Program, SketchChoice, f64, f64)| {
        let runs = last.runs(&program, sketch);
        let work = last.work_to_tolerance(&program, sketch, &runs);
        let beats = answer_solvers::compared(&last, &solvers, &work);
        let held_out = last.summarized(&program, sketch, runs);
        HallEntry {
            program,
            tunables: last.tunables(sketch),
            search,
            select,
            held_out,
            limits: vec![],
            beats,
        }
    };
    let hall = hall.into_iter().map(measured).collect();
    let Some(rivals) = rivals(spec, &search, &last, goes_on) else { return Ok(None) };
    Ok(Some(Exploration { hall, rivals, values, runs }))
}

/// The programs with the highest mean rewards over the first instances.
fn ranked(
    search: &AnswerSet,
    programs: Vec<Program>,
    sketch: SketchChoice,
    instances: usize,
    count: usize,
) -> Vec<Program> {
    let score = |program: Program| {
        let sum: f64 = (0..instances).map(|i| search.score(&program, sketch, i)).sum();
        (program, sum / instances as f64)
    };
    let scored: Vec<(Program, f64)> = programs.into_par_iter().map(score).collect();
    let scored = scored.into_iter().filter(|(_, reward)| *reward > 0.0).collect();
    let best = by_reward(scored, |(program, reward)| (*reward, program.len()));
    best.into_iter().take(count).map(|(program, _)| program).collect()
}

/// The programs of all answers, and the number of values enumerated.
fn candidates(
    spec: &ExploreSpec,
    search: &AnswerSet,
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<(Vec<Program>, usize)> {
    goes_on("enumerating values").then_some(())?;
    let signature = search.instance(0).signature();
    let of = [spec.charge.rows, spec.charge.cols];
    let sizes = search.settings((spec.sketch, rows(spec, search)), of).sizes(of[0], of[1]);
    let mut expressions = Expressions::new(signature, sizes, search.direct(), None);
    let (instance, sketch_rows) = probe(&spec.family, spec.seed);
    let stream = Stream::new(spec.seed).derive("probe", 0);
    let mut probe = ValueProbe::on(instance, sketch_rows, &stream);
    let (found, values) = answers(&mut expressions, &mut probe, signature, &spec.operators, spec.edits);
    let programs = found
        .into_iter()
        .filter_map(|id| emit::program(&expressions, id, None, &spec.allowed))
        .map(in_iteration)
        .collect();
    Some((programs, values))
}

/// The same program with v1 written in the iteration, as programs do.
fn in_iteration(mut program: Program) -> Program {
    if program.iteration.is_empty() {
        program.iteration.extend(program.setup.pop());
    }
    program
}

/// A small problem on which values are compared, with a sketch of so few rows that stacks of several span no more than
/// part of the space.
fn probe(family: &Family, seed: u64) -> (Instance, usize) {
    let cols = 24;
    let rows = if family.kind.info().square { cols } else { 2 * cols };
    let small = Family { rows, cols, ..*family };
    let instance = small.draw(&Stream::new(seed).derive("probe/instance", 0));
    (instance.expect("a small member of a valid family"), 2)
}

fn sketches(program: &Program) -> bool {
    program.instructions().any(|(_, _, instruction)| instruction.op.sketches())
}

/// Rows of a sketch. They are given, not tuned: with enough of them any sketch spans everything, and what limits them
/// is memory, which is not part of the work.
fn rows(spec: &ExploreSpec, search: &AnswerSet) -> usize {
    let instance = search.instance(0);
    let block = match instance.task.update() {
        Update::Basis => search.rank(),
        _ => BLOCK,
    };
    (spec.fixed_factor.unwrap_or(FACTOR) * block as f64).ceil() as usize
}

/// The kind of sketch with the highest mean reward for a program, and that reward.
fn tuned(spec: &ExploreSpec, search: &AnswerSet, program: &Program) -> (SketchChoice, f64) {
    let kinds = match spec.fixed_sketch {
        Some(kind) => vec![kind],
        None if sketches(program) => SketchKind::ALL.to_vec(),
        None => vec![spec.sketch],
    };
    let rows = rows(spec, search);
    let mean = |kind: SketchKind| {
        let scores: Vec<f64> =
            (0..search.len()).into_par_iter().map(|i| search.score(program, (kind, rows), i)).collect();
        ((kind, rows), scores.iter().sum::<f64>() / search.len() as f64)
    };
    let better =
        |best: (SketchChoice, f64), next: (SketchChoice, f64)| if next.1 > best.1 { next } else { best };
    kinds.into_iter().map(mean).reduce(better).expect("there is a kind of sketch")
}

/// The programs of the catalogue for these problems, tuned in the same way.
fn rivals(
    spec: &ExploreSpec,
    search: &AnswerSet,
    last: &AnswerSet,
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<Vec<CatalogueRival>> {
    let task = spec.family.kind.info().task;
    let fits = |entry: &&'static Entry| {
        entry.signature().update == task.update()
            && <dyn Task>::of(&entry.document).is_ok_and(|of| of.name() == task.name())
    };
    let mut rivals = Vec::new();
    for entry in Entry::known().filter(fits) {
        goes_on(&format!("measuring {}", entry.name)).then_some(())?;
        let program = &entry.document.program;
        let (sketch, _) = tuned(spec, search, program);
        let held_out = last.measured(program, sketch);
        rivals.push(CatalogueRival { entry, tunables: last.tunables(sketch), held_out });
    }
    rivals.sort_by(|a, b| b.held_out.reward.total_cmp(&a.held_out.reward));
    Some(rivals)
}
