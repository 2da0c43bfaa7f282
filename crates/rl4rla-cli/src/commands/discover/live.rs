//! Progress display of a run.

use crate::failure::Failure;
use crate::interrupt::stopped;
use crate::{page, progress};
use rl4rla::curriculum::{Curriculum, StageResult};
use rl4rla::discovery::{Approach, Observer, Progress, RewardKey};
use rl4rla::record::StageRecord;
use rl4rla::store::Recorder;

/// Records a run and shows its progress.
pub struct Live<'a> {
    recorder: Recorder<'a>,
    curriculum: &'a Curriculum,
    approach: &'a Approach,
}

impl<'a> Live<'a> {
    /// Shows the progress of the recorded run.
    pub fn new(recorder: Recorder<'a>, curriculum: &'a Curriculum, approach: &'a Approach) -> Live<'a> {
        Live { recorder, curriculum, approach }
    }

    /// Ends the display; returns the error of the store, if any.
    pub fn close(self) -> Result<(), Failure> {
        Ok(self.recorder.close()?)
    }

    fn message(&self, progress: &Progress) -> String {
        let counters = &progress.counters;
        let budget = self.approach.tuning(&self.curriculum.stages[progress.stage].0).budget;
        let mut message = format!(
            "{} · playout {} of at most {budget} · {} evaluations",
            self.title(progress.stage),
            counters.playouts,
            counters.evaluations
        );
        if let Some(best) = &progress.best {
            let last = best.program.instructions().last().map(|(_, _, ins)| ins.to_string());
            message += &format!(
                " · best {} with {} instructions, … {}",
                page::number(best.reward),
                best.program.len(),
                last.unwrap_or_default()
            );
        }
        if let Some([excess, flops]) = progress.front.ends() {
            let (count, excess, flops) = (progress.front.len(), page::number(excess), page::number(flops));
            message += &format!(" · Pareto front of {count}: excess from {excess}, flops from {flops}");
        }
        message
    }

    fn title(&self, number: usize) -> String {
        format!(
            "stage {} of {} · {}",
            number + 1,
            self.curriculum.stages.len(),
            self.curriculum.stages[number].0.name
        )
    }
}

impl Observer for Live<'_> {
    fn evaluated(&mut self, record: RewardKey, value: f64) {
        self.recorder.evaluated(record, value);
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        progress::update(|| self.message(progress));
        self.recorder.continues(progress) && !stopped()
    }

    fn begins(&mut self, number: usize) {
        progress::doing(format!("{} · drawing instances", self.title(number)));
        self.recorder.begins(number);
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        self.recorder.ended(number, result);
        self.recorder.stage(number, &StageRecord::new(&self.curriculum.stages[number].0, result));
        let mark = if result.found() { '✓' } else { '✗' };
        let (reward, time) = (page::number(result.reward()), page::duration(result.seconds));
        let front = result.attempt.front.len();
        let title = self.title(number);
        progress::done(format!(
            "{mark} {title} · reward {reward} · {time} · Pareto front of {front} programs"
        ));
    }
}
