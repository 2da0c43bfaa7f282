//! Features of an edit: what a learned policy sees of it. They name operators, inputs and types, never a task or a
//! curriculum, so that weights fitted on some problems mean something on others.

use crate::program::{
    Edit, Editor, Instruction, InstructionNumber, Op, Reg, Section, Type, TypePoint, TypePoints,
};
use std::fmt;

/// Where a value comes from, or what reads it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Neighbour {
    /// An instruction with this operator.
    Operator(Op),
    /// The register as the program receives it.
    Input(Reg),
    /// The update of x that ends every iteration.
    Update,
    /// Nothing.
    Nothing,
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Neighbour::Operator(op) => write!(f, "{op}"),
            Neighbour::Input(reg) => write!(f, "{reg}"),
            Neighbour::Update => f.write_str("the update"),
            Neighbour::Nothing => f.write_str("nothing"),
        }
    }
}

/// A feature of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Feature {
    /// The operator.
    Operator(Op),
    /// The operator and the section.
    Section(Op, Section),
    /// The origin of an operand, whatever the operator.
    Reads(Neighbour),
    /// The origin of the operand at this index.
    Operand(Op, u8, Neighbour),
    /// The next reader of the result, whatever the operator.
    ReadBy(Neighbour),
    /// The operator and the next reader of its result.
    Feeds(Op, Neighbour),
    /// The type of the result.
    Gives(Type),
    /// A property that holds.
    Is(&'static str),
}

/// The feature as the table of a policy names it.
impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Feature::Operator(op) => write!(f, "{op}"),
            Feature::Section(op, section) => write!(f, "{op} in {section}"),
            Feature::Reads(origin) => write!(f, "reads {origin}"),
            Feature::Operand(op, index, origin) => write!(f, "operand {} of {op}: {origin}", index + 1),
            Feature::ReadBy(reader) => write!(f, "read by {reader}"),
            Feature::Feeds(op, reader) => write!(f, "{op} read by {reader}"),
            Feature::Gives(ty) => write!(f, "gives {ty}"),
            Feature::Is(property) => f.write_str(property),
        }
    }
}

/// The surroundings of a position: what all edits there have in common.
pub struct Place {
    section: Section,
    position: u16,
    replaces: bool,
    /// Where the value of every register comes from.
    origins: [Neighbour; Reg::COUNT],
    /// What reads every register next, if it is written here.
    readers: [Neighbour; Reg::COUNT],
    /// Whether an instruction before reads the value of a register.
    read: [bool; Reg::COUNT],
    point: TypePoint,
    /// The instruction before this position, if there is one in the section.
    before: Option<Instruction>,
    last: bool,
}

impl Place {
    /// The place of an edit of a program.
    pub fn of(edit: &Edit, words: &[InstructionNumber], editor: &mut Editor) -> Place {
        let (setup, iteration) = words[1..].split_at(words[0] as usize);
        let here = if edit.section == Section::Setup { setup } else { iteration };
        let (head, tail) = here.split_at(edit.position as usize);
        let tail = &tail[usize::from(edit.replaces)..];
        let mut place = Place {
            section: edit.section,
            position: edit.position,
            replaces: edit.replaces,
            origins: std::array::from_fn(|_| Neighbour::Nothing),
            readers: std::array::from_fn(|_| Neighbour::Nothing),
            read: [false; Reg::COUNT],
            point: TypePoints::START,
            before: head.last().map(|&word| editor.instruction(word).clone()),
            last: tail.is_empty(),
        };
        Reg::all().for_each(|reg| place.origins[reg.index()] = Neighbour::Input(reg));
        let earlier = if edit.section == Section::Setup { &[][..] } else { setup };
        for (section, words) in [(Section::Setup, earlier), (edit.section, head)] {
            for &word in words {
                let instruction = editor.instruction(word);
                let (op, writes) = (instruction.op, instruction.writes());
                instruction.reads().iter().for_each(|reg| place.read[reg.index()] = true);
                writes.iter().for_each(|reg| place.origins[reg.index()] = Neighbour::Operator(op));
                writes.iter().for_each(|reg| place.read[reg.index()] = false);
                place.point = editor.points().step(place.point, word, section).point;
            }
        }
        // From the end back: the first reader before the register is written again.
        place.readers[Reg::V1.index()] = Neighbour::Update;
        let later = if edit.section == Section::Setup { iteration } else { &[][..] };
        for &word in later.iter().rev().chain(tail.iter().rev()) {
            let instruction = editor.instruction(word);
            instruction.writes().iter().for_each(|reg| place.readers[reg.index()] = Neighbour::Nothing);
            let reader = Neighbour::Operator(instruction.op);
            instruction.reads().iter().for_each(|reg| place.readers[reg.index()] = reader);
        }
        place
    }

    /// Whether an edit is at this place.
    pub fn has(&self, edit: &Edit) -> bool {
        (self.section, self.position, self.replaces) == (edit.section, edit.position, edit.replaces)
    }

    /// Whether an instruction before has written a register.
    fn is_made(&self, reg: Reg) -> bool {
        matches!(self.origins[reg.index()], Neighbour::Operator(_))
    }

    /// Whether a register holds a result that nothing reads.
    fn is_idle(&self, reg: Reg) -> bool {
        self.is_made(reg) && !self.read[reg.index()] && self.readers[reg.index()] == Neighbour::Nothing
    }

    /// The features of an edit at this place.
    pub fn features(
        &self,
        edit: &Edit,
        words: &[InstructionNumber],
        editor: &mut Editor,
        found: &mut Vec<Feature>,
    ) {
        found.clear();
        let Instruction { target, op, operands } = editor.instruction(edit.word).clone();
        found.extend([Feature::Operator(op), Feature::Section(op, self.section)]);
        for (index, operand) in operands.iter().enumerate() {
            let origin = self.origins[operand.index()];
            found.extend([Feature::Reads(origin), Feature::Operand(op, index as u8, origin)]);
        }
        let mut holds = |holds: bool, property| found.extend(holds.then_some(Feature::Is(property)));
        let written = self.before.as_ref().and_then(|before| before.target);
        holds(written.is_some_and(|written| operands.contains(&written)), "reads the result before it");
        holds(self.last, "last of its section");
        holds(edit.replaces, "replaces an instruction");
        holds(operands.iter().any(|&reg| self.is_idle(reg)), "reads a result that nothing reads");
        let call = editor.call(edit.word);
        holds(words[1..].iter().any(|&word| editor.call(word) == call), "repeats a call");
        holds(words[1..].iter().any(|&word| editor.instruction(word).op == op), "repeats an operator");
        let Some(target) = target else { return };
        let in_place = operands.contains(&target);
        holds(in_place, "overwrites an operand");
        holds(self.is_made(target) && !in_place, "overwrites another value");
        let reader = self.readers[target.index()];
        found.extend([Feature::ReadBy(reader), Feature::Feeds(op, reader)]);
        let points = editor.points();
        let after = points.step(self.point, edit.word, self.section).point;
        found.extend(points.env(after).get(target).map(Feature::Gives));
    }
}
