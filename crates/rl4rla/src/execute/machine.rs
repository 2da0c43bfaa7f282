//! The machine: the registers of a run, and the history of its residuals.

use super::draws::{Data, Draws};
use super::failure::{Failure, Fault, Step};
use super::kernels::{Action, Call, Output};
use super::plan::Planned;
use super::run::Settings;
use crate::linalg;
use crate::program::{Access, Arg, Datum, Reg, Sizes, Type, Update};
use crate::rng::Stream;

pub type Registers = Vec<Option<Datum>>;

/// Which iterates of a run are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// Every one.
    All,
    /// The first and the last; the history holds NaN for those between.
    Ends,
}

/// The data of an instance are at most 1e150 in size: what is measured of a result below this cannot overflow.
const HARMLESS: f64 = 1e100;

/// The registers of a run, with the history of its residuals.
#[derive(Clone)]
pub struct Machine<'a> {
    data: Data<'a>,
    settings: &'a Settings,
    /// Which iterates are measured.
    pub measured: Measured,
    update: Update,
    step: f64,
    pub registers: Registers,
    pub x: Vec<f64>,
    /// What the program said last, where that and not x is its result; at first nothing is known of any row.
    answer: Vec<f64>,
    pub residuals: Vec<f64>,
    pub excesses: Vec<f64>,
}

impl<'a> Machine<'a> {
    pub fn new(data: Data<'a>, update: Update, settings: &'a Settings) -> Machine<'a> {
        let problem = data.problem();
        let mut registers: Registers = vec![None; Reg::COUNT];
        registers[Reg::A.index()] = Some(Datum::Matrix(problem.A.clone()));
        registers[Reg::B.index()] = Some(problem.b.clone().into());
        registers[Reg::P1.index()] = Some(Datum::Weights(data.uniform()));
        let zero = Datum::from(vec![0.0; problem.cols()]);
        for reg in Reg::carried() {
            registers[reg.index()] = Some(zero.clone());
        }
        let (x, step) = (problem.start.clone(), settings.step);
        registers[Reg::X.index()] = Some(x.clone().into());
        let answer = if update == Update::Answer { vec![0.5; problem.rows()] } else { vec![] };
        let history = || Vec::with_capacity(settings.iterations.min(1000) + 1);
        let (residuals, excesses) = (history(), history());
        let measured = Measured::All;
        let mut machine =
            Machine { data, settings, measured, update, step, registers, x, answer, residuals, excesses };
        machine.set_step(step);
        machine
    }

    /// Goes on with another step size.
    pub fn set_step(&mut self, step: f64) {
        self.step = step;
        self.registers[Reg::ETA.index()] = Some(step.into());
    }

    /// Adds what is measured here to the history.
    pub fn measure(&mut self) {
        let (residual, excess) = self.data.problem().measure(self.result());
        self.residuals.push(residual);
        self.excesses.push(excess);
    }

    /// Goes without measuring where nobody asks and where a measure could not fail.
    fn pass(&mut self) -> bool {
        let unasked = self.measured == Measured::Ends && self.residuals.len() < self.settings.iterations;
        let passes = unasked && linalg::norm(self.result()) < HARMLESS;
        if passes {
            self.residuals.push(f64::NAN);
            self.excesses.push(f64::NAN);
        }
        passes
    }

    /// What is measured: the iterate, or the answer.
    pub fn result(&self) -> &[f64] {
        if self.update == Update::Answer { &self.answer } else { &self.x }
    }

    /// Puts every scratch register, A and b back to what setup left; carried registers keep their values.
    pub fn restart(&mut self, after_setup: &Registers) {
        for reg in Reg::all().filter(|r| r.access() != Access::Carried) {
            self.registers[reg.index()].clone_from(&after_setup[reg.index()]);
        }
        self.registers[Reg::X.index()] = Some(self.x.clone().into());
    }

    pub fn execute(&mut self, planned: &[Planned], step: Step, stream: Stream) -> Result<(), Failure> {
        let mut draws = self.draws(stream);
        for Planned { typed, action } in planned {
            let output = self.call(*action, &typed.args, &mut draws).map_err(|fault| Failure {
                step,
                operation: typed.instruction.to_string(),
                fault,
                shapes: typed.args.iter().map(|arg| self.shape(arg.ty)).collect(),
                residuals: self.residuals.clone(),
            })?;
            self.store(output, typed.instruction.target);
        }
        Ok(())
    }

    /// Runs an operator; a result that is not finite is a fault.
    pub fn call(&self, action: Action, args: &[Arg], draws: &mut Draws) -> Result<Output, Fault> {
        let output = action.run(&Call { args, registers: &self.registers }, draws)?;
        let finite = match &output {
            Output::One(datum) => datum.is_finite(),
            Output::System((m, v)) => m.is_finite() && v.iter().all(|a| a.is_finite()),
            Output::None => true,
        };
        if finite { Ok(output) } else { Err(Fault::NotFinite) }
    }

    /// The random objects of a section, none drawn yet.
    pub fn draws(&self, stream: Stream) -> Draws<'a> {
        Draws::new(stream, self.settings, self.data)
    }

    /// Rows and columns of a value of this type, in whatever coordinates it is held.
    fn shape(&self, ty: Type) -> (usize, usize) {
        let truth = self.data.truth();
        let sizes: Sizes = self.settings.sizes(truth.rows(), truth.cols());
        let size = |dim| sizes.of(dim) as usize;
        match ty {
            Type::Scalar => (1, 1),
            Type::Vector(d) | Type::Weights(d) => (size(d), 1),
            Type::Matrix(r, c, _) => (size(r), size(c)),
        }
    }

    /// What a register holds.
    pub fn value(&self, reg: Reg) -> Option<&Datum> {
        self.registers[reg.index()].as_ref()
    }

    /// Puts a result where it belongs.
    pub fn store(&mut self, output: Output, target: Option<Reg>) {
        match (output, target) {
            (Output::One(datum), Some(target)) => self.registers[target.index()] = Some(datum),
            (Output::System((matrix, vector)), _) => {
                self.registers[Reg::A.index()] = Some(Datum::Matrix(matrix));
                self.registers[Reg::B.index()] = Some(Datum::Vector(vector));
            }
            _ => {}
        }
    }

    /// Forgets what a register holds.
    pub fn clear(&mut self, reg: Reg) {
        self.registers[reg.index()] = None;
    }

    /// Makes of v1 what becomes of it.
    pub fn advance(&mut self, v1: &[f64]) {
        match self.update {
            Update::Subtract => self.x.iter_mut().zip(v1).for_each(|(x, v)| *x -= self.step * v),
            Update::Assign => self.x = v1.to_vec(),
            Update::Answer => self.answer = v1.to_vec(),
        }
    }

    /// Ends an iteration: moves on by v1, and measures where that leads.
    pub fn update(&mut self, step: Step) -> Result<(), Failure> {
        let v1 = self.registers[Reg::V1.index()].clone().expect("typing demands v1");
        self.advance(v1.vector());
        if self.pass() {
            return Ok(());
        }
        self.measure();
        let last = |history: &[f64]| history.last().is_some_and(|r| r.is_finite());
        if linalg::norm(self.result()).is_finite() && last(&self.residuals) && last(&self.excesses) {
            return Ok(());
        }
        self.residuals.pop();
        Err(Failure {
            step,
            operation: self.update.formula().into(),
            fault: Fault::NotFinite,
            shapes: vec![v1.shape()],
            residuals: std::mem::take(&mut self.residuals),
        })
    }
}
