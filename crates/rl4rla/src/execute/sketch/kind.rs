//! Which sketches there are, and their names.

use std::fmt;
use std::str::FromStr;

use super::SJLT_NONZEROS;
use serde::{Deserialize, Serialize};

/// The distributions S can be drawn from. All have E SᵀS = I.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SketchKind {
    /// Sparse Johnson-Lindenstrauss transform.
    Sjlt,
    /// Independent normal entries.
    Gaussian,
    /// One nonzero per column.
    CountSketch,
    /// Subsampled randomized Hadamard transform.
    Srht,
}

/// Every kind with its name and a line about it.
const TABLE: [(SketchKind, &str, &str); 4] = [
    (SketchKind::Sjlt, "sjlt", "eight entries ±1/√8 in every column, at distinct random rows"),
    (SketchKind::Gaussian, "gaussian", "independent normal entries of variance 1/s"),
    (SketchKind::CountSketch, "countsketch", "one entry ±1 in every column, at a random row"),
    (SketchKind::Srht, "srht", "random signs, a Hadamard transform, then s rows at random"),
];

impl SketchKind {
    /// Every kind.
    pub const ALL: [SketchKind; 4] = [TABLE[0].0, TABLE[1].0, TABLE[2].0, TABLE[3].0];

    /// The name, as read by [`FromStr`] and written by [`Display`](fmt::Display) and serde.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// One line about the distribution.
    pub fn summary(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// ζ: the flops S with `sketch_rows` rows spends on each entry of a matrix with `rows` rows.
    pub fn work(self, sketch_rows: usize, rows: usize) -> f64 {
        match self {
            // Each entry is scaled and added to one row of the result per nonzero in its column of S.
            SketchKind::Sjlt => 2.0 * SJLT_NONZEROS.min(sketch_rows) as f64,
            SketchKind::CountSketch => 2.0,
            SketchKind::Gaussian => 2.0 * sketch_rows as f64,
            // A sign, log₂ m levels of butterflies on the padded column, and the scaling.
            SketchKind::Srht => {
                let padded = rows.max(1).next_power_of_two() as f64;
                (padded * padded.log2() + 2.0 * rows as f64) / rows.max(1) as f64
            }
        }
    }
}

impl fmt::Display for SketchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SketchKind {
    type Err = UnknownSketch;

    fn from_str(name: &str) -> Result<Self, UnknownSketch> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownSketch(name.to_owned()))
    }
}

/// A name that no sketch has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSketch(pub String);

impl fmt::Display for UnknownSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = SketchKind::ALL.map(SketchKind::name).join(", ");
        write!(f, "unknown sketch {:?}; known are {known}", self.0)
    }
}

impl std::error::Error for UnknownSketch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (index, kind) in SketchKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(kind.to_string().parse(), Ok(kind));
            let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(kind.name());
            assert_eq!(SketchKind::deserialize(name), Ok(kind));
            assert!(!kind.summary().is_empty());
        }
        let error = "srft".parse::<SketchKind>().unwrap_err().to_string();
        assert!(error.contains("srft") && error.contains("countsketch"), "{error}");
    }
}
