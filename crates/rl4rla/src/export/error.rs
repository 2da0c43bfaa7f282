//! Why a program cannot be exported.

use std::fmt;

/// Why a program cannot be exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportError {
    /// A language has no expression for an operator: one that was registered since.
    Operator {
        /// The operator.
        op: &'static str,
        /// The language.
        language: &'static str,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ExportError::Operator { op, language } => {
                write!(
                    f,
                    "there is no {language} for the operator {op}, which is not one of this crate's own"
                )
            }
        }
    }
}

impl std::error::Error for ExportError {}
