//! Curricula: sequences of stages, each with problems on which the previous algorithm fails, read from TOML.

mod audit;
mod builder;
mod builtin;
mod error;
mod keys;
mod reader;
mod replay;
mod run;
mod spec;
mod target;
mod user_table;
mod written;

pub use crate::discovery::{Judgement, StageResult};
pub(crate) use audit::number;
pub use audit::{Audited, audit};
pub use builder::{CurriculumBuilder, StageBuilder};
pub use builtin::BUILTIN;
pub use error::SpecError;
pub use keys::{FAMILY_KEYS, STAGE_KEYS, TOP_KEYS};
pub use replay::Replay;
pub use run::{Discovery, StageStart, discover};
pub use target::Target;

use crate::discovery::Stage;
use crate::program::{IterationPart, Program, RegSet, Section, TypeSystem};
use std::path::Path;
use user_table::Tables;

/// A sequence of stages, each starting from the program found by the previous one.
#[derive(Clone, Debug)]
pub struct Curriculum {
    /// Its name on the command line.
    pub name: String,
    /// Its full name.
    pub title: String,
    /// What it does, in one line.
    pub about: String,
    /// Where it was published.
    pub reference: String,
    /// The program the first stage starts from.
    pub start: Program,
    /// The stages, each with its target, which the search never sees.
    pub stages: Vec<(Stage, Target)>,
    /// The text it was read from.
    pub text: String,
}

impl Curriculum {
    /// Reads a curriculum; the error names the line and the key.
    ///
    /// ```
    /// use rl4rla::curriculum::Curriculum;
    /// let text = r#"
    /// title = "Gradient descent"
    /// [[stage]]
    /// name = "ls-gd"
    /// edits = 2
    /// family = { kind = "low-cond" }
    /// target = "ls-gd"
    /// "#;
    /// assert_eq!(
    ///     Curriculum::parse("mine", text).unwrap_err().to_string(),
    ///     "line 7, stage `ls-gd`, key `target`: it needs 3 insertions but `edits` is 2; none is left for \
    ///      `v1 = VEC_MAT_MUL(v1, A)`; raise `edits`, or add a stage before this one"
    /// );
    /// let curriculum = Curriculum::parse("mine", &text.replace("= 2", "= 3")).unwrap();
    /// assert_eq!(curriculum.stages[0].0.budget, 20_000);
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Curriculum, SpecError> {
        Curriculum::parse_in(Path::new(""), name, text)
    }

    /// The same where paths of tables are relative to a folder that need not be the current one.
    pub fn parse_in(folder: &Path, name: &str, text: &str) -> Result<Curriculum, SpecError> {
        spec::curriculum(name, text, Tables::ReadIn(folder))
    }

    /// The same without reading the tables that its problems are drawn from, for callers that only need the stages.
    /// The tables need not exist.
    pub fn outline(name: &str, text: &str) -> Result<Curriculum, SpecError> {
        spec::curriculum(name, text, Tables::Skip)
    }

    /// The curriculum of this name among [`BUILTIN`].
    pub fn named(name: &str) -> Option<Result<Curriculum, SpecError>> {
        BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| Curriculum::parse(name, text))
    }

    /// The same without the hints of the stages: all operators, and both sections open. The problem, the number of
    /// edits and the registers remain.
    #[must_use]
    pub fn without_hints(mut self) -> Curriculum {
        for (stage, _) in &mut self.stages {
            stage.grammar.operators = stage.families[0].kind.info().task.vocabulary().collect();
            stage.grammar.open = Section::BOTH.to_vec();
            stage.grammar.part = IterationPart::Whole;
            stage.grammar.setup_only = RegSet::EMPTY;
        }
        self
    }

    /// The same with programs checked for units and affine types in every stage whose problems have them.
    #[must_use]
    pub fn with_units(mut self) -> Curriculum {
        for (stage, _) in self.stages.iter_mut().filter(|(stage, _)| stage.has_units()) {
            stage.grammar.types = TypeSystem::Units;
        }
        self
    }
}
