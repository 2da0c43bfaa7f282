//! The kinds of sketches and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The distributions S can be drawn from. All have E SᵀS = I.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SketchKind {
    /// Sparse Johnson-Lindenstrauss transform, eight nonzeros per column.
    Sjlt,
    /// Independent normal entries.
    Gaussian,
    /// One nonzero per column.
    CountSketch,
    /// Subsampled randomized Hadamard transform.
    Srht,
    /// Sparse Johnson-Lindenstrauss transform, two nonzeros per column.
    Sjlt2,
    /// Sparse Johnson-Lindenstrauss transform, four nonzeros per column.
    Sjlt4,
}

/// How the entries of S are distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SketchLaw {
    /// So many entries of equal size in every column, at distinct random rows, with random signs.
    Sparse(usize),
    /// Independent normal entries.
    Normal,
    /// Rows of a Hadamard matrix, with random signs.
    Hadamard,
}

/// The properties of a kind.
struct Row {
    name: &'static str,
    summary: &'static str,
    /// The summary in LaTeX.
    latex: &'static str,
    law: SketchLaw,
}

impl SketchKind {
    /// Every kind.
    pub const ALL: [SketchKind; 6] = [
        SketchKind::Sjlt,
        SketchKind::Gaussian,
        SketchKind::CountSketch,
        SketchKind::Srht,
        SketchKind::Sjlt2,
        SketchKind::Sjlt4,
    ];

    const fn row(self) -> Row {
        match self {
            SketchKind::Sjlt => Row {
                name: "sjlt",
                summary: "eight entries ±1/√8 in every column, at distinct random rows",
                latex: "eight entries $\\pm 1/\\sqrt{8}$ in every column, at distinct random rows",
                law: SketchLaw::Sparse(8),
            },
            SketchKind::Sjlt4 => Row {
                name: "sjlt4",
                summary: "four entries ±1/√4 in every column, at distinct random rows",
                latex: "four entries $\\pm 1/\\sqrt{4}$ in every column, at distinct random rows",
                law: SketchLaw::Sparse(4),
            },
            SketchKind::Sjlt2 => Row {
                name: "sjlt2",
                summary: "two entries ±1/√2 in every column, at distinct random rows",
                latex: "two entries $\\pm 1/\\sqrt{2}$ in every column, at distinct random rows",
                law: SketchLaw::Sparse(2),
            },
            SketchKind::CountSketch => Row {
                name: "countsketch",
                summary: "one entry ±1 in every column, at a random row",
                latex: "one entry $\\pm 1$ in every column, at a random row",
                law: SketchLaw::Sparse(1),
            },
            SketchKind::Gaussian => Row {
                name: "gaussian",
                summary: "independent normal entries of variance 1/s",
                latex: "independent normal entries of variance $1/s$",
                law: SketchLaw::Normal,
            },
            SketchKind::Srht => Row {
                name: "srht",
                summary: "random signs, a Hadamard transform, then s rows at random",
                latex: "random signs, a Hadamard transform, then s rows at random",
                law: SketchLaw::Hadamard,
            },
        }
    }

    /// The distribution of its entries.
    pub fn law(self) -> SketchLaw {
        self.row().law
    }

    /// The name, as read by [`FromStr`] and written by [`Display`](fmt::Display) and serde. It also names the code
    /// that draws it in exported programs.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// One line about the distribution.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The summary in LaTeX.
    pub fn latex(self) -> &'static str {
        self.row().latex
    }

    /// ζ: the flops per entry of a matrix with `rows` rows that S with `sketch_rows` rows needs.
    pub fn work(self, sketch_rows: usize, rows: usize) -> f64 {
        match self.law() {
            // Each entry is scaled and added to one row of the result per nonzero in its column of S.
            SketchLaw::Sparse(nonzeros) => 2.0 * nonzeros.min(sketch_rows) as f64,
            SketchLaw::Normal => 2.0 * sketch_rows as f64,
            // A sign, log₂ m levels of butterflies on the padded column, and the scaling.
            SketchLaw::Hadamard => {
                let padded = rows.max(1).next_power_of_two() as f64;
                (padded * padded.log2() + 2.0 * rows as f64) / rows.max(1) as f64
            }
        }
    }

    /// Whether it can be applied in one pass over the data, from the first row to the last.
    pub fn streams(self) -> bool {
        // A Hadamard transform mixes all rows.
        self.law() != SketchLaw::Hadamard
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

/// A name that is not that of a sketch.
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
