//! Programs for least squares that `auto` chooses from, each with its tunables and predicted time.

use super::examination::Examination;
use super::options::{SolveOptions, StepSize};
use super::speeds::Speeds;
use crate::execute::{SketchKind, SketchLaw};
use crate::program::{Document, Entry};

/// Digits from the start to the accuracy of a direct method.
const DIGITS: f64 = 16.0;

/// Largest κ at which the rounding error of AᵀA, nκ²ε, leaves a step of refinement enough to gain: a digit and more.
pub(super) fn squares_well(kappa: f64, n: usize) -> bool {
    kappa * kappa * n as f64 * f64::EPSILON < 1e-3
}

/// How a candidate solves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolveScheme {
    /// By x ← x − R⁻¹R⁻ᵀAᵀ(Ax − b) with the R of A, which serves several right-hand sides at once.
    Refinement,
    /// With the R of a sketch, and momentum.
    Momentum,
    /// Without a factor of A, so that only a bound on the backward error is known.
    Unfactored,
}

/// Iterations of conjugate gradients to expect on sparse data.
const CONJUGATE: f64 = 40.0;

/// A program with its tunables, and what is expected of it.
#[derive(Clone, PartialEq, Debug)]
pub struct SolveCandidate {
    /// Catalogue name of the program.
    pub program: &'static str,
    /// How it solves.
    pub scheme: SolveScheme,
    /// Options to run it with.
    pub options: SolveOptions,
    /// Kind and rows per column of its sketch, if it has one.
    pub sketch: Option<(SketchKind, f64)>,
    /// Expected seconds.
    pub seconds: f64,
    /// Whether it should converge, by what is known of the data.
    pub fit: bool,
    /// Why it is fit or not.
    pub reason: String,
}

/// A way to solve: a row of the table.
struct Row {
    program: &'static str,
    scheme: SolveScheme,
    /// Kind and rows per column of its sketch, if it has one.
    sketch: Option<(SketchKind, f64)>,
    seconds: fn(&Work) -> f64,
    fit: fn(&Examination) -> bool,
    reason: fn(&Examination) -> String,
}

/// Sizes and speeds.
struct Work<'a> {
    found: &'a Examination,
    speeds: Speeds,
    m: f64,
    n: f64,
    /// Rows of the sketch.
    s: f64,
    /// Nonzeros in a column of S.
    nonzeros: f64,
}

impl Work<'_> {
    /// So many passes over A, each with a certificate: four solves with R.
    fn passes(&self, count: f64) -> f64 {
        count * (self.found.bytes / self.speeds.pass + 4.0 * self.n * self.n / 2e9)
    }

    /// Steps of refinement with an error of this size in AᵀA.
    fn refinements(&self, error: f64) -> f64 {
        let digits = -error.max(f64::EPSILON).log10();
        1.0 + (DIGITS / digits.max(0.5)).ceil()
    }

    fn gram(&self) -> f64 {
        self.found.gram_flops / self.speeds.gram + self.cholesky()
    }

    fn cholesky(&self) -> f64 {
        self.n.powi(3) / 3.0 / self.speeds.cholesky
    }

    /// S·A and its R.
    fn sketch(&self) -> f64 {
        let entries = self.found.bytes / 8.0;
        entries * self.nonzeros / self.speeds.sketch + 2.0 * self.s * self.n * self.n / self.speeds.qr
    }

    /// Iterations at the rate √(n/s) of conjugate gradients preconditioned by a sketch.
    fn sketched_iterations(&self) -> f64 {
        DIGITS / (0.5 * (self.s / self.n).log10())
    }
}

static ROWS: [Row; 5] = [
    Row {
        program: "gram-refinement",
        scheme: SolveScheme::Refinement,
        sketch: None,
        seconds: |w| {
            let kappa = w.found.kappa.unwrap_or(1.0);
            w.gram() + w.passes(1.0 + w.refinements(kappa * kappa * f64::EPSILON))
        },
        fit: |found| found.kappa.is_none_or(|kappa| squares_well(kappa, found.cols)),
        reason: |found| match found.kappa {
            Some(kappa) if kappa < 1e3 => format!("κ ≈ {kappa:.0} on a sample of rows"),
            Some(kappa) => format!("κ ≈ {kappa:.0e} on a sample of rows"),
            None => "κ unknown, and AᵀA is the cheapest way to learn it".into(),
        },
    },
    Row {
        program: "sketched-gram-refinement",
        scheme: SolveScheme::Refinement,
        sketch: Some((SketchKind::Sjlt2, 4.0)),
        seconds: |w| {
            let precond = 2.0 * w.m * w.n * w.n / w.speeds.precond_gram;
            w.sketch() + precond + w.cholesky() + w.passes(4.0)
        },
        fit: |found| found.dense && found.rows > 8 * found.cols,
        reason: |_| "accurate at any κ: a sketch makes AᵀA well conditioned".into(),
    },
    Row {
        program: "adaptive-momentum",
        scheme: SolveScheme::Momentum,
        sketch: Some((SketchKind::Sjlt, 8.0)),
        seconds: |w| w.sketch() + w.passes(2.0 + w.sketched_iterations()),
        fit: |found| found.rows > 16 * found.cols,
        reason: |_| "accurate at any κ, and it reads A a few dozen times".into(),
    },
    Row {
        program: "cgls-recurred",
        scheme: SolveScheme::Unfactored,
        sketch: None,
        seconds: |w| w.passes(2.0 * CONJUGATE),
        fit: |_| true,
        reason: |found| {
            format!("{} columns: a dense factor would be larger than the sparse data", found.cols)
        },
    },
    Row {
        program: "qr-refinement",
        scheme: SolveScheme::Refinement,
        sketch: None,
        seconds: |w| 2.0 * w.m * w.n * w.n / w.speeds.qr + w.passes(4.0),
        fit: |_| true,
        reason: |_| "a Householder factorisation is accurate for every A of full rank".into(),
    },
];

impl SolveCandidate {
    /// All candidates, those that should converge first, the fastest first; the last resort is the Householder
    /// factorisation. Where a factor would be too large, there is one candidate, which needs none.
    pub fn all(found: &Examination, speeds: Speeds, options: &SolveOptions) -> Vec<SolveCandidate> {
        let rows = ROWS.iter().filter(|row| (row.scheme == SolveScheme::Unfactored) == found.is_very_wide());
        let mut all: Vec<SolveCandidate> = rows.map(|row| row.candidate(found, speeds, options)).collect();
        all.sort_by(|a, b| b.fit.cmp(&a.fit).then(a.seconds.total_cmp(&b.seconds)));
        all
    }

    /// The program.
    pub fn document(&self) -> &'static Document {
        &Entry::named(self.program).expect("candidates are in the catalogue").document
    }
}

impl Row {
    fn candidate(&self, found: &Examination, speeds: Speeds, options: &SolveOptions) -> SolveCandidate {
        let (kind, factor) = self.sketch.unwrap_or((SketchKind::Sjlt2, 1.0));
        let (m, n) = (found.rows as f64, found.cols as f64);
        let SketchLaw::Sparse(nonzeros) = kind.law() else { unreachable!("candidates have sparse sketches") };
        let work = Work { found, speeds, m, n, s: factor * n, nonzeros: nonzeros as f64 };
        // The step sizes of theory: 1 with the R of A, (1 − n/s)² with that of a sketch and momentum.
        let step = match self.scheme {
            SolveScheme::Momentum => (1.0 - 1.0 / factor).powi(2),
            SolveScheme::Refinement | SolveScheme::Unfactored => 1.0,
        };
        SolveCandidate {
            program: self.program,
            scheme: self.scheme,
            sketch: self.sketch,
            options: SolveOptions {
                step: StepSize::Fixed(step),
                sketch: kind,
                sketch_factor: factor,
                ..options.clone()
            },
            seconds: (self.seconds)(&work),
            fit: (self.fit)(found),
            reason: (self.reason)(found),
        }
    }
}
