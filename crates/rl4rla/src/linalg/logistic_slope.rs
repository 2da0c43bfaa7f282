//! The slope of the cross-entropy, which needs no more of A than least squares do: one pass.
#![allow(non_snake_case)]

use super::by_rows::ByRows;
use super::exponential::sigmoid;
use super::{Matrix, mat_vec, sigmoids, sub, vec_mat};

/// z = A·x, r = σ(z) − b and Aᵀ·r.
#[derive(Clone, PartialEq, Debug)]
pub struct LogisticSlope {
    /// z.
    pub image: Vec<f64>,
    /// r.
    pub residual: Vec<f64>,
    /// Aᵀ·r.
    pub gradient: Vec<f64>,
}

impl LogisticSlope {
    /// At x, by one pass over a matrix that is stored by rows.
    pub fn at(A: &Matrix, x: &[f64], b: &[f64]) -> LogisticSlope {
        assert_eq!((A.rows(), A.cols()), (b.len(), x.len()), "σ(A·x) − b of unequal lengths");
        if !A.is_by_rows() || A.is_sparse() || A.cols() == 0 {
            let image = mat_vec(A, x);
            let residual = sub(&sigmoids(&image), b);
            let gradient = vec_mat(&residual, A);
            return LogisticSlope { image, residual, gradient };
        }
        let (mut image, mut residual, mut sum) = (vec![0.0; b.len()], b.to_vec(), None);
        A.each_part(ByRows::height_of(A.cols()), |first, part| {
            let rows = first..first + part.rows();
            let (z, r) = (&mut image[rows.clone()], &mut residual[rows]);
            part.image_and_gradient(x, z, r, |z, b| sigmoid(z) - b, &mut sum);
        });
        LogisticSlope { image, residual, gradient: sum.unwrap_or_else(|| vec![0.0; x.len()]) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::norm;
    use super::super::testing::normal;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn one_pass_gives_what_two_give(m in 0..900usize, n in 0..40usize, seed: u64) {
            let (A, x) = (normal(m, n, seed), normal(n, 1, seed ^ 1));
            let b: Vec<f64> = (0..m).map(|i| f64::from(i % 3 == 0)).collect();
            let rows = Matrix::from_row_major(m, n, A.row_major().to_vec());
            let (found, expected) =
                (LogisticSlope::at(&rows, x.column(0), &b), LogisticSlope::at(&A, x.column(0), &b));
            let small = |a: &[f64], b: &[f64]| norm(&sub(a, b)) <= 1e-13 * (1.0 + norm(b)) * (n + 1) as f64;
            prop_assert!(small(&found.image, &expected.image));
            prop_assert!(small(&found.residual, &expected.residual));
            prop_assert!(norm(&sub(&found.gradient, &expected.gradient)) <= 1e-14 * ((m + 1) * (n + 1)) as f64);
        }
    }

    #[test]
    fn threads_do_not_show() {
        let (m, n) = (5000, 70);
        let A = Matrix::from_row_major(m, n, normal(m, n, 5).row_major().to_vec());
        let (x, b) = (normal(n, 1, 6), vec![1.0; m]);
        let all = || LogisticSlope::at(&A, x.column(0), &b);
        let one = all();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == one, "{threads} threads");
        }
    }
}
