//! A small fixed problem, our own run on it, and the results of exported code with the same random draws.

use super::make_inside;
use crate::execute::{Recording, RunSettings, record};
use crate::experiment::ExperimentError;
use crate::export::{Export, TRIAL_LAMBDA};
use crate::linalg::Matrix;
use crate::problem::{Family, FamilyKind, Instance, families};
use crate::program::{Canonical, LiveOut, Update, check};
use crate::rng::Stream;
use std::fs;
use std::path::Path;

/// Rows and columns of tall problems, and of square ones.
const TALL: (usize, usize) = (200, 5);
const SQUARE: (usize, usize) = (20, 20);
/// Small enough for samples to differ from the whole matrix, large enough for progress.
const BATCH: usize = 20;
const STEP: f64 = 0.5;
const ITERATIONS: usize = 10;

/// Our own run, for comparison.
pub struct PreparedTrial {
    instance: Instance,
    recording: Recording,
    /// Its settings.
    pub settings: RunSettings,
}

impl PreparedTrial {
    /// Runs a program on its test problem.
    pub fn new(export: &Export) -> Result<PreparedTrial, ExperimentError> {
        let name = &export.provenance.name;
        let family = family(export)
            .ok_or_else(|| ExperimentError::new(format!("{name} fits no family, so it cannot be checked")))?;
        let drawn = family.draw(&Stream::new(0).derive("export/instance", 0))?;
        let instance = drawn.with_lambda(TRIAL_LAMBDA);
        let settings = RunSettings {
            // An answer that does not iterate is computed once.
            iterations: if export.listing.loops() { ITERATIONS } else { 1 },
            step: STEP,
            batch: BATCH.min(family.rows),
            ..export.defaults.settings(family.rows, family.cols)
        };
        let live = Canonical::new(&export.document.program, LiveOut::Finished);
        let stream = Stream::new(0).derive("export/draws", 0);
        let recording = record(live.program(), &instance, &settings, &stream).map_err(|failure| {
            ExperimentError::new(format!("{name} fails on the problem used for the check: {failure}"))
                .advise("leave --check out")
        })?;
        Ok(PreparedTrial { instance, recording, settings })
    }

    /// Writes the data and the random draws into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), ExperimentError> {
        make_inside(folder)?;
        let put = |name: &str, text: String| fs::write(folder.join(name), text);
        put("A.txt", rows(&self.instance.A))?;
        put("b.txt", column(&self.instance.b))?;
        put("x0.txt", column(&self.instance.start))?;
        put("sketches.txt", self.recording.sketches.iter().map(rows).collect())?;
        let line = |sample: &Vec<usize>| sample.iter().map(|i| format!("{i} ")).collect::<String>() + "\n";
        put("samples.txt", self.recording.samples.iter().map(line).collect())?;
        Ok(())
    }

    /// Deviation of the results in a folder from ours; `None` if they are missing or incomplete.
    pub fn deviation(&self, folder: &Path) -> Option<f64> {
        let text = fs::read_to_string(folder.join("results.txt")).ok()?;
        let number = |word: &str| word.parse().unwrap_or(f64::NAN);
        let results = text.lines().map(|line| line.split_whitespace().map(number).collect::<Vec<f64>>());
        let measured = |x: Vec<f64>| match self.is_result(x.len()) {
            true => self.instance.measure(&x),
            false => (f64::NAN, f64::NAN),
        };
        let (losses, excesses): (Vec<f64>, Vec<f64>) = results.map(measured).unzip();
        let Recording { residuals, excesses: ours, .. } = &self.recording;
        let whole = losses.len() == self.settings.iterations;
        whole.then(|| deviation(residuals, &losses).max(deviation(ours, &excesses)))
    }

    /// Whether a result has this many entries.
    fn is_result(&self, length: usize) -> bool {
        match self.instance.task.update() {
            Update::Answer => length == self.instance.rows(),
            Update::Basis => length.is_multiple_of(self.instance.cols()),
            Update::Subtract | Update::Assign => length == self.instance.cols(),
        }
    }
}

/// The largest difference, relative to the largest of our values so far; our first value is that of the starting
/// point.
fn deviation(ours: &[f64], theirs: &[f64]) -> f64 {
    let (mut largest, mut deviation) = (ours[0], 0.0_f64);
    for (ours, theirs) in ours[1..].iter().zip(theirs) {
        largest = largest.max(*ours);
        let apart = (ours - theirs).abs() / largest;
        // `max` would ignore NaN.
        deviation = if apart.is_nan() { f64::INFINITY } else { deviation.max(apart) };
    }
    deviation
}

/// The family that the program names, or the first that it fits, at a small size; preferably of the shape it was
/// type-checked for.
fn family(export: &Export) -> Option<Family> {
    let own = Family::named(&export.document.family).into_iter();
    let all = families().map(|row| Family::new(FamilyKind(row)));
    let sized = |family: Family| {
        let (rows, cols) = if family.kind.info().square { SQUARE } else { TALL };
        family.sized(Some(rows), Some(cols))
    };
    let wanted = export.listing.signature;
    let fits = |family: &Family| {
        let signature = family.signature();
        signature.update == wanted.update && check(&export.document.program, signature).is_ok()
    };
    let fitting: Vec<Family> = own.chain(all).map(sized).filter(fits).collect();
    let alike = fitting.iter().find(|family| family.geometry() == wanted.geometry);
    alike.or(fitting.first()).copied()
}

/// A matrix, one line per row.
fn rows(matrix: &Matrix) -> String {
    let line = |i: usize| matrix.row(i).iter().map(|entry| format!("{entry:e} ")).collect::<String>() + "\n";
    (0..matrix.rows()).map(line).collect()
}

/// A vector, one line per entry.
fn column(vector: &[f64]) -> String {
    vector.iter().map(|entry| format!("{entry:e}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_parts_of_the_largest_so_far() {
        assert_eq!(deviation(&[2.0, 1.0, 4.0], &[1.0, 4.0]), 0.0);
        assert_eq!(deviation(&[2.0, 1.0, 4.0], &[1.5, 4.0]), 0.25);
        assert_eq!(deviation(&[2.0, 1.0], &[f64::NAN]), f64::INFINITY);
        assert_eq!(deviation(&[2.0, 1.0, 1.0], &[f64::NAN, 1.0]), f64::INFINITY);
    }
}
