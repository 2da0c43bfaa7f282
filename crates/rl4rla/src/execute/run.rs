//! The full executor: runs a program on the true matrices and keeps the residual of every iteration.

use super::datum::Datum;
use super::failure::{Failure, Fault, Step};
use super::kernels::{Call, Draws, Kernel, Output, kernel};
use super::sample::Sampling;
use super::sketch::SketchKind;
use crate::linalg::{self, Matrix};
use crate::problem::{Family, Instance};
use crate::program::{
    Access, Arg, Cost, Dim, Geometry, Model, Program, Reg, Section, Sizes, Type, Typed, check,
};
use crate::rng::{Discrete, Stream};
use std::sync::{Arc, OnceLock};

/// How a program is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// T, the number of iterations.
    pub iterations: usize,
    /// η, the step size.
    pub step: f64,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// s, the rows of a sketch.
    pub sketch_rows: usize,
    /// k, the rows of a sample.
    pub batch: usize,
    /// How rows are drawn.
    pub sampling: Sampling,
    /// What the run may cost.
    pub limits: Limits,
}

/// What a run may cost; checked before anything runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Floating-point operations of one operation.
    pub flops: f64,
    /// Entries of one result.
    pub entries: f64,
    /// Iterations.
    pub iterations: usize,
}

impl Limits {
    /// The released code's cap of 10⁹ flops, raised for large problems to twenty direct solves (2mn² each).
    pub fn for_size(rows: usize, cols: usize) -> Limits {
        let solve = 2.0 * rows as f64 * (cols as f64).powi(2);
        Limits { flops: (20.0 * solve).max(1e9), entries: (1u64 << 27) as f64, iterations: 1_000_000 }
    }
}

impl Settings {
    /// The released code's settings for a problem of this size: T = 10, s = 8n and k = 100, but no more than m.
    pub fn for_size(rows: usize, cols: usize) -> Settings {
        Settings {
            iterations: 10,
            step: 1.0,
            sketch: SketchKind::Sjlt,
            sketch_rows: (8 * cols).min(rows),
            batch: rows.min(100),
            sampling: Sampling::Unbiased,
            limits: Limits::for_size(rows, cols),
        }
    }

    /// The numbers behind the symbols of a cost.
    pub fn sizes(&self, rows: usize, cols: usize) -> Sizes {
        Sizes {
            rows: rows as f64,
            cols: cols as f64,
            sketch: self.sketch_rows as f64,
            batch: self.batch as f64,
            sketch_work: self.sketch.work(self.sketch_rows, rows),
        }
    }
}

/// The course of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// ‖Ax − b‖/‖b‖ at the start and after every iteration.
    pub residuals: Vec<f64>,
    /// ‖A(x − x*)‖/‖b‖ at the start and after every iteration.
    pub excesses: Vec<f64>,
    /// The last iterate.
    pub x: Vec<f64>,
    /// `R1` as setup left it, if it is n×n: where a preconditioner is built.
    pub preconditioner: Option<Arc<Matrix>>,
}

/// The shape of a problem.
pub fn geometry(instance: &Instance) -> Geometry {
    shape(instance.symmetric, instance.rows(), instance.cols())
}

/// The shape of a family's problems, without drawing one.
pub fn geometry_of(family: &Family) -> Geometry {
    shape(family.kind.info().square, family.rows, family.cols)
}

fn shape(symmetric: bool, rows: usize, cols: usize) -> Geometry {
    match (symmetric, rows == cols) {
        (true, _) => Geometry::Symmetric,
        (false, true) => Geometry::Square,
        (false, false) => Geometry::Tall,
    }
}

/// Runs a program on an instance: a pure function of its arguments.
///
/// ```
/// use rl4rla::{execute::{Settings, run}, problem::Family, program::Entry, rng::Stream};
/// let mut family = Family::named("low-cond").unwrap();
/// (family.rows, family.cols) = (200, 5);
/// let instance = family.draw(&Stream::new(1)).unwrap();
/// let gradient_descent = &Entry::named("ls-gd").unwrap().document.program;
/// let trace = run(gradient_descent, &instance, &Settings::for_size(200, 5), &Stream::new(2)).unwrap();
/// assert_eq!(trace.residuals.len(), 11);
/// assert!(trace.residuals[10] < 0.1 * trace.residuals[0]);
/// ```
pub fn run(
    program: &Program,
    instance: &Instance,
    settings: &Settings,
    stream: &Stream,
) -> Result<Trace, Failure> {
    let geometry = geometry(instance);
    let typed =
        check(program, geometry).map_err(|error| refuse(String::new(), Fault::Shape(Box::new(error))))?;
    within_limits(&typed, geometry, instance, settings)?;
    let (setup, iteration): (Vec<Planned>, Vec<Planned>) =
        typed.iter().map(Planned::new).partition(|planned| planned.typed.section == Section::Setup);
    let mut machine = Machine::new(instance, settings);
    machine.measure();
    machine.execute(&setup, Step::Setup, stream.derive("setup", 0))?;
    let preconditioner = preconditioner(&setup, &machine);
    let after_setup = machine.registers.clone();
    for t in 1..=settings.iterations {
        machine.restart(&after_setup);
        machine.execute(&iteration, Step::Iteration(t), stream.derive("iteration", t as u64))?;
        machine.update(Step::Iteration(t))?;
    }
    let Machine { x, residuals, excesses, .. } = machine;
    Ok(Trace { residuals, excesses, x, preconditioner })
}

/// R1 as setup left it, if it is an n×n matrix by type and not by a coincidence of sizes.
fn preconditioner(setup: &[Planned], machine: &Machine) -> Option<Arc<Matrix>> {
    let written = setup.iter().rev().find(|planned| planned.typed.instruction.target == Some(Reg::R1))?;
    match (written.typed.result, machine.value(Reg::R1)) {
        (Some(Type::Matrix(Dim::Cols, Dim::Cols, _)), Some(Datum::Matrix(m))) => Some(m.clone()),
        _ => None,
    }
}

fn refuse(operation: String, fault: Fault) -> Failure {
    Failure { step: Step::Check, operation, fault, shapes: vec![], residuals: vec![] }
}

/// Refuses what would cost too much, from the types alone.
fn within_limits(
    typed: &[Typed],
    geometry: Geometry,
    instance: &Instance,
    settings: &Settings,
) -> Result<(), Failure> {
    let sizes = settings.sizes(instance.rows(), instance.cols());
    let Limits { flops: flop_cap, entries: entry_cap, iterations: cap } = settings.limits;
    if settings.iterations > cap {
        return Err(refuse(String::new(), Fault::TooLong { iterations: settings.iterations, cap }));
    }
    for instruction in typed {
        let flops = Cost::of(instruction, geometry, Model::True).flops.eval(&sizes);
        let entries = match instruction.result {
            Some(Type::Matrix(r, c, _)) => sizes.of(r) * sizes.of(c),
            _ => 0.0,
        };
        let fault = match (flops > flop_cap, entries > entry_cap) {
            (true, _) => Fault::TooCostly { flops, cap: flop_cap },
            (_, true) => Fault::TooLarge { entries, cap: entry_cap },
            _ => continue,
        };
        return Err(refuse(instruction.instruction.to_string(), fault));
    }
    Ok(())
}

/// An instruction with its kernel looked up.
struct Planned<'a> {
    typed: &'a Typed<'a>,
    kernel: Kernel,
}

impl<'a> Planned<'a> {
    fn new(typed: &'a Typed<'a>) -> Planned<'a> {
        Planned { typed, kernel: kernel(typed.instruction.op) }
    }
}

/// Runs a kernel; a result that is not finite is a fault.
pub(super) fn call(
    kernel: Kernel,
    args: &[Arg],
    values: &[Datum],
    draws: &mut Draws,
) -> Result<Output, Fault> {
    let output = kernel(&Call { args, values }, draws)?;
    let finite = match &output {
        Output::One(datum) => datum.is_finite(),
        Output::System(m, v) => m.is_finite() && v.iter().all(|a| a.is_finite()),
        Output::None => true,
    };
    if finite { Ok(output) } else { Err(Fault::NotFinite) }
}

type Registers = Vec<Option<Datum>>;

/// The registers of a run, with the history of its residuals.
pub(super) struct Machine<'a> {
    instance: &'a Instance,
    settings: &'a Settings,
    pub(super) registers: Registers,
    pub(super) x: Vec<f64>,
    residuals: Vec<f64>,
    excesses: Vec<f64>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(instance: &'a Instance, settings: &'a Settings) -> Machine<'a> {
        let mut registers: Registers = vec![None; Reg::COUNT];
        let uniform = Discrete::uniform(instance.rows()).expect("an instance has rows");
        registers[Reg::A.index()] = Some(Datum::Matrix(instance.A.clone()));
        registers[Reg::B.index()] = Some(instance.b.clone().into());
        registers[Reg::ETA.index()] = Some(settings.step.into());
        registers[Reg::P1.index()] = Some(uniform.into());
        for reg in Reg::carried() {
            registers[reg.index()] = Some(vec![0.0; instance.cols()].into());
        }
        let x = vec![0.0; instance.cols()];
        registers[Reg::X.index()] = Some(x.clone().into());
        Machine { instance, settings, registers, x, residuals: Vec::new(), excesses: Vec::new() }
    }

    fn measure(&mut self) {
        let (residual, excess) = self.instance.measure(&self.x);
        self.residuals.push(residual);
        self.excesses.push(excess);
    }

    /// Puts every scratch register, A and b back to what setup left; carried registers keep their values.
    pub(super) fn restart(&mut self, after_setup: &Registers) {
        for reg in Reg::all().filter(|r| r.access() != Access::Carried) {
            self.registers[reg.index()].clone_from(&after_setup[reg.index()]);
        }
        self.registers[Reg::X.index()] = Some(self.x.clone().into());
    }

    fn execute(&mut self, planned: &[Planned], step: Step, stream: Stream) -> Result<(), Failure> {
        let mut draws = self.draws(stream);
        for Planned { typed, kernel } in planned {
            let value = |arg: &Arg| self.value(arg.reg).expect("typing admits no undefined operand").clone();
            let values: Vec<Datum> = typed.args.iter().map(value).collect();
            let output = call(*kernel, &typed.args, &values, &mut draws).map_err(|fault| Failure {
                step,
                operation: typed.instruction.to_string(),
                fault,
                shapes: values.iter().map(Datum::shape).collect(),
                residuals: self.residuals.clone(),
            })?;
            self.store(output, typed.instruction.target);
        }
        Ok(())
    }

    /// The random objects of a section, none drawn yet.
    pub(super) fn draws(&self, stream: Stream) -> Draws<'a> {
        let (settings, rows) = (self.settings, self.instance.rows());
        Draws { stream, sketch: OnceLock::new(), samples: 0, settings, rows }
    }

    /// What a register holds.
    pub(super) fn value(&self, reg: Reg) -> Option<&Datum> {
        self.registers[reg.index()].as_ref()
    }

    /// Puts a result where it belongs.
    pub(super) fn store(&mut self, output: Output, target: Option<Reg>) {
        match (output, target) {
            (Output::One(datum), Some(target)) => self.registers[target.index()] = Some(datum),
            (Output::System(matrix, vector), _) => {
                self.registers[Reg::A.index()] = Some(matrix.into());
                self.registers[Reg::B.index()] = Some(vector.into());
            }
            _ => {}
        }
    }

    /// Forgets what a register holds.
    pub(super) fn clear(&mut self, reg: Reg) {
        self.registers[reg.index()] = None;
    }

    /// x ← x − η·v.
    pub(super) fn advance(&mut self, v: &[f64]) {
        self.x.iter_mut().zip(v).for_each(|(x, v)| *x -= self.settings.step * v);
    }

    /// Ends an iteration: moves x along v1, and measures where it is.
    fn update(&mut self, step: Step) -> Result<(), Failure> {
        let v1 = self.registers[Reg::V1.index()].clone().expect("typing demands v1");
        self.advance(v1.vector());
        self.measure();
        let last = |history: &[f64]| history.last().is_some_and(|r| r.is_finite());
        if linalg::norm(&self.x).is_finite() && last(&self.residuals) && last(&self.excesses) {
            return Ok(());
        }
        self.residuals.pop();
        Err(Failure {
            step,
            operation: "x = x − η·v1".into(),
            fault: Fault::NotFinite,
            shapes: vec![v1.shape()],
            residuals: std::mem::take(&mut self.residuals),
        })
    }
}
