//! Probes: expressions with the same value are the same, however they are written.

use super::evaluator::State;
use super::expression::{ExpressionOrigin, Expressions, Id};
use crate::execute::{Draws, RunData, RunSettings, apply};
use crate::linalg;
use crate::problem::{Family, Instance};
use crate::program::{Compute, DataQuantity, Datum, Kind, Op, Reg, Section, Type};
use crate::rng::Stream;
use rustc_hash::FxHashMap;

/// Equal numbers agree to this relative accuracy.
const ACCURACY: f64 = 1e-7;

/// λ of the probe, if the problems have one.
const LAMBDA: f64 = 0.7;
/// Small problems that are drawn to find one that has a solution.
const DRAWS: u64 = 1000;

/// What expressions with equal values have in common, besides the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    ty: Type,
    quantity: DataQuantity,
    section: Section,
    /// Whether it needs a matrix with the square of the condition number, if that is told apart.
    squares: bool,
    /// The leading digits of the value.
    digits: i64,
}

/// The values of all expressions on a small random problem, after two iterations at random points.
pub struct ValueProbe {
    instance: Instance,
    settings: RunSettings,
    stream: Stream,
    states: [State; 2],
    /// The values in both states, by expression.
    values: Vec<[Option<Datum>; 2]>,
    classes: FxHashMap<Class, Vec<Id>>,
    weights: Vec<f64>,
    tells_forms_apart: bool,
}

impl ValueProbe {
    /// A probe of the problems of this family.
    pub fn new(family: &Family, stream: &Stream) -> ValueProbe {
        let square = family.kind.info().square;
        let (rows, cols, sketch_rows) = if square { (12, 12, 5) } else { (40, 6, 16) };
        let small = Family { rows, cols, condition: Some(3.0), ..*family };
        // Few labels may happen to be separable.
        let drawn = (0..DRAWS).find_map(|i| small.draw(&stream.derive("instance", i)).ok());
        let drawn = drawn.expect("a small member of a valid family");
        // Large enough that no value is lost to rounding beside others.
        let lambda = if drawn.lambda > 0.0 { LAMBDA } else { 0.0 };
        ValueProbe::on(drawn.with_lambda(lambda), sketch_rows, stream)
    }

    /// A probe on this problem, with sketches of so many rows.
    pub fn on(instance: Instance, sketch_rows: usize, stream: &Stream) -> ValueProbe {
        let (rows, cols) = (instance.rows(), instance.cols());
        let draw = |label: &str| stream.derive(label, 0).normals(cols);
        let first = State { x: draw("x"), d: draw("d"), iterations: 0 };
        let states = [first.clone(), first.moved(draw("step"))];
        let settings =
            RunSettings { sketch_rows: sketch_rows.min(rows), ..RunSettings::for_size(rows, cols) };
        let weights = stream.derive("weights", 0).normals(rows * rows);
        let (values, classes) = Default::default();
        let tells_forms_apart = false;
        ValueProbe {
            instance,
            settings,
            stream: *stream,
            states,
            values,
            classes,
            weights,
            tells_forms_apart,
        }
    }

    /// The same, with equal values told apart that need matrices of another condition number.
    pub fn telling_forms_apart(self, tells_forms_apart: bool) -> ValueProbe {
        ValueProbe { tells_forms_apart, ..self }
    }

    /// Whether a value needs a matrix with the square of the condition number; not looked at unless it is told apart.
    pub fn squares(&self, expressions: &Expressions, id: Id) -> bool {
        let is_square = |call: &Id| {
            let of = expressions.of(*call);
            of.ty.kind() == Kind::Matrix && of.quantity.unit.a.abs() >= 2
        };
        self.tells_forms_apart && expressions.of(id).calls.iter().any(is_square)
    }

    /// The value of an expression in the second state; `None` if it cannot be computed.
    fn value(&mut self, expressions: &Expressions, id: Id) -> Option<&Datum> {
        self.extend(expressions);
        self.values[id.index()][1].as_ref()
    }

    /// Computes the values that are new.
    pub fn extend(&mut self, expressions: &Expressions) {
        for id in expressions.ids().skip(self.values.len()) {
            let expression = expressions.of(id);
            let values = match &expression.origin {
                ExpressionOrigin::Input(reg) => [0, 1].map(|i| self.input(*reg, i)),
                ExpressionOrigin::Call(op, operands) if matches!(op.compute, Compute::Previous) => {
                    let first = self.values[operands[0].index()][0].clone();
                    [first.clone(), first]
                }
                ExpressionOrigin::Call(op, operands) => {
                    [0, 1].map(|i| self.call(expressions, (*op, expression.section), operands, i))
                }
            };
            self.values.push(values);
        }
    }

    /// Whether two expressions have the same value, scale included.
    pub fn is_equal(&self, one: Id, other: Id) -> bool {
        match [one, other].map(|id| self.values[id.index()][1].as_ref()) {
            [Some(Datum::Vector(u)), Some(Datum::Vector(v))] => {
                linalg::norm(&linalg::sub(u, v)) <= ACCURACY * linalg::norm(u)
            }
            _ => false,
        }
    }

    fn input(&self, reg: Reg, state: usize) -> Option<Datum> {
        let State { x, d, .. } = &self.states[state];
        match reg {
            Reg::A => Some(Datum::Matrix(self.instance.A.clone())),
            Reg::B => Some(self.instance.b.clone().into()),
            Reg::X => Some(x.clone().into()),
            Reg::D => Some(d.clone().into()),
            Reg::LAMBDA => Some(self.instance.lambda.into()),
            _ => Some(0.5.into()),
        }
    }

    fn call(
        &self,
        expressions: &Expressions,
        (op, section): (Op, Section),
        operands: &[Id],
        state: usize,
    ) -> Option<Datum> {
        let t = match section {
            Section::Setup => 0,
            Section::Iteration => self.states[state].iterations + 1,
        };
        let mut draws = Draws::new(&self.stream, t, &self.settings, RunData::True(&self.instance, None));
        let held: Option<Vec<&Datum>> =
            operands.iter().map(|id| self.values[id.index()][state].as_ref()).collect();
        let args = expressions.args(operands);
        apply(op, &args.into_iter().zip(held?).collect::<Vec<_>>(), &mut draws)
    }

    /// The first expression with the same value up to scale, or itself if there was none; `None` if it has no value,
    /// or the value zero.
    pub fn representative(&mut self, expressions: &Expressions, id: Id) -> Option<Id> {
        let entries = direction(self.value(expressions, id)?)?;
        let projection: f64 = entries.iter().zip(&self.weights).map(|(e, w)| e * w).sum();
        let expression = expressions.of(id);
        let (ty, quantity, section) = (expression.ty, expression.quantity, expression.section);
        let squares = self.squares(expressions, id);
        let digits = (projection.abs() / ACCURACY).round() as i64;
        // Rounding may have moved it to a neighbouring cell.
        for digits in [digits - 1, digits, digits + 1] {
            for &known in
                self.classes.get(&Class { ty, quantity, section, squares, digits }).into_iter().flatten()
            {
                let other = self.values[known.index()][1].as_ref().and_then(direction);
                if other.is_some_and(|other| is_multiple(&entries, &other)) {
                    return Some(known);
                }
            }
        }
        self.classes.entry(Class { ty, quantity, section, squares, digits }).or_default().push(id);
        Some(id)
    }

    /// The number that a scalar expression has here.
    pub fn number(&mut self, expressions: &Expressions, id: Id) -> Option<f64> {
        match self.value(expressions, id) {
            Some(Datum::Scalar(number)) => Some(*number),
            _ => None,
        }
    }
}

/// The entries of a value, scaled to length one; `None` if it is zero.
fn direction(value: &Datum) -> Option<Vec<f64>> {
    let entries: Vec<f64> = match value {
        // A formula is not the same as its multiple: no coefficient can make up for it.
        Datum::Scalar(number) => return Some(vec![1.0, *number]),
        Datum::Vector(v) => v.to_vec(),
        Datum::Matrix(m) => (0..m.cols()).flat_map(|j| (0..m.rows()).map(move |i| m.get(i, j))).collect(),
        Datum::Weights(_) => return None,
    };
    let length = linalg::norm(&entries);
    (length > 1e-12 && length.is_finite()).then(|| linalg::scale(1.0 / length, &entries))
}

fn is_multiple(one: &[f64], other: &[f64]) -> bool {
    let size = linalg::norm(one) * linalg::norm(other);
    one.len() == other.len() && 1.0 - linalg::dot(one, other).abs() / size < ACCURACY * ACCURACY * 100.0
}
