//! Why a program cannot be exported.

use std::fmt;

/// Why a program cannot be exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportError {
    /// A registered operator has no template for this language.
    Operator {
        /// Name of the operator.
        op: &'static str,
        /// Name of the language.
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
