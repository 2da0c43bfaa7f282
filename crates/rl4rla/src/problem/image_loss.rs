//! Losses that depend on A only through the image z = A·x of x: along a line they need no pass over A.
#![allow(non_snake_case)]

use super::instance::Instance;
use crate::linalg;

/// A loss that is known from x and its image z = A·x. With the image of a direction, the loss of every point of a line
/// is known.
pub trait ImageLoss {
    /// The loss and the excess, as [`Task::measure`](super::Task::measure) gives them.
    fn measure_image(&self, instance: &Instance, x: &[f64], image: &[f64]) -> (f64, f64);

    /// The slope of the loss, by one pass over A; or why the problem has no solution to converge to.
    fn slope(&self, instance: &Instance, x: &[f64], image: &[f64]) -> Result<Slope, &'static str>;
}

/// The slope of a loss at a point.
#[derive(Clone, PartialEq, Debug)]
pub struct Slope {
    /// r, the derivative of the loss by the image.
    pub residual: Vec<f64>,
    /// Aᵀr.
    pub product: Vec<f64>,
    /// The optimality measure, as [`Task::optimality`](super::Task::optimality) gives it.
    pub optimality: f64,
}

impl Instance {
    /// A·x; without a pass over A at the usual start, x = 0.
    pub fn image(&self, x: &[f64]) -> Vec<f64> {
        match x.iter().all(|x| *x == 0.0) {
            true => vec![0.0; self.rows()],
            false => linalg::mat_vec(&self.A, x),
        }
    }
}
