//! How a language writes names and calls.

use super::error::ExportError;
use super::listing::{Name, Statement, ValueVersion};
use crate::program::{Core, OPERATORS, Reg, Section, Templates};

/// How a language writes names and calls.
pub trait Style {
    /// Name of the language, for messages.
    const LANGUAGE: &'static str;

    /// The language's template among those of an operator.
    fn template(templates: &Templates) -> &'static str;

    /// Name of a value; by default only letters, digits and underscores.
    fn name(name: Name) -> String {
        match (name.reg, name.mark) {
            (Reg::ETA, _) => "step".into(),
            (Reg::LAMBDA, _) => "lam".into(),
            (reg, ValueVersion::Plain) => reg.name().into(),
            (reg, ValueVersion::Once) => format!("{reg}_0"),
            (reg, ValueVersion::Again) => format!("{reg}_t"),
        }
    }

    /// Name of the sketch of a section.
    fn sketch(section: Section) -> &'static str {
        match section {
            Section::Setup => "S",
            Section::Iteration => "Omega",
        }
    }

    /// The difference of two vectors.
    fn difference(u: &str, v: &str) -> String {
        let sub = &OPERATORS[Core::VecVecSub as usize];
        let text = Self::template(sub.export.as_ref().expect("the paper's operators can be exported"));
        filled(text, &[u.into(), v.into()], "")
    }

    /// The right-hand side of a statement.
    fn expression(statement: &Statement) -> Result<String, ExportError> {
        let templates = statement.op.0.templates(statement.shape);
        let unknown = ExportError::Operator { op: statement.op.0.name, language: Self::LANGUAGE };
        let text = Self::template(templates.ok_or(unknown)?);
        let operands: Vec<String> = statement.operands.iter().map(|(name, _)| Self::name(*name)).collect();
        Ok(filled(text, &operands, Self::sketch(statement.section)))
    }
}

/// The template with its placeholders filled in.
fn filled(text: &str, operands: &[String], sketch: &str) -> String {
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (place, rest) = part.split_at(1);
        filled += match place.parse::<usize>() {
            Ok(i) => &operands[i],
            Err(_) => sketch,
        };
        filled += rest;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        let operands = ["$1".to_string(), "b".to_string()];
        assert_eq!(filled("$S @ f($1, $0)", &operands, "S"), "S @ f(b, $1)");
    }
}
