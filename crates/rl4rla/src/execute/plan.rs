//! Plans: a program that is type-checked, within its cost limits and matched with kernels before it runs.

use super::failure::{FailurePoint, Fault, RunFailure};
use super::kernels::Action;
use super::origin::{Origin, Origins};
use super::run::{Limits, RunSettings};
use super::run_draws::is_data;
use crate::problem::Shape;
use crate::program::{
    Access, Arg, Core, Dim, Meaning, NeededIn, Program, Reg, RegSet, Section, Sizes, Type, Typed, Update,
    check, needed,
};

/// An instruction with its kernel looked up.
pub struct Planned<'a> {
    pub(super) typed: Typed<'a>,
    pub(super) action: Action,
    pub(super) origin: Origin,
    /// Whether a result is worth keeping for other runs.
    pub(super) is_work: bool,
    /// In which iterations it runs.
    pub(super) needed: NeededIn,
}

/// A program that fits the shape of an instance and its cost limits. A plan does not depend on the step size.
pub struct Plan<'a> {
    planned: Vec<Planned<'a>>,
    setup: usize,
    /// Registers that an iteration changes and that are reset to their values after setup before the next one.
    pub(super) restored: RegSet,
    /// Whether setup writes x, so that runs start there.
    pub(super) starts_warm: bool,
    pub(super) update: Update,
    /// Origin of the value of R1 after setup.
    pub(super) preconditioner: Origin,
}

/// How a triangular factor is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factorisation {
    /// Singular values down to ε·σ₁ show in it.
    Direct,
    /// From AᵀA: singular values below √ε·σ₁ are lost.
    Squared,
}

impl<'a> Plan<'a> {
    /// The plan of a program, or the reason why it may not run.
    pub fn new(program: &'a Program, shape: Shape, settings: &RunSettings) -> Result<Plan<'a>, RunFailure> {
        let typed = check(program, shape.signature)
            .map_err(|error| refuse(String::new(), Fault::Shape(Box::new(error))))?;
        let work = within_limits(&typed, &settings.sizes(shape.rows, shape.cols), settings)?;
        let setup = program.setup.len();
        let mut typed = typed.into_iter().zip(work);
        let mut origins = Origins::start();
        let always = NeededIn { refreshing: true, ordinary: true };
        let plan = |(typed, is_work): (Typed<'a>, bool), origins: &mut Origins, needed: NeededIn| {
            let origin = origins.step(typed.instruction, &typed.args, typed.section);
            Planned { action: Action::of(typed.instruction.op), typed, origin, is_work, needed }
        };
        let mut planned: Vec<Planned> =
            typed.by_ref().take(setup).map(|typed| plan(typed, &mut origins, always)).collect();
        let preconditioner = origins.of(Reg::R1);
        origins.iterate();
        let needed = needed(&program.iteration);
        planned.extend(typed.zip(needed).map(|(typed, needed)| plan(typed, &mut origins, needed)));
        let written = program.iteration.iter().fold(RegSet::EMPTY, |set, ins| set.union(ins.writes()));
        let restored = written.iter().filter(|reg| reg.access() != Access::Carried).collect();
        let starts_warm = program.setup.iter().any(|ins| ins.target == Some(Reg::X));
        let update = shape.signature.update;
        Ok(Plan { planned, setup, restored, starts_warm, update, preconditioner })
    }

    /// The instructions of a section.
    pub(super) fn section(&self, section: Section) -> &[Planned<'a>] {
        match section {
            Section::Setup => &self.planned[..self.setup],
            Section::Iteration => &self.planned[self.setup..],
        }
    }

    /// Whether a section reads the step size.
    pub fn reads_step(&self, section: Section) -> bool {
        self.reads(Reg::ETA, section)
    }

    /// Whether the iteration reads the last step.
    pub(super) fn follows_steps(&self) -> bool {
        self.reads(Reg::D, Section::Iteration)
    }

    fn reads(&self, reg: Reg, section: Section) -> bool {
        self.section(section).iter().any(|p| p.typed.instruction.operands.contains(&reg))
    }

    /// Whether an iteration passes anything besides x to the next one.
    pub fn carries(&self) -> bool {
        let writes =
            |p: &Planned| p.typed.instruction.writes().iter().any(|reg| reg.access() == Access::Carried);
        self.section(Section::Iteration).iter().any(writes)
            || self.follows_steps()
            || self.remembers()
            || self.refreshes()
    }

    /// Whether some iterations differ from others: those that refresh a value.
    pub fn refreshes(&self) -> bool {
        self.planned.iter().any(|p| p.typed.instruction.op.refreshes())
    }

    /// Whether an instruction remembers its operand from one iteration to the next.
    pub(super) fn remembers(&self) -> bool {
        self.planned.iter().any(|p| p.typed.instruction.op.remembers())
    }

    /// Whether setup leaves a matrix in R1 whose type is n×n, not merely its size.
    pub(super) fn preconditions(&self) -> bool {
        let setup = self.section(Section::Setup).iter().rev();
        let written = setup.map(|p| &p.typed).find(|typed| typed.instruction.target == Some(Reg::R1));
        written.is_some_and(|t| matches!(t.result, Some(Type::Matrix(Dim::Cols, Dim::Cols, _))))
    }

    /// How setup computes the triangular factor of A, or of a sketch of A, that it leaves in R1, if it does.
    pub fn factorises(&self) -> Option<Factorisation> {
        let setup = self.section(Section::Setup);
        let last = |reg: Reg, before: usize| {
            setup[..before].iter().rposition(|p| p.typed.instruction.target == Some(reg))
        };
        let at = last(Reg::R1, setup.len())?;
        let typed = &setup[at].typed;
        let (op, arg) = (typed.instruction.op, typed.args.first()?);
        // A sketch of A, if not A itself.
        let sketched = || {
            let sketch = &setup[last(arg.reg, at)?].typed;
            (sketch.instruction.op.is(Core::Sketch) && sketch.args.iter().all(is_data)).then_some(())
        };
        if !is_data(arg) {
            sketched()?;
        }
        match (op.is(Core::Hhqr), op.meaning, typed.args.len()) {
            (true, ..) | (_, Meaning::Factor, 2) => Some(Factorisation::Direct),
            (_, Meaning::Factor, _) => Some(Factorisation::Squared),
            _ => None,
        }
    }

    /// Whether some operator needs the true entries along this dimension.
    pub(super) fn fixes(&self, dim: Dim) -> bool {
        self.planned.iter().any(|p| p.action.fixes(&p.typed.args, dim))
    }

    /// An error if an operator needs all of the data in memory.
    pub(super) fn refuse_whole(&self, settings: &RunSettings) -> Result<(), RunFailure> {
        let whole = |p: &&Planned| {
            !p.typed.instruction.op.streams && p.action.needs_whole(&p.typed.args, settings.sketch)
        };
        match self.planned.iter().find(whole) {
            Some(p) => Err(refuse(p.typed.instruction.to_string(), Fault::NotInMemory)),
            None => Ok(()),
        }
    }

    /// Whether iterations, not only setup, draw random objects.
    pub fn draws_in_iterations(&self) -> bool {
        self.section(Section::Iteration).iter().any(|p| p.typed.instruction.op.draws())
    }

    /// Whether a section draws a sketch.
    pub(super) fn sketches(&self, section: Section) -> bool {
        self.section(section).iter().any(|p| p.typed.instruction.op.sketches())
    }
}

fn refuse(operation: String, fault: Fault) -> RunFailure {
    RunFailure { step: FailurePoint::Check, operation, fault, shapes: vec![], residuals: vec![] }
}

/// Flops per entry of a result from which on it is worth its memory.
const WORTH_KEEPING: f64 = 16.0;

/// Length from which on a vector computed entry by entry takes longer than looking it up.
const LONG: f64 = 1024.0;

/// Which results are worth keeping for other runs, or an error if the types show that a cost limit would be exceeded.
fn within_limits(typed: &[Typed], sizes: &Sizes, settings: &RunSettings) -> Result<Vec<bool>, RunFailure> {
    let Limits { flops: flop_cap, entries: entry_cap, iterations: cap } = settings.limits;
    if settings.iterations > cap {
        return Err(refuse(String::new(), Fault::TooLong { iterations: settings.iterations, cap }));
    }
    let check = |typed: &Typed| {
        let op = typed.instruction.op;
        let flops = (op.flops)(&typed.args).eval(sizes);
        let is_matrix = matches!(typed.result, Some(Type::Matrix(..)));
        let entries = match typed.result {
            Some(Type::Matrix(r, c, _)) => sizes.of(r) * sizes.of(c),
            Some(Type::Vector(d) | Type::Weights(d)) => sizes.of(d),
            _ => 1.0,
        };
        let fault = match (flops > flop_cap, is_matrix && entries > entry_cap) {
            (true, _) => Fault::TooCostly { flops, cap: flop_cap },
            (_, true) => Fault::TooLarge { entries, cap: entry_cap },
            _ => {
                // Otherwise it takes less time to compute a result than to look it up.
                let large = |arg: &Arg| matches!(arg.ty, Type::Matrix(..) | Type::Weights(_));
                let saves = op.draws() || flops >= WORTH_KEEPING * entries;
                let is_function =
                    !op.is_core() && !op.remembers() && !op.refreshes() && !is_matrix && entries >= LONG;
                return Ok(is_function || (saves && typed.args.iter().any(large)));
            }
        };
        Err(refuse(typed.instruction.to_string(), fault))
    };
    typed.iter().map(check).collect()
}
