//! The definition of an operator: a row used by the grammar, the parser, typing, cost, formulas and help.

use super::ast::Section;
use super::core_operator::Core;
use super::datum::Datum;
use super::expr::{Expr, Names};
use super::extension::EXTENSIONS;
use super::operators::OPERATORS;
use super::poly::Poly;
use super::register::Reg;
use super::registry::{Registry, Taken};
use super::rules::*;
use super::template::{CallShape, Templates};
use super::types::{Dim, Pattern, Structure, Type};
use super::units::{DataQuantity, UnitFault};
use crate::linalg::NumericError;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

static REGISTERED: Registry<Op> = Registry::new();

/// Where an operator is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    /// Only in setup.
    Setup,
    /// Only in the iteration.
    Iteration,
    /// Anywhere.
    Both,
}

impl Sections {
    /// Whether an operator is allowed in `section`.
    pub fn allow(self, section: Section) -> bool {
        match self {
            Sections::Setup => section == Section::Setup,
            Sections::Iteration => section == Section::Iteration,
            Sections::Both => true,
        }
    }
}

/// One signature of an operator.
#[derive(PartialEq, Debug)]
pub struct Form {
    /// The operands.
    pub operands: &'static [Pattern],
    /// The result.
    pub result: Pattern,
}

/// An operand with its type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg {
    /// The register read.
    pub reg: Reg,
    /// Its type.
    pub ty: Type,
}

/// As operators are listed: operands and result.
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
    /// The signatures; the first that fits is used.
    pub forms: &'static [Form],
    /// Where it is allowed.
    pub sections: Sections,
    /// Whether its two operands may be exchanged.
    pub commutative: bool,
    /// The known structure of a matrix result.
    pub structure: fn(&[Arg]) -> Structure,
    /// Floating-point operations.
    pub flops: fn(&[Arg]) -> Poly,
    /// Flops by the cost model of the paper's released code.
    pub released_flops: fn(&[Arg]) -> Poly,
    /// Whether a shorter or simpler call gives the same value, so that a search need not offer this one.
    pub redundant: fn(&[Arg]) -> bool,
    /// The formula of the result.
    pub formula: fn(&[Arg], Vec<Expr>, &mut Names) -> Expr,
    /// The arithmetic.
    pub compute: Compute,
    /// The quantity of the result of an operator that a task adds; `None` if nothing is known of its units.
    pub units: Option<UnitRule>,
    /// Whether an operator that a task adds needs the true entries along a dimension. Along all others, its result is the
    /// same in any orthonormal coordinates. The executor knows the paper's operators without it.
    pub fixes: fn(&[Arg], Dim) -> bool,
    /// Whether it reads a matrix in parts of rows, so that data may be sparse or in a file. The executor knows the paper's
    /// operators without it.
    pub streams: bool,
    /// Worst-case ratio of the actual work to `flops`, if no operand is triangular.
    pub slowdown: f64,
    /// Algebraic properties of the result. The algebra knows the paper's operators without it.
    pub meaning: Meaning,
    /// How exported code writes it; `None` if programs that use it cannot be exported.
    pub export: Option<Templates>,
    /// How exported code writes calls with special operand types.
    pub export_when: &'static [(CallShape, Templates)],
}

/// The quantity of a result, by those of the operands.
pub type UnitRule = fn(&[DataQuantity]) -> Result<DataQuantity, UnitFault>;

/// The arithmetic of an operator.
#[derive(Clone, Copy)]
pub enum Compute {
    /// One of the paper's operators: the executor knows how to compute, share and reduce it.
    Core(Core),
    /// A function of the operands' values. A result that is not finite counts as a failure.
    Pure(fn(&[&Datum]) -> Result<Datum, NumericError>),
    /// A function of the operands' values and of the random S of SKETCH, given as the map from M to SM.
    Sketching(SketchingFunction),
    /// The operand as it was at this instruction in the iteration before; in the first iteration, as it is.
    Previous,
    /// The first operand in the iterations 0, k, 2k, …, the second in all others; what only the other one needs is not
    /// computed.
    Refresh,
}

/// What an operator computes from its operands and the random S of SKETCH, given as the map from M to SM.
pub type SketchingFunction = fn(&[&Datum], &dyn Fn(&Datum) -> Datum) -> Result<Datum, NumericError>;

/// Algebraic properties of an operator that a task adds, by which equivalent programs are recognized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A function of the operands, with no further properties.
    Function,
    /// MᵀM for an operand M.
    Gram,
    /// The R of RᵀR = MᵀM for an operand M.
    Factor,
    /// M⁻¹v for operands M and v; an error for a singular M.
    Solution,
    /// diag(√v) M for operands v and M.
    RowScaling,
    /// v/‖v‖ for an operand v.
    UnitVector,
    /// σ(v) for an operand v, entrywise: positive.
    Sigmoid,
    /// p(1 − p) for an operand p, entrywise: positive if p is a sigmoid.
    SigmoidSlope,
    /// The R of RᵀR = MᵀM + αI for operands M and α: a function of MᵀM and α.
    ShiftedFactor,
}

impl Operator {
    /// Defaults of an operator: allowed everywhere, no known structure; a row overrides what differs.
    pub const PLAIN: Operator = Operator {
        name: "",
        doc: "",
        forms: &[],
        sections: Sections::Both,
        commutative: false,
        structure: general,
        flops: length,
        released_flops: length,
        streams: false,
        redundant: never,
        formula: |_, exprs, _| Expr::call("f", "f", exprs),
        compute: Compute::Core(Core::DoNothing),
        units: None,
        fixes: has_dimension,
        slowdown: 1.0,
        meaning: Meaning::Function,
        export: None,
        export_when: &[],
    };

    /// Whether it is this operator of the paper.
    pub fn is(&self, core: Core) -> bool {
        self.is_core_at(core as usize)
    }

    /// Whether it is the paper's operator with this index.
    pub(super) const fn is_core_at(&self, place: usize) -> bool {
        matches!(self.compute, Compute::Core(core) if core as usize == place)
    }

    /// Whether it replaces the pair `A, b` by a sample of its rows.
    pub fn samples(&self) -> bool {
        self.is(Core::Subsampling)
    }

    /// Whether it draws a sketch.
    pub fn sketches(&self) -> bool {
        self.is(Core::Sketch) || matches!(self.compute, Compute::Sketching(_))
    }

    /// Whether it remembers its operand from one iteration to the next.
    pub fn remembers(&self) -> bool {
        matches!(self.compute, Compute::Previous)
    }

    /// Whether it takes its first operand every k iterations only.
    pub fn refreshes(&self) -> bool {
        matches!(self.compute, Compute::Refresh)
    }

    /// Whether its result is random.
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
        matches!(self.compute, Compute::Core(_))
    }

    /// The built-in operators.
    fn built_in() -> impl Iterator<Item = Op> {
        Op::all().chain(EXTENSIONS.iter().copied().flatten().map(Op))
    }

    /// Every operator: the paper's, those added by the tasks of this crate, and registered ones.
    pub fn known() -> impl Iterator<Item = Op> {
        Op::built_in().chain(REGISTERED.all())
    }

    /// Registers an operator by its name, for all programs parsed from here on; an error if the name is taken.
    ///
    /// # Panics
    /// If the row has no signature, has signatures with different numbers of operands or with more than four,
    /// samples, has no arithmetic, claims a meaning with other signatures than the built-in operator with that
    /// meaning, or has an export template with a placeholder that no operand fills: these are errors in the table.
    pub fn register(row: &'static Operator) -> Result<Op, Taken> {
        assert!(!row.forms.is_empty(), "{} has no form", row.name);
        let operands = row.forms[0].operands.len();
        let alike = row.forms.iter().all(|form| form.operands.len() == operands);
        assert!(alike && operands <= 4, "{}: every form takes the same one to four operands", row.name);
        let samples = row.forms.iter().any(|form| matches!(form.result, Pattern::System(_)));
        let pure = matches!(row.compute, Compute::Pure(_)) && !samples;
        assert!(pure, "{} needs a function to compute it: `compute: Compute::Pure(…)`", row.name);
        let alike = |known: Op| known.meaning == row.meaning && known.forms == row.forms;
        let meant = row.meaning == Meaning::Function || Op::built_in().any(alike);
        assert!(meant, "{} has not the forms of its meaning, {:?}", row.name, row.meaning);
        if let Some(text) = row.faulty_template() {
            panic!("{} is exported as `{text}`, which names more than its operands", row.name);
        }
        REGISTERED.add(Op(row), |known| known.name == row.name, Op::built_in())
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

/// The formulas of an operator's operands, as an array.
pub(super) fn take<const N: usize>(exprs: Vec<Expr>) -> [Expr; N] {
    exprs.try_into().expect("typing gives an operator as many operands as its form has")
}

#[cfg(test)]
mod tests {
    use super::super::types::Pattern::{Matrix, Nothing, Scalar, System, Upper, Vector, Weights};
    use super::super::types::Size::{self, Is};
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: std::collections::BTreeSet<_> = Op::known().map(|op| op.name).collect();
        assert_eq!((Op::all().count(), names.len()), (17, Op::built_in().count()));
        assert!(Op::known().all(|op| Op::named(op.name) == Some(op)));
        assert!(Op::register(&EXTENSIONS[0][0]).is_err());
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
                    let parts = match size {
                        Is(_) => vec![],
                        Size::AaboveC => vec![Size::A, Size::C],
                        Size::AaboveOne | Size::EntriesOfA => vec![Size::A],
                        size => vec![size],
                    };
                    assert!(parts.iter().all(|part| bound.contains(part)), "{op}");
                }
            }
        }
    }
}
