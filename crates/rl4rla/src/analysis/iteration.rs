//! The iteration as x ← x − η·M·(Ax − b), and whether M is a fixed matrix.

use super::study::Study;
use crate::equivalence::Normal;
use crate::execute::{RunSettings, steps_from};
use crate::linalg::{norm, sub};
use crate::problem::Family;
use crate::program::{Section, Update, direction};
use serde::Serialize;

/// Type of an iteration as a function of x.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// x ← G·x + c with a fixed G, whose spectrum determines the convergence.
    Stationary,
    /// The same with a G that is drawn anew in every iteration.
    Randomised,
    /// Linear in x and the carried registers.
    Carried,
    /// Anything else.
    Nonlinear,
}

impl Nature {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Nature::Stationary => "linear and stationary: one iteration matrix",
            Nature::Randomised => "linear, with a matrix redrawn in every iteration",
            Nature::Carried => "linear, with a memory of earlier iterations",
            Nature::Nonlinear => "nonlinear",
        }
    }
}

/// How the type was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decided {
    /// By the normal form.
    Algebra,
    /// By running an iteration from several points on the same random draws.
    Probe,
}

/// One iteration as a formula.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Iteration {
    /// Its type as a function of x.
    pub nature: Nature,
    /// How the type was determined.
    pub decided: Decided,
    /// v1 as a formula.
    pub direction: String,
    /// M, if v1 = M·r.
    pub multiplier: Option<String>,
    /// M in LaTeX.
    pub multiplier_latex: Option<String>,
    /// r, a difference from b.
    pub residual: Option<String>,
    /// The update of x.
    pub update: String,
    /// Definitions of the names used.
    pub definitions: Vec<String>,
}

/// Size of the test instance used if algebra cannot decide.
const PROBE: (usize, usize) = (40, 5);
/// Iterations that show whether a program that looks back is linear: the second looks back to the first, the third
/// to both.
const LOOKING_BACK: usize = 3;
/// Relative tolerance of the linearity test.
const LINEAR: f64 = 1e-9;

impl Iteration {
    /// The iteration of a study's program.
    pub fn of(study: &Study) -> Iteration {
        let signature = study.family.signature();
        let program = study.live.program();
        let read = direction(program, signature).expect("a program with a price fits its shapes");
        let split = read.v1.over_residual();
        let named = |text: String| if text.is_empty() { "I".into() } else { text };
        let (nature, decided) = nature(study);
        Iteration {
            nature,
            decided,
            direction: read.v1.text(),
            multiplier: split.as_ref().map(|(m, _)| named(m.text())),
            multiplier_latex: split.as_ref().map(|(m, _)| named(m.latex())),
            residual: split.as_ref().map(|(_, r)| r.text()),
            update: signature.update.formula().into(),
            definitions: read.definitions.into_iter().map(|(text, _)| text).collect(),
        }
    }
}

fn nature(study: &Study) -> (Nature, Decided) {
    let signature = study.family.signature();
    let form = Normal::of(study.live.program(), signature).expect("a program with a price fits its shapes");
    if signature.update != Update::Subtract {
        return (Nature::Nonlinear, Decided::Algebra);
    }
    let (linear, decided) = match form.is_linear() {
        true => (true, Decided::Algebra),
        // Where an iteration looks back, the first one does not show what the others do.
        false => {
            let iterations = if form.looks_back { LOOKING_BACK } else { 1 };
            (probed(study, iterations).unwrap_or(false), Decided::Probe)
        }
    };
    let nature = if !linear {
        Nature::Nonlinear
    } else if form.carries() {
        Nature::Carried
    } else if study.draws_in(Section::Iteration).contains(&true) {
        Nature::Randomised
    } else {
        Nature::Stationary
    };
    (nature, decided)
}

/// Whether f(x + y) − f(x) − f(y) + f(0) vanishes for f, the first iterations with fixed random draws; `None` if they
/// fail.
fn probed(study: &Study, iterations: usize) -> Option<bool> {
    let (rows, cols) = if study.family.kind.info().square { (PROBE.1, PROBE.1) } else { PROBE };
    let family = Family { rows, cols, ..study.family };
    let instance = study.instance(&family, study.care.seed, 0).ok()?;
    let points = |label| study.stream(0).derive(label, 0).normals(cols);
    let (x, y) = (points("x"), points("y"));
    let sum: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    let starts = [sum, x, y, vec![0.0; cols]];
    let settings = RunSettings { iterations, ..study.protocol.settings(rows, cols, study.step) };
    let ends = steps_from(study.live.program(), &instance, &settings, starts, &study.stream(0)).ok()?;
    let [both, x, y, zero] = &ends[..] else { return None };
    let gap = sub(&sub(both, x), &sub(y, zero));
    Some(norm(&gap) <= LINEAR * ends.iter().map(|end| norm(end)).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;

    fn iteration(name: &str, family: &str, size: (usize, usize)) -> Iteration {
        Iteration::of(&study(name, family, size, &[], Some(0.5)))
    }

    #[test]
    fn the_catalogue_is_told_apart_by_algebra() {
        let tall = |name| iteration(name, "mid-cond", (60, 4));
        for (name, multiplier) in [
            ("ls-gd", "Aᵀ"),
            ("precond-gd", "R⁻¹ R⁻ᵀ Aᵀ"),
            ("sketched-precond-gd-gram", "(Aᵀ Sᵀ S A)⁻¹ Aᵀ"),
            ("subsampled-ls-gd", "Aᵀ S₀ᵀ S₀"),
        ] {
            let found = tall(name);
            assert_eq!((found.nature, found.decided), (Nature::Stationary, Decided::Algebra), "{name}");
            assert_eq!(found.multiplier.as_deref(), Some(multiplier), "{name}");
        }
        assert_eq!(iteration("landweber", "psd", (5, 5)).multiplier.as_deref(), Some("I"));
        let kaczmarz = tall("block-kaczmarz");
        assert_eq!(kaczmarz.nature, Nature::Randomised);
        assert_eq!(kaczmarz.residual.as_deref(), Some("A xₜ − b"));
    }

    #[test]
    fn what_algebra_does_not_know_is_probed() {
        let logistic = iteration("logistic-gd", "logistic", (60, 4));
        assert_eq!((logistic.nature, logistic.decided), (Nature::Nonlinear, Decided::Probe));
        assert_eq!(logistic.residual.as_deref(), Some("σ(A xₜ) − b"));
        assert_eq!(iteration("power-iteration", "eigenvalue", (6, 6)).nature, Nature::Nonlinear);
        // Its first iteration is linear, its second is not.
        let adaptive = iteration("adaptive-momentum", "mid-cond", (60, 4));
        assert_eq!((adaptive.nature, adaptive.decided), (Nature::Nonlinear, Decided::Probe));
        assert_eq!(iteration("cgls", "mid-cond", (60, 4)).nature, Nature::Nonlinear);
        let momentum = iteration("heavy-ball", "mid-cond", (60, 4));
        assert_eq!((momentum.nature, momentum.decided), (Nature::Carried, Decided::Algebra));
    }
}
