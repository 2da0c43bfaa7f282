//! Questions about programs: what they are, whether they are equal, how they behave, and as code.

use crate::error::ApiError;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Path, Query, State};
use rl4rla::program::Entry;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A program by name.
#[derive(Deserialize)]
pub struct ProgramName {
    of: String,
}

/// A question about a program.
#[derive(Deserialize)]
pub struct ProgramQuestion {
    /// A name or the text of a program.
    program: String,
    /// The program it is compared with.
    other: Option<String>,
    /// A language.
    to: Option<String>,
    /// A family of problems.
    family: Option<String>,
    /// Condition numbers.
    kappa: Option<Vec<f64>>,
    /// Iterations.
    iterations: Option<u32>,
}

/// `rl4rla show`.
pub async fn show(
    State(shared): State<Arc<ServerState>>,
    Query(named): Query<ProgramName>,
) -> Result<Json<Value>, ApiError> {
    let program = checked(&named.of)?;
    Ok(Json(shared.commands.ask(&["show"], &[&program]).await?))
}

/// One of the questions, by name.
pub async fn ask(
    State(shared): State<Arc<ServerState>>,
    Path(question): Path<String>,
    Json(asked): Json<ProgramQuestion>,
) -> Result<Json<Value>, ApiError> {
    let program = checked(&asked.program)?;
    let ask = |options: Vec<String>, rest: Vec<String>| {
        let shared = shared.clone();
        async move {
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            shared.commands.ask(&options, &rest).await
        }
    };
    let problem = problem(&asked)?;
    let answer = match question.as_str() {
        "show" => ask(vec!["show".into()], vec![program]).await?,
        "equiv" => {
            let other = asked.other.as_deref().ok_or_else(|| ApiError::bad("`other` is missing"))?;
            ask(vec!["equiv".into()], vec![program, checked(other)?]).await?
        }
        "analyze" => {
            let quick = ["analyze", "--quick", "--threads", "1"].map(String::from);
            ask([quick.to_vec(), problem].concat(), vec![program]).await?
        }
        "history" => {
            let evaluate = vec!["evaluate".into(), "--threads".into(), "1".into()];
            ask([evaluate, problem].concat(), vec![program]).await?
        }
        "export" => {
            let to = asked.to.as_deref().unwrap_or("python");
            if !["python", "rust", "julia", "latex", "json"].contains(&to) {
                return Err(ApiError::bad(format!("there is no export to `{to}`"))
                    .advise("python, rust, julia, latex or json"));
            }
            let answer = ask(vec!["export".into(), "--to".into(), to.into()], vec![program]).await?;
            if answer.is_string() { json!({ "text": answer }) } else { answer }
        }
        _ => return Err(ApiError::missing(format!("there is no question `{question}`"))),
    };
    Ok(Json(answer))
}

/// The options that describe problems.
fn problem(asked: &ProgramQuestion) -> Result<Vec<String>, ApiError> {
    let mut options = Vec::new();
    if let Some(family) = &asked.family {
        if !rl4rla::problem::families().any(|info| info.name == family) {
            return Err(ApiError::bad(format!("there is no family `{family}`")));
        }
        options.extend(["--family".into(), family.clone()]);
    }
    if let Some(kappa) = &asked.kappa {
        let numbers: Vec<String> = kappa.iter().map(|kappa| format!("{kappa:e}")).collect();
        options.extend(["--kappa".into(), numbers.join(",")]);
    }
    if let Some(iterations) = asked.iterations {
        options.extend(["--iterations".into(), iterations.to_string()]);
    }
    Ok(options)
}

/// A program as the command takes it, but never the path of a file: a name of the catalogue, a result of a run, or a text,
/// which is told by its line break.
pub fn checked(program: &str) -> Result<String, ApiError> {
    let program = program.trim_start_matches('\u{feff}');
    if program.contains('\n') {
        return Ok(program.into());
    }
    let is_known = Entry::named(program).is_some() || program.strip_prefix("run:").is_some_and(is_result);
    match (is_known, program.contains('=')) {
        (true, _) => Ok(program.into()),
        // An instruction alone.
        (false, true) => Ok(format!("{program}\n")),
        (false, false) => Err(ApiError::missing(format!("there is no program `{program}`"))
            .advise("a name of the catalogue, run:ID, run:ID/STAGE, run:ID#K, or the text of a program")),
    }
}

/// Whether this is the part of `run:ID/STAGE#K` after the colon.
fn is_result(text: &str) -> bool {
    let (run, rest) = text.split_at(text.find(['/', '#']).unwrap_or(text.len()));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    is_id(run)
        && (rest.is_empty() || rest[1..].split('#').all(|part| !part.is_empty() && part.chars().all(plain)))
}

/// Whether this may be the id of a run.
pub fn is_id(text: &str) -> bool {
    (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_a_path() {
        for good in
            ["ls-gd", "run:3f9a2c1d", "run:3f/ls-gd", "run:3f#2", "run:3f/ls-gd#2", "a\nb", "v1 = VEC(x)"]
        {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x.rla",
            "x.rla",
            "run:",
            "run:LAST",
            "run:../x",
            "run:3f/../../x",
            "run:3f/",
            "run:3f#",
            "--help",
            "-",
            "all",
            "ls-gd ",
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
