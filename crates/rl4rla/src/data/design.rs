//! Designs: preprocessing of a table, and the solution in the table's own units.

use super::scratch::{Scratch, ScratchStorage};
use super::{DataError, Missing, Reading, open, probe};
use crate::linalg::{ColumnMap, Matrix};
use std::path::{Path, PathBuf};

/// Where the right-hand side stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetColumn {
    /// In a column of the same file: its name, or its number from 1 on.
    Column(String),
    /// In a file of its own with one column.
    File(PathBuf),
    /// Nowhere: the problem has none.
    None,
}

/// What is made of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Design {
    /// Where b stands.
    pub target: TargetColumn,
    /// Whether a column of ones is added, behind all others.
    pub intercept: bool,
    /// Whether columns are brought to deviation 1, and with an intercept to mean 0: other coordinates for the same
    /// solution, in which steps are easier to choose.
    pub standardise: bool,
}

/// A table made ready for solving.
pub struct System {
    /// The matrix, in memory or in a file.
    pub matrix: Matrix,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// Which column of A is what.
    pub columns: Columns,
    /// Rows that were left out because a value was missing.
    pub dropped: usize,
    _scratch: Option<Scratch>,
}

/// The columns of a system: their names in the table, and how they were brought to other units.
#[derive(Clone, PartialEq, Debug)]
pub struct Columns {
    /// The names of the table's columns but for the target, or their numbers.
    pub names: Vec<String>,
    /// Whether the table itself named them.
    pub named: bool,
    /// Place and name of the target, if it stands in the same file.
    pub target: Option<(usize, String)>,
    /// Whether a column of ones stands behind them.
    pub intercept: bool,
    means: Vec<f64>,
    scales: Vec<f64>,
    /// What was subtracted from the target.
    offset: f64,
    /// Rounding in each column, in units of ε times its length.
    noise: Vec<f64>,
}

/// What the column of ones is called.
const INTERCEPT: &str = "(intercept)";

/// Rows that are read, changed and passed on together.
const BATCH: usize = 4096;

impl System {
    /// Reads a table and makes the system of it. If the matrix takes more than half of what [`Reading::limit`] allows it
    /// is kept in a file of the system's folder for such files, and read from there.
    pub fn load(path: &Path, design: &Design, reading: &Reading) -> Result<System, DataError> {
        let found = probe(path, reading)?;
        let target = match &design.target {
            TargetColumn::Column(name) => Some(place(path, name, found.cols, found.names.as_deref())?),
            TargetColumn::File(_) | TargetColumn::None => None,
        };
        let columns = Columns::new(found.cols, found.names.as_deref(), target, design.intercept);
        if columns.names.is_empty() {
            let message = "there is no column other than the target";
            return Err(DataError::file(path, message, "a table with at least two columns"));
        }
        if design.intercept && columns.names.iter().any(|name| name == INTERCEPT) {
            let message = format!(
                "a column is already named `{INTERCEPT}`, the name of the column that would be added"
            );
            return Err(DataError::file(path, message, "rename it, or omit --intercept"));
        }
        let width = columns.width();
        let bytes = found.bytes.map(|bytes| bytes / found.cols as u64 * width as u64);
        let within = |bytes: u64| bytes <= reading.limit / 2;
        let mut rows = open(path, reading)?;
        let mut place = match bytes {
            Some(bytes) if !within(bytes) => ScratchStorage::file(path)?,
            bytes => ScratchStorage::memory(bytes.unwrap_or(0) as usize / 8),
        };
        let mut b = Vec::with_capacity(if target.is_some() { found.rows.unwrap_or(0) } else { 0 });
        let (mut read, mut made) = (Vec::new(), Vec::new());
        while rows.next(BATCH, &mut read)? > 0 {
            for row in read.chunks_exact(found.cols) {
                columns.add_row(row, &mut made);
                b.extend(target.map(|target| row[target]));
            }
            place.take(&mut made, within, path)?;
            read.clear();
        }
        let (matrix, scratch) = place.matrix(width, path)?;
        match &design.target {
            TargetColumn::Column(_) => {}
            TargetColumn::File(other) => {
                if rows.dropped() > 0 {
                    let message = format!(
                        "{} rows have missing values, and the right-hand side is in another file",
                        rows.dropped()
                    );
                    let advice =
                        "the right-hand side as a column of the same file, so that its rows are dropped too";
                    return Err(DataError::file(path, message, advice));
                }
                b = right_hand_side(other, &Reading { missing: Missing::Refuse, ..reading.clone() })?;
            }
            TargetColumn::None => b = vec![0.0; matrix.rows()],
        }
        if matrix.rows() != b.len() {
            let message = format!("{} rows, but the right-hand side has {}", matrix.rows(), b.len());
            return Err(DataError::file(path, message, "files with equal numbers of rows"));
        }
        let system = System { matrix, b, columns, dropped: rows.dropped(), _scratch: scratch };
        Ok(if design.standardise { system.in_units(true) } else { system })
    }

    /// The same system with columns of mean 0 beside the column of ones, if there is one: what they have in common with it
    /// hides no digits then. Coefficients are told in the units of the table as before.
    pub fn centred(self) -> System {
        if self.columns.intercept && self.columns.means.iter().all(|mean| *mean == 0.0) {
            return self.in_units(false);
        }
        self
    }

    /// The same system with a target of mean 0, where there is an intercept to make up for it: what is common to all of it
    /// hides no digits of the rest. The intercept is told, and rows are predicted, as before.
    pub fn with_target_centred(mut self) -> System {
        if !self.columns.intercept {
            return self;
        }
        let (mut mean, mut count) = (0.0, 0.0);
        for b in &self.b {
            count += 1.0;
            mean += (b - mean) / count;
        }
        if self.b.iter().all(|b| (b - mean).is_finite()) {
            self.b.iter_mut().for_each(|b| *b -= mean);
            self.columns.offset += mean;
        }
        self
    }

    /// Subtracts means where there is an intercept, and brings columns to deviation 1 if asked to.
    fn in_units(self, deviations: bool) -> System {
        let System { matrix, mut columns, .. } = self;
        columns.measure(&matrix, deviations);
        let (mut shift, mut scale) = (columns.means.clone(), columns.scales.clone());
        if columns.intercept {
            shift.push(0.0);
            scale.push(1.0);
        }
        let matrix = matrix.map_columns(ColumnMap::all(shift, scale));
        System { matrix, columns, ..self }
    }
}

impl Columns {
    fn new(cols: usize, names: Option<&[String]>, target: Option<usize>, intercept: bool) -> Columns {
        let name = |i: usize| names.map_or_else(|| (i + 1).to_string(), |names| names[i].clone());
        let kept: Vec<usize> = (0..cols).filter(|i| Some(*i) != target).collect();
        Columns {
            names: kept.iter().map(|i| name(*i)).collect(),
            named: names.is_some(),
            target: target.map(|i| (i, name(i))),
            intercept,
            means: vec![0.0; kept.len()],
            scales: vec![1.0; kept.len()],
            offset: 0.0,
            noise: vec![1.0; kept.len()],
        }
    }

    /// Columns of A.
    pub fn width(&self) -> usize {
        self.names.len() + usize::from(self.intercept)
    }

    /// A row of the table without its target.
    fn kept<'r>(&self, row: &'r [f64]) -> impl Iterator<Item = f64> + 'r {
        let target = self.target.as_ref().map(|(place, _)| *place);
        row.iter().enumerate().filter(move |(i, _)| Some(*i) != target).map(|(_, value)| *value)
    }

    /// Appends the row of A that belongs to a row of the table.
    fn add_row(&self, row: &[f64], into: &mut Vec<f64>) {
        into.extend(self.kept(row));
        if self.intercept {
            into.push(1.0);
        }
    }

    /// Finds means and deviations in one pass, by updating formulas that do not cancel. Without an intercept nothing may
    /// be subtracted: then it is the root mean square. Sums that overflow, or vanish, leave a column its units.
    fn measure(&mut self, matrix: &Matrix, deviations: bool) {
        let (n, width) = (self.names.len(), self.width());
        let (mut means, mut squares) = (vec![0.0; n], vec![0.0; n]);
        let mut count = 0.0;
        matrix.each_part(1, |_, part| {
            for row in part.entries().chunks_exact(width) {
                count += 1.0;
                for (value, (mean, square)) in row.iter().zip(means.iter_mut().zip(&mut squares)) {
                    let gap = value - *mean;
                    *mean += gap / count;
                    *square += gap * (value - *mean);
                }
            }
        });
        for (j, (mean, square)) in means.into_iter().zip(squares).enumerate() {
            let variance = square / count;
            // A constant column becomes zero: the intercept has it already.
            if self.intercept && mean.is_finite() {
                self.means[j] = mean;
                let noise = (1.0 + mean * mean / variance).sqrt();
                self.noise[j] = if noise.is_finite() { noise } else { 1.0 };
            }
            let scale = if self.intercept { variance.sqrt() } else { (variance + mean * mean).sqrt() };
            if deviations && scale.is_normal() {
                self.scales[j] = scale;
            }
        }
    }

    /// How large rounding is in each column of A, in units of ε times its length: more than 1 where a mean was subtracted.
    pub fn noise(&self) -> Vec<f64> {
        self.noise.iter().copied().chain(self.intercept.then_some(1.0)).collect()
    }

    /// What x says in the units of the table: a coefficient for every name, and the intercept behind them.
    pub fn coefficients(&self, x: &[f64]) -> Vec<f64> {
        let mut all: Vec<f64> = x.iter().zip(&self.scales).map(|(x, scale)| x / scale).collect();
        all.truncate(self.names.len());
        if self.intercept {
            let parts = all.iter().copied().zip(self.means.iter().copied()).chain([(-1.0, self.offset)]);
            all.push(intercept(x[self.names.len()], parts.collect()));
        }
        all
    }

    /// The names of these coefficients.
    pub fn labels(&self) -> Vec<String> {
        self.names.iter().cloned().chain(self.intercept.then(|| INTERCEPT.to_string())).collect()
    }

    /// Goes through another table with the same columns, found by their names where both tables have them and by their
    /// places where not: `each` gets every row's prediction by x, and the target if it is there. Says how many rows were
    /// left out because a value was missing.
    pub fn predict(
        &self,
        path: &Path,
        reading: &Reading,
        x: &[f64],
        mut each: impl FnMut(f64, Option<f64>),
    ) -> Result<usize, DataError> {
        let mut rows = open(path, reading)?;
        let (places, target) = self.places(path, rows.cols(), rows.names())?;
        let (mut read, cols) = (Vec::new(), rows.cols());
        let constant = if self.intercept { x[self.names.len()] + self.offset } else { 0.0 };
        while rows.next(BATCH, &mut read)? > 0 {
            for row in read.chunks_exact(cols) {
                // In the units of the system: in those of the table large means would cancel.
                let units = self.means.iter().zip(&self.scales);
                let values =
                    places.iter().zip(units).map(|(place, (mean, scale))| (row[*place] - mean) / scale);
                let sum: f64 = values.zip(x).map(|(value, x)| value * x).sum();
                each(sum + constant, target.map(|place| row[place]));
            }
            read.clear();
        }
        Ok(rows.dropped())
    }

    /// Where another table has these columns, and the target if it has it.
    fn places(
        &self,
        path: &Path,
        cols: usize,
        names: Option<&[String]>,
    ) -> Result<(Vec<usize>, Option<usize>), DataError> {
        let target = self.target.as_ref();
        if let (true, Some(names)) = (self.named, names) {
            let find = |name: &String| names.iter().position(|known| known == name);
            let missing = |name: &String| {
                let message = format!("there is no column `{name}`, which the solution was fitted to");
                DataError::file(path, message, "a table with the same column names, in any order")
            };
            let places = self.names.iter().map(|name| find(name).ok_or_else(|| missing(name)));
            return Ok((places.collect::<Result<_, _>>()?, target.and_then(|(_, name)| find(name))));
        }
        let n = self.names.len();
        match target {
            _ if cols == n => Ok(((0..n).collect(), None)),
            Some((place, _)) if cols == n + 1 => {
                Ok(((0..cols).filter(|i| i != place).collect(), Some(*place)))
            }
            _ => {
                let message = format!("{cols} columns, but the solution was fitted to {n}");
                Err(DataError::file(path, message, "a table with the same columns"))
            }
        }
    }
}

/// c − Σ xⱼ·meanⱼ, as if computed with twice the digits: large means nearly cancel in it.
fn intercept(constant: f64, parts: Vec<(f64, f64)>) -> f64 {
    let (mut sum, mut rest) = (constant, 0.0);
    for (x, mean) in parts {
        let product = -x * mean;
        let total = sum + product;
        let back = total - sum;
        rest += (sum - (total - back)) + (product - back) + (-x).mul_add(mean, -product);
        sum = total;
    }
    let exact = sum + rest;
    if exact.is_finite() { exact } else { sum }
}

/// The place of a column that was asked for by name or by number.
fn place(path: &Path, wanted: &str, cols: usize, names: Option<&[String]>) -> Result<usize, DataError> {
    if let Some(place) = names.and_then(|names| names.iter().position(|name| name == wanted)) {
        return Ok(place);
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=cols).contains(&number) => Ok(number - 1),
        Ok(number) => {
            let message = format!("there is no column {number}");
            Err(DataError::file(path, message, format!("a number from 1 to {cols}")))
        }
        Err(_) => {
            let shown = |names: &[String]| {
                let few: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
                format!("one of {}{}", few.join(", "), if names.len() > 12 { ", …" } else { "" })
            };
            let advice =
                names.map_or_else(|| format!("a number from 1 to {cols}; the file names no columns"), shown);
            Err(DataError::file(path, format!("there is no column `{wanted}`"), advice))
        }
    }
}

/// The one column of a file.
fn right_hand_side(path: &Path, reading: &Reading) -> Result<Vec<f64>, DataError> {
    let table = super::read(path, reading)?;
    // A row of numbers is a vector too.
    match table.cols == 1 || table.rows == 1 {
        true => Ok(table.entries),
        false => Err(DataError::file(
            path,
            format!("{}×{} numbers, but a right-hand side has one column", table.rows, table.cols),
            "a file with one column, or `--target COL` for a column of the matrix file",
        )),
    }
}

#[cfg(test)]
mod tests;
