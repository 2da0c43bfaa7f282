//! What is to be explored.

use crate::execute::{RunSettings, SketchKind};
use crate::problem::{Family, FamilyKind, Task};
use crate::program::{Kind, Op};
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
}

/// What a search without a curriculum is told.
#[derive(Clone, PartialEq, Debug)]
pub struct ExploreSpec {
    /// The problems. Its size is that of the user's problems; searches run on smaller ones.
    pub family: Family,
    /// Condition numbers of the problems, one set of instances for each.
    pub conditions: Vec<f64>,
    /// The excess ‖A(x − x*)‖/‖b‖ to reach.
    pub tolerance: f64,
    /// The operators that programs may use.
    pub operators: Vec<Op>,
    /// The size that work is charged for.
    pub charge: Charge,
    /// Most instructions of a direction, coefficients not counted.
    pub edits: usize,
    /// Columns of the problems that candidates are searched on.
    pub search_cols: usize,
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
    /// Final instances of each condition number.
    pub held_out: usize,
    /// Programs of the hall of fame.
    pub hall: usize,
    /// The seed.
    pub seed: u64,
}

impl ExploreSpec {
    /// A search for programs for this family with all operators that have units, charged at the size of the family.
    pub fn new(family: Family) -> ExploreSpec {
        let task = family.kind.info().task;
        let defaults = task.explore_defaults();
        ExploreSpec {
            family,
            conditions: defaults.conditions.to_vec(),
            tolerance: 1e-10,
            operators: ExploreSpec::operators_for(task, true),
            charge: Charge { unit: Unit::Flops, rows: family.rows, cols: family.cols },
            edits: defaults.edits,
            search_cols: defaults.search_cols,
            limit: defaults.limit,
            sums: defaults.sums,
            sketch: SketchKind::Sjlt,
            sketch_factor: 4.0,
            fixed_sketch: None,
            fixed_factor: None,
            without: vec![],
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
    /// in its own way has SKETCH besides, and no other ways to make them.
    pub fn operators_for(task: &dyn Task, matrices: bool) -> Vec<Op> {
        let own = || task.operators().iter().map(Op).filter(|op| op.units.is_some());
        let general = ExploreSpec::operators(matrices).into_iter();
        match own().any(has_matrices) {
            true => general
                .filter(|op| op.sketches() || ExploreSpec::operators(false).contains(op))
                .chain(own().filter(|op| matrices || !has_matrices(*op)))
                .collect(),
            false => general.chain(own()).collect(),
        }
    }

    /// All operators that can be explored for a task.
    pub fn operators_known(task: &dyn Task) -> Vec<Op> {
        let own = task.operators().iter().map(Op).filter(|op| op.units.is_some());
        ExploreSpec::operators(true).into_iter().chain(own).collect()
    }

    /// Whether a part of the search is switched on.
    pub(super) fn has(&self, part: SearchPart) -> bool {
        !self.without.contains(&part)
    }

    /// The family of smaller problems with this many columns.
    pub(super) fn family_of(&self, cols: usize) -> Family {
        let square = self.family.kind.info().square;
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
