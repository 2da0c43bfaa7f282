//! What is to be explored.

use super::answer_values::{self, has_answers};
use crate::execute::{RunSettings, SketchKind};
use crate::problem::{Family, FamilyKind, Task};
use crate::program::{Kind, Op, Reg, RegSet, Section};
use crate::reward::{Charge, Unit};
use serde::{Deserialize, Serialize};

/// A part of the search that can be switched off, to see what it contributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchPart {
    /// Units and affine types.
    Types,
    /// The oracle's coefficients.
    Oracle,
    /// Formulas in place of the oracle's coefficients.
    Peeling,
    /// Starts computed in setup.
    Start,
    /// Evolution of the programs found.
    Evolution,
    /// Values that are carried along and refreshed every k iterations.
    Recurrence,
}

/// What programs may be made of, besides operators.
#[derive(Clone, Copy, PartialEq)]
pub struct AllowedPrograms {
    /// The registers that setup and the iteration may write.
    pub written: [RegSet; 2],
    /// The inputs that may be read.
    pub inputs: RegSet,
    /// Most instructions.
    pub length: usize,
}

impl AllowedPrograms {
    /// Anything.
    pub fn all() -> AllowedPrograms {
        AllowedPrograms { written: [RegSet::all(); 2], inputs: Reg::inputs().collect(), length: usize::MAX }
    }

    /// Whether coefficients can be computed.
    pub(super) fn has_numbers(&self) -> bool {
        self.written[Section::Iteration as usize].iter().any(|reg| reg.kind() == Kind::Scalar)
    }

    /// Whether a multiple of the last step can be added to a step.
    pub(super) fn has_momentum(&self) -> bool {
        self.has_numbers() && self.inputs.contains(Reg::D)
    }
}

impl std::fmt::Debug for AllowedPrograms {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let names = |set: RegSet| set.iter().map(Reg::name).collect::<Vec<_>>();
        write!(f, "{:?} from {:?}, {} instructions", self.written.map(names), names(self.inputs), self.length)
    }
}

/// What a search without a curriculum is told.
#[derive(Clone, PartialEq, Debug)]
pub struct ExploreSpec {
    /// The problems. Its size is that of the user's problems; searches run on smaller ones.
    pub family: Family,
    /// Condition numbers of the problems, one set of instances for each.
    pub conditions: Vec<f64>,
    /// The excess to reach, as the task measures it.
    pub tolerance: f64,
    /// The operators that programs may use.
    pub operators: Vec<Op>,
    /// What programs may be made of, besides operators.
    pub allowed: AllowedPrograms,
    /// The step sizes of all programs; `None` if they are tuned for programs whose step has the unit of x, and 1 for
    /// those that compute their length.
    pub steps: Option<Vec<f64>>,
    /// Whether values that are equal in exact arithmetic are told apart if one needs a matrix with the square of the
    /// condition number.
    pub tells_forms_apart: bool,
    /// Instances on which directions are scored with an oracle, if there are so many; programs run on all.
    pub screened: usize,
    /// Runs after which the search ends.
    pub most_runs: usize,
    /// Candidates that are returned, apart from those with a start of their own.
    pub finalists: usize,
    /// The size that work is charged for.
    pub charge: Charge,
    /// Most instructions of a direction, coefficients not counted.
    pub edits: usize,
    /// Most instructions around a good direction, besides.
    pub wraps: usize,
    /// Columns of the problems that candidates are searched on.
    pub search_cols: usize,
    /// Columns of the problems on which finalists are selected and measured.
    pub final_cols: usize,
    /// Iterations after which a run is given up.
    pub limit: usize,
    /// Whether directions may be sums of vectors; differences of points they may be anyway.
    pub sums: bool,
    /// The kind of sketch in the search.
    pub sketch: SketchKind,
    /// Rows of a sketch in the search, as a multiple of n.
    pub sketch_factor: f64,
    /// The kind of sketch of every program; `None` if it is tuned.
    pub fixed_sketch: Option<SketchKind>,
    /// Rows of a sketch of every program, as a multiple of n; `None` if they are tuned.
    pub fixed_factor: Option<f64>,
    /// Parts of the search that are switched off.
    pub without: Vec<SearchPart>,
    /// Runs of evolution; 0 for none.
    pub evolve: usize,
    /// Final instances of each condition number.
    pub held_out: usize,
    /// Programs of the hall of fame.
    pub hall: usize,
    /// The seed.
    pub seed: u64,
}

impl ExploreSpec {
    /// Runs of evolution, if no other number is asked for.
    pub const EVOLVE: usize = 20_000;

    /// A search for programs for this family with all operators that have units, charged at the size of the family.
    pub fn new(family: Family) -> ExploreSpec {
        let task = family.kind.info().task;
        let (defaults, square) = (task.explore_defaults(), family.kind.info().square);
        ExploreSpec {
            family,
            conditions: defaults.conditions.to_vec(),
            tolerance: 1e-10,
            operators: ExploreSpec::operators_for(task, true),
            allowed: AllowedPrograms::all(),
            steps: None,
            tells_forms_apart: false,
            screened: usize::MAX,
            most_runs: usize::MAX,
            finalists: 12,
            charge: Charge { unit: Unit::Flops, rows: family.rows, cols: family.cols },
            edits: defaults.edits,
            wraps: defaults.wraps,
            // An iteration of a square problem is cheap, and a sketch of it has to be much smaller than n.
            search_cols: if square { 200 } else { defaults.search_cols },
            final_cols: if square { 300 } else { 100 },
            limit: if square { 400 } else { defaults.limit },
            sums: defaults.sums,
            sketch: SketchKind::Sjlt,
            sketch_factor: if square { defaults.square_sketch } else { 4.0 },
            fixed_sketch: None,
            fixed_factor: None,
            without: vec![],
            evolve: ExploreSpec::EVOLVE,
            held_out: 4,
            hall: 6,
            seed: 0,
        }
    }

    /// The deterministic operators of linear algebra, with or without those that make matrices.
    pub fn operators(matrices: bool) -> Vec<Op> {
        let vectors = [
            "VEC_VEC_ADD",
            "VEC_VEC_SUB",
            "VEC_VEC_DOT",
            "MAT_VEC_MUL",
            "VEC_MAT_MUL",
            "SCALAR_VEC_MUL",
            "SCALAR_DIV",
            "PREVIOUS",
        ];
        let more = [
            "MAT_MAT_MUL",
            "MAT_MAT_TRANS_MUL",
            "MAT_TRANS_MAT_MUL",
            "MAT_INV",
            "TRIANGULAR_SOLVE",
            "HHQR",
            "SKETCH",
        ];
        let named = |name: &&str| Op::named(name).expect("an operator of this crate");
        let more = more.iter().filter(|_| matrices);
        vectors.iter().chain(more).map(named).collect()
    }

    /// The operators that an exploration of a task uses, with or without those for matrices: a task that makes matrices
    /// in its own way has SKETCH besides, and no other ways to make them unless it says so.
    pub fn operators_for(task: &dyn Task, matrices: bool) -> Vec<Op> {
        if has_answers(task.update()) {
            return answer_values::operators(task, matrices);
        }
        let own = || task.operators().iter().map(Op).filter(|op| op.units.is_some());
        let general = ExploreSpec::operators(matrices).into_iter();
        match own().any(has_matrices) && !task.explore_defaults().adds_operators {
            true => general
                .filter(|op| op.sketches() || ExploreSpec::operators(false).contains(op))
                .chain(own().filter(|op| matrices || !has_matrices(*op)))
                .collect(),
            false => general.chain(own().filter(|op| matrices || !has_matrices(*op))).collect(),
        }
    }

    /// All operators that can be explored for a task.
    pub fn operators_known(task: &dyn Task) -> Vec<Op> {
        if has_answers(task.update()) {
            return answer_values::operators(task, true);
        }
        let own = task.operators().iter().map(Op).filter(|op| op.units.is_some());
        ExploreSpec::operators(true).into_iter().chain(own).collect()
    }

    /// Whether the problems are square.
    pub(super) fn is_square(&self) -> bool {
        self.family.kind.info().square
    }

    /// Most instructions around a good direction: none if no matrix can be made.
    pub(super) fn most_wraps(&self) -> usize {
        let makes_matrices = |op: &Op| op.forms.iter().any(|form| form.result.kind() == Some(Kind::Matrix));
        if self.operators.iter().any(makes_matrices) { self.wraps } else { 0 }
    }

    /// Whether a part of the search is switched on.
    pub(super) fn has(&self, part: SearchPart) -> bool {
        !self.without.contains(&part)
    }

    /// The family of smaller problems with this many columns.
    pub(super) fn family_of(&self, cols: usize) -> Family {
        let square = self.is_square();
        let ratio = self.family.rows as f64 / self.family.cols as f64;
        let rows = if square { cols } else { (ratio.clamp(2.0, 40.0) * cols as f64) as usize };
        Family { rows, cols, ..self.family }
    }

    /// The settings of runs on problems of this size.
    pub(super) fn settings(&self, family: &Family) -> RunSettings {
        let factor = self.fixed_factor.unwrap_or(self.sketch_factor);
        let sketch_rows = (factor * family.cols as f64).round() as usize;
        RunSettings {
            sketch: self.fixed_sketch.unwrap_or(self.sketch),
            sketch_rows: sketch_rows.min(family.rows),
            iterations: self.limit,
            ..RunSettings::for_size(family.rows, family.cols)
        }
    }

    /// Least squares with a share of b outside the range of A, at the size of the paper's largest problems.
    pub fn least_squares() -> ExploreSpec {
        let family = Family { rows: 1_000_000, cols: 500, outside: 0.7, ..Family::new(FamilyKind::MID_COND) };
        ExploreSpec::new(family)
    }
}

/// Whether an operator reads or makes matrices.
fn has_matrices(op: Op) -> bool {
    let mut patterns = op.forms.iter().flat_map(|form| form.operands.iter().chain([&form.result]));
    patterns.any(|pattern| pattern.kind() == Some(Kind::Matrix))
}
