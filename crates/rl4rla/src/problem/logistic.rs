//! Logistic regression: the paper's second task, as a fit and as a forward pass.
//!
//! Labels are yᵢ = sign(aᵢᵀw* + εᵢ), ε ~ N(0, σ²). A program gets b = (1 + y)/2, so that the gradient of the
//! cross-entropy is Aᵀ(σ(Ax) − b). The true weights w* are such that all singular directions of A matter equally and
//! the margins aᵢᵀw* have mean square 1; with ‖A‖₂ = 2, the step size η = 1 suits both gradient descent and Newton's
//! method.
#![allow(non_snake_case)]

mod families;
pub(crate) mod fit;
mod objection;
mod plane;
mod ridge;

use super::explore_defaults::ExploreDefaults;
use super::family::FamilyInfo;
use super::goal::Goal;
use super::image_loss::{ImageLoss, Slope};
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::response::Response;
use super::solving::Solving;
use super::task::{History, Task, Work};
use crate::linalg::{self, Matrix};
use crate::program::{Core, LOGISTIC_OPERATORS, Op, Operator, Reg, RegSet, Section, TaskUnits, Update};
use families::FAMILIES;
pub(super) use fit::sigmoid;
use fit::{fit_from, gradient_descent, loss, penalty, separates};
pub(crate) use objection::NewtonStep;
use objection::objection;
pub use ridge::RidgeLogistic;

/// Decades of the excess below or above that of gradient descent over which the accuracy term varies.
const DECADES: f64 = 8.0;

/// MᵀM is written MAT_GRAM(M).
fn legal(op: Op, operands: &[Reg], _: Section) -> bool {
    !op.is(Core::MatTransMatMul) || operands[0] != operands[1]
}

/// The fit: find the weights x that minimize the cross-entropy.
pub struct Logistic;

impl Task for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn doc(&self) -> &'static str {
        "logistic regression: find the weights x that minimize the cross-entropy"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES[..2]
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        self.measure_image(instance, x, &instance.image(x))
    }

    fn image_loss(&self) -> Option<&dyn ImageLoss> {
        Some(self)
    }

    fn pose(&self, A: Matrix, labels: Vec<f64>) -> Result<Instance, InstanceError> {
        let b = targets(&A, &labels)?;
        let x_star = fit_data(&A, &b, &vec![0.0; A.cols()]).ok_or(InstanceError::Separable)?;
        let spectrum = linalg::singular_values(&A).ok_or(InstanceError::NoSolution)?;
        Ok(fitted(A, b, x_star, spectrum))
    }

    /// Before a run, only the linear independence of the columns needs to be checked.
    fn pose_unsolved(&self, A: Matrix, labels: Vec<f64>) -> Result<Instance, InstanceError> {
        let b = targets(&A, &labels)?;
        if let Some(column) = linalg::dependent_column(&A) {
            return Err(InstanceError::Dependent { column });
        }
        let nowhere = vec![0.0; A.cols()];
        Ok(Instance::posed(&Logistic, A, b, nowhere, 0.0, vec![]))
    }

    /// The largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns, with r = σ(Ax) − b: the relative gradient. For
    /// linearly separable labels r tends to 0 and this does not.
    fn optimality(&self, instance: &Instance, x: &[f64]) -> Result<f64, &'static str> {
        self.slope(instance, x, &instance.image(x)).map(|slope| slope.optimality)
    }

    fn solving(&self) -> Solving {
        Solving { scales_columns: true, ..Solving::CAUTIOUS }
    }

    fn optimality_name(&self) -> &'static str {
        "gradient: largest |aⱼᵀr|/(‖aⱼ‖‖r‖)"
    }

    fn objection(&self, instance: &Instance, x: &[f64]) -> Option<&'static str> {
        objection(instance, x, self.optimality(instance, x).unwrap_or(0.0))
    }

    fn response(&self, labels: &[f64]) -> Result<Response, InstanceError> {
        Response::classes(labels)
    }

    fn goal(&self) -> Goal {
        Goal::CrossEntropy
    }

    fn operators(&self) -> &'static [Operator] {
        LOGISTIC_OPERATORS
    }

    fn legality(&self) -> fn(Op, &[Reg], Section) -> bool {
        legal
    }

    fn measures(&self) -> [&'static str; 2] {
        ["mean cross-entropy L(x)", "L(x)/L(x*) − 1"]
    }

    /// One half for the excess that gradient descent reaches after the same number of iterations, on a logarithmic
    /// scale; 0 without progress.
    fn accuracy(&self, history: &History) -> Option<f64> {
        let (first, last) = history.ends();
        let instance = history.instance;
        let steps = history.iterations();
        let baseline = instance.remember(steps as u64, || {
            let x = gradient_descent(&instance.A, &instance.b, instance.spectrum()[0], steps);
            self.measure(instance, &x).1
        });
        let progress = (first / last).log10().clamp(0.0, 1.0);
        let lead = ((baseline / last).log10() / DECADES).clamp(-1.0, 1.0);
        // At the optimum both quotients are infinite.
        Some(if last == 0.0 { 1.0 } else { progress * (0.5 + 0.5 * lead) })
            .filter(|acc| !acc.is_nan())
            .or(Some(0.0))
    }

    /// Between one iteration of gradient descent, 4mn, and about eight of Newton's method, 8mn².
    fn thrift(&self, work: &Work) -> Option<f64> {
        let (m, n) = (work.sizes.rows, work.sizes.cols);
        Some(work.cheapness(work.flops, 4.0 * m * n, 8.0 * m * n * n.max(2.0)))
    }

    fn weights(&self) -> [f64; 4] {
        [1.0, 0.0, 1.0, 0.0]
    }

    fn looks_at_ends(&self) -> bool {
        true
    }

    fn units(&self) -> Option<TaskUnits> {
        Some(TaskUnits::LOGISTIC)
    }

    /// Newton Sketch takes nine instructions. The Hessian has the condition number κ², and must be invertible.
    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults {
            conditions: &[10.0, 1e4],
            edits: 9,
            search_cols: 20,
            limit: 80,
            sums: false,
            adds_operators: false,
            wraps: 0,
            square_sketch: ExploreDefaults::LINEAR.square_sketch,
            reference: "ten iterations of Newton's method",
        }
    }

    /// Minimizes the cross-entropy of Ax − αAv + αγAd.
    fn best_step(&self, instance: &Instance, x: &[f64], v: &[f64], d: Option<&[f64]>) -> Option<(f64, f64)> {
        let image = |v: &[f64]| linalg::mat_vec(&instance.A, v);
        Some(plane::best_combination(&image(x), &image(v), d.map(image).as_deref(), &instance.b))
    }

    /// The fit from the solution, by Newton's method: it moves as far as rounding does.
    fn direct_solution(&self, instance: &Instance) -> Option<Vec<f64>> {
        fit_from(&instance.A, &instance.b, instance.x_star.clone())
    }

    /// Ten iterations of Newton's method: mn² + 5mn flops and four passes each.
    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        [10.0 * rows * cols * (cols + 5.0), 40.0]
    }
}

/// The cross-entropy of A·x plus ½λ‖x‖², where λ = 0 for [`Logistic`].
impl ImageLoss for Logistic {
    fn measure_image(&self, instance: &Instance, x: &[f64], z: &[f64]) -> (f64, f64) {
        let sum = loss(z, &instance.b) + penalty(instance.lambda, x);
        let mean = sum / instance.rows() as f64;
        let least = instance.attainable();
        if least == 0.0 {
            // The labels are separable: the loss is measured relative to the start.
            return (mean, mean / 2f64.ln());
        }
        let above = (mean - least) / least;
        (mean, if above.is_nan() { above } else { above.max(0.0) })
    }

    /// Its optimality is the largest |aⱼᵀr + λxⱼ|/(‖aⱼ‖‖r‖). At a minimum both terms of the numerator are at most the
    /// denominator, so that it is a measure of what is left also if r is small.
    fn slope(&self, instance: &Instance, x: &[f64], z: &[f64]) -> Result<Slope, &'static str> {
        let Instance { A, b, lambda, .. } = instance;
        if *lambda == 0.0 && separates(z, b) {
            return Err(SEPARATED);
        }
        let residual = linalg::sub(&linalg::sigmoids(z), b);
        let (product, length) = (linalg::vec_mat(&residual, A), linalg::norm(&residual));
        let relative = |j: usize, norm: f64| match (product[j] + lambda * x[j]).abs() {
            0.0 => 0.0,
            g => g / (norm * length),
        };
        let norms = instance.column_norms().iter().enumerate();
        // A maximum would lose a NaN.
        let optimality = norms.map(|(j, norm)| relative(j, *norm)).fold(0.0, |most: f64, g| match g {
            g if g <= most => most,
            g => g,
        });
        Ok(Slope { residual, product, optimality })
    }
}

/// The forward pass: given weights, find the probability of every label. The weights are in x, and v1 is the answer.
///
/// It is scored by the expected cross-entropy of labels freshly drawn from the model, not of those in b: otherwise
/// copying b would be a perfect but useless answer.
pub struct Forward;

impl Task for Forward {
    fn name(&self) -> &'static str {
        "logistic-forward"
    }

    fn doc(&self) -> &'static str {
        "logistic forward pass: find the probability of every label, for the weights x"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES[2..]
    }

    fn measure(&self, instance: &Instance, answer: &[f64]) -> (f64, f64) {
        let truth = linalg::sigmoids(&linalg::mat_vec(&instance.A, &instance.start)).into_iter();
        let (mut entropy, mut divergence) = (0.0, 0.0);
        for (p, &q) in truth.zip(answer) {
            // A value that is not a probability is scored like the nearest allowed one.
            let q = q.clamp(SURE, 1.0 - SURE);
            entropy -= p * q.ln() + (1.0 - p) * (1.0 - q).ln();
            divergence += share(p, q) + share(1.0 - p, 1.0 - q);
        }
        let m = instance.rows() as f64;
        (entropy / m, if divergence.is_nan() { divergence } else { divergence.max(0.0) / m })
    }

    fn pose(&self, A: Matrix, labels: Vec<f64>) -> Result<Instance, InstanceError> {
        let mut instance = Logistic.pose(A, labels)?;
        (instance.task, instance.start) = (&Forward, instance.x_star.clone());
        Ok(instance)
    }

    fn update(&self) -> Update {
        Update::Answer
    }

    fn inputs(&self) -> RegSet {
        [Reg::A, Reg::B, Reg::X].into_iter().collect()
    }

    fn operators(&self) -> &'static [Operator] {
        Logistic.operators()
    }

    fn legality(&self) -> fn(Op, &[Reg], Section) -> bool {
        Logistic.legality()
    }

    fn measures(&self) -> [&'static str; 2] {
        ["mean cross-entropy of fresh labels", "its excess over the entropy of the model"]
    }

    /// The excess over the entropy of the model, relative to that of predicting ½ everywhere.
    fn accuracy(&self, history: &History) -> Option<f64> {
        let (_, last) = history.ends();
        let instance = history.instance;
        let guess = instance.remember(0, || self.measure(instance, &vec![0.5; instance.rows()]).1);
        Some(if last == 0.0 { 1.0 } else { ((guess / last).log10() / DECADES).clamp(0.0, 1.0) })
    }

    fn thrift(&self, work: &Work) -> Option<f64> {
        Logistic.thrift(work)
    }

    fn weights(&self) -> [f64; 4] {
        Logistic.weights()
    }

    fn looks_at_ends(&self) -> bool {
        true
    }
}

const SEPARATED: &str =
    "the labels are linearly separable, so the loss has no minimum: it tends to 0 as x grows";

/// The mean entropy of labels with these probabilities: the smallest possible cross-entropy.
fn entropy(probabilities: &[f64]) -> f64 {
    let own = |p: f64| -share(p, 1.0) - share(1.0 - p, 1.0);
    probabilities.iter().map(|p| own(*p)).sum::<f64>() / probabilities.len() as f64
}

/// p·ln(p/q), 0 where p is.
fn share(p: f64, q: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * (p / q).ln() }
}

/// Probabilities are kept this far from 0 and 1.
const SURE: f64 = 1e-9;

fn fitted(A: Matrix, b: Vec<f64>, x_star: Vec<f64>, spectrum: Vec<f64>) -> Instance {
    let least = loss(&linalg::mat_vec(&A, &x_star), &b) / A.rows() as f64;
    Instance::posed(&Logistic, A, b, x_star, least, spectrum)
}

/// b = 1 for the larger of two labels, and 0 for the other.
fn targets(A: &Matrix, labels: &[f64]) -> Result<Vec<f64>, InstanceError> {
    InstanceError::check(A, labels)?;
    match Response::classes(labels)? {
        Response::Classes([_, large]) => Ok(labels.iter().map(|y| f64::from(*y == large)).collect()),
        Response::Number => unreachable!("labels have classes"),
    }
}

/// The x of minimum cross-entropy from a starting point, computed with columns scaled to similar norms.
fn fit_data(A: &Matrix, b: &[f64], start: &[f64]) -> Option<Vec<f64>> {
    let length = |j: usize| linalg::norm(A.column(j));
    // Powers of two, so that scaling is exact.
    let unit = |j: usize| if length(j) > 0.0 { length(j).log2().round().exp2() } else { 1.0 };
    let units: Vec<f64> = (0..A.cols()).map(unit).collect();
    let scaled = Matrix::from_fn(A.rows(), A.cols(), |i, j| A.get(i, j) / units[j]);
    let x = fit_from(&scaled, b, start.iter().zip(&units).map(|(x, unit)| x * unit).collect())?;
    Some(x.iter().zip(&units).map(|(x, unit)| x / unit).collect())
}

#[cfg(test)]
mod tests;
