//! What an operator is: a row that drives the grammar, the parser, typing, cost, formulas and help.

use super::ast::Section;
use super::datum::Datum;
use super::expr::{Expr, Names};
use super::extension::EXTENSIONS;
use super::operators::OPERATORS;
use super::poly::Poly;
use super::register::Reg;
use super::registry::{Registry, Taken};
use super::rules::*;
use super::types::{Dim, Pattern, Size, Structure, Type};
use crate::linalg::NumericError;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

static REGISTERED: Registry<Op> = Registry::new();

/// Where an operator may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    /// Only in setup.
    Setup,
    /// Anywhere.
    Both,
}

impl Sections {
    /// Whether an operator may stand in `section`.
    pub fn allow(self, section: Section) -> bool {
        self == Sections::Both || section == Section::Setup
    }
}

/// One way to call an operator.
#[derive(Debug)]
pub struct Form {
    /// What it takes.
    pub operands: &'static [Pattern],
    /// What it gives.
    pub result: Pattern,
}

/// An operand with its type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg {
    /// The register read.
    pub reg: Reg,
    /// What it holds.
    pub ty: Type,
}

/// As operators are listed: what it takes, and what it gives.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let operands: Vec<String> = self.operands.iter().map(Pattern::to_string).collect();
        write!(f, "({}) → {}", operands.join(", "), self.result)
    }
}

/// A row of the operator table.
pub struct Operator {
    /// Its name in programs.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The ways to call it; the first that fits is taken.
    pub forms: &'static [Form],
    /// Where it may stand.
    pub sections: Sections,
    /// Whether its two operands may be exchanged.
    pub commutative: bool,
    /// What is known of a matrix it makes.
    pub structure: fn(&[Arg]) -> Structure,
    /// Floating-point operations.
    pub flops: fn(&[Arg]) -> Poly,
    /// Floating-point operations as the paper's released code charges them.
    pub released_flops: fn(&[Arg]) -> Poly,
    /// Whether a shorter or plainer call gives the same value, so that a search need not offer this one.
    pub redundant: fn(&[Arg]) -> bool,
    /// What it computes, as a formula.
    pub formula: fn(&[Arg], Vec<Expr>, &mut Names) -> Expr,
    /// How it computes it.
    pub compute: Compute,
}

/// The arithmetic of an operator.
#[derive(Clone, Copy)]
pub enum Compute {
    /// One of the paper's: the executor knows it, and what of it can be shared, drawn or reduced.
    Core,
    /// A function of the operands' values. A result that is not finite counts as a failure.
    Pure(fn(&[&Datum]) -> Result<Datum, NumericError>),
}

impl Operator {
    /// An operator that may stand anywhere and of which nothing special is known: a row says what differs.
    pub const PLAIN: Operator = Operator {
        name: "",
        doc: "",
        forms: &[],
        sections: Sections::Both,
        commutative: false,
        structure: general,
        flops: length,
        released_flops: length,
        redundant: never,
        formula: |_, exprs, _| Expr::call("f", "f", exprs),
        compute: Compute::Core,
    };

    /// Whether it replaces the pair `A, b` by a sample of its rows.
    pub fn samples(&self) -> bool {
        matches!(self.forms[0].result, Pattern::System(_))
    }

    /// Whether it draws a sketch.
    pub fn sketches(&self) -> bool {
        self.forms[0].result == Pattern::Matrix(Size::Is(Dim::Sketch), Size::A)
    }

    /// Whether chance has a part in its result.
    pub fn draws(&self) -> bool {
        self.samples() || self.sketches()
    }
}

/// An operator: a reference to its row. Equality, order and hash are those of the name.
#[derive(Clone, Copy)]
pub struct Op(pub &'static Operator);

impl Op {
    /// The operator of this name: one of the paper's, or one that a task adds.
    pub fn named(name: &str) -> Option<Op> {
        Op::known().find(|op| op.name == name)
    }

    /// The paper's operators, in the order of its appendix A.
    pub fn all() -> impl Iterator<Item = Op> {
        OPERATORS.iter().map(Op)
    }

    /// Whether it is one of the paper's.
    pub fn is_core(self) -> bool {
        matches!(self.compute, Compute::Core)
    }

    /// Every operator: the paper's, those that the tasks of this crate add, and those registered since.
    pub fn known() -> impl Iterator<Item = Op> {
        Op::all().chain(EXTENSIONS.iter().map(Op)).chain(REGISTERED.all())
    }

    /// Makes an operator known by its name to all who read programs. Once is enough; a second of the same name is
    /// refused.
    ///
    /// # Panics
    /// If the row has no form, forms of different numbers of operands or of more than four, samples, or brings no
    /// arithmetic: these are faults of the table.
    pub fn register(row: &'static Operator) -> Result<Op, Taken> {
        assert!(!row.forms.is_empty(), "{} has no form", row.name);
        let operands = row.forms[0].operands.len();
        let alike = row.forms.iter().all(|form| form.operands.len() == operands);
        assert!(alike && operands <= 4, "{}: every form takes the same one to four operands", row.name);
        let pure = matches!(row.compute, Compute::Pure(_)) && !row.samples();
        assert!(pure, "{} needs a function to compute it: `compute: Compute::Pure(…)`", row.name);
        REGISTERED.add(Op(row), |known| known.name == row.name, Op::all().chain(EXTENSIONS.iter().map(Op)))
    }
}

impl std::ops::Deref for Op {
    type Target = Operator;
    fn deref(&self) -> &Operator {
        self.0
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        self.name == other.name
    }
}
impl Eq for Op {}
impl PartialOrd for Op {
    fn partial_cmp(&self, other: &Op) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Op {
    fn cmp(&self, other: &Op) -> Ordering {
        self.name.cmp(other.name)
    }
}
impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The single or the two formulas of an operator's operands.
pub(super) fn take<const N: usize>(exprs: Vec<Expr>) -> [Expr; N] {
    exprs.try_into().expect("typing gives an operator as many operands as its form has")
}

#[cfg(test)]
mod tests {
    use super::super::types::Pattern::{Matrix, Nothing, Scalar, System, Upper, Vector, Weights};
    use super::super::types::Size::Is;
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: std::collections::BTreeSet<_> = Op::known().map(|op| op.name).collect();
        assert_eq!((Op::all().count(), names.len()), (17, OPERATORS.len() + EXTENSIONS.len()));
        assert!(Op::known().all(|op| Op::named(op.name) == Some(op)));
        assert!(Op::register(&EXTENSIONS[0]).is_err());
    }

    #[test]
    fn every_size_of_a_result_is_bound_by_the_operands() {
        fn sizes(pattern: Pattern) -> Vec<Size> {
            match pattern {
                Nothing | Scalar => vec![],
                Vector(a) | Upper(a) | Weights(a) | System(a) => vec![a],
                Matrix(a, b) => vec![a, b],
            }
        }
        for op in Op::known() {
            for form in op.forms {
                let bound: Vec<Size> = form.operands.iter().copied().flat_map(sizes).collect();
                for size in sizes(form.result) {
                    assert!(matches!(size, Is(_)) || bound.contains(&size), "{op}");
                }
            }
        }
    }
}
