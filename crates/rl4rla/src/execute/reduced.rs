//! Reduced coordinates: a tall problem restricted to the n + 1 dimensions that a program can reach.
//!
//! With [A b] = Q·R, every m-vector that a program builds from A, b and x is Q times a vector of n + 1 coordinates:
//! products, sums, inner products and R factors are the same in coordinates, where A is the first n columns of R and
//! b its last. If b is in the range of A, the n dimensions of A = Q·R are enough. Operations on true rows are
//! implemented here: S·Q for a sketch, sampled rows of A and b, and the row norms of A.

use super::origin::hash;
use super::plan::Plan;
use super::run::RunSettings;
use super::sample::{ChosenRows, SampledRows};
use super::sketch::Sketch;
use super::values::Values;
use crate::linalg::{self, Matrix};
use crate::problem::{Frame, Instance, Outline};
use crate::program::{Dim, Geometry, Section};
use crate::rng::{Discrete, Stream, WeightError};
use std::sync::{Arc, OnceLock};

/// Largest ratio of the magnitudes of A and b: beyond it, one could be lost to rounding in their joint factorization.
const LARGEST_RATIO: f64 = 1e100;

/// How a sketch's rows are represented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SketchRows {
    /// The true rows of S·A.
    True,
    /// By n + 1 coordinates, S·Q = Q₂·R₂.
    Reduced,
}

/// A sketch as it acts on coordinates.
pub struct Image {
    /// S·Q, or R₂.
    pub operator: Matrix,
    /// The sketch of A.
    pub a: Arc<Matrix>,
    /// The sketch of b.
    pub b: Arc<Vec<f64>>,
}

/// A tall problem in reduced coordinates.
pub struct Reduced {
    problem: Arc<Instance>,
    basis: Basis,
    /// Orthonormal; turns the coordinates.
    rotation: Option<Matrix>,
    uniform: Arc<Discrete>,
    leverage: OnceLock<Result<Arc<Discrete>, WeightError>>,
    values: Values,
}

/// The orthonormal basis Q.
enum Basis {
    /// From a factorization of the data.
    Found(Box<Found>),
    /// Drawn on first use.
    Outlined(Arc<Outline>),
}

struct Found {
    frame: Arc<Frame>,
    truth: Instance,
}

impl Reduced {
    /// `None` if reduced coordinates would not be smaller.
    pub fn of_outline(outline: &Arc<Outline>) -> Option<Reduced> {
        let enough = outline.rows() > outline.problem.cols() + 1;
        let basis = Basis::Outlined(outline.clone());
        enough.then(|| Reduced::new(outline.problem.clone(), basis, outline.rows()))?
    }

    /// `None` if reduced coordinates would not be smaller, or there is no safe factorization.
    pub fn of_instance(truth: &Instance) -> Option<Reduced> {
        let (m, n) = (truth.rows(), truth.cols());
        if truth.geometry() != Geometry::Tall || m <= n + 1 || !truth.task.is_isometric() {
            return None;
        }
        let ratio = truth.norm_b() / truth.spectrum().first()?;
        if truth.norm_b() > 0.0 && !(1.0 / LARGEST_RATIO..LARGEST_RATIO).contains(&ratio) {
            return None;
        }
        let (basis, problem) = if truth.attainable() == 0.0 {
            // b is in the range of A.
            let (basis, r) = linalg::thin_qr(&truth.A)?;
            let b = linalg::vec_mat(&truth.b, &basis);
            (basis, truth.in_coordinates(r, b))
        } else {
            let entry = |i: usize, j: usize| if j < n { truth.A.get(i, j) } else { truth.b[i] };
            let (basis, r) = linalg::thin_qr(&Matrix::from_fn(m, n + 1, entry))?;
            let a = Matrix::from_fn(n + 1, n, |i, j| r.get(i, j));
            (basis, truth.in_coordinates(a, r.column(n).to_vec()))
        };
        Reduced::new(
            problem,
            Basis::Found(Box::new(Found { frame: Arc::new(Frame::known(basis)), truth: truth.clone() })),
            m,
        )
    }

    fn new(problem: Instance, basis: Basis, rows: usize) -> Option<Reduced> {
        Some(Reduced {
            problem: Arc::new(problem),
            basis,
            rotation: None,
            uniform: Arc::new(Discrete::uniform(rows).ok()?),
            leverage: OnceLock::new(),
            values: Values::new(),
        })
    }

    /// The same problem in coordinates turned at random: no axis is the component of b outside the range of A, so that
    /// rounding errors are like those on the original matrices.
    #[must_use]
    pub fn rotated(self, stream: &Stream) -> Reduced {
        let k = self.problem.rows();
        let normals = stream.normals(k * k);
        let rotation = linalg::thin_q(&Matrix::from_fn(k, k, |i, j| normals[i * k + j]));
        let a = linalg::matmul(&rotation, &self.problem.A);
        let b = linalg::mat_vec(&rotation, &self.problem.b);
        let problem = Arc::new(self.problem.in_coordinates(a, b));
        Reduced { problem, rotation: Some(rotation), ..self }
    }

    fn frame(&self) -> Arc<Frame> {
        match &self.basis {
            Basis::Found(found) => found.frame.clone(),
            Basis::Outlined(outline) => outline.frame(),
        }
    }

    /// m, the rows of the original A.
    pub fn rows(&self) -> usize {
        self.uniform.len()
    }

    /// Empties the caches of runs.
    pub fn forget(&self) {
        self.values.clear();
    }

    /// The problem in coordinates.
    pub fn problem(&self) -> &Arc<Instance> {
        &self.problem
    }

    /// The cache shared by runs in these coordinates.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// How sketch rows are represented. They can be reduced if no operator needs them, if there are enough of them,
    /// and if only one sketch is in use at a time: those of setup and of an iteration have different Q₂.
    pub fn seen(&self, plan: &Plan, settings: &RunSettings) -> SketchRows {
        let two_sketches = Section::BOTH.iter().all(|&section| plan.sketches(section));
        let few = settings.sketch_rows < self.problem.rows();
        if two_sketches || few || plan.fixes(Dim::Sketch) { SketchRows::True } else { SketchRows::Reduced }
    }

    /// The sketch drawn from this stream.
    pub fn image(&self, settings: &RunSettings, rows: SketchRows, stream: Stream) -> Arc<Image> {
        let (kind, sketch_rows) = (settings.sketch, settings.sketch_rows);
        let key = hash(&stream, [kind as u64, sketch_rows as u64, rows as u64]);
        self.values.image(key, || {
            let frame = self.frame();
            let sketched = Sketch::draw(kind, sketch_rows, self.rows(), &stream).apply(&frame.drawn);
            let sketched = linalg::matmul(&sketched.by_columns(), &frame.turn);
            let sketched = match &self.rotation {
                Some(rotation) => linalg::matmul_t(&sketched, rotation),
                None => sketched,
            };
            let reduced = rows == SketchRows::Reduced;
            let operator = if reduced { linalg::qr_r_of_embedding(&sketched) } else { sketched };
            let a = Arc::new(linalg::matmul(&operator, &self.problem.A));
            let b = Arc::new(linalg::mat_vec(&operator, &self.problem.b));
            Image { operator, a, b }
        })
    }

    /// The uniform distribution over the m rows.
    pub fn uniform(&self) -> &Arc<Discrete> {
        &self.uniform
    }

    /// The distribution over rows of A proportional to their squared norms.
    pub fn leverage(&self) -> Result<Arc<Discrete>, WeightError> {
        let law = || {
            let norms = match &self.basis {
                Basis::Found(found) => linalg::squared_row_norms(&found.truth.A),
                Basis::Outlined(outline) => outline.squared_row_norms(),
            };
            Discrete::new(&norms).map(Arc::new)
        };
        self.leverage.get_or_init(law).clone()
    }

    /// A sample of true rows of A and b.
    pub fn sample(&self, weights: &Discrete, settings: &RunSettings, stream: Stream) -> Option<SampledRows> {
        let RunSettings { batch, sampling, .. } = *settings;
        let chosen = ChosenRows::draw(weights, batch, sampling, &stream)?;
        Some(match &self.basis {
            Basis::Found(found) => chosen.of(&found.truth.A, &found.truth.b),
            Basis::Outlined(outline) => {
                let (a, b) = outline.rows_at(chosen.rows());
                chosen.scaled(a, b)
            }
        })
    }
}
