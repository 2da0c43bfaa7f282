//! Predictions for a second file.

use super::write;
use crate::args::Solve;
use crate::data::{reading, refused};
use crate::failure::Failure;
use crate::page::number;
use rl4rla::data::{Columns, Reading};
use rl4rla::problem::Response;
use rl4rla::solve::{Agreement, PredictError, Prediction, predict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Accuracy of the predictions for a second file.
pub struct Predicted(Prediction);

impl Predicted {
    /// Predicts the target of every row, and writes the predictions if requested.
    pub fn new(
        args: &Solve,
        path: &Path,
        columns: &Columns,
        x: &[f64],
        response: Response,
        files: &mut Vec<PathBuf>,
    ) -> Result<Predicted, Failure> {
        // The name of an array is about the matrix file.
        let reading = Reading { member: None, ..reading(&args.data) };
        let prediction = predict(path, &reading, columns, x, response);
        let prediction = prediction.map_err(|error| match error {
            PredictError::Data(error) => refused(error),
            PredictError::Label { .. } => Failure::new(format!("{}: {error}", path.display()))
                .advise("the same two labels, or a file without the target"),
        })?;
        if let Some(out) = &args.predictions {
            let head = if response == Response::Number { "prediction" } else { "probability" };
            write(out, &[head], None, &prediction.values)?;
            files.push(out.clone());
        }
        Ok(Predicted(prediction))
    }

    /// The result as JSON.
    pub fn json(&self) -> Value {
        let mut json = json!({ "rows": self.0.values.len(), "dropped": self.0.dropped });
        let told = match self.0.agreement {
            Some(Agreement::Classes { accuracy, log_loss }) => {
                json!({ "accuracy": accuracy, "log_loss": log_loss })
            }
            Some(Agreement::Number { rmse, truth }) => {
                json!({ "rmse": rmse, "relative_residual": rmse / truth })
            }
            None => json!({ "rmse": null, "relative_residual": null }),
        };
        for (key, value) in told.as_object().into_iter().flatten() {
            json[key] = value.clone();
        }
        json
    }

    /// The result as text.
    pub fn text(&self) -> String {
        let how = match self.0.agreement {
            Some(Agreement::Number { rmse, truth }) => {
                format!(", RMSE {}, {} relative to the target", number(rmse), number(rmse / truth))
            }
            Some(Agreement::Classes { accuracy, log_loss }) => format!(
                ", {} of them classified correctly, mean cross-entropy {}",
                number(accuracy),
                number(log_loss)
            ),
            None => String::new(),
        };
        let dropped =
            if self.0.dropped > 0 { format!(", {} dropped", self.0.dropped) } else { String::new() };
        format!("{} rows predicted{dropped}{how}\n", self.0.values.len())
    }
}
