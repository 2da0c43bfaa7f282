//! A run of a curriculum as it was begun: what is needed to resume it, or to make its searches again.

use super::error::{ExperimentError, unreadable};
use super::settings::SearchSettings;
use crate::curriculum::{Curriculum, SpecError};
use crate::record::Build;
use crate::store::{Run, RunId};
use std::fmt;

/// Everything that a run of a curriculum depends on.
#[derive(Clone, Debug)]
pub struct BegunRun {
    /// The curriculum, with the settings applied.
    pub curriculum: Curriculum,
    /// Its settings.
    pub settings: SearchSettings,
    /// The seed.
    pub seed: u64,
}

/// Why a run cannot be taken up again.
#[derive(Clone, PartialEq, Debug)]
pub enum BegunRunError {
    /// Another build began it.
    OtherBuild {
        /// The run.
        run: RunId,
        /// That build.
        build: Build,
    },
    /// Its settings cannot be read.
    Settings(ExperimentError),
    /// Its curriculum cannot be read.
    Curriculum(SpecError),
}

impl BegunRun {
    /// Reads the settings and the curriculum of a run, which this build must have begun.
    pub fn read(run: &Run) -> Result<BegunRun, BegunRunError> {
        same_build(run)?;
        let settings: SearchSettings = serde_json::from_str(&run.settings)
            .map_err(|error| BegunRunError::Settings(unreadable(&format!("run {}", run.row.id), &error)))?;
        let curriculum =
            Curriculum::parse(&run.row.curriculum, &run.spec).map_err(BegunRunError::Curriculum)?;
        Ok(BegunRun { curriculum: settings.apply(curriculum), settings, seed: run.row.seed })
    }
}

/// An error if a run was begun by a build that may compute different numbers.
pub fn same_build(run: &Run) -> Result<(), BegunRunError> {
    match Build::current().continues(&run.build) {
        true => Ok(()),
        false => Err(BegunRunError::OtherBuild { run: run.row.id.clone(), build: run.build.clone() }),
    }
}

impl fmt::Display for BegunRunError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            BegunRunError::OtherBuild { run, build } => {
                write!(f, "run {run} was started by another build, version {build}")
            }
            BegunRunError::Settings(error) => error.fmt(f),
            BegunRunError::Curriculum(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BegunRunError {}

impl From<BegunRunError> for ExperimentError {
    fn from(error: BegunRunError) -> ExperimentError {
        match error {
            BegunRunError::Settings(error) => error,
            BegunRunError::Curriculum(error) => error.into(),
            BegunRunError::OtherBuild { .. } => ExperimentError::new(error.to_string())
                .advise("that build, because another may compute different numbers"),
        }
    }
}
