//! Families of random problems: names, options and validity checks.

use super::family_error::FamilyError;
use super::instance::Instance;
use super::outline::Outline;
use super::registered::families;
use super::task::Task;
use crate::program::{Geometry, Signature};
use crate::rng::Stream;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};

/// Memory limit for drawing one instance.
pub const MAX_BYTES: u128 = 4 << 30;

/// Number of matrices of the size of A that are in memory at once while an instance is drawn.
const COPIES: u128 = 3;

/// A row of the table of families.
pub struct FamilyInfo {
    /// The name users write.
    pub name: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// The task of its problems.
    pub task: &'static dyn Task,
    /// The default number of rows.
    pub rows: usize,
    /// The default number of columns.
    pub cols: usize,
    /// Whether every member is square and symmetric.
    pub square: bool,
    /// The common options that apply to this family.
    pub options: &'static [Choice],
    /// Its own parameters, at most three.
    pub numbers: &'static [Number],
    /// Draws an instance of a family that has been checked: the same bits for the same stream, every time.
    pub draw: fn(&Family, &Stream) -> Result<Instance, FamilyError>,
}

/// A common option of families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// `condition`.
    Condition,
    /// `leverage`.
    Leverage,
    /// `right`.
    Right,
    /// `outside`.
    Outside,
    /// `scale`.
    Scale,
}

/// A parameter that only one family has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number {
    /// The name users write.
    pub name: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// Its default.
    pub default: f64,
    /// Its minimum.
    pub least: f64,
    /// Its maximum.
    pub most: f64,
}

/// A kind of family: a reference to its row. Equality and hash are those of the name.
#[derive(Clone, Copy)]
pub struct FamilyKind(pub &'static FamilyInfo);

impl FamilyKind {
    /// This kind's row of the table.
    pub fn info(self) -> &'static FamilyInfo {
        self.0
    }
}

impl PartialEq for FamilyKind {
    fn eq(&self, other: &FamilyKind) -> bool {
        self.0.name == other.0.name
    }
}
impl Eq for FamilyKind {}
impl Hash for FamilyKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
impl fmt::Debug for FamilyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
impl fmt::Display for FamilyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
impl Serialize for FamilyKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.name.serialize(serializer)
    }
}

/// The distribution of the leverage scores of A.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leverage {
    /// Nearly uniform: left singular vectors of a Gaussian matrix.
    #[default]
    Low,
    /// A few rows dominate: Gaussian rows divided by √χ²(0.1).
    High,
    /// Like `Low`, but a single row carries the weakest direction: its leverage score is 1 and its norm the smallest
    /// singular value, so that row norms do not reveal it.
    Coherent,
}

impl Leverage {
    /// All values.
    pub const ALL: [Leverage; 3] = [Leverage::Low, Leverage::High, Leverage::Coherent];

    /// Its name, as serde reads and writes it.
    pub fn name(self) -> &'static str {
        match self {
            Leverage::Low => "low",
            Leverage::High => "high",
            Leverage::Coherent => "coherent",
        }
    }
}

/// The distribution of the right factor V in A = U·Σ·Vᵀ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// An orthonormalised Gaussian matrix.
    #[default]
    Gauss,
    /// An orthonormalised matrix with heavy-tailed (Student t) rows.
    StudentT,
    /// An orthonormalized Gaussian matrix with rows scaled by U(0.5, 2), which scales the columns of A; V is not
    /// orthonormal, and the spectrum of A only approximates the prescribed one.
    ScaledRows,
}

impl Right {
    /// All values.
    pub const ALL: [Right; 3] = [Right::Gauss, Right::StudentT, Right::ScaledRows];

    /// Its name, as serde reads and writes it.
    pub fn name(self) -> &'static str {
        match self {
            Right::Gauss => "gauss",
            Right::StudentT => "student-t",
            Right::ScaledRows => "scaled-rows",
        }
    }
}

/// Whether instances are normalized.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The data are scaled to a fixed norm, so that one step size suits every instance.
    #[default]
    Unit,
    /// The data are used as drawn.
    Raw,
}

/// A random distribution over problems.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Family {
    /// The kind: its row in the table of families.
    pub kind: FamilyKind,
    /// Rows of A.
    pub rows: usize,
    /// Columns of A.
    pub cols: usize,
    /// The condition number κ = σmax/σmin to impose, or `None` for that of the kind.
    pub condition: Option<f64>,
    /// The distribution of the left singular vectors.
    pub leverage: Leverage,
    /// The distribution of the right factor.
    pub right: Right,
    /// The weight s of the component of b outside the range of A, in [0, 1): b = (1 − s)·r + s·o with ‖r‖ = ‖o‖, so
    /// that no x has a relative residual below s/√(s² + (1 − s)²). Zero is consistent.
    pub outside: f64,
    /// Whether A is divided by its norm.
    pub scale: Scale,
    /// The values of the kind's own parameters, in the order of its row.
    pub numbers: [f64; 3],
}

impl Family {
    /// The family of this kind with its default size and options.
    pub fn new(kind: FamilyKind) -> Family {
        let info = kind.info();
        let mut numbers = [0.0; 3];
        numbers.iter_mut().zip(info.numbers).for_each(|(value, number)| *value = number.default);
        Family {
            kind,
            rows: info.rows,
            cols: info.cols,
            condition: None,
            leverage: Leverage::default(),
            right: Right::default(),
            outside: 0.0,
            scale: Scale::default(),
            numbers,
        }
    }

    /// The family of this name with its default size and options.
    pub fn named(name: &str) -> Option<Family> {
        families().find(|info| info.name == name).map(|info| Family::new(FamilyKind(info)))
    }

    /// The same family with another size; square families need only one number.
    #[must_use]
    pub fn sized(self, rows: Option<usize>, cols: Option<usize>) -> Family {
        let (rows, cols) =
            if self.kind.info().square { (rows.or(cols), cols.or(rows)) } else { (rows, cols) };
        Family { rows: rows.unwrap_or(self.rows), cols: cols.unwrap_or(self.cols), ..self }
    }

    /// The value of a family-specific parameter.
    pub fn number(&self, name: &str) -> Option<f64> {
        let place = self.kind.info().numbers.iter().position(|number| number.name == name)?;
        self.numbers.get(place).copied()
    }

    /// The same family with another value of this parameter; `None` if the kind does not have it.
    pub fn with_number(mut self, name: &str, value: f64) -> Option<Family> {
        let place = self.kind.info().numbers.iter().position(|number| number.name == name)?;
        *self.numbers.get_mut(place)? = value;
        Some(self)
    }

    /// The shape of its problems, without drawing one.
    pub fn geometry(&self) -> Geometry {
        Geometry::of(self.kind.info().square, self.rows, self.cols)
    }

    /// The signature of its problems, for type checking.
    pub fn signature(&self) -> Signature {
        self.kind.info().task.signature(self.geometry())
    }

    /// The instance given by `stream`: the same bits every time, on any thread.
    pub fn draw(&self, stream: &Stream) -> Result<Instance, FamilyError> {
        self.check()?;
        (self.kind.info().draw)(self, stream)
    }

    /// The same instance before its rows are drawn, if its task supports that.
    pub fn outline(&self, stream: &Stream) -> Result<Option<Outline>, FamilyError> {
        self.check()?;
        self.kind.info().task.outline(self, stream).transpose()
    }

    /// The memory needed to draw an instance, in bytes.
    pub fn bytes(&self) -> u128 {
        (8 * COPIES * self.rows as u128).saturating_mul(self.cols as u128)
    }

    /// Checks that instances can be drawn, before anything is allocated.
    pub fn check(&self) -> Result<(), FamilyError> {
        let Family { kind, rows, cols, condition, leverage, right, outside, scale, .. } = *self;
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
        if self.bytes() > MAX_BYTES {
            return Err(FamilyError::TooLarge { rows, cols });
        }
        let set = [
            (condition.is_some(), Choice::Condition, "condition"),
            (leverage != Leverage::default(), Choice::Leverage, "leverage"),
            (right != Right::default(), Choice::Right, "right"),
            (scale != Scale::default(), Choice::Scale, "scale"),
        ];
        let allowed = |choice| kind.info().options.contains(&choice);
        if let Some((.., option)) = set.into_iter().find(|(set, choice, _)| *set && !allowed(*choice)) {
            return Err(FamilyError::NotAnOption { kind, option });
        }
        if let Some(condition) = condition {
            if !(condition.is_finite() && condition >= 1.0) {
                return Err(FamilyError::Condition { condition });
            }
            if cols == 1 && condition != 1.0 {
                return Err(FamilyError::OneColumn { condition });
            }
        }
        if !(0.0..1.0).contains(&outside) {
            return Err(FamilyError::Outside { outside });
        }
        if outside > 0.0 && (!allowed(Choice::Outside) || rows == cols) {
            return Err(FamilyError::NothingOutside { kind, rows, cols, outside });
        }
        for (number, &value) in kind.info().numbers.iter().zip(&self.numbers) {
            if !(number.least..=number.most).contains(&value) {
                return Err(FamilyError::Number { number: *number, value });
            }
        }
        super::user_table_family::check(self)
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("rows", &self.rows)?;
        map.serialize_entry("cols", &self.cols)?;
        if let Some(condition) = self.condition {
            map.serialize_entry("condition", &condition)?;
        }
        for choice in self.kind.info().options {
            match choice {
                Choice::Condition => {}
                Choice::Leverage => map.serialize_entry("leverage", &self.leverage)?,
                Choice::Right => map.serialize_entry("right", &self.right)?,
                Choice::Outside => map.serialize_entry("outside", &self.outside)?,
                Choice::Scale => map.serialize_entry("scale", &self.scale)?,
            }
        }
        for (number, value) in self.kind.info().numbers.iter().zip(&self.numbers) {
            map.serialize_entry(number.name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
