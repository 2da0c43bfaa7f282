//! Why a program cannot be exported.

use std::fmt;

/// Why a program cannot be exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportError {
    /// The row of an operator that was registered since does not say how it is exported.
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
                    "there is no {language} for the operator {op}: it was registered without templates for exports"
                )
            }
        }
    }
}

impl std::error::Error for ExportError {}
