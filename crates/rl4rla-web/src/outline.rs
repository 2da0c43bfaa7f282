//! What a run sets out to do: its stages.

use rl4rla::curriculum::Curriculum;
use rl4rla::experiment::SearchSettings;
use rl4rla::program::{Document, equation};
use rl4rla::store::Run;

/// The stages of a run; none for an exploration, and for a curriculum that this build cannot read.
pub struct RunOutline {
    curriculum: Option<Curriculum>,
    settings: Option<SearchSettings>,
}

impl RunOutline {
    /// The outline of a run.
    pub fn of(run: &Run) -> RunOutline {
        let settings: Option<SearchSettings> = serde_json::from_str(&run.settings).ok();
        let curriculum = Curriculum::outline(&run.row.curriculum, &run.spec).ok();
        let curriculum = curriculum.map(|curriculum| match &settings {
            Some(settings) => settings.apply(curriculum),
            None => curriculum,
        });
        RunOutline { curriculum, settings }
    }

    /// The curriculum, as the run's settings change it, and these settings.
    pub fn parts(&self) -> Option<(&Curriculum, &SearchSettings)> {
        self.curriculum.as_ref().zip(self.settings.as_ref())
    }

    fn stages<T>(&self, of: impl Fn(&rl4rla::discovery::Stage) -> T) -> Vec<T> {
        self.curriculum.iter().flat_map(|curriculum| &curriculum.stages).map(|(stage, _)| of(stage)).collect()
    }

    /// The names of the stages.
    pub fn names(&self) -> Vec<String> {
        self.stages(|stage| stage.name.clone())
    }

    /// Their numbers of edits.
    pub fn edits(&self) -> Vec<usize> {
        self.stages(|stage| stage.edits)
    }

    /// The most playouts of each.
    pub fn budgets(&self) -> Vec<u64> {
        self.settings
            .iter()
            .flat_map(|settings| self.stages(|stage| settings.approach.tuning(stage).budget))
            .collect()
    }

    /// The equation of a program of a stage.
    pub fn equation(&self, stage: usize, program: &str) -> Option<String> {
        let (stage, _) = self.curriculum.as_ref()?.stages.get(stage)?;
        let program = program.parse::<Document>().ok()?.program;
        Some(equation(&program, stage.grammar.signature).ok()?.text)
    }
}
