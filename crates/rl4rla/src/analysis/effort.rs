//! Size of the robustness map's grid and length of the search for the worst case.

use serde::Serialize;

/// Amount of work in an analysis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Effort {
    /// Values of κ in the map.
    pub kappas: &'static [f64],
    /// Values of m/n in the map.
    pub aspects: &'static [usize],
    /// Weights of the component of b outside the range of A, or the family's own noise parameter.
    pub noises: &'static [f64],
    /// Runs per cell of the map.
    pub replicates: u64,
    /// Runs of the search for the worst case.
    pub evaluations: usize,
}

/// Approximate flops allowed for the map and the search together.
const BUDGET: f64 = 5e10;

impl Effort {
    /// About half a minute.
    pub const FULL: Effort = Effort {
        kappas: &[1e1, 1e3, 1e6, 1e9],
        aspects: &[2, 20, 100],
        noises: &[0.0, 0.1, 0.5],
        replicates: 6,
        evaluations: 240,
    };

    /// A few seconds.
    pub const QUICK: Effort = Effort {
        kappas: &[1e1, 1e4, 1e8],
        aspects: &[2, 20],
        noises: &[0.0, 0.3],
        replicates: 3,
        evaluations: 80,
    };

    /// The largest effort that fits the budget if a run takes this many `flops`.
    pub fn within(quick: bool, flops: f64) -> Effort {
        let full = Effort::FULL;
        let levels = [full.clone(), Effort { replicates: 3, evaluations: 120, ..full }, Effort::QUICK];
        let fits = |effort: &Effort| effort.runs() as f64 * flops <= BUDGET;
        let fitting = levels.into_iter().skip(if quick { 2 } else { 0 }).find(fits);
        fitting.unwrap_or(Effort { replicates: 2, evaluations: 32, ..Effort::QUICK })
    }

    /// Total number of runs, with every leverage in the map.
    fn runs(&self) -> usize {
        let cells = 3 * self.kappas.len() * self.aspects.len() * self.noises.len();
        cells * self.replicates as usize + self.evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_programs_are_tried_less() {
        let runs = [1e6, 1e8, 1e9, 1e12].map(|flops| Effort::within(false, flops).runs());
        assert!(runs.is_sorted_by(|a, b| a >= b) && runs[0] > runs[3], "{runs:?}");
        assert_eq!(Effort::within(true, 1e6), Effort::QUICK);
    }
}
