//! Snapshots: the values of all registers, also for unfinished programs.

use super::lenient::Lenient;
use super::run::RunSettings;
use crate::problem::Instance;
use crate::program::{Datum, Env, Instruction, Program, Section, Signature, Update};
use crate::rng::Stream;

/// The registers at one point of a run.
pub type Snapshot = Vec<Option<Datum>>;

/// The registers after setup and after every iteration.
///
/// Unlike [`run`](super::run), this accepts partial programs: an instruction that does not fit, fails, or reads an
/// empty register leaves its target empty, and an iteration without a `v1` of the right shape leaves x unchanged. It
/// accepts any update, whatever the instance's task. The iteration can start elsewhere than at zero, where many
/// different programs have the same iterates: `start` is written to x after setup and, reversed, to the carried
/// registers, in place of what setup may have written to x. Setup sees `start` as x if x never changes, and `start` rotated by one entry if x is assigned, so that
/// the initial x differs from the one after it.
pub fn snapshots(
    program: &Program,
    instance: &Instance,
    update: Update,
    settings: &RunSettings,
    start: Option<&[f64]>,
    stream: &Stream,
) -> Vec<Snapshot> {
    let mut run = Lenient::new(instance, update, settings, start);
    let mut env = Env::start(Signature::new(instance.geometry(), update).reading(program));
    lenient(&mut run, &mut env, &program.setup, Section::Setup, stream, 0);
    let after_setup = run.registers().clone();
    let mut taken = vec![after_setup.clone()];
    match start {
        Some(start) => {
            // All carried registers get the same value, because their names do not matter.
            run.place(start, |_, length| start.iter().rev().copied().cycle().take(length).collect());
        }
        None => run.start_from_setup(),
    }
    for t in 1..=settings.iterations {
        run.restart(&after_setup);
        lenient(&mut run, &mut env.clone(), &program.iteration, Section::Iteration, stream, t);
        run.advance();
        taken.push(run.registers().clone());
    }
    taken
}

fn lenient(
    run: &mut Lenient,
    env: &mut Env,
    instructions: &[Instruction],
    section: Section,
    stream: &Stream,
    t: usize,
) {
    let mut draws = run.draws(stream, t);
    for instruction in instructions {
        let typed = env.step(instruction, section).ok();
        run.step(instruction, typed.as_ref().map(|typed| &typed.args[..]), &mut draws);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::run;
    use crate::problem::Family;
    use crate::program::{CATALOGUE, Geometry, Reg};

    fn setting() -> (Instance, RunSettings) {
        let family = Family { rows: 30, cols: 4, outside: 0.2, ..Family::named("mid-cond").unwrap() };
        let settings = RunSettings { iterations: 3, step: 0.3, batch: 6, ..RunSettings::for_size(30, 4) };
        (family.draw(&Stream::new(1)).unwrap(), settings)
    }

    #[test]
    fn finished_programs_go_the_same_way_as_in_a_run() {
        let (instance, settings) = setting();
        for entry in CATALOGUE.iter().filter(|e| e.signature() == Geometry::Tall.into()) {
            let program = &entry.document.program;
            let snapshots = snapshots(program, &instance, Update::Subtract, &settings, None, &Stream::new(2));
            let trace = run(program, &instance, &settings, &Stream::new(2)).unwrap();
            let Some(Datum::Vector(x)) = &snapshots[3][Reg::X.index()] else { panic!("x is a vector") };
            assert_eq!(**x, trace.x, "{}", entry.name);
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let (instance, settings) = setting();
        let program = "setup:\n R1 = SKETCH(A)\n R2 = MAT_INV(R1)\n R3 = HHQR(R2)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n";
        let last = snapshots(
            &program.parse().unwrap(),
            &instance,
            Update::Subtract,
            &settings,
            None,
            &Stream::new(2),
        )
        .pop()
        .unwrap();
        let held = |name: &str| last[Reg::named(name).unwrap().index()].is_some();
        assert!(held("R1") && !held("R2") && !held("R3") && held("v1"));
    }
}
