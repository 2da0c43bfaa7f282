//! How much is tried: the grid of the robustness map and the length of the search for the worst case.

use serde::Serialize;

/// How much is tried.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Effort {
    /// κ of the map's columns.
    pub kappas: &'static [f64],
    /// m/n of the map's rows.
    pub aspects: &'static [usize],
    /// The weights of what of b is outside the range of A, or what the family calls noise.
    pub noises: &'static [f64],
    /// Runs in every cell of the map.
    pub replicates: u64,
    /// Runs in search of the worst case.
    pub evaluations: usize,
}

/// The flops that the map and the search may take together, about.
const BUDGET: f64 = 5e10;

impl Effort {
    /// What takes half a minute.
    pub const FULL: Effort = Effort {
        kappas: &[1e1, 1e3, 1e6, 1e9],
        aspects: &[2, 20, 100],
        noises: &[0.0, 0.1, 0.5],
        replicates: 6,
        evaluations: 240,
    };

    /// What takes seconds.
    pub const QUICK: Effort = Effort {
        kappas: &[1e1, 1e4, 1e8],
        aspects: &[2, 20],
        noises: &[0.0, 0.3],
        replicates: 3,
        evaluations: 80,
    };

    /// The most of what was asked for that expensive programs can be put to: `flops` is a run's price.
    pub fn within(quick: bool, flops: f64) -> Effort {
        let full = Effort::FULL;
        let levels = [full.clone(), Effort { replicates: 3, evaluations: 120, ..full }, Effort::QUICK];
        let fits = |effort: &Effort| effort.runs() as f64 * flops <= BUDGET;
        let fitting = levels.into_iter().skip(if quick { 2 } else { 0 }).find(fits);
        fitting.unwrap_or(Effort { replicates: 2, evaluations: 32, ..Effort::QUICK })
    }

    /// Runs in all, with every leverage in the map.
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
