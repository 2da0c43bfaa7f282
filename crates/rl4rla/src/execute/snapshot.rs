//! Snapshots: what every register holds, also for programs that are not finished.

use super::draws::Data;
use super::kernels::Action;
use super::machine::Machine;
use super::run::Settings;
use crate::problem::Instance;
use crate::program::{Access, Datum, Env, Instruction, Program, Reg, Section, Signature, Update};
use crate::rng::Stream;
use std::sync::Arc;

/// The registers at one point of a run.
pub type Snapshot = Vec<Option<Datum>>;

/// The registers after setup and after every iteration.
///
/// Unlike [`run`](super::run), this takes partial programs: an instruction that does not fit, or fails, or reads what
/// is not there, leaves its target empty, and an iteration without a proper `v1` leaves x as it is. It takes any update,
/// whatever the instance's task. And it can begin the iteration elsewhere than at zero, where many different programs
/// stand still: `start` is put into x after setup, and, reversed, into the carried registers. Setup finds it too where x
/// stays, and moved round by one entry where x is assigned, so that the first x and the one after it are told apart.
pub fn snapshots(
    program: &Program,
    instance: &Instance,
    update: Update,
    settings: &Settings,
    start: Option<&[f64]>,
    stream: &Stream,
) -> Vec<Snapshot> {
    let mut machine = Machine::new(Data::True(instance, None), update, settings);
    let mut env = Env::start(Signature::new(instance.geometry(), update));
    if let (Some(start), Update::Assign | Update::Answer) = (start, update) {
        let mut first = start.to_vec();
        if update == Update::Assign {
            first.rotate_left(1);
        }
        machine.registers[Reg::X.index()] = Some(first.into());
    }
    lenient(&mut machine, &mut env, &program.setup, Section::Setup, 0, stream);
    let after_setup = machine.registers.clone();
    let mut taken = vec![after_setup.clone()];
    if let Some(start) = start {
        machine.x = Arc::new(start.to_vec());
        // All alike, because which of them a program uses is only a name.
        let carried: Vec<f64> = start.iter().rev().copied().collect();
        for reg in Reg::carried() {
            machine.registers[reg.index()] = Some(carried.clone().into());
        }
    }
    let scratch = Reg::all().filter(|reg| reg.access() != Access::Carried).collect();
    for t in 1..=settings.iterations {
        machine.restart(scratch, &after_setup);
        let mut env = env.clone();
        lenient(&mut machine, &mut env, &program.iteration, Section::Iteration, t, stream);
        if let Some(Datum::Vector(v1)) = machine.value(Reg::V1).cloned()
            && v1.len() == machine.result().len()
        {
            machine.advance(&v1);
        }
        machine.registers[Reg::X.index()] = Some(Datum::Vector(machine.x.clone()));
        taken.push(machine.registers.clone());
    }
    taken
}

fn lenient(
    machine: &mut Machine,
    env: &mut Env,
    instructions: &[Instruction],
    section: Section,
    t: usize,
    stream: &Stream,
) {
    let mut draws = machine.draws(stream, t);
    for instruction in instructions {
        let output = env.step(instruction, section).ok().and_then(|typed| {
            let held = typed.args.iter().all(|arg| machine.value(arg.reg).is_some());
            let action = Action::of(instruction.op);
            held.then(|| machine.call(action, &typed.args, &mut draws).ok()).flatten()
        });
        match output {
            Some(output) => machine.store(output, instruction.target),
            None => instruction.writes().iter().for_each(|reg| machine.clear(reg)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::run;
    use crate::problem::Family;
    use crate::program::{CATALOGUE, Geometry};

    fn setting() -> (Instance, Settings) {
        let family = Family { rows: 30, cols: 4, outside: 0.2, ..Family::named("mid-cond").unwrap() };
        let settings = Settings { iterations: 3, step: 0.3, batch: 6, ..Settings::for_size(30, 4) };
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
