//! `rl4rla solve` with several right-hand sides.

use crate::args::Solve;
use crate::failure::Failure;
use crate::page::{Page, duration, faint, ledger, number, path, strong, warning};
use rl4rla::fit::SeveralFits;
use rl4rla::solve::SeveralSolutions;
use serde_json::{Value, json};
use std::path::Path;

/// Right-hand sides shown in the terminal.
const SHOWN: usize = 20;

/// The page for several right-hand sides and a matrix of this size, with the coefficients of columns that have a label.
pub fn page(
    args: &Solve,
    matrix: &Path,
    size: (usize, usize),
    fits: &SeveralFits,
    labels: &[String],
) -> Result<Page, Failure> {
    let SeveralFits { solutions: found, coefficients, seconds } = fits;
    let mut files = vec![];
    if let Some(out) = &args.out {
        let heads =
            std::iter::once("name".to_string()).chain((1..=coefficients.len()).map(|j| format!("b{j}")));
        let entries: Vec<f64> =
            (0..labels.len()).flat_map(|j| coefficients.iter().map(move |x| x[j])).collect();
        super::write_table(out, &heads.collect::<Vec<_>>(), Some(labels), &entries)?;
        files.push(out.clone());
    }
    let converged = found.is_converged();
    let solution = |j: usize| {
        let known = found.certificates[j];
        json!({
            "relative_residual": found.residuals[j],
            "excess": known.map(|known| known.excess),
            "backward_error": found.backward_errors[j],
            "forward_error": known.map(|known| known.forward_error),
            "digits": known.map(|known| known.digits()),
            "converged": found.converged[j],
            "coefficients": labels.iter().zip(&coefficients[j]).map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
        })
    };
    let first = found.certificates.first().copied().flatten();
    let json = json!({
        "program": found.program,
        "reason": found.reason,
        "matrix": matrix.to_string_lossy(),
        "rows": size.0,
        "cols": size.1,
        "right_hand_sides": found.x.len(),
        "iterations": found.iterations,
        "converged": converged,
        "rank": first.map(|known| known.rank),
        "kappa": first.map(|known| known.kappa),
        "solutions": (0..found.x.len()).map(solution).collect::<Vec<Value>>(),
        "seconds": seconds,
        "files": files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
    });
    Ok(Page { json, text: text(matrix, size, found, *seconds, &files), code: u8::from(!converged) })
}

fn text(
    matrix: &Path,
    (rows, cols): (usize, usize),
    found: &SeveralSolutions,
    seconds: f64,
    files: &[std::path::PathBuf],
) -> String {
    let count = found.x.len();
    let mut text =
        format!("{} on {}: {rows}×{cols}\n", strong(&format!("{count} right-hand sides")), path(matrix));
    text += &faint(&format!("{}: {}; {}\n\n", found.program, found.reason, duration(seconds)));
    let row = |j: usize| {
        vec![
            (j + 1).to_string(),
            number(found.residuals[j]),
            number(found.backward_errors[j]),
            found.certificates[j].map_or("?".into(), |known| known.digits().to_string()),
        ]
    };
    text += &ledger(
        &["b", "‖Ax − b‖/‖b‖", "backward error", "digits of x"],
        (0..count.min(SHOWN)).map(row),
        0..4,
    );
    if count > SHOWN {
        text += &faint(&format!("and {} more\n", count - SHOWN));
    }
    if let Some(Some(known)) = found.certificates.first() {
        text +=
            &format!("\nrank {} of {cols}, κ ≈ {} with unit-norm columns\n", known.rank, number(known.kappa));
    }
    files.iter().for_each(|file| text += &faint(&format!("wrote {}\n", file.display())));
    if !found.is_converged() {
        text += &warning("Not converged: the certificate of a right-hand side does not hold.\n");
    }
    text
}
