//! The search: directions, coefficients, starts.

use super::directions;
use super::emit;
use super::evaluator::Evaluator;
use super::evolution::{EvolutionOutcome, evolved};
use super::expression::{Expressions, Id};
use super::hall::by_reward;
use super::oracle::{self, Freedom};
use super::peel::{CoefficientFormula, closest, is_step, ratios, vectors_at_hand, with_momentum};
use super::probe::ValueProbe;
use super::problem_set::ProblemSet;
use super::race::step_sizes;
use super::recurrence::recurred;
use super::spec::{AllowedPrograms, ExploreSpec, SearchPart};
use super::start::starts;
use super::variation::Variation;
use crate::program::{Core, DataUnit, Program, ProgramFlops};
use crate::rng::Stream;
use rayon::prelude::*;

/// Directions that are looked at closely.
const DIRECTIONS: usize = 10;
/// Directions that run to the tolerance with an oracle.
const SCREENED: usize = 60;
/// Directions that preconditioners are looked for.
const WRAPPED: usize = 4;
/// Iterations of the first look at a direction.
const LOOK: usize = 12;
/// Formulas that are run in place of the oracle's coefficient.
const FORMULAS: usize = 40;
/// Directions with momentum that are kept for each direction.
const MOMENTA: usize = 6;
/// Candidates that are tuned, besides those of evolution.
pub(super) const FINALISTS: usize = 12;
/// Programs with a value that is carried along that are kept.
const RECURRENCES: usize = 6;
/// Finished candidates whose start is looked for.
const STARTED: usize = 12;

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
    /// What it steps along.
    pub(super) value: Id,
    /// Where it starts, if not at zero.
    pub(super) start: Option<Id>,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The best programs, the best first, no two of them with the same iterates.
    pub candidates: Vec<FoundProgram>,
    /// The best programs that evolution made of them, the best first.
    pub evolved: Vec<FoundProgram>,
    /// Forms of both with a value that is carried along.
    pub recurred: Vec<FoundProgram>,
    /// Number of values enumerated.
    pub values: usize,
    /// Number of runs made.
    pub runs: usize,
}

struct Search<'a> {
    spec: &'a ExploreSpec,
    problems: &'a ProblemSet<'a>,
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
    let mut probe = ValueProbe::new(&spec.family, &Stream::new(spec.seed).derive("probe", 0))
        .telling_forms_apart(spec.tells_forms_apart);
    let size = (spec.edits, spec.sums);
    let values = directions::values(&mut expressions, &mut probe, &spec.operators, spec.allowed.inputs, size);
    let coordinates: Vec<_> = (0..problems.len()).map(|i| problems.coordinates(i)).collect();
    let evaluators = coordinates
        .iter()
        .enumerate()
        .map(|(i, coordinates)| Evaluator::new(coordinates.data(), &problems.settings, problems.stream(i)));
    let evaluators = evaluators.collect();
    let mut search = Search { spec, problems, evaluators, expressions, probe, runs: 0 };
    search.extend();
    goes_on(&format!("scoring the directions among {} values", values.len())).then_some(())?;
    let mut directions = search.directions(&values);
    let wrapped = search.wrapped(&directions);
    if !wrapped.is_empty() {
        goes_on(&format!("scoring {} ways to precondition them", wrapped.len())).then_some(())?;
        directions.extend(wrapped);
        directions = search.directions(&directions);
    }
    let mut found = Vec::new();
    for (i, &direction) in directions.iter().enumerate() {
        let what = format!("coefficients of direction {} of {}", i + 1, directions.len());
        goes_on(&with_best(&what, &found, |one: &FoundProgram| one.reward)).then_some(())?;
        found.extend(search.peeled(direction));
    }
    let mut found = search.distinct(found);
    let mut recurring = found.clone();
    found.truncate(spec.finalists);
    goes_on(&with_best("starting points", &found, |one| one.reward)).then_some(())?;
    if spec.has(SearchPart::Start) {
        let started: Vec<FoundProgram> =
            found.iter().take(STARTED).flat_map(|candidate| search.started(candidate)).collect();
        found.extend(started);
    }
    found.retain(|candidate| candidate.reward > 0.0);
    let candidates = ranked(found);
    let EvolutionOutcome { found: evolved, runs } = search.evolved(&values, &candidates, goes_on)?;
    recurring.extend_from_slice(&evolved);
    let recurred = search.recurred(&recurring);
    Some(SearchOutcome { candidates, evolved, recurred, values: values.len(), runs: search.runs + runs })
}

/// What is being done, with the best reward so far.
pub(super) fn with_best<T>(what: &str, found: &[T], reward: impl Fn(&T) -> f64) -> String {
    match found.iter().map(reward).max_by(f64::total_cmp) {
        Some(best) => format!("{what}, best reward {best:.4}"),
        None => what.into(),
    }
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
        let flops = ProgramFlops::steady(setup, iteration + 2.0 * sizes.rows * sizes.cols);
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
        // A direction is known by its number: the same search enumerates the same values.
        self.problems.recalled(("potential", direction, freedom, instances, limit), || {
            instances.iter().map(reward).sum::<f64>() / instances.len() as f64
        })
    }

    /// How many of these candidates may still run on so many instances; their runs are counted.
    fn affordable(&mut self, candidates: usize, instances: usize) -> usize {
        let count = candidates.min((self.spec.most_runs - self.runs) / instances);
        self.runs += count * instances;
        count
    }

    /// The best of these by potential.
    fn best(&mut self, ids: &[Id], freedom: Freedom, limit: usize, count: usize) -> Vec<(Id, f64)> {
        let screened: Vec<usize> = (0..self.problems.len().min(self.spec.screened)).collect();
        let ids = &ids[..self.affordable(ids.len(), screened.len())];
        let mut scored: Vec<(Id, f64)> =
            ids.par_iter().map(|&id| (id, self.potential(id, freedom, &screened, limit))).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(count);
        scored
    }

    /// The directions with the most potential.
    fn directions(&mut self, values: &[Id]) -> Vec<Id> {
        // What no program can compute would crowd out what programs can.
        let allowed = &self.spec.allowed;
        let can_be_written = |id: Id| {
            *allowed == AllowedPrograms::all()
                || emit::program(&self.expressions, id, None, allowed).is_some()
        };
        let is_direction = |id: &Id| {
            self.expressions.of(*id).is_direction()
                && self.expressions.of(*id).edits() > 0
                && can_be_written(*id)
        };
        let ids: Vec<Id> = values.iter().copied().filter(is_direction).collect();
        let (look, freedom) = (LOOK.min(self.spec.limit), self.freedom());
        // Without coefficients to look for, there is time for more of them.
        let (more, count) = if allowed.has_numbers() { (1, DIRECTIONS) } else { (4, SCREENED) };
        let screened = self.best(&ids, freedom, look, more * SCREENED);
        let ids: Vec<Id> = screened.into_iter().map(|(id, _)| id).collect();
        let best = self.best(&ids, freedom, self.spec.limit, count);
        best.into_iter().map(|(id, _)| self.forward(id)).collect()
    }

    /// What preconditioners make of the best of these directions.
    fn wrapped(&mut self, directions: &[Id]) -> Vec<Id> {
        let (wraps, operators) = (self.spec.most_wraps(), &self.spec.operators);
        let mut found: Vec<Id> = Vec::new();
        for &direction in directions.iter().take(if wraps > 0 { WRAPPED } else { 0 }) {
            let values =
                directions::wrapped(&mut self.expressions, &mut self.probe, operators, direction, wraps);
            let is_new = |id: &Id| {
                self.expressions.of(*id).calls.binary_search(&direction).is_ok() && *id != direction
            };
            found.extend(values.iter().filter(|id| is_new(id)));
        }
        self.extend();
        found
    }

    /// Which coefficients a program might have.
    fn freedom(&self) -> Freedom {
        if self.spec.allowed.has_momentum() { Freedom::Both } else { Freedom::Length }
    }

    /// The direction itself, or its negative if that is the way to the solution.
    fn forward(&mut self, direction: Id) -> Id {
        let mut signs = 0.0;
        let subject = (direction, self.freedom());
        oracle::run(self.problems, &self.evaluators[0], &self.expressions, subject, (0, LOOK), |step| {
            signs += step.length.signum();
        });
        let negated = if signs < 0.0 { self.expressions.negated(direction) } else { None };
        negated.unwrap_or(direction)
    }

    /// The formulas that come closest to the oracle's coefficient.
    fn formulas(&mut self, direction: Id, freedom: Freedom, unit: DataUnit) -> Vec<CoefficientFormula> {
        let allowed = &self.spec.allowed;
        let has_place = if freedom == Freedom::Both { allowed.has_momentum() } else { allowed.has_numbers() };
        if !has_place || !self.spec.has(SearchPart::Peeling) {
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
        let (evaluator, among) = (&self.evaluators[middle], (middle, FORMULAS));
        self.problems.recalled(("closest", subject, &formulas), || {
            closest(self.problems, evaluator, &self.expressions, subject, &formulas, among)
        })
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
        // A given step size may have any unit.
        let fits = |step: &Id| self.spec.steps.is_some() || is_step(&self.expressions, *step);
        let bare = Some(step).filter(fits);
        subjects.extend(bare);
        subjects.truncate(self.affordable(subjects.len(), self.problems.len()));
        let all = || 0..self.problems.len();
        let run = |value: Id| {
            let program = emit::program(&self.expressions, value, None, &self.spec.allowed)?;
            let has_step_size = bare == Some(value);
            let usual = || if has_step_size { step_sizes() } else { vec![1.0] };
            let steps = self.spec.steps.clone().unwrap_or_else(usual);
            let scores =
                steps.into_iter().map(|step| (step, self.problems.stepping(step).score(&program, all())));
            let (step, reward) =
                scores.fold((1.0, -1.0), |best, new| if new.1 > best.1 { new } else { best });
            Some(FoundProgram { program, step, reward, has_step_size, value, start: None })
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
        let mut starts = starts(&mut self.expressions, &mut self.probe, candidate.value, operators);
        starts.truncate(self.affordable(starts.len(), self.problems.len()));
        let run = |&start: &Id| {
            let program = emit::program(&self.expressions, candidate.value, Some(start), &self.spec.allowed)?;
            let reward = self.problems.stepping(candidate.step).score(&program, 0..self.problems.len());
            Some(FoundProgram { program, reward, start: Some(start), ..*candidate })
        };
        starts.par_iter().filter_map(run).collect()
    }

    /// The best of the forms of these programs in which a value is carried along, where one is cheaper.
    fn recurred(&mut self, found: &[FoundProgram]) -> Vec<FoundProgram> {
        if !self.spec.has(SearchPart::Recurrence) {
            return vec![];
        }
        let mut forms: Vec<FoundProgram> = found.iter().filter_map(|found| self.cheaper(found)).collect();
        forms.truncate(self.affordable(forms.len(), self.problems.len()));
        forms.par_iter_mut().for_each(|form| {
            form.reward = self.problems.stepping(form.step).score(&form.program, 0..self.problems.len());
        });
        let mut forms = ranked(forms);
        forms.truncate(RECURRENCES);
        forms
    }

    /// The cheapest form of a program in which a value is carried along, if one is cheaper.
    fn cheaper(&mut self, found: &FoundProgram) -> Option<FoundProgram> {
        let forms = recurred(&mut self.expressions, (found.value, found.start), &self.spec.allowed);
        let price = |program: &Program| self.problems.flops(program).map(|flops| flops.mean_iteration());
        let priced =
            forms.into_iter().filter_map(|(value, program)| Some((price(&program)?, value, program)));
        let (least, value, program) = priced.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (least < price(&found.program)?).then(|| FoundProgram { program, value, ..found.clone() })
    }

    /// What evolution makes of the candidates.
    fn evolved(
        &mut self,
        values: &[Id],
        candidates: &[FoundProgram],
        goes_on: &dyn Fn(&str) -> bool,
    ) -> Option<EvolutionOutcome> {
        let budget = if self.spec.has(SearchPart::Evolution) { self.spec.evolve } else { 0 };
        let Search { expressions, probe, spec, .. } = self;
        let mut variation = Variation::new(expressions, probe, spec, values);
        let stream = Stream::new(spec.seed).derive("evolution", 0);
        evolved(self.problems, &mut variation, candidates, (budget, &stream), goes_on)
    }
}
