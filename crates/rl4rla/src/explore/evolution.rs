//! Evolution of the programs that the search has found, by moves that keep them well-typed.
//!
//! A generation is proposed one child after the other, each from a stream of its own, and evaluated in parallel: what
//! comes of it depends neither on the number of threads nor on time.

use super::emit;
use super::expression::Id;
use super::hall::{TIE, by_reward};
use super::macros;
use super::problem_set::ProblemSet;
use super::search::FoundProgram;
use super::variation::{Genome, Variation};
use crate::rng::Stream;
use rand::RngExt;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Programs that survive a generation.
const SURVIVORS: usize = 48;
/// Children of a generation.
const CHILDREN: usize = 64;
/// Programs of which the best becomes a parent.
const TOURNAMENT: usize = 3;
/// Macros on offer.
const MACROS: usize = 24;
/// What an instruction costs a program among those that are to survive: one that brings less is not worth reading.
const PRICE: f64 = TIE / 4.0;
/// A program that does worse than this share of the worst survivor on the hardest instance is not run on the others.
const HOPELESS: f64 = 0.5;
/// Generations without progress after which a line ends and another begins at the seeds.
const PATIENCE: u64 = 32;
/// Generations without a new program after which there is nothing left to try.
const BARREN: usize = 20;
/// Programs that evolution hands on.
const HANDED_ON: usize = 6;

/// What came of an evolution.
#[derive(Clone, Debug, Default)]
pub struct EvolutionOutcome {
    /// The best programs that are new, the best first.
    pub found: Vec<FoundProgram>,
    /// Number of runs made.
    pub runs: usize,
}

/// Evolves programs for this many runs; `None` if `goes_on`, which is told what is being done, says to stop.
pub fn evolved(
    problems: &ProblemSet,
    variation: &mut Variation,
    seeds: &[FoundProgram],
    (budget, stream): (usize, &Stream),
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<EvolutionOutcome> {
    let mut known = KnownGenomes::of(variation, seeds);
    let mut population = survivors(variation, seeds.to_vec());
    // The survivors of the lines that have ended.
    let mut ended: Vec<FoundProgram> = Vec::new();
    let (mut runs, mut barren) = (0, 0);
    let (mut record, mut since) = (0.0, 0);
    for generation in 0.. {
        if runs >= budget || barren >= BARREN || population.is_empty() {
            break;
        }
        let best = population.iter().chain(&ended).map(|one| one.reward).fold(0.0, f64::max);
        goes_on(&format!("evolution: {runs} of {budget} runs, best reward {best:.4}")).then_some(())?;
        if fitness(&population[0]) > record + TIE {
            (record, since) = (fitness(&population[0]), generation);
        } else if generation >= since + PATIENCE {
            ended.append(&mut population);
            ended = survivors(variation, ended);
            population = survivors(variation, seeds.to_vec());
            known = KnownGenomes::of(variation, seeds);
            (record, since) = (fitness(&population[0]), generation);
        }
        let winners = population.iter().chain(&ended);
        let winners: Vec<(Id, f64)> = winners.map(|one| (one.value, one.reward)).collect();
        variation.macros = macros::mined(variation.expressions, &winners, MACROS);
        let stream = stream.derive("generation", generation);
        let mut children: Vec<FoundProgram> = Vec::new();
        for i in 0..CHILDREN {
            let mut rng = stream.derive("child", i as u64).rng();
            let mut parent = || {
                let drawn = (0..TOURNAMENT).map(|_| rng.random_range(0..population.len()));
                genome(&population[drawn.min().expect("a tournament has entrants")])
            };
            let (one, other) = (parent(), parent());
            if let Some(child) = variation.child(one, other, &mut rng)
                && known.add(variation, child)
            {
                children.extend(unmeasured(variation, child));
            }
        }
        barren = if children.is_empty() { barren + 1 } else { 0 };
        let worst = population.iter().map(|one| one.reward).fold(1.0, f64::min);
        let floor = if population.len() < SURVIVORS { 0.0 } else { HOPELESS * worst };
        runs += children.par_iter_mut().map(|child| measure(problems, child, floor)).sum::<usize>();
        children.retain(|child| child.reward > 0.0);
        population.append(&mut children);
        population = survivors(variation, population);
    }
    population.append(&mut ended);
    Some(EvolutionOutcome { found: worthwhile(seeds, population), runs })
}

/// The programs that are better than all others of their length or less, the best first.
fn worthwhile(seeds: &[FoundProgram], population: Vec<FoundProgram>) -> Vec<FoundProgram> {
    let mut found: Vec<FoundProgram> = Vec::new();
    for one in by_reward(population, |one| (one.reward, one.program.len())) {
        let is_as_good = |other: &FoundProgram| {
            other.program.len() <= one.program.len() && other.reward >= one.reward - TIE
        };
        if found.len() < HANDED_ON && !seeds.iter().chain(&found).any(is_as_good) {
            found.push(one);
        }
    }
    found
}

fn genome(program: &FoundProgram) -> Genome {
    let size = program.has_step_size.then_some(program.step);
    Genome { value: program.value, start: program.start, size }
}

/// The program of a child that has not run yet; `None` if there are too few registers for it.
fn unmeasured(variation: &Variation, Genome { value, start, size }: Genome) -> Option<FoundProgram> {
    let program = emit::program(variation.expressions, value, start, &variation.spec.allowed)?;
    let (step, has_step_size) = (size.unwrap_or(1.0), size.is_some());
    Some(FoundProgram { program, step, reward: 0.0, has_step_size, value, start })
}

/// Fills in the mean reward of a program and tells the number of runs that took.
fn measure(problems: &ProblemSet, child: &mut FoundProgram, floor: f64) -> usize {
    let problems = problems.stepping(child.step);
    // The hardest problem is the last of the set and says most.
    let last = problems.len() - 1;
    let hardest = problems.score(&child.program, last..last + 1);
    if hardest <= floor {
        return 1;
    }
    let others = problems.score(&child.program, 0..last);
    child.reward = (hardest + last as f64 * others) / problems.len() as f64;
    problems.len()
}

/// What decides who survives.
fn fitness(one: &FoundProgram) -> f64 {
    one.reward - PRICE * one.program.len() as f64
}

/// The best programs, no two with the same iterates but for the step size.
fn survivors(variation: &mut Variation, mut all: Vec<FoundProgram>) -> Vec<FoundProgram> {
    variation.probe.extend(variation.expressions);
    all.sort_by(|one, other| fitness(other).total_cmp(&fitness(one)));
    let mut kept: Vec<FoundProgram> = Vec::new();
    for one in all {
        let same = |other: &FoundProgram| {
            other.start == one.start
                && other.has_step_size == one.has_step_size
                && variation.probe.is_equal(other.value, one.value)
        };
        if kept.len() < SURVIVORS && !kept.iter().any(same) {
            kept.push(one);
        }
    }
    kept
}

/// The programs that have been seen, by their iterates.
#[derive(Default)]
struct KnownGenomes(FxHashMap<(Id, Option<Id>, Option<u64>), Vec<Id>>);

impl KnownGenomes {
    fn of(variation: &mut Variation, programs: &[FoundProgram]) -> KnownGenomes {
        let mut known = KnownGenomes::default();
        for program in programs {
            known.add(variation, genome(program));
        }
        known
    }

    /// Whether a program has other iterates than all before; it is then known.
    fn add(&mut self, variation: &mut Variation, Genome { value, start, size }: Genome) -> bool {
        let Some(direction) = variation.probe.representative(variation.expressions, value) else {
            return false;
        };
        let alike = self.0.entry((direction, start, size.map(f64::to_bits))).or_default();
        let new = !alike.iter().any(|&other| variation.probe.is_equal(other, value));
        if new {
            alike.push(value);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::ExploreSpec;
    use crate::explore::directions;
    use crate::explore::expression::Expressions;
    use crate::explore::probe::ValueProbe;
    use crate::program::{Core, Reg, TaskUnits};

    /// Evolves steepest descent on small problems without matrices.
    fn from_steepest_descent(budget: usize) -> (FoundProgram, EvolutionOutcome) {
        let spec = ExploreSpec::least_squares();
        let spec = ExploreSpec {
            conditions: vec![10.0],
            operators: ExploreSpec::operators(false),
            edits: 3,
            ..spec
        };
        let problems = ProblemSet::draw(&spec, 30, 1, &Stream::new(7)).unwrap();
        let signature = problems.instances[0].shape().signature;
        let units = Some(TaskUnits::LINEAR);
        let mut all = Expressions::new(signature, problems.sizes(), problems.direct(), units);
        let mut probe = ValueProbe::new(&spec.family, &Stream::new(8));
        let values = directions::values(
            &mut all,
            &mut probe,
            &spec.operators,
            spec.allowed.inputs,
            (spec.edits, true),
        );
        let [a, b, x] = [Reg::A, Reg::B, Reg::X].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let moved = all.core(Core::MatVecMul, &[a, gradient]).unwrap();
        let [above, below] = [gradient, moved].map(|v| all.core(Core::VecVecDot, &[v, v]).unwrap());
        let length = all.core(Core::ScalarDiv, &[above, below]).unwrap();
        let value = all.core(Core::ScalarVecMul, &[length, gradient]).unwrap();
        let mut variation = Variation::new(&mut all, &mut probe, &spec, &values);
        let mut seed = unmeasured(&variation, Genome { value, start: None, size: None }).unwrap();
        measure(&problems, &mut seed, 0.0);
        let seeds = std::slice::from_ref(&seed);
        let found = evolved(&problems, &mut variation, seeds, (budget, &Stream::new(9)), &|_| true);
        (seed, found.unwrap())
    }

    fn rewards(outcome: &EvolutionOutcome) -> Vec<(String, f64)> {
        outcome.found.iter().map(|one| (one.program.to_string(), one.reward)).collect()
    }

    #[test]
    fn momentum_is_found_from_steepest_descent() {
        let (seed, outcome) = from_steepest_descent(3000);
        let best = &outcome.found[0];
        // Conjugate gradients take a third of the iterations.
        assert!(
            best.reward > seed.reward + 0.1,
            "{} against {}:\n{}",
            best.reward,
            seed.reward,
            best.program
        );
        let reads_d = best.program.instructions().any(|(_, _, it)| it.reads().contains(Reg::D));
        assert!(reads_d, "{}", best.program);
        assert!((3000..3100).contains(&outcome.runs), "{}", outcome.runs);
    }

    #[test]
    fn an_evolution_does_not_depend_on_the_number_of_threads() {
        let [one, two] = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| from_steepest_descent(600).1)
        });
        assert!(!one.found.is_empty());
        assert_eq!((rewards(&one), one.runs), (rewards(&two), two.runs));
    }

    #[test]
    fn without_runs_nothing_evolves() {
        let (_, outcome) = from_steepest_descent(0);
        assert_eq!((outcome.found.len(), outcome.runs), (0, 0));
    }
}
