//! One problem: its data, the starting point, and the reference solution.
#![allow(non_snake_case)]

use super::instance_error::InstanceError;
use super::linear::Linear;
use super::task::Task;
use crate::cache::Bytes;
use crate::linalg::{self, Matrix};
use crate::program::{Dim, Geometry, Reg, Signature};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The signature and size of a problem: what is known before anything runs.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its signature, for type checking.
    pub signature: Signature,
    /// m, the rows of A.
    pub rows: usize,
    /// n, the columns of A.
    pub cols: usize,
}

/// A problem with a known solution: min ‖Ax − b‖, unless its task has another goal.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The task.
    pub task: &'static dyn Task,
    /// The matrix, at least as tall as it is wide.
    pub A: Arc<Matrix>,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// x before the first iteration.
    pub start: Vec<f64>,
    /// The regularization parameter λ, 0 for tasks without one.
    pub lambda: f64,
    /// A solution.
    pub x_star: Vec<f64>,
    /// Whether A is known to be symmetric.
    pub symmetric: bool,
    norm_b: f64,
    attainable: f64,
    spectrum: Vec<f64>,
    /// A matrix C with few rows and ‖Cv‖ = ‖Av‖ for every v, if one is known.
    isometric: Option<Arc<Matrix>>,
    triangle: OnceLock<Matrix>,
    gram: OnceLock<Matrix>,
    condition: OnceLock<f64>,
    column_norms: OnceLock<Vec<f64>>,
    at_start: OnceLock<(Vec<f64>, (f64, f64))>,
    memory: Arc<Mutex<BTreeMap<u64, f64>>>,
}

impl Bytes for Instance {
    fn bytes(&self) -> usize {
        self.A.bytes()
    }
}

impl Instance {
    /// The problem whose right-hand side is A·x.
    pub(super) fn consistent(A: Matrix, x: Vec<f64>, spectrum: Vec<f64>) -> Instance {
        let b = Instance::right_hand_side(&A, &x, None);
        Instance::new(A, b, x, spectrum, 0.0)
    }

    /// The problem whose right-hand side is A·x + o, where o is orthogonal to the range of A.
    pub(super) fn inconsistent(A: Matrix, x: Vec<f64>, spectrum: Vec<f64>, o: &[f64]) -> Instance {
        let b = Instance::right_hand_side(&A, &x, Some(o));
        Instance::new(A, b, x, spectrum, linalg::norm(o))
    }

    /// A·x, or A·x + o.
    pub(super) fn right_hand_side(A: &Matrix, x: &[f64], o: Option<&[f64]>) -> Vec<f64> {
        let product = linalg::mat_vec(A, x);
        match o {
            Some(o) => linalg::add(&product, o),
            None => product,
        }
    }

    fn new(A: Matrix, b: Vec<f64>, x_star: Vec<f64>, spectrum: Vec<f64>, distance: f64) -> Instance {
        let attainable = relative(distance, linalg::norm(&b));
        Instance::posed(&Linear, A, b, x_star, attainable, spectrum)
    }

    /// A problem of any task: its data, a solution, the smallest possible loss, and the singular values of A, largest
    /// first. Runs start at zero unless [`Instance::start`] is set.
    pub fn posed(
        task: &'static dyn Task,
        A: Matrix,
        b: Vec<f64>,
        x_star: Vec<f64>,
        attainable: f64,
        spectrum: Vec<f64>,
    ) -> Instance {
        let (triangle, gram, condition, column_norms, at_start, memory) = Default::default();
        Instance {
            task,
            norm_b: linalg::norm(&b),
            start: vec![0.0; A.cols()],
            A: Arc::new(A),
            b,
            x_star,
            lambda: 0.0,
            symmetric: false,
            attainable,
            spectrum,
            isometric: None,
            triangle,
            gram,
            condition,
            column_norms,
            at_start,
            memory,
        }
    }

    /// A problem that has not been solved: its solution, its smallest loss and the singular values of A are unknown,
    /// so that excesses are NaN. The data are not checked; [`InstanceError`] does that.
    pub fn unsolved(task: &'static dyn Task, A: Matrix, b: Vec<f64>) -> Instance {
        let unknown = vec![f64::NAN; A.cols()];
        Instance::posed(task, A, b, unknown, f64::NAN, vec![])
    }

    /// A and b; the matrix is copied only if a clone of this instance shares it.
    pub(crate) fn into_data(self) -> (Matrix, Vec<f64>) {
        (Arc::try_unwrap(self.A).unwrap_or_else(|shared| (*shared).clone()), self.b)
    }

    /// The least-squares problem given by data, with the solution of minimum norm.
    pub fn from_data(A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        let spectrum = linalg::singular_values(&linalg::qr_r(&A)).ok_or(InstanceError::NoSolution)?;
        let x = linalg::least_squares(&A, &b);
        let distance = distance(&A, &x, &b);
        Ok(Instance::new(A, b, x, spectrum, distance))
    }

    /// The same problem with A stored by rows only.
    pub fn by_rows(self) -> Instance {
        if self.A.is_by_rows() {
            return self;
        }
        let A = Arc::try_unwrap(self.A).unwrap_or_else(|shared| (*shared).clone());
        Instance { A: Arc::new(A.by_rows()), ..self }
    }

    /// Rows of A.
    pub fn rows(&self) -> usize {
        self.A.rows()
    }

    /// Columns of A.
    pub fn cols(&self) -> usize {
        self.A.cols()
    }

    /// ‖b‖.
    pub fn norm_b(&self) -> f64 {
        self.norm_b
    }

    /// The singular values of A, largest first.
    pub fn spectrum(&self) -> &[f64] {
        &self.spectrum
    }

    /// The smallest possible loss; for linear systems min ‖Ax − b‖/‖b‖, exactly 0 if drawn consistent.
    pub fn attainable(&self) -> f64 {
        self.attainable
    }

    /// The same data with this λ; the solution is not computed again.
    #[must_use]
    pub fn with_lambda(self, lambda: f64) -> Instance {
        Instance { lambda, ..self }
    }

    /// Sets the smallest possible loss, where it is known only after the solution.
    pub(super) fn set_attainable(&mut self, loss: f64) {
        self.attainable = loss;
    }

    /// R of A = QR, computed on first use.
    pub fn triangle(&self) -> &Matrix {
        self.triangle.get_or_init(|| linalg::qr_r(&self.A))
    }

    /// The same instance with what is known from the problem in coordinates, which has the same AᵀA: R, and a short
    /// way to the excess.
    pub(super) fn with_coordinates(self, problem: &Instance) -> Instance {
        // Computed earlier or here, R is the same, so that everyone who draws the instance gets the same bits.
        let triangle = OnceLock::from(problem.triangle().clone());
        Instance { triangle, isometric: Some(problem.A.clone()), ..self }
    }

    /// κ₂ of that R, computed on first use.
    pub fn condition(&self) -> f64 {
        *self.condition.get_or_init(|| linalg::condition_number(self.triangle()))
    }

    /// ‖aⱼ‖ for every column, computed on first use.
    pub fn column_norms(&self) -> &[f64] {
        self.column_norms.get_or_init(|| match self.A.is_by_rows() {
            true => linalg::column_norms(&self.A),
            false => (0..self.cols()).map(|j| linalg::norm(self.A.column(j))).collect(),
        })
    }

    /// AᵀA, computed on first use.
    pub fn gram(&self) -> &Matrix {
        self.gram.get_or_init(|| linalg::gram(&self.A))
    }

    /// The same problem in other coordinates: `A` and `b` such that Q·A and Q·b are the A and b of this instance, for
    /// some Q with orthonormal columns. Norms are preserved, so every x has the same loss.
    pub fn in_coordinates(&self, A: Matrix, b: Vec<f64>) -> Instance {
        let (isometric, triangle, gram, condition, column_norms, at_start) = Default::default();
        let A = Arc::new(A);
        Instance { A, b, isometric, triangle, gram, condition, column_norms, at_start, ..self.clone() }
    }

    /// The loss and the excess of the start, measured once.
    pub fn measure_start(&self) -> (f64, f64) {
        let (start, measured) = self.at_start.get_or_init(|| (self.start.clone(), self.measure(&self.start)));
        // The start may have been changed since.
        if *start == self.start { *measured } else { self.measure(&self.start) }
    }

    /// Only the excess of a result, if that is cheaper than both.
    pub fn measure_excess(&self, result: &[f64]) -> Option<f64> {
        self.task.excess(self, result)
    }

    /// The loss of a result, and its excess over the smallest possible loss.
    pub fn measure(&self, result: &[f64]) -> (f64, f64) {
        self.task.measure(self, result)
    }

    /// The length of the vectors that a register is given or carries.
    pub(crate) fn length(&self, reg: Reg) -> usize {
        if reg.length() == Some(Dim::Rows) { self.rows() } else { self.cols() }
    }

    /// The shape of the problem.
    pub fn geometry(&self) -> Geometry {
        Geometry::of(self.symmetric, self.rows(), self.cols())
    }

    /// What type checking and cost models know of it.
    pub fn shape(&self) -> Shape {
        Shape { signature: self.signature(), rows: self.rows(), cols: self.cols() }
    }

    /// The signature of the problem, for type checking.
    pub fn signature(&self) -> Signature {
        self.task.signature(self.geometry())
    }

    /// A number that is a pure function of this instance and a key, computed on first use.
    pub fn remember(&self, key: u64, make: impl FnOnce() -> f64) -> f64 {
        let memory = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let known = memory().get(&key).copied();
        known.unwrap_or_else(|| {
            let value = make();
            memory().insert(key, value);
            value
        })
    }

    /// ‖Ax − b‖/‖b‖, or ‖Ax − b‖ if b = 0.
    pub fn residual(&self, x: &[f64]) -> f64 {
        self.relative(distance(&self.A, x, &self.b))
    }

    /// ‖A(x − x*)‖/‖b‖, or ‖A(x − x*)‖ if b = 0: the suboptimality, free of cancellation.
    pub fn excess(&self, x: &[f64]) -> f64 {
        let gap = linalg::sub(x, &self.x_star);
        self.relative(linalg::norm(&linalg::mat_vec(self.isometric.as_ref().unwrap_or(&self.A), &gap)))
    }

    /// A length relative to ‖b‖, or unchanged if b = 0.
    pub(crate) fn relative(&self, length: f64) -> f64 {
        relative(length, self.norm_b)
    }

    /// The residual and the excess, in at most one pass over A.
    pub fn residual_and_excess(&self, x: &[f64]) -> (f64, f64) {
        if self.isometric.is_some() {
            return (self.residual(x), self.excess(x));
        }
        let [y, gap] = linalg::mat_vecs(&self.A, [x, &linalg::sub(x, &self.x_star)]);
        let residual = linalg::norm(&linalg::sub(&y, &self.b));
        (self.relative(residual), self.relative(linalg::norm(&gap)))
    }
}

/// ‖Ax − b‖.
fn distance(A: &Matrix, x: &[f64], b: &[f64]) -> f64 {
    linalg::norm(&linalg::sub(&linalg::mat_vec(A, x), b))
}

fn relative(length: f64, norm_b: f64) -> f64 {
    if norm_b == 0.0 { length } else { length / norm_b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use faer::Mat;
    use proptest::prelude::*;

    fn matrix(rows: usize, cols: usize, entries: &[f64]) -> Matrix {
        Matrix::from_faer(Mat::from_fn(rows, cols, |i, j| entries[i * cols + j]))
    }

    fn refused(A: Matrix, b: &[f64]) -> String {
        Instance::from_data(A, b.to_vec()).unwrap_err().to_string()
    }

    fn close(x: &[f64], y: &[f64], tolerance: f64) -> bool {
        x.len() == y.len() && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance)
    }

    #[test]
    fn other_coordinates_measure_alike() {
        let data = Stream::new(3).normals(40);
        let instance = Instance::from_data(matrix(10, 3, &data[..30]), data[30..].to_vec()).unwrap();
        let both = Matrix::from_fn(10, 4, |i, j| if j < 3 { data[3 * i + j] } else { data[30 + i] });
        let r = linalg::qr_r(&both);
        let other = instance.in_coordinates(Matrix::from_fn(4, 3, |i, j| r.get(i, j)), r.column(3).to_vec());
        for x in [&instance.x_star[..], &[1.0, 2.0, -3.0]] {
            let ((a, b), (c, d)) = (instance.measure(x), other.measure(x));
            assert!(close(&[a, b], &[c, d], 1e-13), "{a} {b} {c} {d}");
        }
        assert!(close(instance.gram().row_major(), other.gram().row_major(), 1e-13));
        let [first, .., last] = instance.spectrum() else { panic!("three singular values") };
        assert!((other.condition() * last / first - 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_hand_solved_problem() {
        // min (x₁ − 1)² + (2x₂ − 4)² + 3²
        let instance =
            Instance::from_data(matrix(3, 2, &[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]), vec![1.0, 4.0, 3.0]).unwrap();
        assert!(close(&instance.x_star, &[1.0, 2.0], 1e-15));
        assert!(close(instance.spectrum(), &[2.0, 1.0], 1e-15));
        let norm_b = 26_f64.sqrt();
        assert!((instance.norm_b() - norm_b).abs() < 1e-15);
        assert!((instance.attainable() - 3.0 / norm_b).abs() < 1e-15);
        assert!((instance.residual(&[0.0, 0.0]) - 1.0).abs() < 1e-15);
        assert!((instance.residual(&[1.0, 0.0]) - 5.0 / norm_b).abs() < 1e-15);
        assert!((instance.excess(&[1.0, 0.0]) - 4.0 / norm_b).abs() < 1e-15);
        assert_eq!((instance.rows(), instance.cols(), instance.symmetric), (3, 2, false));
        assert_eq!(
            instance.measure(&[1.0, 0.0]),
            (instance.residual(&[1.0, 0.0]), instance.excess(&[1.0, 0.0]))
        );
    }

    #[test]
    fn a_zero_right_hand_side_is_measured_absolutely() {
        let instance = Instance::from_data(matrix(2, 1, &[3.0, 4.0]), vec![0.0, 0.0]).unwrap();
        assert_eq!((instance.norm_b(), instance.attainable()), (0.0, 0.0));
        assert_eq!(instance.x_star, [0.0]);
        assert_eq!((instance.residual(&[2.0]), instance.excess(&[2.0])), (10.0, 10.0));
    }

    #[test]
    fn rank_deficient_data_get_the_solution_of_least_norm() {
        let instance =
            Instance::from_data(matrix(3, 2, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), vec![2.0, 2.0, 5.0]).unwrap();
        assert!(close(&instance.x_star, &[1.5, 1.5], 1e-14));
        assert!(close(instance.spectrum(), &[6_f64.sqrt(), 0.0], 1e-14));
        let zero = Instance::from_data(matrix(3, 2, &[0.0; 6]), vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            (&zero.x_star[..], zero.spectrum(), zero.attainable()),
            (&[0.0; 2][..], &[0.0; 2][..], 1.0)
        );
    }

    #[test]
    fn extreme_magnitudes_are_solved() {
        for scale in [1e-150, 1e-30, 1e30, 1e140] {
            let A = matrix(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0].map(|a| a * scale));
            let b = linalg::mat_vec(&A, &[1.0, -1.0]);
            let instance = Instance::from_data(A, b).unwrap();
            assert!(close(&instance.x_star, &[1.0, -1.0], 1e-12), "{scale}: {:?}", instance.x_star);
        }
    }

    #[test]
    fn bad_data_are_refused_by_name() {
        let mut entries = vec![1.0; 40];
        entries[3 * 8 + 7] = f64::NAN;
        assert!(refused(matrix(5, 8, &entries), &[0.0; 4]).contains("5 rows but b has 4"));
        assert!(refused(matrix(5, 8, &entries), &[0.0; 5]).contains("more columns than rows (5 × 8)"));
        let mut entries = vec![1.0; 80];
        entries[3 * 8 + 7] = f64::NAN;
        assert!(refused(matrix(10, 8, &entries), &[0.0; 10]).starts_with("row 4, column 8 of A is NaN; "));
        entries[3 * 8 + 7] = -f64::INFINITY;
        assert!(refused(matrix(10, 8, &entries), &[0.0; 10]).starts_with("row 4, column 8 of A is -inf; "));
        entries[3 * 8 + 7] = 1e200;
        let error = Instance::from_data(matrix(10, 8, &entries), vec![0.0; 10]).unwrap_err();
        let names: Vec<String> = "abcdefgh".chars().map(String::from).collect();
        assert!(error.with_names(&names).starts_with("row 4, column `h` of A is 1e200; "), "{error}");
        assert!(error.to_string().contains("at most 1e150"));
        assert!(refused(matrix(2, 1, &[1.0, 2.0]), &[0.0, f64::INFINITY]).starts_with("row 2 of b is inf; "));
        assert!(refused(matrix(0, 0, &[]), &[]).contains("0 × 0"));
        assert!(refused(matrix(3, 0, &[]), &[0.0; 3]).contains("3 × 0"));
    }

    proptest! {
        #[test]
        fn solutions_satisfy_the_normal_equations(
            seed: u64, cols in 1..6_usize, extra in 0..10_usize, rank in 1..6_usize,
        ) {
            let (rows, s) = (cols + extra, Stream::new(seed));
            let rank = rank.min(cols);
            let left = matrix(rows, rank, &s.derive("l", 0).normals(rows * rank));
            let right = matrix(cols, rank, &s.derive("r", 0).normals(cols * rank));
            let A = linalg::matmul_t(&left, &right);
            let b = s.derive("b", 0).normals(rows);
            let instance = Instance::from_data(A.clone(), b.clone()).unwrap();
            let gap: Vec<f64> =
                linalg::mat_vec(&A, &instance.x_star).iter().zip(&b).map(|(y, b)| y - b).collect();
            let reach = instance.spectrum()[0] * (linalg::norm(&instance.x_star) * instance.spectrum()[0] + instance.norm_b());
            prop_assert!(linalg::norm(&linalg::vec_mat(&gap, &A)) <= 1e-12 * reach);
            prop_assert!(instance.attainable() <= 1.0 + 1e-12);
            // Pythagoras: residual² = attainable² + excess².
            let x = s.derive("x", 0).normals(cols);
            let sum = (instance.attainable().powi(2) + instance.excess(&x).powi(2)).sqrt();
            prop_assert!((instance.residual(&x) / sum - 1.0).abs() < 1e-9);
        }
    }
}
