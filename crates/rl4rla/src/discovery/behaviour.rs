//! The behaviour of prefixes: the contents of every register, updated while a program grows.
//!
//! An iteration is a function of x, the registers left by setup and the carried registers. So the behaviour of a
//! prefix is given by its register contents at a few points, which are the same for every program, and a further
//! instruction is run once at each of them, whatever came before it. Where an operator asks for a value of the
//! iteration before, the points stand for successive iterations. (A fingerprint follows the iterates instead, and
//! must be recomputed whenever v1 changes.)
//!
//! Millions of prefixes hold few different values. A value is computed once and has a number; a prefix holds numbers,
//! and the result of an instruction on operands with known numbers is looked up.

use crate::equivalence::{ITERATIONS, Print, Probe};
use crate::execute::{Draws, Lenient, Output};
use crate::linalg;
use crate::program::{
    Arg, Args, Datum, Instruction, InstructionNumber, Operands, Reg, RegSet, Section, Signature, Update,
};
use rustc_hash::FxHashMap;
use std::array::from_fn;
use std::sync::Arc;

/// The index of a value.
type ValueNumber = u32;

/// The value of an empty register.
const EMPTY: ValueNumber = 0;

/// Maximum number of values, about 700 bytes each on the probes; beyond that those of the prefixes so far are dropped,
/// which costs only time.
const MOST: usize = 1 << 12;

/// The content of a register at every point; the same at all of them if it comes from setup.
struct Value {
    data: [Option<Datum>; ITERATIONS],
    /// The content, rounded; zero if it is missing.
    codes: [u64; ITERATIONS],
    /// Whether it is the same at all points.
    uniform: bool,
}

/// An operator on these values, in registers that the number of the call tells.
#[derive(PartialEq, Eq, Hash)]
struct Call {
    call: InstructionNumber,
    /// The section, if the operator draws.
    section: Option<Section>,
    /// The samples drawn before, if it samples.
    samples: [u8; ITERATIONS],
    operands: [ValueNumber; Operands::MOST],
}

/// The points of a probe, the random objects drawn there, and all values computed.
pub(super) struct Lab {
    probe: &'static Probe,
    /// Draws of setup, and at every point.
    draws: Vec<Draws<'static>>,
    /// Where instructions are run.
    run: Lenient<'static>,
    values: Vec<Value>,
    /// The result of each call; that of a sample is followed by the new b.
    results: FxHashMap<Call, ValueNumber>,
    /// The number of values that are there from the start.
    given: usize,
    begin: Held,
    /// x, d and the carried registers at the points.
    points: Vec<(Reg, ValueNumber)>,
}

/// Register contents of a prefix at all points of a lab.
#[derive(Clone, Copy)]
pub(super) struct Held {
    section: Section,
    /// As left by setup.
    setup: [ValueNumber; Reg::COUNT],
    now: [ValueNumber; Reg::COUNT],
    /// Samples drawn in this section.
    samples: [u8; ITERATIONS],
}

/// An instruction with its operands, of a finished program.
pub(super) struct Step<'a> {
    pub section: Section,
    pub instruction: &'a Instruction,
    pub args: Args,
}

impl Lab {
    /// A lab for each of the probes.
    pub fn both(signature: Signature) -> [Lab; 2] {
        Probe::of(signature.geometry).each_ref().map(|probe| Lab::new(probe, signature.update))
    }

    fn new(probe: &'static Probe, update: Update) -> Lab {
        let Probe { instance, settings, start, .. } = probe;
        let (stream, run) = (Probe::stream(), Lenient::new(instance, update, settings, Some(start)));
        let placed = |t: usize| {
            let other = |label: &str, i: u64, length: usize| {
                stream.derive(label, t as u64).derive(label, i).normals(length)
            };
            let mut run = run.clone();
            match t {
                // The starting point of fingerprints.
                0 => run.place(start, |_, length| start.iter().rev().copied().cycle().take(length).collect()),
                // If the update does not change x, it is the same at all points.
                _ => {
                    let x = if update.is_answer() { start.clone() } else { other("x", 0, start.len()) };
                    run.place(&x, |reg, length| other("carried", reg.index() as u64, length));
                }
            }
            run.registers().clone()
        };
        let (at_points, empty): ([_; ITERATIONS], _) = (from_fn(placed), [EMPTY; Reg::COUNT]);
        let mut lab = Lab {
            probe,
            draws: (0..=ITERATIONS).map(|t| run.draws(&stream, t)).collect(),
            run,
            values: Vec::new(),
            results: FxHashMap::default(),
            given: 0,
            begin: Held { section: Section::Setup, setup: empty, now: empty, samples: [0; ITERATIONS] },
            points: Vec::new(),
        };
        lab.add(from_fn(|_| None), true);
        for reg in Reg::all() {
            let datum = lab.run.registers()[reg.index()].clone();
            if datum.is_some() {
                let number = lab.add(from_fn(|_| datum.clone()), true);
                lab.begin.write(reg, number);
            }
        }
        for reg in Reg::carried().chain([Reg::X]) {
            let number = lab.add(from_fn(|t| at_points[t][reg.index()].clone()), false);
            lab.points.push((reg, number));
        }
        let x = |t: usize| at_points[t][Reg::X.index()].as_ref().map(Datum::vector).expect("x is placed");
        let steps = from_fn(|t| Some(linalg::sub(x(t), x(t.saturating_sub(1))).into()));
        let number = lab.add(steps, update.is_answer());
        lab.points.push((Reg::D, number));
        lab.given = lab.values.len();
        lab
    }

    /// The initial contents.
    pub fn begin(&self) -> Held {
        self.begin
    }

    /// Whether there are so many values that they should be dropped.
    pub fn is_full(&self) -> bool {
        self.values.len() > MOST
    }

    /// Drops all values but the initial ones; the contents of prefixes are no longer valid.
    pub fn forget(&mut self) {
        self.values.truncate(self.given);
        self.results.clear();
    }

    fn add(&mut self, data: [Option<Datum>; ITERATIONS], uniform: bool) -> ValueNumber {
        let probe = self.probe;
        let code = |datum: &Option<Datum>| datum.as_ref().map_or(0, |datum| code(probe, datum));
        let codes = if uniform { [code(&data[0]); ITERATIONS] } else { data.each_ref().map(code) };
        self.values.push(Value { data, codes, uniform });
        self.values.len() as ValueNumber - 1
    }

    /// Moves from setup to the iteration.
    pub fn turn(&self, held: &mut Held) {
        (held.section, held.samples) = (Section::Iteration, [0; ITERATIONS]);
        self.points.iter().for_each(|&(reg, number)| held.write(reg, number));
    }

    /// Runs an instruction with these operands; `None` if it does not type-check. `call` is a number of its operator
    /// and operands.
    pub fn step(
        &mut self,
        held: &mut Held,
        instruction: &Instruction,
        call: InstructionNumber,
        args: Option<&[Arg]>,
    ) {
        let written = instruction.writes();
        let Some(args) = args.filter(|_| written != RegSet::EMPTY) else {
            return written.iter().for_each(|reg| held.write(reg, EMPTY));
        };
        let first = self.result(held, instruction, call, args);
        if instruction.op.samples() {
            for t in 0..ITERATIONS {
                let drawn = args.iter().all(|arg| self.datum(held.now[arg.reg.index()], t).is_some());
                held.samples[t] += u8::from(drawn);
            }
        }
        written.iter().zip(first..).for_each(|(reg, number)| held.write(reg, number));
    }

    fn datum(&self, number: ValueNumber, t: usize) -> &Option<Datum> {
        &self.values[number as usize].data[t]
    }

    /// The result of an instruction.
    fn result(
        &mut self,
        held: &Held,
        instruction: &Instruction,
        call: InstructionNumber,
        args: &[Arg],
    ) -> ValueNumber {
        let op = instruction.op;
        let mut operands = [EMPTY; Operands::MOST];
        operands.iter_mut().zip(args).for_each(|(number, arg)| *number = held.now[arg.reg.index()]);
        let samples = if op.samples() { held.samples } else { [0; ITERATIONS] };
        let key = Call { call, section: op.draws().then_some(held.section), samples, operands };
        if let Some(&known) = self.results.get(&key) {
            return known;
        }
        let at_setup = held.section == Section::Setup;
        let uniform = at_setup
            || !op.draws()
                && operands[..args.len()].iter().all(|&number| self.values[number as usize].uniform);
        let (mut first, mut second) = (from_fn(|_| None), from_fn(|_| None));
        for t in 0..ITERATIONS {
            if uniform && t > 0 {
                (first[t], second[t]) = (first[0].clone(), second[0].clone());
                continue;
            }
            if op.remembers() {
                let held = |t: usize| self.datum(operands[0], t).clone();
                first[t] = held(t).and_then(|_| held(t.saturating_sub(1)));
                continue;
            }
            if op.refreshes() {
                // The first point stands for iterations that refresh, the others for those that do not.
                first[t] = self.datum(operands[usize::from(t > 0)], t).clone();
                continue;
            }
            for (arg, &number) in args.iter().zip(&operands) {
                self.run.set(arg.reg, self.values[number as usize].data[t].clone());
            }
            self.run.go_on_after(samples[t].into());
            let draws = &mut self.draws[if at_setup { 0 } else { t + 1 }];
            (first[t], second[t]) = match self.run.call(instruction, args, draws) {
                Some(Output::One(datum)) => (Some(datum), None),
                Some(Output::System((matrix, vector))) => {
                    (Some(Datum::Matrix(matrix)), Some(Datum::Vector(vector)))
                }
                Some(Output::None) | None => (None, None),
            };
        }
        let number = self.add(first, uniform);
        if op.samples() {
            self.add(second, uniform);
        }
        self.results.insert(key, number);
        number
    }

    /// Appends the contents of the registers written so far to `text`, and those of `handed_on` as left by setup.
    /// Returns whether none of them is missing.
    pub fn describe(&self, held: &Held, written: RegSet, handed_on: RegSet, text: &mut Vec<u8>) -> bool {
        let codes = |numbers: &[ValueNumber], reg: Reg| &self.values[numbers[reg.index()] as usize].codes;
        let points = if held.section == Section::Setup { 1 } else { ITERATIONS };
        let mut complete = true;
        for reg in written.iter() {
            text.push(reg.index() as u8);
            for code in &codes(&held.now, reg)[..points] {
                complete &= *code != 0;
                text.extend_from_slice(&code.to_le_bytes());
            }
        }
        for reg in handed_on.iter() {
            text.push(reg.index() as u8);
            text.extend_from_slice(&codes(&held.setup, reg)[0].to_le_bytes());
        }
        complete
    }

    /// Fills registers with the values of these numbers at the first point.
    fn load(&mut self, registers: RegSet, numbers: &[ValueNumber]) {
        for reg in registers.iter() {
            let datum = self.datum(numbers[reg.index()], 0).clone();
            self.run.set(reg, datum);
        }
    }

    /// The fingerprint of the finished program, with the registers `kept` hashed as left by setup; `None` if it
    /// fails. The prefix has run setup and its first iteration.
    pub fn fingerprint(&mut self, held: &Held, finished: &[Step], kept: RegSet) -> Option<u128> {
        // What an instruction remembered in the first iteration is no longer held, and later iterations refresh nothing.
        let lasts = |step: &Step| step.instruction.op.remembers() || step.instruction.op.refreshes();
        if finished.iter().any(lasts) {
            return None;
        }
        let moved = RegSet::EMPTY.with(Reg::X).with(Reg::V1);
        let of = |section: Section| finished.iter().filter(move |step| step.section == section);
        let [setup, iteration] = Section::BOTH
            .map(|section| of(section).fold(RegSet::EMPTY, |set, step| set.union(step.instruction.writes())));
        let reads = finished.iter().fold(kept, |set, step| set.union(step.instruction.reads()));
        let used = reads.union(setup).union(iteration).with(Reg::V1).without(Reg::X);
        let holds = |numbers: &[ValueNumber], set: RegSet| {
            set.iter().all(|reg| self.datum(numbers[reg.index()], 0).is_some())
        };
        if held.section == Section::Setup || !holds(&held.setup, setup) || !holds(&held.now, iteration) {
            return None;
        }
        let mut print = Print::new();
        let kept = kept.union(setup.and(RegSet::EMPTY.with(Reg::X)));
        self.load(kept, &held.setup);
        print.add(self.probe, 0, kept, self.run.registers());
        self.load(used, &held.now);
        self.run.start(Arc::new(self.probe.start.clone()));
        for t in 1..=ITERATIONS {
            if t > 1 {
                self.load(used.minus(RegSet::carried().with(Reg::D)), &held.setup);
                self.run.go_on_after(0);
                for step in of(Section::Iteration) {
                    self.run.step(step.instruction, Some(&step.args), &mut self.draws[t]);
                }
                let registers = self.run.registers();
                if iteration.iter().any(|reg| registers[reg.index()].is_none()) {
                    return None;
                }
            }
            self.run.advance();
            print.add(self.probe, t, moved, self.run.registers());
        }
        Some(print.hash())
    }
}

impl Held {
    fn write(&mut self, reg: Reg, number: ValueNumber) {
        self.now[reg.index()] = number;
        if self.section == Section::Setup {
            self.setup[reg.index()] = number;
        }
    }
}

/// Two projections of a value in at least six digits. Zero stands for a missing value.
fn code(probe: &Probe, datum: &Datum) -> u64 {
    let [high, low] = probe.numbers(datum).map(|number| match number {
        0.0 => 1,
        // Sign, exponent and the first 20 bits, rounded to nearest.
        number => 2 + ((number.to_bits() + (1 << 31)) >> 32),
    });
    high << 32 | low
}
