//! Values of expressions on one instance.

use super::expression::{ExpressionOrigin, Expressions, Id};
use crate::execute::{Draws, RunData, RunSettings, apply};
use crate::program::{Arg, Compute, Datum, Op, Reg, Section};
use crate::rng::Stream;
use std::sync::Arc;

/// The state that an iteration starts from.
#[derive(Clone, Debug)]
pub struct State {
    /// The iterate.
    pub x: Vec<f64>,
    /// The last step, zero at first.
    pub d: Vec<f64>,
    /// Number of steps made.
    pub iterations: usize,
}

impl State {
    /// The start at zero.
    pub fn zero(n: usize) -> State {
        State { x: vec![0.0; n], d: vec![0.0; n], iterations: 0 }
    }

    /// After the step to x + d.
    #[must_use]
    pub fn moved(&self, d: Vec<f64>) -> State {
        State { x: crate::linalg::add(&self.x, &d), d, iterations: self.iterations + 1 }
    }
}

/// The values of all expressions on one instance: those of setup once, those of an iteration for any state.
pub struct Evaluator<'a> {
    data: RunData<'a>,
    settings: &'a RunSettings,
    stream: Stream,
    setup: Vec<Option<Datum>>,
}

/// The calls of an iteration, with their operands looked up.
pub struct Tape {
    steps: Vec<TapeStep>,
    calls: Vec<Id>,
}

struct TapeStep {
    op: Op,
    operands: Vec<(Arg, Place)>,
}

/// Where an operand is found.
#[derive(Clone, Copy)]
enum Place {
    X,
    D,
    Setup(Id),
    Iterated(usize),
}

/// The values of an iteration, in the order of the tape; `None` for those that failed.
pub type Iterated = Vec<Option<Datum>>;

impl Tape {
    /// The tape that computes these values.
    pub fn new(expressions: &Expressions, wanted: &[Id]) -> Tape {
        let mut calls = expressions.calls(wanted);
        calls.retain(|&call| expressions.of(call).section == Section::Iteration);
        let place = |id: Id| match (&expressions.of(id).origin, expressions.of(id).section) {
            (_, Section::Setup) => Place::Setup(id),
            (ExpressionOrigin::Input(Reg::X), _) => Place::X,
            (ExpressionOrigin::Input(_), _) => Place::D,
            _ => Place::Iterated(calls.binary_search(&id).expect("operands are on the tape")),
        };
        let step = |&call: &Id| {
            let ExpressionOrigin::Call(op, operands) = &expressions.of(call).origin else {
                unreachable!("only calls are on the tape")
            };
            let places = operands.iter().map(|&id| place(id));
            TapeStep { op: *op, operands: expressions.args(operands).into_iter().zip(places).collect() }
        };
        Tape { steps: calls.iter().map(step).collect(), calls }
    }

    /// The place of a value among those of the tape.
    pub fn place(&self, id: Id) -> Option<usize> {
        self.calls.binary_search(&id).ok()
    }
}

impl<'a> Evaluator<'a> {
    /// Nothing computed yet.
    pub fn new(data: RunData<'a>, settings: &'a RunSettings, stream: Stream) -> Evaluator<'a> {
        Evaluator { data, settings, stream, setup: vec![] }
    }

    /// The random objects of setup for t = 0, of iteration t otherwise.
    fn draws(&self, t: usize) -> Draws<'a> {
        Draws::new(&self.stream, t, self.settings, self.data)
    }

    /// Computes the values of setup that are new.
    pub fn extend(&mut self, expressions: &Expressions) {
        let mut draws = self.draws(0);
        for id in expressions.ids().skip(self.setup.len()) {
            let expression = expressions.of(id);
            let value = match (&expression.origin, expression.section) {
                (_, Section::Iteration) => None,
                (ExpressionOrigin::Input(reg), _) => self.input(*reg),
                (ExpressionOrigin::Call(op, operands), _) => {
                    let values: Option<Vec<&Datum>> =
                        operands.iter().map(|id| self.setup[id.index()].as_ref()).collect();
                    let args = expressions.args(operands);
                    values.and_then(|values| {
                        let operands: Vec<_> = args.into_iter().zip(values).collect();
                        apply(*op, &operands, &mut draws)
                    })
                }
            };
            self.setup.push(value);
        }
    }

    fn input(&self, reg: Reg) -> Option<Datum> {
        let problem = self.data.problem();
        match reg {
            Reg::A => Some(Datum::Matrix(problem.A.clone())),
            Reg::B => Some(Datum::Vector(Arc::new(problem.b.clone()))),
            Reg::ETA => Some(self.settings.step.into()),
            Reg::LAMBDA => Some(problem.lambda.into()),
            _ => None,
        }
    }

    /// The values of the tape in the iteration from this state; `previous` are those of the iteration before, or
    /// `None` in the first.
    pub fn iterate(&self, tape: &Tape, state: &State, previous: Option<&Iterated>) -> Iterated {
        let [x, d] = [&state.x, &state.d].map(|v| Datum::from(v.clone()));
        let mut values: Iterated = Vec::with_capacity(tape.steps.len());
        let mut draws = self.draws(state.iterations + 1);
        for step in &tape.steps {
            let value = |place: &Place| match *place {
                Place::X => Some(&x),
                Place::D => Some(&d),
                Place::Setup(id) => self.setup[id.index()].as_ref(),
                Place::Iterated(i) => values[i].as_ref(),
            };
            let before = |place: &Place| match (place, previous) {
                (Place::Iterated(i), Some(previous)) => previous[*i].as_ref(),
                _ => value(place),
            };
            let result = match step.op.compute {
                Compute::Previous => before(&step.operands[0].1).cloned(),
                _ => {
                    let operand = |(arg, place): &(Arg, Place)| value(place).map(|value| (*arg, value));
                    let operands: Option<Vec<(Arg, &Datum)>> = step.operands.iter().map(operand).collect();
                    operands.and_then(|operands| apply(step.op, &operands, &mut draws))
                }
            };
            values.push(result);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::run;
    use crate::explore::emit;
    use crate::explore::spec::AllowedPrograms;
    use crate::problem::Family;
    use crate::program::{Core, TaskUnits};

    /// The search and the runner see the same sketches: one in setup, and a new one in every iteration.
    #[test]
    fn iterations_draw_the_sketches_that_a_run_draws() {
        let (rows, cols, iterations) = (200, 5, 4);
        let family = Family { rows, cols, ..Family::named("logistic").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        let settings =
            RunSettings { iterations, step: 1.0, sketch_rows: 60, ..RunSettings::for_size(rows, cols) };
        let sizes = settings.sizes(rows, cols);
        let units = Some(TaskUnits::LOGISTIC);
        let mut all = Expressions::new(family.signature(), sizes, f64::INFINITY, units);
        let [a, b, x] = [Reg::A, Reg::B, Reg::X].map(|reg| all.input(reg));
        let ops = ["VEC_SIGMOID", "VEC_DSIGMOID", "VEC_MAT_SCALE", "MAT_GRAM", "MAT_VEC_SOLVE"];
        let [sigmoid, slope, scale, gram, solve] = ops.map(|name| Op::named(name).unwrap());
        let odds = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let chances = all.call(sigmoid, &[odds]).unwrap();
        let weights = all.call(slope, &[chances]).unwrap();
        let root = all.call(scale, &[weights, a]).unwrap();
        let sketched = all.core(Core::Sketch, &[root]).unwrap();
        let hessian = all.call(gram, &[sketched]).unwrap();
        let misfit = all.core(Core::VecVecSub, &[chances, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[misfit, a]).unwrap();
        let newton = all.call(solve, &[hessian, gradient]).unwrap();
        // A sketch of setup, so that both kinds occur.
        let fixed = all.core(Core::Sketch, &[a]).unwrap();
        let image = all.core(Core::MatVecMul, &[fixed, newton]).unwrap();
        let back = all.core(Core::VecMatMul, &[image, fixed]).unwrap();
        let fixed_gram = all.call(gram, &[fixed]).unwrap();
        let step = all.call(solve, &[fixed_gram, back]).unwrap();

        let program = emit::program(&all, step, None, &AllowedPrograms::all()).unwrap();
        let stream = Stream::new(3);
        let trace = run(&program, &instance, &settings, &stream).unwrap();

        let mut evaluator = Evaluator::new(RunData::True(&instance, None), &settings, stream);
        evaluator.extend(&all);
        let tape = Tape::new(&all, &[step]);
        let (mut state, mut previous) = (State::zero(cols), None);
        for _ in 0..iterations {
            let values = evaluator.iterate(&tape, &state, previous.as_ref());
            let v = values[tape.place(step).unwrap()].as_ref().unwrap().vector();
            state = state.moved(crate::linalg::scale(-1.0, v));
            previous = Some(values);
        }
        assert_eq!(state.x, trace.x);
        assert!(trace.excesses[iterations] < 0.5 * trace.excesses[0]);
    }
}
