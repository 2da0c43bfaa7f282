//! Floating-point precision of a run.

use super::kernels::Output;
use crate::linalg::Matrix;
use crate::program::Datum;
use std::sync::Arc;

/// The precision of registers. Kernels always compute in 64 bits; only stored values are rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Precision {
    /// 64 bits.
    #[default]
    Double,
    /// 32 bits: the data, all results and all iterates are rounded.
    Single,
}

impl Precision {
    /// A number in this precision.
    pub fn number(self, a: f64) -> f64 {
        match self {
            Precision::Double => a,
            Precision::Single => f64::from(a as f32),
        }
    }

    /// A vector in this precision.
    pub fn vector(self, v: Arc<Vec<f64>>) -> Arc<Vec<f64>> {
        match self {
            Precision::Double => v,
            Precision::Single => Arc::new(v.iter().map(|a| self.number(*a)).collect()),
        }
    }

    /// A matrix in this precision.
    pub fn matrix(self, m: Arc<Matrix>) -> Arc<Matrix> {
        match self {
            Precision::Double => m,
            Precision::Single => Arc::new(m.map(|a| self.number(a))),
        }
    }

    /// A result in this precision; probabilities are not rounded.
    pub fn output(self, output: Output) -> Output {
        match (self, output) {
            (Precision::Double, output) => output,
            (_, Output::One(Datum::Scalar(a))) => Output::One(self.number(a).into()),
            (_, Output::One(Datum::Vector(v))) => Output::One(Datum::Vector(self.vector(v))),
            (_, Output::One(Datum::Matrix(m))) => Output::One(Datum::Matrix(self.matrix(m))),
            (_, Output::System((m, v))) => Output::System((self.matrix(m), self.vector(v))),
            (_, other) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{RunSettings, run};
    use crate::problem::Family;
    use crate::program::Entry;
    use crate::rng::Stream;

    #[test]
    fn single_precision_keeps_seven_digits() {
        let family = Family { rows: 200, cols: 5, ..Family::named("low-cond").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        for name in ["ls-gd", "precond-gd", "sketched-precond-gd-factored", "sgd"] {
            let program = &Entry::named(name).unwrap().document.program;
            let least = |precision| {
                let settings =
                    RunSettings { iterations: 200, step: 0.7, precision, ..RunSettings::for_size(200, 5) };
                let trace = run(program, &instance, &settings, &Stream::new(2)).unwrap();
                assert!(precision == Precision::Double || trace.x.iter().all(|x| f64::from(*x as f32) == *x));
                trace.excesses.iter().copied().fold(f64::INFINITY, f64::min)
            };
            let (single, double) = (least(Precision::Single), least(Precision::Double));
            assert!((1e-9..1e-5).contains(&single) && double < 1e-13, "{name}: {single} {double}");
        }
    }
}
