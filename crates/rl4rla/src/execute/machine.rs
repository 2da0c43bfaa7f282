//! The machine: the registers of a run and its convergence history.

use super::failure::{FailurePoint, Fault, RunFailure};
use super::kernels::{Action, Call, Output};
use super::memory::Memory;
use super::origin::ValueContext;
use super::plan::Planned;
use super::precision::Precision;
use super::run::RunSettings;
use super::run_draws::{Draws, RunData};
use crate::linalg;
use crate::program::{Arg, Datum, Reg, RegSet, Sizes, Type, Update};
use crate::rng::Stream;
use std::sync::Arc;

pub type Registers = Vec<Option<Datum>>;

/// Which iterates are measured; the history holds NaN for the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measuring {
    /// Every iterate, by loss and excess or by excess alone.
    Every {
        /// Whether the loss is measured too.
        losses: bool,
    },
    /// The first and the last iterate.
    Ends {
        /// Whether the loss is measured too.
        losses: bool,
    },
    /// Those whose residual ‖Ax − b‖/‖b‖ is shown by a pass over A that the program makes anyway.
    Shown,
}

impl Measuring {
    /// Loss and excess of every iterate.
    pub const ALL: Measuring = Measuring::Every { losses: true };

    fn losses(self) -> bool {
        matches!(self, Measuring::Every { losses: true } | Measuring::Ends { losses: true })
    }
}

/// The data of an instance are at most 1e150 in magnitude: measuring a result smaller than this cannot overflow.
const HARMLESS: f64 = 1e100;

/// The registers of a run and its convergence history.
#[derive(Clone)]
pub struct Machine<'a> {
    data: RunData<'a>,
    settings: &'a RunSettings,
    /// Which iterates are measured.
    pub measuring: Measuring,
    update: Update,
    pub step: f64,
    pub registers: Registers,
    pub x: Arc<Vec<f64>>,
    /// Whether register d is kept up to date; a run whose program does not read it changes x in place.
    pub follows_steps: bool,
    memory: Memory,
    /// Whether this iteration refreshes.
    pub refreshing: bool,
    /// Iterations begun.
    begun: usize,
    /// The last v1 if it is the answer; initially ½ for every row of A, or no rows of a basis.
    answer: Vec<f64>,
    pub residuals: Vec<f64>,
    pub excesses: Vec<f64>,
}

impl<'a> Machine<'a> {
    pub fn new(data: RunData<'a>, update: Update, settings: &'a RunSettings) -> Machine<'a> {
        let (problem, precision) = (data.problem(), settings.precision);
        let mut registers: Registers = vec![None; Reg::COUNT];
        registers[Reg::A.index()] = Some(Datum::Matrix(precision.matrix(problem.A.clone())));
        registers[Reg::B.index()] = Some(Datum::Vector(precision.vector(Arc::new(problem.b.clone()))));
        registers[Reg::P1.index()] = Some(Datum::Weights(data.uniform()));
        for reg in Reg::carried().chain([Reg::D]) {
            registers[reg.index()] = Some(vec![0.0; problem.length(reg)].into());
        }
        registers[Reg::MU.index()] = Some(precision.number(settings.mu).into());
        registers[Reg::LAMBDA.index()] = Some(precision.number(problem.lambda).into());
        let (x, step) = (precision.vector(Arc::new(problem.start.clone())), settings.step);
        registers[Reg::X.index()] = Some(Datum::Vector(x.clone()));
        let answer = if update == Update::Answer { vec![0.5; problem.rows()] } else { vec![] };
        let history = || Vec::with_capacity(settings.iterations.min(1000) + 1);
        let (residuals, excesses) = (history(), history());
        let measuring = Measuring::ALL;
        let mut machine = Machine {
            data,
            settings,
            measuring,
            update,
            step,
            registers,
            x,
            follows_steps: false,
            memory: Memory::default(),
            refreshing: true,
            begun: 0,
            answer,
            residuals,
            excesses,
        };
        machine.set_step(step);
        machine
    }

    /// Continues with another step size.
    pub fn set_step(&mut self, step: f64) {
        self.step = self.settings.precision.number(step);
        self.registers[Reg::ETA.index()] = Some(self.step.into());
    }

    /// Measures the start that the problem gives, and begins the history with it.
    pub fn measure_start(&mut self) {
        let problem = self.data.problem();
        let at_start = !self.update.is_answer();
        self.note(if at_start { problem.measure_start() } else { problem.measure(self.result()) });
    }

    /// Starts from the x that setup has written, where the history begins too, if it is to be measured.
    pub fn start_from_setup(&mut self, measured: bool) -> Result<(), RunFailure> {
        let Some(Datum::Vector(x)) = self.value(Reg::X) else { unreachable!("typing promised a vector") };
        self.x = x.clone();
        if measured {
            self.note(self.data.problem().measure(self.result()));
        }
        if self.residuals.iter().chain(&self.excesses).all(|measure| measure.is_finite()) {
            return Ok(());
        }
        Err(RunFailure {
            step: FailurePoint::Setup,
            operation: "x₀".into(),
            fault: Fault::NotFinite,
            shapes: vec![(self.x.len(), 1)],
            residuals: vec![],
        })
    }

    /// Measures the current result and adds it to the history.
    fn measure(&mut self) {
        let (problem, result) = (self.data.problem(), self.result());
        let alone = || if self.measuring.losses() { None } else { problem.measure_excess(result) };
        self.note(alone().map_or_else(|| problem.measure(result), |excess| (f64::NAN, excess)));
    }

    fn note(&mut self, (residual, excess): (f64, f64)) {
        self.residuals.push(residual);
        self.excesses.push(excess);
    }

    /// Skips a measurement that is not needed and could not overflow; returns whether it did.
    fn pass(&mut self) -> bool {
        let ends = matches!(self.measuring, Measuring::Ends { .. });
        let unasked = ends && self.residuals.len() < self.settings.iterations;
        let passes = unasked && linalg::norm(self.result()) < HARMLESS;
        if passes {
            self.residuals.push(f64::NAN);
            self.excesses.push(f64::NAN);
        }
        passes
    }

    /// The result to be measured: the iterate, or the answer.
    pub fn result(&self) -> &[f64] {
        if self.update.is_answer() { &self.answer } else { &self.x }
    }

    /// Begins an iteration: resets these registers to their values after setup, and register x to the current
    /// iterate.
    pub fn restart(&mut self, restored: RegSet, after_setup: &Registers) {
        self.memory.rewind();
        self.refreshing = self.begun.is_multiple_of(self.settings.every);
        self.begun += 1;
        for reg in restored.iter() {
            self.registers[reg.index()].clone_from(&after_setup[reg.index()]);
        }
        self.registers[Reg::X.index()] = Some(Datum::Vector(self.x.clone()));
    }

    /// Runs a section: setup for t = 0, otherwise iteration t.
    pub fn execute(
        &mut self,
        planned: &[Planned],
        t: usize,
        stream: &Stream,
        context: ValueContext,
    ) -> Result<(), RunFailure> {
        let mut draws = self.draws(stream, t);
        planned.iter().try_for_each(|planned| self.step(planned, t, context, &mut draws))
    }

    /// Runs one instruction.
    pub fn step(
        &mut self,
        planned: &Planned,
        t: usize,
        context: ValueContext,
        draws: &mut Draws,
    ) -> Result<(), RunFailure> {
        if !planned.needed.when(self.refreshing) {
            return Ok(());
        }
        let output =
            self.shared(planned, t, context, draws).map_err(|fault| self.failure(planned, t, fault))?;
        let output = self.remembered(planned.action, Some(output)).expect("what ran once has run before");
        self.store(output, planned.typed.instruction.target);
        Ok(())
    }

    /// The output of an instruction, exchanged for that of the iteration before if the operator asks for it. Of an
    /// instruction that gave none, nothing is remembered.
    pub fn remembered(&mut self, action: Action, output: Option<Output>) -> Option<Output> {
        match (action, output) {
            (Action::Previous, Some(Output::One(datum))) => {
                self.memory.exchange(Some(datum)).map(Output::One)
            }
            (Action::Previous, _) => {
                self.memory.exchange(None);
                None
            }
            (_, output) => output,
        }
    }

    /// The failure of an instruction.
    pub fn failure(&self, planned: &Planned, t: usize, fault: Fault) -> RunFailure {
        RunFailure {
            step: if t == 0 { FailurePoint::Setup } else { FailurePoint::Iteration(t) },
            operation: planned.typed.instruction.to_string(),
            fault,
            shapes: planned.typed.args.iter().map(|arg| self.shape(arg.ty)).collect(),
            residuals: self.residuals.clone(),
        }
    }

    /// The result of an instruction, from the cache shared by runs on these data or computed here.
    fn shared(
        &self,
        planned: &Planned,
        t: usize,
        context: ValueContext,
        draws: &mut Draws,
    ) -> Result<Output, Fault> {
        let Planned { typed, action, origin, is_work, .. } = planned;
        let shares = *is_work && !self.data.keeps_image(typed);
        let key = self.data.values().filter(|_| shares).zip(context.key(origin, t, self.step));
        let Some((values, key)) = key else {
            return self.call(*action, &typed.args, draws);
        };
        let mut known = true;
        let output = values.result(key, || {
            known = false;
            self.call(*action, &typed.args, draws)
        });
        if known && typed.instruction.op.samples() {
            draws.pass_sample();
        }
        output
    }

    /// Runs an operator; a result that is not finite is a fault.
    pub fn call(&self, action: Action, args: &[Arg], draws: &mut Draws) -> Result<Output, Fault> {
        let output =
            action.run(&Call { args, registers: &self.registers, refreshing: self.refreshing }, draws)?;
        if output.is_finite() { Ok(output) } else { Err(Fault::NotFinite) }
    }

    /// The random objects of a section, none drawn yet.
    pub fn draws(&self, stream: &Stream, t: usize) -> Draws<'a> {
        Draws::new(stream, t, self.settings, self.data)
    }

    /// Rows and columns of a value of this type in the original problem, whatever coordinates it is held in.
    fn shape(&self, ty: Type) -> (usize, usize) {
        let sizes: Sizes = self.settings.sizes(self.data.rows(), self.data.problem().cols());
        let size = |dim| sizes.of(dim) as usize;
        match ty {
            Type::Scalar => (1, 1),
            Type::Vector(d) | Type::Weights(d) => (size(d), 1),
            Type::Matrix(r, c, _) => (size(r), size(c)),
        }
    }

    /// The length of the vectors that a register is given or carries.
    pub fn length(&self, reg: Reg) -> usize {
        self.data.problem().length(reg)
    }

    /// The value of a register.
    pub fn value(&self, reg: Reg) -> Option<&Datum> {
        self.registers[reg.index()].as_ref()
    }

    /// Writes a result to its target.
    pub fn store(&mut self, output: Output, target: Option<Reg>) {
        match (self.settings.precision.output(output), target) {
            (Output::One(datum), Some(target)) => self.registers[target.index()] = Some(datum),
            (Output::System((matrix, vector)), _) => {
                self.registers[Reg::A.index()] = Some(Datum::Matrix(matrix));
                self.registers[Reg::B.index()] = Some(Datum::Vector(vector));
            }
            _ => {}
        }
    }

    /// Empties a register.
    pub fn clear(&mut self, reg: Reg) {
        self.registers[reg.index()] = None;
    }

    /// Applies the update.
    pub fn advance(&mut self, v1: &[f64]) {
        let before = self.follows_steps.then(|| self.x.clone());
        match self.update {
            Update::Subtract => {
                // Drop the register's reference, so that x is changed in place.
                self.registers[Reg::X.index()] = None;
                Arc::make_mut(&mut self.x).iter_mut().zip(v1).for_each(|(x, v)| *x -= self.step * v);
            }
            Update::Assign => self.x = Arc::new(v1.to_vec()),
            Update::Answer | Update::Basis => self.answer = v1.to_vec(),
        }
        if self.settings.precision != Precision::Double {
            self.x = self.settings.precision.vector(self.x.clone());
        }
        if let Some(before) = before {
            let step = Arc::new(linalg::sub(&self.x, &before));
            self.registers[Reg::D.index()] = Some(Datum::Vector(self.settings.precision.vector(step)));
        }
    }

    /// Ends an iteration: applies the update and measures the result.
    pub fn update(&mut self, step: FailurePoint) -> Result<(), RunFailure> {
        let v1 = self.step_along();
        let shown = self.measuring == Measuring::Shown;
        if !shown && self.pass() {
            return Ok(());
        }
        if !shown {
            self.measure();
        }
        self.judge_update(step, &v1)
    }

    /// The same with this measure of the result, its loss and its excess.
    pub fn update_measured(
        &mut self,
        step: FailurePoint,
        measure: impl Fn(&[f64]) -> (f64, f64),
    ) -> Result<(), RunFailure> {
        let v1 = self.step_along();
        self.note(measure(self.result()));
        self.judge_update(step, &v1)
    }

    /// Applies the update and returns v1.
    fn step_along(&mut self) -> Datum {
        let v1 = self.registers[Reg::V1.index()].clone().expect("typing demands v1");
        self.advance(v1.vector());
        v1
    }

    /// An error if the result of an update, or its measure, is not finite.
    fn judge_update(&mut self, step: FailurePoint, v1: &Datum) -> Result<(), RunFailure> {
        let shown = self.measuring == Measuring::Shown;
        let last = |history: &[f64]| history.last().is_some_and(|r| r.is_finite());
        let measured = last(&self.excesses) && (!self.measuring.losses() || last(&self.residuals));
        if (shown || measured) && linalg::norm(self.result()).is_finite() {
            return Ok(());
        }
        if !shown {
            self.residuals.pop();
        }
        Err(RunFailure {
            step,
            operation: self.update.formula().into(),
            fault: Fault::NotFinite,
            shapes: vec![v1.shape()],
            residuals: std::mem::take(&mut self.residuals),
        })
    }
}
