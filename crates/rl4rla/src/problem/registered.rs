//! The tasks and families there are: the built-in ones, and those that programs have added.

use super::family::{Family, FamilyInfo, FamilyKind};
use super::task::Task;
use super::{eigenvalue, linear, logistic, low_rank, ridge, spd};
use crate::program::{Document, Entry, Op, ParseError, Registry, Taken, check};
use std::fmt;

const BUILTIN: [&dyn Task; 8] = [
    &linear::Linear,
    &logistic::Logistic,
    &logistic::Forward,
    &logistic::RidgeLogistic,
    &eigenvalue::Eigenvalue,
    &low_rank::LowRank,
    &ridge::Ridge,
    &spd::Spd,
];

static REGISTERED: Registry<&'static dyn Task> = Registry::new();
/// Families that were added to tasks.
static ADDED: Registry<&'static FamilyInfo> = Registry::new();

/// Every task: built-in and registered ones.
pub fn tasks() -> impl Iterator<Item = &'static dyn Task> {
    BUILTIN.into_iter().chain(REGISTERED.all())
}

/// Every family of every task, and those that were added.
pub fn families() -> impl Iterator<Item = &'static FamilyInfo> {
    tasks().flat_map(|task| task.families()).chain(ADDED.all())
}

/// Adds a family to a task that is known: from here on curricula and commands may use it.
pub fn register_family(row: &'static FamilyInfo) -> Result<(), TaskError> {
    let refused = |why: &str| Err(TaskError(format!("family `{}`: {why}", row.name)));
    if !tasks().any(|task| task == row.task) {
        return refused("its task is not registered");
    }
    if row.numbers.len() > 3 {
        return refused("it takes at most three numbers");
    }
    if tasks().flat_map(|task| task.families()).any(|known| known.name == row.name) {
        return refused("the name is taken");
    }
    match ADDED.add(row, |known| known.name == row.name, std::iter::empty()) {
        Ok(_) => Ok(()),
        Err(Taken) => refused("the name is taken"),
    }
}

/// Why a task cannot be registered.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskError(String);

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TaskError {}

/// Registers a task: from here on curricula may use its families, programs may use its operators, and its programs
/// are in the catalogue.
pub fn register(task: &'static dyn Task) -> Result<(), TaskError> {
    let taken =
        |what: &str, name: &str| TaskError(format!("task `{}`: {what} `{name}` is taken", task.name()));
    // All names are checked before anything is registered.
    if let Some(row) = task.families().iter().find(|row| row.task != task || row.numbers.len() > 3) {
        let why = format!("family `{}` must name this task and take at most three numbers", row.name);
        return Err(TaskError(format!("task `{}`: {why}", task.name())));
    }
    if tasks().any(|known| known.name() == task.name()) {
        return Err(taken("the task's name", task.name()));
    }
    let families = task.families().iter().find(|row| families().any(|known| known.name == row.name));
    if let Some(row) = families {
        return Err(taken("the family name", row.name));
    }
    // Operators already in the tables may be shared.
    let own = || task.operators().iter().filter(|row| !Op::known().any(|known| std::ptr::eq(known.0, *row)));
    if let Some(row) = own().find(|row| Op::named(row.name).is_some()) {
        return Err(taken("the operator", row.name));
    }
    if let Some((name, _)) = task.programs().iter().find(|(name, _)| Entry::named(name).is_some()) {
        return Err(taken("the program's name", name));
    }
    // Programs cannot be read before their operators are known.
    for row in own() {
        Op::register(row).map_err(|Taken| taken("the operator", row.name))?;
    }
    let mut programs = Vec::new();
    for (name, text) in task.programs() {
        let document = checked(task, text)
            .map_err(|why| TaskError(format!("task `{}`, program `{name}`: {why}", task.name())))?;
        programs.push((*name, document));
    }
    REGISTERED
        .add(task, |known| known.name() == task.name(), BUILTIN.into_iter())
        .map_err(|Taken| taken("the task's name", task.name()))?;
    for (name, document) in programs {
        Entry::register(name, document).map_err(|Taken| taken("the program's name", name))?;
    }
    Ok(())
}

/// A program of a task, if it can be parsed, has the task's update, and fits the shapes of one of its families.
fn checked(task: &dyn Task, text: &str) -> Result<Document, String> {
    let document: Document = text.parse().map_err(|error: ParseError| error.to_string())?;
    if document.update != task.update() {
        let (written, wanted) = (document.update.name(), task.update().name());
        return Err(format!(
            "its update is `{written}`, the task's `{wanted}`; write `update: {wanted}` in its header"
        ));
    }
    let signatures = || task.families().iter().map(|row| Family::new(FamilyKind(row)).signature());
    let misfit = |signature| check(&document.program, signature).err();
    match signatures().map(misfit).collect::<Option<Vec<_>>>() {
        Some(misfits) if !misfits.is_empty() => Err(misfits[0].to_string()),
        _ => Ok(document),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::program::{CATALOGUE, Update};
    use crate::rng::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_families_know_their_task() {
        let names: BTreeSet<&str> = families().map(|row| row.name).collect();
        assert_eq!(names.len(), families().count());
        for task in tasks() {
            assert!(task.families().iter().all(|row| row.task == task), "{task:?}");
        }
        assert!(register(&linear::Linear).is_err());
    }

    #[test]
    fn every_catalogue_program_fits_the_family_it_names() {
        for entry in CATALOGUE.iter() {
            let family = Family::named(&entry.document.family).unwrap_or_else(|| panic!("{}", entry.name));
            assert_eq!(family.kind.info().task.update(), entry.document.update, "{}", entry.name);
            let fits = crate::program::check(&entry.document.program, family.signature());
            assert!(fits.is_ok(), "{}: {fits:?}", entry.name);
        }
    }

    #[test]
    fn every_family_draws_what_its_task_can_measure() {
        for row in families() {
            let mut family = Family::named(row.name).unwrap();
            (family.rows, family.cols) = if row.square { (6, 6) } else { (200, 4) };
            let instance = family.draw(&Stream::new(1)).unwrap();
            let start = match row.task.update() {
                Update::Answer => vec![0.5; 200],
                Update::Basis => vec![],
                Update::Subtract | Update::Assign => instance.start.clone(),
            };
            let (loss, excess) = instance.measure(&start);
            assert!(loss.is_finite() && excess > 0.0, "{}: {loss} {excess}", row.name);
            assert!(
                instance.measure(&instance.x_star).1 < 1e-9
                    || row.task.update() == Update::Answer
                    || instance.attainable() == 0.0,
                "{}",
                row.name
            );
        }
    }
}
