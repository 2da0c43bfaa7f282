//! Kernels: what each operator does to numbers. One row per operator, beside its row in the operator table.

use super::datum::Datum;
use super::failure::Fault;
use super::sample;
use super::sketch::Sketch;
use crate::linalg::{self, Matrix, NumericError};
use crate::program::{Arg, Op, Structure};
use crate::rng::{Discrete, Stream};
use std::sync::OnceLock;

/// The random objects of one section at one time, drawn when first asked for.
pub struct Draws<'a> {
    pub(super) stream: Stream,
    pub(super) sketch: OnceLock<Sketch>,
    pub(super) samples: u64,
    pub(super) settings: &'a super::run::Settings,
    pub(super) rows: usize,
}

impl Draws<'_> {
    /// The sketch of this section: every SKETCH in it uses the same S, so that S·A and S·b belong together.
    fn sketch(&self) -> &Sketch {
        self.sketch.get_or_init(|| {
            let settings = self.settings;
            Sketch::draw(settings.sketch, settings.sketch_rows, self.rows, &self.stream.derive("sketch", 0))
        })
    }

    /// A stream of its own for each sample.
    fn next_sample(&mut self) -> Stream {
        self.samples += 1;
        self.stream.derive("sample", self.samples)
    }
}

/// One call of an operator.
pub struct Call<'a> {
    /// The operands' registers and types.
    pub args: &'a [Arg],
    /// The operands' values, in the same order.
    pub values: &'a [Datum],
}

/// What a kernel gives back.
pub enum Output {
    /// A value for the target.
    One(Datum),
    /// A new pair A, b.
    System(Matrix, Vec<f64>),
    /// Nothing.
    None,
}

/// The arithmetic of an operator.
pub type Kernel = fn(&Call, &mut Draws) -> Result<Output, Fault>;

fn one(datum: impl Into<Datum>) -> Result<Output, Fault> {
    Ok(Output::One(datum.into()))
}

fn numeric<T: Into<Datum>>(result: Result<T, NumericError>) -> Result<Output, Fault> {
    result.map_err(Fault::Numeric).and_then(one)
}

impl Call<'_> {
    fn scalar(&self, i: usize) -> f64 {
        self.values[i].scalar()
    }
    fn vector(&self, i: usize) -> &[f64] {
        self.values[i].vector()
    }
    fn matrix(&self, i: usize) -> &Matrix {
        self.values[i].matrix()
    }
    fn same(&self) -> bool {
        self.args[0].reg == self.args[1].reg
    }
    fn is_upper(&self, i: usize) -> bool {
        self.args[i].ty.structure() == Structure::Upper
    }
}

const KERNELS: [(&str, Kernel); 17] = [
    ("VEC_VEC_ADD", |c, _| one(linalg::add(c.vector(0), c.vector(1)))),
    ("VEC_VEC_SUB", |c, _| one(linalg::sub(c.vector(0), c.vector(1)))),
    ("VEC_VEC_DOT", |c, _| one(linalg::dot(c.vector(0), c.vector(1)))),
    ("MAT_VEC_MUL", |c, _| one(linalg::mat_vec(c.matrix(0), c.vector(1)))),
    ("VEC_MAT_MUL", |c, _| one(linalg::vec_mat(c.vector(0), c.matrix(1)))),
    ("SCALAR_VEC_MUL", |c, _| one(linalg::scale(c.scalar(0), c.vector(1)))),
    ("SCALAR_DIV", |c, _| one(c.scalar(0) / c.scalar(1))),
    ("MAT_MAT_MUL", |c, _| one(linalg::matmul(c.matrix(0), c.matrix(1)))),
    ("MAT_MAT_TRANS_MUL", |c, _| {
        one(match c.same() {
            true => linalg::outer_gram(c.matrix(0)),
            false => linalg::matmul_t(c.matrix(0), c.matrix(1)),
        })
    }),
    ("MAT_TRANS_MAT_MUL", |c, _| {
        one(match c.same() {
            true => linalg::gram(c.matrix(0)),
            false => linalg::t_matmul(c.matrix(0), c.matrix(1)),
        })
    }),
    ("MAT_INV", |c, _| {
        numeric(match c.is_upper(0) {
            true => linalg::triangular_inverse(c.matrix(0)),
            false => linalg::inverse(c.matrix(0)),
        })
    }),
    ("TRIANGULAR_SOLVE", |c, _| {
        numeric(match c.is_upper(0) {
            true => linalg::solve_upper(c.matrix(0), c.vector(1)),
            false => linalg::solve_upper_transposed(c.matrix(1), c.vector(0)),
        })
    }),
    ("HHQR", |c, _| one(linalg::qr_r(c.matrix(0)))),
    ("SKETCH", |c, draws| match &c.values[0] {
        Datum::Vector(v) => one(draws.sketch().apply_vec(v)),
        m => one(draws.sketch().apply(m.matrix())),
    }),
    ("SUBSAMPLING", |c, draws| {
        let (weights, batch) = (c.values[0].weights(), draws.settings.batch);
        let stream = draws.next_sample();
        let rows = sample::rows(weights, batch, draws.settings.sampling, &stream);
        let (rows, scales) = rows.ok_or(Fault::TooFewRows { batch })?;
        let (matrix, vector) = sample::gather(c.matrix(1), c.vector(2), &rows, &scales);
        Ok(Output::System(matrix, vector))
    }),
    ("LEVERAGE_SCORE", |c, _| {
        let norms = sample::squared_row_norms(c.matrix(0));
        Discrete::new(&norms).map_err(Fault::Weights).and_then(one)
    }),
    ("DO_NOTHING", |_, _| Ok(Output::None)),
];

/// The kernel of an operator.
pub fn kernel(op: Op) -> Kernel {
    let row = KERNELS.iter().find(|(name, _)| *name == op.name);
    row.expect("every operator of the table has a kernel; a test checks it").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_kernel() {
        assert_eq!(Op::all().map(|op| op.name).collect::<Vec<_>>(), KERNELS.map(|(name, _)| name));
    }
}
