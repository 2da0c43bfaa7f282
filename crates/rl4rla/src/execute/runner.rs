//! The runner: setup, then one iteration after another, on drawn, large and file-backed data alike.
//!
//! Runs differ in which iterates are measured and in fusion, a property of plan and data: if an iteration computes
//! A·u − b and then Aᵀ times that, one pass over A gives both, and with them the residual of the iterate.

use super::failure::{FailurePoint, Fault, RunFailure};
use super::fusion::{Pass, passes};
use super::kernels::Output;
use super::known::KnownProduct;
use super::machine::{Machine, Measuring, Registers};
use super::origin::ValueContext;
use super::plan::{Plan, Planned};
use super::run::{RunSettings, Trace};
use super::run_draws::{Draws, RunData};
use crate::linalg;
use crate::problem::Instance;
use crate::program::{Datum, Reg, Section};
use crate::rng::Stream;
use std::sync::Arc;

/// A run between two iterations.
#[derive(Clone)]
pub struct Runner<'a> {
    plan: &'a Plan<'a>,
    data: RunData<'a>,
    settings: &'a RunSettings,
    machine: Machine<'a>,
    after_setup: Registers,
    /// Products of an iteration that share a pass over A.
    fused: Vec<Pass>,
    /// Products that the next iteration need not make.
    known: Vec<KnownProduct>,
    stream: Stream,
    /// The RNG stream of the iterations.
    iteration_stream: Stream,
    context: ValueContext,
    passes: usize,
    t: usize,
    measured: Option<Measured>,
}

/// Residual and gradient at the x of the last separate pass: an iteration that starts there does not compute them again.
#[derive(Clone)]
struct Measured {
    x: Vec<f64>,
    r: Vec<f64>,
    gradient: Vec<f64>,
}

/// What a pass over A shows of the iterate.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// ‖Ax − b‖/‖b‖.
    pub residual: f64,
    /// ‖Ax − b‖.
    pub distance: f64,
    /// Aᵀ(Ax − b).
    pub gradient: Vec<f64>,
}

impl Seen {
    /// What the residual r and the gradient Aᵀr show.
    pub(crate) fn of(instance: &Instance, r: &[f64], gradient: &[f64]) -> Seen {
        let distance = linalg::norm(r);
        Seen { residual: instance.relative(distance), distance, gradient: gradient.to_vec() }
    }
}

impl<'a> Runner<'a> {
    /// Runs setup; the start is measured first, unless only the program's own passes are used for measurement.
    pub fn begin(
        plan: &'a Plan<'a>,
        data: RunData<'a>,
        settings: &'a RunSettings,
        stream: &Stream,
        measuring: Measuring,
    ) -> Result<Runner<'a>, RunFailure> {
        let whole = data.problem().A.is_dense();
        if !whole {
            plan.refuse_whole(settings)?;
        }
        // In memory a second pass is cheap, and separate products tell which operation fails.
        let fuses = measuring == Measuring::Shown || !whole;
        let mut runner = Runner {
            plan,
            data,
            settings,
            machine: Runner::machine(plan, data, settings, measuring),
            after_setup: vec![],
            fused: if fuses { Pass::all(plan.section(Section::Iteration)) } else { vec![] },
            known: vec![],
            stream: *stream,
            iteration_stream: *stream,
            context: ValueContext::new(settings, data, stream),
            passes: 0,
            t: 0,
            measured: None,
        };
        runner.set_up()?;
        Ok(runner)
    }

    /// A machine at the start, which is measured unless only the program's own passes are used for measurement, or
    /// setup is to replace it.
    fn machine(
        plan: &Plan,
        data: RunData<'a>,
        settings: &'a RunSettings,
        measuring: Measuring,
    ) -> Machine<'a> {
        let mut machine = Machine::new(data, data.problem().task.update(), settings);
        if measuring != Measuring::Shown && !plan.starts_warm {
            machine.measure_start();
        }
        (machine.measuring, machine.follows_steps) = (measuring, plan.follows_steps());
        machine
    }

    fn set_up(&mut self) -> Result<(), RunFailure> {
        let setup = self.plan.section(Section::Setup);
        self.machine.execute(setup, 0, &self.stream, self.context)?;
        self.passes += setup.iter().map(passes).sum::<usize>();
        self.after_setup = self.machine.registers.clone();
        self.start_from_setup()
    }

    fn start_from_setup(&mut self) -> Result<(), RunFailure> {
        let measured = self.machine.measuring != Measuring::Shown;
        if self.plan.starts_warm { self.machine.start_from_setup(measured) } else { Ok(()) }
    }

    /// A copy of the run with another step size; only before the first iteration and if setup does not read the step
    /// size.
    pub fn with_step(&self, step: f64) -> Runner<'a> {
        debug_assert!(!self.plan.reads_step(Section::Setup) && self.t == 0);
        let mut runner = self.clone();
        runner.machine.set_step(step);
        runner.after_setup.clone_from(&runner.machine.registers);
        runner
    }

    /// A copy of the run that starts at x; only before the first iteration. Setup has used the start of the problem.
    pub fn moved_to(&self, x: Vec<f64>) -> Runner<'a> {
        debug_assert!(self.t == 0);
        let mut runner = self.clone();
        runner.machine.x = Arc::new(x);
        runner
    }

    /// The same run with other iterates measured.
    pub fn measuring(mut self, measuring: Measuring) -> Runner<'a> {
        self.machine.measuring = measuring;
        self
    }

    /// Restarts from the initial x with another step size; setup is run again only if it depends on the step size.
    pub fn restart(&mut self, step: f64) -> Result<(), RunFailure> {
        self.restart_with(step, self.stream)
    }

    /// The same, with iterations that draw from another RNG stream.
    pub(super) fn restart_with(&mut self, step: f64, stream: Stream) -> Result<(), RunFailure> {
        self.machine = Runner::machine(self.plan, self.data, self.settings, self.machine.measuring);
        self.t = 0;
        let again = self.plan.reads_step(Section::Setup);
        if !again {
            self.machine.registers.clone_from(&self.after_setup);
            self.start_from_setup()?;
        }
        self.machine.set_step(step);
        if again {
            self.set_up()?;
        }
        self.iteration_stream = stream;
        Ok(())
    }

    /// The RNG stream that the run was started with.
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The current result: the iterate, or the answer.
    pub fn result(&self) -> &[f64] {
        self.machine.result()
    }

    /// Iterations started.
    pub fn iterations(&self) -> usize {
        self.t
    }

    /// The excess at the start and after every iteration done.
    pub fn excesses(&self) -> &[f64] {
        &self.machine.excesses
    }

    /// The loss at the start and after every iteration done.
    pub fn losses(&self) -> &[f64] {
        &self.machine.residuals
    }

    /// Number of operations that have read all of A.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Whether iterations, not only setup, draw random numbers.
    pub fn draws_in_iterations(&self) -> bool {
        self.plan.draws_in_iterations()
    }

    /// Whether every iteration measures the iterate it starts from.
    pub fn shows(&self) -> bool {
        let iteration = self.plan.section(Section::Iteration);
        let always = |pass: &Pass| iteration[pass.product].needed.when(false);
        self.fused.iter().any(|pass| pass.measures(iteration) && always(pass))
    }

    /// Continues with another step size; values that setup computed from the previous one stay.
    pub fn set_step(&mut self, step: f64) {
        self.machine.set_step(step);
    }

    /// Runs one iteration and returns what a pass showed of the iterate before it.
    pub fn advance(&mut self) -> Result<Option<Seen>, RunFailure> {
        let seen = self.aim()?;
        self.land()?;
        Ok(seen)
    }

    /// The first half of an iteration: all instructions, up to v1.
    pub fn aim(&mut self) -> Result<Option<Seen>, RunFailure> {
        self.t += 1;
        let known = &std::mem::take(&mut self.known)[..];
        let Runner {
            plan, machine, after_setup, fused, iteration_stream, context, passes, t, measured, ..
        } = self;
        machine.restart(plan.restored, after_setup);
        let mut draws = machine.draws(iteration_stream, *t);
        let (iteration, instance) = (plan.section(Section::Iteration), self.data.problem());
        let seen =
            Iteration { machine, iteration, fused, known, t: *t, context: *context, instance, measured }
                .run(&mut draws, passes)?;
        if machine.measuring == Measuring::Shown {
            machine.residuals.push(seen.as_ref().map_or(f64::NAN, |seen| seen.residual));
        }
        Ok(seen)
    }

    /// The second half of an iteration: applies the update and measures the result.
    pub fn land(&mut self) -> Result<(), RunFailure> {
        self.machine.update(FailurePoint::Iteration(self.t))
    }

    /// The same with this measure of the new iterate, its loss and its excess.
    pub fn land_measured(&mut self, measure: impl Fn(&[f64]) -> (f64, f64)) -> Result<(), RunFailure> {
        self.machine.update_measured(FailurePoint::Iteration(self.t), measure)
    }

    /// Spares the next iteration these products with A.
    pub fn know(&mut self, products: Vec<KnownProduct>) {
        self.known = products;
    }

    /// Ax − b at the iterate; at the usual start, x = 0, it takes no pass.
    pub(super) fn residual(&mut self) -> Vec<f64> {
        let (x, b) = (self.machine.x.clone(), &self.data.problem().b);
        match x.iter().all(|&x| x == 0.0) {
            true => linalg::scale(-1.0, b),
            false => linalg::sub(&self.product(&x), b),
        }
    }

    /// A·v1, for the v1 of the last [`Runner::aim`].
    pub fn image(&mut self) -> Vec<f64> {
        let v1 = self.machine.value(Reg::V1).cloned().expect("typing demands v1");
        self.product(v1.vector())
    }

    /// A·v, counted as a pass.
    fn product(&mut self, v: &[f64]) -> Vec<f64> {
        self.passes += 1;
        linalg::mat_vec(&self.data.problem().A, v)
    }

    /// The residual and the gradient at a vector, by a separate pass if the last one was made elsewhere.
    pub fn measure_at(&mut self, x: &[f64]) -> Seen {
        let instance = self.data.problem();
        let known = self.measured.take().filter(|known| known.x == x);
        let known = known.unwrap_or_else(|| {
            self.passes += 1;
            let (r, gradient) = linalg::residual_and_gradient(&instance.A, x, &instance.b);
            Measured { x: x.to_vec(), r, gradient }
        });
        let seen = Seen::of(instance, &known.r, &known.gradient);
        self.measured = Some(known);
        seen
    }

    /// The triangular factor of A, or of a sketch of it, that setup leaves in R1, if the program computes one.
    pub fn factor(&self) -> Option<&Arc<linalg::Matrix>> {
        match &self.after_setup[Reg::R1.index()] {
            Some(Datum::Matrix(factor)) if self.plan.factorises().is_some() => Some(factor),
            _ => None,
        }
    }

    /// The residual and the gradient at the iterate, by a separate pass.
    pub fn measure(&mut self) -> Seen {
        self.measure_at(&self.machine.x.clone())
    }

    /// Runs the remaining iterations.
    pub fn finish(mut self) -> Result<Trace, RunFailure> {
        while self.t < self.settings.iterations {
            self.advance()?;
        }
        Ok(self.end())
    }

    /// Ends the run here.
    pub fn end(mut self) -> Trace {
        if self.machine.measuring == Measuring::Shown {
            // Only the residual, for half the work of a gradient.
            let (image, instance) = (self.product(&self.machine.x.clone()), self.data.problem());
            let distance = linalg::norm(&linalg::sub(&image, &instance.b));
            self.machine.residuals.push(instance.relative(distance));
        }
        let preconditioner = match &self.after_setup[Reg::R1.index()] {
            Some(Datum::Matrix(m)) if self.plan.preconditions() => Some(m.clone()),
            _ => None,
        };
        let shared = preconditioner.is_some() && self.data.values().is_some();
        let name =
            shared.then(|| self.context.key(&self.plan.preconditioner, 0, self.machine.step)).flatten();
        let preconditioner_name = name.map(|name| name as u64);
        let (x, passes) = (self.machine.result().to_vec(), self.passes);
        let Machine { residuals, excesses, .. } = self.machine;
        Trace { residuals, excesses, x, passes, preconditioner, preconditioner_name }
    }
}

/// One iteration in progress.
struct Iteration<'m, 'a, 'p> {
    machine: &'m mut Machine<'a>,
    iteration: &'m [Planned<'p>],
    fused: &'m [Pass],
    known: &'m [KnownProduct],
    t: usize,
    context: ValueContext,
    instance: &'m Instance,
    measured: &'m mut Option<Measured>,
}

impl Iteration<'_, '_, '_> {
    /// Runs it and returns what a pass showed of the iterate.
    fn run(&mut self, draws: &mut Draws, count: &mut usize) -> Result<Option<Seen>, RunFailure> {
        let mut seen = None;
        // Results of a fused pass whose instruction has not been reached yet.
        let mut waiting: Vec<(usize, Datum)> = Vec::new();
        for (at, planned) in self.iteration.iter().enumerate() {
            if !planned.needed.when(self.machine.refreshing) {
                continue;
            }
            let pass = self.fused.iter().find(|pass| pass.product == at);
            if let Some(pass) = pass {
                let (r, gradient) = self.make(pass, count);
                if pass.measures(self.iteration) {
                    seen = Some(Seen::of(self.instance, &r, &gradient));
                }
                waiting.push((pass.difference.map_or(at, |difference| difference.at), r.into()));
                waiting.push((pass.gradient, gradient.into()));
            }
            match waiting.iter().position(|(place, _)| *place == at) {
                Some(i) => self.store(planned, waiting.swap_remove(i).1)?,
                None if pass.is_some() => {}
                None if self.recalls(planned)? => {}
                None => {
                    *count += passes(planned);
                    self.machine.step(planned, self.t, self.context, draws)?;
                }
            }
        }
        Ok(seen)
    }

    /// Stores the result of an instruction that asks for a known product; returns whether it does.
    fn recalls(&mut self, planned: &Planned) -> Result<bool, RunFailure> {
        let known = self.known.iter().find_map(|known| known.of(planned, self.machine));
        known.map_or(Ok(false), |product| self.store(planned, product).map(|()| true))
    }

    /// r and Aᵀ·r of a fused pass, which is counted unless they are known.
    fn make(&mut self, pass: &Pass, count: &mut usize) -> (Vec<f64>, Vec<f64>) {
        let known = self.measured.take().filter(|_| pass.measures(self.iteration));
        let value = |reg: Reg| self.machine.value(reg).expect("typing admits no undefined operand");
        let u = value(self.iteration[pass.product].typed.args[1].reg).vector();
        let (matrix, b) = (value(Reg::A).matrix(), value(Reg::B).vector());
        let known = known.filter(|known| known.x == u);
        *count += usize::from(known.is_none());
        match pass.difference {
            None => linalg::residual_and_gradient(matrix, u, &vec![0.0; b.len()]),
            Some(difference) => {
                let (r, gradient) = match known {
                    Some(Measured { r, gradient, .. }) => (r, gradient),
                    None => linalg::residual_and_gradient(matrix, u, b),
                };
                let negated = |v: Vec<f64>| if difference.negative { linalg::scale(-1.0, &v) } else { v };
                (negated(r), negated(gradient))
            }
        }
    }

    fn store(&mut self, planned: &Planned, value: Datum) -> Result<(), RunFailure> {
        if !value.is_finite() {
            return Err(self.machine.failure(planned, self.t, Fault::NotFinite));
        }
        self.machine.store(Output::One(value), planned.typed.instruction.target);
        Ok(())
    }
}
