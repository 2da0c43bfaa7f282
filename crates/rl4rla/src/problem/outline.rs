//! A tall system in reduced coordinates, whose rows are drawn on demand.
#![allow(non_snake_case)]

use super::factors::{self, orthonormalise};
use super::{Family, Instance};
use crate::clock::{WorkPhase, spend};
use crate::linalg::{self, Matrix, Orthonormal};
use crate::rng::Stream;
use faer::Mat;
use std::sync::OnceLock;

/// A matrix Q with orthonormal columns as the product of a tall matrix, as drawn, and a small matrix that
/// orthonormalizes it.
///
/// Sketches, samples and products of Q are computed from the tall factor and then multiplied by the small one: Q
/// itself is never formed.
pub struct Frame {
    /// The tall matrix, m × k.
    pub drawn: Matrix,
    /// The small matrix, k × k, such that Q = drawn·turn.
    pub turn: Matrix,
}

impl Frame {
    /// The frame of a tall matrix of full rank.
    pub(super) fn of(drawn: Mat<f64>) -> Frame {
        match linalg::orthonormalised(Matrix::from_faer(drawn)) {
            Ok(Orthonormal { M, T }) => Frame { drawn: M, turn: T },
            Err(drawn) => Frame::known(orthonormalise(drawn)),
        }
    }

    /// The frame of a matrix whose columns are already orthonormal.
    pub fn known(drawn: Matrix) -> Frame {
        let turn = Matrix::identity(drawn.cols());
        Frame { drawn, turn }
    }
}

/// A system A·x ≈ b with A = Q·A' and b = Q·b', of which A' and b' are known and Q is drawn on demand.
///
/// A program that neither sketches nor samples does not use the m rows, and drawing them is most of the work.
pub struct Outline {
    /// The problem in coordinates, A'·x ≈ b'.
    pub problem: Instance,
    family: Family,
    stream: Stream,
    frame: OnceLock<Frame>,
    /// Maps rows as drawn to rows of A, and to the component of b outside its range.
    turned: OnceLock<(Matrix, Vec<f64>)>,
}

impl Outline {
    /// A' is coreᵀ; if b has a component outside the range of A, of length `outside`, a row of zeros is appended.
    pub(super) fn new(
        family: &Family,
        core: &Matrix,
        sigma: Vec<f64>,
        x: Vec<f64>,
        outside: f64,
        stream: &Stream,
    ) -> Outline {
        let n = family.cols;
        let problem = if family.outside == 0.0 {
            Instance::consistent(core.transpose(), x, sigma)
        } else {
            let A = Matrix::from_fn(n + 1, n, |i, j| if i < n { core.get(j, i) } else { 0.0 });
            let beyond: Vec<f64> = (0..=n).map(|i| if i < n { 0.0 } else { outside }).collect();
            Instance::inconsistent(A, x, sigma, &beyond)
        };
        Outline { problem, family: *family, stream: *stream, frame: OnceLock::new(), turned: OnceLock::new() }
    }

    /// m, the rows of A.
    pub fn rows(&self) -> usize {
        self.family.rows
    }

    /// The memory of the matrix drawn, in bytes; 0 before it is drawn.
    pub fn bytes(&self) -> usize {
        self.frame.get().map_or(0, |frame| frame.drawn.bytes())
    }

    /// Q, drawn on first use.
    pub fn frame(&self) -> &Frame {
        let draw = || {
            let Family { rows, cols, leverage, outside, .. } = self.family;
            let beyond = (outside > 0.0).then(|| self.stream.derive("outside", 0));
            factors::left(rows, cols, leverage, beyond.as_ref(), &self.stream.derive("left", 0))
        };
        self.frame.get_or_init(|| spend(WorkPhase::Instances, draw))
    }

    /// The full system.
    pub fn instance(&self) -> Instance {
        let (x, sigma) = (self.problem.x_star.clone(), self.problem.spectrum().to_vec());
        let instance = match self.rows_of(&self.frame().drawn) {
            (A, None) => Instance::consistent(A, x, sigma),
            (A, Some(o)) => Instance::inconsistent(A, x, sigma, &o),
        };
        instance.with_triangle_of(&self.problem)
    }

    /// Rows of A, and of the component of b outside its range, if any, from the corresponding rows of the frame as
    /// drawn: bitwise independent of which other rows are computed.
    fn rows_of(&self, drawn: &Matrix) -> (Matrix, Option<Vec<f64>>) {
        let (to_A, to_o) = self.turned.get_or_init(|| {
            let (problem, turn) = (&self.problem, &self.frame().turn);
            let n = problem.cols();
            let beyond: Vec<f64> =
                problem.b.iter().enumerate().map(|(i, b)| if i < n { 0.0 } else { *b }).collect();
            (linalg::matmul(turn, &problem.A), linalg::mat_vec(turn, &beyond))
        });
        let o = (self.family.outside > 0.0).then(|| linalg::mat_vec(drawn, to_o));
        (linalg::row_by_row(drawn, to_A), o)
    }

    /// Rows of A and b, from the corresponding rows of the frame as drawn.
    pub fn system_of(&self, drawn: &Matrix) -> (Matrix, Vec<f64>) {
        let (A, o) = self.rows_of(drawn);
        let b = Instance::right_hand_side(&A, &self.problem.x_star, o.as_deref());
        (A, b)
    }
}
