//! Designs: preprocessing of a table, and the solution in the units of the table.

mod gathered;
mod in_memory;

use super::rows::Body;
use super::scratch::Scratch;
use super::{DataError, Missing, Reading, npz, open, probe};
use crate::linalg::{self, ColumnMap, Matrix};
use gathered::Gathered;
use std::path::{Path, PathBuf};

/// Where the right-hand side is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetColumn {
    /// In a column of the same file: its name, or its number counted from 1.
    Column(String),
    /// In a separate file with one column.
    File(PathBuf),
    /// The problem has no right-hand side.
    None,
}

/// How a table becomes a linear system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Design {
    /// Where b is.
    pub target: TargetColumn,
    /// Whether a column of ones is appended.
    pub intercept: bool,
    /// Whether columns are scaled to standard deviation 1, and with an intercept shifted to mean 0: a change of
    /// coordinates with the same solution, in which step sizes are easier to choose. Sparse columns are only scaled, to
    /// root mean square 1.
    pub standardise: bool,
}

/// The linear system of a table.
pub struct System {
    /// The matrix, in memory, sparse or in a file.
    pub matrix: Matrix,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// The columns of A: their names and scaling.
    pub columns: Columns,
    /// Number of rows dropped because of a missing value.
    pub dropped: usize,
    _scratch: Option<Scratch>,
}

/// The columns of a system: their names in the table, and how they were shifted and scaled.
#[derive(Clone, PartialEq, Debug)]
pub struct Columns {
    /// Names of the table's columns except the target, or their numbers.
    pub names: Vec<String>,
    /// Whether the names come from the table.
    pub named: bool,
    /// Index and name of the target, if it is in the same file.
    pub target: Option<(usize, String)>,
    /// Whether a column of ones follows them.
    pub intercept: bool,
    means: Vec<f64>,
    scales: Vec<f64>,
    /// The mean subtracted from the target.
    offset: f64,
    /// Rounding error of each column, in units of ε times its length.
    noise: Vec<f64>,
}

/// Name of the column of ones.
const INTERCEPT: &str = "(intercept)";

/// Entries read and processed at a time, few enough for a cache.
const BATCH: usize = 1 << 16;

impl System {
    /// Reads a table and builds the system. A matrix that takes more than half of [`Reading::limit`] is kept in a
    /// temporary file and read from there; one with few nonzeros in a Matrix Market or NPZ file stays sparse.
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
        let rows = open(path, reading)?;
        let Gathered { matrix, mut b, dropped, scratch } = match rows.body {
            Body::Sparse(held) => Gathered::sparse(held.sparse, target, design.intercept),
            _ => Gathered::dense(path, rows, &found, &columns, reading)?,
        };
        match &design.target {
            TargetColumn::Column(_) => {}
            TargetColumn::File(other) => {
                if dropped > 0 {
                    let message = format!(
                        "{dropped} rows have missing values, and the right-hand side is in another file",
                    );
                    let advice =
                        "the right-hand side as a column of the same file, so that its rows are dropped too";
                    return Err(DataError::file(path, message, advice));
                }
                let member = npz::right_hand_side(other)?;
                let reading = Reading { missing: Missing::Refuse, member, ..reading.clone() };
                b = right_hand_side(other, &reading)?;
            }
            TargetColumn::None => b = vec![0.0; matrix.rows()],
        }
        if matrix.rows() != b.len() {
            let message = format!("{} rows, but the right-hand side has {}", matrix.rows(), b.len());
            return Err(DataError::file(path, message, "files with equal numbers of rows"));
        }
        let system = System { matrix, b, columns, dropped, _scratch: scratch };
        Ok(if design.standardise { system.in_units(true) } else { system })
    }

    /// The same system with columns of mean 0 if there is an intercept, so that large means do not cost accuracy.
    /// Coefficients are still reported in the units of the table. A sparse matrix would lose its zeros, and is left as
    /// it is.
    pub fn centred(self) -> System {
        if !self.matrix.is_sparse()
            && self.columns.intercept
            && self.columns.means.iter().all(|mean| *mean == 0.0)
        {
            return self.in_units(false);
        }
        self
    }

    /// The same system with a target of mean 0 if there is an intercept to compensate, so that a large mean does not
    /// cost accuracy. The reported intercept and predictions are unchanged.
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

    /// The weighted system: rows multiplied by √w, after weighted means were subtracted from columns and target if there
    /// is an intercept. `None` if A is in a file, or sparse with an intercept.
    ///
    /// # Panics
    /// If there is not a weight for every row.
    pub fn weighted(self, weights: &[f64]) -> Option<System> {
        assert_eq!(weights.len(), self.matrix.rows(), "a weight for every row");
        let System { matrix, mut b, mut columns, .. } = self;
        if matrix.is_in_file() || (matrix.is_sparse() && columns.intercept) {
            return None;
        }
        let mut matrix = matrix;
        if columns.intercept {
            let shift = columns.recentre(&matrix, weights);
            let scale = vec![1.0; shift.len()];
            matrix = matrix.map_columns(ColumnMap::all(shift, scale));
            let all: f64 = weights.iter().sum();
            let mean = b.iter().zip(weights).map(|(b, w)| b * (w / all)).sum::<f64>();
            b.iter_mut().for_each(|b| *b -= mean);
            columns.offset += mean;
        }
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        b.iter_mut().zip(&roots).for_each(|(b, root)| *b *= root);
        Some(System { matrix: matrix.with_rows_multiplied(&roots), b, columns, ..self })
    }

    /// Subtracts means if there is an intercept, and scales columns to standard deviation 1 if asked to.
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

    /// Number of columns of A.
    pub fn width(&self) -> usize {
        self.names.len() + usize::from(self.intercept)
    }

    /// Appends the row of A for a row of the table.
    fn add_row(&self, row: &[f64], into: &mut Vec<f64>) {
        let (before, after) = match &self.target {
            Some((place, _)) => (&row[..*place], &row[place + 1..]),
            None => (row, &row[..0]),
        };
        into.extend_from_slice(before);
        into.extend_from_slice(after);
        if self.intercept {
            into.push(1.0);
        }
    }

    /// Computes means and standard deviations in one pass, by update formulas without cancellation. Without an
    /// intercept nothing may be subtracted, and columns are scaled by their root mean square. Columns whose sums
    /// overflow or vanish are not scaled. Nor may anything be subtracted from a sparse matrix.
    fn measure(&mut self, matrix: &Matrix, deviations: bool) {
        if matrix.is_sparse() {
            let roots =
                linalg::column_norms(matrix).into_iter().map(|norm| norm / (matrix.rows() as f64).sqrt());
            let scaled = |root: f64| if deviations && root.is_normal() { root } else { 1.0 };
            self.scales = roots.map(scaled).take(self.names.len()).collect();
            return;
        }
        let (n, width) = (self.names.len(), self.width());
        let (mut means, mut squares) = (vec![0.0; n], vec![0.0; n]);
        let mut count = 0.0;
        matrix.each_part(1, |_, part| {
            for row in part.entries().chunks_exact(width.max(1)) {
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
            // A constant column becomes zero: the intercept already represents it.
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

    /// The weighted means of the columns of A, the last one excepted, which are about to be subtracted.
    fn recentre(&mut self, matrix: &Matrix, weights: &[f64]) -> Vec<f64> {
        let (n, width) = (self.names.len(), self.width());
        let (mut means, mut squares, mut sum) = (vec![0.0; n], vec![0.0; n], 0.0);
        matrix.each_part(1, |first, part| {
            for (row, w) in part.entries().chunks_exact(width.max(1)).zip(&weights[first..]) {
                sum += w;
                if sum == 0.0 {
                    continue;
                }
                for (value, (mean, square)) in row.iter().zip(means.iter_mut().zip(&mut squares)) {
                    let gap = value - *mean;
                    *mean += gap * (w / sum);
                    *square += w * gap * (value - *mean);
                }
            }
        });
        for (j, (mean, square)) in means.iter().zip(&squares).enumerate() {
            self.means[j] += mean * self.scales[j];
            let noise = (self.noise[j].powi(2) + mean * mean * sum / square).sqrt();
            self.noise[j] = if noise.is_finite() { noise } else { 1.0 };
        }
        means.into_iter().chain([0.0]).collect()
    }

    /// The combination c of the entries of x that is coefficient j, up to a constant.
    pub fn combination(&self, j: usize) -> Vec<f64> {
        let n = self.names.len();
        let mut c = vec![0.0; self.width()];
        if j < n {
            c[j] = 1.0 / self.scales[j];
        } else {
            c.iter_mut()
                .zip(self.means.iter().zip(&self.scales))
                .for_each(|(c, (mean, scale))| *c = -mean / scale);
            c[n] = 1.0;
        }
        c
    }

    /// The same columns for another target, from which this mean was subtracted.
    pub fn for_target(&self, offset: f64) -> Columns {
        Columns { offset, target: None, ..self.clone() }
    }

    /// Rounding error of each column of A, in units of ε times its length: more than 1 if a mean was subtracted.
    pub fn noise(&self) -> Vec<f64> {
        self.noise.iter().copied().chain(self.intercept.then_some(1.0)).collect()
    }

    /// The solution in the units of the table: a coefficient for every name, then the intercept.
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

    /// Reads another table with the same columns, matched by name if both tables have names and by position
    /// otherwise. `each` is called with the prediction for every row, and the target if the table has it. Returns the
    /// number of rows dropped because of a missing value.
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
        while rows.next((BATCH / cols).max(1), &mut read)? > 0 {
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

    /// The positions of these columns, and of the target if present, in another table.
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

/// c − Σ xⱼ·meanⱼ with compensated summation, as if in twice the precision: large means nearly cancel.
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

/// The index of a column given by name or by number.
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

/// The vector in a file with a single column.
fn right_hand_side(path: &Path, reading: &Reading) -> Result<Vec<f64>, DataError> {
    let table = super::read(path, reading)?;
    // A single row is a vector too.
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
