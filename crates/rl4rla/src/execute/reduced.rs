//! Reduced coordinates: a tall problem seen through the n + 1 directions that a program can reach.
//!
//! With [A b] = Q·R, every m-vector that a program builds from A, b and x is Q times n + 1 coordinates: products,
//! sums, inner products and R factors are the same in coordinates, where A is R's first n columns and b its last.
//! Where b is in the range of A, the n directions of A = Q·R are enough.
//! What needs true rows is kept here: S·Q for a sketch, sampled rows of A and b, and the row norms of A.

use super::cache::Cache;
use super::draws::Data;
use super::plan::Plan;
use super::run::Settings;
use super::sample::{self, Sampled, Sampling};
use super::sketch::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};
use crate::problem::Instance;
use crate::program::{Dim, Geometry, Section};
use crate::rng::{Discrete, Stream, WeightError};
use std::sync::{Arc, OnceLock};

/// Sketches kept per instance: a few replicates of a few hundred iterations.
const SKETCHES: usize = 512;
/// Samples kept per instance.
const SAMPLES: usize = 1024;
/// Where A and b differ more than this in size, one could vanish beside the other in their factorisation.
const LARGEST_RATIO: f64 = 1e100;

/// An instance prepared for many runs: in reduced coordinates if it is tall, with what runs on it share.
///
/// ```
/// use rl4rla::{execute::{Prepared, Settings, run, run_prepared}, problem::Family, program::Entry, rng::Stream};
/// let mut family = Family::named("low-cond").unwrap();
/// (family.rows, family.cols) = (200, 5);
/// let prepared = Prepared::new(family.draw(&Stream::new(1)).unwrap());
/// let program = &Entry::named("ls-gd").unwrap().document.program;
/// let settings = Settings::for_size(200, 5);
/// let reduced = run_prepared(program, &prepared, &settings, &Stream::new(2)).unwrap();
/// let full = run(program, prepared.instance(), &settings, &Stream::new(2)).unwrap();
/// assert!((reduced.residuals[10] - full.residuals[10]).abs() < 1e-12);
/// ```
pub struct Prepared {
    instance: Arc<Instance>,
    /// Found when first asked for: not everyone who draws an instance searches on it.
    reduced: OnceLock<Option<Reduced>>,
}

impl Prepared {
    /// Prepares an instance; a tall one is factored once, when it is first run on.
    pub fn new(instance: Instance) -> Prepared {
        Prepared { instance: Arc::new(instance), reduced: OnceLock::new() }
    }

    fn reduced(&self) -> Option<&Reduced> {
        self.reduced.get_or_init(|| Reduced::new(&self.instance)).as_ref()
    }

    /// The instance itself.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The coordinates in which this program can run: reduced ones, unless an operator must see true rows.
    pub(crate) fn data(&self, plan: &Plan, settings: &Settings) -> Data<'_> {
        match self.reduced() {
            Some(reduced) if !plan.fixes(Dim::Rows) => Data::Reduced(reduced, reduced.rows(plan, settings)),
            _ => Data::True(&self.instance),
        }
    }
}

/// How a sketch's rows are represented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rows {
    /// As they are.
    True,
    /// By n + 1 coordinates, S·Q = Q₂·R₂.
    Reduced,
}

/// A sketch as it acts on coordinates.
pub struct Image {
    /// S·Q, or R₂.
    pub operator: Matrix,
    /// What it makes of A.
    pub a: Arc<Matrix>,
    /// What it makes of b.
    pub b: Arc<Vec<f64>>,
}

/// A tall problem in reduced coordinates.
pub struct Reduced {
    truth: Arc<Instance>,
    problem: Instance,
    basis: Matrix,
    uniform: Arc<Discrete>,
    leverage: OnceLock<Result<Arc<Discrete>, WeightError>>,
    images: Cache<(Stream, SketchKind, usize, Rows), Arc<Image>>,
    samples: Cache<(Stream, bool, usize, Sampling), Option<Sampled>>,
}

impl Reduced {
    /// `None` where there is nothing to gain, or no safe factorisation.
    fn new(truth: &Arc<Instance>) -> Option<Reduced> {
        let (m, n) = (truth.rows(), truth.cols());
        if truth.geometry() != Geometry::Tall || m <= n + 1 || !truth.task.is_isometric() {
            return None;
        }
        let ratio = truth.norm_b() / truth.spectrum().first()?;
        if truth.norm_b() > 0.0 && !(1.0 / LARGEST_RATIO..LARGEST_RATIO).contains(&ratio) {
            return None;
        }
        let (basis, problem) = if truth.attainable() == 0.0 {
            // b lies in the range of A already.
            let (basis, r) = linalg::thin_qr(&truth.A)?;
            let b = linalg::vec_mat(&truth.b, &basis);
            (basis, truth.in_coordinates(r, b))
        } else {
            let entry = |i: usize, j: usize| if j < n { truth.A.get(i, j) } else { truth.b[i] };
            let (basis, r) = linalg::thin_qr(&Matrix::from_fn(m, n + 1, entry))?;
            let a = Matrix::from_fn(n + 1, n, |i, j| r.get(i, j));
            (basis, truth.in_coordinates(a, r.column(n).to_vec()))
        };
        Some(Reduced {
            truth: truth.clone(),
            problem,
            basis,
            uniform: Arc::new(Discrete::uniform(m).ok()?),
            leverage: OnceLock::new(),
            images: Cache::new(SKETCHES),
            samples: Cache::new(SAMPLES),
        })
    }

    /// The problem as it was given.
    pub fn truth(&self) -> &Instance {
        &self.truth
    }

    /// The problem in coordinates.
    pub fn problem(&self) -> &Instance {
        &self.problem
    }

    /// A sketch's rows can be reduced if nothing looks at them, if there are enough of them, and if only one sketch
    /// is met at a time: those of setup and of an iteration have different Q₂.
    fn rows(&self, plan: &Plan, settings: &Settings) -> Rows {
        let two_sketches = Section::BOTH.iter().all(|&section| plan.sketches(section));
        let few = settings.sketch_rows < self.basis.cols();
        if two_sketches || few || plan.fixes(Dim::Sketch) { Rows::True } else { Rows::Reduced }
    }

    /// The sketch of this stream.
    pub fn image(&self, settings: &Settings, rows: Rows, stream: Stream) -> Arc<Image> {
        let (kind, sketch_rows) = (settings.sketch, settings.sketch_rows);
        self.images.get((stream, kind, sketch_rows, rows), || {
            let sketched = Sketch::draw(kind, sketch_rows, self.truth.rows(), &stream).apply(&self.basis);
            let operator = if rows == Rows::Reduced { linalg::qr_r(&sketched) } else { sketched };
            let a = Arc::new(linalg::matmul(&operator, &self.problem.A));
            let b = Arc::new(linalg::mat_vec(&operator, &self.problem.b));
            Arc::new(Image { operator, a, b })
        })
    }

    /// Every row as likely as any other.
    pub fn uniform(&self) -> &Arc<Discrete> {
        &self.uniform
    }

    /// Rows of A by their squared norms.
    pub fn leverage(&self) -> Result<Arc<Discrete>, WeightError> {
        let law = || Discrete::new(&sample::squared_row_norms(&self.truth.A)).map(Arc::new);
        self.leverage.get_or_init(law).clone()
    }

    /// True rows of A and b. The probabilities are one of the two laws above: there is no other way to get any.
    pub fn sample(&self, weights: &Arc<Discrete>, settings: &Settings, stream: Stream) -> Option<Sampled> {
        let (batch, sampling) = (settings.batch, settings.sampling);
        let uniform = Arc::ptr_eq(weights, &self.uniform);
        self.samples.get((stream, uniform, batch, sampling), || {
            sample::draw(weights, &self.truth.A, &self.truth.b, batch, sampling, &stream)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::program::{CATALOGUE, Program};

    fn prepared() -> Prepared {
        let family = Family { rows: 40, cols: 4, outside: 0.2, ..Family::named("mid-cond").unwrap() };
        Prepared::new(family.draw(&Stream::new(1)).unwrap())
    }

    /// How a program with this setup is run: its sketches' rows, or nothing if on the true matrices.
    fn seen(setup: &str, sketch_rows: usize) -> Option<Rows> {
        let (prepared, settings) = (prepared(), Settings { sketch_rows, ..Settings::for_size(40, 4) });
        let text = format!("setup:\n{setup}iteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n");
        let program: Program = text.parse().unwrap();
        let plan = Plan::new(&program, prepared.instance(), &settings).unwrap();
        match prepared.data(&plan, &settings) {
            Data::True(_) => None,
            Data::Reduced(_, rows) => Some(rows),
        }
    }

    #[test]
    fn coordinates_are_reduced_as_far_as_a_program_allows() {
        let sketch = " R1 = SKETCH(A)\n";
        let with = |rest: &str| format!("{sketch}{rest}");
        assert_eq!(seen("", 20), Some(Rows::Reduced));
        assert_eq!(seen(&with(" R2 = HHQR(R1)\n R2 = MAT_INV(R2)\n"), 20), Some(Rows::Reduced));
        assert_eq!(seen(" p1 = LEVERAGE_SCORE(A)\n A, b = SUBSAMPLING(p1)\n", 20), Some(Rows::Reduced));
        assert_eq!(seen(sketch, 5), Some(Rows::Reduced));
        assert_eq!(seen(sketch, 4), Some(Rows::True));
        let square = with(" R2 = MAT_MAT_TRANS_MUL(R1, R1)\n");
        assert_eq!(seen(&square, 20), Some(Rows::Reduced));
        for looks in [" R3 = MAT_INV(R2)\n", " R3 = HHQR(R2)\n", " p1 = LEVERAGE_SCORE(R1)\n"] {
            assert_eq!(seen(&format!("{square}{looks}"), 20), Some(Rows::True), "{looks}");
        }
        let outer = " R1 = MAT_MAT_TRANS_MUL(A, A)\n";
        assert_eq!(seen(outer, 20), Some(Rows::Reduced));
        for looks in [" R2 = MAT_INV(R1)\n", " R2 = HHQR(R1)\n", " p1 = LEVERAGE_SCORE(R1)\n"] {
            assert_eq!(seen(&format!("{outer}{looks}"), 20), None, "{looks}");
        }
    }

    #[test]
    fn every_named_program_is_reduced() {
        let (prepared, settings) = (prepared(), Settings::for_size(40, 4));
        for entry in CATALOGUE.iter().filter(|entry| {
            entry.document.program.instructions().all(|(_, _, ins)| ins.op.is_core())
                && entry.signature() == Geometry::Tall.into()
        }) {
            let plan = Plan::new(&entry.document.program, prepared.instance(), &settings).unwrap();
            let reduced = matches!(prepared.data(&plan, &settings), Data::Reduced(_, Rows::Reduced));
            assert!(reduced, "{}", entry.name);
        }
    }

    #[test]
    fn extreme_right_hand_sides_are_left_alone() {
        let entries = Stream::new(2).normals(40);
        let data = |scale: f64| {
            let b = entries.iter().take(10).map(|e| e * scale).collect();
            Prepared::new(Instance::from_data(Matrix::from_fn(10, 4, |i, j| entries[4 * i + j]), b).unwrap())
        };
        assert!([0.0, 1.0, 1e50].iter().all(|&scale| data(scale).reduced().is_some()));
        assert!([1e120, 1e-120].iter().all(|&scale| data(scale).reduced().is_none()));
    }

    #[test]
    fn threads_may_share_it() {
        fn shared<T: Send + Sync>() {}
        shared::<Prepared>();
    }
}
