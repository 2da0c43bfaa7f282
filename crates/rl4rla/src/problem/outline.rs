//! A tall system in reduced coordinates, whose rows are drawn on demand.
#![allow(non_snake_case)]

use super::factors::{self, orthonormalise};
use super::{Family, Instance};
use crate::cache::{Bytes, Evictable};
use crate::clock::{WorkPhase, spend};
use crate::linalg::{self, Matrix, Orthonormal};
use crate::rng::Stream;
use std::sync::{Arc, OnceLock};

/// A matrix Q with orthonormal columns as the product of a tall matrix, as drawn, and a small matrix that
/// orthonormalizes it.
///
/// Sketches, samples and products of Q are computed from the tall factor and then multiplied by the small one: Q
/// itself is never formed.
pub struct Frame {
    /// The tall matrix, m × k, stored by rows: these are sketched and sampled.
    pub drawn: Matrix,
    /// The small matrix, k × k, such that Q = drawn·turn.
    pub turn: Matrix,
}

impl Frame {
    /// The frame of a tall matrix of full rank.
    pub(super) fn of(drawn: Matrix) -> Frame {
        match linalg::orthonormalised(drawn) {
            Ok(Orthonormal { M, T }) => Frame { drawn: M.by_rows(), turn: T },
            Err(drawn) => Frame::known(orthonormalise((*drawn).by_columns())),
        }
    }

    /// The frame of a matrix whose columns are already orthonormal.
    pub fn known(drawn: Matrix) -> Frame {
        let turn = Matrix::identity(drawn.cols());
        Frame { drawn: drawn.by_rows(), turn }
    }
}

impl Bytes for Frame {
    fn bytes(&self) -> usize {
        self.drawn.bytes()
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
    frame: Evictable<Frame>,
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
        Outline {
            problem,
            family: *family,
            stream: *stream,
            frame: Evictable::new(),
            turned: OnceLock::new(),
        }
    }

    /// m, the rows of A.
    pub fn rows(&self) -> usize {
        self.family.rows
    }

    fn draw(&self) -> Frame {
        let Family { rows, cols, leverage, outside, .. } = self.family;
        let beyond = (outside > 0.0).then(|| self.stream.derive("outside", 0));
        let left = || factors::left(rows, cols, leverage, beyond.as_ref(), &self.stream.derive("left", 0));
        spend(WorkPhase::Instances, left)
    }

    /// Q, drawn on first use, and again if memory has been short since.
    pub fn frame(&self) -> Arc<Frame> {
        self.frame.get(|| self.draw())
    }

    /// The full system.
    pub fn instance(&self) -> Instance {
        let (x, sigma) = (self.problem.x_star.clone(), self.problem.spectrum().to_vec());
        let Frame { drawn, turn } = self.draw();
        let instance = match self.rows_of(&drawn, &turn) {
            (A, None) => Instance::consistent(A, x, sigma),
            (A, Some(o)) => Instance::inconsistent(A, x, sigma, &o),
        };
        instance.with_coordinates(&self.problem)
    }

    /// Rows of A, and of the component of b outside its range, if any, from the corresponding rows of the frame as
    /// drawn. All together have the same bits each time; some of them alone may differ in the last one.
    fn rows_of(&self, drawn: &Matrix, turn: &Matrix) -> (Matrix, Option<Vec<f64>>) {
        let (to_A, to_o) = self.turned.get_or_init(|| {
            let problem = &self.problem;
            let n = problem.cols();
            let beyond: Vec<f64> =
                problem.b.iter().enumerate().map(|(i, b)| if i < n { 0.0 } else { *b }).collect();
            (linalg::matmul(turn, &problem.A), linalg::mat_vec(turn, &beyond))
        });
        let o = || (0..drawn.rows()).map(|i| linalg::dot(drawn.row(i), to_o)).collect();
        let o = (self.family.outside > 0.0).then(o);
        (linalg::matmul(drawn, to_A), o)
    }

    /// The rows of A and b with these indices.
    pub fn rows_at(&self, rows: &[usize]) -> (Matrix, Vec<f64>) {
        let frame = self.frame();
        let entries: Vec<f64> = rows.iter().flat_map(|&i| frame.drawn.row(i)).copied().collect();
        let drawn = Matrix::from_row_major(rows.len(), frame.drawn.cols(), entries);
        let (A, o) = self.rows_of(&drawn, &frame.turn);
        let b = Instance::right_hand_side(&A, &self.problem.x_star, o.as_deref());
        (A, b)
    }

    /// ‖aᵢ‖² for every row of A.
    pub fn squared_row_norms(&self) -> Vec<f64> {
        let frame = self.frame();
        linalg::squared_row_norms(&self.rows_of(&frame.drawn, &frame.turn).0)
    }
}
