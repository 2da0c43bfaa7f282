//! A tall system in reduced coordinates, whose rows are drawn on demand.
#![allow(non_snake_case)]

use super::factors::{self, orthonormalise};
use super::{Family, Instance};
use crate::clock::{WorkPhase, spend};
use crate::linalg::{self, Matrix, Orthonormal};
use crate::rng::Stream;
use faer::Mat;
use std::sync::OnceLock;

/// A matrix with orthonormal columns as a product of what was drawn, tall, and what makes it so, small.
///
/// Sketches, samples and products of Q are those of the tall factor, turned: Q itself is never needed.
pub struct Frame {
    /// m × k.
    pub drawn: Matrix,
    /// k × k, such that Q = drawn·turn.
    pub turn: Matrix,
}

impl Frame {
    /// The Q of a tall matrix of full rank.
    pub(super) fn of(drawn: Mat<f64>) -> Frame {
        match linalg::orthonormalised(Matrix::from_faer(drawn)) {
            Ok(Orthonormal { M, T }) => Frame { drawn: M, turn: T },
            Err(drawn) => Frame::known(orthonormalise(drawn)),
        }
    }

    /// One whose columns are orthonormal as they are.
    pub fn known(drawn: Matrix) -> Frame {
        let turn = Matrix::identity(drawn.cols());
        Frame { drawn, turn }
    }
}

/// A system A·x ≈ b with A = Q·A' and b = Q·b', of which A' and b' are known and Q can be had.
///
/// A program that neither sketches nor samples does not see the m rows, and drawing them is most of the work.
pub struct Outline {
    /// The problem in coordinates, A'·x ≈ b'.
    pub problem: Instance,
    family: Family,
    stream: Stream,
    frame: OnceLock<Frame>,
    /// What makes rows of A, and of what of b is outside its range, out of rows as they were drawn.
    turned: OnceLock<(Matrix, Vec<f64>)>,
}

impl Outline {
    /// A' is coreᵀ, over a row of zeros if b is partly outside the range of A, by the length of `outside` there.
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

    /// The memory that what was drawn takes.
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

    /// The system as it is.
    pub fn instance(&self) -> Instance {
        let (x, sigma) = (self.problem.x_star.clone(), self.problem.spectrum().to_vec());
        let instance = match self.rows_of(&self.frame().drawn) {
            (A, None) => Instance::consistent(A, x, sigma),
            (A, Some(o)) => Instance::inconsistent(A, x, sigma, &o),
        };
        instance.with_triangle_of(&self.problem)
    }

    /// The rows of A and of what of b is outside its range, if anything, for some rows of the frame as they were drawn:
    /// the same to the last bit whatever other rows there are.
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

    /// Rows of A and of b, for some rows of the frame as they were drawn.
    pub fn system_of(&self, drawn: &Matrix) -> (Matrix, Vec<f64>) {
        let (A, o) = self.rows_of(drawn);
        let b = Instance::right_hand_side(&A, &self.problem.x_star, o.as_deref());
        (A, b)
    }
}
