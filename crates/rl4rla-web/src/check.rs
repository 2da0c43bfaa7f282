//! Whether a text is a curriculum, and if not, where and why: what the command would say.

use crate::error::ApiError;
use axum::Json;
use rl4rla::curriculum::{Curriculum, SpecError};
use serde::Deserialize;
use serde_json::{Value, json};

/// The text of a curriculum.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurriculumText {
    toml: String,
}

/// Checks the text of a curriculum.
pub async fn curriculum(Json(CurriculumText { toml }): Json<CurriculumText>) -> Json<Value> {
    // What is computed takes a moment of another thread.
    let checked = tokio::task::spawn_blocking(move || read(&toml)).await;
    Json(match checked {
        Ok(Ok(curriculum)) => {
            let names: Vec<&String> = curriculum.stages.iter().map(|(stage, _)| &stage.name).collect();
            json!({ "ok": true, "errors": [], "stages": names, "title": curriculum.title })
        }
        Ok(Err(error)) => json!({ "ok": false, "errors": [told(&error)], "stages": [] }),
        Err(_) => json!({ "ok": false, "errors": [], "stages": [] }),
    })
}

/// An error if a run of this text would not be started.
pub fn accepted(text: &str) -> Result<(), ApiError> {
    match read(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let advice = error.advice.clone();
            Err(ApiError::refused(SpecError { advice: None, ..error }.to_string(), advice))
        }
    }
}

/// Reads a curriculum, without any files that it names: who asks may not make this server read files.
fn read(text: &str) -> Result<Curriculum, SpecError> {
    let curriculum = Curriculum::outline("the curriculum", text)?;
    let files =
        curriculum.stages.iter().find(|(stage, _)| stage.families.iter().any(|family| family.is_of_table()));
    match files {
        None => Ok(curriculum),
        Some((stage, _)) => Err(SpecError {
            line: 1,
            place: format!("stage `{}`", stage.name),
            key: "family".into(),
            message: "problems from a file are not read for a page in the browser".into(),
            advice: Some("start this curriculum with `rl4rla discover FILE`; its run shows up here".into()),
        }),
    }
}

fn told(error: &SpecError) -> Value {
    let place = [&error.place, &error.key].map(String::as_str).into_iter().filter(|part| !part.is_empty());
    let message = place.chain([error.message.as_str()]).collect::<Vec<_>>().join(": ");
    json!({ "line": error.line, "column": 1, "message": message, "advice": error.advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_not_read() {
        let text = "title = \"x\"\nstart = \"ls-gd\"\n[[stage]]\nname = \"a\"\nedits = 1\n[stage.family]\nkind = \"user-table\"\n\
                    data = \"/etc/passwd\"\ntarget = \"x\"\n";
        let error = read(text).unwrap_err();
        assert!(!error.to_string().contains("root"), "{error}");
        assert!(accepted(text).is_err());
    }

    #[test]
    fn errors_have_lines() {
        let error = told(&read("title = \"x\"\nstages = 3\n").unwrap_err());
        assert_eq!(error["line"], 2, "{error}");
    }
}
