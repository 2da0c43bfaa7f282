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
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Dim::Rows => "m",
            Dim::Cols => "n",
            Dim::Sketch => "s",
            Dim::Batch => "k",
        })
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
    /// This dimension.
    Is(Dim),
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Size::A => f.write_str("a"),
            Size::B => f.write_str("b"),
            Size::C => f.write_str("c"),
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
        };
        *slot.get_or_insert(dim) == dim
    }

    /// The dimension bound to a size by the operands.
    pub fn dim(&self, size: Size, geometry: Geometry) -> Dim {
        let bound = match size {
            Size::Is(dim) => return geometry.dim(dim),
            Size::A => self.sizes[0],
            Size::B => self.sizes[1],
            Size::C => self.sizes[2],
        };
        bound.expect("the operator table binds every size of a result by its operands; a test checks it")
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
        assert_eq!(binding.dim(Size::A, Geometry::Symmetric), Dim::Cols);
    }

    #[test]
    fn rows_are_columns_in_a_square_system() {
        let rows = Pattern::Vector(Size::Is(Dim::Rows));
        let mut binding = Binding::default();
        assert!(binding.unify(rows, Type::Vector(Dim::Cols), Geometry::Symmetric));
        assert!(!binding.unify(rows, Type::Vector(Dim::Cols), Geometry::Tall));
    }
}
