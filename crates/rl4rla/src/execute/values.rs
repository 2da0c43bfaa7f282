//! Values shared by the runs on one instance.

use super::failure::Fault;
use super::kernels::Output;
use super::reduced::Image;
use crate::cache::{Bytes, Cache};
use crate::linalg::Matrix;
use std::sync::Arc;

/// Results and images of sketches, in one cache, so that they compete for the same memory.
pub struct Values(Cache<u128, Shared>);

#[derive(Clone)]
enum Shared {
    /// Failures too: most candidates with one fail where others did.
    Result(Result<Output, Fault>),
    Image(Arc<Image>),
}

impl Values {
    /// No values yet.
    pub fn new() -> Values {
        Values(Cache::new())
    }

    /// The result with this key, computed by `make` if it is not kept.
    pub fn result(&self, key: u128, make: impl FnOnce() -> Result<Output, Fault>) -> Result<Output, Fault> {
        match self.0.find(key, || Shared::Result(make())) {
            Shared::Result(result) => result,
            Shared::Image(_) => unreachable!("images have other keys"),
        }
    }

    /// The image with this key, computed by `make` if it is not kept.
    pub fn image(&self, key: u128, make: impl FnOnce() -> Image) -> Arc<Image> {
        match self.0.find(key, || Shared::Image(Arc::new(make()))) {
            Shared::Image(image) => image,
            Shared::Result(_) => unreachable!("results have other keys"),
        }
    }

    /// Forgets all values.
    pub fn clear(&self) {
        self.0.clear();
    }
}

impl Bytes for Shared {
    fn bytes(&self) -> usize {
        // The key, its place in the order of eviction, and the reference counts.
        const EACH: usize = 128;
        let matrix = |m: &Matrix| m.rows() * m.cols();
        let entries = match self {
            Shared::Result(Ok(Output::One(datum))) => datum.shape().0 * datum.shape().1,
            Shared::Result(Ok(Output::System((m, v)))) => matrix(m) + v.len(),
            Shared::Result(Ok(Output::None) | Err(_)) => 0,
            Shared::Image(image) => matrix(&image.operator) + matrix(&image.a) + image.b.len(),
        };
        EACH + 8 * entries
    }
}
