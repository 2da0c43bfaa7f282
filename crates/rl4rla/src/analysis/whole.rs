//! The complete analysis of a program.

use super::contraction::{Contraction, spectra};
use super::cost::Costs;
use super::iteration::Iteration;
use super::iterations::Wait;
use super::map::MapCell;
use super::precision::Digits;
use super::steps::StepRange;
use super::study::{ExcessHistory, Study};
use super::worst::Worst;
use crate::execute::RunSettings;
use serde::Serialize;

/// The complete analysis of a program.
///
/// ```
/// use rl4rla::analysis::{Analysis, Care, Nature, Study};
/// use rl4rla::{problem::Family, program::Entry, reward::{Profile, Protocol, StepRule}};
///
/// let family = Family { rows: 100, cols: 4, ..Family::named("mid-cond").unwrap() };
/// let program = &Entry::named("precond-gd").unwrap().document.program;
/// let protocol = Protocol::new(Profile::sound(), StepRule::Fixed(0.75));
/// let care = Care { tolerance: 1e-6, replicates: 3, seed: 0, quick: true };
/// let analysis = Analysis::of(&Study::new(program, family, &[1e3], protocol, care).unwrap());
/// assert_eq!(analysis.iteration.nature, Nature::Stationary);
/// let computed = analysis.contraction[0].computed.unwrap();
/// assert!((computed.radius.value - 0.25).abs() < 1e-9); // |1 − η|
/// ```
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// The iteration as a formula.
    pub iteration: Iteration,
    /// The contraction factor at every condition number.
    pub contraction: Vec<Contraction>,
    /// The step sizes for which it converges.
    pub step_range: StepRange,
    /// Iterations to the tolerance.
    pub iterations: Vec<Wait>,
    /// The cost.
    pub flops: Costs,
    /// Attainable accuracy.
    pub precision: Vec<Digits>,
    /// The robustness map.
    pub map: Vec<MapCell>,
    /// The worst case; `None` if no instance could be drawn.
    pub worst: Option<Worst>,
}

impl Analysis {
    /// Analyses a study: a pure function, independent of the number of threads.
    pub fn of(study: &Study) -> Analysis {
        let iteration = Iteration::of(study);
        let nature = iteration.nature;
        let spectra = spectra(study, nature);
        let history = |kappa: &Option<f64>| -> Vec<ExcessHistory> {
            let family = study.at(*kappa);
            study.histories(&family, &RunSettings { iterations: study.horizon(), ..study.settings(&family) })
        };
        let histories: Vec<Vec<ExcessHistory>> = study.kappas.iter().map(history).collect();
        let iterations = Wait::all(study, &spectra, &histories);
        let map = MapCell::all(study);
        Analysis {
            iteration,
            contraction: Contraction::all(study, &spectra, &histories),
            step_range: StepRange::of(study, &spectra),
            flops: Costs::of(study, &iterations[0]),
            iterations,
            precision: Digits::all(study),
            worst: Worst::find(study, nature, &map),
            map,
        }
    }
}
