//! Large data: the same runs on a matrix that is read as rarely as possible and whose solution is unknown.
//!
//! A stays where it is, stored by rows, and no operator copies it except those that need it by columns. Where an
//! iteration asks for A·u − b and then for Aᵀ times that, one pass gives both, and the residual of the iterate with it.

use super::draws::{Data, Draws};
use super::failure::{Failure, Fault, Step};
use super::fusion::{Pass, passes};
use super::kernels::Output;
use super::machine::{Machine, Registers};
use super::origin::Context;
use super::plan::{Plan, Planned};
use super::run::Settings;
use crate::linalg::{self, Matrix};
use crate::problem::{Instance, InstanceError};
use crate::program::{Datum, Program, Reg, Section, Signature, Update};
use crate::rng::Stream;

/// Least squares on large data: min ‖Ax − b‖, from x = 0.
#[derive(Clone)]
pub struct Large {
    instance: Instance,
    noise: Vec<f64>,
}

impl Large {
    /// The problem of these data. A should be made by [`Matrix::from_row_major`], or every product is sequential.
    #[allow(non_snake_case)]
    pub fn new(A: Matrix, b: Vec<f64>) -> Result<Large, InstanceError> {
        InstanceError::check_finite(&A, &b)?;
        // Then programs for symmetric systems fit too.
        let symmetric = !A.is_in_file() && A.is_symmetric();
        Ok(Large::trusted(A, b, symmetric))
    }

    /// The problem of an instance, whose matrix it shares.
    pub fn of(instance: &Instance) -> Large {
        Large { noise: vec![1.0; instance.cols()], instance: instance.clone() }
    }

    /// The same of data that are known to be finite.
    #[allow(non_snake_case)]
    pub(crate) fn trusted(A: Matrix, b: Vec<f64>, symmetric: bool) -> Large {
        let noise = vec![1.0; A.cols()];
        let mut instance = Instance::unsolved(A, b);
        instance.symmetric = symmetric;
        Large { instance, noise }
    }

    /// Tells how large rounding is in each column, in units of ε times its length: more than 1 where something large was
    /// subtracted from it. Whether columns depend on each other is judged by it.
    pub fn with_noise(self, noise: Vec<f64>) -> Large {
        assert_eq!(noise.len(), self.instance.cols(), "one number for every column");
        Large { noise, ..self }
    }

    /// What was told by [`Large::with_noise`]; 1 throughout if nothing was.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Whether A is its own transpose.
    pub fn is_symmetric(&self) -> bool {
        self.instance.symmetric
    }

    /// The matrix and the right-hand side; the matrix is copied only where a clone of this shares it.
    pub(crate) fn into_data(self) -> (Matrix, Vec<f64>) {
        let Instance { A, b, .. } = self.instance;
        (std::sync::Arc::try_unwrap(A).unwrap_or_else(|shared| (*shared).clone()), b)
    }

    /// The problem as typing sees it.
    pub fn signature(&self) -> Signature {
        self.instance.signature()
    }

    /// The matrix.
    pub fn matrix(&self) -> &Matrix {
        &self.instance.A
    }

    /// The right-hand side.
    pub fn right_hand_side(&self) -> &[f64] {
        &self.instance.b
    }
}

/// When a run may end before its last iteration: never, unless set. What is looked at belongs to the iterate before
/// the last, and must come from a pass that the program makes anyway.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stop {
    /// ‖Aᵀ(Ax − b)‖ is less than this part of what it was at the start.
    pub gradient: f64,
    /// ‖Ax − b‖ has changed by less than this part of itself since the iterate before.
    pub residual: f64,
}

/// The convergence history of a run on large data.
#[derive(Clone, PartialEq, Debug)]
pub struct LargeTrace {
    /// ‖Ax − b‖/‖b‖ at the start and after every iteration; NaN where that would have cost a pass of its own, which
    /// only the last one is worth.
    pub residuals: Vec<f64>,
    /// The last iterate.
    pub x: Vec<f64>,
    /// How many operations read all of A, the measure of the last residual included.
    pub passes: usize,
}

/// Runs a program for tall linear systems on large data. What it draws is what [`run`](super::run) draws, and what it
/// gives differs by rounding alone. Threads are those of the pool it is called in, and their number changes no bit.
///
/// ```
/// use rl4rla::{execute::{Large, Settings, Stop, run_large}, linalg::Matrix, program::Entry, rng::Stream};
/// let (m, n) = (2000, 5);
/// let data = Stream::new(1).normals(m * n + m);
/// let (a, b) = data.split_at(m * n);
/// let large = Large::new(Matrix::from_row_major(m, n, a.to_vec()), b.to_vec()).unwrap();
/// let settings = Settings { iterations: 100, step: 0.75, ..Settings::for_size(m, n) };
/// let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
/// let stop = Stop { gradient: 1e-12, ..Stop::default() };
/// let trace = run_large(program, &large, &settings, &Stream::new(2), stop).unwrap();
/// // One pass for the sketch, one for every iteration, one for the last residual.
/// assert_eq!(trace.passes, trace.residuals.len() - 1 + 2);
/// assert!(trace.residuals.len() < 60);
/// ```
pub fn run_large(
    program: &Program,
    large: &Large,
    settings: &Settings,
    stream: &Stream,
    stop: Stop,
) -> Result<LargeTrace, Failure> {
    let mut run = LargeRun::begin(program, large, settings, stream)?;
    let (mut first, mut last) = (None, None);
    for _ in 0..settings.iterations {
        let seen = run.iterate()?;
        let begin = first.or_else(|| seen.clone());
        if let (Some(begin), Some(now)) = (&begin, &seen)
            && stop.reached(begin, last.as_ref(), now)
        {
            break;
        }
        (first, last) = (begin, seen);
    }
    let residual = run.residual();
    let passes = run.passes();
    let LargeRun { machine: Machine { mut residuals, x, .. }, .. } = run;
    residuals.push(residual);
    Ok(LargeTrace { residuals, x: x.to_vec(), passes })
}

/// A run on large data in progress: one iteration at a time, for callers with their own stopping rule.
pub struct LargeRun<'a> {
    instance: &'a Instance,
    plan: Plan<'a>,
    machine: Machine<'a>,
    after_setup: Registers,
    fused: Vec<Pass>,
    stream: Stream,
    /// The RNG stream of the iterations.
    luck: Stream,
    context: Context,
    passes: usize,
    t: usize,
}

impl<'a> LargeRun<'a> {
    /// Runs setup.
    pub fn begin(
        program: &'a Program,
        large: &'a Large,
        settings: &'a Settings,
        stream: &Stream,
    ) -> Result<LargeRun<'a>, Failure> {
        let instance = &large.instance;
        let plan = Plan::new(program, instance.shape(), settings)?;
        if instance.A.is_in_file() {
            plan.refuse_whole(settings)?;
        }
        let machine = Machine::new(Data::True(instance, None), Update::Subtract, settings);
        let fused = Pass::all(plan.section(Section::Iteration));
        let context = Context::new(settings, Data::True(instance, None), stream);
        let mut run = LargeRun {
            instance,
            plan,
            machine,
            after_setup: vec![],
            fused,
            stream: *stream,
            luck: *stream,
            context,
            passes: 0,
            t: 0,
        };
        run.set_up()?;
        Ok(run)
    }

    fn set_up(&mut self) -> Result<(), Failure> {
        let setup = self.plan.section(Section::Setup);
        self.machine.execute(setup, 0, &self.stream, self.context)?;
        self.passes += setup.iter().map(passes).sum::<usize>();
        self.after_setup = self.machine.registers.clone();
        Ok(())
    }

    /// x ← x − η·v1, and what was seen of x before, where the program looks.
    pub fn iterate(&mut self) -> Result<Option<Seen>, Failure> {
        let seen = self.find_direction()?;
        let residual = seen.as_ref().map_or(f64::NAN, |seen| seen.residual);
        self.machine.residuals.push(residual);
        advance(&mut self.machine, Step::Iteration(self.t))?;
        Ok(seen)
    }

    /// Runs the next iteration up to its v1, which it leaves in its register.
    pub(super) fn find_direction(&mut self) -> Result<Option<Seen>, Failure> {
        self.t += 1;
        let LargeRun { plan, machine, after_setup, fused, luck, context, passes, t, .. } = self;
        machine.restart(plan.restored, after_setup);
        let mut draws = machine.draws(luck, *t);
        let iteration = plan.section(Section::Iteration);
        Iteration { machine, iteration, fused, t: *t, context: *context, instance: self.instance }
            .run(&mut draws, passes)
    }

    /// Starts again from the first x with another step size, after the same setup unless that depends on the step. The
    /// random draws of the iterations are those of a pilot, or the run's own.
    pub(super) fn start_over(&mut self, step: f64, pilot: bool) -> Result<(), Failure> {
        self.machine =
            Machine::new(Data::True(self.instance, None), Update::Subtract, self.machine.settings());
        self.t = 0;
        let again = self.plan.reads_step(Section::Setup);
        if !again {
            self.machine.registers.clone_from(&self.after_setup);
        }
        self.machine.set_step(step);
        if again {
            self.set_up()?;
        }
        self.luck = if pilot { self.stream.derive("pilot", 0) } else { self.stream };
        Ok(())
    }

    /// Starts again from the first x with another step size.
    pub fn restart(&mut self, step: f64) -> Result<(), Failure> {
        self.start_over(step, false)
    }

    /// The residual of x alone, for half the work.
    fn residual(&mut self) -> f64 {
        self.passes += 1;
        let Instance { A, b, .. } = self.instance;
        self.instance.relative(linalg::norm(&linalg::sub(&linalg::mat_vec(A, &self.machine.x), b)))
    }

    /// The residual and the gradient of x, by a pass of their own.
    pub fn measure(&mut self) -> Seen {
        self.measure_at(&self.machine.x.clone())
    }

    /// The same of any other vector.
    pub fn measure_at(&mut self, x: &[f64]) -> Seen {
        self.passes += 1;
        let (r, gradient) = linalg::residual_and_gradient(&self.instance.A, x, &self.instance.b);
        Seen::of(self.instance, &r, &gradient)
    }

    /// Whether its iterations draw random objects, not only its setup.
    pub fn draws_in_iterations(&self) -> bool {
        self.plan.draws_in_iterations()
    }

    /// The iterate.
    pub fn x(&self) -> &[f64] {
        &self.machine.x
    }

    /// How many operations have read all of A.
    pub fn passes(&self) -> usize {
        self.passes
    }

    pub(super) fn direction(&self) -> &[f64] {
        self.machine.value(Reg::V1).expect("typing demands v1").vector()
    }

    pub(super) fn add_passes(&mut self, passes: usize) {
        self.passes += passes;
    }

    pub(super) fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Moves x by −η·v1.
    pub(super) fn advance_by(&mut self, step: f64) -> Result<(), Failure> {
        self.machine.set_step(step);
        advance(&mut self.machine, Step::Iteration(self.t))
    }
}

/// What a pass shows of the iterate it was made at.
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
    fn of(instance: &Instance, r: &[f64], gradient: &[f64]) -> Seen {
        let distance = linalg::norm(r);
        Seen { residual: instance.relative(distance), distance, gradient: gradient.to_vec() }
    }
}

impl Stop {
    fn reached(self, first: &Seen, last: Option<&Seen>, now: &Seen) -> bool {
        let still = |last: &Seen| (last.residual - now.residual).abs() < self.residual * now.residual;
        let length = |seen: &Seen| linalg::norm(&seen.gradient);
        length(now) < self.gradient * length(first) || last.is_some_and(still)
    }
}

/// One iteration under way.
struct Iteration<'m, 'a, 'p> {
    machine: &'m mut Machine<'a>,
    iteration: &'m [Planned<'p>],
    fused: &'m [Pass],
    t: usize,
    context: Context,
    instance: &'m Instance,
}

impl Iteration<'_, '_, '_> {
    /// Runs it, and says what it saw of the iterate.
    fn run(&mut self, draws: &mut Draws, count: &mut usize) -> Result<Option<Seen>, Failure> {
        let mut seen = None;
        // Results of a pass that wait for the instruction that asks for them.
        let mut waiting: Vec<(usize, Datum)> = Vec::new();
        for (at, planned) in self.iteration.iter().enumerate() {
            let pass = self.fused.iter().find(|pass| pass.product == at);
            if let Some(pass) = pass {
                *count += 1;
                let (r, gradient) = self.make(pass);
                if pass.measures(self.iteration) {
                    seen = Some(Seen::of(self.instance, &r, &gradient));
                }
                waiting.push((pass.difference.map_or(at, |difference| difference.at), r.into()));
                waiting.push((pass.gradient, gradient.into()));
            }
            match waiting.iter().position(|(place, _)| *place == at) {
                Some(i) => self.store(planned, waiting.swap_remove(i).1)?,
                None if pass.is_some() => {}
                None => {
                    *count += passes(planned);
                    self.machine.step(planned, self.t, self.context, draws)?;
                }
            }
        }
        Ok(seen)
    }

    /// r and Aᵀ·r of a pass.
    fn make(&self, pass: &Pass) -> (Vec<f64>, Vec<f64>) {
        let value = |reg: Reg| self.machine.value(reg).expect("typing admits no undefined operand");
        let u = value(self.iteration[pass.product].typed.args[1].reg).vector();
        let (matrix, b) = (value(Reg::A).matrix(), value(Reg::B).vector());
        match pass.difference {
            None => linalg::residual_and_gradient(matrix, u, &vec![0.0; b.len()]),
            Some(difference) => {
                let (r, gradient) = linalg::residual_and_gradient(matrix, u, b);
                let negated = |v: Vec<f64>| if difference.negative { linalg::scale(-1.0, &v) } else { v };
                (negated(r), negated(gradient))
            }
        }
    }

    fn store(&mut self, planned: &Planned, value: Datum) -> Result<(), Failure> {
        if !value.is_finite() {
            return Err(self.machine.failure(planned, self.t, Fault::NotFinite));
        }
        self.machine.store(Output::One(value), planned.typed.instruction.target);
        Ok(())
    }
}

/// x ← x − η·v1, unless that is not finite.
fn advance(machine: &mut Machine, step: Step) -> Result<(), Failure> {
    let v1 = machine.value(Reg::V1).cloned().expect("typing demands v1");
    machine.advance(v1.vector());
    if linalg::norm(&machine.x).is_finite() {
        return Ok(());
    }
    let (operation, residuals) = (Update::Subtract.formula().into(), std::mem::take(&mut machine.residuals));
    Err(Failure { step, operation, fault: Fault::NotFinite, shapes: vec![v1.shape()], residuals })
}
