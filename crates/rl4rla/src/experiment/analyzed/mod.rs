//! The analysis of a program as tables, figures and one page.

mod figures;
pub mod numbers;
mod page;
pub mod words;

use crate::analysis::{Analysis, Study, StudyPoint};
use crate::program::Document;
use numbers::kappa;

/// An analysis with everything needed to present it.
pub struct Analyzed<'a> {
    /// Name of the program.
    pub title: &'a str,
    /// The program and its file header.
    pub program: &'a Document,
    /// The inputs of the analysis.
    pub study: &'a Study,
    /// Its results.
    pub analysis: &'a Analysis,
    /// The command that repeats it.
    pub command: &'a str,
    /// The command that reproduces an instance.
    pub again: &'a dyn Fn(&StudyPoint) -> String,
}

/// The setting of a study, in two lines.
pub fn setting(study: &Study) -> String {
    let family = &study.family;
    let settings = study.settings(family);
    format!(
        "{} {}×{}, κ {} unless stated otherwise; {} replicates, seed {}\nη = {}, {} sketch s = {}, samples k = {}",
        family.kind,
        family.rows,
        family.cols,
        kappa(family.condition),
        study.care.replicates,
        study.care.seed,
        study.step,
        settings.sketch,
        settings.sketch_rows,
        settings.batch,
    )
}
