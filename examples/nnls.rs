//! Nonnegative least squares as a task of one's own.
fn main() {}
