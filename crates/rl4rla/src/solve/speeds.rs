//! How fast this machine computes what programs consist of, for predictions of their time.

use crate::clock::fastest;
use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Rates of a machine with a number of threads.
///
/// A choice does not depend on the threads in use, but on the speeds alone, so that results have the same bits for any
/// number of threads.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Speeds {
    /// Bytes of A per second of the fused pass Ax − b, Aᵀ(Ax − b).
    pub pass: f64,
    /// Flops per second of the Gram matrix AᵀA, mn² of them.
    pub gram: f64,
    /// Flops per second of (AP⁻¹)ᵀAP⁻¹, 2mn² of them.
    pub precond_gram: f64,
    /// Flops per second of a Householder factorisation, 2mn² of them.
    pub qr: f64,
    /// Flops per second of a Cholesky factorisation, ⅓n³ of them.
    pub cholesky: f64,
    /// Entries of A per second and nonzero of a sparse sketch.
    pub sketch: f64,
    /// Threads they were measured with.
    pub threads: usize,
}

/// Time of each measurement.
const TIME: Duration = Duration::from_millis(150);

impl Speeds {
    /// Two cores of a server with AVX-512.
    pub const USUAL: Speeds = Speeds {
        pass: 1.6e10,
        gram: 5.4e10,
        precond_gram: 5.1e10,
        qr: 1.8e10,
        cholesky: 1.1e10,
        sketch: 1.9e9,
        threads: 2,
    };

    /// These speeds, if all are positive and finite.
    pub fn checked(self) -> Option<Speeds> {
        let Speeds { pass, gram, precond_gram, qr, cholesky, sketch, threads } = self;
        let all = [pass, gram, precond_gram, qr, cholesky, sketch];
        (all.iter().all(|speed| speed.is_finite() && *speed > 0.0) && threads > 0).then_some(self)
    }

    /// Measures the machine with the threads of the current pool, in about two seconds.
    pub fn measured() -> Speeds {
        let (rows, cols) = (1 << 17, 128);
        let tall = Matrix::from_row_major(rows, cols, Stream::new(0).normals(rows * cols));
        let (m, n) = (rows as f64, cols as f64);
        let (x, b) = (vec![1.0; cols], vec![1.0; rows]);
        let pass = fastest(TIME, || linalg::residual_and_gradient(&tall, &x, &b).1[0]);
        let gram = fastest(TIME, || linalg::gram(&tall).get(0, 0));
        let factor = linalg::gram_cholesky_r(&tall).expect("normal columns are independent");
        let first = |result: Result<Matrix, _>| result.map_or(0.0, |matrix: Matrix| matrix.get(0, 0));
        let precond_gram = fastest(TIME, || first(linalg::preconditioned_cholesky_r(&tall, &factor)));
        let short = tall.rows_at(&(0..64 * cols).collect::<Vec<usize>>());
        let qr = fastest(TIME, || linalg::qr_r(&short).get(0, 0));
        let sketch = || {
            let drawn = Sketch::draw(SketchKind::Sjlt2, 4 * cols, rows, &Stream::new(1));
            drawn.apply(&tall).get(0, 0)
        };
        let sketch = fastest(TIME, sketch);
        let square = linalg::gram(&Matrix::from_fn(700, 600, |i, j| tall.get(i * 64 + j / cols, j % cols)));
        let cholesky = fastest(TIME, || first(linalg::cholesky_r(&square)));
        Speeds {
            pass: 8.0 * m * n / pass,
            gram: m * n * n / gram,
            precond_gram: 2.0 * m * n * n / precond_gram,
            qr: 2.0 * 64.0 * n * n * n / qr,
            cholesky: 600f64.powi(3) / 3.0 / cholesky,
            sketch: 2.0 * m * n / sketch,
            threads: rayon::current_num_threads(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_positive_speeds() {
        assert!(Speeds::measured().checked().is_some() && Speeds::USUAL.checked().is_some());
        assert!(Speeds { qr: 0.0, ..Speeds::USUAL }.checked().is_none());
    }
}
