//! What an analysis of a program says, as tables, figures and one page.

mod figures;
pub mod numbers;
mod page;
pub mod words;

use crate::analysis::{Analysis, Study, StudyPoint};
use crate::program::Document;
use numbers::kappa;

/// An analysis with all that is told of it.
pub struct Analyzed<'a> {
    /// What the program is called.
    pub title: &'a str,
    /// The program, with what is known of it.
    pub program: &'a Document,
    /// What was asked.
    pub study: &'a Study,
    /// What came of it.
    pub analysis: &'a Analysis,
    /// The command that makes it again.
    pub command: &'a str,
    /// The command that shows an instance again.
    pub again: &'a dyn Fn(&StudyPoint) -> String,
}

/// What was run, in two lines.
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
