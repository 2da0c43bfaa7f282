//! Programs that came from runs: what the campaigns of `best` found at the stages of our curricula.

use super::ask::{Ask, Scope, Setting};
use super::item::Means;
use crate::experiment::ExperimentError;
use crate::program::{Document, Entry, Program};
use crate::reward::Protocol;
use crate::search::Method;

/// Where a program is looked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProgramSource {
    /// What it is called in figures and tables.
    pub name: &'static str,
    pub curriculum: &'static str,
    pub stage: &'static str,
    /// The program of the catalogue that stands in its place where no run found it.
    pub catalogue: &'static str,
}

/// A source whose program has one name everywhere.
pub const fn source(name: &'static str, curriculum: &'static str) -> ProgramSource {
    ProgramSource { name, curriculum, stage: name, catalogue: name }
}

impl ProgramSource {
    /// The campaign behind it.
    pub fn ask(self, seeds: u64) -> Ask {
        Ask::new(self.curriculum, Method::Best, Setting::Repaired, seeds)
    }

    /// The program of the first seed that found it, with how its stage runs it; else that of the catalogue.
    pub fn find<'a>(self, means: &'a Means) -> Result<RunCandidate<'a>, ExperimentError> {
        let missing =
            || ExperimentError::new(format!("no campaign of {} has {}", self.curriculum, self.stage));
        let campaign = means.runs.campaign(self.curriculum, Method::Best, Setting::Repaired);
        let campaign = campaign.ok_or_else(missing)?;
        let number = campaign.curriculum.stages.iter().position(|(stage, _)| stage.name == self.stage);
        let number = number.ok_or_else(missing)?;
        let found = campaign.done().find_map(|run| {
            let stage = run.stages.get(number).filter(|stage| stage.found)?;
            stage.program.as_deref()
        });
        let program = match found {
            Some(text) => text.parse::<Document>()?.program,
            None => Entry::named(self.catalogue).ok_or_else(missing)?.document.program.clone(),
        };
        let protocol = &campaign.curriculum.stages[number].0.protocol;
        Ok(RunCandidate { source: self, program, discovered: found.is_some(), protocol })
    }
}

/// Seeds of which the first that finds a program is taken, where nothing else is wanted of a campaign.
pub fn few(scope: Scope) -> u64 {
    scope.seeds.min(4)
}

/// A program to be run.
#[derive(Clone)]
pub struct RunCandidate<'a> {
    pub source: ProgramSource,
    pub program: Program,
    /// Whether it came from a run.
    pub discovered: bool,
    /// How its stage runs it.
    pub protocol: &'a Protocol,
}

impl RunCandidate<'_> {
    /// Its name, with a word where it is not from a run.
    pub fn title(&self) -> String {
        if self.discovered { self.source.name.into() } else { format!("{} (catalogue)", self.source.name) }
    }

    /// Where it came from.
    pub fn origin(&self) -> &'static str {
        if self.discovered { "discovered" } else { "catalogue" }
    }
}
