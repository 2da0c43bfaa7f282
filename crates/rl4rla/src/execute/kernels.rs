//! Kernels: the arithmetic of each operator.

use super::failure::Fault;
use super::run_draws::{Draws, is_data};
use super::sample::SampledRows;
use super::sketch::SketchKind;
use crate::linalg::{self, Matrix, NumericError};
use crate::program::{
    Arg, Compute, Core, Datum, Dim, Op, SketchingFunction, Structure, Type, has_dimension, is_upper,
};

/// One call of an operator.
pub struct Call<'a> {
    /// Registers and types of the operands.
    pub args: &'a [Arg],
    /// All registers; type checking ensures that those of the operands hold values.
    pub registers: &'a [Option<Datum>],
    /// Whether this iteration refreshes.
    pub refreshing: bool,
}

/// The output of a kernel.
#[derive(Clone)]
pub enum Output {
    /// A value for the target.
    One(Datum),
    /// A new pair A, b.
    System(SampledRows),
    /// No value.
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

/// The arithmetic of one of the paper's operators.
pub type Kernel = fn(&Call, &mut Draws) -> Result<Output, Fault>;

/// How one of the paper's operators is computed.
#[derive(Clone, Copy)]
pub struct KernelRow {
    kernel: Kernel,
    /// The dimensions along which it needs the true entries. Along all others, the result is the same in any
    /// orthonormal coordinates.
    fixes: fn(&[Arg]) -> [Option<Dim>; 2],
    /// Whether it can process data that are sparse or in a file, by one pass from the first row to the last or by reading single rows.
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
    fn values(&self) -> Vec<&Datum> {
        (0..self.args.len()).map(|i| self.value(i)).collect()
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
    /// Whether this operand is the A of a symmetric problem, which is so to the last bit; an inverse is not.
    fn is_symmetric_data(&self, i: usize) -> bool {
        let arg = &self.args[i];
        is_data(arg) && matches!(arg.ty, Type::Matrix(_, _, Structure::Symmetric))
    }
}

fn shape(arg: &Arg) -> [Option<Dim>; 2] {
    match arg.ty {
        Type::Matrix(rows, cols, _) => [Some(rows), Some(cols)],
        _ => [None, None],
    }
}

/// R depends on the order of the columns, and on the rows only through RᵀR = MᵀM. But a matrix with more columns than
/// the data may have more columns than coordinates, and then the last rows of R are determined by rounding.
fn householder(args: &[Arg]) -> [Option<Dim>; 2] {
    match shape(&args[0]) {
        [_, Some(Dim::Cols)] => [None, None],
        shape => shape,
    }
}

/// The kernel of one of the paper's operators.
fn row(core: Core) -> KernelRow {
    match core {
        Core::VecVecAdd => plain(|c, _| one(linalg::add(c.vector(0), c.vector(1)))),
        Core::VecVecSub => plain(|c, _| one(linalg::sub(c.vector(0), c.vector(1)))),
        Core::VecVecDot => plain(|c, _| one(linalg::dot(c.vector(0), c.vector(1)))),
        Core::MatVecMul => by_rows(|c, _| {
            one(match c.is_symmetric_data(0) {
                true => linalg::symmetric_mat_vec(c.matrix(0), c.vector(1)),
                false => linalg::mat_vec(c.matrix(0), c.vector(1)),
            })
        }),
        Core::VecMatMul => by_rows(|c, _| {
            one(match c.is_symmetric_data(1) {
                true => linalg::symmetric_mat_vec(c.matrix(1), c.vector(0)),
                false => linalg::vec_mat(c.vector(0), c.matrix(1)),
            })
        }),
        Core::ScalarVecMul => plain(|c, _| one(linalg::scale(c.scalar(0), c.vector(1)))),
        // By rule, so that a quotient of steps or of differences is no failure where nothing has moved yet.
        Core::ScalarDiv => plain(|c, _| {
            one(match c.scalar(1) {
                0.0 => 0.0,
                divisor => c.scalar(0) / divisor,
            })
        }),
        Core::MatMatMul => plain(|c, _| one(linalg::matmul(c.matrix(0), c.matrix(1)))),
        Core::MatMatTransMul => plain(|c, _| {
            one(match c.same() {
                true => linalg::outer_gram(c.matrix(0)),
                false => linalg::matmul_t(c.matrix(0), c.matrix(1)),
            })
        }),
        Core::MatTransMatMul => KernelRow {
            // AᵀM for another M is not a Gram matrix.
            streams: |args, _| args[0].reg == args[1].reg,
            ..plain(|c, _| {
                one(match c.same() {
                    true => linalg::gram(c.matrix(0)),
                    false => linalg::t_matmul(c.matrix(0), c.matrix(1)),
                })
            })
        },
        Core::MatInv => KernelRow {
            fixes: |args| shape(&args[0]),
            ..plain(|c, _| {
                numeric(match c.is_upper(0) {
                    true => linalg::triangular_inverse(c.matrix(0)),
                    false => linalg::inverse(c.matrix(0)),
                })
            })
        },
        Core::TriangularSolve => KernelRow {
            fixes: |args| shape(&args[usize::from(!is_upper(&args[0]))]),
            ..plain(|c, _| {
                numeric(match c.is_upper(0) {
                    true => linalg::solve_upper(c.matrix(0), c.vector(1)),
                    false => linalg::solve_upper_transposed(c.matrix(1), c.vector(0)),
                })
            })
        },
        Core::Hhqr => KernelRow { fixes: householder, ..by_rows(|c, _| one(linalg::qr_r(c.matrix(0)))) },
        Core::Sketch => KernelRow {
            streams: |_, sketch| sketch.streams(),
            ..plain(|c, draws| one(draws.sketch(Some(c.args[0].reg), c.value(0))))
        },
        Core::Subsampling => by_rows(|c, draws| {
            let sampled = draws.sample(&c.args[1], c.value(0).weights(), c.matrix(1), c.vector(2))?;
            Ok(Output::System(sampled))
        }),
        Core::LeverageScore => KernelRow {
            fixes: |args| [shape(&args[0])[0].filter(|_| !is_data(&args[0])), None],
            ..by_rows(|c, draws| draws.leverage(&c.args[0], c.value(0)).map(Output::One))
        },
        Core::DoNothing => plain(|_, _| Ok(Output::None)),
    }
}

/// A kernel with the same result in all orthonormal coordinates, such as products, sums and inner products, that
/// needs its operands in memory.
const fn plain(kernel: Kernel) -> KernelRow {
    KernelRow { kernel, fixes: |_| [None, None], streams: |_, _| false }
}

/// A kernel that reads its operands row by row and has the same result in all orthonormal coordinates.
const fn by_rows(kernel: Kernel) -> KernelRow {
    KernelRow { streams: |_, _| true, ..plain(kernel) }
}

/// How an operator is computed.
#[derive(Clone, Copy)]
pub enum Action {
    /// By one of the paper's kernels.
    Core(KernelRow),
    /// By a function of the operator, which may need the true entries along some dimensions.
    Pure(fn(&[&Datum]) -> Result<Datum, NumericError>, fn(&[Arg], Dim) -> bool),
    /// By a function of the operator and of the random S of SKETCH.
    Sketching(SketchingFunction),
    /// The operand is exchanged for what the machine remembers of it.
    Previous,
    /// The first operand in iterations that refresh, the second in others.
    Refresh,
}

impl Action {
    /// The action of an operator.
    pub fn of(op: Op) -> Action {
        match op.compute {
            Compute::Core(core) => Action::Core(row(core)),
            Compute::Pure(compute) => Action::Pure(compute, op.fixes),
            Compute::Sketching(compute) => Action::Sketching(compute),
            Compute::Previous => Action::Previous,
            Compute::Refresh => Action::Refresh,
        }
    }

    /// Computes the result; of an operator that remembers its operand, what is to be remembered.
    pub fn run(self, call: &Call, draws: &mut Draws) -> Result<Output, Fault> {
        match self {
            Action::Core(row) => (row.kernel)(call, draws),
            Action::Pure(compute, _) => numeric(compute(&call.values())),
            Action::Sketching(compute) => {
                numeric(compute(&call.values(), &|value| draws.sketch(None, value)))
            }
            Action::Previous => Ok(Output::One(call.value(0).clone())),
            Action::Refresh => Ok(Output::One(call.value(usize::from(!call.refreshing)).clone())),
        }
    }

    /// Whether it needs all of the data in memory at once.
    pub fn needs_whole(self, args: &[Arg], sketch: SketchKind) -> bool {
        let streams = match self {
            Action::Core(row) => (row.streams)(args, sketch),
            Action::Pure(..) | Action::Sketching(_) | Action::Previous | Action::Refresh => false,
        };
        args.iter().any(is_data) && !streams
    }

    /// Whether it needs the true entries along this dimension. A custom function needs all unless it says otherwise.
    pub fn fixes(self, args: &[Arg], dim: Dim) -> bool {
        match self {
            Action::Core(row) => (row.fixes)(args).contains(&Some(dim)),
            // The coordinates of a sketch are those of its iteration; the others are the same throughout.
            Action::Previous | Action::Refresh => dim == Dim::Sketch && args[0].ty == Type::Vector(dim),
            Action::Pure(_, fixes) => fixes(args, dim),
            Action::Sketching(_) => has_dimension(args, dim),
        }
    }
}
