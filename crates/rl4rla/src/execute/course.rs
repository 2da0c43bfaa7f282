//! A run under way: setup is done, and iterations follow one by one.

use super::draws::Data;
use super::failure::{Failure, Step};
use super::machine::{Machine, Measured, Registers};
use super::origin::Context;
use super::plan::Plan;
use super::run::{Settings, Trace};
use crate::program::{Datum, Reg, Section};
use crate::rng::Stream;
use std::sync::Arc;

/// A run between two iterations.
#[derive(Clone)]
pub struct Course<'a> {
    plan: &'a Plan<'a>,
    settings: &'a Settings,
    stream: Stream,
    context: Context,
    data: Data<'a>,
    machine: Machine<'a>,
    after_setup: Registers,
}

impl<'a> Course<'a> {
    /// Measures the start and runs setup.
    pub fn begin(
        plan: &'a Plan<'a>,
        data: Data<'a>,
        settings: &'a Settings,
        stream: &Stream,
    ) -> Result<Course<'a>, Failure> {
        let mut machine = Machine::new(data, data.problem().task.update(), settings);
        machine.measure();
        let context = Context::new(settings, data, stream);
        machine.execute(plan.section(Section::Setup), 0, stream, context)?;
        let after_setup = machine.registers.clone();
        Ok(Course { plan, settings, stream: *stream, context, data, machine, after_setup })
    }

    /// The same course with another step size, if setup does not read it and no iteration is done.
    pub fn with_step(&self, step: f64) -> Course<'a> {
        debug_assert!(!self.plan.reads_step(Section::Setup) && self.iterations() == 0);
        let mut course = self.clone();
        course.machine.set_step(step);
        course.after_setup.clone_from(&course.machine.registers);
        course
    }

    /// The same course with x elsewhere, if no iteration is done; setup has seen x where the problem starts.
    pub fn moved_to(&self, x: Vec<f64>) -> Course<'a> {
        debug_assert!(self.iterations() == 0);
        let mut course = self.clone();
        course.machine.x = Arc::new(x);
        course
    }

    /// What is measured now: the iterate, or the answer.
    pub fn result(&self) -> &[f64] {
        self.machine.result()
    }

    /// The same course, measured there only.
    pub fn measured(mut self, measured: Measured) -> Course<'a> {
        self.machine.measured = measured;
        self
    }

    /// Iterations done.
    pub fn iterations(&self) -> usize {
        self.machine.residuals.len() - 1
    }

    /// The excess at the start and after every iteration done.
    pub fn excesses(&self) -> &[f64] {
        &self.machine.excesses
    }

    /// The loss at the start and after every iteration done.
    pub fn losses(&self) -> &[f64] {
        &self.machine.residuals
    }

    /// Goes on with another step size from here; what setup made of the one before stays.
    pub fn set_step(&mut self, step: f64) {
        self.machine.set_step(step);
    }

    /// Runs one iteration.
    pub fn advance(&mut self) -> Result<(), Failure> {
        self.aim()?;
        self.land()
    }

    /// The first half of an iteration: everything up to its v1.
    pub fn aim(&mut self) -> Result<(), Failure> {
        let t = self.iterations() + 1;
        let machine = &mut self.machine;
        machine.restart(self.plan.restored, &self.after_setup);
        machine.execute(self.plan.section(Section::Iteration), t, &self.stream, self.context)
    }

    /// The second half: moves on by v1, and measures where that leads.
    pub fn land(&mut self) -> Result<(), Failure> {
        self.machine.update(Step::Iteration(self.iterations() + 1))
    }

    /// Runs what is left.
    pub fn finish(mut self) -> Result<Trace, Failure> {
        while self.iterations() < self.settings.iterations {
            self.advance()?;
        }
        let preconditioner = match &self.after_setup[Reg::R1.index()] {
            Some(Datum::Matrix(m)) if self.plan.preconditions() => Some(m.clone()),
            _ => None,
        };
        let shared = preconditioner.is_some() && self.data.values().is_some();
        let name = shared.then(|| self.context.key(&self.plan.preconditioner, 0)).flatten();
        let preconditioner_name = name.map(|name| name as u64);
        let x = self.machine.result().to_vec();
        let Machine { residuals, excesses, .. } = self.machine;
        Ok(Trace { residuals, excesses, x, preconditioner, preconditioner_name })
    }
}
