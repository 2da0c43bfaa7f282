//! Curricula built in code. A builder generates the TOML that a user would write and parses it, so that both have the
//! same keys and checks, and a stored run has its text.

use super::{Curriculum, SpecError};
use crate::problem::Family;
use toml::{Table, Value};

/// A curriculum under construction; see [`Curriculum::builder`].
#[derive(Clone, Debug)]
#[must_use = "a curriculum is made by `build`"]
pub struct CurriculumBuilder {
    name: String,
    keys: Table,
    stages: Vec<StageBuilder>,
}

/// A stage under construction.
#[derive(Clone, Debug)]
#[must_use = "a stage is added to a curriculum by `CurriculumBuilder::stage`"]
pub struct StageBuilder {
    keys: Table,
    family: Option<Family>,
}

impl Curriculum {
    /// Begins a curriculum in code.
    ///
    /// ```
    /// use rl4rla::curriculum::{Curriculum, StageBuilder};
    /// use rl4rla::problem::Family;
    /// let small = Family { rows: 40, cols: 4, ..Family::named("low-cond").unwrap() };
    /// let curriculum = Curriculum::builder("mine")
    ///     .title("Gradient descent, from the empty program")
    ///     .stage(StageBuilder::new("ls-gd").edits(3).family(&small).open(["iteration"]).target("ls-gd"))
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(curriculum.stages[0].0.edits, 3);
    /// // What a builder made can be written to a file and read again.
    /// assert_eq!(Curriculum::parse("mine", &curriculum.text).unwrap().text, curriculum.text);
    /// ```
    pub fn builder(name: &str) -> CurriculumBuilder {
        CurriculumBuilder { name: name.into(), keys: Table::new(), stages: vec![] }.title(name)
    }
}

impl CurriculumBuilder {
    /// Its full title; the name unless set.
    pub fn title(self, title: &str) -> CurriculumBuilder {
        self.set("title", title)
    }

    /// The program that the first stage starts from: a catalogue name, or a program's text.
    pub fn start(self, program: &str) -> CurriculumBuilder {
        self.set("start", program)
    }

    /// Sets any top-level key of the file format.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> CurriculumBuilder {
        self.keys.insert(key.into(), value.into());
        self
    }

    /// Appends a stage.
    pub fn stage(mut self, stage: StageBuilder) -> CurriculumBuilder {
        self.stages.push(stage);
        self
    }

    /// Returns the curriculum, or the line and key of its text that is wrong.
    pub fn build(mut self) -> Result<Curriculum, SpecError> {
        let stages: Vec<Value> = self.stages.iter().map(|stage| stage.keys.clone().into()).collect();
        self.keys.insert("stage".into(), stages.into());
        let curriculum = Curriculum::parse(&self.name, &self.keys.to_string())?;
        // An option that its kind does not take is not written, and must not be lost silently.
        for (built, (stage, _)) in self.stages.iter().zip(&curriculum.stages) {
            if built.family.is_some_and(|family| stage.families != [family]) {
                return Err(SpecError {
                    line: 1,
                    place: format!("stage `{}`", stage.name),
                    key: "family".into(),
                    message: "it has options that its kind does not take".into(),
                    advice: Some("`rl4rla list families` shows which each takes".into()),
                });
            }
        }
        Ok(curriculum)
    }
}

impl StageBuilder {
    /// A stage of this name. `edits` and `family` have no default.
    pub fn new(name: &str) -> StageBuilder {
        StageBuilder { keys: Table::new(), family: None }.set("name", name)
    }

    /// Maximum number of edits of the search.
    pub fn edits(self, edits: u8) -> StageBuilder {
        self.set("edits", i64::from(edits))
    }

    /// The family that problems are drawn from.
    pub fn family(self, family: &Family) -> StageBuilder {
        let keys = Value::try_from(family).expect("a family is a table of numbers and words");
        StageBuilder { family: Some(*family), ..self.set("family", keys) }
    }

    /// Where edits may be made: `setup`, `iteration`, or `forward` and `update`, the parts of an iteration.
    pub fn open<const N: usize>(self, sections: [&str; N]) -> StageBuilder {
        self.set("open", sections.to_vec())
    }

    /// The operators that the search may use, by name; all of the task's unless set.
    pub fn operators<const N: usize>(self, names: [&str; N]) -> StageBuilder {
        self.set("operators", names.to_vec())
    }

    /// The registers that the search may use besides the inputs.
    pub fn registers<const N: usize>(self, names: [&str; N]) -> StageBuilder {
        self.set("registers", names.to_vec())
    }

    /// The step size; the best of a grid unless set.
    pub fn step(self, step: f64) -> StageBuilder {
        self.set("step", step)
    }

    /// The target that the result is judged against; the search never sees it.
    pub fn target(self, program: &str) -> StageBuilder {
        self.set("target", program)
    }

    /// Sets any key of a stage of the file format.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> StageBuilder {
        self.keys.insert(key.into(), value.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_builder_makes_what_the_same_toml_makes() {
        let family =
            Family { rows: 40, cols: 4, condition: Some(10.0), ..Family::named("mid-cond").unwrap() };
        let stage = StageBuilder::new("ls-gd").edits(3).family(&family).open(["iteration"]).registers(["v1"]);
        let built = Curriculum::builder("mine")
            .title("Gradient descent")
            .stage(stage.step(0.5).set("batch", 7).operators(["MAT_VEC_MUL", "VEC_VEC_SUB", "VEC_MAT_MUL"]))
            .build()
            .unwrap();
        let text = "title = \"Gradient descent\"\n[[stage]]\nname = \"ls-gd\"\nedits = 3\nopen = [\"iteration\"]\n\
                    registers = [\"v1\"]\nstep = 0.5\nbatch = 7\n\
                    operators = [\"MAT_VEC_MUL\", \"VEC_VEC_SUB\", \"VEC_MAT_MUL\"]\n\
                    family = { kind = \"mid-cond\", rows = 40, cols = 4, condition = 10.0 }\n";
        let read = Curriculum::parse("mine", text).unwrap();
        let [built, read] = [built, read].map(|curriculum| {
            let [(stage, _)] = &curriculum.stages[..] else { panic!("one stage") };
            format!("{} {stage:?}", curriculum.title)
        });
        assert_eq!(built, read);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let family = Family::named("low-cond").unwrap();
        let stage = || StageBuilder::new("one").edits(1).family(&family);
        let error = Curriculum::builder("mine").stage(stage().set("edit", 3)).build().unwrap_err();
        assert!(error.to_string().contains("`edit`"), "{error}");
        let error = Curriculum::builder("mine").stage(stage()).stage(stage()).build().unwrap_err();
        assert!(error.to_string().contains("an earlier stage is named `one`"), "{error}");
        assert!(Curriculum::builder("mine").build().is_err(), "no stage");
        let lost = Family { outside: 0.5, ..Family::named("logistic").unwrap() };
        let error = Curriculum::builder("mine").stage(stage().family(&lost)).build().unwrap_err();
        assert!(error.to_string().contains("options"), "{error}");
    }
}
