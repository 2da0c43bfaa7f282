//! How exported code writes a call of an operator.

use super::op::{Arg, Meaning, Operator};
use super::types::{Structure, Type};

/// A call as an expression in every export language: `$0`, `$1` … stand for the operands, `$S` for the sketch of the
/// section. If rows are sampled, `A` and `b` are the last two operands.
#[derive(Clone, Copy, Debug)]
pub struct Templates {
    /// In Python, with NumPy as `np`.
    pub python: &'static str,
    /// In Rust, with the crate faer: vectors are `Col<f64>`, matrices `Mat<f64>`.
    pub rust: &'static str,
    /// In Julia, with its `LinearAlgebra`.
    pub julia: &'static str,
    /// In LaTeX, within a formula.
    pub latex: &'static str,
}

impl Templates {
    fn all(&self) -> [&'static str; 4] {
        [self.python, self.rust, self.julia, self.latex]
    }
}

/// The types of operands that affect how a call is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallShape {
    /// No special operand types.
    Plain,
    /// The first operand is upper triangular.
    Upper,
    /// The second operand is upper triangular, and the first is not.
    UpperSecond,
    /// The only operand is a vector.
    Vector,
}

impl CallShape {
    /// The shape of a call with these operands.
    pub fn of(args: &[Arg]) -> CallShape {
        let upper = |i: usize| args.get(i).is_some_and(|arg| arg.ty.structure() == Structure::Upper);
        match args {
            _ if upper(0) => CallShape::Upper,
            _ if upper(1) => CallShape::UpperSecond,
            [Arg { ty: Type::Vector(_), .. }] => CallShape::Vector,
            _ => CallShape::Plain,
        }
    }
}

impl Operator {
    /// The templates for a call of this shape; `None` if the operator cannot be exported.
    pub fn templates(&self, shape: CallShape) -> Option<&Templates> {
        let special = self.export_when.iter().find(|(own, _)| *own == shape);
        special.map(|(_, templates)| templates).or(self.export.as_ref())
    }

    /// The first template with a placeholder that no operand fills, if any.
    pub(super) fn faulty_template(&self) -> Option<&'static str> {
        let operands = self.forms[0].operands.len() + if self.samples() { 2 } else { 0 };
        let fills = |place: &str| match place.chars().next() {
            Some('S') => self.sketches(),
            Some(digit) => digit.to_digit(10).is_some_and(|i| (i as usize) < operands),
            None => false,
        };
        let all = self.export.iter().chain(self.export_when.iter().map(|(_, templates)| templates));
        all.flat_map(Templates::all).find(|text| !text.split('$').skip(1).all(fills))
    }
}

/// The required fields of a row: its algebraic meaning and its export templates.
pub(super) const fn added(meaning: Meaning, export: Templates) -> Operator {
    Operator { meaning, export: Some(export), ..Operator::PLAIN }
}

#[cfg(test)]
mod tests {
    use crate::program::Op;

    #[test]
    fn every_operator_is_written_with_all_its_operands() {
        for op in Op::known() {
            assert_eq!(op.faulty_template(), None, "{op}");
            let special = op.export_when.iter().map(|(_, templates)| templates);
            for text in op.0.export.iter().chain(special).flat_map(super::Templates::all) {
                let written = |i: usize| text.contains(&format!("${i}"));
                assert!((0..op.forms[0].operands.len()).all(written), "{op}: {text} leaves out an operand");
                assert_eq!(text.contains("$S"), op.sketches(), "{op}: {text}");
            }
        }
    }
}
