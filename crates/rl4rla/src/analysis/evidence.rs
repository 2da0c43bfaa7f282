//! Measurements on an instance where a program failed, from which the failure mode is diagnosed.
#![allow(non_snake_case)]

use super::iteration::Nature;
use super::spectrum::Spectrum;
use super::study::{Care, Study, StudyPoint};
use crate::execute::{Limits, RunSettings, run, snapshots};
use crate::linalg;
use crate::problem::{Family, Instance};
use crate::program::{Core, Datum, Instruction, Meaning, Program, Reg, Section};
use crate::reward::draws;
use crate::rng::{Discrete, Stream};
use serde::Serialize;

/// The distribution by which rows are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSampling {
    /// Uniformly.
    Uniform,
    /// In proportion to the squared row norms of A.
    RowNorms,
    /// Any other distribution.
    Other,
}

/// How a program samples rows, and how well that matches the leverage scores.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SamplingEvidence {
    /// The sampling distribution.
    pub law: RowSampling,
    /// Whether rows are sampled once in setup, instead of in every iteration.
    pub once: bool,
    /// max ℓᵢ/(n·pᵢ) with leverage scores ℓᵢ and probabilities pᵢ: 1 for leverage score sampling.
    pub mismatch: f64,
    /// max ℓᵢ/(k·pᵢ): above 1, a sample of k rows is likely to miss a row of high leverage.
    pub oversight: f64,
}

/// Measurements on an instance.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evidence {
    /// The excess at the start.
    pub start: f64,
    /// The excess after T iterations; `None` if the run failed.
    pub end: Option<f64>,
    /// The median excess on the study's own family.
    pub typical: f64,
    /// ε, the tolerance.
    pub tolerance: f64,
    /// The actual κ of the instance.
    pub kappa: Option<f64>,
    /// Weight of the component of b outside the range of A.
    pub outside: f64,
    /// ρ(G) of a stationary method.
    pub radius: Option<f64>,
    /// The step size below which a stationary method converges.
    pub stable: Option<f64>,
    /// T, the number of iterations.
    pub iterations: usize,
    /// How rows are sampled, if they are.
    pub sampled: Option<SamplingEvidence>,
    /// The excess of the same program on the same instance with all rows in place of samples; `None` if that cannot
    /// be run.
    pub unsampled: Option<f64>,
    /// Rows of a sample per column of A.
    pub batch_factor: f64,
    /// Rows of a sketch per column of A, if the program sketches.
    pub sketch_factor: Option<f64>,
    /// Whether the program multiplies a matrix by its own transpose.
    pub gram: bool,
}

impl Evidence {
    /// The measurements for a study's program at a point; `None` if the instance cannot be drawn.
    pub fn of(study: &Study, nature: Nature, typical: f64, point: &StudyPoint) -> Option<Evidence> {
        let StudyPoint { family, seed } = *point;
        let instance = study.instance(&family, seed, 0).ok()?;
        let (settings, stream) = (study.settings(&family), draws(seed, 0, 0));
        let program = study.live.program();
        let end =
            run(program, &instance, &settings, &stream).ok().and_then(|trace| trace.excesses.last().copied());
        let alike = Study { care: Care { seed, ..study.care }, ..study.clone() };
        let spectrum =
            (nature == Nature::Stationary).then(|| Spectrum::of(&alike, &family, &instance, 0)).flatten();
        let sketches = Section::BOTH.iter().any(|section| study.draws_in(*section)[1]);
        let per_column = |rows: usize| rows as f64 / family.cols as f64;
        Some(Evidence {
            start: instance.measure_start().1,
            end,
            typical,
            tolerance: study.care.tolerance,
            kappa: instance
                .spectrum()
                .first()
                .zip(instance.spectrum().last())
                .map(|(most, least)| most / least),
            outside: family.outside,
            radius: spectrum.as_ref().map(|spectrum| spectrum.radius(study.step)),
            stable: spectrum.as_ref().map(Spectrum::stable),
            iterations: settings.iterations,
            sampled: sampled(study, &instance, &point.family, seed),
            unsampled: unsampled(study, &instance, &settings, &stream),
            batch_factor: per_column(settings.batch),
            sketch_factor: sketches.then(|| per_column(settings.sketch_rows)),
            gram: program.instructions().any(|(_, _, ins)| squares(ins)),
        })
    }
}

/// Maximum flops of one operation without sampling: operations meant for a few rows may be expensive on all.
const AFFORDABLE: f64 = 2e7;

/// The excess after T iterations if every sample is replaced by all rows.
fn unsampled(study: &Study, instance: &Instance, settings: &RunSettings, stream: &Stream) -> Option<f64> {
    let mut program = study.live.program().clone();
    let before = program.len();
    for section in Section::BOTH {
        program.section_mut(section).retain(|ins| !ins.op.samples());
    }
    let limits = Limits { flops: AFFORDABLE, ..settings.limits };
    let settings = RunSettings { limits, ..settings.clone() };
    let run = (program.len() < before).then(|| run(&program, instance, &settings, stream).ok()).flatten();
    run.and_then(|trace| trace.excesses.last().copied())
}

/// Whether an instruction multiplies a matrix by its own transpose.
fn squares(Instruction { op, operands, .. }: &Instruction) -> bool {
    let product = op.is(Core::MatMatTransMul) || op.is(Core::MatTransMatMul);
    op.meaning == Meaning::Gram || product && operands[0] == operands[1]
}

fn sampled(study: &Study, instance: &Instance, family: &Family, seed: u64) -> Option<SamplingEvidence> {
    let program = study.live.program();
    let once = study.draws_in(Section::Setup)[0];
    if !once && !study.draws_in(Section::Iteration)[0] {
        return None;
    }
    let settings = RunSettings { iterations: 0, ..study.settings(family) };
    let update = instance.task.update();
    let after_setup =
        snapshots(program, instance, update, &settings, None, &draws(seed, 0, 0)).into_iter().next()?;
    let probabilities = match &after_setup[Reg::P1.index()] {
        Some(Datum::Weights(law)) if law.len() == instance.rows() => law.clone(),
        _ => return None,
    };
    let worst = most_overlooked(instance, &probabilities);
    let per = |count: f64| worst / count;
    Some(SamplingEvidence {
        law: law(program),
        once,
        mismatch: per(instance.cols() as f64),
        oversight: per(settings.batch as f64),
    })
}

/// max ℓᵢ/pᵢ, where the leverage score ℓᵢ = ‖qᵢ‖² is the squared row norm of an orthonormal basis of the range of A.
fn most_overlooked(instance: &Instance, probabilities: &Discrete) -> f64 {
    let Q = linalg::thin_q(&instance.A);
    let score = |i: usize| Q.row(i).iter().map(|q| q * q).sum::<f64>();
    (0..instance.rows()).map(|i| score(i) / probabilities.probability(i)).fold(0.0, f64::max)
}

/// The sampling distribution of a program.
fn law(program: &Program) -> RowSampling {
    let written = program.instructions().filter(|(_, _, ins)| ins.target == Some(Reg::P1)).last();
    match written {
        None => RowSampling::Uniform,
        Some((_, _, ins)) if ins.op.is(Core::LeverageScore) && ins.operands[..] == [Reg::A] => {
            RowSampling::RowNorms
        }
        Some(_) => RowSampling::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;
    use crate::problem::Leverage;

    fn seen(name: &str, leverage: Leverage) -> SamplingEvidence {
        let study = study(name, "mid-cond", (1000, 5), &[1e4], Some(0.2));
        let point = StudyPoint { family: Family { leverage, ..study.family }, seed: 0 };
        Evidence::of(&study, Nature::Randomised, 0.0, &point).unwrap().sampled.unwrap()
    }

    #[test]
    fn coherent_rows_are_overlooked_by_their_norms() {
        let by_norms = seen("precond-weighted-sgd", Leverage::Coherent);
        assert_eq!((by_norms.law, by_norms.once), (RowSampling::RowNorms, false));
        // ℓ = 1 and p = σmin²/‖A‖² < 1/κ².
        assert!(by_norms.oversight > 1e5, "{by_norms:?}");
        let uniform = seen("sketched-precond-sgd", Leverage::Coherent);
        assert_eq!(uniform.law, RowSampling::Uniform);
        assert!((uniform.oversight - 10.0).abs() < 1e-9, "ℓ = 1, k·p = 100/1000: {uniform:?}");
        assert!(seen("sketched-precond-sgd", Leverage::Low).oversight < 1.0);
    }
}
