//! Lessons: what the searches in a store teach, one for every stage that found its target.

use super::{ExperimentError, Monitor, SearchSettings};
use crate::curriculum::{Curriculum, Target};
use crate::discovery::{EditChoice, Stage, demonstration};
use crate::program::{Document, Instruction, Program};
use crate::record::{EXPLORE, RunRecord};
use crate::store::{Run, Store};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A program that a stage found from another, and the runs that found it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// The curriculum.
    pub curriculum: String,
    /// The stage.
    pub stage: String,
    /// The program it started from.
    pub start: String,
    /// The program found.
    pub program: String,
    /// The seeds of the runs.
    pub seeds: BTreeSet<u64>,
    /// Their methods.
    pub methods: BTreeSet<String>,
    /// The versions that computed them.
    pub versions: BTreeSet<String>,
    /// The choices on the way, in every order.
    #[serde(skip)]
    pub choices: Vec<EditChoice>,
}

impl Lesson {
    /// Those of these lessons that give away something about a curriculum: they come from there, their program equals
    /// one of the targets in exact arithmetic, or they pass one on their way, in the order of its instructions.
    pub fn spoiling<'a>(lessons: &[&'a Lesson], curriculum: &Curriculum) -> Vec<&'a Lesson> {
        let equals = |program: Program| {
            let is_target =
                |(stage, target): &(Stage, Target)| target.equals(&program, stage.grammar.signature);
            curriculum.stages.iter().any(is_target)
        };
        // Many lessons have the same program.
        let mut known: BTreeMap<&str, bool> = BTreeMap::new();
        let mut is_target = |lesson: &'a Lesson| {
            let text = lesson.program.as_str();
            let program = || Some(text.parse::<Document>().ok()?.program);
            *known.entry(text).or_insert_with(|| program().is_some_and(equals))
        };
        let passes = |lesson: &Lesson| {
            let [Ok(start), Ok(found)] =
                [&lesson.start, &lesson.program].map(|text| text.parse::<Document>())
            else {
                return false;
            };
            curriculum.stages.iter().map(|(_, target)| target.sought()).any(|target| {
                let is_on_the_way = contains(&target, &start.program) && contains(&found.program, &target);
                is_on_the_way && !contains(&start.program, &target)
            })
        };
        let mut spoils =
            |lesson: &'a Lesson| lesson.curriculum == curriculum.name || is_target(lesson) || passes(lesson);
        lessons.iter().copied().filter(|&lesson| spoils(lesson)).collect()
    }
}

/// Whether insertions lead from a program to this one.
fn contains(whole: &Program, part: &Program) -> bool {
    let in_order = |whole: &[Instruction], part: &[Instruction]| {
        let mut rest = whole.iter();
        part.iter().all(|wanted| rest.any(|instruction| instruction == wanted))
    };
    in_order(&whole.setup, &part.setup) && in_order(&whole.iteration, &part.iteration)
}

/// The lessons of a store.
#[derive(Default)]
pub struct Lessons {
    /// One for every stage, start and program.
    pub lessons: Vec<Lesson>,
    /// The curricula they come from.
    pub curricula: BTreeMap<String, Curriculum>,
    /// The number of runs that ended.
    pub runs: usize,
    /// Those of them that this build cannot learn from, each with the reason.
    pub skipped: Vec<String>,
}

impl Lessons {
    /// The lessons of all runs of curricula in this store that have ended.
    pub fn of(store: &Store, monitor: &dyn Monitor) -> Result<Lessons, ExperimentError> {
        let mut all = Lessons::default();
        let done = store.runs()?.into_iter().filter(|row| row.status.found().is_some());
        for row in done.filter(|row| row.curriculum != EXPLORE) {
            if monitor.stopped() {
                break;
            }
            all.runs += 1;
            monitor.doing(&format!("reading run {} of {}", row.id, row.curriculum));
            let run = store.run(&row.id)?;
            if let Err(reason) = all.add(run) {
                all.skipped.push(format!("run {}: {reason}", row.id));
            }
        }
        Ok(all)
    }

    /// The lessons of a training record with their choices; those of curricula that do not come with the library are
    /// left out.
    pub fn again(record: &[Lesson]) -> Lessons {
        let mut all = Lessons::default();
        for lesson in record {
            let Some(Ok(curriculum)) = Curriculum::named(&lesson.curriculum) else { continue };
            let programs = [&lesson.start, &lesson.program].map(|text| text.parse::<Document>());
            let stage = curriculum.stages.iter().find(|(stage, _)| stage.name == lesson.stage);
            let (Some((stage, _)), [Ok(start), Ok(found)]) = (stage, programs) else { continue };
            let choices = demonstration(&stage.grammar, stage.edits, &start.program, &found.program);
            all.lessons.push(Lesson { choices, ..lesson.clone() });
            all.curricula.entry(curriculum.name.clone()).or_insert(curriculum);
        }
        all
    }

    fn add(&mut self, run: Run) -> Result<(), String> {
        let in_words = |error: &dyn std::fmt::Display| error.to_string();
        let record = run.result.map_err(|error| in_words(&error))?.ok_or("it has no result")?;
        let settings: SearchSettings =
            serde_json::from_str(&run.settings).map_err(|error| in_words(&error))?;
        let curriculum =
            Curriculum::outline(&run.row.curriculum, &run.spec).map_err(|error| in_words(&error))?;
        let curriculum = settings.apply(curriculum);
        let mut start = curriculum.start.clone();
        for (stage, target, result) in (curriculum.stages.iter().zip(&record.stages))
            .map(|((stage, target), result)| (stage, target, result))
        {
            let program = result.parsed();
            if let Some(program) = program.as_ref().filter(|_| result.found) {
                self.learn(&curriculum.name, stage, &start, program, &record);
            }
            start = match program {
                _ if settings.approach.from_targets && !target.is_open() => target.sought(),
                Some(program) => program,
                None => break,
            };
        }
        self.curricula.entry(curriculum.name.clone()).or_insert(curriculum);
        Ok(())
    }

    fn learn(
        &mut self,
        curriculum: &str,
        stage: &Stage,
        start: &Program,
        program: &Program,
        run: &RunRecord,
    ) {
        let update = stage.grammar.signature.update;
        let (start_text, text) = (update.text(start), update.text(program));
        let same = |lesson: &Lesson| {
            (&*lesson.curriculum, &lesson.stage, &lesson.start, &lesson.program)
                == (curriculum, &stage.name, &start_text, &text)
        };
        let place = self.lessons.iter().position(same).unwrap_or_else(|| {
            let choices = demonstration(&stage.grammar, stage.edits, start, program);
            self.lessons.push(Lesson {
                curriculum: curriculum.into(),
                stage: stage.name.clone(),
                start: start_text.clone(),
                program: text.clone(),
                seeds: BTreeSet::new(),
                methods: BTreeSet::new(),
                versions: BTreeSet::new(),
                choices,
            });
            self.lessons.len() - 1
        });
        let lesson = &mut self.lessons[place];
        lesson.seeds.insert(run.seed);
        lesson.methods.insert(run.method.clone());
        lesson.versions.extend(run.build.as_ref().map(|build| build.version.clone()));
    }
}
