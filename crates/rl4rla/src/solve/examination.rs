//! What a look at the data tells before a program is chosen.

use super::column_factor::ColumnFactor;
use super::problem::Problem;
use crate::linalg;
use crate::rng::Stream;
use rand::RngExt;

/// Rows of the sample per column.
const SAMPLE: usize = 4;

/// A sample is taken if A has this many times as many rows, so that it costs little compared with AᵀA; that of a sparse
/// A costs less than a sample would.
const WORTH: usize = 10;

/// Dense flops in the time of one on scattered entries.
const SCATTERED: f64 = 24.0;

/// A factor that is this many times larger than sparse data is not computed,
const LARGER: f64 = 4.0;

/// unless it takes fewer bytes than this.
const SMALL: f64 = 1e8;

/// Shape, storage and a sample of the rows of A.
#[derive(Clone, PartialEq, Debug)]
pub struct Examination {
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// Whether A is stored as a dense matrix.
    pub dense: bool,
    /// Bytes read by a pass over A.
    pub bytes: f64,
    /// Flops of AᵀA, where a sparse A makes them scattered each counts as 24.
    pub gram_flops: f64,
    /// κ of a sample of rows, columns scaled to length 1; infinite if they are dependent in double precision, `None`
    /// without a sample.
    pub kappa: Option<f64>,
}

impl Examination {
    /// Whether A is sparse, and a dense triangular factor would take several times its memory and more than a little.
    pub fn is_very_wide(&self) -> bool {
        let factor = 8.0 * (self.cols as f64).powi(2);
        !self.dense && factor > LARGER * self.bytes && factor > SMALL
    }

    /// Looks at a problem; the sample depends on the seed.
    #[allow(non_snake_case)]
    pub fn of(problem: &Problem, seed: u64) -> Examination {
        let A = &problem.matrix;
        let (rows, cols) = (A.rows(), A.cols());
        let sampled = cols > 0 && rows > WORTH * SAMPLE * cols && !A.is_in_file() && !A.is_sparse();
        let (m, n) = (rows as f64, cols as f64);
        let (bytes, gram_flops) = match A.is_sparse() {
            true => {
                let nonzeros = A.nonzeros() as f64;
                (A.bytes() as f64, (SCATTERED * nonzeros * nonzeros / m).min(m * n * n))
            }
            false => (8.0 * m * n, m * n * n),
        };
        Examination {
            rows,
            cols,
            dense: !A.is_sparse(),
            bytes,
            gram_flops,
            kappa: sampled.then(|| kappa_of_sample(problem, seed)),
        }
    }
}

/// κ of 4n rows, one of each stratum of consecutive rows.
#[allow(non_snake_case)]
fn kappa_of_sample(problem: &Problem, seed: u64) -> f64 {
    let (A, count) = (&problem.matrix, SAMPLE * problem.matrix.cols());
    let mut rng = Stream::new(seed).derive("examination", 0).rng();
    let first = |i: usize| i * A.rows() / count;
    let rows: Vec<usize> = (0..count).map(|i| rng.random_range(first(i)..first(i + 1))).collect();
    let factor = linalg::gram_cholesky_r(&A.rows_at(&rows));
    let factor = factor.ok().and_then(|R| ColumnFactor::of(&R.into()));
    factor.map_or(f64::INFINITY, |factor| factor.kappa())
}
