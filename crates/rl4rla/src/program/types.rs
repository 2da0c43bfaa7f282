//! Symbolic shapes: a program that type-checks runs at every size.

use super::register::Kind;
use std::fmt;

/// A dimension, identified by name and not by number, so that coincidentally equal sizes never make a program legal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Dim {
    /// m, the rows of the data.
    Rows,
    /// n, the columns of the data.
    Cols,
    /// s, the rows of a sketch.
    Sketch,
    /// k, the rows of a sample.
    Batch,
    /// The rows of matrices on top of each other: so many sketches, and so many single rows.
    Stack {
        /// Number of sketches.
        sketches: u8,
        /// Number of single rows.
        vectors: u8,
    },
    /// The entries of that many rows, each as long as a row of the data.
    Entries {
        /// Number of sketches.
        sketches: u8,
        /// Number of single rows.
        vectors: u8,
    },
}

impl Dim {
    /// Most sketches, and most single rows, on top of each other.
    const MOST: u8 = 16;

    /// This many rows above another number of rows: only sketches and vectors can be stacked.
    pub fn above(self, other: Dim) -> Option<Dim> {
        let ([s, v], [t, w]) = (self.stacked()?, other.stacked()?);
        let (sketches, vectors) = (s + t, v + w);
        (sketches.max(vectors) <= Dim::MOST).then_some(Dim::Stack { sketches, vectors })
    }

    /// The entries of this many rows of length n.
    pub fn entries(self) -> Option<Dim> {
        self.stacked().map(|[sketches, vectors]| Dim::Entries { sketches, vectors })
    }

    fn stacked(self) -> Option<[u8; 2]> {
        match self {
            Dim::Sketch => Some([1, 0]),
            Dim::Stack { sketches, vectors } => Some([sketches, vectors]),
            _ => None,
        }
    }

    /// A small number for it, the same in every build.
    pub(crate) fn number(self) -> u64 {
        match self {
            Dim::Rows => 0,
            Dim::Cols => 1,
            Dim::Sketch => 2,
            Dim::Batch => 3,
            Dim::Stack { sketches, vectors } => u64::from(sketches) << 16 | u64::from(vectors) << 8,
            Dim::Entries { sketches, vectors } => u64::from(sketches) << 32 | u64::from(vectors) << 24,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Dim::Rows => f.write_str("m"),
            Dim::Cols => f.write_str("n"),
            Dim::Sketch => f.write_str("s"),
            Dim::Batch => f.write_str("k"),
            Dim::Stack { sketches: 0, vectors } => write!(f, "{vectors}"),
            Dim::Stack { sketches, vectors: 0 } => write!(f, "{sketches}s"),
            Dim::Stack { sketches: 1, vectors } => write!(f, "(s+{vectors})"),
            Dim::Stack { sketches, vectors } => write!(f, "({sketches}s+{vectors})"),
            Dim::Entries { sketches: 1, vectors: 0 } => f.write_str("sn"),
            Dim::Entries { sketches, vectors } => write!(f, "{}n", Dim::Stack { sketches, vectors }),
        }
    }
}

/// The known structure of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Structure {
    /// No known structure.
    General,
    /// M = Mᵀ.
    Symmetric,
    /// Zero below the diagonal.
    Upper,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Type {
    /// A number.
    Scalar,
    /// A vector of this length.
    Vector(Dim),
    /// A matrix of these rows and columns.
    Matrix(Dim, Dim, Structure),
    /// Probabilities over this many rows.
    Weights(Dim),
}

impl Type {
    /// The kind of register that holds it.
    pub fn kind(self) -> Kind {
        match self {
            Type::Scalar => Kind::Scalar,
            Type::Vector(_) => Kind::Vector,
            Type::Matrix(..) => Kind::Matrix,
            Type::Weights(_) => Kind::Weights,
        }
    }

    /// The structure of a matrix; `General` for anything else.
    pub fn structure(self) -> Structure {
        match self {
            Type::Matrix(_, _, structure) => structure,
            _ => Structure::General,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Type::Scalar => f.write_str("scalar"),
            Type::Vector(d) => write!(f, "vector {d}"),
            Type::Matrix(r, c, Structure::General) => write!(f, "matrix {r}×{c}"),
            Type::Matrix(r, c, Structure::Symmetric) => write!(f, "symmetric {r}×{c}"),
            Type::Matrix(r, c, Structure::Upper) => write!(f, "upper triangular {r}×{c}"),
            Type::Weights(d) => write!(f, "probabilities over {d} rows"),
        }
    }
}

/// The shape of a problem, for type checking.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Geometry {
    /// m ≥ n, rows and columns are different dimensions.
    Tall,
    /// m = n: rows and columns are the same dimension.
    Square,
    /// m = n and A = Aᵀ, as in the PSD family.
    Symmetric,
}

impl Geometry {
    /// Every shape, the tall one first.
    pub const ALL: [Geometry; 3] = [Geometry::Tall, Geometry::Square, Geometry::Symmetric];

    /// The shape of data of this size.
    pub fn of(symmetric: bool, rows: usize, cols: usize) -> Geometry {
        match (symmetric, rows == cols) {
            (true, _) => Geometry::Symmetric,
            (false, true) => Geometry::Square,
            (false, false) => Geometry::Tall,
        }
    }

    /// The dimension that `dim` denotes here: in a square system `m` is `n`.
    pub fn dim(self, dim: Dim) -> Dim {
        match (self, dim) {
            (Geometry::Square | Geometry::Symmetric, Dim::Rows) => Dim::Cols,
            _ => dim,
        }
    }

    /// The type of `A`.
    pub fn matrix(self) -> Type {
        match self {
            Geometry::Tall => Type::Matrix(Dim::Rows, Dim::Cols, Structure::General),
            Geometry::Square => Type::Matrix(Dim::Cols, Dim::Cols, Structure::General),
            Geometry::Symmetric => Type::Matrix(Dim::Cols, Dim::Cols, Structure::Symmetric),
        }
    }
}

/// A dimension in an operator's signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// Any dimension, the same for every occurrence of `a`.
    A,
    /// Any dimension, the same for every occurrence of `b`.
    B,
    /// Any dimension, the same for every occurrence of `c`.
    C,
    /// `a` rows above `c` rows.
    AaboveC,
    /// `a` rows above one more.
    AaboveOne,
    /// The entries of `a` rows of length n.
    EntriesOfA,
    /// This dimension.
    Is(Dim),
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Size::A => f.write_str("a"),
            Size::B => f.write_str("b"),
            Size::C => f.write_str("c"),
            Size::AaboveC => f.write_str("(a+c)"),
            Size::AaboveOne => f.write_str("(a+1)"),
            Size::EntriesOfA => f.write_str("an"),
            Size::Is(dim) => dim.fmt(f),
        }
    }
}

/// A type in an operator's signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// No value.
    Nothing,
    /// A number.
    Scalar,
    /// A vector.
    Vector(Size),
    /// A matrix.
    Matrix(Size, Size),
    /// A square upper triangular matrix.
    Upper(Size),
    /// Probabilities over rows.
    Weights(Size),
    /// The pair `A, b`, reduced to this many rows.
    System(Size),
}

impl Pattern {
    /// The kind of register for it; `None` if there is no value.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Pattern::Nothing => None,
            Pattern::Scalar => Some(Kind::Scalar),
            Pattern::Vector(_) => Some(Kind::Vector),
            Pattern::Matrix(..) | Pattern::Upper(_) | Pattern::System(_) => Some(Kind::Matrix),
            Pattern::Weights(_) => Some(Kind::Weights),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Nothing => f.write_str("nothing"),
            Pattern::Scalar => f.write_str("scalar"),
            Pattern::Vector(a) => write!(f, "vector {a}"),
            Pattern::Matrix(a, b) => write!(f, "matrix {a}×{b}"),
            Pattern::Upper(a) => write!(f, "upper triangular {a}×{a}"),
            Pattern::Weights(a) => write!(f, "probabilities over {a} rows"),
            Pattern::System(a) => write!(f, "A, b with {a} rows"),
        }
    }
}

/// The dimensions bound to the variables `a`, `b`, `c` of a signature.
#[derive(Clone, Copy, Default, Debug)]
pub struct Binding {
    sizes: [Option<Dim>; 3],
}

impl Binding {
    /// Unifies `pattern` with `ty`; returns false if that is impossible.
    pub fn unify(&mut self, pattern: Pattern, ty: Type, geometry: Geometry) -> bool {
        match (pattern, ty) {
            (Pattern::Scalar, Type::Scalar) => true,
            (Pattern::Vector(a), Type::Vector(d)) | (Pattern::Weights(a), Type::Weights(d)) => {
                self.size(a, d, geometry)
            }
            (Pattern::Matrix(a, b), Type::Matrix(r, c, _)) => {
                self.size(a, r, geometry) && self.size(b, c, geometry)
            }
            (Pattern::Upper(a), Type::Matrix(r, c, Structure::Upper)) => r == c && self.size(a, r, geometry),
            _ => false,
        }
    }

    fn size(&mut self, size: Size, dim: Dim, geometry: Geometry) -> bool {
        let slot = match size {
            Size::Is(wanted) => return geometry.dim(wanted) == dim,
            Size::A => &mut self.sizes[0],
            Size::B => &mut self.sizes[1],
            Size::C => &mut self.sizes[2],
            // Sizes of results only.
            Size::AaboveC | Size::AaboveOne | Size::EntriesOfA => return false,
        };
        *slot.get_or_insert(dim) == dim
    }

    /// The dimension bound to a size by the operands; `None` if rows of this kind cannot be stacked.
    pub fn dim(&self, size: Size, geometry: Geometry) -> Option<Dim> {
        let bound = |i: usize| {
            self.sizes[i]
                .expect("the operator table binds every size of a result by its operands; a test checks it")
        };
        match size {
            Size::Is(dim) => Some(geometry.dim(dim)),
            Size::A => Some(bound(0)),
            Size::B => Some(bound(1)),
            Size::C => Some(bound(2)),
            Size::AaboveC => bound(0).above(bound(2)),
            Size::AaboveOne => bound(0).above(Dim::Stack { sketches: 0, vectors: 1 }),
            Size::EntriesOfA => bound(0).entries(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_one_dimension_throughout() {
        let mut binding = Binding::default();
        let square = Pattern::Matrix(Size::A, Size::A);
        assert!(!binding.unify(square, Geometry::Tall.matrix(), Geometry::Tall));
        let mut binding = Binding::default();
        assert!(binding.unify(square, Geometry::Symmetric.matrix(), Geometry::Symmetric));
        assert_eq!(binding.dim(Size::A, Geometry::Symmetric), Some(Dim::Cols));
    }

    #[test]
    fn sketches_and_vectors_are_stacked_and_nothing_else() {
        let twice = Dim::Sketch.above(Dim::Sketch).unwrap();
        let one = Dim::Stack { sketches: 0, vectors: 1 };
        let more = twice.above(one).unwrap();
        assert_eq!((twice.to_string(), more.to_string()), ("2s".into(), "(2s+1)".into()));
        assert_eq!(more.entries().unwrap().to_string(), "(2s+1)n");
        assert_eq!((Dim::Rows.above(twice), twice.above(Dim::Cols), Dim::Cols.entries()), (None, None, None));
        let most = (0..4).fold(one, |dim, _| dim.above(dim).unwrap());
        assert_eq!(most.above(one), None, "sixteen are enough");
    }

    #[test]
    fn rows_are_columns_in_a_square_system() {
        let rows = Pattern::Vector(Size::Is(Dim::Rows));
        let mut binding = Binding::default();
        assert!(binding.unify(rows, Type::Vector(Dim::Cols), Geometry::Symmetric));
        assert!(!binding.unify(rows, Type::Vector(Dim::Cols), Geometry::Tall));
    }
}
