//! Programs in a curriculum: a catalogue name, or a text.

use super::error::SpecError;
use super::reader::TableItem;
use crate::problem::{Family, Task};
use crate::program::{Entry, Program};

/// A program in a curriculum.
pub(super) struct Written {
    /// The program itself.
    pub program: Program,
    /// Its name in the catalogue.
    pub name: Option<&'static str>,
    /// The task it declares, if any.
    pub task: Option<&'static dyn Task>,
}

/// Reads a program: a catalogue name, or its text.
pub(super) fn program(item: &TableItem) -> Result<Written, SpecError> {
    // Every text has a heading such as `iteration:`, and no name contains a colon.
    let (document, name) = match item.string()?.contains(':') {
        true => (item.document()?, None),
        false => {
            let entries: Vec<&'static Entry> = Entry::known().collect();
            let entry = item.one_of(&entries, |entry| entry.name.into())?;
            (entry.document.clone(), Some(entry.name))
        }
    };
    let task = match document.family.is_empty() {
        true => None,
        false => Some(<dyn Task>::of(&document).map_err(|misfit| item.error(misfit.to_string()))?),
    };
    Ok(Written { program: document.program, name, task })
}

/// Rejects a program that declares another task than that of the problems.
pub(super) fn refuse_other_task(
    item: &TableItem,
    family: &Family,
    what: &str,
    task: Option<&'static dyn Task>,
) -> Result<(), SpecError> {
    let own = family.kind.info().task;
    match task.filter(|task| *task != own) {
        None => Ok(()),
        Some(other) => {
            let (kind, own, other) = (family.kind, own.name(), other.name());
            let message = format!(
                "problems of the family `{kind}` belong to the task `{own}`, but {what} is made for the task `{other}`"
            );
            Err(item.error(message).advise(format!("a program for the task `{own}`, or another family")))
        }
    }
}
