//! Errors as the page gets them: a status, what is wrong, and what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rl4rla::store::StoreError;
use serde_json::{Value, json};

/// Why a request has no other answer.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    message: String,
    advice: Option<String>,
}

impl ApiError {
    /// A request that cannot be meant.
    pub fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something that there is not.
    pub fn missing(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, message)
    }

    /// What was asked for is understood, and is refused with the words of the command.
    pub fn refused(message: impl Into<String>, advice: Option<String>) -> ApiError {
        ApiError { advice, ..ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, message) }
    }

    /// It does not fit the state that things are in.
    pub fn conflict(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, message)
    }

    /// The server itself is at fault, or what it relies on.
    pub fn inside(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// An error with this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> ApiError {
        ApiError { status, message: message.into(), advice: None }
    }

    /// What is wrong and what to do.
    pub fn words(&self) -> Value {
        json!({ "message": self.message, "advice": self.advice })
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> ApiError {
        ApiError { advice: Some(advice.into()), ..self }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        let status = match &error {
            StoreError::UnknownRun { .. } | StoreError::AmbiguousRun { .. } | StoreError::NotThere { .. } => {
                StatusCode::NOT_FOUND
            }
            StoreError::Unfit { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            StoreError::Held { .. } => StatusCode::CONFLICT,
            StoreError::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        ApiError::new(status, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message, "advice": self.advice }))).into_response()
    }
}
