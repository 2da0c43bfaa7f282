//! Tables of expressions: how a language writes each operator.

use super::error::ExportError;
use super::listing::{Form, Mark, Name, Statement};
use crate::program::{Reg, Section};

/// How an operator is written: `$0`, `$1` … stand for its operands, `$S` for the sketch of the section.
pub struct Row {
    /// The operator's name.
    pub op: &'static str,
    /// The form of call that it is for; a plain row is for all that have none of their own.
    pub form: Form,
    /// The expression.
    pub text: &'static str,
}

/// A row for every form of call.
pub const fn row(op: &'static str, text: &'static str) -> Row {
    Row { op, form: Form::Plain, text }
}

/// A row for one form of call.
pub const fn when(form: Form, op: &'static str, text: &'static str) -> Row {
    Row { op, form, text }
}

/// How a language writes names.
pub trait Style {
    /// The language, for messages.
    const LANGUAGE: &'static str;

    /// Its table.
    fn rows() -> &'static [Row];

    /// A value; unless said otherwise, with no more than letters, digits and underscores.
    fn name(name: Name) -> String {
        match (name.reg, name.mark) {
            (Reg::ETA, _) => "step".into(),
            (reg, Mark::Plain) => reg.name().into(),
            (reg, Mark::Once) => format!("{reg}_0"),
            (reg, Mark::Again) => format!("{reg}_t"),
        }
    }

    /// The sketch of a section.
    fn sketch(section: Section) -> &'static str {
        match section {
            Section::Setup => "S",
            Section::Iteration => "Omega",
        }
    }

    /// The right-hand side of a statement.
    fn expression(statement: &Statement) -> Result<String, ExportError> {
        let rows = || Self::rows().iter().filter(|row| row.op == statement.op.name);
        let row = rows()
            .find(|row| row.form == statement.form)
            .or_else(|| rows().find(|row| row.form == Form::Plain))
            .ok_or(ExportError::Operator { op: statement.op.name, language: Self::LANGUAGE })?;
        let operands: Vec<String> = statement.operands.iter().map(|(name, _)| Self::name(*name)).collect();
        Ok(filled(row.text, &operands, Self::sketch(statement.section)))
    }
}

/// The text with its places filled.
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
    use crate::export::{julia::Julia, latex::Latex, python::Python, rust::Rust};
    use crate::program::{EXTENSIONS, OPERATORS, Operator};

    #[test]
    fn places_are_filled_once() {
        let operands = ["$1".to_string(), "b".to_string()];
        assert_eq!(filled("$S @ f($1, $0)", &operands, "S"), "S @ f(b, $1)");
    }

    fn covers<L: Style>() {
        let known = || OPERATORS.iter().chain(&EXTENSIONS);
        for op in known() {
            assert!(
                L::rows().iter().any(|row| row.op == op.name),
                "{} has no row for {}",
                L::LANGUAGE,
                op.name
            );
        }
        let operands = |op: &Operator| op.forms[0].operands.len() + if op.samples() { 2 } else { 0 };
        for row in L::rows() {
            let op = known().find(|op| op.name == row.op);
            let op = op.unwrap_or_else(|| panic!("{}: no operator {}", L::LANGUAGE, row.op));
            let places: Vec<usize> =
                row.text.split('$').skip(1).filter_map(|part| part[..1].parse().ok()).collect();
            assert!(places.iter().all(|i| *i < operands(op)), "{}: {}", L::LANGUAGE, row.text);
            let all = (0..operands(op)).all(|i| places.contains(&i));
            assert!(all || op.samples(), "{}: {} leaves out an operand", L::LANGUAGE, row.text);
            assert_eq!(row.text.contains("$S"), op.sketches(), "{}: {}", L::LANGUAGE, row.text);
        }
    }

    #[test]
    fn every_language_writes_every_operator_with_all_its_operands() {
        covers::<Python>();
        covers::<Rust>();
        covers::<Julia>();
        covers::<Latex>();
    }
}
