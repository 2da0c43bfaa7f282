//! The condition number from which programs that are equal in exact arithmetic differ in floating-point arithmetic.

use super::budget;
use super::numeric::{draw, named};
use crate::cache::Memo;
use crate::execute::{RunSettings, run_unmeasured};
use crate::linalg::{norm, sub};
use crate::problem::{Family, Instance};
use crate::program::{Canonical, Geometry, LiveOut, Program, Signature, Update};
use crate::rng::Stream;
use std::sync::{Arc, LazyLock};
use xxhash_rust::xxh3::xxh3_128;

/// Where two programs that are equal in exact arithmetic differ in floating-point arithmetic.
#[derive(Clone, PartialEq, Debug)]
pub struct Stability {
    /// The condition number from which their results differ.
    pub kappa: f64,
    /// Whether the first program is the more accurate one.
    pub first_is_steadier: bool,
}

/// The result of runs at increasing condition numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ladder {
    /// Where the programs start to differ, if they do.
    pub parted: Option<Stability>,
    /// What was left out to bound the work.
    pub cut: Option<String>,
}

/// Decimal exponents of the condition numbers.
const DECADES: std::ops::RangeInclusive<i32> = 1..=14;

/// Sizes of the systems, in order of preference; the smaller ones are for expensive programs.
fn sizes(geometry: Geometry) -> [(usize, usize); 5] {
    match geometry {
        Geometry::Tall => [(600, 30), (300, 20), (120, 12), (60, 8), (30, 6)],
        Geometry::Square | Geometry::Symmetric => [30, 20, 12, 8, 6].map(|n| (n, n)),
    }
}

/// Whether a program can be run on linear systems: its update is x ← x − η·v1, and it uses only the paper's
/// operators.
pub fn solves_systems(program: &Program, signature: Signature) -> bool {
    signature.update == Update::Subtract && program.instructions().all(|(_, _, ins)| ins.op.is_core())
}

/// Runs both programs on linear systems of increasing condition number until one is a hundred times less accurate
/// than the other. Programs that use a task's own operators or another update are not compared.
pub fn stability(p: &Program, q: &Program, signature: impl Into<Signature>) -> Ladder {
    let signature = signature.into();
    if !solves_systems(p, signature) || !solves_systems(q, signature) {
        return Ladder::default();
    }
    let live = |program| Canonical::new(program, LiveOut::Finished);
    if live(p) == live(q) {
        return Ladder::default();
    }
    let work = |&(rows, cols): &(usize, usize)| {
        let one = |program| budget::work(program, signature, &settings(rows, cols), rows, cols);
        DECADES.count() as f64 * (one(p) + one(q))
    };
    let sizes = sizes(signature.geometry);
    let Some(size) = sizes.into_iter().find(|size| work(size) <= budget::MOST) else {
        return Ladder {
            parted: None,
            cut: Some("stability was not compared: it would take too much work".into()),
        };
    };
    let (rows, cols) = size;
    let cut = (size != sizes[0]).then(|| {
        format!("stability was compared on {rows}×{cols} systems, smaller than usual, to bound the work")
    });
    let parted = DECADES.into_iter().find_map(|decade| {
        let (kappa, systems) = (10f64.powi(decade), Systems { geometry: signature.geometry, size, decade });
        // Errors below rounding at this κ are not compared.
        let floor = 1e-14 * kappa;
        let (e, f) = (systems.error(p).max(floor), systems.error(q).max(floor));
        (e > 100.0 * f || f > 100.0 * e).then_some(Stability { kappa, first_is_steadier: e < f })
    });
    Ladder { parted, cut }
}

fn settings(rows: usize, cols: usize) -> RunSettings {
    RunSettings { iterations: 60, step: 0.5, batch: 40, ..RunSettings::for_size(rows, cols) }
}

/// The linear systems on which programs are compared at one condition number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Systems {
    geometry: Geometry,
    size: (usize, usize),
    decade: i32,
}

impl Systems {
    fn instance(self) -> Arc<Instance> {
        static DRAWN: LazyLock<Memo<Systems, Arc<Instance>>> = LazyLock::new(Memo::new);
        DRAWN.find(self, || {
            let name = if self.geometry == Geometry::Symmetric { "psd" } else { "mid-cond" };
            let ((rows, cols), condition) = (self.size, Some(10f64.powi(self.decade)));
            Arc::new(draw(&Family { rows, cols, condition, ..named(name) }, "stability", 0))
        })
    }

    /// The error of x, not of Ax: it shows the directions of small singular values, which the residual hides.
    /// Remembered, because a search compares few programs many times.
    fn error(self, program: &Program) -> f64 {
        static ERRORS: LazyLock<Memo<(u128, Systems), f64>> = LazyLock::new(Memo::new);
        ERRORS.find((xxh3_128(program.to_string().as_bytes()), self), || {
            let (instance, (rows, cols)) = (self.instance(), self.size);
            let x = run_unmeasured(program, &instance, &settings(rows, cols), &Stream::new(3)).ok();
            x.map_or(f64::INFINITY, |x| norm(&sub(&x, &instance.x_star)) / norm(&instance.x_star))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    fn program(name: &str) -> &'static Program {
        &Entry::named(name).unwrap().document.program
    }

    #[test]
    fn the_forms_of_the_sketched_preconditioner_agree_until_rounding_parts_them() {
        let [explicit, factored, gram] =
            ["", "-factored", "-gram"].map(|form| program(&format!("sketched-precond-gd{form}")));
        let parted = stability(explicit, factored, Geometry::Tall).parted.unwrap();
        assert!(!parted.first_is_steadier && (1e6..1e11).contains(&parted.kappa), "{parted:?}");
        let parted = stability(factored, gram, Geometry::Tall).parted.unwrap();
        assert!(parted.first_is_steadier && (1e5..1e11).contains(&parted.kappa), "{parted:?}");
        assert_eq!(stability(factored, factored, Geometry::Tall), Ladder::default());
    }

    #[test]
    fn what_is_too_much_work_is_compared_on_smaller_systems_or_not_at_all() {
        let step = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = MAT_VEC_MUL(R1, v1)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let outer = "R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = MAT_INV(R1)\n";
        let project = |times: usize| -> Program {
            format!("iteration:\n {}{step}", outer.repeat(times)).parse().unwrap()
        };
        let ladder = stability(program("precond-gd"), &project(1), Geometry::Tall);
        assert!(ladder.cut.is_some_and(|cut| cut.contains("30×6")), "the m×m inverse of every iteration");
        let again = "R1 = MAT_INV(R1)\n".repeat(400);
        let endless: Program = format!("iteration:\n {outer}{again}{step}").parse().unwrap();
        let ladder = stability(program("precond-gd"), &endless, Geometry::Tall);
        assert!(ladder.cut.is_some_and(|cut| cut.contains("not compared")) && ladder.parted.is_none());
    }
}
