//! Exploration: a search, its finalists tuned, selected and measured, each on instances of its own.

use super::hall::{HeldOut, Matrices, TunedProgram, by_reward, measured};
use super::problem_set::ProblemSet;
use super::race::{Tunables, step_sizes, tuned};
use super::search::search;
use super::spec::ExploreSpec;
use crate::problem::{FamilyError, Task};
use crate::program::{Entry, Instruction, Program, Reg};
use crate::rng::Stream;

/// Candidates that are tuned.
const TUNED: usize = 12;

/// Columns of the problems on which finalists are selected and measured.
pub(super) const FINAL_COLS: usize = 100;

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
/// A pure function of the spec.
pub fn explore(
    spec: &ExploreSpec,
    goes_on: &dyn Fn(&str) -> bool,
) -> Result<Option<Exploration>, FamilyError> {
    let stream = Stream::new(spec.seed).derive("explore", 0);
    let problems = ProblemSet::draw(spec, spec.search_cols, 1, &stream.derive("search", 0))?;
    let Some(found) = search(spec, &problems, goes_on) else { return Ok(None) };
    let mut hall = Vec::new();
    let select = ProblemSet::draw(spec, FINAL_COLS, SELECT, &stream.derive("select", 0))?;
    let last = ProblemSet::draw(spec, FINAL_COLS, spec.held_out, &stream.derive("final", 0))?;
    for (i, candidate) in found.candidates.iter().take(TUNED).enumerate() {
        if !goes_on(&format!("tuning finalist {} of {}", i + 1, TUNED.min(found.candidates.len()))) {
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
    let mut entries = Vec::new();
    for (i, (entry, search, select)) in hall.into_iter().enumerate() {
        if !goes_on(&format!("measuring program {} of {}", i + 1, spec.hall)) {
            return Ok(None);
        }
        let held_out = measured(&last, &entry, Matrices::True);
        let TunedProgram { program, tunables } = entry;
        entries.push(HallEntry { program, tunables, search, select, held_out });
    }
    let Some(rivals) = rivals(spec, &problems, &last, goes_on) else { return Ok(None) };
    Ok(Some(Exploration { hall: entries, rivals, values: found.values, runs: found.runs }))
}

/// Whether an instruction samples rows of the data, or sketches the data themselves.
fn draws_from_data(instruction: &Instruction) -> bool {
    let reads_data = || instruction.operands.iter().any(|reg| [Reg::A, Reg::B].contains(reg));
    instruction.op.samples() || (instruction.op.sketches() && reads_data())
}

/// The programs of the catalogue that fit these problems and whose iterations sample no rows and sketch no data: what
/// they sketch depends on the iterate, as in candidates.
fn rivals(
    spec: &ExploreSpec,
    problems: &ProblemSet,
    last: &ProblemSet,
    goes_on: &dyn Fn(&str) -> bool,
) -> Option<Vec<CatalogueRival>> {
    let signature = problems.instances[0].shape().signature;
    let mut rivals = Vec::new();
    let task = spec.family.kind.info().task.name();
    let fits = |entry: &&'static Entry| {
        let program = &entry.document.program;
        entry.signature() == signature
            && <dyn Task>::of(&entry.document).is_ok_and(|of| of.name() == task)
            && !program.iteration.iter().any(draws_from_data)
    };
    for entry in Entry::known().filter(fits) {
        let program = &entry.document.program;
        goes_on(&format!("measuring {}", entry.name)).then_some(())?;
        let (tunables, _) = tuned(spec, problems, program, &step_sizes());
        let subject = TunedProgram { program: program.clone(), tunables };
        let held_out = measured(last, &subject, Matrices::True);
        rivals.push(CatalogueRival { entry, tunables, held_out });
    }
    rivals.sort_by(|a, b| b.held_out.reward.total_cmp(&a.held_out.reward));
    Some(rivals)
}
