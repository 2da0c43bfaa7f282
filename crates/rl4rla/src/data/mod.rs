//! Data from files: matrices supplied by the user.
//!
//! [`read`] reads a whole file, [`open`] blocks of rows, and [`probe`] returns its size. Files are not trusted: sizes claimed
//! by a header are checked against the file size and the memory limit before anything is allocated.

#[cfg(feature = "columnar")]
mod columnar;
#[cfg(not(feature = "columnar"))]
mod columnar_absent;
mod csv;
mod data_table;
mod design;
mod error;
mod format;
mod held;
mod lines;
mod market;
mod names;
mod npy;
mod npz;
mod reading;
mod rows;
mod scratch;
mod source;
mod sparse;
mod whole;
mod write;
mod year;
mod zip;

#[cfg(feature = "columnar")]
use columnar::Columnar;
#[cfg(not(feature = "columnar"))]
use columnar_absent::NoColumnar as Columnar;
pub use data_table::{DataTable, read, read_from};
pub use design::{Columns, Design, System, TargetColumn};
pub use error::{DataError, FilePosition, size, visible};
pub use format::Format;
pub use reading::{Missing, Reading};
pub use rows::{FileProbe, Rows, open, open_from, probe};
use source::ByteSource;
pub use source::Input;
pub use whole::{discard_unfinished, write_whole};
#[cfg(feature = "report")]
pub(crate) use write::csv_line;
pub(crate) use write::csv_number;
pub use write::{write_csv, write_npy};
pub use year::{FEATURES, STAND_IN_EXPLAINS, Split, TEST_ROWS, TRAIN_ROWS, Year};
