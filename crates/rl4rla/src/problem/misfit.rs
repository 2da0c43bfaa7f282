//! The task of a program, and why it does not fit the problem.

use super::family::Family;
use super::linear::Linear;
use super::task::Task;
use crate::program::{Document, Update};
use std::fmt;

/// Why a program does not fit a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// The family in its header belongs to another task.
    OtherTask {
        /// The task of that family.
        made_for: &'static str,
        /// The task of the problem.
        asked: &'static str,
    },
    /// Its update differs from that of the task.
    OtherUpdate {
        /// Its update.
        own: Update,
        /// The task of the problem.
        asked: &'static str,
        /// The update of the task.
        update: Update,
    },
    /// The family in its header does not exist.
    NoFamily(String),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Misfit::OtherTask { made_for, asked } => {
                write!(
                    f,
                    "the program is made for the task `{made_for}`, but the problem belongs to the task `{asked}`"
                )
            }
            Misfit::OtherUpdate { own, asked, update } => write!(
                f,
                "the program uses the update {}, but the task `{asked}` needs {}; `family:` in its header selects its \
                 task",
                own.formula(),
                update.formula()
            ),
            Misfit::NoFamily(name) => {
                write!(f, "the program header says `family: {name}`, but there is no such family")
            }
        }
    }
}

impl std::error::Error for Misfit {}

impl dyn Task {
    /// The task of a program: that of the family in its header, or linear systems by default.
    pub fn of(document: &Document) -> Result<&'static dyn Task, Misfit> {
        let task = match (document.family.as_str(), Family::named(&document.family)) {
            ("", _) => &Linear,
            (_, Some(family)) => family.kind.info().task,
            (name, None) => return Err(Misfit::NoFamily(name.into())),
        };
        task.admit(document).map(|()| task)
    }

    /// Whether a program fits this task. A program without a family is accepted if its update fits.
    pub fn admit(&self, document: &Document) -> Result<(), Misfit> {
        let asked = self.name();
        let family = Family::named(&document.family);
        if !document.family.is_empty() {
            let family = family.ok_or_else(|| Misfit::NoFamily(document.family.clone()))?;
            let made_for = family.kind.info().task;
            if made_for != self {
                return Err(Misfit::OtherTask { made_for: made_for.name(), asked });
            }
        }
        match document.update == self.update() {
            true => Ok(()),
            false => Err(Misfit::OtherUpdate { own: document.update, asked, update: self.update() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Eigenvalue, Logistic};
    use crate::program::{CATALOGUE, Entry};

    #[test]
    fn every_named_program_has_one_task() {
        for entry in CATALOGUE.iter() {
            let task = <dyn Task>::of(&entry.document).unwrap();
            assert!(task.admit(&entry.document).is_ok(), "{}", entry.name);
            let others: [&dyn Task; 3] = [&Linear, &Logistic, &Eigenvalue];
            for other in others.into_iter().filter(|other| *other != task) {
                let misfit = other.admit(&entry.document).unwrap_err().to_string();
                assert!(misfit.contains(task.name()) && misfit.contains(other.name()), "{misfit}");
            }
        }
    }

    #[test]
    fn a_head_that_says_nothing_means_linear_systems() {
        let bare = |text: &str| text.parse::<Document>().unwrap();
        let plain = bare("iteration:\n v1 = VEC_MAT_MUL(b, A)\n");
        assert_eq!(<dyn Task>::of(&plain).unwrap().name(), "linear");
        assert!((&Logistic as &dyn Task).admit(&plain).is_ok());
        let assigned = bare("update: assign\niteration:\n v1 = MAT_VEC_MUL(A, x)\n");
        assert!(<dyn Task>::of(&assigned).unwrap_err().to_string().contains("x ← v1"));
        let unknown =
            Document { family: "logistics".into(), ..Entry::named("newton").unwrap().document.clone() };
        assert_eq!(<dyn Task>::of(&unknown), Err(Misfit::NoFamily("logistics".into())));
    }
}
