//! What the runs of a store came to: found programs, how surely and at what price, on one page.

mod courses;
mod curves;
mod fronts;
mod past;
mod programs;
mod runs;
mod success;
mod trees;

use super::ExperimentError;
use crate::report::{Block, Document, Section};
use crate::store::{RunRow, Store, StoreError};
use past::{Group, Past, groups};

/// A command as it is to be typed to meet the same store.
pub type Again<'a> = &'a dyn Fn(&str) -> String;

/// The most of anything that is shown one by one; what is beyond is counted, and said to be.
const MOST: usize = 24;

/// Runs, with those put together that differ in their seed only.
pub struct Summary {
    groups: Vec<Group>,
    /// How many runs are not done.
    pub unfinished: usize,
}

impl Summary {
    /// Reads these runs of a store.
    pub fn read(store: &Store, rows: Vec<RunRow>) -> Result<Summary, ExperimentError> {
        let pasts = rows.into_iter().map(|row| Past::read(store, row)).collect::<Result<Vec<_>, _>>()?;
        let unfinished = pasts.iter().filter(|past| past.found.is_none()).count();
        Ok(Summary { groups: groups(pasts), unfinished })
    }

    /// The page on them, with the programs of all of them if they were `named` one by one; made by `command`.
    pub fn document(
        &self,
        store: &Store,
        named: bool,
        command: &str,
        again: Again,
    ) -> Result<Document, StoreError> {
        let groups = &self.groups;
        let count: usize = groups.iter().map(|group| group.runs.len()).sum();
        let mut curricula: Vec<&str> = groups.iter().map(|group| group.curriculum.as_str()).collect();
        curricula.dedup();
        let section = |id: &str, title: &str, blocks: Vec<Block>| Section {
            id: id.into(),
            title: title.into(),
            blocks,
        };
        let sections = vec![
            section("summary", "Summary", success::summary(groups, again)),
            section("curricula", "Curricula", trees::trees(groups)),
            section("programs", "Programs", programs::programs(groups, named, again)),
            section("transitions", "Transitions", success::transitions(groups)),
            section("search", "Search", curves::curves(store, groups)?),
            section("runs", "Runs", runs::runs(groups, again)),
        ];
        let fact = |name: &str, value: String| (name.to_string(), value);
        Ok(Document {
            title: "Discovered algorithms".into(),
            lead: format!(
                "What {} of {} found, how surely, and at what price.",
                counted(count, "run"),
                counted(curricula.len(), "curriculum")
            ),
            sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
            colophon: vec![
                fact("made by", format!("rl4rla {}", crate::VERSION)),
                fact("with", format!("`{}`", again(command))),
            ],
        })
    }
}

/// A number of things, in words.
pub fn counted(count: usize, thing: &str) -> String {
    match (count, thing) {
        (1, thing) => format!("1 {thing}"),
        (count, "curriculum") => format!("{count} curricula"),
        (count, thing) => format!("{count} {thing}s"),
    }
}
