//! `rl4rla solve --lambda` without a program: ridge regression, for one λ or a path of them.

use crate::args::Solve;
use crate::failure::Failure;
use crate::page::{Page, accent, duration, faint, ledger, number, path, strong, table, warning};
use rl4rla::fit::RidgeFit;
use rl4rla::solve::{RidgePath, RidgePoint};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Number of coefficients shown in the terminal.
const SHOWN: usize = 10;

/// The λ asked for, or an error.
pub fn lambdas(args: &Solve) -> Result<Option<Vec<f64>>, Failure> {
    let Some(text) = &args.lambda_path else { return Ok(args.lambda.map(|lambda| vec![lambda])) };
    let wrong = || {
        Failure::new(format!("--lambda-path takes FIRST:LAST:COUNT, such as 1e-4:1e2:50, got `{text}`"))
            .advise("positive λ, and a count from 2 to 10000")
    };
    let parts: Vec<&str> = text.split(':').collect();
    let [first, last, count] = parts[..] else { return Err(wrong()) };
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_normal() && *value > 0.0);
    let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(wrong()) };
    let count =
        count.trim().parse::<usize>().ok().filter(|count| (2..=10_000).contains(count)).ok_or_else(wrong)?;
    let step = (last / first).ln() / (count - 1) as f64;
    Ok(Some((0..count).map(|i| first * (step * i as f64).exp()).collect()))
}

/// The page for ridge regression on a matrix of this size, with the coefficients of columns that have a label.
pub fn page(
    args: &Solve,
    matrix: &Path,
    size: (usize, usize),
    fit: &RidgeFit,
    labels: &[String],
) -> Result<Page, Failure> {
    let RidgeFit { path: found, coefficients, seconds } = fit;
    let lambdas: Vec<f64> = found.points.iter().map(|point| point.lambda).collect();
    let mut files: Vec<PathBuf> = vec![];
    if let Some(out) = &args.out {
        write(out, labels, &lambdas, coefficients)?;
        files.push(out.clone());
    }
    let tolerance = args.tolerance.unwrap_or(1e-10);
    let converged = found.is_converged(tolerance);
    let best = found.best().lambda;
    let json = json!({
        "program": Value::Null,
        "matrix": matrix.to_string_lossy(),
        "rows": size.0,
        "cols": size.1,
        "converged": converged,
        "factor": factor(found),
        "measured_error": found.measured,
        "kappa": found.kappa,
        "best_lambda": best,
        "path": found.points.iter().zip(coefficients).map(|(point, x)| point_json(point, x, labels)).collect::<Vec<_>>(),
        "seconds": seconds,
        "files": files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
    });
    let mut text = format!("{} on {}: {}×{}\n", strong("Ridge regression"), path(matrix), size.0, size.1);
    text += &faint(&format!("{} λ with one factorisation, {}\n\n", lambdas.len(), factor(found)));
    if found.points.len() > 1 {
        let row = |point: &RidgePoint| {
            let mark = if point.lambda == best { accent("least GCV") } else { String::new() };
            vec![number(point.lambda), number(point.residual), number(point.freedom), number(point.gcv), mark]
        };
        let heads = ["λ", "‖Ax − b‖/‖b‖", "degrees of freedom", "GCV", ""];
        let step = found.points.len().div_ceil(20);
        let shown =
            found.points.iter().enumerate().filter(|(i, point)| i % step == 0 || point.lambda == best);
        text += &format!("{}\n", ledger(&heads, shown.map(|(_, point)| row(point)), 0..4));
    }
    let place = found.points.iter().position(|point| point.lambda == best).unwrap_or(0);
    let point = &found.points[place];
    text += &table(
        [
            ("λ", number(point.lambda)),
            ("‖Ax − b‖/‖b‖", number(point.residual)),
            ("degrees of freedom", number(point.freedom)),
            (
                "error of x",
                format!(
                    "at most {} of ‖x‖ to first order; {} measured at the smallest λ",
                    number(point.forward_error),
                    number(found.measured)
                ),
            ),
            ("κ(AᵀA + λI)", format!("{} at the smallest λ", number(found.kappa))),
            ("work", duration(*seconds)),
        ]
        .map(|(name, value)| vec![name.into(), value]),
    );
    let shown = labels.iter().zip(&coefficients[place]).take(SHOWN);
    text += &format!("\n{}", table(shown.map(|(name, value)| vec![accent(name), number(*value)])));
    if labels.len() > SHOWN {
        text += &faint(&format!("and {} more\n", labels.len() - SHOWN));
    }
    files.iter().for_each(|file| text += &faint(&format!("wrote {}\n", file.display())));
    if !converged {
        text += &warning("Not converged: the error of x is above the tolerance.\n");
        text += &faint("try: larger λ, or --standardise\n");
    }
    Ok(Page { json, text, code: u8::from(!converged) })
}

fn factor(found: &RidgePath) -> &'static str {
    if found.squared { "of AᵀA" } else { "by QR, because AᵀA is too ill-conditioned" }
}

fn point_json(point: &RidgePoint, x: &[f64], labels: &[String]) -> Value {
    json!({
        "lambda": point.lambda,
        "relative_residual": point.residual,
        "degrees_of_freedom": point.freedom,
        "gcv": point.gcv,
        "forward_error": point.forward_error,
        "coefficients": labels.iter().zip(x).map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
    })
}

/// A row for every coefficient, a column for every λ.
fn write(out: &Path, labels: &[String], lambdas: &[f64], coefficients: &[Vec<f64>]) -> Result<(), Failure> {
    let heads: Vec<String> = std::iter::once("name".into())
        .chain(lambdas.iter().map(|lambda| format!("lambda={lambda:e}")))
        .collect();
    let entries: Vec<f64> = (0..labels.len()).flat_map(|j| coefficients.iter().map(move |x| x[j])).collect();
    super::write_table(out, &heads, Some(labels), &entries)
}
