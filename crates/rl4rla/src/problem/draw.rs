//! Drawing an instance: a pure function of a family and a stream.
#![allow(non_snake_case)]

use super::{Family, FamilyError, Instance, Right, Scale, factors, spectrum};
use crate::linalg::{self, Matrix};
use crate::rng::Stream;
use faer::Mat;

impl Family {
    /// The instance that `stream` names: the same bits every time, on any thread.
    pub fn draw(&self, stream: &Stream) -> Result<Instance, FamilyError> {
        self.check()?;
        if self.kind.info().square { self.draw_symmetric(stream) } else { self.draw_tall(stream) }
    }

    /// A = λmax·Q·Λ·Qᵀ with x ~ N(0, I) and b = A·x. Unless normalised, λmax is that of the Gram
    /// matrix GᵀG/n of a Gaussian G.
    fn draw_symmetric(&self, stream: &Stream) -> Result<Instance, FamilyError> {
        let n = self.cols;
        let largest = match self.scale {
            Scale::Unit => 1.0,
            Scale::Raw => {
                let G = Matrix::from_faer(factors::gaussian(n, n, &stream.derive("gram", 0)));
                self.singular_values(&G)?[0].powi(2) / n as f64
            }
        };
        let mut lambda = spectrum::draw(self, &stream.derive("spectrum", 0));
        lambda.iter_mut().for_each(|l| *l *= largest);
        let Q = factors::haar(n, n, &stream.derive("vectors", 0));
        let P = linalg::matmul_t(&scale_columns(&Q, &lambda), &Q);
        // Rounding leaves P symmetric only almost.
        let A = Mat::from_fn(n, n, |i, j| 0.5 * (P.get(i, j) + P.get(j, i)));
        let x = stream.derive("solution", 0).normals(n);
        let mut instance = Instance::consistent(Matrix::from_faer(A), x, lambda);
        instance.symmetric = true;
        Ok(instance)
    }

    /// A = U·Σ·Vᵀ with b = (1 − s)·r + s·o, r ∈ range(A), o ⟂ range(A), ‖r‖ = ‖o‖ = mean(σ).
    fn draw_tall(&self, stream: &Stream) -> Result<Instance, FamilyError> {
        let (rows, cols) = (self.rows, self.cols);
        let drawn = spectrum::draw(self, &stream.derive("spectrum", 0));
        let V = factors::right(cols, self.right, &stream.derive("right", 0));
        let U = factors::left(rows, cols, self.leverage, &stream.derive("left", 0));
        let core = scale_columns(&V, &drawn);
        // U is orthonormal, so A = U·coreᵀ has the singular values of its small core.
        let mut sigma = match self.right {
            Right::Gauss | Right::StudentT => drawn,
            Right::ScaledRows => self.singular_values(&core)?,
        };
        let unit = match self.scale {
            Scale::Unit => sigma[0].recip(),
            Scale::Raw => 1.0,
        };
        sigma.iter_mut().for_each(|s| *s *= unit);
        let level = sigma.iter().sum::<f64>() / cols as f64;
        let A = linalg::matmul_t(&U, &scale_columns(&core, &vec![unit; cols]));

        let mut x = stream.derive("solution", 0).normals(cols);
        let length = linalg::norm(&linalg::mat_vec(&A, &x));
        x.iter_mut().for_each(|x| *x *= (1.0 - self.outside) * level / length);
        if self.outside == 0.0 {
            return Ok(Instance::consistent(A, x, sigma));
        }
        let mut o = stream.derive("outside", 0).normals(rows);
        project_out(&U, &mut o);
        project_out(&U, &mut o); // what the first pass leaves by cancellation, the second removes
        let length = linalg::norm(&o);
        o.iter_mut().for_each(|o| *o *= self.outside * level / length);
        Ok(Instance::inconsistent(A, x, sigma, &o))
    }

    fn singular_values(&self, matrix: &Matrix) -> Result<Vec<f64>, FamilyError> {
        linalg::singular_values(matrix).ok_or(FamilyError::NoSpectrum { kind: self.kind })
    }
}

/// M·diag(s).
fn scale_columns(M: &Matrix, s: &[f64]) -> Matrix {
    Matrix::from_faer(Mat::from_fn(M.rows(), M.cols(), |i, j| M.get(i, j) * s[j]))
}

/// v ← v − U·Uᵀv.
fn project_out(U: &Matrix, v: &mut [f64]) {
    let inside = linalg::mat_vec(U, &linalg::vec_mat(v, U));
    v.iter_mut().zip(inside).for_each(|(v, p)| *v -= p);
}

#[cfg(test)]
mod tests;
