//! Typing: the shapes of all registers at every point of a program, and errors if a program does not fit.

use super::ast::{Instruction, Program, Section};
use super::op::{Arg, Op};
use super::register::{Access, Reg};
use super::signature::{Signature, Update};
use super::types::{Binding, Dim, Geometry, Pattern, Structure, Type};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The state of a register at one point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// Never written.
    Undefined,
    /// Written by an instruction that does not fit.
    Poison,
    /// Holds a value of this type.
    Known(Type),
}

/// The types of all registers at one point of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Env {
    slots: [Slot; Reg::COUNT],
    pub(super) geometry: Geometry,
}

/// One byte per register, eight at a time: looking up types is the most frequent operation of the repair rule.
impl Hash for Env {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let byte = |slot: &Slot| match *slot {
            Slot::Undefined => 0,
            Slot::Poison => 1,
            Slot::Known(Type::Scalar) => 2,
            Slot::Known(Type::Vector(d)) => 0x10 | d.number(),
            Slot::Known(Type::Weights(d)) => 0x20 | d.number(),
            Slot::Known(Type::Matrix(r, c, s)) => 0x40 | r.number() << 4 | c.number() << 2 | s as u64,
        };
        for eight in self.slots.chunks(8) {
            state.write_u64(eight.iter().fold(0, |word, slot| word << 8 | byte(slot)));
        }
    }
}

impl Env {
    /// The types at the start of a program.
    pub fn start(signature: impl Into<Signature>) -> Env {
        let Signature { geometry, inputs, .. } = signature.into();
        let mut env = Env { slots: [Slot::Undefined; Reg::COUNT], geometry };
        let rows = geometry.dim(Dim::Rows);
        let given = [
            (Reg::A, geometry.matrix()),
            (Reg::B, Type::Vector(rows)),
            (Reg::X, Type::Vector(Dim::Cols)),
            (Reg::ETA, Type::Scalar),
            (Reg::D, Type::Vector(Dim::Cols)),
            (Reg::MU, Type::Scalar),
            (Reg::LAMBDA, Type::Scalar),
        ];
        for (reg, ty) in given.into_iter().filter(|(reg, _)| inputs.contains(*reg)) {
            env.set(reg, ty);
        }
        env.set(Reg::P1, Type::Weights(rows));
        for reg in Reg::carried() {
            let length = reg.length().expect("a carried vector has one");
            env.set(reg, Type::Vector(geometry.dim(length)));
        }
        env
    }

    /// The state of `reg`.
    pub fn slot(&self, reg: Reg) -> Slot {
        self.slots[reg.index()]
    }

    /// The type of `reg`, if it is known.
    pub fn get(&self, reg: Reg) -> Option<Type> {
        match self.slot(reg) {
            Slot::Known(ty) => Some(ty),
            _ => None,
        }
    }

    fn set(&mut self, reg: Reg, ty: Type) {
        self.slots[reg.index()] = Slot::Known(ty);
    }

    pub(super) fn poison(&mut self, reg: Reg) {
        self.slots[reg.index()] = Slot::Poison;
    }

    /// The result of an operator on these operands, whatever it is written to.
    pub fn value(&self, op: Op, operands: &[Reg]) -> Result<TypedValue, Cause> {
        let sampled = if op.samples() { &[Reg::A, Reg::B][..] } else { &[] };
        let arg = |&reg: &Reg| match self.get(reg) {
            Some(ty) => Ok(Arg { reg, ty }),
            None => Err(Cause::Undefined(reg)),
        };
        let args: Vec<Arg> = operands.iter().chain(sampled).map(arg).collect::<Result<_, _>>()?;
        match self.made(op, operands.len(), &args) {
            Some((pattern, ty)) => Ok(TypedValue { args, pattern, ty }),
            None => Err(Cause::operands(op, &args)),
        }
    }

    /// The result of an operator on `count` operands, followed by those it samples, if they fit.
    pub(crate) fn made(&self, op: Op, count: usize, args: &[Arg]) -> Option<(Pattern, Option<Type>)> {
        let (pattern, binding) = op.forms.iter().find_map(|form| {
            let mut binding = Binding::default();
            let fits = form.operands.len() == count
                && form.operands.iter().zip(args).all(|(&p, a)| binding.unify(p, a.ty, self.geometry));
            fits.then_some((form.result, binding))
        })?;
        let dim = |size| binding.dim(size, self.geometry);
        let ty = match pattern {
            Pattern::Nothing => None,
            Pattern::Scalar => Some(Type::Scalar),
            Pattern::Vector(a) => Some(Type::Vector(dim(a)?)),
            Pattern::Weights(a) => Some(Type::Weights(dim(a)?)),
            Pattern::Upper(a) => Some(Type::Matrix(dim(a)?, dim(a)?, Structure::Upper)),
            Pattern::Matrix(a, b) => Some(Type::Matrix(dim(a)?, dim(b)?, (op.structure)(args))),
            // A sample is drawn from the current rows.
            Pattern::System(k) => match (args[0].ty, args[1].ty) {
                (Type::Weights(p), Type::Matrix(rows, cols, _)) if p == rows => {
                    Some(Type::Matrix(dim(k)?, cols, Structure::General))
                }
                _ => return None,
            },
        };
        Some((pattern, ty))
    }

    /// The result of an instruction, if it fits in this section.
    pub fn result(&self, instruction: &Instruction, section: Section) -> Result<TypedValue, Cause> {
        if !instruction.op.sections.allow(section) {
            return Err(Cause::Section(section));
        }
        let value = self.value(instruction.op, &instruction.operands)?;
        accepts(instruction.target, value.pattern, value.ty, section, self.geometry)?;
        Ok(value)
    }

    /// Applies an instruction to the types; one that does not fit poisons its targets.
    pub fn step(&mut self, instruction: &Instruction, section: Section) -> Result<TypedValue, Cause> {
        let result = self.result(instruction, section);
        match &result {
            Ok(value) => self.write(instruction.target, value.ty),
            Err(_) => instruction.writes().iter().for_each(|reg| self.poison(reg)),
        }
        result
    }

    /// Writes a value of this type to `target`; sampling `A` reduces `b` as well.
    pub(super) fn write(&mut self, target: Option<Reg>, ty: Option<Type>) {
        let (Some(target), Some(ty)) = (target, ty) else { return };
        self.set(target, ty);
        if let (Reg::A, Type::Matrix(rows, _, _)) = (target, ty) {
            self.set(Reg::B, Type::Vector(rows));
        }
    }
}

/// The result of an operator on its operands.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedValue {
    /// The operands with their types, including those it samples.
    pub args: Vec<Arg>,
    /// The pattern of the result.
    pub pattern: Pattern,
    /// Its type; `None` for an operator without a result.
    pub ty: Option<Type>,
}

/// Whether a value of this pattern and type may be written to `target` in `section`.
pub(super) fn accepts(
    target: Option<Reg>,
    gives: Pattern,
    ty: Option<Type>,
    section: Section,
    geometry: Geometry,
) -> Result<(), Cause> {
    let (target, ty) = match (target, ty) {
        (None, None) => return Ok(()),
        (Some(target), Some(ty)) => (target, ty),
        _ => return Err(Cause::Target { given: target, gives }),
    };
    let samples = matches!(gives, Pattern::System(_));
    let writable = match target.access() {
        Access::Input if target == Reg::X => section == Section::Setup && ty == Type::Vector(Dim::Cols),
        Access::Input => samples && target == Reg::A,
        Access::Scratch => !samples,
        Access::Carried => {
            let length = target.length().map(|dim| Type::Vector(geometry.dim(dim)));
            section == Section::Iteration && Some(ty) == length
        }
    };
    match (writable && target.kind() == ty.kind(), target.access()) {
        (true, _) => Ok(()),
        (false, Access::Input) if (target, section) != (Reg::X, Section::Setup) => {
            Err(Cause::ReadOnly(target))
        }
        (false, _) => Err(Cause::Target { given: Some(target), gives }),
    }
}

/// Why an instruction does not fit.
#[derive(Clone, PartialEq, Debug)]
pub enum Cause {
    /// Reads an undefined register.
    Undefined(Reg),
    /// No signature of the operator matches these operands.
    Operands {
        /// The operands given.
        given: String,
        /// The operands the operator takes.
        takes: String,
    },
    /// The target cannot hold the result.
    Target {
        /// The target given.
        given: Option<Reg>,
        /// The result of the operator.
        gives: Pattern,
    },
    /// Writes an input register.
    ReadOnly(Reg),
    /// The operator is not allowed in this section.
    Section(Section),
    /// The update needs `v1` of another type.
    Update {
        /// The update.
        update: Update,
        /// The type it needs, in words.
        needs: String,
        /// The state of `v1`.
        slot: Slot,
    },
}

impl Cause {
    fn operands(op: Op, args: &[Arg]) -> Cause {
        let given: Vec<String> = args.iter().map(|a| format!("{}: {}", a.reg, a.ty)).collect();
        let form = |patterns: &[Pattern]| {
            let parts: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
            format!("({})", parts.join(", "))
        };
        let takes: Vec<String> = op.forms.iter().map(|f| form(f.operands)).collect();
        Cause::Operands { given: given.join(", "), takes: takes.join(" or ") }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Cause::Undefined(reg) => write!(f, "`{reg}` is read before anything is written to it"),
            Cause::Operands { given, takes } => {
                write!(f, "the operands do not fit: got {given}; the operator takes {takes}")
            }
            Cause::Target { given: Some(reg), gives } => write!(f, "`{reg}` cannot hold the result, {gives}"),
            Cause::Target { given: None, gives } => {
                write!(f, "the result, {gives}, needs a register to go to")
            }
            Cause::ReadOnly(Reg::X) => f.write_str(
                "`x` is read-only in the iteration, where the update moves it by v1; setup may write it",
            ),
            Cause::ReadOnly(reg) => {
                write!(f, "`{reg}` is read-only; write to a scratch register such as v1 or R1")
            }
            Cause::Section(section) => write!(f, "the operator is not allowed in {section}"),
            Cause::Update { update, needs, slot } => {
                write!(f, "the update {} needs v1 to be a {needs}, but ", update.formula())?;
                match slot {
                    Slot::Undefined => f.write_str("the iteration never writes v1"),
                    Slot::Poison => f.write_str("v1 comes from an instruction that does not fit"),
                    Slot::Known(ty) => write!(f, "v1 is a {ty}"),
                }
            }
        }
    }
}

/// An error for a program that does not fit a geometry: where, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapeError {
    /// Section and position of the instruction; `None` if the update is at fault.
    pub place: Option<(Section, usize)>,
    /// The instruction as text.
    pub instruction: String,
    /// What is wrong.
    pub cause: Cause,
    /// The geometry it was checked against.
    pub geometry: Geometry,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some((section, i)) = self.place {
            write!(f, "{section} instruction {} `{}`: ", i + 1, self.instruction)?;
        }
        write!(f, "{}", self.cause)?;
        match self.geometry {
            Geometry::Tall => f.write_str(" (A is m×n with m ≥ n)"),
            Geometry::Square => f.write_str(" (A is n×n)"),
            Geometry::Symmetric => f.write_str(" (A is symmetric n×n)"),
        }
    }
}

impl std::error::Error for ShapeError {}

/// An instruction with the types of its operands and result.
#[derive(Clone, PartialEq, Debug)]
pub struct Typed<'a> {
    /// The section it is in.
    pub section: Section,
    /// The instruction.
    pub instruction: &'a Instruction,
    /// Its operands, including those it samples.
    pub args: Vec<Arg>,
    /// The type of its target.
    pub result: Option<Type>,
}

/// Type-checks a whole program, or returns where it does not fit. This includes dead code: canonicalize first to
/// check only the live code.
pub fn check(program: &Program, signature: impl Into<Signature>) -> Result<Vec<Typed<'_>>, ShapeError> {
    let signature = signature.into();
    let Signature { geometry, update, .. } = signature;
    let mut env = Env::start(signature);
    let mut typed = Vec::with_capacity(program.len());
    for (section, i, instruction) in program.instructions() {
        let error = |cause| ShapeError {
            place: Some((section, i)),
            instruction: instruction.to_string(),
            cause,
            geometry,
        };
        let TypedValue { args, ty, .. } = env.step(instruction, section).map_err(error)?;
        typed.push(Typed { section, instruction, args, result: ty });
    }
    match env.slot(Reg::V1) {
        Slot::Known(ty) if signature.accepts(ty) => Ok(typed),
        slot => {
            let cause = Cause::Update { update, needs: signature.needs(), slot };
            Err(ShapeError { place: None, instruction: String::new(), cause, geometry })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Program {
        text.parse().expect("the test's program parses")
    }

    const LANDWEBER: &str = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";

    #[test]
    fn landweber_fits_square_systems_only() {
        assert!(check(&parse(LANDWEBER), Geometry::Symmetric).is_ok());
        let error = check(&parse(LANDWEBER), Geometry::Tall).unwrap_err();
        let slot = Slot::Known(Type::Vector(Dim::Rows));
        let needs = Type::Vector(Dim::Cols).to_string();
        assert_eq!(error.cause, Cause::Update { update: Update::Subtract, needs, slot });
        let answer = Signature::new(Geometry::Tall, Update::Answer);
        assert!(check(&parse(LANDWEBER), answer).is_ok());
        assert!(error.to_string().contains("v1 is a vector m"), "{error}");
    }

    #[test]
    fn sampling_cuts_rows_from_there_on() {
        let program = parse(
            "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n",
        );
        let typed = check(&program, Geometry::Tall).unwrap();
        assert_eq!(typed[1].result, Some(Type::Vector(Dim::Batch)));
        let twice = parse("iteration:\n A, b = SUBSAMPLING(p1)\n A, b = SUBSAMPLING(p1)\n");
        assert_eq!(check(&twice, Geometry::Tall).unwrap_err().place, Some((Section::Iteration, 1)));
    }

    #[test]
    fn structure_is_tracked() {
        let program = parse(
            "setup:\n R1 = HHQR(A)\n R2 = MAT_INV(R1)\n R3 = MAT_MAT_TRANS_MUL(R2, R2)\niteration:\n v1 = TRIANGULAR_SOLVE(R1, x)\n",
        );
        let typed = check(&program, Geometry::Tall).unwrap();
        let n = Dim::Cols;
        assert_eq!(typed[1].result, Some(Type::Matrix(n, n, Structure::Upper)));
        assert_eq!(typed[2].result, Some(Type::Matrix(n, n, Structure::Symmetric)));
        let general =
            parse("setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\niteration:\n v1 = TRIANGULAR_SOLVE(R1, x)\n");
        let error = check(&general, Geometry::Tall).unwrap_err().to_string();
        assert!(error.contains("upper triangular a×a"), "{error}");
    }

    #[test]
    fn setup_may_write_the_x_to_start_from_and_only_an_iteration_looks_back() {
        let step = "iteration:\n v1 = SCALAR_VEC_MUL(mu, d)\n";
        let of = |text: &str| check(&parse(text), Geometry::Tall).map(|_| ()).map_err(|e| e.to_string());
        let start = format!("setup:\n v2 = VEC_MAT_MUL(b, A)\n x = SCALAR_VEC_MUL(eta, v2)\n{step}");
        assert_eq!(of(&start), Ok(()));
        let long = of(&format!("setup:\n x = MAT_VEC_MUL(A, x)\n{step}")).unwrap_err();
        assert!(long.contains("`x` cannot hold the result"), "{long}");
        let late = of(&format!("{step} x = VEC_MAT_MUL(b, A)\n")).unwrap_err();
        assert!(late.contains("`x` is read-only in the iteration") && late.contains("setup may"), "{late}");
        for reg in ["d", "mu"] {
            let written = of(&format!("setup:\n {reg} = VEC_MAT_MUL(b, A)\n{step}")).unwrap_err();
            assert!(written.contains(&format!("`{reg}` is read-only")), "{written}");
        }
        let scalar = "iteration:\n a1 = PREVIOUS(eta)\n v2 = PREVIOUS(b)\n v1 = VEC_MAT_MUL(v2, A)\n v1 = SCALAR_VEC_MUL(a1, v1)\n";
        assert_eq!(of(scalar), Ok(()));
        let early = of(&format!("setup:\n v2 = PREVIOUS(b)\n{step}")).unwrap_err();
        assert!(early.contains("not allowed in setup"), "{early}");
        assert!(of("iteration:\n R1 = PREVIOUS(A)\n v1 = MAT_VEC_MUL(R1, x)\n").is_err());
    }

    #[test]
    fn inputs_cannot_be_written_and_carried_registers_keep_their_shape() {
        for (text, wanted) in [
            ("iteration:\n x = VEC_VEC_ADD(x, x)\n", Cause::ReadOnly(Reg::X)),
            ("iteration:\n v1 = VEC_VEC_ADD(v2, x)\n", Cause::Undefined(Reg::named("v2").unwrap())),
            ("iteration:\n p1 = LEVERAGE_SCORE(A)\n", Cause::Section(Section::Iteration)),
        ] {
            assert_eq!(check(&parse(text), Geometry::Tall).unwrap_err().cause, wanted);
        }
        let rows_in_memory = parse("iteration:\n m1 = MAT_VEC_MUL(A, x)\n");
        assert!(matches!(check(&rows_in_memory, Geometry::Tall).unwrap_err().cause, Cause::Target { .. }));
    }
}
