//! The normal form of a program: the effect of one iteration, as an expression.

use super::meaning::ProgramReader;
use super::rule::{NormalisationStop, NormalisationWork, Rule};
use super::scalar::{Scalar, ScalarAtom};
use super::vector::{Vector, VectorSource};
use super::word::MatrixAtom;
use crate::program::{Canonical, Dim, LiveOut, Program, Reg, Section, ShapeError, Signature, Update, check};
use std::collections::{BTreeMap, BTreeSet};

/// The effect of one iteration: the direction v1 and the new carried registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Normal {
    /// v1 and the new carried registers, as functions of x and the old carried registers.
    pub results: BTreeMap<Reg, Vector>,
    /// x after setup, where the first iteration starts.
    pub start: Vector,
    /// Whether the iteration reads the last step or a value of the iteration before.
    pub looks_back: bool,
    /// The rewrite rules used.
    pub rules: BTreeSet<Rule>,
    /// Why the form is incomplete, if it is.
    pub stop: Option<NormalisationStop>,
    /// The operands of every refresh that was read as its first operand.
    pub(super) refreshed: Vec<[Vector; 2]>,
}

impl Normal {
    /// The normal form of a program on problems of this shape.
    pub fn of(program: &Program, signature: impl Into<Signature>) -> Result<Normal, ShapeError> {
        let signature = signature.into();
        let form = Normal::as_written(program, signature)?;
        // The carried registers are interchangeable: of the two ways to name them, the smaller form is taken.
        if form.results.len() > 1 {
            let other = Normal::as_written(&exchanged(program), signature)?;
            return Ok(if other.results < form.results { other } else { form });
        }
        Ok(form)
    }

    fn as_written(program: &Program, signature: Signature) -> Result<Normal, ShapeError> {
        let mut form = Normal::at(program, signature, &BTreeMap::new())?;
        form.keep_what_counts();
        Ok(form)
    }

    /// The effect of an iteration if the carried registers hold these values, complete and without renaming.
    pub(super) fn at(
        program: &Program,
        signature: Signature,
        held: &BTreeMap<Reg, Vector>,
    ) -> Result<Normal, ShapeError> {
        let live = Canonical::new(program, LiveOut::Finished);
        let typed = check(live.program(), signature)?;
        let reader = || ProgramReader::new(signature);
        let refreshes = typed.iter().any(|typed| typed.instruction.op.refreshes());
        let trusted = refreshes.then(|| reader().trusting().read_all(&typed, held));
        match trusted.and_then(|form| form.without_refreshes(signature)) {
            Some(form) => Ok(form),
            None => Ok(reader().read_all(&typed, held)),
        }
    }

    /// The form, if every refresh changes nothing: where an iteration does not refresh, the second operand equals the
    /// first. The first iteration refreshes, so this is proved by induction: the operands are equal in the next one.
    fn without_refreshes(mut self, signature: Signature) -> Option<Normal> {
        let mut work = NormalisationWork::new(signature.geometry);
        let same = self.stop.is_none()
            && self.refreshed.iter().all(|operands| {
                let [u, v] = operands.each_ref().map(|w| next(&self.results, w, signature.update, &mut work));
                u.is_some() && u == v
            });
        work.used(Rule::Refresh);
        self.rules.append(&mut work.rules);
        (same && work.stop.is_none()).then_some(self)
    }

    /// Removes the carried registers that never affect v1.
    pub(super) fn keep_what_counts(&mut self) {
        let mut count = BTreeSet::from([Reg::V1]);
        loop {
            let mut more = count.clone();
            for vector in count.iter().filter_map(|reg| self.results.get(reg)) {
                vector.sources(&mut more);
            }
            if more == count {
                break;
            }
            count = more;
        }
        self.results.retain(|reg, _| count.contains(reg));
    }

    /// The random objects that the result depends on.
    pub fn random(&self) -> BTreeSet<MatrixAtom> {
        let mut found = BTreeSet::new();
        self.results.values().chain([&self.start]).for_each(|vector| vector.random(&mut found));
        found
    }

    /// Whether the form shows that an iteration is linear in x, b and the carried registers.
    pub fn is_linear(&self) -> bool {
        self.stop.is_none() && self.results.values().all(|vector| vector.is_linear())
    }

    /// Whether v1 depends on more than x that an earlier iteration computed.
    pub fn carries(&self) -> bool {
        self.results.len() > 1 || self.looks_back
    }

    /// Whether two complete forms are equal.
    pub fn equals(&self, other: &Normal) -> bool {
        let same = self.results == other.results && self.start == other.start;
        self.stop.is_none() && other.stop.is_none() && same
    }
}

/// x before the first iteration: zero if the update is x ← x − η·v1, otherwise an arbitrary vector, the same for all
/// programs.
pub(super) fn start(update: Update) -> Vector {
    match update {
        Update::Subtract => Vector::zero(Dim::Cols),
        Update::Assign => Vector::source(VectorSource::First, Dim::Cols),
        Update::Answer | Update::Basis => Vector::source(VectorSource::Reg(Reg::X), Dim::Cols),
    }
}

/// The value of a linear expression in x, d, b and the carried registers after an iteration with these results.
pub(super) fn next(
    results: &BTreeMap<Reg, Vector>,
    value: &Vector,
    update: Update,
    work: &mut NormalisationWork,
) -> Option<Vector> {
    let x = Vector::source(VectorSource::Reg(Reg::X), Dim::Cols);
    let v1 = &results[&Reg::V1];
    let moved = match update {
        Update::Subtract => x.plus(&Scalar::atom(ScalarAtom::Eta).negated(), v1, work),
        Update::Assign => v1.clone(),
        Update::Answer | Update::Basis => x.clone(),
    };
    let step = moved.plus(&Scalar::number(-1), &x, work);
    substituted(
        value,
        &|reg| match reg {
            Reg::X => Some(moved.clone()),
            Reg::D => Some(step.clone()),
            reg => results.get(&reg).cloned(),
        },
        work,
    )
}

/// A linear expression with its registers replaced where `by` gives an expression; `None` if it is not linear.
pub(super) fn substituted(
    value: &Vector,
    by: &dyn Fn(Reg) -> Option<Vector>,
    work: &mut NormalisationWork,
) -> Option<Vector> {
    if !value.is_linear() {
        return None;
    }
    let mut sum = Vector::zero(value.dim);
    for ((word, source), c) in &value.terms {
        let other = match source {
            VectorSource::Reg(reg) => by(*reg),
            _ => None,
        };
        let inner = other.unwrap_or_else(|| Vector::source(source.clone(), word.cols));
        sum = sum.plus(c, &inner.under(word, work), work);
    }
    Some(sum)
}

/// The program with its two carried registers of length n exchanged.
fn exchanged(program: &Program) -> Program {
    let names: Vec<Reg> = Reg::carried().filter(|reg| reg.length() == Some(Dim::Cols)).collect();
    let other = |reg: &mut Reg| {
        if let Some(i) = names.iter().position(|name| name == reg) {
            *reg = names[names.len() - 1 - i];
        }
    };
    let mut program = program.clone();
    for section in Section::BOTH {
        for instruction in program.section_mut(section) {
            instruction.target.iter_mut().for_each(other);
            instruction.operands.iter_mut().for_each(other);
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    fn form(text: &str) -> Normal {
        let normal = Normal::of(&text.parse().unwrap(), Geometry::Tall).unwrap();
        assert_eq!(normal.stop, None);
        normal
    }

    const STEP: &str = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = MAT_VEC_MUL(R1, v1)\n";

    #[test]
    fn the_ways_to_invert_a_gram_matrix_are_one() {
        let setups = [
            "R1 = HHQR(A)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)",
            "R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)",
            "R1 = HHQR(A)\n R1 = MAT_TRANS_MAT_MUL(R1, R1)\n R1 = MAT_INV(R1)",
            "R1 = HHQR(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)",
            "R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_INV(R1)",
        ];
        let forms = setups.map(|setup| form(&format!("setup:\n {setup}\n{STEP}")));
        for other in &forms[1..] {
            assert_eq!(forms[0].results, other.results);
        }
        let sketched = form(&format!(
            "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)\n{STEP}"
        ));
        let half = form(&format!("setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n{STEP}"));
        assert_ne!(forms[0].results, sketched.results);
        assert_ne!(forms[0].results, half.results);
    }

    #[test]
    fn what_cancels_is_gone() {
        let identity = form(&format!(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R2 = MAT_INV(R1)\n R1 = MAT_MAT_MUL(R1, R2)\n{STEP}"
        ));
        let plain =
            form("iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n");
        assert_eq!(identity.results, plain.results);
        let zero = form("iteration:\n v1 = VEC_VEC_SUB(x, x)\n");
        assert!(zero.results[&Reg::V1].terms.is_empty());
    }

    #[test]
    fn singular_products_are_not_cancelled() {
        // A·Aᵀ is m×m of rank n: with its pseudo-inverse it makes a projector, which changes b but not Aᵀb.
        let setup = "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R2 = MAT_INV(R1)\n R1 = MAT_MAT_MUL(R1, R2)\n";
        let plain = form("iteration:\n v1 = VEC_MAT_MUL(b, A)\n");
        let projected =
            form(&format!("{setup}iteration:\n v1 = MAT_VEC_MUL(R1, b)\n v1 = VEC_MAT_MUL(v1, A)\n"));
        assert_eq!(projected.results, plain.results);
        let scale = "v1 = VEC_MAT_MUL(b, A)\n v1 = SCALAR_VEC_MUL(a1, v1)\n";
        let plain = form(&format!("iteration:\n a1 = VEC_VEC_DOT(b, b)\n {scale}"));
        let projected =
            form(&format!("{setup}iteration:\n v2 = MAT_VEC_MUL(R1, b)\n a1 = VEC_VEC_DOT(b, v2)\n {scale}"));
        assert_ne!(projected.results, plain.results);
    }

    #[test]
    fn scalars_cancel_and_inner_products_commute() {
        let step = |a: &str| {
            form(&format!(
                "iteration:\n v1 = VEC_MAT_MUL(b, A)\n v2 = MAT_VEC_MUL(A, v1)\n {a}\n v1 = SCALAR_VEC_MUL(a1, v1)\n"
            ))
        };
        let one = step("a1 = VEC_VEC_DOT(v1, v1)\n a2 = VEC_VEC_DOT(v2, v2)\n a1 = SCALAR_DIV(a1, a2)");
        let two = step("a1 = VEC_VEC_DOT(v2, b)\n a2 = VEC_VEC_DOT(v2, v2)\n a1 = SCALAR_DIV(a1, a2)");
        assert_eq!(one.results, two.results, "‖Aᵀb‖² = (AAᵀb)ᵀb");
    }
}
