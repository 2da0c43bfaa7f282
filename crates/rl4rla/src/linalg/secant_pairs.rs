//! Pairs of a step and the change of the gradient along it: the BFGS approximation of an inverse Hessian.

use super::{dot, norm};
use std::collections::VecDeque;

/// Number of pairs kept.
const MEMORY: usize = 10;

/// The last ten pairs s, y, with Hy = s for the approximation H of the inverse Hessian.
#[derive(Clone, Default, Debug)]
pub struct SecantPairs {
    /// s, y and sᵀy, the oldest first.
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl SecantPairs {
    /// H·g by the two-loop recursion, for an initial H that `initial` multiplies by.
    pub fn times<E>(
        &self,
        g: &[f64],
        initial: impl FnOnce(&[f64]) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<f64>, E> {
        let mut q = g.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for (s, y, product) in self.pairs.iter().rev() {
            let share = dot(s, &q) / product;
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        let mut p = initial(&q)?;
        for ((s, y, product), share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let gap = share - dot(y, &p) / product;
            p.iter_mut().zip(s).for_each(|(p, s)| *p += gap * s);
        }
        Ok(p)
    }

    /// sᵀy/yᵀy of the last pair, the curvature that an initial H without other knowledge has.
    pub fn scale(&self) -> Option<f64> {
        self.pairs.back().map(|(_, y, product)| product / dot(y, y))
    }

    /// Adds a pair, unless its curvature is lost to rounding.
    pub fn learn(&mut self, s: Vec<f64>, y: Vec<f64>) {
        let product = dot(&s, &y);
        if product > f64::EPSILON * norm(&s) * norm(&y) {
            self.pairs.push_back((s, y, product));
            if self.pairs.len() > MEMORY {
                self.pairs.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matrix, mat_vec, matmul_t, scale, sub};
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_two_loops_are_the_bfgs_formula() {
        // H₊ = (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ, ρ = 1/sᵀy.
        let (s, y, initial) = (vec![1.0, 2.0, -1.0], vec![2.0, 1.0, 0.5], 0.7);
        let mut pairs = SecantPairs::default();
        pairs.learn(s.clone(), y.clone());
        let times = |g: &[f64]| pairs.times(g, |q| Ok::<_, Infallible>(scale(initial, q))).unwrap();
        let rho = 1.0 / dot(&s, &y);
        let left = Matrix::from_fn(3, 3, |i, j| f64::from(i == j) - rho * s[i] * y[j]);
        let scaled = matmul_t(&left, &left).map(|h| h * initial);
        let formula = Matrix::from_fn(3, 3, |i, j| scaled.get(i, j) + rho * s[i] * s[j]);
        let g = [0.3, -1.0, 2.0];
        assert!(norm(&sub(&times(&g), &mat_vec(&formula, &g))) < 1e-14);
        // H₊y = s.
        assert!(norm(&sub(&times(&y), &s)) < 1e-14);
        assert_eq!(pairs.scale(), Some(dot(&s, &y) / dot(&y, &y)));
    }

    #[test]
    fn pairs_without_curvature_are_left_out() {
        let mut pairs = SecantPairs::default();
        pairs.learn(vec![1.0, 0.0], vec![0.0, 1.0]);
        pairs.learn(vec![1.0, 0.0], vec![-1.0, 0.0]);
        assert_eq!(pairs.scale(), None);
    }
}
