//! The normal form of a program: the effect of one iteration, as an expression.

use super::meaning::ProgramReader;
use super::rule::{NormalisationStop, Rule};
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
        Ok(ProgramReader::new(signature).read_all(&typed, held))
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

/// The program with its two carried registers exchanged.
fn exchanged(program: &Program) -> Program {
    let names: Vec<Reg> = Reg::carried().collect();
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
