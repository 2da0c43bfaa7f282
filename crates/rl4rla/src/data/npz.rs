//! NPZ: several NumPy arrays in a ZIP archive, of which one is read, or SciPy's sparse matrix in parts.

mod sparse;

use super::error::{DataError, shown};
use super::npy::Npy;
use super::zip::{Archive, Member};
use super::{ByteSource, Format, Reading};
use sparse::SparseParts;
use std::path::Path;

/// Maximum number of arrays among which one is chosen by its shape.
const MOST: usize = 1000;

/// What an array is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Matrix,
    RightHandSide,
}

impl Role {
    /// The names by which an array is known to be the one, if its shape does not tell.
    fn names(self) -> &'static [&'static str] {
        match self {
            Role::Matrix => &["A", "X", "x", "arr_0"],
            Role::RightHandSide => &["b", "y"],
        }
    }

    /// Whether an array of so many columns can be it.
    fn takes(self, cols: usize) -> bool {
        (cols == 1) == (self == Role::RightHandSide)
    }
}

/// The matrix in an archive, before its entries are read.
pub(super) enum Npz {
    /// One array, read like a file of its own.
    Array(Npy),
    /// A sparse matrix.
    Sparse(Box<SparseParts>),
}

impl Npz {
    /// The array that the options name; by default a sparse matrix, the only array of two dimensions, or the one with a
    /// usual name.
    pub fn open(source: ByteSource, reading: &Reading) -> Result<Npz, DataError> {
        let arrays = Arrays::open(source)?;
        match (&reading.member, SparseParts::open(&arrays)) {
            (None, Some(parts)) => parts.map(|parts| Npz::Sparse(Box::new(parts))),
            (Some(name), _) => arrays.named(name).map(Npz::Array),
            (None, None) => arrays.chosen(Role::Matrix).and_then(|array| arrays.read(array)).map(Npz::Array),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Npz::Array(npy) => npy.rows(),
            Npz::Sparse(parts) => parts.rows,
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Npz::Array(npy) => npy.cols(),
            Npz::Sparse(parts) => parts.cols,
        }
    }

    /// Number of stored entries, if the matrix is kept sparse.
    pub fn stored(&self, reading: &Reading) -> Option<u64> {
        match self {
            Npz::Sparse(parts) if parts.stays_sparse(reading) => Some(parts.stored()),
            _ => None,
        }
    }
}

/// The name of the array that is a right-hand side, if the file is an NPZ file.
pub(super) fn right_hand_side(path: &Path) -> Result<Option<String>, DataError> {
    let mut source = ByteSource::open(path)?;
    if Format::of(&mut source)? != Format::Npz {
        return Ok(None);
    }
    let arrays = Arrays::open(source)?;
    arrays.chosen(Role::RightHandSide).map(|array| Some(array.name.into()))
}

/// The arrays of an archive.
struct Arrays(Archive);

/// An array: its name without extension, and the member that holds it.
#[derive(Clone, Copy)]
struct Array<'a> {
    name: &'a str,
    member: &'a Member,
}

impl Arrays {
    fn open(source: ByteSource) -> Result<Arrays, DataError> {
        let arrays = Arrays(Archive::open(source)?);
        if arrays.iter().next().is_none() {
            let message = "this is a ZIP archive without NumPy arrays (as .xlsx is)";
            return Err(DataError::file(arrays.0.path(), message, "unpack it, or save the sheet as CSV"));
        }
        Ok(arrays)
    }

    fn iter(&self) -> impl Iterator<Item = Array<'_>> {
        let members = self.0.members.iter();
        members.filter_map(|member| Some(Array { name: member.name.strip_suffix(".npy")?, member }))
    }

    /// An array by its name, if there is one of this name and no more.
    fn find(&self, name: &str) -> Option<Array<'_>> {
        let mut same = self.iter().filter(|array| array.name == name);
        same.next().filter(|_| same.next().is_none())
    }

    /// The content of an array as a file.
    fn content(&self, array: Array) -> Result<ByteSource, DataError> {
        self.0.member(array.member, shown(array.name.as_bytes()).trim_matches('`'))
    }

    fn read(&self, array: Array) -> Result<Npy, DataError> {
        Npy::open(self.content(array)?)
    }

    /// The array that the user asked for.
    fn named(&self, name: &str) -> Result<Npy, DataError> {
        let found = self.find(name).or_else(|| self.find(name.strip_suffix(".npy")?));
        match found {
            Some(array) => self.read(array),
            None => {
                let message = format!("there is no array {}, or more than one", shown(name.as_bytes()));
                Err(DataError::file(self.0.path(), message, format!("one of {}", self.list())))
            }
        }
    }

    /// The array for a purpose: the only one, the only one of a shape that fits, or that with a usual name.
    fn chosen(&self, role: Role) -> Result<Array<'_>, DataError> {
        let all: Vec<Array> = self.iter().take(MOST + 1).collect();
        if let [only] = all[..] {
            return Ok(only);
        }
        let fits = |array: &&Array| self.read(**array).is_ok_and(|npy| role.takes(npy.cols()));
        let fitting: Vec<&Array> = match all.len() > MOST {
            true => Vec::new(),
            false => all.iter().filter(fits).collect(),
        };
        let usual: Vec<&&Array> = fitting.iter().filter(|array| role.names().contains(&array.name)).collect();
        match (&fitting[..], &usual[..]) {
            ([one], _) => Ok(**one),
            (_, [one]) => Ok(***one),
            _ => {
                let (what, advice) = match role {
                    Role::Matrix => ("the matrix", "choose an array with `--member NAME`"),
                    Role::RightHandSide => {
                        ("the right-hand side", "name it `b` or `y`, or save it in a file of its own")
                    }
                };
                let message = format!("it is not clear which array is {what}: {}", self.list());
                Err(DataError::file(self.0.path(), message, advice))
            }
        }
    }

    /// Names and shapes of the arrays, a few of them.
    fn list(&self) -> String {
        let shape = |array: Array| match self.read(array) {
            Ok(npy) => format!("{} ({}×{})", shown(array.name.as_bytes()), npy.rows(), npy.cols()),
            Err(_) => format!("{} (no matrix)", shown(array.name.as_bytes())),
        };
        let more = if self.iter().nth(12).is_some() { ", …" } else { "" };
        self.iter().take(12).map(shape).collect::<Vec<_>>().join(", ") + more
    }
}
