//! Units and affine types: which formulas make sense whatever the data are measured in.
//!
//! A has the unit a, b the unit b, and therefore x the unit b/a. Sums need equal units, so that a program does not
//! depend on the units of its data. x, b and Ax are points of affine spaces: the difference of two points is a vector,
//! and only vectors can be scaled, projected or have an inner product. In setup the origin is x = 0, so that there
//! points may be mapped like vectors.

use super::ast::{Instruction, Program, Section};
use super::core_operator::Core;
use super::op::{Arg, Compute, Op};
use super::register::{Access, Reg};
use super::types::{Dim, Type};
use std::fmt;

/// A unit aᵖ·bᵠ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct DataUnit {
    /// The power of the unit of A.
    pub a: i8,
    /// The power of the unit of b.
    pub b: i8,
}

impl DataUnit {
    /// A pure number.
    pub const NONE: DataUnit = DataUnit { a: 0, b: 0 };

    /// A probability.
    pub const PROBABILITY: DataUnit = DataUnit { a: 0, b: 2 };

    /// The unit of a product.
    pub fn times(self, other: DataUnit) -> DataUnit {
        DataUnit { a: self.a.saturating_add(other.a), b: self.b.saturating_add(other.b) }
    }

    /// The unit of a quotient.
    pub fn per(self, other: DataUnit) -> DataUnit {
        DataUnit { a: self.a.saturating_sub(other.a), b: self.b.saturating_sub(other.b) }
    }

    /// The unit of a square root, if there is one.
    pub fn root(self) -> Option<DataUnit> {
        (self.a % 2 == 0 && self.b % 2 == 0).then_some(DataUnit { a: self.a / 2, b: self.b / 2 })
    }
}

impl fmt::Display for DataUnit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            DataUnit::NONE => f.write_str("1"),
            DataUnit { a, b: 0 } => write!(f, "a^{a}"),
            DataUnit { a: 0, b } => write!(f, "b^{b}"),
            DataUnit { a, b } => write!(f, "a^{a}·b^{b}"),
        }
    }
}

/// Whether a value is a point of an affine space or a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Affinity {
    /// A position: differences of points are vectors.
    Point,
    /// A displacement, or a linear map, or a number.
    Vector,
}

/// The unit of a value, and whether it is a point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DataQuantity {
    /// Its unit.
    pub unit: DataUnit,
    /// Whether it is a point.
    pub affinity: Affinity,
}

impl DataQuantity {
    /// A vector, map or number with this unit.
    pub const fn vector(unit: DataUnit) -> DataQuantity {
        DataQuantity { unit, affinity: Affinity::Vector }
    }

    /// A point with this unit.
    pub const fn point(unit: DataUnit) -> DataQuantity {
        DataQuantity { unit, affinity: Affinity::Point }
    }

    /// The quantity of the result of a call on these registers. A maps points to points whatever its shape.
    pub fn of_call(
        op: Op,
        args: &[Arg],
        held: &[DataQuantity],
        section: Section,
    ) -> Result<DataQuantity, UnitFault> {
        let operands: Vec<(Type, DataQuantity)> =
            args.iter().map(|arg| arg.ty).zip(held.iter().copied()).collect();
        match (args, held) {
            ([map, _], [of, point]) if op.is(Core::MatVecMul) && map.reg == Reg::A => {
                Ok(DataQuantity { unit: of.unit.times(point.unit), ..*point })
            }
            _ => DataQuantity::of(op, &operands, section),
        }
    }

    /// The quantity of a result, or why the operator does not apply to these operands.
    pub fn of(
        op: Op,
        operands: &[(Type, DataQuantity)],
        section: Section,
    ) -> Result<DataQuantity, UnitFault> {
        let unit = |i: usize| operands[i].1.unit;
        let is_point = |i: usize| operands[i].1.affinity == Affinity::Point;
        let all_vectors = section == Section::Setup || (0..operands.len()).all(|i| !is_point(i));
        let linear = |unit: DataUnit| match (all_vectors, (0..operands.len()).any(is_point)) {
            (false, _) => Err(UnitFault::Point),
            (true, true) => Ok(DataQuantity::point(unit)),
            (true, false) => Ok(DataQuantity::vector(unit)),
        };
        let core = match op.compute {
            Compute::Core(core) => core,
            Compute::Previous => return Ok(operands[0].1),
            Compute::Refresh if operands[0].1 == operands[1].1 => return Ok(operands[0].1),
            Compute::Refresh if unit(0) == unit(1) => return Err(UnitFault::Point),
            Compute::Refresh => return Err(UnitFault::Sum(unit(0), unit(1))),
            Compute::Pure(_) | Compute::Sketching(_) => {
                let rule = op.units.ok_or(UnitFault::Unknown)?;
                return rule(&operands.iter().map(|(_, quantity)| *quantity).collect::<Vec<_>>());
            }
        };
        match core {
            Core::VecVecAdd | Core::VecVecSub if unit(0) != unit(1) => Err(UnitFault::Sum(unit(0), unit(1))),
            Core::VecVecAdd => match (is_point(0), is_point(1)) {
                (true, true) => Err(UnitFault::Point),
                (false, false) => Ok(DataQuantity::vector(unit(0))),
                _ => Ok(DataQuantity::point(unit(0))),
            },
            Core::VecVecSub => match (is_point(0), is_point(1)) {
                (false, true) => Err(UnitFault::Point),
                (true, false) => Ok(DataQuantity::point(unit(0))),
                _ => Ok(DataQuantity::vector(unit(0))),
            },
            // The image of a point under A is a point; other maps are differences of such images.
            Core::MatVecMul if is_point(1) && maps_points(operands[0].0) => {
                Ok(DataQuantity::point(unit(0).times(unit(1))))
            }
            Core::MatVecMul | Core::VecMatMul | Core::ScalarVecMul => linear(unit(0).times(unit(1))),
            Core::VecVecDot if all_vectors => Ok(DataQuantity::vector(unit(0).times(unit(1)))),
            Core::VecVecDot => Err(UnitFault::Point),
            Core::ScalarDiv => Ok(DataQuantity::vector(unit(0).per(unit(1)))),
            Core::MatMatMul | Core::MatMatTransMul | Core::MatTransMatMul => {
                Ok(DataQuantity::vector(unit(0).times(unit(1))))
            }
            Core::MatInv => Ok(DataQuantity::vector(DataUnit::NONE.per(unit(0)))),
            Core::TriangularSolve => {
                let matrix = usize::from(matches!(operands[1].0, Type::Matrix(..)));
                linear(unit(1 - matrix).per(unit(matrix)))
            }
            Core::Hhqr | Core::Sketch => Ok(operands[0].1),
            Core::Subsampling | Core::LeverageScore | Core::DoNothing => {
                Ok(DataQuantity::vector(DataUnit::NONE))
            }
        }
    }
}

/// The units of the data of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskUnits {
    /// The unit of A.
    pub a: DataUnit,
    /// What b holds.
    pub b: DataQuantity,
    /// What x holds.
    pub x: DataQuantity,
    /// The unit of λ.
    pub lambda: DataUnit,
}

impl TaskUnits {
    /// Linear systems: b is a point with a unit of its own, and A maps the points x to such points.
    pub const LINEAR: TaskUnits = TaskUnits {
        b: DataQuantity::point(DataUnit { a: 0, b: 1 }),
        x: DataQuantity::point(DataUnit { a: -1, b: 1 }),
        ..TaskUnits::RIDGE
    };

    /// Ridge regression, where x = 0 is no longer a point like any other: x and b are vectors, and λ has the unit of
    /// AᵀA.
    pub const RIDGE: TaskUnits = TaskUnits {
        a: DataUnit { a: 1, b: 0 },
        b: DataQuantity::vector(DataUnit { a: 0, b: 1 }),
        x: DataQuantity::vector(DataUnit { a: -1, b: 1 }),
        lambda: DataUnit { a: 2, b: 0 },
    };

    /// Symmetric positive semidefinite systems: A has the unit a² of a Gram matrix, so that its factors have a unit too.
    pub const SEMIDEFINITE: TaskUnits = TaskUnits {
        a: DataUnit { a: 2, b: 0 },
        b: DataQuantity::vector(DataUnit { a: 1, b: 1 }),
        ..TaskUnits::RIDGE
    };

    /// Logistic regression: x maps to log-odds Ax, which are pure numbers, and b holds probabilities. These have the
    /// unit b², so that the root of a slope of σ, which scales the rows of A, has the unit b.
    pub const LOGISTIC: TaskUnits = TaskUnits {
        b: DataQuantity::point(DataUnit::PROBABILITY),
        x: DataQuantity::point(DataUnit { a: -1, b: 0 }),
        ..TaskUnits::RIDGE
    };

    /// The quantity that a register holds at the start of a program; `None` if any would do.
    pub fn given(self, reg: Reg) -> Option<DataQuantity> {
        match reg {
            Reg::A => Some(DataQuantity::vector(self.a)),
            Reg::LAMBDA => Some(DataQuantity::vector(self.lambda)),
            Reg::B => Some(self.b),
            Reg::X => Some(self.x),
            Reg::D => Some(DataQuantity::vector(self.x.unit)),
            // Carried registers start at zero, which has every unit.
            reg if reg.access() == Access::Carried => None,
            _ => Some(DataQuantity::vector(DataUnit::NONE)),
        }
    }
}

/// The quantities in all registers at one point of a program; `None` for those that any quantity would suit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Quantities([Option<DataQuantity>; Reg::COUNT]);

impl Quantities {
    /// Those at the start of a program.
    pub fn start(units: TaskUnits) -> Quantities {
        let mut held = Quantities([None; Reg::COUNT]);
        Reg::all().for_each(|reg| held.0[reg.index()] = units.given(reg));
        held
    }

    /// Those at the start of the second iteration, from those at the end of the first.
    fn second(&self, units: TaskUnits) -> Quantities {
        let mut held = Quantities::start(units);
        for reg in Reg::carried() {
            held.0[reg.index()] = self.get(reg);
        }
        held
    }

    /// The quantity in a register.
    pub fn get(&self, reg: Reg) -> Option<DataQuantity> {
        self.0[reg.index()]
    }

    /// The quantity of an operator's result; `None` if it depends on one that is not known.
    pub fn result(&self, op: Op, args: &[Arg], section: Section) -> Result<Option<DataQuantity>, UnitFault> {
        let held: Option<Vec<DataQuantity>> = args.iter().map(|arg| self.get(arg.reg)).collect();
        held.map(|held| DataQuantity::of_call(op, args, &held, section)).transpose()
    }

    /// Writes a quantity to a register.
    pub fn write(&mut self, reg: Reg, quantity: Option<DataQuantity>) {
        self.0[reg.index()] = quantity;
    }

    /// Applies an instruction. A sample of rows has the units of the whole system.
    pub fn step(
        &mut self,
        instruction: &Instruction,
        args: &[Arg],
        section: Section,
    ) -> Result<(), UnitFault> {
        if let Some(target) = instruction.target.filter(|_| !instruction.op.samples()) {
            let result = self.result(instruction.op, args, section)?;
            self.write(target, result);
        }
        Ok(())
    }

    /// Whether v1 can be a step: it is not a point.
    pub fn moves(&self) -> bool {
        self.get(Reg::V1).is_none_or(|v1| v1.affinity == Affinity::Vector)
    }
}

/// Whether a matrix maps x-space to the space of b or of its sketch.
fn maps_points(ty: Type) -> bool {
    matches!(ty, Type::Matrix(rows, Dim::Cols, _) if rows != Dim::Cols)
}

/// Why an operator does not apply to the units of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitFault {
    /// A sum of different units.
    Sum(DataUnit, DataUnit),
    /// An operand with this unit, where the operator needs another one.
    Operand(DataUnit),
    /// A point where a vector is needed.
    Point,
    /// A vector where a point is needed.
    Displacement,
    /// Nothing is known of the units of this operator.
    Unknown,
}

impl fmt::Display for UnitFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            UnitFault::Sum(one, other) => write!(f, "adds values with the units {one} and {other}"),
            UnitFault::Operand(unit) => write!(f, "does not apply to a value with the unit {unit}"),
            UnitFault::Point => {
                f.write_str("uses a point, such as x or b, where only a difference makes sense")
            }
            UnitFault::Displacement => f.write_str("uses a difference where a point, such as Ax, is needed"),
            UnitFault::Unknown => f.write_str("nothing is known of the units of this operator"),
        }
    }
}

/// The unit that η has in a well-typed program with the update x ← x − η·v1: 1 if its step does not depend on the
/// units of the data. An error names the first instruction that does not fit, and why.
///
/// ```
/// use rl4rla::program::{DataUnit, Entry, Geometry, unit_of_step};
/// let unit = |name| unit_of_step(&Entry::named(name).unwrap().document.program, Geometry::Tall.into()).unwrap();
/// assert_eq!(unit("ls-gd"), DataUnit { a: -2, b: 0 });
/// assert_eq!(unit("sketched-precond-gd-factored"), DataUnit::NONE);
/// ```
pub fn unit_of_step(program: &Program, signature: super::Signature) -> Result<DataUnit, (usize, UnitFault)> {
    TaskUnits::LINEAR.of_step(program, signature)
}

impl TaskUnits {
    /// The same for the data of another task.
    pub fn of_step(
        self,
        program: &Program,
        signature: super::Signature,
    ) -> Result<DataUnit, (usize, UnitFault)> {
        let Ok(typed) = super::check(program, signature) else { return Err((0, UnitFault::Unknown)) };
        // What the carried registers hold is known after the first iteration.
        let first = registers(&typed, Quantities::start(self))?;
        let last = registers(&typed, first.second(self))?;
        let Some(v1) = last.get(Reg::V1) else { return Ok(DataUnit::NONE) };
        match v1.affinity {
            Affinity::Vector => Ok(self.x.unit.per(v1.unit)),
            Affinity::Point => Err((program.len(), UnitFault::Point)),
        }
    }
}

fn registers(typed: &[super::Typed], mut held: Quantities) -> Result<Quantities, (usize, UnitFault)> {
    for (i, step) in typed.iter().enumerate() {
        held.step(step.instruction, &step.args, step.section).map_err(|fault| (i, fault))?;
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Entry, Geometry};

    fn unit(text: &str) -> Result<DataUnit, (usize, UnitFault)> {
        unit_of_step(&text.parse().unwrap(), Geometry::Tall.into())
    }

    #[test]
    fn programs_of_the_literature_are_well_typed() {
        for name in ["ls-gd", "precond-gd", "sketched-precond-gd", "sketched-precond-gd-factored", "cgls"] {
            let program = &Entry::named(name).unwrap().document.program;
            assert!(unit_of_step(program, Geometry::Tall.into()).is_ok(), "{name}");
        }
        let invariant = Entry::named("cgls").unwrap();
        assert_eq!(unit_of_step(&invariant.document.program, Geometry::Tall.into()), Ok(DataUnit::NONE));
    }

    #[test]
    fn sums_need_equal_units_and_products_need_vectors() {
        let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let sum = format!("iteration:\n {gradient} v1 = VEC_VEC_ADD(v1, d)\n");
        assert!(matches!(unit(&sum), Err((3, UnitFault::Sum(..)))));
        let point = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(unit(point), Err((1, UnitFault::Point)));
        let end = "iteration:\n v1 = VEC_VEC_ADD(x, d)\n";
        assert_eq!(unit(end), Err((1, UnitFault::Point)));
    }

    #[test]
    fn in_setup_points_are_seen_from_zero() {
        let start = "setup:\n R1 = HHQR(A)\n v2 = VEC_MAT_MUL(b, A)\n v2 = TRIANGULAR_SOLVE(v2, R1)\n \
                     v2 = TRIANGULAR_SOLVE(R1, v2)\niteration:\n v1 = VEC_VEC_SUB(x, v2)\n";
        assert_eq!(unit(start), Ok(DataUnit::NONE));
    }

    fn logistic(iteration: &str) -> Result<DataUnit, (usize, UnitFault)> {
        let program = format!("iteration:\n{iteration}").parse().unwrap();
        TaskUnits::LOGISTIC.of_step(&program, Geometry::Tall.into())
    }

    #[test]
    fn newtons_step_has_the_unit_of_the_weights() {
        let unit = |name: &str| {
            let program = &Entry::named(name).unwrap().document.program;
            TaskUnits::LOGISTIC.of_step(program, Geometry::Tall.into())
        };
        assert_eq!(unit("newton"), Ok(DataUnit::NONE));
        assert_eq!(unit("newton-sketch"), Ok(DataUnit::NONE));
        assert_eq!(
            unit("logistic-gd"),
            Ok(DataUnit { a: -2, b: -2 }),
            "the gradient has a step size to choose"
        );
    }

    #[test]
    fn log_odds_and_probabilities_are_told_apart() {
        let odds = " v1 = MAT_VEC_MUL(A, x)\n";
        let misfit = |more: &str| logistic(&format!("{odds}{more} v1 = VEC_MAT_MUL(v1, A)\n"));
        let unit = DataUnit::PROBABILITY;
        assert_eq!(misfit(" v1 = VEC_VEC_SUB(v1, b)\n"), Err((1, UnitFault::Sum(DataUnit::NONE, unit))));
        assert_eq!(misfit(" v1 = VEC_SIGMOID(v1)\n v1 = VEC_VEC_ADD(v1, b)\n"), Err((2, UnitFault::Point)));
        assert_eq!(
            misfit(" v1 = VEC_SIGMOID(v1)\n v1 = VEC_SIGMOID(v1)\n"),
            Err((2, UnitFault::Operand(unit)))
        );
        assert_eq!(misfit(" v1 = VEC_DSIGMOID(v1)\n"), Err((1, UnitFault::Operand(DataUnit::NONE))));
        assert_eq!(
            misfit(" v1 = MAT_VEC_MUL(A, d)\n v1 = VEC_SIGMOID(v1)\n"),
            Err((2, UnitFault::Displacement))
        );
        let scaled = "v1 = VEC_SIGMOID(v1)\n R1 = VEC_MAT_SCALE(v1, A)\n";
        assert_eq!(misfit(scaled), Err((2, UnitFault::Point)), "a probability is no weight");
    }
}
