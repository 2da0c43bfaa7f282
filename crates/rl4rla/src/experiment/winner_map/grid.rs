//! The grid of the map.

use crate::problem::Leverage;
use crate::report::exact;
use serde::{Deserialize, Serialize};

/// What the iterations of a program depend on, the tolerance apart.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProblemClass {
    /// κ, the condition number.
    pub kappa: f64,
    /// The weight of the component of b outside the range of A.
    pub outside: f64,
    /// The leverage of the rows.
    pub leverage: Leverage,
}

/// The problems of a map: every combination of these.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MapGrid {
    /// Condition numbers, in increasing order.
    pub kappas: Vec<f64>,
    /// Weights of the component of b outside the range of A, in increasing order.
    pub outsides: Vec<f64>,
    /// Leverages of the rows.
    pub leverages: Vec<Leverage>,
    /// Tolerances of the excess ‖A(x − x*)‖/‖b‖, in decreasing order.
    pub tolerances: Vec<f64>,
    /// Rows per column, in increasing order.
    pub ratios: Vec<usize>,
    /// Columns, in increasing order.
    pub cols: Vec<usize>,
    /// Prices: a pass over A costs as much as this many products A·x.
    pub prices: Vec<f64>,
    /// Rows of a sketch per column that are tried, in increasing order.
    pub factors: Vec<f64>,
}

impl MapGrid {
    /// The grid of the map that comes with the crate.
    pub fn full() -> MapGrid {
        MapGrid {
            kappas: vec![1e1, 1e2, 1e3, 1e4, 1e6, 1e8, 1e10],
            outsides: vec![0.1, 0.7],
            leverages: Leverage::ALL.to_vec(),
            tolerances: vec![1e-4, 1e-8, 1e-12],
            ratios: vec![10, 100, 1_000, 10_000],
            cols: vec![20, 100, 500, 2_000],
            prices: vec![0.0, 1.0, 10.0],
            factors: vec![2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0],
        }
    }

    /// A coarse one for a first look.
    pub fn quick() -> MapGrid {
        MapGrid {
            kappas: vec![1e1, 1e3, 1e6],
            outsides: vec![0.7],
            leverages: vec![Leverage::Low, Leverage::Coherent],
            tolerances: vec![1e-4, 1e-10],
            factors: vec![2.0, 4.0, 8.0, 16.0],
            ..MapGrid::full()
        }
    }

    /// The classes that are measured, one after the other.
    pub fn classes(&self) -> impl Iterator<Item = ProblemClass> + '_ {
        let outsides = move |&kappa: &f64| self.outsides.iter().map(move |&outside| (kappa, outside));
        self.kappas.iter().flat_map(outsides).flat_map(move |(kappa, outside)| {
            self.leverages.iter().map(move |&leverage| ProblemClass { kappa, outside, leverage })
        })
    }
}

/// A number of a grid, as short as possible.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) { exact(value) } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_sorted_and_have_every_class_once() {
        for grid in [MapGrid::full(), MapGrid::quick()] {
            assert!(grid.kappas.is_sorted() && grid.outsides.is_sorted() && grid.factors.is_sorted());
            assert!(grid.tolerances.is_sorted_by(|a, b| a > b));
            let classes: Vec<ProblemClass> = grid.classes().collect();
            assert_eq!(classes.len(), grid.kappas.len() * grid.outsides.len() * grid.leverages.len());
            assert_eq!([0.7, 10.0, 1e4, 1e-12, 0.0].map(short), ["0.7", "10", "1e4", "1e-12", "0"]);
            assert!((1..classes.len()).all(|i| !classes[..i].contains(&classes[i])));
        }
    }
}
