//! The contenders: programs of the catalogue, and two direct solvers.

use crate::analysis::{Factor, PreconditionerForm};
use crate::execute::{RunSettings, SketchKind};
use crate::problem::{Linear, Task};
use crate::program::{
    Canonical, Cost, Entry, Geometry, Instruction, LiveOut, Model, Poly, Program, ProgramCost, Reg,
};
use serde::{Deserialize, Serialize};

/// What can be chosen in a program.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct MapTunables {
    /// η, for matrices of norm 1.
    pub step: f64,
    /// μ, if the program reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The kind of sketch, if the program sketches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<SketchKind>,
    /// Rows of the sketch per column, if the program sketches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch_factor: Option<f64>,
}

/// A solver that the map compares.
#[derive(Clone, Debug)]
pub enum Contender {
    /// A program of the catalogue.
    Program(&'static Entry, ProgramCost),
    /// Householder QR of [A b].
    Qr,
    /// Cholesky of AᵀA.
    NormalEquations,
}

/// Flops, and entries of A or of other matrices as tall as A that are read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MapEffort {
    pub flops: f64,
    pub entries: f64,
}

impl MapEffort {
    /// The work: a flop costs 1, a pass over A `price` times the 2mn flops of a product A·x.
    pub fn work(self, price: f64) -> f64 {
        self.flops + 2.0 * price * self.entries
    }
}

impl Contender {
    /// Everything that can be compared: the direct solvers, and the programs for tall least squares whose iterations
    /// draw nothing.
    pub fn all() -> Vec<Contender> {
        let directs = [Contender::Qr, Contender::NormalEquations];
        directs.into_iter().chain(Entry::known().filter_map(Contender::of)).collect()
    }

    /// The contender of this name.
    pub fn named(name: &str) -> Option<Contender> {
        match name {
            QR => Some(Contender::Qr),
            NORMAL_EQUATIONS => Some(Contender::NormalEquations),
            name => Contender::of(Entry::named(name)?),
        }
    }

    fn of(entry: &'static Entry) -> Option<Contender> {
        let signature = (&Linear as &dyn Task).signature(Geometry::Tall);
        let program = &entry.document.program;
        let draws = |ins: &Instruction| ins.op.draws();
        let is_linear = <dyn Task>::of(&entry.document).is_ok_and(|task| task.name() == Linear.name());
        if !is_linear || entry.signature() != signature || program.iteration.iter().any(draws) {
            return None;
        }
        let live = Canonical::new(program, LiveOut::Finished);
        Some(Contender::Program(entry, ProgramCost::of(&live, signature, Model::True).ok()?))
    }

    /// The name of the program for `rl4rla show`, or of the baseline for `rl4rla compare`.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Program(entry, _) => entry.name,
            Contender::Qr => QR,
            Contender::NormalEquations => NORMAL_EQUATIONS,
        }
    }

    /// The program, unless it is a direct solver.
    pub fn program(&self) -> Option<&'static Program> {
        match self {
            Contender::Program(entry, _) => Some(&entry.document.program),
            _ => None,
        }
    }

    /// Whether it is a baseline and not a program.
    pub fn is_direct(&self) -> bool {
        self.program().is_none()
    }

    /// Whether it sketches.
    pub fn sketches(&self) -> bool {
        self.program().is_some_and(|program| program.instructions().any(|(_, _, i)| i.op.sketches()))
    }

    /// Whether it reads μ.
    pub fn reads_mu(&self) -> bool {
        self.program()
            .is_some_and(|program| program.instructions().any(|(_, _, i)| i.reads().contains(Reg::MU)))
    }

    /// Whether its digits are those of κ² and not of κ, and κ² leaves too few of them. Such a solver may still have a small
    /// excess, which does not show directions that A hardly has, but its x is wrong in them, and a Cholesky
    /// factorization may fail or not by chance.
    pub fn is_unsafe_at(&self, kappa: f64) -> bool {
        let squares = || match self.program() {
            None => matches!(self, Contender::NormalEquations),
            Some(program) => {
                PreconditionerForm::of(program, (&Linear as &dyn Task).signature(Geometry::Tall))
                    .is_some_and(|form| form.factor == Factor::Gram)
            }
        };
        kappa * kappa * f64::EPSILON > SAFE_SQUARE && squares()
    }

    /// Flops and entries read at this size; `None` if there is no room for its sketch.
    ///
    /// QR takes 2mn² − ⅔n³ flops and 4mn more for b, in one pass over A, as a QR by blocks of rows does; the normal
    /// equations take mn² + ⅓n³ + 2mn in two, as the baseline does.
    pub fn effort(
        &self,
        rows: usize,
        cols: usize,
        tunables: &MapTunables,
        iterations: f64,
    ) -> Option<MapEffort> {
        let (m, n) = (rows as f64, cols as f64);
        let (flops, passes) = match self {
            Contender::Qr => (2.0 * m * n * n - 2.0 / 3.0 * n.powi(3) + 4.0 * m * n, 1.0),
            Contender::NormalEquations => (m * n * n + n.powi(3) / 3.0 + 2.0 * m * n, 2.0),
            Contender::Program(_, cost) => {
                let mut settings = RunSettings::for_size(rows, cols);
                if let (Some(kind), Some(factor)) = (tunables.sketch, tunables.sketch_factor) {
                    settings.sketch = kind;
                    settings.sketch_rows = (factor * n).ceil() as usize;
                    if settings.sketch_rows >= rows {
                        return None;
                    }
                }
                let sizes = settings.sizes(rows, cols);
                let both = |of: fn(&Cost) -> &Poly| {
                    let [setup, iteration, refresh] =
                        [&cost.setup, &cost.iteration, &cost.refresh].map(|cost| of(cost).eval(&sizes));
                    setup + iterations * iteration + (iterations / sizes.every).ceil() * refresh
                };
                return Some(MapEffort { flops: both(|cost| &cost.flops), entries: both(|cost| &cost.data) });
            }
        };
        Some(MapEffort { flops, entries: passes * m * n })
    }
}

/// The largest κ²ε at which solvers that square the condition number are trusted: κ up to 6·10⁶.
const SAFE_SQUARE: f64 = 0.01;

const QR: &str = "qr";
const NORMAL_EQUATIONS: &str = "normal-equations";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::Baseline;

    const PLAIN: MapTunables = MapTunables { step: 1.0, mu: None, sketch: None, sketch_factor: None };

    #[test]
    fn contenders_are_programs_and_baselines_with_these_names() {
        let all = Contender::all();
        for contender in &all {
            let name = contender.name();
            match contender.is_direct() {
                true => assert!(Baseline::named(name).is_some(), "{name}"),
                false => assert!(Entry::named(name).is_some(), "{name}"),
            }
            assert_eq!(Contender::named(name).map(|found| found.name()), Some(name));
        }
        let names: Vec<&str> = all.iter().map(Contender::name).collect();
        assert!(names.contains(&"sketched-precond-gd-factored") && names.contains(&"ls-gd"), "{names:?}");
        // Iterations that draw, and other tasks.
        assert!(
            ["sgd", "block-kaczmarz", "newton", "logistic-gd", "landweber"]
                .iter()
                .all(|name| !names.contains(name))
        );
    }

    #[test]
    fn the_effort_is_that_of_the_cost_model() {
        let gd = Contender::named("ls-gd").unwrap();
        let effort = gd.effort(1000, 10, &PLAIN, 7.0).unwrap();
        assert_eq!(effort, MapEffort { flops: 7.0 * (4.0 * 1e4 + 1000.0 + 20.0), entries: 7.0 * 2e4 });
        assert_eq!(effort.work(0.0), effort.flops);
        assert_eq!(effort.work(1.0), effort.flops + 7.0 * 4e4);
        let qr = Contender::Qr.effort(1000, 10, &PLAIN, 1.0).unwrap();
        assert!((qr.flops - (2e5 - 2000.0 / 3.0 + 4e4)).abs() < 1e-6 && qr.entries == 1e4);
    }

    #[test]
    fn what_squares_the_condition_number_is_not_trusted_far() {
        let is_unsafe = |name: &str, kappa: f64| Contender::named(name).unwrap().is_unsafe_at(kappa);
        for name in ["normal-equations", "sketched-precond-gd-gram"] {
            assert!(!is_unsafe(name, 1e6) && is_unsafe(name, 1e8), "{name}");
        }
        for name in ["qr", "ls-gd", "sketched-precond-gd-factored"] {
            assert!(!is_unsafe(name, 1e12), "{name}");
        }
    }

    #[test]
    fn a_sketch_as_tall_as_the_data_is_no_sketch() {
        let sketched = Contender::named("sketched-precond-gd").unwrap();
        let tunables = MapTunables { sketch: Some(SketchKind::Sjlt), sketch_factor: Some(8.0), ..PLAIN };
        assert!(sketched.sketches() && sketched.effort(80, 10, &tunables, 5.0).is_none());
        assert!(sketched.effort(81, 10, &tunables, 5.0).is_some());
    }
}
