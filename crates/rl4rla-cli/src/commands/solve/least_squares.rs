//! Output of `solve` for least squares: the certificate, and linear dependences among the columns.

use crate::page::number;
use rl4rla::fit::relations;
use rl4rla::solve::{Certificate, Dependence, RankDeficient, Solution, Termination};
use serde_json::{Value, json};

/// Additional JSON keys.
pub fn json(solution: &Solution, labels: &[String]) -> Value {
    let named = |one: &Dependence| json!({ "column": labels[one.column], "on": one.on.iter().map(|j| &labels[*j]).collect::<Vec<_>>() });
    let certificate = solution.certificate.as_ref();
    json!({
        "excess": certificate.map(|known| known.excess),
        "backward_error": solution.backward_error(),
        "forward_error": certificate.map(|known| known.forward_error),
        "digits": certificate.map(Certificate::digits),
        "rank": certificate.map(|known| known.rank),
        "kappa": certificate.map(|known| known.kappa),
        "dependent": solution.dependent.iter().map(named).collect::<Vec<Value>>(),
        "reads": solution.reads,
    })
}

/// The lines of the certificate.
pub fn facts(solution: &Solution, cols: usize) -> Vec<Vec<String>> {
    let Some(known) = &solution.certificate else {
        let bound = solution.gradient_bound.map_or_else(String::new, number);
        let unknown = "not determined: it would take a dense factor of A";
        return vec![
            vec!["backward error".into(), format!("at most {bound}")],
            vec!["rank and κ".into(), unknown.into()],
        ];
    };
    let excess = format!("{} of ‖Ax − b‖, estimated", number(known.excess));
    let rank = format!("{} of {cols}, κ ≈ {} with unit-norm columns", known.rank, number(known.kappa));
    vec![
        vec!["‖A(x − x*)‖".into(), excess],
        vec!["backward error".into(), format!("{}, estimated", number(known.backward_error))],
        vec!["accuracy of x".into(), digits(known)],
        vec!["rank".into(), rank],
    ]
}

/// The digits to expect in x, and on what condition.
fn digits(known: &Certificate) -> String {
    match known.digits() {
        0 => "no digit is certain: the columns are nearly dependent".into(),
        digits => format!("{digits} digits of the largest coefficients, for A and b exactly as given"),
    }
}

/// The treatment of dependent columns, in words.
pub fn remark(solution: &Solution, labels: &[String], intercept: bool, how: RankDeficient) -> Option<String> {
    if solution.dependent.is_empty() {
        return None;
    }
    let relations = relations(&solution.dependent, labels, intercept);
    Some(match how {
        RankDeficient::MinNorm => {
            format!("{relations}: this is the minimum-norm solution, intercept excluded")
        }
        _ => format!("{relations}: dropped, with coefficient 0"),
    })
}

/// Why x does not meet the tolerance, and a suggestion.
pub fn warning(solution: &Solution) -> Option<(String, &'static str)> {
    if solution.is_converged() {
        return None;
    }
    if solution.ended == Termination::Divergence {
        let why = "Not converged: with every step size tried, the result is worse than x = 0.".to_string();
        return Some((why, "another program, or `rl4rla compare` with its baselines on the same file"));
    }
    let ended = match &solution.failure {
        Some(failure) => format!("{}: {failure}", solution.ended.words()),
        None => solution.ended.words().to_string(),
    };
    let why = match &solution.certificate {
        Some(known) => format!(
            "Not converged: ‖A(x − x*)‖ is {} of ‖Ax − b‖, above the tolerance of {}; {ended}.",
            number(known.excess),
            number(known.allowed),
        ),
        None => format!(
            "Not converged: the backward error is only known to be at most {}; {ended}.",
            number(solution.gradient_bound.unwrap_or(f64::NAN)),
        ),
    };
    let advice = match solution.ended {
        Termination::Iterations => {
            "more --iterations, another --step, a larger --tolerance or another program may help"
        }
        _ => "a more accurate program, such as sketched-precond-gd-factored, or a larger --tolerance",
    };
    Some((why, advice))
}
