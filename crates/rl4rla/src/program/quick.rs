//! Fast type checking for searches: no error messages, no allocation.

use super::ast::{Instruction, Section};
use super::op::{Arg, Op};
use super::register::Reg;
use super::types::{Pattern, Type};
use super::typing::{Env, accepts};
use std::ops::Deref;

/// The operands of an instruction with their types, including those it samples, stored inline.
#[derive(Clone, Copy)]
pub struct Args {
    args: [Arg; Args::MOST],
    count: usize,
}

impl Args {
    /// Maximum number of operands, including those it samples; checked by a test.
    const MOST: usize = 4;
}

impl Deref for Args {
    type Target = [Arg];
    fn deref(&self) -> &[Arg] {
        &self.args[..self.count]
    }
}

/// The result of an operator on its operands, as computed by [`Env::quick`].
pub(super) struct Quick {
    pub(super) args: Args,
    pub(super) pattern: Pattern,
    pub(super) ty: Option<Type>,
}

impl Env {
    /// The operands of an operator with their types, and those it samples; `None` if one of them has no value.
    pub fn args(&self, op: Op, operands: &[Reg]) -> Option<Args> {
        let sampled = if op.samples() { &[Reg::A, Reg::B][..] } else { &[] };
        let mut args = Args { args: [Arg { reg: Reg::A, ty: Type::Scalar }; Args::MOST], count: 0 };
        for &reg in operands.iter().chain(sampled) {
            args.args[args.count] = Arg { reg, ty: self.get(reg)? };
            args.count += 1;
        }
        Some(args)
    }

    /// The same as [`Env::value`], but `None` instead of an error.
    pub(super) fn quick(&self, op: Op, operands: &[Reg]) -> Option<Quick> {
        let count = operands.len();
        if count != op.forms[0].operands.len() {
            return None;
        }
        let args = self.args(op, operands)?;
        let (pattern, ty) = self.made(op, count, &args)?;
        Some(Quick { args, pattern, ty })
    }

    /// The same as [`Env::step`], but returns only whether the instruction fits.
    pub(super) fn quick_step(&mut self, instruction: &Instruction, section: Section) -> bool {
        let allowed = instruction.op.sections.allow(section);
        let value = allowed.then(|| self.quick(instruction.op, &instruction.operands)).flatten();
        let value = value.filter(|value| {
            accepts(instruction.target, value.pattern, value.ty, section, self.geometry).is_ok()
        });
        match &value {
            Some(value) => self.write(instruction.target, value.ty),
            None => instruction.writes().iter().for_each(|reg| self.poison(reg)),
        }
        value.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_all_operands() {
        let sampled = |op: Op| if op.samples() { 2 } else { 0 };
        let all = |op: Op| op.forms.iter().all(|form| form.operands.len() + sampled(op) <= Args::MOST);
        assert!(Op::known().all(all));
    }
}
