//! Instances prepared for many runs.

use super::plan::Plan;
use super::reduced::{Reduced, SketchRows};
use super::run::RunSettings;
use super::run_draws::RunData;
use super::values::Values;
use crate::cache::Evictable;
use crate::clock::{WorkPhase, spend};
use crate::problem::{Family, FamilyError, Instance, Outline, Shape};
use crate::program::Dim;
use crate::rng::Stream;
use std::sync::{Arc, OnceLock};

/// An instance prepared for many runs: in reduced coordinates if it is tall, with a cache shared by the runs. Its
/// rows are drawn on demand.
///
/// ```
/// use rl4rla::{execute::{PreparedInstance, RunSettings, run, run_prepared}, problem::Family, program::Entry, rng::Stream};
/// let mut family = Family::named("low-cond").unwrap();
/// (family.rows, family.cols) = (200, 5);
/// let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
/// let program = &Entry::named("ls-gd").unwrap().document.program;
/// let settings = RunSettings::for_size(200, 5);
/// let reduced = run_prepared(program, &prepared, &settings, &Stream::new(2)).unwrap();
/// let full = run(program, &prepared.instance(), &settings, &Stream::new(2)).unwrap();
/// assert!((reduced.residuals[10] - full.residuals[10]).abs() < 1e-12);
/// ```
pub struct PreparedInstance {
    shape: Shape,
    source: Source,
    /// Computed on first use: not every instance drawn is used in a search.
    reduced: OnceLock<Option<Reduced>>,
    /// Turns its reduced coordinates.
    rotation: Option<Stream>,
    /// The cache shared by runs on the original matrices.
    values: Values,
}

/// Where an instance comes from.
enum Source {
    Given(Arc<Instance>),
    /// Kept as long as there is memory.
    Drawn {
        family: Family,
        stream: Stream,
        outline: Option<Arc<Outline>>,
        instance: Evictable<Instance>,
    },
}

/// The data of the runs of a program, kept for as long as they last.
pub(crate) enum Coordinates<'a> {
    /// The instance itself, with the cache shared by runs on it.
    True(Arc<Instance>, &'a Values),
    /// Reduced coordinates.
    Reduced(&'a Reduced, SketchRows),
}

impl Coordinates<'_> {
    /// The data as a run sees them.
    pub fn data(&self) -> RunData<'_> {
        match self {
            Coordinates::True(instance, values) => RunData::True(instance, Some(values)),
            Coordinates::Reduced(reduced, rows) => RunData::Reduced(reduced, *rows),
        }
    }
}

impl PreparedInstance {
    /// Prepares an instance; a tall one is factored when it is first used.
    pub fn new(instance: Instance) -> PreparedInstance {
        PreparedInstance::from_source(instance.shape(), Source::Given(Arc::new(instance)))
    }

    fn from_source(shape: Shape, source: Source) -> PreparedInstance {
        PreparedInstance { shape, source, reduced: OnceLock::new(), rotation: None, values: Values::new() }
    }

    /// Prepares the instance of a family given by this stream.
    pub fn draw(family: &Family, stream: &Stream) -> Result<PreparedInstance, FamilyError> {
        let outline = spend(WorkPhase::Instances, || family.outline(stream))?.map(Arc::new);
        let (instance, mut shape) =
            (Evictable::new(), Shape { signature: family.signature(), rows: family.rows, cols: family.cols });
        if outline.is_none() {
            let drawn = spend(WorkPhase::Instances, || family.draw(stream))?;
            shape = drawn.shape();
            instance.get(|| drawn);
        }
        let source = Source::Drawn { family: *family, stream: *stream, outline, instance };
        Ok(PreparedInstance::from_source(shape, source))
    }

    /// The same, in reduced coordinates that are turned at random, where rounding errors are like those on the original
    /// matrices.
    pub fn draw_rotated(family: &Family, stream: &Stream) -> Result<PreparedInstance, FamilyError> {
        let rotation = Some(stream.derive("rotation", 0));
        Ok(PreparedInstance { rotation, ..PreparedInstance::draw(family, stream)? })
    }

    fn reduced(&self) -> Option<&Reduced> {
        let reduce = || {
            let reduced = match &self.source {
                Source::Drawn { outline: Some(outline), .. } => Reduced::of_outline(outline),
                _ => Reduced::of_instance(&self.instance()),
            };
            match &self.rotation {
                Some(stream) => reduced.map(|reduced| reduced.rotated(stream)),
                None => reduced,
            }
        };
        self.reduced.get_or_init(|| spend(WorkPhase::Instances, reduce)).as_ref()
    }

    /// The instance itself, drawn again if memory has been short.
    pub fn instance(&self) -> Arc<Instance> {
        match &self.source {
            Source::Given(instance) => instance.clone(),
            Source::Drawn { family, stream, outline, instance } => instance.get(|| {
                spend(WorkPhase::Instances, || match outline {
                    Some(outline) => outline.instance(),
                    None => family.draw(stream).expect("it has been drawn before"),
                })
            }),
        }
    }

    /// The instance itself, or the same problem in reduced coordinates: these preserve lengths, so every x has the
    /// same residual.
    pub fn problem(&self) -> Arc<Instance> {
        self.reduced().map_or_else(|| self.instance(), |reduced| reduced.problem().clone())
    }

    /// Empties the caches of its runs.
    pub fn forget(&self) {
        self.values.clear();
        if let Some(Some(reduced)) = self.reduced.get() {
            reduced.forget();
        }
    }

    /// The signature and size, for type checking and cost models.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The coordinates for expressions that need no true rows, neither of the data nor of a sketch.
    pub(crate) fn all_coordinates(&self) -> Coordinates<'_> {
        match self.reduced() {
            Some(reduced) => Coordinates::Reduced(reduced, SketchRows::Reduced),
            None => Coordinates::True(self.instance(), &self.values),
        }
    }

    /// The coordinates in which a program can run: reduced ones, unless an operator needs true rows.
    pub(crate) fn coordinates(&self, plan: &Plan, settings: &RunSettings) -> Coordinates<'_> {
        match self.reduced() {
            Some(reduced) if !plan.fixes(Dim::Rows) => {
                Coordinates::Reduced(reduced, reduced.seen(plan, settings))
            }
            _ => Coordinates::True(self.instance(), &self.values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache;
    use crate::linalg::Matrix;
    use crate::program::{CATALOGUE, Geometry, Program};

    fn prepared() -> PreparedInstance {
        let family = Family { rows: 40, cols: 4, outside: 0.2, ..Family::named("mid-cond").unwrap() };
        PreparedInstance::draw(&family, &Stream::new(1)).unwrap()
    }

    /// How a program with this setup runs: the representation of sketch rows, or `None` if on the original matrices.
    fn seen(setup: &str, sketch_rows: usize) -> Option<SketchRows> {
        let (prepared, settings) = (prepared(), RunSettings { sketch_rows, ..RunSettings::for_size(40, 4) });
        let text = format!("setup:\n{setup}iteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n");
        let program: Program = text.parse().unwrap();
        let plan = Plan::new(&program, prepared.shape(), &settings).unwrap();
        match prepared.coordinates(&plan, &settings) {
            Coordinates::True(..) => None,
            Coordinates::Reduced(_, rows) => Some(rows),
        }
    }

    #[test]
    fn coordinates_are_reduced_as_far_as_a_program_allows() {
        let sketch = " R1 = SKETCH(A)\n";
        let with = |rest: &str| format!("{sketch}{rest}");
        assert_eq!(seen("", 20), Some(SketchRows::Reduced));
        assert_eq!(seen(&with(" R2 = HHQR(R1)\n R2 = MAT_INV(R2)\n"), 20), Some(SketchRows::Reduced));
        assert_eq!(seen(" p1 = LEVERAGE_SCORE(A)\n A, b = SUBSAMPLING(p1)\n", 20), Some(SketchRows::Reduced));
        assert_eq!(seen(sketch, 5), Some(SketchRows::Reduced));
        assert_eq!(seen(sketch, 4), Some(SketchRows::True));
        let square = with(" R2 = MAT_MAT_TRANS_MUL(R1, R1)\n");
        assert_eq!(seen(&square, 20), Some(SketchRows::Reduced));
        for looks in [" R3 = MAT_INV(R2)\n", " R3 = HHQR(R2)\n", " p1 = LEVERAGE_SCORE(R1)\n"] {
            assert_eq!(seen(&format!("{square}{looks}"), 20), Some(SketchRows::True), "{looks}");
        }
        let outer = " R1 = MAT_MAT_TRANS_MUL(A, A)\n";
        assert_eq!(seen(outer, 20), Some(SketchRows::Reduced));
        for looks in [" R2 = MAT_INV(R1)\n", " R2 = HHQR(R1)\n", " p1 = LEVERAGE_SCORE(R1)\n"] {
            assert_eq!(seen(&format!("{outer}{looks}"), 20), None, "{looks}");
        }
    }

    #[test]
    fn every_named_program_is_reduced() {
        let (prepared, settings) = (prepared(), RunSettings::for_size(40, 4));
        for entry in CATALOGUE.iter().filter(|entry| {
            entry.document.program.instructions().all(|(_, _, ins)| ins.op.is_core())
                && entry.signature() == Geometry::Tall.into()
        }) {
            let plan = Plan::new(&entry.document.program, prepared.shape(), &settings).unwrap();
            let reduced = matches!(
                prepared.coordinates(&plan, &settings),
                Coordinates::Reduced(_, SketchRows::Reduced)
            );
            // Only pwSGD forms another matrix as tall as A, A·R⁻¹, and needs its rows.
            assert_eq!(reduced, entry.name != "pwsgd", "{}", entry.name);
        }
    }

    #[test]
    fn extreme_right_hand_sides_are_left_alone() {
        let entries = Stream::new(2).normals(40);
        let data = |scale: f64| {
            let b = entries.iter().take(10).map(|e| e * scale).collect();
            PreparedInstance::new(
                Instance::from_data(Matrix::from_fn(10, 4, |i, j| entries[4 * i + j]), b).unwrap(),
            )
        };
        assert!([0.0, 1.0, 1e50].iter().all(|&scale| data(scale).reduced().is_some()));
        assert!([1e120, 1e-120].iter().all(|&scale| data(scale).reduced().is_none()));
    }

    #[test]
    fn what_was_dropped_for_lack_of_memory_is_drawn_again_alike() {
        let (_turn, usual) = (cache::turn(), cache::cache_limit());
        let tall = Family { rows: 40, cols: 4, ..Family::named("mid-cond").unwrap() };
        for family in [tall, Family { rows: 60, cols: 3, ..Family::named("logistic").unwrap() }] {
            cache::set_cache_limit(0);
            let [one, other] =
                [1, 2].map(|seed| PreparedInstance::draw(&family, &Stream::new(seed)).unwrap());
            let first = one.instance();
            other.instance();
            let again = one.instance();
            cache::set_cache_limit(usual);
            assert!(!Arc::ptr_eq(&first, &again), "there was no room for two");
            assert!(first.A == again.A && first.b == again.b && first.x_star == again.x_star);
        }
    }

    #[test]
    fn threads_may_share_it() {
        fn shared<T: Send + Sync>() {}
        shared::<PreparedInstance>();
    }
}
