//! Lenient execution of unfinished programs, one instruction at a time.

use super::kernels::{Action, Output};
use super::machine::{Machine, Registers};
use super::run::RunSettings;
use super::run_draws::{Draws, RunData};
use crate::problem::Instance;
use crate::program::{Arg, Datum, Instruction, Reg, RegSet, Update};
use crate::rng::Stream;
use std::sync::Arc;

/// The registers of a partial program. An instruction that does not fit, fails, or reads an empty register leaves its
/// target empty.
#[derive(Clone)]
pub struct Lenient<'a> {
    machine: Machine<'a>,
    /// Samples drawn in this section.
    samples: u64,
}

impl<'a> Lenient<'a> {
    /// The state before setup, for an iteration that starts at `start` (or at zero). Setup sees `start` as x if x
    /// never changes, and `start` rotated by one entry if x is assigned, so that the initial x differs from the one
    /// after it.
    pub fn new(
        instance: &'a Instance,
        update: Update,
        settings: &'a RunSettings,
        start: Option<&[f64]>,
    ) -> Lenient<'a> {
        let mut machine = Machine::new(RunData::True(instance, None), update, settings);
        if let (Some(start), Update::Assign | Update::Answer | Update::Basis) = (start, update) {
            let mut first = start.to_vec();
            if update == Update::Assign {
                first.rotate_left(1);
            }
            machine.registers[Reg::X.index()] = Some(first.into());
        }
        machine.follows_steps = true;
        Lenient { machine, samples: 0 }
    }

    /// Starts the iteration at x, with these values of the given lengths in the carried registers.
    pub fn place(&mut self, x: &[f64], carried: impl Fn(Reg, usize) -> Vec<f64>) {
        self.machine.x = Arc::new(x.to_vec());
        self.machine.registers[Reg::X.index()] = Some(x.to_vec().into());
        for reg in Reg::carried() {
            self.machine.registers[reg.index()] = Some(carried(reg, self.machine.length(reg)).into());
        }
        self.samples = 0;
    }

    /// Starts the iteration where setup has left x.
    pub fn start_from_setup(&mut self) {
        if let Some(Datum::Vector(x)) = self.machine.value(Reg::X).cloned() {
            self.machine.x = x;
        }
    }

    /// Continues at x, after no samples.
    pub fn start(&mut self, x: Arc<Vec<f64>>) {
        self.machine.registers[Reg::X.index()] = Some(Datum::Vector(x.clone()));
        self.machine.x = x;
        self.samples = 0;
    }

    /// Fills or empties a register.
    pub fn set(&mut self, reg: Reg, value: Option<Datum>) {
        self.machine.registers[reg.index()] = value;
    }

    /// Sets the number of samples drawn so far.
    pub fn go_on_after(&mut self, samples: u64) {
        self.samples = samples;
    }

    /// The values of all registers.
    pub fn registers(&self) -> &Registers {
        &self.machine.registers
    }

    /// The random objects of setup (t = 0) or of iteration t.
    pub fn draws(&self, stream: &Stream, t: usize) -> Draws<'a> {
        self.machine.draws(stream, t)
    }

    /// The result of an instruction with these operands, as if it remembered nothing; `None` if it fails.
    pub fn call(&self, instruction: &Instruction, args: &[Arg], draws: &mut Draws) -> Option<Output> {
        let is_held = |arg: &Arg| self.machine.value(arg.reg).is_some();
        let held = match instruction.op.refreshes() {
            true => is_held(&args[usize::from(!self.machine.refreshing)]),
            false => args.iter().all(is_held),
        };
        draws.go_on_after(self.samples);
        held.then(|| self.machine.call(Action::of(instruction.op), args, draws).ok()).flatten()
    }

    /// Runs an instruction with these operands; with `None`, for one that does not fit, its targets are emptied.
    pub fn step(&mut self, instruction: &Instruction, args: Option<&[Arg]>, draws: &mut Draws) {
        let output = args.and_then(|args| self.call(instruction, args, draws));
        match self.machine.remembered(Action::of(instruction.op), output) {
            Some(output) => self.machine.store(output, instruction.target),
            None => instruction.writes().iter().for_each(|reg| self.machine.clear(reg)),
        }
        if args.is_some() {
            self.samples = draws.samples();
        }
    }

    /// Ends an iteration: applies the update if v1 has the right shape.
    pub fn advance(&mut self) {
        if let Some(Datum::Vector(v1)) = self.machine.value(Reg::V1).cloned()
            && v1.len() == self.machine.result().len()
        {
            self.machine.advance(&v1);
        }
        self.machine.registers[Reg::X.index()] = Some(Datum::Vector(self.machine.x.clone()));
    }

    /// Starts another iteration from the registers after setup.
    pub fn restart(&mut self, after_setup: &Registers) {
        let lasting = RegSet::carried().with(Reg::D);
        self.machine.restart(RegSet::all().minus(lasting), after_setup);
        self.samples = 0;
    }
}
