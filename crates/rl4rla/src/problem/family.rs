//! Families of random problems: their names, their options and what is allowed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The most memory that drawing one instance may take.
pub const MAX_BYTES: u128 = 4 << 30;

/// Matrices of the size of A that are alive at once while an instance is drawn.
const COPIES: u128 = 3;

/// The spectrum a family is named after.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Symmetric positive definite, eigenvalues linearly spaced in [λmax/κ, λmax].
    Psd,
    /// Singular values linearly spaced in [1, 2].
    LowCond,
    /// Singular values are squares of standard normals.
    MidCond,
    /// Singular values 1/i¹⁰.
    HighCond,
}

/// A row of the table of families.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FamilyInfo {
    /// The kind this row describes.
    pub kind: Kind,
    /// The name users write.
    pub name: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// The default number of rows.
    pub rows: usize,
    /// The default number of columns.
    pub cols: usize,
    /// Whether every member is square and symmetric.
    pub square: bool,
}

/// Every family, in the order of [`Kind`].
pub const FAMILIES: [FamilyInfo; 4] = [
    FamilyInfo {
        square: true,
        ..row(Kind::Psd, "psd", "symmetric positive definite, evenly spaced eigenvalues, condition 2", 5, 5)
    },
    row(Kind::LowCond, "low-cond", "tall, singular values evenly spaced in [1, 2]", 10_000, 50),
    row(Kind::MidCond, "mid-cond", "tall, singular values are squares of standard normals", 10_000, 50),
    row(Kind::HighCond, "high-cond", "tall, singular values 1/i^10, condition about 1e6", 10_000, 50),
];

const fn row(kind: Kind, name: &'static str, doc: &'static str, rows: usize, cols: usize) -> FamilyInfo {
    FamilyInfo { kind, name, doc, rows, cols, square: false }
}

impl Kind {
    /// This kind's row of [`FAMILIES`].
    pub fn info(self) -> &'static FamilyInfo {
        &FAMILIES[self as usize]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// How unequal the rows of A are, as measured by their leverage scores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leverage {
    /// All rows matter alike: left singular vectors of a Gaussian matrix.
    #[default]
    Low,
    /// A few rows carry almost everything: Gaussian rows divided by √χ²(0.1).
    High,
}

/// The law of the right factor V in A = U·Σ·Vᵀ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// An orthonormalised Gaussian matrix.
    #[default]
    Gauss,
    /// An orthonormalised matrix with heavy-tailed (Student t) rows.
    StudentT,
    /// An orthonormalised Gaussian with rows scaled by U(0.5, 2), so the columns of A are; V is not
    /// orthonormal and the spectrum of A is only near the one asked for.
    ScaledRows,
}

/// Whether instances are normalised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// A and b are divided by ‖A‖₂, so that one step size suits every instance.
    #[default]
    Unit,
    /// A and b are left as drawn.
    Raw,
}

/// A distribution over problems Ax ≈ b.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", from = "Written")]
pub struct Family {
    /// The spectrum.
    pub kind: Kind,
    /// Rows of A.
    pub rows: usize,
    /// Columns of A.
    pub cols: usize,
    /// The condition number κ = σmax/σmin to impose, or `None` for the kind's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<f64>,
    /// The law of the left singular vectors.
    pub leverage: Leverage,
    /// The law of the right factor.
    pub right: Right,
    /// The share s of b outside the range of A, in [0, 1): b = (1 − s)·r + s·o. Zero is consistent.
    pub outside: f64,
    /// Whether A is divided by its norm.
    pub scale: Scale,
}

/// A family as users write it: everything but the kind may be left out.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    kind: Kind,
    rows: Option<usize>,
    cols: Option<usize>,
    condition: Option<f64>,
    #[serde(default)]
    leverage: Leverage,
    #[serde(default)]
    right: Right,
    #[serde(default)]
    outside: f64,
    #[serde(default)]
    scale: Scale,
}

impl From<Written> for Family {
    fn from(written: Written) -> Family {
        let Written { kind, rows, cols, condition, leverage, right, outside, scale } = written;
        let info = kind.info();
        // One number is enough for a square family.
        let (rows, cols) = if info.square { (rows.or(cols), cols.or(rows)) } else { (rows, cols) };
        Family {
            kind,
            rows: rows.unwrap_or(info.rows),
            cols: cols.unwrap_or(info.cols),
            condition,
            leverage,
            right,
            outside,
            scale,
        }
    }
}

impl Family {
    /// The family of this kind with its default size and options.
    pub fn new(kind: Kind) -> Family {
        let info = kind.info();
        Family {
            kind,
            rows: info.rows,
            cols: info.cols,
            condition: None,
            leverage: Leverage::default(),
            right: Right::default(),
            outside: 0.0,
            scale: Scale::default(),
        }
    }

    /// The family of this name with its default size and options.
    pub fn named(name: &str) -> Option<Family> {
        FAMILIES.iter().find(|info| info.name == name).map(|info| Family::new(info.kind))
    }

    /// Whether instances can be drawn; says no before anything is allocated.
    pub fn check(&self) -> Result<(), FamilyError> {
        let Family { kind, rows, cols, condition, leverage, right, outside, .. } = *self;
        let square = kind.info().square;
        if rows == 0 || cols == 0 {
            return Err(FamilyError::Empty { rows, cols });
        }
        if square && rows != cols {
            return Err(FamilyError::NotSquare { kind, rows, cols });
        }
        if rows < cols {
            return Err(FamilyError::Wide { kind, rows, cols });
        }
        let bytes = (rows as u128).checked_mul(cols as u128).and_then(|n| n.checked_mul(8 * COPIES));
        if bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
            return Err(FamilyError::TooLarge { rows, cols });
        }
        if let Some(condition) = condition {
            if !(condition.is_finite() && condition >= 1.0) {
                return Err(FamilyError::Condition { condition });
            }
            if cols == 1 && condition != 1.0 {
                return Err(FamilyError::OneColumn { condition });
            }
        }
        if square && leverage != Leverage::default() {
            return Err(FamilyError::NotAnOption { kind, option: "leverage" });
        }
        if square && right != Right::default() {
            return Err(FamilyError::NotAnOption { kind, option: "right" });
        }
        if !(0.0..1.0).contains(&outside) {
            return Err(FamilyError::Outside { outside });
        }
        if outside > 0.0 && (square || rows == cols) {
            return Err(FamilyError::NothingOutside { kind, rows, cols, outside });
        }
        Ok(())
    }
}

/// Why a family has no instances.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields are the family's own
pub enum FamilyError {
    /// There are no rows or no columns.
    Empty { rows: usize, cols: usize },
    /// A square family has a size that is not.
    NotSquare { kind: Kind, rows: usize, cols: usize },
    /// There are more columns than rows.
    Wide { kind: Kind, rows: usize, cols: usize },
    /// Drawing an instance would take more than [`MAX_BYTES`].
    TooLarge { rows: usize, cols: usize },
    /// The condition number is below one or not finite.
    Condition { condition: f64 },
    /// One column cannot have a condition number other than one.
    OneColumn { condition: f64 },
    /// The family has no such option.
    NotAnOption { kind: Kind, option: &'static str },
    /// The share of b outside the range is not in [0, 1).
    Outside { outside: f64 },
    /// The range of A is the whole space.
    NothingOutside { kind: Kind, rows: usize, cols: usize, outside: f64 },
    /// The singular values of a drawn matrix could not be computed.
    NoSpectrum { kind: Kind },
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FamilyError::*;
        match self {
            Empty { rows, cols } => {
                write!(f, "a problem needs at least one row and one column, got {rows} × {cols}")
            }
            NotSquare { kind, rows, cols } => write!(
                f,
                "family `{kind}` needs rows = cols, got {rows} × {cols}; pass the same number twice"
            ),
            Wide { kind, rows, cols } => write!(
                f,
                "family `{kind}` needs rows ≥ cols, got {rows} × {cols}; swap them, or ask for fewer columns"
            ),
            TooLarge { rows, cols } => write!(
                f,
                "an instance of {rows} × {cols} takes more than {} GiB to draw; ask for a smaller one",
                MAX_BYTES >> 30
            ),
            Condition { condition } => {
                write!(f, "condition must be a finite number ≥ 1, got {condition}")
            }
            OneColumn { condition } => {
                write!(f, "one column has condition 1, got {condition}; leave it out, or ask for two columns")
            }
            NotAnOption { kind, option } => {
                write!(f, "family `{kind}` has no option `{option}`; leave it out, or take a tall family")
            }
            Outside { outside } => {
                write!(f, "outside must be at least 0 and below 1, got {outside}; 0 is a consistent system")
            }
            NothingOutside { kind, rows, cols, outside } => write!(
                f,
                "outside = {outside} needs a direction outside the range of A, and family `{kind}` at \
                 {rows} × {cols} has none; take a tall family with rows > cols, or outside = 0"
            ),
            NoSpectrum { kind } => {
                write!(f, "the singular values of an instance of `{kind}` did not converge; change the seed")
            }
        }
    }
}

impl std::error::Error for FamilyError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::value::{Error, MapDeserializer};

    fn tall() -> Family {
        Family { rows: 20, cols: 4, ..Family::new(Kind::LowCond) }
    }

    fn message(family: Family) -> String {
        family.check().unwrap_err().to_string()
    }

    fn written(fields: &[(&'static str, &'static str)]) -> Result<Family, Error> {
        Family::deserialize(MapDeserializer::new(fields.iter().copied()))
    }

    #[test]
    fn the_table_is_in_order_and_its_families_are_valid() {
        for info in &FAMILIES {
            assert_eq!(info.kind.info(), info);
            let family = Family::named(info.name).unwrap();
            assert_eq!(family, Family::new(info.kind));
            assert_eq!(family.check(), Ok(()));
            assert_eq!(written(&[("kind", info.name)]), Ok(family), "the written name is the table's");
        }
        assert_eq!(Family::named("lowcond"), None);
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let family =
            written(&[("kind", "mid-cond"), ("leverage", "high"), ("right", "student-t"), ("scale", "raw")]);
        let expected = Family {
            leverage: Leverage::High,
            right: Right::StudentT,
            scale: Scale::Raw,
            ..Family::new(Kind::MidCond)
        };
        assert_eq!(family, Ok(expected));
        assert!(
            written(&[("kind", "psd"), ("levrage", "high")]).unwrap_err().to_string().contains("levrage")
        );
        assert!(written(&[("leverage", "high")]).is_err(), "the kind is required");
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(
            message(Family { cols: 7, ..Family::new(Kind::Psd) }),
            "family `psd` needs rows = cols, got 5 × 7; pass the same number twice"
        );
        assert!(message(Family { rows: 3, ..tall() }).contains("rows ≥ cols, got 3 × 4"));
        assert!(message(Family { rows: 0, ..tall() }).contains("got 0 × 4"));
        assert!(message(Family { cols: 0, ..tall() }).contains("got 20 × 0"));
        for (rows, cols) in
            [(usize::MAX / 4, 50), (usize::MAX, usize::MAX), (usize::MAX, 1), (1 << 20, 1 << 8)]
        {
            let family = Family { rows, cols, ..tall() };
            assert_eq!(family.check(), Err(FamilyError::TooLarge { rows, cols }));
            assert_eq!(family.draw(&crate::rng::Stream::new(0)).err(), family.check().err());
        }
        assert!(message(Family { rows: usize::MAX, ..tall() }).contains("4 GiB"));
        assert_eq!(Family { rows: 1 << 20, cols: 170, ..tall() }.check(), Ok(()));
    }

    #[test]
    fn conditions_are_checked() {
        for condition in [0.5, -1.0, f64::NAN, f64::INFINITY] {
            let text = message(Family { condition: Some(condition), ..tall() });
            assert!(text.ends_with(&format!("got {condition}")), "{text}");
        }
        let one = Family { cols: 1, ..tall() };
        assert_eq!(one.check(), Ok(()));
        assert_eq!(Family { condition: Some(1.0), ..one }.check(), Ok(()));
        assert!(
            message(Family { condition: Some(2.0), ..one }).contains("one column has condition 1, got 2")
        );
    }

    #[test]
    fn outside_is_checked() {
        for outside in [-0.1, 1.0, f64::NAN] {
            assert!(message(Family { outside, ..tall() }).contains(&format!("got {outside}")));
        }
        assert_eq!(Family { outside: 0.9, ..tall() }.check(), Ok(()));
        assert!(message(Family { outside: 0.5, rows: 4, ..tall() }).contains("at 4 × 4 has none"));
        assert!(message(Family { outside: 0.5, ..Family::new(Kind::Psd) }).contains("`psd`"));
    }

    #[test]
    fn options_without_meaning_are_refused() {
        let psd = Family::new(Kind::Psd);
        assert!(message(Family { leverage: Leverage::High, ..psd }).contains("no option `leverage`"));
        assert!(message(Family { right: Right::StudentT, ..psd }).contains("no option `right`"));
    }
}
