//! What a solution says of a second file.

use super::write;
use crate::args::Solve;
use crate::data::{reading, refused};
use crate::failure::Failure;
use crate::page::number;
use rl4rla::data::Columns;
use rl4rla::problem::Response;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How well a second file is predicted.
pub struct Prediction {
    rows: usize,
    /// Rows left out because a value was missing.
    dropped: usize,
    /// Where the file tells the truth, how far that is.
    judged: Option<Judged>,
}

/// Predictions against the truth.
enum Judged {
    /// Root mean square of what is missed, and of the truth itself.
    Number { missed: f64, truth: f64 },
    /// The share of rows whose likelier class is theirs, and the mean cross-entropy.
    Classes { accuracy: f64, log_loss: f64 },
}

/// Predicts the target of every row, and writes the predictions where that is asked for.
pub fn predict(
    args: &Solve,
    path: &Path,
    columns: &Columns,
    x: &[f64],
    response: Response,
    files: &mut Vec<PathBuf>,
) -> Result<Prediction, Failure> {
    let (mut products, mut targets) = (Vec::new(), Vec::new());
    let each = |product: f64, target: Option<f64>| {
        products.push(product);
        targets.extend(target);
    };
    let dropped = columns.predict(path, &reading(&args.data), x, each).map_err(refused)?;
    let rows = products.len();
    let predictions: Vec<f64> = products.iter().map(|product| response.predict(*product)).collect();
    if let Some(out) = &args.predictions {
        let head = if response == Response::Number { "prediction" } else { "probability" };
        write(out, &[head], None, &predictions)?;
        files.push(out.clone());
    }
    // A file of no rows has nothing to be judged by.
    let judged = match response {
        _ if targets.is_empty() || targets.len() < rows => None,
        Response::Number => Some(numbers(&predictions, &targets)),
        Response::Classes(known) => Some(classes(path, &products, &targets, known)?),
    };
    Ok(Prediction { rows, dropped, judged })
}

fn numbers(predictions: &[f64], targets: &[f64]) -> Judged {
    let root = |sum: f64| (sum / targets.len() as f64).sqrt();
    let missed = predictions.iter().zip(targets).map(|(p, t)| (p - t).powi(2)).sum();
    Judged::Number { missed: root(missed), truth: root(targets.iter().map(|t| t * t).sum()) }
}

/// Labels that the solution was not fitted to cannot be judged.
fn classes(path: &Path, products: &[f64], targets: &[f64], known: [f64; 2]) -> Result<Judged, Failure> {
    let [small, large] = known;
    if let Some(row) = targets.iter().position(|target| !known.contains(target)) {
        let message = format!(
            "{}: the target of row {} is {}, and the solution was fitted to {small} and {large}",
            path.display(),
            row + 1,
            targets[row]
        );
        return Err(Failure::new(message).advise("the same two labels, or a file without the target"));
    }
    // −ln σ(±z), without overflow and without rounding probabilities to 1.
    let missed = |z: f64| (-z).max(0.0) + (-z.abs()).exp().ln_1p();
    let sides = products.iter().zip(targets).map(|(z, t)| if *t == large { *z } else { -*z });
    let (mut right, mut loss) = (0.0, 0.0);
    for side in sides {
        // A probability of one half is right half of the time.
        right += if side == 0.0 { 0.5 } else { f64::from(u8::from(side > 0.0)) };
        loss += missed(side);
    }
    let rows = targets.len() as f64;
    Ok(Judged::Classes { accuracy: right / rows, log_loss: loss / rows })
}

impl Prediction {
    /// As a script reads it.
    pub fn json(&self) -> Value {
        let mut json = json!({ "rows": self.rows, "dropped": self.dropped });
        let told = match self.judged {
            Some(Judged::Classes { accuracy, log_loss }) => {
                json!({ "accuracy": accuracy, "log_loss": log_loss })
            }
            Some(Judged::Number { missed, truth }) => {
                json!({ "rmse": missed, "relative_residual": missed / truth })
            }
            None => json!({ "rmse": null, "relative_residual": null }),
        };
        for (key, value) in told.as_object().into_iter().flatten() {
            json[key] = value.clone();
        }
        json
    }

    /// As a person reads it.
    pub fn text(&self) -> String {
        let how = match self.judged {
            Some(Judged::Number { missed, truth }) => {
                format!(", RMSE {}, {} relative to the target", number(missed), number(missed / truth))
            }
            Some(Judged::Classes { accuracy, log_loss }) => format!(
                ", {} of them classified correctly, mean cross-entropy {}",
                number(accuracy),
                number(log_loss)
            ),
            None => String::new(),
        };
        let dropped = if self.dropped > 0 { format!(", {} dropped", self.dropped) } else { String::new() };
        format!("{} rows predicted{dropped}{how}\n", self.rows)
    }
}
