//! The listing of a program: its live instructions as statements over named values, the same for every language.
//!
//! In a program every iteration starts from the registers as setup left them; in most languages an overwritten
//! variable stays overwritten. A register that the iteration both reads first and writes therefore becomes two values
//! with two names.

use crate::program::{
    Access, CallShape, Canonical, Dim, LiveOut, NeededIn, Op, Program, Reg, RegSet, Section, ShapeError,
    Signature, Type, Typed, Update, check, needed,
};

/// Which value of a register is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueVersion {
    /// The register under its own name.
    Plain,
    /// `A` or `b` as written by setup.
    Once,
    /// A value written by this iteration to a register that is reset for the next iteration.
    Again,
}

/// A named value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its register.
    pub reg: Reg,
    /// Which of the register's values.
    pub mark: ValueVersion,
}

/// `targets = operator(operands)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Section it belongs to.
    pub section: Section,
    /// The operator.
    pub op: Op,
    /// Shape of the call.
    pub shape: CallShape,
    /// Values written: one, or `A` and `b` where rows are sampled.
    pub targets: Vec<Name>,
    /// Values read, with types; `A` and `b` come last where rows are sampled.
    pub operands: Vec<(Name, Type)>,
    /// The type of the first target.
    pub result: Option<Type>,
    /// In which iterations it is needed.
    pub needed: NeededIn,
}

/// A program as a list of statements.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    /// Signature of the problems it solves.
    pub signature: Signature,
    /// The live instructions, in execution order.
    pub statements: Vec<Statement>,
    /// The value used by the update.
    pub result: Name,
}

impl Listing {
    /// The listing of a program for problems of this signature.
    pub fn new(program: &Program, signature: Signature) -> Result<Listing, ShapeError> {
        // Checked before dead code is removed, so that errors refer to the program as written.
        check(program, signature)?;
        let live = Canonical::new(program, LiveOut::Finished);
        let typed = check(live.program(), signature)?;
        let mut names =
            Names { current: [ValueVersion::Plain; Reg::COUNT], twice: found_and_written(live.program()) };
        let always = NeededIn { refreshing: true, ordinary: true };
        let setup = std::iter::repeat_n(always, live.program().setup.len());
        let needed = setup.chain(needed(&live.program().iteration));
        let statements =
            typed.iter().zip(needed).map(|(typed, needed)| names.statement(typed, needed)).collect();
        Ok(Listing { signature, statements, result: names.of(Reg::V1) })
    }

    /// The statements of a section.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(move |statement| statement.section == section)
    }

    /// Whether a section draws a sketch; all sketch instructions of a section share one.
    pub fn sketches(&self, section: Section) -> bool {
        self.section(section).any(|statement| statement.op.sketches())
    }

    /// Whether any section draws a sketch.
    pub fn has_sketch(&self) -> bool {
        self.statements.iter().any(|statement| statement.op.sketches())
    }

    /// Whether some value is refreshed every k iterations.
    pub fn refreshes(&self) -> bool {
        self.statements.iter().any(|statement| statement.op.refreshes())
    }

    /// Whether rows are sampled.
    pub fn has_sample(&self) -> bool {
        self.statements.iter().any(|statement| statement.op.samples())
    }

    /// Whether the program makes random draws.
    pub fn is_random(&self) -> bool {
        self.has_sketch() || self.has_sample()
    }

    /// Whether a register is read before the program writes it.
    pub fn finds(&self, reg: Reg) -> bool {
        let mut written = RegSet::EMPTY;
        self.statements.iter().any(|statement| {
            let found = statement.operands.iter().any(|(name, _)| name.reg == reg) && !written.contains(reg);
            written = statement.targets.iter().fold(written, |set, name| set.with(name.reg));
            found
        })
    }

    /// Whether the original right-hand side is read.
    pub fn reads_b(&self) -> bool {
        self.finds(Reg::B)
    }

    /// Whether the step size is used.
    pub fn reads_step(&self) -> bool {
        self.signature.update == Update::Subtract || self.finds(Reg::ETA)
    }

    /// The carried registers.
    pub fn carried(&self) -> Vec<Reg> {
        let used = |reg: &Reg| {
            let named = |name: &Name| name.reg == *reg;
            let in_use =
                |s: &Statement| s.targets.iter().any(named) || s.operands.iter().any(|(n, _)| named(n));
            self.statements.iter().any(in_use)
        };
        Reg::carried().filter(used).collect()
    }

    /// Whether the iteration reads the last step.
    pub fn follows_steps(&self) -> bool {
        let reads = |statement: &Statement| statement.operands.iter().any(|(name, _)| name.reg == Reg::D);
        self.section(Section::Iteration).any(reads)
    }

    /// Register d if setup reads it, where it is zero.
    pub fn finds_step_in_setup(&self) -> Option<Reg> {
        let reads = |statement: &Statement| statement.operands.iter().any(|(name, _)| name.reg == Reg::D);
        self.section(Section::Setup).any(reads).then_some(Reg::D)
    }

    /// The variables that keep a value for the next iteration, with its type: x, if the last step is read, and the
    /// operand of every PREVIOUS.
    pub fn kept(&self) -> Vec<(String, Type)> {
        let x = self.follows_steps().then(|| (LAST_X.to_string(), Type::Vector(Dim::Cols)));
        let remembered = self.statements.iter().filter(|statement| statement.op.remembers());
        let operands = remembered.zip(1..).map(|(statement, i)| (last(i), statement.operands[0].1));
        x.into_iter().chain(operands).collect()
    }

    /// Whether setup writes x, so that the iterations start there.
    pub fn starts_warm(&self) -> bool {
        self.section(Section::Setup).any(|statement| statement.targets.iter().any(|name| name.reg == Reg::X))
    }

    /// Whether it matters where the caller starts: setup may replace that without reading it.
    pub fn takes_start(&self) -> bool {
        !self.starts_warm() || self.finds(Reg::X)
    }

    /// Whether a second iteration can differ from the first; a deterministic answer without carried registers cannot.
    /// One basis is as good as the next.
    pub fn loops(&self) -> bool {
        let chance = self.section(Section::Iteration).any(|statement| statement.op.draws());
        let memory = !self.carried().is_empty() || !self.kept().is_empty() || self.refreshes();
        match self.signature.update {
            Update::Subtract | Update::Assign => true,
            Update::Answer => memory || chance,
            Update::Basis => false,
        }
    }
}

/// The variable that keeps x for the next iteration.
pub const LAST_X: &str = "x_last";

/// The variable that keeps the operand of the PREVIOUS with this number.
pub fn last(number: usize) -> String {
    format!("last_{number}")
}

/// The registers, carried ones excepted, that an iteration both writes and reads before the first write.
fn found_and_written(program: &Program) -> RegSet {
    let (mut found, mut written) = (RegSet::EMPTY, RegSet::EMPTY);
    for instruction in &program.iteration {
        found = found.union(instruction.reads().minus(written));
        written = written.union(instruction.writes());
    }
    found.and(written).minus(RegSet::carried())
}

/// The current name of every register at one point of the program.
struct Names {
    current: [ValueVersion; Reg::COUNT],
    twice: RegSet,
}

impl Names {
    fn of(&self, reg: Reg) -> Name {
        Name { reg, mark: self.current[reg.index()] }
    }

    fn write(&mut self, reg: Reg, section: Section) -> Name {
        // x as setup leaves it is where the iterations start, and has no other name.
        let sampled = reg.access() == Access::Input && reg != Reg::X;
        self.current[reg.index()] = match section {
            Section::Setup if sampled => ValueVersion::Once,
            Section::Iteration if sampled || self.twice.contains(reg) => ValueVersion::Again,
            _ => ValueVersion::Plain,
        };
        self.of(reg)
    }

    fn statement(&mut self, typed: &Typed, needed: NeededIn) -> Statement {
        let Typed { section, instruction, args, result } = typed;
        let operands = args.iter().map(|arg| (self.of(arg.reg), arg.ty)).collect();
        // Sampling `A` samples `b` as well.
        let pair = instruction.target.filter(|target| *target == Reg::A).map(|_| Reg::B);
        let targets =
            instruction.target.into_iter().chain(pair).map(|reg| self.write(reg, *section)).collect();
        Statement {
            section: *section,
            op: instruction.op,
            shape: CallShape::of(args),
            targets,
            operands,
            result: *result,
            needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    fn listing(text: &str) -> Listing {
        Listing::new(&text.parse().unwrap(), Geometry::Tall.into()).unwrap()
    }

    fn written(listing: &Listing) -> Vec<(&'static str, ValueVersion)> {
        listing.statements.iter().flat_map(|s| &s.targets).map(|name| (name.reg.name(), name.mark)).collect()
    }

    #[test]
    fn what_the_next_iteration_needs_is_not_overwritten() {
        let sgd = listing(
            "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n",
        );
        assert_eq!(
            written(&sgd)[..3],
            [("A", ValueVersion::Again), ("b", ValueVersion::Again), ("v1", ValueVersion::Plain)]
        );
        assert_eq!(sgd.statements[0].operands[1].0, Name { reg: Reg::A, mark: ValueVersion::Plain });
        assert_eq!(sgd.statements[1].operands[0].0, Name { reg: Reg::A, mark: ValueVersion::Again });
        let growing = listing(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\niteration:\n R1 = MAT_MAT_MUL(R1, R1)\n v1 = MAT_VEC_MUL(R1, x)\n",
        );
        assert_eq!(written(&growing)[..2], [("R1", ValueVersion::Plain), ("R1", ValueVersion::Again)]);
        assert_eq!(growing.statements[1].operands[0].0.mark, ValueVersion::Plain);
        assert_eq!(growing.statements[2].operands[0].0.mark, ValueVersion::Again);
        let momentum = listing("iteration:\n m1 = VEC_VEC_ADD(m1, x)\n v1 = VEC_VEC_SUB(m1, x)\n");
        assert_eq!(written(&momentum), [("m1", ValueVersion::Plain), ("v1", ValueVersion::Plain)]);
        assert_eq!(momentum.carried().len(), 1);
    }

    #[test]
    fn what_outlives_an_iteration_has_a_variable_and_a_warm_start_is_x() {
        let both = listing(
            "setup:\n v2 = VEC_MAT_MUL(b, A)\n x = SCALAR_VEC_MUL(eta, v2)\niteration:\n v2 = MAT_VEC_MUL(A, x)\n v2 = PREVIOUS(v2)\n a1 = VEC_VEC_DOT(v2, v2)\n a1 = PREVIOUS(a1)\n v1 = SCALAR_VEC_MUL(a1, d)\n",
        );
        let kept: Vec<(String, String)> =
            both.kept().into_iter().map(|(n, ty)| (n, ty.to_string())).collect();
        let wanted = [("x_last", "vector n"), ("last_1", "vector m"), ("last_2", "scalar")];
        assert_eq!(kept, wanted.map(|(name, ty)| (name.to_string(), ty.to_string())));
        assert!(both.starts_warm() && !both.takes_start() && both.follows_steps());
        assert!(written(&both).contains(&("x", ValueVersion::Plain)));
        let read = both.statements[1].targets[0];
        assert!(both.statements[2].operands.iter().any(|(name, _)| *name == read), "the iteration reads x");
        let plain = listing("iteration:\n v1 = VEC_MAT_MUL(b, A)\n");
        assert!(plain.kept().is_empty() && plain.takes_start());
    }

    #[test]
    fn a_direction_that_setup_made_may_be_the_result() {
        let kept = listing("setup:\n v1 = VEC_MAT_MUL(b, A)\niteration:\n v2 = VEC_MAT_MUL(b, A)\n");
        assert_eq!((kept.statements.len(), kept.result.mark), (1, ValueVersion::Plain));
    }

    #[test]
    fn dead_code_is_left_out_and_inputs_are_known() {
        let live =
            listing("setup:\n R1 = HHQR(A)\niteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n DO_NOTHING()\n");
        assert_eq!(live.statements.len(), 1);
        assert!(!live.reads_b() && live.reads_step() && live.loops());
        let error = Listing::new(&"iteration:\n v1 = HHQR(A)\n".parse().unwrap(), Geometry::Tall.into());
        assert!(error.is_err());
    }

    #[test]
    fn shapes_tell_triangles_apart() {
        let shapes: Vec<CallShape> = listing(
            "setup:\n R1 = HHQR(A)\niteration:\n v1 = TRIANGULAR_SOLVE(x, R1)\n v1 = TRIANGULAR_SOLVE(R1, v1)\n",
        )
        .statements
        .iter()
        .map(|statement| statement.shape)
        .collect();
        assert_eq!(shapes, [CallShape::Plain, CallShape::UpperSecond, CallShape::Upper]);
    }
}
