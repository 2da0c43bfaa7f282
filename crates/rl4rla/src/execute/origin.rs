//! Origins: the expression behind every value of a program, so that programs share common subexpressions.
//!
//! Equal expressions have equal values on the same instance with the same random draws, whatever program they occur
//! in, so they are computed once.

use super::reduced::SketchRows;
use super::run::RunSettings;
use super::run_draws::RunData;
use crate::program::{Arg, Instruction, Reg, Section};
use crate::rng::Stream;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// In which iterations all programs share the value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Common {
    /// In every one.
    Always,
    /// In the first, which all programs start from the same x.
    First,
}

/// The expression behind a value.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    expression: u128,
    common: Common,
    /// Whether it depends on random draws of an iteration.
    drawn: bool,
    /// Whether it depends on the step size.
    stepped: bool,
}

/// Marks iterated values; not the hash of any operator.
const ITERATED: u128 = u128::MAX;

/// The origins of all registers at one point of a program.
pub struct Origins {
    registers: [Origin; Reg::COUNT],
    /// Samples drawn so far in this section.
    samples: u64,
}

impl Origins {
    /// The origins at the start of a program.
    pub fn start() -> Origins {
        let of = |i: usize| Origin {
            expression: i as u128,
            common: Common::Always,
            drawn: false,
            stepped: i == Reg::ETA.index(),
        };
        Origins { registers: std::array::from_fn(of), samples: 0 }
    }

    /// Moves from setup to an iteration.
    pub fn iterate(&mut self) {
        for reg in Reg::carried().chain([Reg::X, Reg::D]) {
            let origin = &mut self.registers[reg.index()];
            // It is a different value from here on, whatever its initial value.
            *origin = Origin {
                expression: mix([ITERATED, origin.expression]),
                common: origin.common.max(Common::First),
                ..*origin
            };
        }
        self.samples = 0;
    }

    /// The origin of a register's value.
    pub fn of(&self, reg: Reg) -> Origin {
        self.registers[reg.index()]
    }

    /// Records an instruction and returns the origin of its result.
    pub fn step(&mut self, instruction: &Instruction, args: &[Arg], section: Section) -> Origin {
        let random = instruction.op.draws();
        self.samples += u64::from(instruction.op.samples());
        let operands = args.iter().map(|arg| self.registers[arg.reg.index()]);
        // Repeating a register may use another algorithm than two registers with equal values.
        let first = |arg: &Arg| args.iter().position(|other| other.reg == arg.reg).unwrap_or_default();
        let draw = if random { [1, section as u64, self.samples] } else { [0; 3] };
        // The first iteration refreshes, others may not.
        let least = if instruction.op.refreshes() { Common::First } else { Common::Always };
        let mut bytes = Vec::with_capacity(32 + 17 * args.len());
        bytes.extend_from_slice(&xxh3_64(instruction.op.name.as_bytes()).to_le_bytes());
        bytes.extend(draw.iter().flat_map(|part| part.to_le_bytes()));
        bytes.extend(args.iter().map(|arg| first(arg) as u8));
        bytes.extend(operands.clone().flat_map(|origin| origin.expression.to_le_bytes()));
        let origin = Origin {
            expression: xxh3_128(&bytes),
            common: operands.clone().map(|origin| origin.common).max().unwrap_or(Common::Always).max(least),
            drawn: (random && section == Section::Iteration) || operands.clone().any(|origin| origin.drawn),
            stepped: operands.clone().any(|origin| origin.stepped),
        };
        for reg in instruction.writes().iter() {
            // A and b are written together but are two values; otherwise register names do not matter.
            let part = if instruction.op.samples() { reg.index() as u128 } else { 0 };
            self.registers[reg.index()] =
                Origin { expression: origin.expression.wrapping_add(part), ..origin };
        }
        origin
    }
}

/// A hash of several keys, in order.
pub fn mix(parts: impl IntoIterator<Item = u128>) -> u128 {
    xxh3_128(&parts.into_iter().flat_map(u128::to_le_bytes).collect::<Vec<u8>>())
}

/// A hash of an RNG stream and some numbers.
pub fn hash<const N: usize>(stream: &Stream, numbers: [u64; N]) -> u128 {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    xxh3_128(&stream.name().iter().copied().chain(numbers).collect::<Vec<u8>>())
}

/// Everything besides expressions that values of a run depend on, for a given instance.
#[derive(Clone, Copy)]
pub struct ValueContext(u128);

impl ValueContext {
    /// The context of runs with these settings (except for the step size), data and RNG stream.
    pub fn new(settings: &RunSettings, data: RunData, stream: &Stream) -> ValueContext {
        let coordinates = match data {
            RunData::True(..) => 0,
            RunData::Reduced(_, SketchRows::True) => 1,
            RunData::Reduced(_, SketchRows::Reduced) => 2,
        };
        let RunSettings { sketch, sketch_rows, batch, sampling, precision, mu, .. } = *settings;
        let kinds = [sketch as u64, sampling as u64, precision as u64];
        let sizes = [sketch_rows as u64, batch as u64];
        let numbers = [coordinates, kinds[0], sizes[0], sizes[1], kinds[1], kinds[2], mu.to_bits()];
        ValueContext(hash(stream, numbers))
    }

    /// The cache key of a value in iteration t (0 is setup) of a run with this step size; `None` if the value is
    /// specific to the run.
    pub fn key(self, origin: &Origin, t: usize, step: f64) -> Option<u128> {
        let at = match origin.common {
            Common::Always if origin.drawn => t,
            Common::Always => 0,
            Common::First if t == 1 => 1,
            Common::First => return None,
        };
        let step = if origin.stepped { step.to_bits() } else { 0 };
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(&self.0.to_le_bytes());
        bytes[16..32].copy_from_slice(&origin.expression.to_le_bytes());
        bytes[32..40].copy_from_slice(&(at as u64).to_le_bytes());
        bytes[40..].copy_from_slice(&step.to_le_bytes());
        Some(xxh3_128(&bytes))
    }
}
