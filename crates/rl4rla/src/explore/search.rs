//! The search: directions, coefficients, starts.

use super::directions;
use super::emit;
use super::evaluator::Evaluator;
use super::expression::{Expressions, Id};
use super::hall::by_reward;
use super::oracle::{self, Freedom};
use super::peel::{CoefficientFormula, closest, is_step, ratios, vectors_at_hand, with_momentum};
use super::probe::ValueProbe;
use super::problem_set::ProblemSet;
use super::race::step_sizes;
use super::spec::{ExploreSpec, SearchPart};
use super::start::starts;
use crate::program::{Core, DataUnit, Program};
use crate::rng::Stream;
use rayon::prelude::*;

/// Directions that are looked at closely.
const DIRECTIONS: usize = 10;
/// Directions that run to the tolerance with an oracle.
const SCREENED: usize = 60;
/// Iterations of the first look at a direction.
const LOOK: usize = 12;
/// Formulas that are run in place of the oracle's coefficient.
const FORMULAS: usize = 40;
/// Directions with momentum that are kept for each direction.
const MOMENTA: usize = 6;
/// Finished candidates whose start is looked for.
const FINISHED: usize = 12;

/// A finished program with its reward on the search instances.
#[derive(Clone, Debug)]
pub struct FoundProgram {
    /// The program.
    pub program: Program,
    /// η.
    pub step: f64,
    /// The mean reward.
    pub reward: f64,
    /// Whether η is a number to be chosen: the step has the unit of x without a formula for its length.
    pub has_step_size: bool,
    value: Id,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The best programs, the best first, no two of them with the same iterates.
    pub candidates: Vec<FoundProgram>,
    /// Number of values enumerated.
    pub values: usize,
    /// Number of runs made.
    pub runs: usize,
}

struct Search<'a> {
    spec: &'a ExploreSpec,
    problems: &'a ProblemSet,
    evaluators: Vec<Evaluator<'a>>,
    expressions: Expressions,
    probe: ValueProbe,
    runs: usize,
}

/// Searches for programs on the instances of a set; `None` if `goes_on`, which is told what is being done, says to
/// stop.
pub fn search(
    spec: &ExploreSpec,
    problems: &ProblemSet,
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<SearchOutcome> {
    let signature = problems.instances[0].shape().signature;
    let units = spec.family.kind.info().task.units().filter(|_| spec.has(SearchPart::Types));
    let mut expressions = Expressions::new(signature, problems.sizes(), problems.direct(), units);
    let mut probe = ValueProbe::new(&spec.family, &Stream::new(spec.seed).derive("probe", 0));
    let values = directions::values(&mut expressions, &mut probe, &spec.operators, (spec.edits, spec.sums));
    let coordinates: Vec<_> = (0..problems.len()).map(|i| problems.coordinates(i)).collect();
    let evaluators = coordinates
        .iter()
        .enumerate()
        .map(|(i, coordinates)| Evaluator::new(coordinates.data(), &problems.settings, problems.stream(i)));
    let evaluators = evaluators.collect();
    let mut search = Search { spec, problems, evaluators, expressions, probe, runs: 0 };
    search.extend();
    goes_on(&format!("scoring the directions among {} values", values.len())).then_some(())?;
    let directions = search.directions(&values);
    let mut found = Vec::new();
    for (i, &direction) in directions.iter().enumerate() {
        goes_on(&format!("coefficients of direction {} of {}", i + 1, directions.len())).then_some(())?;
        found.extend(search.peeled(direction));
    }
    let mut found = search.distinct(found);
    found.truncate(FINISHED);
    goes_on("starting points").then_some(())?;
    if spec.has(SearchPart::Start) {
        let started: Vec<FoundProgram> =
            found.iter().flat_map(|candidate| search.started(candidate)).collect();
        found.extend(started);
    }
    found.retain(|candidate| candidate.reward > 0.0);
    let candidates = ranked(found);
    Some(SearchOutcome { candidates, values: values.len(), runs: search.runs })
}

fn ranked(candidates: Vec<FoundProgram>) -> Vec<FoundProgram> {
    by_reward(candidates, |candidate| (candidate.reward, candidate.program.len()))
}

impl Search<'_> {
    /// Computes the values of setup that are new, on every instance.
    fn extend(&mut self) {
        let expressions = &self.expressions;
        self.evaluators.par_iter_mut().for_each(|evaluator| evaluator.extend(expressions));
    }

    /// The mean reward of a direction with the oracle's coefficients over these instances.
    fn potential(&self, direction: Id, freedom: Freedom, instances: &[usize], limit: usize) -> f64 {
        let freedom = if self.spec.has(SearchPart::Oracle) { freedom } else { Freedom::None };
        let [setup, iteration] = self.expressions.flops(&[direction]);
        // The oracle needs the image of the direction, which the program would have to compute.
        let sizes = self.problems.sizes();
        let flops = [setup, iteration + 2.0 * sizes.rows * sizes.cols];
        let reward = |&i: &usize| {
            let subject = (direction, freedom);
            let trial = oracle::run(
                self.problems,
                &self.evaluators[i],
                &self.expressions,
                subject,
                (i, limit),
                |_| {},
            );
            self.problems.reward(trial, flops)
        };
        instances.iter().map(reward).sum::<f64>() / instances.len() as f64
    }

    /// The best of these by potential.
    fn best(&mut self, ids: &[Id], freedom: Freedom, limit: usize, count: usize) -> Vec<(Id, f64)> {
        let all: Vec<usize> = (0..self.problems.len()).collect();
        self.runs += ids.len() * all.len();
        let mut scored: Vec<(Id, f64)> =
            ids.par_iter().map(|&id| (id, self.potential(id, freedom, &all, limit))).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(count);
        scored
    }

    /// The directions with the most potential.
    fn directions(&mut self, values: &[Id]) -> Vec<Id> {
        let is_direction =
            |id: &Id| self.expressions.of(*id).is_direction() && self.expressions.of(*id).edits() > 0;
        let ids: Vec<Id> = values.iter().copied().filter(is_direction).collect();
        let screened = self.best(&ids, Freedom::Both, LOOK, SCREENED);
        let ids: Vec<Id> = screened.into_iter().map(|(id, _)| id).collect();
        let best = self.best(&ids, Freedom::Both, self.spec.limit, DIRECTIONS);
        best.into_iter().map(|(id, _)| self.forward(id)).collect()
    }

    /// The direction itself, or its negative if that is the way to the solution.
    fn forward(&mut self, direction: Id) -> Id {
        let mut signs = 0.0;
        let subject = (direction, Freedom::Both);
        oracle::run(self.problems, &self.evaluators[0], &self.expressions, subject, (0, LOOK), |step| {
            signs += step.length.signum();
        });
        let negated = if signs < 0.0 { self.expressions.negated(direction) } else { None };
        negated.unwrap_or(direction)
    }

    /// The formulas that come closest to the oracle's coefficient.
    fn formulas(&mut self, direction: Id, freedom: Freedom, unit: DataUnit) -> Vec<CoefficientFormula> {
        if !self.spec.has(SearchPart::Peeling) {
            return vec![];
        }
        let extra: &[Id] = if freedom == Freedom::Length { &[direction] } else { &[] };
        let vectors =
            vectors_at_hand(&mut self.expressions, &mut self.probe, (direction, extra), &self.spec.operators);
        let formulas = ratios(&mut self.expressions, &mut self.probe, &vectors, unit);
        self.extend();
        if !self.spec.has(SearchPart::Oracle) {
            let first = formulas.into_iter().take(FORMULAS);
            return first.map(|ratio| CoefficientFormula { ratio, agrees: true, distance: 0.0 }).collect();
        }
        let middle = self.problems.len() / 2;
        let subject = (direction, freedom);
        closest(
            self.problems,
            &self.evaluators[middle],
            &self.expressions,
            subject,
            &formulas,
            (middle, FORMULAS),
        )
    }

    /// Finished programs that step along a direction.
    fn peeled(&mut self, direction: Id) -> Vec<FoundProgram> {
        let unit = self.expressions.unit(direction).per(self.expressions.step_unit());
        let formulas = self.formulas(direction, Freedom::Both, unit);
        let mut with: Vec<Id> = Vec::new();
        for formula in formulas {
            with.extend(with_momentum(&mut self.expressions, direction, formula));
        }
        self.extend();
        let mut steps: Vec<Id> = self
            .best(&with, Freedom::Length, self.spec.limit, MOMENTA)
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        steps.push(direction);
        let mut found = Vec::new();
        for step in steps {
            found.extend(self.finished(step));
        }
        found
    }

    /// Finished programs whose step is a multiple of this vector.
    fn finished(&mut self, step: Id) -> Vec<FoundProgram> {
        let unit = self.expressions.step_unit().per(self.expressions.unit(step));
        let formulas = self.formulas(step, Freedom::Length, unit);
        let mut subjects: Vec<Id> = Vec::new();
        for formula in formulas.iter().filter(|formula| formula.agrees) {
            subjects.extend(self.expressions.core(Core::ScalarVecMul, &[formula.ratio, step]));
        }
        let bare = Some(step).filter(|&step| is_step(&self.expressions, step));
        subjects.extend(bare);
        self.runs += subjects.len() * self.problems.len();
        let all = || 0..self.problems.len();
        let run = |value: Id| {
            let program = emit::program(&self.expressions, value, None)?;
            let has_step_size = bare == Some(value);
            let steps = if has_step_size { step_sizes() } else { vec![1.0] };
            let scores =
                steps.into_iter().map(|step| (step, self.problems.stepping(step).score(&program, all())));
            let (step, reward) =
                scores.fold((1.0, -1.0), |best, new| if new.1 > best.1 { new } else { best });
            Some(FoundProgram { program, step, reward, has_step_size, value })
        };
        subjects.par_iter().filter_map(|&value| run(value)).collect()
    }

    /// One candidate for each sequence of iterates, the best of those that compute it.
    fn distinct(&mut self, found: Vec<FoundProgram>) -> Vec<FoundProgram> {
        self.probe.extend(&self.expressions);
        let mut kept: Vec<FoundProgram> = Vec::new();
        for candidate in ranked(found) {
            let same = |other: &FoundProgram| {
                other.has_step_size == candidate.has_step_size
                    && self.probe.is_equal(other.value, candidate.value)
            };
            if !kept.iter().any(same) {
                kept.push(candidate);
            }
        }
        kept
    }

    /// A candidate from every start that its setup can compute.
    fn started(&mut self, candidate: &FoundProgram) -> Vec<FoundProgram> {
        let operators = &self.spec.operators;
        let starts = starts(&mut self.expressions, &mut self.probe, candidate.value, operators);
        self.runs += starts.len() * self.problems.len();
        let run = |&start: &Id| {
            let program = emit::program(&self.expressions, candidate.value, Some(start))?;
            let reward = self.problems.stepping(candidate.step).score(&program, 0..self.problems.len());
            Some(FoundProgram { program, reward, ..*candidate })
        };
        starts.par_iter().filter_map(run).collect()
    }
}
