//! Data from files: matrices that nobody drew.

mod error;
mod year;

pub use error::DataError;
pub use year::{FEATURES, Split, TEST_ROWS, TRAIN_ROWS, Year};
