//! Discovered programs: results of sweeps with `best` at the stages of our curricula.

use super::ask::{Ask, Scope, Setting};
use super::item::Means;
use crate::experiment::ExperimentError;
use crate::program::{Document, Entry, Program};
use crate::reward::Protocol;
use crate::search::Method;

/// Where to look for a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProgramSource {
    /// Its name in figures and tables.
    pub name: &'static str,
    pub curriculum: &'static str,
    pub stage: &'static str,
    /// The catalogue program to use if no run found it.
    pub catalogue: &'static str,
}

/// A source whose program has the same name everywhere.
pub const fn source(name: &'static str, curriculum: &'static str) -> ProgramSource {
    ProgramSource { name, curriculum, stage: name, catalogue: name }
}

impl ProgramSource {
    /// The sweep it needs.
    pub fn ask(self, seeds: u64) -> Ask {
        Ask::new(self.curriculum, Method::Best, Setting::Repaired, seeds)
    }

    /// The program of the first seed that found it, with the protocol of its stage; otherwise that of the catalogue.
    pub fn find<'a>(self, means: &'a Means) -> Result<RunCandidate<'a>, ExperimentError> {
        let missing = || ExperimentError::new(format!("no sweep of {} has {}", self.curriculum, self.stage));
        let sweep = means.runs.sweep(self.curriculum, Method::Best, Setting::Repaired);
        let sweep = sweep.ok_or_else(missing)?;
        let number = sweep.curriculum.stages.iter().position(|(stage, _)| stage.name == self.stage);
        let number = number.ok_or_else(missing)?;
        let found = sweep.done().find_map(|run| {
            let stage = run.stages.get(number).filter(|stage| stage.found)?;
            stage.program.as_deref()
        });
        let program = match found {
            Some(text) => text.parse::<Document>()?.program,
            None => Entry::named(self.catalogue).ok_or_else(missing)?.document.program.clone(),
        };
        let protocol = &sweep.curriculum.stages[number].0.protocol;
        Ok(RunCandidate { source: self, program, discovered: found.is_some(), protocol })
    }
}

/// Number of seeds if only the first program found is needed.
pub fn few(scope: Scope) -> u64 {
    scope.seeds.min(4)
}

/// A program to run.
#[derive(Clone)]
pub struct RunCandidate<'a> {
    pub source: ProgramSource,
    pub program: Program,
    /// Whether it was found by a run.
    pub discovered: bool,
    /// The protocol of its stage.
    pub protocol: &'a Protocol,
}

impl RunCandidate<'_> {
    /// Its name, marked if it was not found by a run.
    pub fn title(&self) -> String {
        if self.discovered { self.source.name.into() } else { format!("{} (catalogue)", self.source.name) }
    }

    /// Its origin.
    pub fn origin(&self) -> &'static str {
        if self.discovered { "discovered" } else { "catalogue" }
    }
}
