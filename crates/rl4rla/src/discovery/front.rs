//! The Pareto front of all evaluated programs in accuracy, work and stability.

use super::bench::{Bench, Executor, Measured};
use super::stage::Stage;
use crate::clock::wait;
use crate::program::{Canonical, Model, Program, ProgramCost};
use crate::reward::Score;
use crate::statistics::Spread;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The three objectives of a program; smaller is better in each.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tradeoff {
    /// Accuracy: the final excess of a run.
    pub excess: f64,
    /// Work: the floating-point operations of a run.
    pub flops: f64,
    /// Stability: the effective condition number; 1 for tasks without one.
    pub condition: f64,
}

impl Tradeoff {
    /// The objectives as compared: rounded to quarters of a power of ten, since smaller differences are due to
    /// chance. Excesses below double precision are equal.
    fn steps(&self) -> [f64; 3] {
        let step = |value: f64| (4.0 * value.log10()).round();
        [step(self.visible_excess()), self.flops, step(self.condition.max(1.0))]
    }

    /// The excess, or a bound on rounding errors if these hide it.
    fn visible_excess(&self) -> f64 {
        self.excess.max(1e-14)
    }

    /// Whether this is at least as good as the other in every objective.
    pub fn covers(&self, other: &Tradeoff) -> bool {
        self.steps().iter().zip(other.steps()).all(|(own, other)| *own <= other)
    }

    fn is_finite(&self) -> bool {
        [self.excess, self.flops, self.condition].iter().all(|value| value.is_finite())
    }
}

/// A program of the front.
#[derive(Clone, Debug)]
pub struct ParetoEntry {
    /// The program.
    pub program: Program,
    /// Its objectives: medians over the select instances.
    pub tradeoff: Tradeoff,
    /// Its mean reward on the select instances.
    pub reward: f64,
}

/// The Pareto front so far.
#[derive(Clone, Debug, Default)]
pub struct Front {
    points: Vec<(Tradeoff, Program)>,
}

/// Maximum number of programs that are measured again at the end.
const MOST: usize = 64;

impl Front {
    /// Adds a program unless one of the front covers it, and removes those that it covers. Returns whether it was
    /// added.
    pub fn insert(&mut self, tradeoff: Tradeoff, program: &Program) -> bool {
        if !tradeoff.is_finite() || self.points.iter().any(|(known, _)| known.covers(&tradeoff)) {
            return false;
        }
        self.points.retain(|(known, _)| !tradeoff.covers(known));
        self.points.push((tradeoff, program.clone()));
        true
    }

    /// How many programs there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The programs with their objectives, in no particular order.
    pub fn points(&self) -> impl Iterator<Item = (&Tradeoff, &Program)> {
        self.points.iter().map(|(tradeoff, program)| (tradeoff, program))
    }

    /// The smallest excess and the smallest work in the front.
    pub fn ends(&self) -> Option<[f64; 2]> {
        let least =
            |of: fn(&Tradeoff) -> f64| self.points.iter().map(|(point, _)| of(point)).reduce(f64::min);
        Some([least(|point| point.excess)?, least(|point| point.flops)?])
    }

    /// Offers a program by its first run, if that at least halves the excess.
    pub(super) fn notice(&mut self, program: &Program, measured: &Measured, stage: &Stage, bench: &Bench) {
        let sample = measured.seen.unwrap_or_else(|| bench.reward_sample(program, 0));
        if sample.excess <= 0.5 * bench.start(0) {
            let flops = flops_of(program, stage, sample.reached);
            self.insert(Tradeoff { excess: sample.excess, flops, condition: sample.condition }, program);
        }
    }

    /// Measures the programs of the front again on the select instances and returns those that are still not
    /// dominated, the most accurate first.
    pub(super) fn measured(&self, stage: &Stage, bench: &Bench) -> Vec<ParetoEntry> {
        let mut best: Vec<&(Tradeoff, Program)> = self.points.iter().collect();
        // Few if any are left out, and those are the least accurate.
        best.sort_by(|(a, p), (b, q)| a.excess.total_cmp(&b.excess).then_with(|| p.cmp(q)));
        best.truncate(MOST);
        let entries: Vec<ParetoEntry> =
            wait(|| best.par_iter().filter_map(|(_, program)| measure(program, stage, bench)).collect());
        let mut front = Front::default();
        for entry in &entries {
            front.insert(entry.tradeoff, &entry.program);
        }
        let kept = |entry: &ParetoEntry| front.points.iter().any(|(_, program)| *program == entry.program);
        let mut kept: Vec<ParetoEntry> = entries.into_iter().filter(kept).collect();
        kept.sort_by(|a, b| {
            let key = |entry: &ParetoEntry| [entry.tradeoff.visible_excess(), entry.tradeoff.flops];
            key(a).partial_cmp(&key(b)).expect("they are finite").then_with(|| a.program.cmp(&b.program))
        });
        kept
    }
}

/// A program measured on all instances of a bench; `None` if it fails on one.
fn measure(program: &Program, stage: &Stage, bench: &Bench) -> Option<ParetoEntry> {
    let scores: Vec<Score> =
        (0..bench.count()).map(|index| bench.score(program, index, Executor::Reduced)).collect();
    let median = |of: &dyn Fn(&Score) -> f64| {
        Spread::of(scores.iter().map(of)).map_or(f64::NAN, |spread| spread.median)
    };
    let tradeoff = Tradeoff {
        excess: median(&Score::last_excess),
        flops: median(&|score| flops_of(program, stage, score.reached)),
        condition: median(&|score| score.condition),
    };
    let reward = scores.iter().map(|score| score.reward).sum::<f64>() / scores.len() as f64;
    let finished = scores.iter().all(|score| score.outcome.is_ok()) && tradeoff.is_finite();
    finished.then(|| ParetoEntry { program: program.clone(), tradeoff, reward })
}

/// The flops of all iterations of the live code at the stage's size.
pub(super) fn flops(program: &Program, stage: &Stage) -> f64 {
    flops_of(program, stage, None)
}

/// The same, up to the iteration at which the tolerance was reached, if there is one.
fn flops_of(program: &Program, stage: &Stage, reached: Option<usize>) -> f64 {
    let (rows, cols) = (stage.families[0].rows, stage.families[0].cols);
    let live = Canonical::new(program, stage.protocol.live_out);
    let sizes = stage.protocol.settings(rows, cols, 1.0).sizes(rows, cols);
    let cost =
        ProgramCost::of(&live, stage.grammar.signature, Model::True).expect("a candidate fits its shapes");
    cost.flops(&sizes, reached.unwrap_or(stage.protocol.iterations))
}

/// A preference among the programs of a Pareto front.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preference {
    /// Weight of accuracy.
    pub accuracy: f64,
    /// Weight of low work.
    pub speed: f64,
    /// Weight of stability.
    pub stability: f64,
}

impl Preference {
    /// The index of the preferred program: each objective is scaled logarithmically from 0 for the worst of the front
    /// to 1 for the best, and weighted; the first on ties.
    pub fn choose(&self, entries: &[Tradeoff]) -> Option<usize> {
        let scale = |of: fn(&Tradeoff) -> f64| -> Vec<f64> {
            let logs: Vec<f64> = entries.iter().map(|entry| of(entry).log10()).collect();
            let (low, high) =
                logs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            logs.iter().map(|log| if high > low { (high - log) / (high - low) } else { 1.0 }).collect()
        };
        let qualities =
            [scale(Tradeoff::visible_excess), scale(|t| t.flops), scale(|t| t.condition.max(1.0))];
        let weights = [self.accuracy, self.speed, self.stability];
        let worth = |i: usize| weights.iter().zip(&qualities).map(|(w, quality)| w * quality[i]).sum::<f64>();
        (0..entries.len()).reduce(|best, next| if worth(next) > worth(best) + 1e-12 { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        format!("iteration:\n v1 = {text}\n").parse().unwrap()
    }

    fn tradeoff(excess: f64, flops: f64, condition: f64) -> Tradeoff {
        Tradeoff { excess, flops, condition }
    }

    #[test]
    fn what_is_beaten_everywhere_is_not_kept() {
        let mut front = Front::default();
        let any = program("MAT_VEC_MUL(A, x)");
        assert!(front.insert(tradeoff(1e-3, 100.0, 10.0), &any));
        assert!(!front.insert(tradeoff(1e-2, 100.0, 10.0), &any));
        assert!(!front.insert(tradeoff(1.1e-3, 100.0, 10.1), &any), "the difference is chance");
        assert!(!front.insert(tradeoff(f64::NAN, 1.0, 1.0), &any));
        assert!(front.insert(tradeoff(1e-6, 500.0, 10.0), &any));
        assert!(front.insert(tradeoff(1e-2, 100.0, 1.0), &any));
        assert_eq!((front.len(), front.ends()), (3, Some([1e-6, 100.0])));
        assert!(front.insert(tradeoff(1e-9, 50.0, 1.0), &any));
        assert_eq!(front.len(), 1);
    }

    #[test]
    fn the_order_of_offers_does_not_matter() {
        let points: Vec<Tradeoff> = (0..60_u32)
            .map(|i| {
                let part = |k: u32| f64::from((i * k) % 17);
                tradeoff(10_f64.powf(-part(5)), 100.0 + part(7), 10_f64.powf(part(11)))
            })
            .collect();
        let any = program("MAT_VEC_MUL(A, x)");
        let kept = |order: Vec<usize>| {
            let mut front = Front::default();
            for i in order {
                front.insert(points[i], &any);
            }
            let mut kept: Vec<[f64; 3]> = front.points.iter().map(|(point, _)| point.steps()).collect();
            kept.sort_by(|a, b| a.partial_cmp(b).unwrap());
            kept
        };
        let forward = kept((0..60).collect());
        assert_eq!(forward, kept((0..60).rev().collect()));
        assert!(forward.len() > 2);
    }

    #[test]
    fn a_preference_chooses_its_end_of_the_front() {
        let entries = [tradeoff(1e-12, 1e9, 1e2), tradeoff(1e-6, 1e8, 1.0), tradeoff(1e-2, 1e6, 1e4)];
        let choose = |accuracy, speed, stability| Preference { accuracy, speed, stability }.choose(&entries);
        assert_eq!(
            [choose(1.0, 0.0, 0.0), choose(0.0, 1.0, 0.0), choose(0.0, 0.0, 1.0)],
            [Some(0), Some(2), Some(1)]
        );
        assert_eq!(choose(1.0, 1.0, 1.0), Some(1));
        assert_eq!(Preference { accuracy: 1.0, speed: 1.0, stability: 0.0 }.choose(&[]), None);
    }
}
