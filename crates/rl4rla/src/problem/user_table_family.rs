//! A family drawn from the user's table, so that a search targets the data to be solved.
//!
//! A fraction of the rows is held out, independent of the seed. Search instances are drawn from the others, reported
//! figures only from the held-out rows.

use super::family::{Choice, Family, FamilyInfo, FamilyKind, Number, Scale};
use super::family_error::FamilyError;
use super::instance::Instance;
use super::linear::Linear;
use super::{InstanceSet, Task};
use crate::data::{DataError, Design, Reading, System, visible};
use crate::linalg::{self, Matrix};
use crate::program::Registry;
use crate::rng::{Discrete, Stream};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// A table that problems are drawn from.
struct Own {
    info: FamilyInfo,
    system: System,
    /// Names of the columns of A.
    labels: Vec<String>,
}

static KNOWN: Registry<&'static Own> = Registry::new();

/// The fraction of rows that are held out.
pub const HELD_OUT: &str = "held-out";
/// 1 if rows are drawn with replacement, as a bootstrap does.
pub const BOOTSTRAP: &str = "bootstrap";
/// 1 if rows are drawn from the held-out ones.
const FINAL: &str = "final";

const NUMBERS: [Number; 3] = [
    Number {
        name: HELD_OUT,
        doc: "fraction of rows held out from the search",
        default: 0.25,
        least: 0.01,
        most: 0.9,
    },
    Number {
        name: BOOTSTRAP,
        doc: "1: rows are drawn with replacement",
        default: 0.0,
        least: 0.0,
        most: 1.0,
    },
    Number { name: FINAL, doc: "1: rows are drawn from those held out", default: 0.0, least: 0.0, most: 1.0 },
];

/// Default number of rows per problem.
const ROWS: usize = 1000;

/// Maximum number of samples drawn for one problem: the first one with independent columns is used.
const TRIES: u64 = 1000;
/// A smaller maximum for the check before a search, so that draws during the search do not run out of attempts.
const FIRST_TRIES: u64 = 50;

impl Family {
    /// The family of a table: its problems are samples of the table's rows. Equal tables give the same family, whose
    /// name identifies the file and its content.
    pub fn of_table(path: &Path, design: &Design, reading: &Reading) -> Result<Family, DataError> {
        // Problems are samples of rows, with all their zeros.
        let system = System::load(path, design, &Reading { dense: true, ..reading.clone() })?;
        let (rows, cols) = (system.matrix.rows(), system.matrix.cols());
        if system.matrix.is_in_file() {
            let advice = "a part of its rows: problems are samples of them anyway";
            return Err(DataError::file(path, "too large to draw problems from", advice));
        }
        // A quarter is held out by default, and a problem has at most half as many rows as that.
        let enough = 16 * cols;
        if rows < enough {
            let message = format!("{rows} rows are too few to draw problems with {cols} columns");
            return Err(DataError::file(path, message, format!("at least {enough} rows")));
        }
        let file = visible(&path.file_name().unwrap_or_default().to_string_lossy());
        let name = format!("data:{file}:{:016x}", digest(&system));
        let new = || {
            let doc = Box::leak(format!("rows of {file}").into_boxed_str());
            let info = FamilyInfo {
                name: Box::leak(name.clone().into_boxed_str()),
                doc,
                task: &Linear,
                rows: ROWS.min(rows / 8),
                cols,
                square: false,
                options: &[Choice::Scale],
                numbers: &NUMBERS,
                draw,
            };
            let labels = system.columns.labels();
            let own: &'static Own = Box::leak(Box::new(Own { info, system, labels }));
            // Another thread may have added the same family first.
            let _ = KNOWN.add(own, |known| known.info.name == name, std::iter::empty());
            own
        };
        let own = find(&name).unwrap_or_else(new);
        Ok(Family::new(FamilyKind(&own.info)))
    }

    /// The family of a table that has not been read: it has the options that tables have in common, but no instances.
    pub(crate) fn of_unread_table() -> Family {
        static UNREAD: FamilyInfo = FamilyInfo {
            name: "data",
            doc: "rows of a table",
            task: &Linear,
            rows: ROWS,
            cols: 1,
            square: false,
            options: &[Choice::Scale],
            numbers: &NUMBERS,
            draw: |family, _| {
                Err(FamilyError::NoSolution { kind: family.kind, why: "its table was not read" })
            },
        };
        Family::new(FamilyKind(&UNREAD))
    }

    /// Whether its problems are rows of a table.
    pub fn is_of_table(&self) -> bool {
        self.number(FINAL).is_some() && find(self.kind.info().name).is_some()
    }

    /// Whether samples of a table's rows, and of its held-out rows, have independent columns often enough to draw
    /// problems.
    pub fn check_samples(&self) -> Result<(), FamilyError> {
        // A table that was not read has no instances.
        let sets = [InstanceSet::Search, InstanceSet::Final];
        for set in sets.into_iter().filter(|_| self.is_of_table()) {
            let family = self.for_set(set);
            family.check()?;
            sample(&family, &set.stream(0, 0), FIRST_TRIES)?;
        }
        Ok(())
    }

    /// The family from which a set of instances is drawn: for a table, the final set has rows of its own.
    #[must_use]
    pub fn for_set(self, set: InstanceSet) -> Family {
        match set {
            InstanceSet::Final => self.with_number(FINAL, 1.0).unwrap_or(self),
            InstanceSet::Search | InstanceSet::Select => self,
        }
    }
}

/// The number of held-out rows of a table.
fn held_out(family: &Family, rows: usize) -> usize {
    (family.number(HELD_OUT).unwrap_or_default() * rows as f64).round() as usize
}

/// Whether a table has enough rows: problems drawn without replacement from few rows would be almost the same.
pub(super) fn check(family: &Family) -> Result<(), FamilyError> {
    let Some(own) = find(family.kind.info().name) else { return Ok(()) };
    let all = own.system.matrix.rows();
    let held = held_out(family, all);
    let (kind, fewer) = (family.kind, held.min(all - held));
    let most = if family.number(BOOTSTRAP) == Some(1.0) { usize::MAX } else { fewer / 2 };
    match fewer < 2 * family.cols || family.rows > most {
        true => {
            Err(FamilyError::FewRows { kind, held, rest: all - held, rows: family.rows, cols: family.cols })
        }
        false => Ok(()),
    }
}

fn find(name: &str) -> Option<&'static Own> {
    KNOWN.all().find(|known| known.info.name == name)
}

/// A hash of all entries.
fn digest(system: &System) -> u64 {
    let mut hash = Xxh3::new();
    let entries = system.matrix.row_major().iter().chain(&system.b);
    entries.for_each(|entry| hash.update(&entry.to_bits().to_le_bytes()));
    hash.digest()
}

/// A sample of rows of the table, drawn from this stream.
fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let (drawn, right) = sample(family, stream, TRIES)?;
    let largest = linalg::singular_values(&drawn).and_then(|sigma| sigma.first().copied());
    let drawn = match (family.scale, largest) {
        (Scale::Unit, Some(largest)) if largest > 0.0 => drawn.map(|a| a / largest),
        _ => drawn,
    };
    let why = "its rows have more columns than rows, or no finite solution";
    Linear.pose(drawn, right).map_err(|_| FamilyError::NoSolution { kind: family.kind, why })
}

/// Rows of the table with independent columns, and their right-hand sides. A sample without any row of a rare
/// category has dependent columns: then another one is drawn, from a stream derived from this one.
fn sample(family: &Family, stream: &Stream, tries: u64) -> Result<(Matrix, Vec<f64>), FamilyError> {
    let own = find(family.kind.info().name).expect("a table is known before its family is");
    let number = |name| family.number(name).expect("a number of this family");
    let System { matrix, b, .. } = &own.system;
    // The same rows are held out for every seed, so that figures are comparable.
    let order = Stream::new(0).derive("held-out", matrix.rows() as u64).permutation(matrix.rows());
    let held = held_out(family, matrix.rows());
    let from = if number(FINAL) > 0.5 { &order[..held] } else { &order[held..] };
    let bootstrap = number(BOOTSTRAP) > 0.5;
    let unsolved = |why| FamilyError::NoSolution { kind: family.kind, why };
    let law = Discrete::uniform(from.len()).map_err(|_| unsolved("there are no rows to draw from"))?;
    let mut dependent = 0;
    for attempt in 0..tries {
        let redrawn = if attempt == 0 { *stream } else { stream.derive("redraw", attempt) };
        let places = match bootstrap {
            true => law.sample(&redrawn, family.rows),
            false => law.sample_distinct(&redrawn, family.rows).ok_or(unsolved("there are too few rows"))?,
        };
        let row = |i: usize| matrix.row(from[places[i]]);
        let drawn = Matrix::from_fn(family.rows, matrix.cols(), |i, j| row(i)[j]);
        match linalg::dependent_column(&drawn) {
            None => return Ok((drawn, places.iter().map(|place| b[from[*place]]).collect())),
            Some(column) => dependent = culprit(&drawn, column, own.system.columns.intercept),
        }
    }
    let (value, count) = commonest(from.iter().map(|row| matrix.row(*row)[dependent]));
    let column = &own.labels[dependent];
    let (kind, rows, of) = (family.kind, family.rows, from.len());
    Err(FamilyError::Dependent { kind, rows, column, value, count, of })
}

/// The column to name in the error if `dependent` is the first that depends on those before it: if that is the column
/// of ones, the constant column it depends on.
fn culprit(drawn: &Matrix, dependent: usize, intercept: bool) -> usize {
    let constant = |j: &usize| (1..drawn.rows()).all(|i| drawn.get(i, *j) == drawn.get(0, *j));
    let ones = intercept && dependent + 1 == drawn.cols();
    (0..dependent).find(|j| ones && constant(j)).unwrap_or(dependent)
}

/// The most frequent value, the smallest one in case of ties, and its count.
fn commonest(values: impl Iterator<Item = f64>) -> (f64, usize) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len()));
    runs.fold((f64::NAN, 0), |most, run| if run.1 > most.1 { run } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::TargetColumn;
    use std::collections::BTreeSet;

    fn table(name: &str, rows: usize) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("rl4rla-own-{}-{name}.csv", std::process::id()));
        let draws = Stream::new(rows as u64).normals(rows * 2);
        let line = |i: usize| format!("{},{},{i}\n", draws[2 * i], draws[2 * i + 1]);
        std::fs::write(&path, (0..rows).map(line).collect::<String>()).unwrap();
        path
    }

    fn family(name: &str, rows: usize) -> Family {
        let path = table(name, rows);
        let design =
            Design { target: TargetColumn::Column("3".into()), intercept: false, standardise: false };
        let family = Family::of_table(&path, &design, &Reading::default()).unwrap();
        std::fs::remove_file(path).unwrap();
        family
    }

    /// The rows of an instance, identified by their right-hand sides.
    fn rows(family: &Family, set: InstanceSet, index: u64) -> BTreeSet<usize> {
        let instance = family.for_set(set).draw(&set.stream(0, index)).unwrap();
        instance.b.iter().map(|b| *b as usize).collect()
    }

    #[test]
    fn what_is_held_out_is_seen_in_the_end_alone() {
        let family = Family { rows: 50, ..family("held", 400) };
        let of = |set| (0..40).flat_map(|i| rows(&family, set, i)).collect::<BTreeSet<_>>();
        let (search, select, last) =
            (of(InstanceSet::Search), of(InstanceSet::Select), of(InstanceSet::Final));
        assert!(search.is_disjoint(&last) && select.is_disjoint(&last));
        assert_eq!((last.len(), search.len()), (100, 300));
        assert_ne!(rows(&family, InstanceSet::Search, 0), rows(&family, InstanceSet::Search, 1));
    }

    #[test]
    fn a_bootstrap_repeats_rows_and_a_sample_does_not() {
        let family = Family { rows: 50, ..family("bootstrap", 400) };
        assert_eq!(rows(&family, InstanceSet::Search, 0).len(), 50);
        let bootstrap = Family { rows: 300, ..family }.with_number(BOOTSTRAP, 1.0).unwrap();
        let distinct = rows(&bootstrap, InstanceSet::Search, 0).len();
        assert!((160..220).contains(&distinct), "{distinct}");
        // Without replacement, problems of that size would all be the same.
        assert!(Family { rows: 300, ..family }.check().unwrap_err().to_string().contains("at most 50"));
        assert!(family.with_number(HELD_OUT, 0.01).unwrap().check().is_err());
        // With replacement there may be more rows than the table has.
        assert_eq!(Family { rows: 900, ..bootstrap }.draw(&Stream::new(1)).unwrap().rows(), 900);
    }

    /// 400 rows whose second column is 1 in a few of them, with a column of ones.
    fn rare(name: &str, few: usize) -> Family {
        let path = std::env::temp_dir().join(format!("rl4rla-own-{}-{name}.csv", std::process::id()));
        let draws = Stream::new(9).normals(400);
        let category = |i: usize| u8::from((i * 37) % 400 < few);
        let line = |i: usize| format!("{},{},{i}\n", draws[i], category(i));
        std::fs::write(&path, "a,rare,y\n".to_string() + &(0..400).map(line).collect::<String>()).unwrap();
        let design = Design { target: TargetColumn::Column("y".into()), intercept: true, standardise: false };
        let family = Family::of_table(&path, &design, &Reading::default()).unwrap();
        std::fs::remove_file(path).unwrap();
        Family { rows: 20, ..family }
    }

    #[test]
    fn samples_that_miss_a_category_are_drawn_again() {
        let family = rare("redrawn", 30);
        family.check_samples().unwrap();
        let mut redrawn = 0;
        for set in [InstanceSet::Search, InstanceSet::Final] {
            for index in 0..20 {
                let stream = set.stream(1, index);
                let instance = family.for_set(set).draw(&stream).unwrap();
                assert!(instance.condition() < 1e3, "{}", instance.condition());
                assert_eq!(linalg::dependent_column(&instance.A), None);
                redrawn += usize::from(sample(&family.for_set(set), &stream, 1).is_err());
                assert_eq!(instance.b, family.for_set(set).draw(&stream).unwrap().b);
            }
        }
        assert!(redrawn > 5, "{redrawn}");
    }

    #[test]
    fn a_category_that_no_sample_has_is_refused_by_name() {
        let refused = rare("never", 1).check_samples().unwrap_err().to_string();
        assert!(refused.contains("Column `rare` is 0 in "), "{refused}");
        // All ones: the column of ones is the dependent one, but the constant column is to be named.
        let refused = rare("always", 400).check_samples().unwrap_err().to_string();
        assert!(refused.contains("Column `rare` is 1 in 300 of the 300 rows"), "{refused}");
    }

    #[test]
    fn a_table_is_known_by_what_is_in_it() {
        let (one, again, other) = (family("same", 60), family("same", 60), family("same", 61));
        assert_eq!(one, again);
        assert_ne!(one, other);
        assert!(Family::named("data").is_none());
    }

    #[test]
    fn a_short_table_is_refused() {
        let path = table("short", 31);
        let design =
            Design { target: TargetColumn::Column("3".into()), intercept: false, standardise: false };
        let error = Family::of_table(&path, &design, &Reading::default()).unwrap_err();
        assert!(error.to_string().contains("31 rows are too few"), "{error}");
        std::fs::remove_file(path).unwrap();
    }
}
