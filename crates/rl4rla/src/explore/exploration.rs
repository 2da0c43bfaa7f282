//! Exploration: a search, its finalists tuned, selected and measured, each on instances of its own.

use super::answer_values::has_answers;
use super::answers::explore_answers;
use super::classical::{self, SolverComparison};
use super::hall::{HeldOut, Matrices, TunedProgram, by_reward, measured, summarized, trials};
use super::limits::{ProgramLimit, limits};
use super::log::ResultLog;
use super::problem_set::ProblemSet;
use super::race::{Tunables, converges, samples_always, step_sizes, tuned};
use super::search::{FINALISTS, FoundProgram, search, with_best};
use super::spec::ExploreSpec;
use crate::problem::{FamilyError, Task};
use crate::program::{Entry, Instruction, Program, Reg, check};
use crate::rng::Stream;

/// Instances of each condition number for the selection.
const SELECT: usize = 2;

/// A program of the hall of fame.
#[derive(Clone, PartialEq, Debug)]
pub struct HallEntry {
    /// The program.
    pub program: Program,
    /// Its tunables, chosen on the search instances.
    pub tunables: Tunables,
    /// The mean reward on the search instances.
    pub search: f64,
    /// The mean reward on the select instances.
    pub select: f64,
    /// What it did on the original matrices of the final instances.
    pub held_out: HeldOut,
    /// Where it stops working.
    pub limits: Vec<ProgramLimit>,
    /// Classical solvers on the final instances.
    pub beats: Vec<SolverComparison>,
}

/// A program of the catalogue on the same instances, tuned in the same way.
#[derive(Clone, Debug)]
pub struct CatalogueRival {
    /// Its entry.
    pub entry: &'static Entry,
    /// Its tunables.
    pub tunables: Tunables,
    /// What it did.
    pub held_out: HeldOut,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The best programs, the best first.
    pub hall: Vec<HallEntry>,
    /// The programs of the catalogue, the best first.
    pub rivals: Vec<CatalogueRival>,
    /// Number of values enumerated.
    pub values: usize,
    /// Number of runs made by the search.
    pub runs: usize,
}

/// Explores the programs for a family of problems; `None` if `goes_on`, which is told what is being done, says to stop.
/// A pure function of the spec: the log of an earlier attempt saves time.
pub fn explore(
    spec: &ExploreSpec,
    log: &dyn ResultLog,
    goes_on: &dyn Fn(&str) -> bool,
) -> Result<Option<Exploration>, FamilyError> {
    if has_answers(spec.family.signature().update) {
        return explore_answers(spec, log, goes_on);
    }
    let stream = Stream::new(spec.seed).derive("explore", 0);
    let set = |label: &str, cols: usize, count: usize| {
        ProblemSet::draw(spec, cols, count, &stream.derive(label, 0)).map(|set| set.logged(log))
    };
    let problems = set("search", spec.search_cols, 1)?;
    let Some(found) = search(spec, &problems, goes_on) else { return Ok(None) };
    let mut hall = Vec::new();
    let select = set("select", spec.final_cols, SELECT)?;
    let last = set("final", spec.final_cols, spec.held_out)?;
    let finalists: Vec<&FoundProgram> =
        found.candidates.iter().take(FINALISTS).chain(&found.evolved).chain(&found.recurred).collect();
    for (i, candidate) in finalists.iter().enumerate() {
        let what = format!("tuning finalist {} of {}", i + 1, finalists.len());
        if !goes_on(&with_best(&what, &hall, |(_, search, _): &(TunedProgram, f64, f64)| *search)) {
            return Ok(None);
        }
        let steps = if candidate.has_step_size { step_sizes() } else { vec![1.0] };
        let (tunables, search) = tuned(spec, &problems, &candidate.program, &steps);
        let entry = TunedProgram { program: candidate.program.clone(), tunables };
        let selected = measured(&select, &entry, Matrices::Reduced);
        hall.push((entry, search, selected.reward));
    }
    let mut hall = by_reward(hall, |(entry, _, select)| (*select, entry.program.len()));
    hall.truncate(spec.hall);
    if !goes_on("limits of the programs") {
        return Ok(None);
    }
    let subjects: Vec<TunedProgram> = hall.iter().map(|(entry, ..)| entry.clone()).collect();
    let limits = limits(spec, &subjects, &stream.derive("limits", 0), log);
    if !goes_on("classical solvers") {
        return Ok(None);
    }
    let solvers = classical::solved(spec, &last, &stream.derive("classical", 0));
    let mut entries = Vec::new();
    for (i, ((entry, search, select), limits)) in hall.into_iter().zip(limits).enumerate() {
        let what = format!("measuring program {} of {}", i + 1, spec.hall);
        if !goes_on(&with_best(&what, &entries, |entry: &HallEntry| entry.held_out.reward)) {
            return Ok(None);
        }
        let runs = trials(&last, &entry, Matrices::True);
        let held_out = summarized(&last, &entry, &runs);
        let flops = last.tuned(&entry.tunables).flops(&entry.program);
        let beats = classical::compared(&solvers, flops, &runs);
        let TunedProgram { program, tunables } = entry;
        entries.push(HallEntry { program, tunables, search, select, held_out, limits, beats });
    }
    let Some(rivals) = rivals(spec, (&problems, &last), &entries, goes_on) else { return Ok(None) };
    Ok(Some(Exploration { hall: entries, rivals, values: found.values, runs: found.runs }))
}

/// Whether an instruction sketches the data themselves.
fn sketches_data(instruction: &Instruction) -> bool {
    instruction.op.sketches() && instruction.operands.iter().any(|reg| [Reg::A, Reg::B].contains(reg))
}

/// The programs of the catalogue that fit these problems and whose iterations sketch no data: what they sketch depends
/// on the iterate, as in candidates. Those that sample in every iteration only if they converge here.
fn rivals(
    spec: &ExploreSpec,
    (problems, last): (&ProblemSet, &ProblemSet),
    hall: &[HallEntry],
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<Vec<CatalogueRival>> {
    let signature = problems.instances[0].shape().signature;
    let mut rivals = Vec::new();
    let task = spec.family.kind.info().task.name();
    let fits = |entry: &&'static Entry| {
        let program = &entry.document.program;
        check(program, signature).is_ok()
            && <dyn Task>::of(&entry.document).is_ok_and(|of| of.name() == task)
            && !program.iteration.iter().any(sketches_data)
    };
    for entry in Entry::known().filter(fits) {
        let program = &entry.document.program;
        let what = format!("measuring {}", entry.name);
        goes_on(&with_best(&what, hall, |entry| entry.held_out.reward)).then_some(())?;
        if samples_always(program) && !converges(spec, problems, program) {
            continue;
        }
        let (tunables, _) = tuned(spec, problems, program, &step_sizes());
        let subject = TunedProgram { program: program.clone(), tunables };
        let held_out = measured(last, &subject, Matrices::True);
        rivals.push(CatalogueRival { entry, tunables, held_out });
    }
    rivals.sort_by(|a, b| b.held_out.reward.total_cmp(&a.held_out.reward));
    Some(rivals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::NoLog;

    /// What the search sees in reduced coordinates is what happens on the original matrices. Rounding errors may change
    /// the number of iterations of programs whose steps depend on quotients.
    #[test]
    fn finalists_reach_the_tolerance_on_both_kinds_of_matrices_or_on_neither() {
        let spec = ExploreSpec {
            conditions: vec![10.0, 1e4, 1e8],
            search_cols: 30,
            final_cols: 40,
            evolve: 0,
            ..ExploreSpec::least_squares()
        };
        let stream = Stream::new(3);
        let problems = ProblemSet::draw(&spec, spec.search_cols, 1, &stream).unwrap().logged(&NoLog);
        let last = ProblemSet::draw(&spec, spec.final_cols, 2, &stream.derive("final", 0)).unwrap();
        let found = search(&spec, &problems, &|_| true).unwrap();
        let finalists: Vec<&FoundProgram> =
            found.candidates.iter().take(FINALISTS).chain(&found.recurred).collect();
        assert!(finalists.len() > FINALISTS);
        let mut reached = 0;
        for candidate in finalists {
            let tunables = Tunables { step: candidate.step, ..Tunables::usual(&spec) };
            let entry = TunedProgram { program: candidate.program.clone(), tunables };
            let [reduced, original] =
                [Matrices::Reduced, Matrices::True].map(|matrices| trials(&last, &entry, matrices));
            for (one, other) in reduced.iter().zip(&original) {
                reached += usize::from(one.reached.is_some());
                let agree = one.reached.is_some() == other.reached.is_some();
                assert!(agree, "{one:?} and {other:?}\n{}", candidate.program);
            }
        }
        assert!(reached > 50, "{reached}");
    }
}
