//! Predictions of a solution for the rows of another table.

use crate::data::{Columns, DataError, Reading};
use crate::problem::Response;
use std::fmt;
use std::path::Path;

/// The predictions for a table, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// The predicted number, or the probability of the larger class, for every row.
    pub values: Vec<f64>,
    /// Rows left out because a value was missing.
    pub dropped: usize,
    /// Agreement with the target, if the table has it.
    pub agreement: Option<Agreement>,
}

/// Accuracy of predictions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Agreement {
    /// For a numeric target.
    Number {
        /// Root mean square error of the predictions.
        rmse: f64,
        /// Root mean square of the target itself.
        truth: f64,
    },
    /// For two classes.
    Classes {
        /// Fraction of rows whose more likely class is the true one.
        accuracy: f64,
        /// The mean cross-entropy.
        log_loss: f64,
    },
}

/// Why a prediction failed.
#[derive(Debug)]
pub enum PredictError {
    /// The table cannot be used.
    Data(DataError),
    /// A label that did not occur in the data the solution was fitted to.
    Label {
        /// Its row, counted from 0.
        row: usize,
        /// The label.
        value: f64,
        /// The labels the solution was fitted to.
        known: [f64; 2],
    },
}

impl fmt::Display for PredictError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            PredictError::Data(error) => error.fmt(f),
            PredictError::Label { row, value, known: [small, large] } => write!(
                f,
                "the target of row {} is {value}, and the solution was fitted to {small} and {large}",
                row + 1
            ),
        }
    }
}

impl std::error::Error for PredictError {}

/// Predicts the target for every row of a table that has the columns x was fitted to.
pub fn predict(
    path: &Path,
    reading: &Reading,
    columns: &Columns,
    x: &[f64],
    response: Response,
) -> Result<Prediction, PredictError> {
    let (mut products, mut targets) = (Vec::new(), Vec::new());
    let each = |product: f64, target: Option<f64>| {
        products.push(product);
        targets.extend(target);
    };
    let dropped = columns.predict(path, reading, x, each).map_err(PredictError::Data)?;
    let values: Vec<f64> = products.iter().map(|product| response.predict(*product)).collect();
    // A table without rows has no accuracy.
    let agreement = match response {
        _ if targets.is_empty() || targets.len() < values.len() => None,
        Response::Number => Some(numbers(&values, &targets)),
        Response::Classes(known) => Some(classes(&products, &targets, known)?),
    };
    Ok(Prediction { values, dropped, agreement })
}

fn numbers(predictions: &[f64], targets: &[f64]) -> Agreement {
    let root = |sum: f64| (sum / targets.len() as f64).sqrt();
    let missed = predictions.iter().zip(targets).map(|(p, t)| (p - t).powi(2)).sum();
    Agreement::Number { rmse: root(missed), truth: root(targets.iter().map(|t| t * t).sum()) }
}

fn classes(products: &[f64], targets: &[f64], known: [f64; 2]) -> Result<Agreement, PredictError> {
    if let Some(row) = targets.iter().position(|target| !known.contains(target)) {
        return Err(PredictError::Label { row, value: targets[row], known });
    }
    // −ln σ(±z), without overflow and without rounding probabilities to 1.
    let missed = |z: f64| (-z).max(0.0) + (-z.abs()).exp().ln_1p();
    let sides = products.iter().zip(targets).map(|(z, t)| if *t == known[1] { *z } else { -*z });
    let (mut right, mut loss) = (0.0, 0.0);
    for side in sides {
        // A probability of one half counts as half correct.
        right += if side == 0.0 { 0.5 } else { f64::from(u8::from(side > 0.0)) };
        loss += missed(side);
    }
    let rows = targets.len() as f64;
    Ok(Agreement::Classes { accuracy: right / rows, log_loss: loss / rows })
}
