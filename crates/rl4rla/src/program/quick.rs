//! Fast type checking for searches: no error messages, no allocation.

use super::ast::{Instruction, Section};
use super::op::{Arg, Op};
use super::register::Reg;
use super::types::{Pattern, Type};
use super::typing::{Env, accepts};

/// The result of an operator on its operands, as computed by [`Env::quick`].
pub(super) struct Quick {
    args: [Arg; Quick::MOST],
    count: usize,
    pub(super) pattern: Pattern,
    pub(super) ty: Option<Type>,
}

impl Quick {
    /// Maximum number of operands, including those it samples; checked by a test.
    const MOST: usize = 4;

    /// The operands with their types, including those it samples.
    pub(super) fn args(&self) -> &[Arg] {
        &self.args[..self.count]
    }
}

impl Env {
    /// The same as [`Env::value`], but `None` instead of an error.
    pub(super) fn quick(&self, op: Op, operands: &[Reg]) -> Option<Quick> {
        let sampled = if op.samples() { &[Reg::A, Reg::B][..] } else { &[] };
        let (count, all) = (operands.len(), operands.len() + sampled.len());
        if count != op.forms[0].operands.len() {
            return None;
        }
        let mut args = [Arg { reg: Reg::A, ty: Type::Scalar }; Quick::MOST];
        for (arg, &reg) in args[..all].iter_mut().zip(operands.iter().chain(sampled)) {
            *arg = Arg { reg, ty: self.get(reg)? };
        }
        let (pattern, ty) = self.made(op, count, &args[..all])?;
        Some(Quick { args, count: all, pattern, ty })
    }

    /// The same as [`Env::step`], but returns only whether the instruction fits.
    pub(super) fn quick_step(&mut self, instruction: &Instruction, section: Section) -> bool {
        let allowed = instruction.op.sections.allow(section);
        let value = allowed.then(|| self.quick(instruction.op, &instruction.operands)).flatten();
        let value =
            value.filter(|value| accepts(instruction.target, value.pattern, value.ty, section).is_ok());
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
        let all = |op: Op| op.forms.iter().all(|form| form.operands.len() + sampled(op) <= Quick::MOST);
        assert!(Op::known().all(all));
    }
}
