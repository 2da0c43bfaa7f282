//! Large data: the same runs on a matrix that is read as seldom as possible, whose solution nobody knows.
//!
//! A stays where it is, stored by rows, and no operator copies it except those that need it by columns. Where an
//! iteration asks for A·u − b and then for Aᵀ times that, one pass gives both, and the residual of the iterate with it.

use super::draws::{Data, Draws};
use super::failure::{Failure, Fault, Step};
use super::fusion::{Pass, passes};
use super::kernels::Output;
use super::machine::Machine;
use super::origin::Context;
use super::plan::{Plan, Planned};
use super::run::Settings;
use crate::linalg::{self, Matrix};
use crate::problem::{Instance, InstanceError};
use crate::program::{Datum, Program, Reg, Section, Update};
use crate::rng::Stream;

/// Least squares on large data: min ‖Ax − b‖, from x = 0.
pub struct Large {
    instance: Instance,
}

impl Large {
    /// The problem of these data. A should be made by [`Matrix::from_row_major`], or every product is sequential.
    #[allow(non_snake_case)]
    pub fn new(A: Matrix, b: Vec<f64>) -> Result<Large, InstanceError> {
        Ok(Large { instance: Instance::unsolved(A, b)? })
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

/// The course of a run on large data.
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
    let instance = &large.instance;
    let plan = Plan::new(program, instance.shape(), settings)?;
    let (setup, iteration) = (plan.section(Section::Setup), plan.section(Section::Iteration));
    let data = Data::True(instance, None);
    let context = Context::new(settings, data, stream);
    let mut machine = Machine::new(data, Update::Subtract, settings);
    machine.execute(setup, 0, stream, context)?;
    let mut count = setup.iter().map(passes).sum();
    let (after_setup, fused) = (machine.registers.clone(), Pass::all(iteration));
    let (mut first, mut last) = (None, None);
    for t in 1..=settings.iterations {
        machine.restart(plan.restored, &after_setup);
        let mut draws = machine.draws(stream, t);
        let seen = Iteration { machine: &mut machine, iteration, fused: &fused, t, context }
            .run(&mut draws, &mut count)?;
        machine.residuals.push(seen.map_or(f64::NAN, |seen| instance.relative(seen.residual)));
        advance(&mut machine, Step::Iteration(t))?;
        let begin = first.or(seen);
        if let (Some(begin), Some(now)) = (begin, seen)
            && stop.reached(begin, last, now)
        {
            break;
        }
        (first, last) = (begin, seen);
    }
    let residual = linalg::norm(&linalg::sub(&linalg::mat_vec(&instance.A, &machine.x), &instance.b));
    machine.residuals.push(instance.relative(residual));
    Ok(LargeTrace { residuals: machine.residuals, x: machine.x.to_vec(), passes: count + 1 })
}

/// What a pass shows of the iterate it was made at.
#[derive(Clone, Copy)]
struct Seen {
    residual: f64,
    gradient: f64,
}

impl Stop {
    fn reached(self, first: Seen, last: Option<Seen>, now: Seen) -> bool {
        let still = |last: Seen| (last.residual - now.residual).abs() < self.residual * now.residual;
        now.gradient < self.gradient * first.gradient || last.is_some_and(still)
    }
}

/// One iteration under way.
struct Iteration<'m, 'a, 'p> {
    machine: &'m mut Machine<'a>,
    iteration: &'m [Planned<'p>],
    fused: &'m [Pass],
    t: usize,
    context: Context,
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
                    seen = Some(Seen { residual: linalg::norm(&r), gradient: linalg::norm(&gradient) });
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
