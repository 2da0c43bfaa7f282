//! FunSearch's scalar score, as the paper's appendix describes its fixed harness: one batch of four systems, the
//! reward of the released formulas on each, and a weighted mean of the four.
//!
//! S = 0.15·R(PSD) + 0.25·R(LOW) + 0.35·R(MID) + 0.25·R(HIGH),  each R with weights (1, 10, 8, 1)
//!
//! The paper scales by these weights "before averaging across the batch"; they sum to 1, so the sum is the mean. A
//! quarter of it would rank candidates the same way. Every candidate, program or routine, ends after ten iterations
//! or at the tolerance, and is charged for the iterations it made, relative to the maximum of ten: rel =
//! flops/(10·m·n).

use super::accuracy::accuracy;
use super::complexity::complexity;
use super::decay::decay;
use super::evaluation::draws;
use super::profile::Profile;
use super::score::Protocol;
use super::step_rule::{PAPER_GRID, StepRule};
use super::weights::Terms;
use crate::baseline::{Baseline, Request};
use crate::execute::run;
use crate::linalg;
use crate::problem::{Family, FamilyError, Instance, InstanceSet, Leverage, Right, Scale};
use crate::program::{Canonical, Model, Program, ProgramCost};

/// Iteration limit of a candidate.
const ITERATIONS: usize = 10;
/// Tolerance of candidates; a program ends when ‖Ax − b‖ is below it, as the retained routine does.
const TOLERANCE: f64 = 1e-6;

/// One fixed batch of four systems: PSD 5×5, then LOW, MID and HIGH at 10000×50, with high leverage and a Student-t right
/// factor, scaled as the released code leaves them.
pub struct FunSearchBatch {
    /// The systems with their weights, which sum to 1.
    pub systems: [(f64, Instance); 4],
    /// The tolerance at which candidates stop, 10⁻⁶; at 0 they make all ten iterations.
    pub tolerance: f64,
    seed: u64,
}

/// The score of a candidate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FunSearchScore {
    /// The reward on each system; `None` where the candidate cannot run, which counts as 0 in the total.
    pub rewards: [Option<f64>; 4],
    /// Their weighted mean.
    pub total: f64,
}

impl FunSearchBatch {
    /// The families of the batch with their weights.
    pub fn families() -> [(f64, Family); 4] {
        [(0.15, "psd"), (0.25, "low-cond"), (0.35, "mid-cond"), (0.25, "high-cond")].map(|(weight, name)| {
            let mut family = Family::named(name).expect("a family of the table");
            family.scale = Scale::Raw;
            if !family.kind.info().square {
                (family.leverage, family.right) = (Leverage::High, Right::StudentT);
            }
            (weight, family)
        })
    }

    /// Draws the batch; all four systems share the seed.
    pub fn draw(seed: u64) -> Result<FunSearchBatch, FamilyError> {
        FunSearchBatch::of(FunSearchBatch::families(), seed)
    }

    fn of(families: [(f64, Family); 4], seed: u64) -> Result<FunSearchBatch, FamilyError> {
        let stream = InstanceSet::Final.stream(seed, 0);
        let draw =
            |(weight, family): &(f64, Family)| family.draw(&stream).map(|instance| (*weight, instance));
        let [psd, low, mid, high] = families.each_ref().map(draw);
        Ok(FunSearchBatch { systems: [psd?, low?, mid?, high?], tolerance: TOLERANCE, seed })
    }

    /// The score of a program; on each system with the step size of the paper's grid that gives the smallest final
    /// residual.
    pub fn score(&self, program: &Program) -> FunSearchScore {
        let protocol = Protocol::new(Profile::paper(), StepRule::Best(PAPER_GRID.to_vec()));
        let protocol = Protocol { iterations: ITERATIONS, ..protocol };
        let live = Canonical::new(program, protocol.live_out);
        self.collect(|instance| {
            let (rows, cols) = (instance.rows(), instance.cols());
            let mut best: Option<Vec<f64>> = None;
            for &step in protocol.step.candidates() {
                let settings = protocol.settings(rows, cols, step);
                let Ok(trace) = run(live.program(), instance, &settings, &draws(self.seed, 0, 0)) else {
                    continue;
                };
                let residuals = until(self.tolerance, trace.residuals, linalg::norm(&instance.b));
                if best.as_ref().is_none_or(|best| residuals.last() < best.last()) {
                    best = Some(residuals);
                }
            }
            let residuals = best?;
            let cost = ProgramCost::of(&live, instance.shape().signature, Model::Released).ok()?;
            let sizes = protocol.settings(rows, cols, 1.0).sizes(rows, cols);
            reward(instance, &residuals, cost.flops(&sizes, residuals.len() - 1))
        })
    }

    /// The score of a baseline; `None` if its flops are not known.
    pub fn score_baseline(&self, baseline: Baseline) -> Option<FunSearchScore> {
        let flops = baseline.info().flops?;
        Some(self.collect(|instance| {
            let residuals = self.history(baseline, instance)?;
            let each = flops(instance.rows() as f64, instance.cols() as f64);
            reward(instance, &residuals, each * (residuals.len() - 1) as f64)
        }))
    }

    /// ‖Ax − b‖/‖b‖ at the start and after every iteration made.
    fn history(&self, baseline: Baseline, instance: &Instance) -> Option<Vec<f64>> {
        let mut residuals = vec![1.0];
        for most in 1..=ITERATIONS {
            let request = Request::new(&instance.A, &instance.b, draws(self.seed, 0, 0));
            let asked = Request { iterations: Some(most), tolerance: Some(self.tolerance), ..request };
            let solution = baseline.solve(&asked).ok()?;
            residuals.push(instance.measure(&solution.x).0);
            if solution.converged {
                break;
            }
        }
        Some(residuals)
    }

    fn collect(&self, reward: impl Fn(&Instance) -> Option<f64>) -> FunSearchScore {
        let rewards = self.systems.each_ref().map(|(_, instance)| reward(instance));
        let earned = self.systems.iter().zip(rewards).map(|((weight, _), r)| weight * r.unwrap_or(0.0));
        FunSearchScore { rewards, total: earned.sum() }
    }
}

/// The history truncated after the first iterate below the tolerance.
fn until(tolerance: f64, mut residuals: Vec<f64>, unit: f64) -> Vec<f64> {
    // The starting point does not count as an iterate.
    if let Some(last) = (1..residuals.len()).find(|&i| residuals[i] * unit < tolerance) {
        residuals.truncate(last + 1);
    }
    residuals
}

/// The released reward for a history of relative residuals and this number of flops.
fn reward(instance: &Instance, residuals: &[f64], flops: f64) -> Option<f64> {
    let loss = *residuals.last()?;
    let unit = (ITERATIONS * instance.rows() * instance.cols()) as f64;
    let comp = complexity(flops / unit, loss, false);
    // The released code counts the condition term as 0 whenever other terms count.
    Profile::paper().weighted(&Terms::new(accuracy(loss), decay(residuals), comp, 0.0))
}

#[cfg(test)]
mod tests {
    use super::super::score::score;
    use super::*;
    use crate::program::Entry;

    /// The batch with fewer rows, to keep tests fast.
    fn batch() -> FunSearchBatch {
        let small = |(weight, mut family): (f64, Family)| {
            if !family.kind.info().square {
                (family.rows, family.cols) = (400, 8);
            }
            (weight, family)
        };
        FunSearchBatch::of(FunSearchBatch::families().map(small), 0).unwrap()
    }

    #[test]
    fn the_batch_is_that_of_the_paper() {
        let families = FunSearchBatch::families();
        let sizes = families.each_ref().map(|(_, family)| (family.rows, family.cols));
        assert_eq!(sizes, [(5, 5), (10_000, 50), (10_000, 50), (10_000, 50)]);
        assert!((families.iter().map(|(weight, _)| weight).sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(
            families[1..].iter().all(|(_, f)| (f.leverage, f.right) == (Leverage::High, Right::StudentT))
        );
        assert!(batch().systems[1..].iter().zip(&batch().systems[1..]).all(|(a, b)| a.1.b == b.1.b));
    }

    #[test]
    fn a_program_that_never_reaches_the_tolerance_earns_the_usual_reward() {
        let batch = batch();
        let program = &Entry::named("block-kaczmarz").unwrap().document.program;
        let protocol = Protocol::new(Profile::paper(), StepRule::Best(PAPER_GRID.to_vec()));
        let earned = batch.score(program);
        let mut total = 0.0;
        for ((weight, instance), reward) in batch.systems.iter().zip(earned.rewards) {
            let usual = score(program, instance, &protocol, &draws(0, 0, 0));
            let last = *usual.outcome.as_ref().unwrap().residuals.last().unwrap();
            if last * linalg::norm(&instance.b) > TOLERANCE {
                assert!((reward.unwrap() - usual.reward).abs() < 1e-12, "{reward:?} and {}", usual.reward);
            }
            total += weight * reward.unwrap();
        }
        assert!((earned.total - total).abs() < 1e-15);
        // Its v1 has m entries and x has n, so it fits square systems only.
        let landweber = batch.score(&Entry::named("landweber").unwrap().document.program);
        assert!(landweber.rewards[0].is_some() && landweber.rewards[1..] == [None; 3], "{landweber:?}");
        assert!((landweber.total - 0.15 * landweber.rewards[0].unwrap()).abs() < 1e-15);
    }

    #[test]
    fn a_program_ends_at_the_tolerance() {
        assert_eq!(until(1e-6, vec![1.0, 0.1, 1e-7, 2e-7], 2.0), [1.0, 0.1, 1e-7]);
        assert_eq!(until(1e-6, vec![1.0, 0.1, 1e-7, 2e-7], 100.0), [1.0, 0.1, 1e-7, 2e-7]);
        assert_eq!(until(1e-6, vec![1.0, 0.1], 1e-9), [1.0, 0.1]);
        // With η = 1 it converges in one iteration, and rounding after that does not reduce the decay term.
        let precond = batch().score(&Entry::named("precond-gd").unwrap().document.program);
        assert!(precond.rewards[1..].iter().all(|reward| reward.unwrap() >= 0.55), "{precond:?}");
        // Without the tolerance it does.
        let endless = FunSearchBatch { tolerance: 0.0, ..batch() };
        let precond = endless.score(&Entry::named("precond-gd").unwrap().document.program);
        assert!(precond.rewards[1..].iter().all(|reward| reward.unwrap() < 0.5), "{precond:?}");
        let funsearch = Baseline::named("funsearch").unwrap();
        assert_eq!(endless.history(funsearch, &endless.systems[1].1).unwrap().len(), 11);
    }

    #[test]
    fn the_splittings_are_scored_by_their_own_flops() {
        let batch = batch();
        assert!(batch.score_baseline(Baseline::named("qr").unwrap()).is_none());
        let jacobi = batch.score_baseline(Baseline::named("jacobi").unwrap()).unwrap();
        assert!(jacobi.rewards[0].unwrap() > 0.0 && jacobi.rewards[1..] == [None; 3], "{jacobi:?}");
        // On 5×5 decay and accuracy are perfect, for 50 + 5 + 133⅓ + 50 + 15 flops per iteration.
        let iterations = |place: usize| {
            let residuals = batch.history(Baseline::named("funsearch").unwrap(), &batch.systems[place].1);
            (residuals.unwrap().len() - 1) as f64
        };
        let comp = |rel: f64| 1.0 / (1.0 + (rel - 5.0).exp() + 1e-4);
        let funsearch = batch.score_baseline(Baseline::named("funsearch").unwrap()).unwrap();
        let expected = (11.0 + 8.0 * comp(760.0 / 75.0 * iterations(0) / 10.0)) / 20.0;
        assert!((funsearch.rewards[0].unwrap() - expected).abs() < 1e-12, "{funsearch:?}");
        // On 400×8: 2mn + m + 2mn² + 4mn + (8/3)n³ + 2mn + 3m flops per iteration.
        let each = (8.0 * 3200.0 + 4.0 * 400.0 + 16.0 * 3200.0 + 512.0 * 8.0 / 3.0) / 3200.0;
        let most = (11.0 + 8.0 * comp(each * iterations(2) / 10.0)) / 20.0;
        assert!((funsearch.rewards[2].unwrap() - most).abs() < 1e-12, "{funsearch:?}");
    }

    #[test]
    fn a_history_is_that_of_the_iterates() {
        let (batch, funsearch) = (batch(), Baseline::named("funsearch").unwrap());
        let instance = &batch.systems[0].1;
        let residuals = batch.history(funsearch, instance).unwrap();
        assert_eq!(residuals[0], 1.0);
        let request = Request::new(&instance.A, &instance.b, draws(0, 0, 0));
        let two = funsearch.solve(&Request { iterations: Some(2), ..request }).unwrap();
        assert_eq!(residuals[2], instance.measure(&two.x).0);
        assert!(residuals.len() <= 1 + ITERATIONS && residuals.windows(2).all(|pair| pair[1] < pair[0]));
    }
}
