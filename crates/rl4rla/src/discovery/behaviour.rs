//! The behaviour of prefixes: the contents of every register, updated while a program grows.
//!
//! An iteration is a function of x, the registers left by setup and the carried registers. So the behaviour of a
//! prefix is given by its register contents at a few points, which are the same for every program, and a further
//! instruction is run once at each of them, whatever came before it. (A fingerprint follows the iterates instead, and
//! must be recomputed whenever v1 changes.)

use crate::equivalence::{ITERATIONS, Print, Probe};
use crate::execute::{Draws, Lenient, Output};
use crate::program::{Arg, Datum, Geometry, Instruction, Reg, RegSet, Section, Signature, Typed, Update};

/// Rounded contents of the registers at one point; zero for empty registers.
type Codes = [u64; Reg::COUNT];

/// The points of a probe, and the random objects drawn there.
pub(super) struct Lab {
    probe: &'static Probe,
    update: Update,
    /// Draws of setup, and at every point.
    draws: Vec<Draws<'static>>,
    points: Vec<Point>,
}

/// A point at which the iteration is evaluated.
struct Point {
    x: Vec<f64>,
    carried: Vec<Vec<f64>>,
}

/// Register contents of a prefix at all points of a lab.
#[derive(Clone)]
pub(super) struct LabState {
    setup: Lenient<'static>,
    /// At every point; empty before the iteration.
    points: Vec<Lenient<'static>>,
    after_setup: Codes,
    at_points: [Codes; ITERATIONS],
}

impl Lab {
    /// A lab for each of the probes.
    pub fn both(signature: Signature) -> [Lab; 2] {
        [0, 1].map(|which| Lab::new(signature.geometry, which, signature.update))
    }

    fn new(geometry: Geometry, which: usize, update: Update) -> Lab {
        let probe = &Probe::of(geometry)[which];
        let stream = Probe::stream();
        let begin = Lenient::new(&probe.instance, update, &probe.settings, Some(&probe.start));
        let point = |t: u64| {
            let other =
                |label: &str, i: u64| stream.derive(label, t).derive(label, i).normals(probe.start.len());
            match t {
                // The starting point of fingerprints.
                0 => Point {
                    x: probe.start.clone(),
                    carried: vec![probe.start.iter().rev().copied().collect(); Reg::COUNT],
                },
                // If the update does not change x, it is the same at all points.
                _ => Point {
                    x: if update == Update::Answer { probe.start.clone() } else { other("x", 0) },
                    carried: (0..Reg::COUNT as u64).map(|i| other("carried", i)).collect(),
                },
            }
        };
        Lab {
            probe,
            update,
            draws: (0..=ITERATIONS).map(|t| begin.draws(&stream, t)).collect(),
            points: (0..ITERATIONS as u64).map(point).collect(),
        }
    }

    /// The initial contents.
    pub fn begin(&self) -> LabState {
        let Probe { instance, settings, start, .. } = self.probe;
        LabState {
            setup: Lenient::new(instance, self.update, settings, Some(start)),
            points: Vec::new(),
            after_setup: [0; Reg::COUNT],
            at_points: [[0; Reg::COUNT]; ITERATIONS],
        }
    }

    /// Moves from setup to the iteration.
    pub fn turn(&self, held: &mut LabState) {
        held.at_points = [held.after_setup; ITERATIONS];
        held.points = vec![held.setup.clone(); ITERATIONS];
        for (run, point) in held.points.iter_mut().zip(&self.points) {
            run.place(&point.x, |reg| point.carried[reg.index()].clone());
        }
    }

    /// Runs an instruction with these operands; `None` if it does not type-check.
    pub fn step(&mut self, held: &mut LabState, instruction: &Instruction, args: Option<&[Arg]>) {
        let probe = self.probe;
        let step = |run: &mut Lenient<'static>, codes: &mut Codes, draws: &mut Draws<'static>| {
            run.step(instruction, args, draws);
            for reg in instruction.writes().iter().map(Reg::index) {
                codes[reg] = run.registers()[reg].as_ref().map_or(0, |datum| code(probe, datum));
            }
        };
        if held.points.is_empty() {
            return step(&mut held.setup, &mut held.after_setup, &mut self.draws[0]);
        }
        let points = held.points.iter_mut().zip(&mut held.at_points);
        points.zip(&mut self.draws[1..]).for_each(|((run, codes), draws)| step(run, codes, draws));
    }

    /// The register contents after an instruction with these operands.
    fn codes(
        &mut self,
        held: &LabState,
        instruction: &Instruction,
        args: Option<&[Arg]>,
    ) -> (Codes, [Codes; ITERATIONS]) {
        let (mut after_setup, mut at_points) = (held.after_setup, held.at_points);
        let (probe, writes) = (self.probe, instruction.writes());
        let write = |codes: &mut Codes, output: Option<Output>| match output {
            None => writes.iter().for_each(|reg| codes[reg.index()] = 0),
            Some(Output::One(datum)) => {
                writes.iter().for_each(|reg| codes[reg.index()] = code(probe, &datum));
            }
            Some(Output::System((matrix, vector))) => {
                codes[Reg::A.index()] = code(probe, &Datum::Matrix(matrix));
                codes[Reg::B.index()] = code(probe, &Datum::Vector(vector));
            }
            Some(Output::None) => {}
        };
        let call =
            |run: &Lenient, draws: &mut Draws| args.and_then(|args| run.call(instruction, args, draws));
        if held.points.is_empty() {
            write(&mut after_setup, call(&held.setup, &mut self.draws[0]));
        }
        for ((codes, run), draws) in at_points.iter_mut().zip(&held.points).zip(&mut self.draws[1..]) {
            write(codes, call(run, draws));
        }
        (after_setup, at_points)
    }

    /// Appends the contents of the registers written so far to `text`, and those of `handed_on` as left by setup;
    /// with one more instruction if given. Returns whether none of them is missing.
    pub fn describe(
        &mut self,
        held: &LabState,
        last: Option<(&Instruction, Option<&[Arg]>)>,
        written: RegSet,
        handed_on: RegSet,
        text: &mut Vec<u8>,
    ) -> bool {
        let (after_setup, at_points) = match last {
            Some((instruction, args)) => self.codes(held, instruction, args),
            None => (held.after_setup, held.at_points),
        };
        let now = if held.points.is_empty() { &[after_setup][..] } else { &at_points[..] };
        let mut complete = true;
        for reg in written.iter().map(Reg::index) {
            text.push(reg as u8);
            for codes in now {
                complete &= codes[reg] != 0;
                text.extend_from_slice(&codes[reg].to_le_bytes());
            }
        }
        for reg in handed_on.iter().map(Reg::index) {
            text.push(reg as u8);
            text.extend_from_slice(&after_setup[reg].to_le_bytes());
        }
        complete
    }

    /// The fingerprint of the finished program, with the registers `kept` hashed as left by setup; `None` if it
    /// fails. The prefix has run setup and its first iteration.
    pub fn fingerprint(&mut self, held: &LabState, finished: &[Typed], kept: RegSet) -> Option<u128> {
        let moved = RegSet::EMPTY.with(Reg::X).with(Reg::V1);
        let written = Section::BOTH.map(|section| {
            let lines = finished.iter().filter(|typed| typed.section == section);
            lines.fold(RegSet::EMPTY, |set, typed| set.union(typed.instruction.writes()))
        });
        let holds = |run: &Lenient, set: RegSet| set.iter().all(|reg| run.registers()[reg.index()].is_some());
        let mut run = held.points.first().filter(|_| holds(&held.setup, written[0]))?.clone();
        let mut print = Print::default();
        print.add(self.probe, 0, kept, held.setup.registers());
        for t in 1..=ITERATIONS {
            if t > 1 {
                run.restart(held.setup.registers());
                for typed in finished.iter().filter(|typed| typed.section == Section::Iteration) {
                    run.step(typed.instruction, Some(&typed.args), &mut self.draws[t]);
                }
            }
            if !holds(&run, written[1]) {
                return None;
            }
            run.advance();
            print.add(self.probe, t, moved, run.registers());
        }
        Some(print.hash())
    }
}

/// Two projections of a value in at least six digits. Zero stands for a missing value.
fn code(probe: &Probe, datum: &Datum) -> u64 {
    let rounded = |direction| match probe.number(datum, direction) {
        0.0 => 1,
        // Sign, exponent and the first 20 bits, rounded to nearest.
        number => 2 + ((number.to_bits() + (1 << 31)) >> 32),
    };
    rounded(0) << 32 | rounded(1)
}
