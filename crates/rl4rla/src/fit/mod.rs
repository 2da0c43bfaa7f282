//! Fitting the user's data, as every shell does it: with an intercept, weights, several right-hand sides or a penalty;
//! by a program, a baseline or what the data suggest; coefficients in the units of the data.
//!
//! ```
//! use rl4rla::data::System;
//! use rl4rla::fit::{FitMethod, FitRequest, WeightedSystem, fit};
//! use rl4rla::linalg::Matrix;
//!
//! let times = Matrix::from_row_major(4, 1, vec![0.0, 1.0, 2.0, 3.0]);
//! let system = System::in_memory(times, vec![5.0, 7.0, 9.0, 11.0], None, true, false);
//! let request = FitRequest::new(FitMethod::Auto);
//! let mut system = WeightedSystem::new(system, vec![], None, request.task).unwrap();
//! let found = fit(&mut system, &request, &mut |_| {}).unwrap();
//! assert!(found.solution.is_converged());
//! assert!((found.coefficients[0] - 2.0).abs() < 1e-14 && (found.coefficients[1] - 5.0).abs() < 1e-14);
//! ```

mod choice;
mod failure;
mod one;
mod ridge;
mod several;
mod weighted;

pub use choice::{Alternative, FitChoice};
pub use failure::{FitError, FitFailure, relations};
pub use one::{Fit, FitMethod, FitRequest, fit};
pub use ridge::{RidgeFit, fit_ridge};
pub use several::{SeveralFits, fit_several};
pub use weighted::{RowWeightError, WeightedSystem, check_weights};
