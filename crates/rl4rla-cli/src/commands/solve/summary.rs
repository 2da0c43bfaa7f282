//! The summary table of a regression: standard errors, t values, R².

use crate::page::{accent, faint, ledger, number};
use rl4rla::data::Columns;
use rl4rla::solve::Regression;
use serde_json::{Value, json};

/// Statistics of a fit.
pub struct RegressionSummary {
    rows: Vec<(String, f64, f64)>,
    sigma: f64,
    freedom: usize,
    r_squared: [f64; 2],
}

impl RegressionSummary {
    /// The statistics for ‖Ax − b‖ and the coefficients in units of the table.
    pub fn new(
        fit: &Regression,
        columns: &Columns,
        residual: f64,
        coefficients: &[f64],
    ) -> RegressionSummary {
        let sigma = fit.sigma(residual);
        let error = |j: usize| fit.standard_error(sigma, &columns.combination(j));
        let rows = columns.labels().into_iter().zip(coefficients).enumerate();
        RegressionSummary {
            rows: rows.map(|(j, (name, value))| (name, *value, error(j))).collect(),
            sigma,
            freedom: fit.freedom,
            r_squared: fit.r_squared(residual, columns.intercept),
        }
    }

    /// The result as JSON.
    pub fn json(&self) -> Value {
        let row = |(name, value, error): &(String, f64, f64)| json!({ "name": name, "value": value, "standard_error": error, "t": value / error });
        json!({
            "r_squared": self.r_squared[0],
            "adjusted_r_squared": self.r_squared[1],
            "sigma": self.sigma,
            "degrees_of_freedom": self.freedom,
            "coefficients": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// The result as text.
    pub fn text(&self) -> String {
        let row = |(name, value, error): &(String, f64, f64)| {
            vec![accent(name), number(*value), number(*error), number(value / error)]
        };
        let table = ledger(&["", "coefficient", "standard error", "t"], self.rows.iter().map(row), 1..4);
        let [plain, adjusted] = self.r_squared.map(|value| format!("{value:.6}"));
        let foot = format!(
            "R² {plain}, adjusted {adjusted}; σ {} with {} degrees of freedom\n",
            number(self.sigma),
            self.freedom
        );
        table + &faint("standard errors assume independent errors of equal variance\n") + &foot
    }
}
