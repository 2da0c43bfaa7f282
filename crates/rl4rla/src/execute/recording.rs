//! Recordings: a run with all its random draws, so that other software can repeat it.

use super::failure::{FailurePoint, RunFailure};
use super::machine::Machine;
use super::origin::ValueContext;
use super::plan::Plan;
use super::run::RunSettings;
use super::run_draws::RunData;
use crate::linalg::Matrix;
use crate::problem::Instance;
use crate::program::{Program, Section};
use crate::rng::Stream;

/// A run and its random objects, in the order they were drawn.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The sketching matrices, one for every execution of a section that sketches.
    pub sketches: Vec<Matrix>,
    /// The rows of every sample.
    pub samples: Vec<Vec<usize>>,
    /// The loss at the start and after every iteration.
    pub residuals: Vec<f64>,
    /// The excess at the start and after every iteration.
    pub excesses: Vec<f64>,
}

/// The same run as [`run`](super::run), with a recording of its random draws.
pub fn record(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    stream: &Stream,
) -> Result<Recording, RunFailure> {
    let plan = Plan::new(program, instance.shape(), settings)?;
    let data = RunData::True(instance, None);
    let context = ValueContext::new(settings, data, stream);
    let mut machine = Machine::new(data, instance.task.update(), settings);
    machine.follows_steps = plan.follows_steps();
    if !plan.starts_warm {
        machine.measure_start();
    }
    let (mut sketches, mut samples) = (Vec::new(), Vec::new());
    let mut after_setup = machine.registers.clone();
    for t in 0..=settings.iterations {
        let section = if t == 0 { Section::Setup } else { Section::Iteration };
        if section == Section::Iteration {
            machine.restart(plan.restored, &after_setup);
        }
        let mut draws = machine.draws(stream, t);
        sketches.extend(plan.sketches(section).then(|| draws.sketch_matrix()));
        for planned in plan.section(section) {
            if planned.typed.instruction.op.samples()
                && let Some(weights) = machine.value(planned.typed.args[0].reg)
            {
                samples.extend(draws.next_rows(weights.weights()));
            }
            machine.step(planned, t, context, &mut draws)?;
        }
        match section {
            Section::Setup => {
                after_setup.clone_from(&machine.registers);
                if plan.starts_warm {
                    machine.start_from_setup(true)?;
                }
            }
            Section::Iteration => machine.update(FailurePoint::Iteration(t))?,
        }
    }
    let Machine { residuals, excesses, .. } = machine;
    Ok(Recording { sketches, samples, residuals, excesses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::run;
    use crate::linalg::{matmul, norm, sub};
    use crate::problem::Family;
    use crate::program::{CATALOGUE, Datum, Reg, Update};

    #[test]
    fn a_recorded_run_is_the_run() {
        for entry in CATALOGUE.iter() {
            let mut family = Family::named(&entry.document.family).unwrap();
            (family.rows, family.cols) = if family.kind.info().square { (12, 12) } else { (80, 4) };
            let instance = family.draw(&Stream::new(1)).unwrap();
            let settings =
                RunSettings { batch: 8, iterations: 4, ..RunSettings::for_size(family.rows, family.cols) };
            let program = &entry.document.program;
            let recording = record(program, &instance, &settings, &Stream::new(2)).unwrap();
            let trace = run(program, &instance, &settings, &Stream::new(2)).unwrap();
            assert_eq!(
                (recording.residuals, recording.excesses),
                (trace.residuals, trace.excesses),
                "{}",
                entry.name
            );
            let draws = |section: Section| {
                let ops = || program.section(section).iter().map(|ins| ins.op);
                // All sketches of a section are one.
                [usize::from(ops().any(|op| op.sketches())), ops().filter(|op| op.samples()).count()]
            };
            let [setup, iteration] = Section::BOTH.map(draws);
            let counted = [0, 1].map(|i| setup[i] + 4 * iteration[i]);
            assert_eq!([recording.sketches.len(), recording.samples.len()], counted, "{}", entry.name);
        }
    }

    #[test]
    fn what_is_recorded_is_what_was_drawn() {
        let family = Family { rows: 40, cols: 3, ..Family::named("low-cond").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        let settings = RunSettings { batch: 5, iterations: 2, ..RunSettings::for_size(40, 3) };
        let text = "setup:\n R1 = SKETCH(A)\n A, b = SUBSAMPLING(p1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let program: Program = text.parse().unwrap();
        let recording = record(&program, &instance, &settings, &Stream::new(2)).unwrap();
        let last = crate::execute::snapshots(
            &program,
            &instance,
            Update::Subtract,
            &settings,
            None,
            &Stream::new(2),
        );
        let held = |name: &str| last[0][Reg::named(name).unwrap().index()].clone();
        let (Some(Datum::Matrix(sketched)), Some(Datum::Vector(b))) = (held("R1"), held("b")) else {
            panic!("setup leaves both");
        };
        let again = matmul(&recording.sketches[0], &instance.A);
        assert!(norm(&sub(again.row_major(), sketched.row_major())) < 1e-12);
        // Uniform probabilities: every row is scaled by √(m/k).
        let rows = recording.samples[0].iter().map(|&i| instance.b[i] * 8f64.sqrt());
        assert!(norm(&sub(&rows.collect::<Vec<_>>(), &b)) < 1e-12);
    }
}
