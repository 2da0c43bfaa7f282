//! Row sampling: which rows SUBSAMPLING takes, and how they are scaled.

use crate::linalg::{Matrix, scale_rows};
use crate::rng::{Discrete, Stream};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How rows are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// With replacement, row i scaled by 1/√(k·pᵢ), so that E[(SA)ᵀ(SA)] = AᵀA and the sampled gradient is
    /// unbiased.
    #[default]
    Unbiased,
    /// Without replacement and unscaled, as in the paper's released code: biased.
    Released,
}

impl Sampling {
    /// Both methods.
    pub const ALL: [Sampling; 2] = [Sampling::Unbiased, Sampling::Released];
}

/// A matrix and a vector with one entry per row.
pub type SampledRows = (Arc<Matrix>, Arc<Vec<f64>>);

/// The rows of one sample and their scale factors.
pub struct ChosenRows {
    rows: Vec<usize>,
    scales: Vec<f64>,
}

impl ChosenRows {
    /// Draws `batch` rows; `None` if there are too few to draw from.
    pub fn draw(weights: &Discrete, batch: usize, sampling: Sampling, stream: &Stream) -> Option<ChosenRows> {
        Some(match sampling {
            Sampling::Unbiased => {
                let rows = weights.sample(stream, batch);
                let scale = |&i: &usize| 1.0 / (batch as f64 * weights.probability(i)).sqrt();
                let scales = rows.iter().map(scale).collect();
                ChosenRows { rows, scales }
            }
            Sampling::Released => {
                ChosenRows { rows: weights.sample_distinct(stream, batch)?, scales: vec![1.0; batch] }
            }
        })
    }

    /// The indices of the rows.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The chosen rows of A and b, scaled.
    #[allow(non_snake_case)]
    pub fn of(&self, A: &Matrix, b: &[f64]) -> SampledRows {
        let b: Vec<f64> = self.rows.iter().map(|&i| b[i]).collect();
        self.scaled(A.rows_at(&self.rows), b)
    }

    /// Scales the chosen rows of A and b.
    #[allow(non_snake_case)]
    pub fn scaled(&self, A: Matrix, b: Vec<f64>) -> SampledRows {
        let b = b.iter().zip(&self.scales).map(|(b, scale)| scale * b).collect();
        (Arc::new(scale_rows(&self.scales, &A)), Arc::new(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{mat_vec, sub, vec_mat};

    /// The deviation of the mean sampled gradient from the exact one, in standard errors.
    #[allow(non_snake_case)]
    fn gradient_error(weights: &Discrete, sampling: Sampling) -> f64 {
        let (m, n, batch, draws) = (40, 3, 8, 20_000u64);
        let root = Stream::new(11);
        let entries = root.derive("A", 0).normals(m * n);
        let A = Matrix::from_fn(m, n, |i, j| entries[i * n + j] * (1.0 + i as f64 / 10.0));
        let b = root.derive("b", 0).normals(m);
        let x = [1.0, -2.0, 0.5];
        let gradient = |A: &Matrix, b: &[f64]| vec_mat(&sub(&mat_vec(A, &x), b), A);
        let exact = gradient(&A, &b);
        let (mut sum, mut squares) = (vec![0.0; n], vec![0.0; n]);
        for t in 0..draws {
            let chosen = ChosenRows::draw(weights, batch, sampling, &root.derive("draw", t)).unwrap();
            for (j, g) in {
                let (SA, Sb) = chosen.of(&A, &b);
                gradient(&SA, &Sb)
            }
            .into_iter()
            .enumerate()
            {
                sum[j] += g;
                squares[j] += g * g;
            }
        }
        let count = draws as f64;
        let deviation = |j: usize| {
            let mean = sum[j] / count;
            let standard_error = ((squares[j] / count - mean * mean) / count).sqrt();
            (mean - exact[j]).abs() / standard_error
        };
        (0..n).map(deviation).fold(0.0, f64::max)
    }

    #[test]
    fn the_sampled_gradient_is_unbiased() {
        let weights: Vec<f64> = (0..40).map(|i| 1.0 + (i % 7) as f64).collect();
        for law in [Discrete::uniform(40).unwrap(), Discrete::new(&weights).unwrap()] {
            let error = gradient_error(&law, Sampling::Unbiased);
            assert!(error < 5.0, "{error} standard errors from the full gradient");
            assert!(gradient_error(&law, Sampling::Released) > 50.0);
        }
    }

    #[test]
    fn released_samples_are_distinct_and_unscaled() {
        let law = Discrete::uniform(10).unwrap();
        let draw = |batch| ChosenRows::draw(&law, batch, Sampling::Released, &Stream::new(0));
        let ChosenRows { mut rows, scales } = draw(10).unwrap();
        rows.sort();
        assert_eq!(rows, (0..10).collect::<Vec<_>>());
        assert!(scales.iter().all(|&s| s == 1.0));
        assert!(draw(11).is_none());
    }
}
