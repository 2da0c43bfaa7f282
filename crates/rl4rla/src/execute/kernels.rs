//! Kernels: what each operator does to numbers. One row per operator, beside its row in the operator table.

use super::cache::{Bytes, Cache};
use super::draws::{Draws, is_data};
use super::failure::Fault;
use super::sample::Sampled;
use super::sketch::SketchKind;
use crate::linalg::{self, Matrix, NumericError};
use crate::program::{Arg, Compute, Datum, Dim, Op, Type, is_upper};

/// One call of an operator.
pub struct Call<'a> {
    /// The operands' registers and types.
    pub args: &'a [Arg],
    /// All registers; typing says that the operands' hold values.
    pub registers: &'a [Option<Datum>],
}

/// What a kernel gives back.
#[derive(Clone)]
pub enum Output {
    /// A value for the target.
    One(Datum),
    /// A new pair A, b.
    System(Sampled),
    /// Nothing.
    None,
}

impl Output {
    /// Whether every entry is a finite number.
    pub fn is_finite(&self) -> bool {
        match self {
            Output::One(datum) => datum.is_finite(),
            Output::System((m, v)) => m.is_finite() && linalg::is_finite(v),
            Output::None => true,
        }
    }
}

/// What runs on one instance share, by the key of [`Context`](super::origin::Context).
pub type Values = Cache<u128, Output>;

impl Bytes for Output {
    fn bytes(&self) -> usize {
        // The key, its place in the order, and the counts of shared pointers.
        const EACH: usize = 128;
        let entries = match self {
            Output::One(datum) => datum.shape().0 * datum.shape().1,
            Output::System((m, v)) => m.rows() * m.cols() + v.len(),
            Output::None => 0,
        };
        EACH + 8 * entries
    }
}

/// The arithmetic of one of the paper's operators.
pub type Kernel = fn(&Call, &mut Draws) -> Result<Output, Fault>;

/// A row of the kernel table.
pub struct Row {
    name: &'static str,
    kernel: Kernel,
    /// The dimensions along which it must see true entries. All else gives the same result in any orthonormal
    /// coordinates.
    fixes: fn(&[Arg]) -> [Option<Dim>; 2],
    /// Whether one pass over data in a file, from the first row to the last, or single rows of them are enough.
    streams: fn(&[Arg], SketchKind) -> bool,
}

fn one(datum: impl Into<Datum>) -> Result<Output, Fault> {
    Ok(Output::One(datum.into()))
}

fn numeric<T: Into<Datum>>(result: Result<T, NumericError>) -> Result<Output, Fault> {
    result.map_err(Fault::Numeric).and_then(one)
}

impl Call<'_> {
    fn value(&self, i: usize) -> &Datum {
        self.registers[self.args[i].reg.index()].as_ref().expect("typing admits no undefined operand")
    }
    fn scalar(&self, i: usize) -> f64 {
        self.value(i).scalar()
    }
    fn vector(&self, i: usize) -> &[f64] {
        self.value(i).vector()
    }
    fn matrix(&self, i: usize) -> &Matrix {
        self.value(i).matrix()
    }
    fn same(&self) -> bool {
        self.args[0].reg == self.args[1].reg
    }
    fn is_upper(&self, i: usize) -> bool {
        is_upper(&self.args[i])
    }
}

/// Nothing: products, sums and inner products are the same in all coordinates.
const NOWHERE: fn(&[Arg]) -> [Option<Dim>; 2] = |_| [None, None];

fn shape(arg: &Arg) -> [Option<Dim>; 2] {
    match arg.ty {
        Type::Matrix(rows, cols, _) => [Some(rows), Some(cols)],
        _ => [None, None],
    }
}

/// R depends on the order of the columns, and on the rows through RᵀR = MᵀM alone. But with more columns than
/// the data have, there may be more than coordinates, and then rounding decides the last rows of R.
fn householder(args: &[Arg]) -> [Option<Dim>; 2] {
    match shape(&args[0]) {
        [_, Some(Dim::Cols)] => [None, None],
        shape => shape,
    }
}

/// It takes its operands row by row.
const ROW_BY_ROW: fn(&[Arg], SketchKind) -> bool = |_, _| true;

static KERNELS: [Row; 17] = [
    row("VEC_VEC_ADD", NOWHERE, |c, _| one(linalg::add(c.vector(0), c.vector(1)))),
    row("VEC_VEC_SUB", NOWHERE, |c, _| one(linalg::sub(c.vector(0), c.vector(1)))),
    row("VEC_VEC_DOT", NOWHERE, |c, _| one(linalg::dot(c.vector(0), c.vector(1)))),
    Row {
        streams: ROW_BY_ROW,
        ..row("MAT_VEC_MUL", NOWHERE, |c, _| one(linalg::mat_vec(c.matrix(0), c.vector(1))))
    },
    Row {
        streams: ROW_BY_ROW,
        ..row("VEC_MAT_MUL", NOWHERE, |c, _| one(linalg::vec_mat(c.vector(0), c.matrix(1))))
    },
    row("SCALAR_VEC_MUL", NOWHERE, |c, _| one(linalg::scale(c.scalar(0), c.vector(1)))),
    row("SCALAR_DIV", NOWHERE, |c, _| one(c.scalar(0) / c.scalar(1))),
    row("MAT_MAT_MUL", NOWHERE, |c, _| one(linalg::matmul(c.matrix(0), c.matrix(1)))),
    row("MAT_MAT_TRANS_MUL", NOWHERE, |c, _| {
        one(match c.same() {
            true => linalg::outer_gram(c.matrix(0)),
            false => linalg::matmul_t(c.matrix(0), c.matrix(1)),
        })
    }),
    Row {
        // AᵀM for another M is no Gram matrix.
        streams: |args, _| args[0].reg == args[1].reg,
        ..row("MAT_TRANS_MAT_MUL", NOWHERE, |c, _| {
            one(match c.same() {
                true => linalg::gram(c.matrix(0)),
                false => linalg::t_matmul(c.matrix(0), c.matrix(1)),
            })
        })
    },
    row(
        "MAT_INV",
        |args| shape(&args[0]),
        |c, _| {
            numeric(match c.is_upper(0) {
                true => linalg::triangular_inverse(c.matrix(0)),
                false => linalg::inverse(c.matrix(0)),
            })
        },
    ),
    row(
        "TRIANGULAR_SOLVE",
        |args| shape(&args[usize::from(!is_upper(&args[0]))]),
        |c, _| {
            numeric(match c.is_upper(0) {
                true => linalg::solve_upper(c.matrix(0), c.vector(1)),
                false => linalg::solve_upper_transposed(c.matrix(1), c.vector(0)),
            })
        },
    ),
    Row { streams: ROW_BY_ROW, ..row("HHQR", householder, |c, _| one(linalg::qr_r(c.matrix(0)))) },
    Row {
        // A Hadamard transform mixes all rows.
        streams: |_, sketch| sketch != SketchKind::Srht,
        ..row("SKETCH", NOWHERE, |c, draws| one(draws.sketch(&c.args[0], c.value(0))))
    },
    Row {
        streams: ROW_BY_ROW,
        ..row("SUBSAMPLING", NOWHERE, |c, draws| {
            let sampled = draws.sample(&c.args[1], c.value(0).weights(), c.matrix(1), c.vector(2))?;
            Ok(Output::System(sampled))
        })
    },
    Row {
        streams: ROW_BY_ROW,
        ..row(
            "LEVERAGE_SCORE",
            |args| [shape(&args[0])[0].filter(|_| !is_data(&args[0])), None],
            |c, draws| draws.leverage(&c.args[0], c.value(0)).map(Output::One),
        )
    },
    row("DO_NOTHING", NOWHERE, |_, _| Ok(Output::None)),
];

const fn row(name: &'static str, fixes: fn(&[Arg]) -> [Option<Dim>; 2], kernel: Kernel) -> Row {
    Row { name, kernel, fixes, streams: |_, _| false }
}

/// How an operator is computed.
#[derive(Clone, Copy)]
pub enum Action {
    /// By a row of the table above.
    Core(&'static Row),
    /// By its own function.
    Pure(fn(&[&Datum]) -> Result<Datum, NumericError>),
}

impl Action {
    /// That of an operator.
    pub fn of(op: Op) -> Action {
        match op.compute {
            Compute::Pure(compute) => Action::Pure(compute),
            Compute::Core => {
                let row = KERNELS.iter().find(|row| row.name == op.name);
                Action::Core(row.expect("every operator of the paper has a kernel; a test checks it"))
            }
        }
    }

    /// Runs it.
    pub fn run(self, call: &Call, draws: &mut Draws) -> Result<Output, Fault> {
        match self {
            Action::Core(row) => (row.kernel)(call, draws),
            Action::Pure(compute) => {
                let values: Vec<&Datum> = (0..call.args.len()).map(|i| call.value(i)).collect();
                numeric(compute(&values))
            }
        }
    }

    /// Whether it reads the data in a way that needs all of them at once.
    pub fn needs_whole(self, args: &[Arg], sketch: SketchKind) -> bool {
        let streams = match self {
            Action::Core(row) => (row.streams)(args, sketch),
            Action::Pure(_) => false,
        };
        args.iter().any(is_data) && !streams
    }

    /// Whether it must see true entries along this dimension. Of a function nothing is known, so it sees all.
    pub fn fixes(self, args: &[Arg], dim: Dim) -> bool {
        match self {
            Action::Core(row) => (row.fixes)(args).contains(&Some(dim)),
            Action::Pure(_) => args.iter().any(|arg| match arg.ty {
                Type::Scalar => false,
                Type::Vector(d) | Type::Weights(d) => d == dim,
                Type::Matrix(rows, cols, _) => rows == dim || cols == dim,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_kernel() {
        assert_eq!(Op::all().map(|op| op.name).collect::<Vec<_>>(), KERNELS.each_ref().map(|row| row.name));
    }
}
