//! Identities: a hash that is equal for programs whose runs are equal.
//!
//! Values are numbered by the operations that compute them. Two values have the same number if floating-point
//! arithmetic makes them equal, at most up to the signs of zeros:
//!
//! u + v = v + u,  u − v = −(v − u),  M·(−v) = −(M·v),  1·v = v,  v + 0 = v,  v − v = 0,  M·0 = 0
//!
//! but not (u + v) − v = u, which holds up to rounding only.

use super::origin::mix;
use super::plan::{Plan, Planned};
use crate::program::{Compute, Core, Dim, Meaning, Op, Reg, Section, Type, Update};
use xxhash_rust::xxh3::xxh3_64;

/// What is known of all runs of a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Given {
    /// Whether they start at x = 0.
    pub zero_start: bool,
    /// Whether the step size is 1.
    pub unit_step: bool,
}

/// The number of a value, and its sign.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Number {
    value: u128,
    negative: bool,
}

/// The zeros come first: of each dimension, and the scalar.
const ZEROS: u128 = 5;

/// The number of the scalar 1.
const ONE: Number = Number::new(ZEROS);

/// The numbers of the values in registers at the start of a program.
const GIVEN: u128 = 16;

/// The numbers of the values that an iteration finds in x, d and the carried registers.
const ITERATED: u128 = 64;

impl Number {
    const fn new(value: u128) -> Number {
        Number { value, negative: false }
    }

    /// The zero of a type that has one number for it.
    fn zero(ty: Option<Type>) -> Option<Number> {
        match ty? {
            Type::Vector(Dim::Stack { .. } | Dim::Entries { .. }) => None,
            Type::Vector(dim) => Some(Number::new(dim.number().into())),
            Type::Scalar => Some(Number::new(ZEROS - 1)),
            Type::Matrix(..) | Type::Weights(_) => None,
        }
    }

    fn is_zero(self) -> bool {
        self.value < ZEROS
    }

    fn parts(self) -> [u128; 2] {
        [self.value, u128::from(self.negative)]
    }

    /// Itself, or its negative.
    fn times(self, negative: bool) -> Number {
        Number { negative: !self.is_zero() && (self.negative ^ negative), ..self }
    }
}

/// Whether an operator changes only its sign with the sign of any of its vectors and scalars.
fn is_odd(op: Op) -> bool {
    match op.compute {
        Compute::Core(core) => matches!(
            core,
            Core::MatVecMul
                | Core::VecMatMul
                | Core::VecVecDot
                | Core::ScalarVecMul
                | Core::ScalarDiv
                | Core::TriangularSolve
                | Core::Sketch
        ),
        Compute::Pure(_) => matches!(op.meaning, Meaning::UnitVector | Meaning::Solution),
        Compute::Sketching(_) => false,
        Compute::Previous => true,
        // The other operand keeps its sign.
        Compute::Refresh => false,
    }
}

/// Whether nothing is known of an operator: it may even distinguish 0 from −0.
fn is_opaque(op: Op) -> bool {
    matches!(op.compute, Compute::Pure(_) | Compute::Sketching(_)) && op.meaning == Meaning::Function
}

/// The numbers of all registers at one point of a program.
#[derive(Clone)]
struct Numbers {
    /// Whether values that may differ in the signs of zeros may have the same number.
    unsigned_zeros: bool,
    registers: [Number; Reg::COUNT],
    /// Numbers of the values computed in this section.
    computed: Vec<u128>,
    samples: u64,
}

impl Numbers {
    fn start(given: Given, unsigned_zeros: bool) -> Numbers {
        let mut registers: [Number; Reg::COUNT] = std::array::from_fn(|i| Number::new(GIVEN + i as u128));
        let zero = |dim: Dim| Number::new(dim.number().into());
        for reg in Reg::carried().chain([Reg::D]) {
            registers[reg.index()] = zero(reg.length().expect("a carried vector has one"));
        }
        if given.zero_start {
            registers[Reg::X.index()] = zero(Dim::Cols);
        }
        if given.unit_step {
            registers[Reg::ETA.index()] = ONE;
        }
        Numbers { unsigned_zeros, registers, computed: vec![], samples: 0 }
    }

    fn of(&self, reg: Reg) -> Number {
        self.registers[reg.index()]
    }

    fn carried(&self) -> impl Iterator<Item = Number> {
        Reg::carried().map(|reg| self.of(reg))
    }

    /// The numbers after these instructions.
    fn after(mut self, section: &[Planned]) -> Numbers {
        (self.computed, self.samples) = (vec![], 0);
        section.iter().for_each(|planned| self.step(planned));
        self.computed.sort_unstable();
        self.computed.dedup();
        self
    }

    fn step(&mut self, planned: &Planned) {
        let op = planned.typed.instruction.op;
        self.samples += u64::from(op.samples());
        let number = self.known(planned).unwrap_or_else(|| {
            let number = self.compute(planned);
            self.computed.push(number.value);
            number
        });
        for reg in planned.typed.instruction.writes().iter() {
            let part = if op.samples() { reg.index() as u128 } else { 0 };
            self.registers[reg.index()] = Number { value: number.value.wrapping_add(part), ..number };
        }
    }

    /// The number of a result that takes no arithmetic, and so cannot fail either.
    fn known(&self, planned: &Planned) -> Option<Number> {
        let Compute::Core(core) = planned.typed.instruction.op.compute else { return None };
        if !self.unsigned_zeros {
            return None;
        }
        let zero = || Number::zero(planned.typed.result);
        let operand = |i: usize| self.of(planned.typed.args[i].reg);
        let any_zero = || planned.typed.args.iter().any(|arg| self.of(arg.reg).is_zero());
        match core {
            Core::VecVecAdd => sum(operand(0), operand(1), zero),
            Core::VecVecSub => sum(operand(0), operand(1).times(true), zero),
            Core::ScalarVecMul if operand(0) == ONE => Some(operand(1)),
            Core::ScalarVecMul | Core::VecVecDot | Core::MatVecMul | Core::VecMatMul if any_zero() => zero(),
            _ => None,
        }
    }

    fn compute(&self, planned: &Planned) -> Number {
        let (op, args) = (planned.typed.instruction.op, &planned.typed.args);
        let is = |core| self.unsigned_zeros && op.is(core);
        let is_sum = is(Core::VecVecAdd) || is(Core::VecVecSub);
        let commutes = is_sum || is(Core::VecVecDot);
        let mut operands: Vec<Number> = args.iter().map(|arg| self.of(arg.reg)).collect();
        if is(Core::VecVecSub) {
            operands[1] = operands[1].times(true);
        }
        if commutes {
            operands.sort_unstable();
        }
        let negatives = operands.iter().filter(|number| number.negative).count();
        let negative = match is_sum {
            true => operands[0].negative,
            false => self.unsigned_zeros && is_odd(op) && negatives % 2 == 1,
        };
        if is_sum {
            // ±(u + v) or ±(u − v).
            operands.iter_mut().for_each(|number| *number = number.times(negative));
        } else if self.unsigned_zeros && is_odd(op) {
            operands.iter_mut().for_each(|number| number.negative = false);
        }
        let name = if is_sum { 0 } else { u128::from(xxh3_64(op.name.as_bytes())) };
        let draw = match op.draws() {
            true => [1, planned.typed.section as u128, u128::from(self.samples)],
            false => [0; 3],
        };
        // Repeating a register may use another algorithm than two registers with equal values.
        let place = |reg| args.iter().position(|other| other.reg == reg).unwrap_or_default() as u128;
        let repeated = args.iter().map(|arg| if commutes { 0 } else { place(arg.reg) });
        let operands = operands.iter().flat_map(|number| number.parts());
        Number { value: mix([name].into_iter().chain(draw).chain(repeated).chain(operands)), negative }
    }
}

/// The number of a sum that takes no arithmetic.
fn sum(u: Number, v: Number, zero: impl Fn() -> Option<Number>) -> Option<Number> {
    match () {
        () if u.is_zero() => Some(v),
        () if v.is_zero() => Some(u),
        () if u == v.times(true) => zero(),
        () => None,
    }
}

impl Plan<'_> {
    /// A hash that is equal for programs whose runs have equal iterates and the same failures, given this: they apply
    /// the same operations to the same values, whatever their register names, but for operations that change nothing.
    /// Their costs may differ.
    pub fn identity(&self, given: Given) -> u128 {
        let [setup, iteration] = Section::BOTH.map(|section| self.section(section));
        let opaque = setup.iter().chain(iteration).any(|planned| is_opaque(planned.typed.instruction.op));
        let setup = Numbers::start(given, !opaque).after(setup);
        let first = setup.clone().after(iteration);
        // x and all that is carried stay as they are, so all iterations are like the first. What is remembered may
        // be a draw, which differs from one iteration to the next.
        let still = first.of(Reg::V1).is_zero()
            && !self.remembers()
            && !self.refreshes()
            && first.carried().eq(setup.carried())
            && (self.update != Update::Assign || setup.of(Reg::X).is_zero());
        let last = if still {
            first
        } else {
            let mut iterated = setup.clone();
            for reg in Reg::carried().chain([Reg::X, Reg::D]) {
                iterated.registers[reg.index()] = Number::new(ITERATED + reg.index() as u128);
            }
            iterated.after(iteration)
        };
        let results =
            [last.of(Reg::V1), setup.of(Reg::R1), setup.of(Reg::X)].into_iter().chain(last.carried());
        let results = results.flat_map(Number::parts);
        // Whether setup reads the step size decides how the best step size is found.
        let flags = [u128::from(still), u128::from(self.reads_step(Section::Setup))];
        let sections = [&setup, &last].map(|numbers| mix(numbers.computed.iter().copied()));
        mix(flags.into_iter().chain(sections).chain(results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::RunSettings;
    use crate::linalg::Matrix;
    use crate::problem::{Instance, Shape};
    use crate::program::Program;

    fn shape() -> Shape {
        Instance::from_data(Matrix::from_fn(9, 2, |i, j| (i + 5 * j) as f64), vec![1.0; 9]).unwrap().shape()
    }

    fn identity(text: &str, given: Given) -> u128 {
        let program: Program = text.parse().unwrap();
        Plan::new(&program, shape(), &RunSettings::for_size(9, 2)).unwrap().identity(given)
    }

    const USUAL: Given = Given { zero_start: true, unit_step: false };

    fn iteration(lines: &[&str]) -> String {
        format!("setup:\niteration:\n {}\n", lines.join("\n "))
    }

    const GRADIENT: [&str; 3] =
        ["v1 = MAT_VEC_MUL(A, x)", "v1 = VEC_VEC_SUB(v1, b)", "v1 = VEC_MAT_MUL(v1, A)"];

    #[test]
    fn exact_identities_are_known() {
        let plain = iteration(&GRADIENT);
        let turned = iteration(&[
            "v3 = MAT_VEC_MUL(A, x)",
            "v2 = VEC_VEC_SUB(b, v3)",
            "v2 = VEC_MAT_MUL(v2, A)",
            "v1 = VEC_VEC_SUB(v2, v2)",
            "v1 = VEC_VEC_SUB(v1, v2)",
        ]);
        assert_eq!(identity(&plain, USUAL), identity(&turned, USUAL));
        let scaled = iteration(&[GRADIENT[0], "v1 = SCALAR_VEC_MUL(eta, v1)", GRADIENT[1], GRADIENT[2]]);
        assert_ne!(identity(&plain, USUAL), identity(&scaled, USUAL));
        let unit = Given { unit_step: true, ..USUAL };
        assert_eq!(identity(&plain, unit), identity(&scaled, unit));
        // These are equal only up to rounding.
        let restored = iteration(&[
            GRADIENT[0],
            "v1 = VEC_VEC_ADD(v1, b)",
            "v1 = VEC_VEC_SUB(v1, b)",
            GRADIENT[1],
            GRADIENT[2],
        ]);
        assert_ne!(identity(&plain, USUAL), identity(&restored, USUAL));
    }

    #[test]
    fn programs_that_never_leave_the_start_are_alike() {
        let homogeneous = iteration(&[GRADIENT[0], GRADIENT[2]]);
        let shrinking = iteration(&["v1 = SCALAR_VEC_MUL(eta, x)"]);
        let restored = iteration(&[GRADIENT[0], "v1 = VEC_VEC_ADD(v1, b)", GRADIENT[1], GRADIENT[2]]);
        for text in [&shrinking, &restored] {
            assert_eq!(identity(&homogeneous, USUAL), identity(text, USUAL));
            let elsewhere = Given { zero_start: false, ..USUAL };
            assert_ne!(identity(&homogeneous, elsewhere), identity(text, elsewhere));
        }
        // What may fail is part of the identity.
        let inverting =
            iteration(&["R1 = MAT_TRANS_MAT_MUL(A, A)", "R1 = MAT_INV(R1)", "v1 = MAT_VEC_MUL(R1, x)"]);
        assert_ne!(identity(&homogeneous, USUAL), identity(&inverting, USUAL));
        // m1 leaves zero in the first iteration, and x in the second.
        let delayed = iteration(&["v1 = SCALAR_VEC_MUL(eta, m1)", "m1 = VEC_MAT_MUL(b, A)"]);
        assert_ne!(identity(&homogeneous, USUAL), identity(&delayed, USUAL));
    }

    #[test]
    fn what_is_remembered_and_where_a_run_starts_are_part_of_it() {
        let homogeneous = iteration(&[GRADIENT[0], GRADIENT[2]]);
        // d stays zero where x does; what a sketch was in the iteration before is another draw.
        let step = iteration(&["v1 = SCALAR_VEC_MUL(eta, d)"]);
        assert_eq!(identity(&homogeneous, USUAL), identity(&step, USUAL));
        let drawn = iteration(&[
            "R1 = SKETCH(A)",
            "v2 = SKETCH(b)",
            "v3 = PREVIOUS(v2)",
            "v2 = VEC_VEC_SUB(v2, v3)",
            "v1 = VEC_MAT_MUL(v2, R1)",
        ]);
        let cancelled = drawn.replace("PREVIOUS(v2)", "SKETCH(b)");
        assert_ne!(identity(&cancelled, USUAL), identity(&drawn, USUAL));
        let moving = |factor: &str| iteration(&[&GRADIENT[..], &[factor][..]].concat());
        let [plain, inert] = ["v1 = VEC_VEC_ADD(v1, x)", "v1 = VEC_VEC_ADD(v1, d)"].map(moving);
        assert_ne!(identity(&plain, USUAL), identity(&inert, USUAL));
        let warm = |by: &str| {
            let setup = format!("setup:\n v2 = VEC_MAT_MUL(b, A)\n x = SCALAR_VEC_MUL({by}, v2)\n");
            iteration(&GRADIENT).replace("setup:\n", &setup)
        };
        assert_ne!(identity(&warm("eta"), USUAL), identity(&warm("mu"), USUAL));
        assert_ne!(identity(&warm("eta"), USUAL), identity(&iteration(&GRADIENT), USUAL));
    }

    #[test]
    fn names_do_not_matter_but_sections_and_the_preconditioner_do() {
        let gradient = |setup: &str, first: &str| {
            format!(
                "setup:\n{setup} R1 = HHQR(A)\niteration:\n{first} v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_VEC_SUB(v1, v2)\n"
            )
        };
        let right = " v2 = VEC_MAT_MUL(b, A)\n";
        let renamed = |text: &str| text.replace("v2", "v3").replace("R1 = HHQR(A)\n", "R2 = HHQR(A)\n");
        let preconditioned = gradient(right, "");
        let plain = preconditioned.replace("R1 = HHQR(A)\n", "");
        assert_eq!(identity(&plain, USUAL), identity(&renamed(&plain), USUAL));
        assert_ne!(identity(&preconditioned, USUAL), identity(&renamed(&preconditioned), USUAL));
        assert_ne!(identity(&preconditioned, USUAL), identity(&gradient("", right), USUAL));
        // A·x of the start, or of every iterate.
        let still = |setup: &str, iteration: &str| {
            format!(
                "setup:\n{setup}iteration:\n{iteration} v1 = VEC_MAT_MUL(v2, A)\n v3 = VEC_MAT_MUL(b, A)\n v1 = VEC_VEC_SUB(v1, v3)\n"
            )
        };
        let product = " v2 = MAT_VEC_MUL(A, x)\n";
        assert_ne!(identity(&still(product, ""), USUAL), identity(&still("", product), USUAL));
    }
}
