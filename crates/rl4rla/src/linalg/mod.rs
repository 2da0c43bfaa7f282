//! Linear algebra, dense but for sparse data; the only stage that uses faer's factorizations.
//!
//! Three rules hold throughout.
//! Everything is sequential, because parallelism is across candidates, not inside a kernel; only row-major and
//! sparse matrices, used for large data, are read by all threads, and results do not depend on their number.
//! Everything is reproducible: on one machine equal input values in the same layout give equal bits, wherever they are stored.
//! Values never cause a panic: what cannot be computed is a [`NumericError`] or a non-finite result.
//! Shapes are the caller's contract, and a mismatch panics.

mod blas;
mod block_residual;
mod blocks;
mod by_rows;
mod cholesky;
mod columns;
mod eigen;
mod error;
mod exponential;
mod inverse;
mod logistic_slope;
mod matrix;
mod narrow;
mod nystrom;
mod orthonormal;
mod qr;
mod scaled;
mod scaled_gram;
mod secant_pairs;
mod semidefinite;
mod shifted_factor;
mod sparse;
mod sparse_kernels;
mod spool;
mod svd;
mod symmetric;
#[cfg(test)]
pub(crate) mod testing;
mod tiles;
mod triangular;
mod vector;
mod wide;

pub use blas::{
    gram, mat_vec, mat_vecs, matmul, matmul_t, outer_gram, residual_and_gradient, scale_rows,
    squared_row_norms, t_matmul, vec_mat,
};
pub use block_residual::{BlockResidual, block_residual};
pub use blocks::{asymmetry, block_mat, largest_entry, mat_block, product, subtract_product, t_product};
pub use cholesky::{
    Orthonormal, cholesky_r, gram_cholesky_r, orthonormalised, preconditioned_cholesky_r, qr_r_of_embedding,
};
pub use columns::{ColumnMap, column_norms};
pub use eigen::{eigenvalues, symmetric_eigen};
pub use error::NumericError;
pub use exponential::{cross_entropy, sigmoid, sigmoids, softplus};
pub use inverse::{inverse, least_squares, solve, solve_unless_zero_pivot};
pub use logistic_slope::LogisticSlope;
pub use matrix::{LentEntries, Matrix};
pub use nystrom::nystrom_deflation;
pub use orthonormal::{leading_ritz_vector, orthonormal_rows};
pub use qr::{dependent_column, qr_r, qr_r_shifted, qr_r_with, thin_q, thin_qr};
pub use scaled_gram::gram_of_scaled;
pub use secant_pairs::SecantPairs;
use semidefinite::semidefinite_pseudo_inverse;
pub use shifted_factor::ShiftedFactor;
pub use sparse::Sparse;
pub use spool::RowSource;
pub use svd::{Svd, condition_number, pseudo_inverse, singular_values, svd_of_square};
pub use symmetric::symmetric_mat_vec;
pub use triangular::{solve_upper, solve_upper_transposed, triangular_inverse, upper_mat_vec, upper_vec_mat};
pub use vector::{add, dot, is_finite, norm, scale, sub};
pub(crate) use vector::{power_of_two_below, square_roots};
pub(crate) use wide::wide;
