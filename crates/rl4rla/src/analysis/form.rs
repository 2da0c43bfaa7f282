//! The form of a preconditioner: how a program represents (MᵀM)⁻¹, and up to which condition number that is stable.

use crate::cache::Memo;
use crate::equivalence::solves_systems;
use crate::execute::{RunSettings, run_unmeasured};
use crate::linalg::{norm, sub};
use crate::problem::Family;
use crate::program::{Canonical, Geometry, LiveOut, Program, Reg, Signature, Structure, Type, Typed, check};
use crate::rng::Stream;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// How a program represents (MᵀM)⁻¹, where M is A, a sketch of it or a sample.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Factor {
    /// As the R of M = QR, applying R⁻ᵀ and R⁻¹ one after the other.
    InTurn,
    /// As the product R⁻¹R⁻ᵀ, whose condition number is that of M squared.
    MultipliedOut,
    /// As the inverse of MᵀM: the condition number is squared before the inversion.
    Gram,
}

/// How a program represents its preconditioner, and the effect on accuracy.
#[derive(Clone, PartialEq, Debug)]
pub struct PreconditionerForm {
    /// The representation.
    pub factor: Factor,
    /// The largest power of ten, up to [`PreconditionerForm::LAST`], such that linear systems of that condition number are solved
    /// to rounding; `None` if even well-conditioned ones are not, as by programs that sample, or if that was not
    /// tested.
    pub holds: Option<f64>,
}

impl PreconditionerForm {
    /// The largest condition number tested.
    pub const LAST: f64 = 1e14;
    const DECADES: i32 = 14;
    /// Relative error of x, per unit of κ, that is explained by rounding alone: some hundred rounding errors.
    const ROUNDING: f64 = 1e-12;

    /// The form of a program; `None` if it does not represent such an inverse.
    pub fn of(program: &Program, signature: impl Into<Signature>) -> Option<PreconditionerForm> {
        let signature = signature.into();
        if !solves_systems(program, signature) {
            return None;
        }
        let live = Canonical::new(program, LiveOut::Finished);
        let factor = factor(&check(live.program(), signature).ok()?)?;
        // Remembered, because runs find the same programs again and again.
        static HOLDS: LazyLock<Memo<u128, Option<f64>>> = LazyLock::new(Memo::new);
        let holds = || HOLDS.find(live.id(), || PreconditionerForm::holds(live.program()));
        let holds = (signature.geometry == Geometry::Tall).then(holds);
        Some(PreconditionerForm { factor, holds: holds.flatten() })
    }

    /// Whether systems of every tested condition number are solved to rounding.
    pub fn is_stable(&self) -> bool {
        self.holds == Some(PreconditionerForm::LAST)
    }

    fn holds(program: &Program) -> Option<f64> {
        let (rows, cols) = (600, 30);
        // Enough iterations for a sketch with 8n rows at a step size that is stable for every form.
        let settings =
            RunSettings { iterations: 150, step: 0.5, batch: 40, ..RunSettings::for_size(rows, cols) };
        let solves = |kappa: f64| {
            let usual = Family::named("mid-cond").expect("a family of the table");
            let family = Family { rows, cols, condition: Some(kappa), ..usual };
            let instance = family.draw(&Stream::new(0).derive("form", 0)).ok()?;
            let x = run_unmeasured(program, &instance, &settings, &Stream::new(3)).ok()?;
            // The error of x, not of Ax: it shows the directions of small singular values, which the residual hides.
            let error = norm(&sub(&x, &instance.x_star)) / norm(&instance.x_star);
            (error <= PreconditionerForm::ROUNDING * kappa).then_some(kappa)
        };
        (1..=PreconditionerForm::DECADES).map(|decade| 10f64.powi(decade)).map_while(solves).last()
    }
}

/// How a matrix was computed, beyond its type.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    /// MᵀM or MMᵀ.
    Squared,
    /// A triangular factor, or its inverse.
    Triangle,
}

/// How typed live code represents the inverse of a Gram matrix; the least stable way if it uses several.
fn factor(live: &[Typed]) -> Option<Factor> {
    let mut made: BTreeMap<Reg, Made> = BTreeMap::new();
    let mut worst = None;
    for typed in live {
        let (Some(target), Some(Type::Matrix(_, _, structure))) = (typed.instruction.target, typed.result)
        else {
            continue;
        };
        let before = |arg: Reg| made.get(&arg).copied();
        let structured = |wanted: Structure| {
            typed.args.iter().any(|arg| matches!(arg.ty, Type::Matrix(_, _, s) if s == wanted))
        };
        let first = typed.args.first().and_then(|arg| before(arg.reg));
        let (now, used) = match structure {
            Structure::Upper => (Some(Made::Triangle), Some(Factor::InTurn)),
            // A symmetric product of a matrix with its own transpose.
            Structure::Symmetric if first == Some(Made::Triangle) => (None, Some(Factor::MultipliedOut)),
            Structure::Symmetric if !structured(Structure::Symmetric) => (Some(Made::Squared), None),
            // Of the operators on a symmetric matrix only inversion gives a symmetric result.
            Structure::Symmetric if first == Some(Made::Squared) => (None, Some(Factor::Gram)),
            Structure::Symmetric | Structure::General => (None, None),
        };
        match now {
            Some(now) => made.insert(target, now),
            None => made.remove(&target),
        };
        worst = worst.max(used);
    }
    worst
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Factor::InTurn => "QR in turn",
            Factor::MultipliedOut => "QR multiplied out",
            Factor::Gram => "Gram",
        })
    }
}

impl fmt::Display for PreconditionerForm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.holds {
            _ if self.is_stable() => write!(f, "{}, stable", self.factor),
            Some(holds) => write!(f, "{}, loses digits from κ = {:e} on", self.factor, 10.0 * holds),
            None => write!(f, "{}", self.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    fn form(program: &Program) -> Option<PreconditionerForm> {
        PreconditionerForm::of(program, Geometry::Tall)
    }

    fn named(name: &str) -> Option<PreconditionerForm> {
        form(&Entry::named(name).unwrap().document.program)
    }

    #[test]
    fn factors_in_turn_are_stable_and_products_are_not() {
        let factored = named("sketched-precond-gd-factored").unwrap();
        assert_eq!((factored.factor, factored.is_stable()), (Factor::InTurn, true));
        assert_eq!(factored.to_string(), "QR in turn, stable");
        for (name, factor) in [
            ("sketched-precond-gd", Factor::MultipliedOut),
            ("precond-gd", Factor::MultipliedOut),
            ("sketched-precond-gd-gram", Factor::Gram),
        ] {
            let form = named(name).unwrap();
            assert_eq!(form.factor, factor, "{name}");
            assert!(form.holds.is_some_and(|kappa| (1e6..1e10).contains(&kappa)), "{name} {form:?}");
        }
        assert!(
            named("sketched-precond-gd-gram")
                .unwrap()
                .to_string()
                .starts_with("Gram, loses digits from κ = 1e")
        );
    }

    #[test]
    fn the_form_is_read_off_the_live_code_whatever_its_names() {
        let in_turn: Program = "setup:\n R3 = MAT_TRANS_MAT_MUL(A, A)\n R3 = MAT_INV(R3)\n R2 = SKETCH(A)\n R2 = HHQR(R2)\n \
             R2 = MAT_INV(R2)\niteration:\n v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(v2, b)\n v2 = VEC_MAT_MUL(v2, A)\n \
             v2 = VEC_MAT_MUL(v2, R2)\n v1 = MAT_VEC_MUL(R2, v2)\n"
            .parse()
            .unwrap();
        assert_eq!(
            form(&in_turn),
            Some(PreconditionerForm { factor: Factor::InTurn, holds: Some(PreconditionerForm::LAST) })
        );
        assert_eq!(named("ls-gd"), None);
        // A Gram matrix that is not inverted is not a preconditioner.
        let gram_gd: Program =
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n v2 = VEC_MAT_MUL(b, A)\niteration:\n \
             v1 = MAT_VEC_MUL(R1, x)\n v1 = VEC_VEC_SUB(v1, v2)\n"
                .parse()
                .unwrap();
        assert_eq!(form(&gram_gd), None);
    }
}
