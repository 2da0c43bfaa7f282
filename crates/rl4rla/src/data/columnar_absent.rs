//! Tables stored by columns, in a build that cannot read them: their files are recognized and refused.

use super::{ByteSource, DataError, Format, Reading};

/// Never made.
pub(super) enum NoColumnar {}

impl NoColumnar {
    /// The error that says how to read such a file.
    pub fn open(source: ByteSource, format: Format, _: &Reading) -> Result<NoColumnar, DataError> {
        let message = format!("this is a file in {format} format, which this build cannot read");
        let advice = "build with the feature `columnar`, or save it as NPY or CSV";
        Err(DataError::file(source.path(), message, advice))
    }

    pub fn cols(&self) -> usize {
        match *self {}
    }

    pub fn names(&self) -> &[String] {
        match *self {}
    }

    pub fn rows(&self) -> Option<usize> {
        match *self {}
    }

    pub fn most_rows(&self) -> usize {
        match *self {}
    }

    pub fn dropped(&self) -> usize {
        match *self {}
    }

    pub fn next(&mut self, _: usize, _: &mut Vec<f64>) -> Result<usize, DataError> {
        match *self {}
    }
}
