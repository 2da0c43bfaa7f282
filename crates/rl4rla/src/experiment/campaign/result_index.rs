//! Which tasks have results.

use super::result_file::{self, Damage, ResultKind};

/// Which tasks have results, as the names of their files tell.
#[derive(Clone, Debug)]
pub struct ResultIndex {
    /// For each task a bit for each kind.
    kinds: Vec<u8>,
    /// Files that are no results of this campaign, or second results.
    faults: Vec<(String, Damage)>,
}

impl ResultIndex {
    /// None of so many tasks.
    pub(super) fn new(tasks: u64) -> ResultIndex {
        ResultIndex { kinds: vec![0; tasks as usize], faults: vec![] }
    }

    /// Adds something that is not even a folder of results.
    pub(super) fn add_stray(&mut self, path: String) {
        self.faults.push((path, Damage::Unknown));
    }

    /// Adds what the name of a file in one of the folders tells.
    pub(super) fn add(&mut self, folder: &str, name: &str) {
        let path = format!("{folder}/{name}");
        let Some((task, kind)) = result_file::read_name(folder, name) else {
            return self.faults.push((path, Damage::Unknown));
        };
        match self.kinds.get_mut(task as usize) {
            None => self.faults.push((path, Damage::Unknown)),
            Some(kinds) => {
                // Which of several is right cannot be told. The first is named with the second.
                if kinds.is_power_of_two() {
                    let first = ResultKind::ALL.into_iter().find(|first| *kinds >> *first as u8 & 1 == 1);
                    let first = first.map(|first| (result_file::path_of(task, first), Damage::Double));
                    self.faults.extend(first);
                }
                if *kinds != 0 {
                    self.faults.push((path, Damage::Double));
                }
                *kinds |= 1 << kind as u8;
            }
        }
    }

    /// The result of a task.
    pub fn kind(&self, task: u64) -> Option<ResultKind> {
        let kinds = *self.kinds.get(task as usize)?;
        ResultKind::ALL.into_iter().find(|kind| kinds >> *kind as u8 & 1 == 1)
    }

    /// The tasks with this result.
    pub(super) fn of(&self, kind: ResultKind) -> impl Iterator<Item = u64> {
        (0..self.kinds.len() as u64).filter(move |task| self.kind(*task) == Some(kind))
    }

    /// Takes the tasks that failed for tasks without results; these are their numbers.
    pub fn without_failures(&mut self) -> Vec<u64> {
        let failed: Vec<u64> = self.of(ResultKind::Failed).collect();
        failed.iter().for_each(|task| self.kinds[*task as usize] = 0);
        failed
    }

    /// Takes tasks whose results are unusable for tasks without results; these are all faults that were found.
    pub fn without(&mut self, faults: &[(String, Damage)]) {
        for (path, _) in faults {
            let (folder, name) = path.rsplit_once('/').unwrap_or_default();
            let known = result_file::read_name(folder, name);
            let kinds = known.and_then(|(task, kind)| Some((self.kinds.get_mut(task as usize)?, kind)));
            kinds.into_iter().for_each(|(kinds, kind)| *kinds &= !(1 << kind as u8));
        }
        self.faults.clear();
    }

    /// Files that do not belong there, with the reasons.
    pub fn faults(&self) -> &[(String, Damage)] {
        &self.faults
    }
}
