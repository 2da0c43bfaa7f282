//! The signature of a problem: the inputs of a program and its update rule.

use super::ast::Program;
use super::expr::Expr;
use super::poly::Poly;
use super::register::{Reg, RegSet};
use super::types::{Dim, Geometry, Type};

/// The update: what happens to `v1` at the end of every iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Update {
    /// v1 is a direction: x ← x − η·v1.
    #[default]
    Subtract,
    /// v1 is the next iterate: x ← v1.
    Assign,
    /// v1 is the answer, one number for each row of A; x is an input and never changes.
    Answer,
    /// v1 is the answer, the rows of a matrix of n columns one after the other; x is never used.
    Basis,
}

impl Update {
    /// All updates.
    pub const ALL: [Update; 4] = [Update::Subtract, Update::Assign, Update::Answer, Update::Basis];

    /// The name in the text format.
    pub fn name(self) -> &'static str {
        match self {
            Update::Subtract => "subtract",
            Update::Assign => "assign",
            Update::Answer => "answer",
            Update::Basis => "basis",
        }
    }

    /// Whether v1 is the answer, and x never changes.
    pub fn is_answer(self) -> bool {
        matches!(self, Update::Answer | Update::Basis)
    }

    /// The text of a program with this update, which parses to the same program and update; the default is not
    /// written.
    pub fn text(self, program: &Program) -> String {
        match self {
            Update::Subtract => program.to_string(),
            other => format!("update: {}\n{program}", other.name()),
        }
    }

    /// The formula of the update.
    pub fn formula(self) -> &'static str {
        match self {
            Update::Subtract => "x ← x − η·v1",
            Update::Assign => "x ← v1",
            Update::Answer => "y = v1",
            Update::Basis => "Q = v1",
        }
    }

    /// The dimension of `v1`; `None` if it may have any number of rows of length n.
    fn length(self) -> Option<Dim> {
        match self {
            Update::Subtract | Update::Assign => Some(Dim::Cols),
            Update::Answer => Some(Dim::Rows),
            Update::Basis => None,
        }
    }

    /// Flops of the update.
    pub(super) fn flops(self) -> Poly {
        match self {
            Update::Subtract => Poly::number(2.0) * Poly::dim(Dim::Cols),
            Update::Assign | Update::Answer | Update::Basis => Poly::default(),
        }
    }

    /// Both sides of the equation of one iteration, given formulas of x and v1; the left one in text and in LaTeX.
    pub(super) fn equation(self, x: Expr, v1: Expr) -> ([&'static str; 2], Expr) {
        let next = ["xₜ₊₁", "x_{t+1}"];
        match self {
            Update::Subtract => (next, Expr::difference(x, Expr::product([Expr::eta(), v1]))),
            Update::Assign => (next, v1),
            Update::Answer => (["y", "y"], v1),
            Update::Basis => (["Q", "Q"], v1),
        }
    }
}

/// What type checking needs to know of a problem. A bare [`Geometry`] stands for a linear system of that shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Signature {
    /// The shape of the data.
    pub geometry: Geometry,
    /// The input registers.
    pub inputs: RegSet,
    /// The update rule.
    pub update: Update,
}

impl Signature {
    /// The signature of a problem of this shape with the inputs of every task.
    pub fn new(geometry: Geometry, update: Update) -> Signature {
        Signature { geometry, inputs: RegSet::common_inputs(), update }
    }

    /// The same with the inputs that a program reads besides.
    #[must_use]
    pub fn reading(self, program: &Program) -> Signature {
        let more = program.instructions().any(|(_, _, ins)| ins.reads().contains(Reg::LAMBDA));
        let inputs = if more { self.inputs.with(Reg::LAMBDA) } else { self.inputs };
        Signature { inputs, ..self }
    }

    /// Whether `v1` may have this type at the end of an iteration.
    pub fn accepts(self, ty: Type) -> bool {
        match self.update.length() {
            Some(dim) => ty == Type::Vector(self.geometry.dim(dim)),
            None => matches!(ty, Type::Vector(Dim::Entries { .. })),
        }
    }

    /// The type that `v1` must have at the end of an iteration, in words.
    pub fn needs(self) -> String {
        match self.update.length() {
            Some(dim) => Type::Vector(self.geometry.dim(dim)).to_string(),
            None => "vector of rows of length n, from MAT_ROWS".into(),
        }
    }
}

impl From<Geometry> for Signature {
    fn from(geometry: Geometry) -> Signature {
        Signature::new(geometry, Update::Subtract)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_update() {
        let program: Program = "iteration:\n v1 = VEC_NORMALIZE(x)\n".parse().unwrap();
        for update in Update::ALL {
            let read: crate::program::Document = update.text(&program).parse().unwrap();
            assert_eq!((read.update, &read.program), (update, &program));
        }
        assert_eq!(Update::Subtract.text(&program), program.to_string());
    }

    #[test]
    fn an_answer_is_as_long_as_the_data() {
        let accepts = |geometry, update, dim| Signature::new(geometry, update).accepts(Type::Vector(dim));
        assert!(accepts(Geometry::Tall, Update::Answer, Dim::Rows));
        assert!(accepts(Geometry::Square, Update::Answer, Dim::Cols));
        assert!(accepts(Geometry::Tall, Update::Assign, Dim::Cols));
        let twice = Dim::Sketch.above(Dim::Sketch).unwrap();
        assert!(accepts(Geometry::Tall, Update::Basis, twice.entries().unwrap()));
        assert!(!accepts(Geometry::Tall, Update::Basis, twice));
        assert!(!accepts(Geometry::Tall, Update::Basis, Dim::Cols));
    }
}
