//! Products with the user's matrix, scaled, transposed where that makes it tall, and counted.
#![allow(non_snake_case)]

use crate::linalg::{Matrix, block_mat, mat_block, power_of_two_below};
use faer::{Mat, MatRef};
use std::cell::Cell;

/// A/c, or its transpose, with c a power of two so that entries are below 2 in size and their squares do not overflow.
pub struct LinearOperator<'a> {
    pub A: &'a Matrix,
    pub transposed: bool,
    /// c.
    pub factor: f64,
    passes: Cell<usize>,
}

impl<'a> LinearOperator<'a> {
    /// For an A whose largest entry has this size.
    pub fn new(A: &'a Matrix, largest: f64, transposed: bool) -> LinearOperator<'a> {
        let factor = power_of_two_below(largest);
        LinearOperator { A, transposed, factor, passes: Cell::new(0) }
    }

    /// Length of a product.
    pub fn rows(&self) -> usize {
        if self.transposed { self.A.cols() } else { self.A.rows() }
    }

    /// Length of what is multiplied.
    pub fn cols(&self) -> usize {
        if self.transposed { self.A.rows() } else { self.A.cols() }
    }

    /// Products of A with a block so far.
    pub fn passes(&self) -> usize {
        self.passes.get()
    }

    /// Counts reads of A that are made elsewhere.
    pub fn count(&self, passes: usize) {
        self.passes.set(self.passes.get() + passes);
    }

    /// A·X.
    pub fn times(&self, X: &Matrix) -> Mat<f64> {
        self.scaled(if self.transposed { block_mat(self.A, X) } else { mat_block(self.A, X) })
    }

    /// Aᵀ·U.
    pub fn transposed_times(&self, U: &Matrix) -> Mat<f64> {
        self.scaled(if self.transposed { mat_block(self.A, U) } else { block_mat(self.A, U) })
    }

    fn scaled(&self, product: Matrix) -> Mat<f64> {
        self.count(1);
        let inverse = self.factor.recip();
        let mut product = product.into_faer();
        for j in 0..product.ncols() {
            product.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry *= inverse);
        }
        product
    }
}

/// The first `count` columns.
pub fn columns(M: &Matrix, count: usize) -> MatRef<'_, f64> {
    M.as_faer().subcols(0, count)
}
