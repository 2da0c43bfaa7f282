//! The random objects of a run, and other properties of the data that reduced coordinates do not contain.

use super::failure::Fault;
use super::reduced::{Image, Reduced, SketchRows};
use super::run::RunSettings;
use super::sample::{ChosenRows, SampledRows};
use super::sketch::Sketch;
use super::values::Values;
use crate::linalg::{self, Matrix};
use crate::problem::Instance;
use crate::program::{Arg, Datum, Dim, Reg, Type, Typed};
use crate::rng::{Discrete, Stream};
use std::sync::{Arc, OnceLock};

/// The data that a run sees.
#[derive(Clone, Copy)]
pub enum RunData<'a> {
    /// The instance itself, with the cache shared by runs on it, if any.
    True(&'a Instance, Option<&'a Values>),
    /// The same problem in reduced coordinates.
    Reduced(&'a Reduced, SketchRows),
}

impl<'a> RunData<'a> {
    /// The problem in the coordinates of the run.
    pub fn problem(self) -> &'a Instance {
        match self {
            RunData::True(instance, _) => instance,
            RunData::Reduced(reduced, _) => reduced.problem(),
        }
    }

    /// m, the rows of the original A.
    pub fn rows(self) -> usize {
        match self {
            RunData::True(instance, _) => instance.rows(),
            RunData::Reduced(reduced, _) => reduced.rows(),
        }
    }

    /// The cache shared by runs on these data.
    pub fn values(self) -> Option<&'a Values> {
        match self {
            RunData::True(_, values) => values,
            RunData::Reduced(reduced, _) => Some(reduced.values()),
        }
    }

    /// Whether the result of an instruction is kept as part of the image of a sketch.
    pub fn keeps_image(self, typed: &Typed) -> bool {
        let sketches = typed.instruction.op.sketches() && [Reg::A, Reg::B].contains(&typed.args[0].reg);
        sketches && matches!(self, RunData::Reduced(..))
    }

    /// The uniform distribution over the m rows.
    pub fn uniform(self) -> Arc<Discrete> {
        match self {
            RunData::True(instance, _) => {
                Arc::new(Discrete::uniform(instance.rows()).expect("an instance has rows"))
            }
            RunData::Reduced(reduced, _) => reduced.uniform().clone(),
        }
    }
}

/// The random objects of a section in one iteration, drawn on first use.
pub struct Draws<'a> {
    /// The RNG stream of the run, and the iteration.
    source: (Stream, &'static str, u64),
    stream: OnceLock<Stream>,
    settings: &'a RunSettings,
    data: RunData<'a>,
    sketch: OnceLock<Sketch>,
    image: OnceLock<Arc<Image>>,
    samples: u64,
}

impl<'a> Draws<'a> {
    /// No draws yet; t = 0 is setup, t ≥ 1 is iteration t.
    pub fn new(stream: &Stream, t: usize, settings: &'a RunSettings, data: RunData<'a>) -> Draws<'a> {
        let section = if t == 0 { "setup" } else { "iteration" };
        let source = (*stream, section, t as u64);
        let (stream, sketch, image) = Default::default();
        Draws { source, stream, settings, data, sketch, image, samples: 0 }
    }

    fn stream(&self, label: &str, index: u64) -> Stream {
        let (root, section, t) = self.source;
        self.stream.get_or_init(|| root.derive(section, t)).derive(label, index)
    }

    /// S·M or S·v for a value in this register, if it is in any. Every SKETCH of a section uses the same S, so that S·A
    /// and S·b are consistent.
    pub fn sketch(&self, reg: Option<Reg>, value: &Datum) -> Datum {
        let settings = self.settings;
        let stream = || self.stream("sketch", 0);
        match self.data {
            RunData::True(instance, _) => {
                let draw = || Sketch::draw(settings.sketch, settings.sketch_rows, instance.rows(), &stream());
                let sketch = self.sketch.get_or_init(draw);
                match value {
                    Datum::Vector(v) => sketch.apply_vec(v).into(),
                    m => sketch.apply(m.matrix()).into(),
                }
            }
            RunData::Reduced(reduced, rows) => {
                let image = self.image.get_or_init(|| reduced.image(settings, rows, stream()));
                // Only the data themselves, in registers A and b, have m rows.
                match (reg, value) {
                    (Some(Reg::A), _) => Datum::Matrix(image.a.clone()),
                    (Some(Reg::B), _) => Datum::Vector(image.b.clone()),
                    (_, Datum::Vector(v)) => linalg::mat_vec(&image.operator, v).into(),
                    (_, m) => linalg::matmul(&image.operator, m.matrix()).into(),
                }
            }
        }
    }

    /// A sample of rows of A and b with these probabilities. Each sample has its own stream.
    pub fn sample(
        &mut self,
        arg: &Arg,
        weights: &Arc<Discrete>,
        matrix: &Matrix,
        vector: &[f64],
    ) -> Result<SampledRows, Fault> {
        self.pass_sample();
        let stream = self.stream("sample", self.samples);
        let RunSettings { batch, sampling, .. } = *self.settings;
        let sampled = match self.data {
            RunData::Reduced(reduced, _) if is_data(arg) => reduced.sample(weights, self.settings, stream),
            _ => ChosenRows::draw(weights, batch, sampling, &stream).map(|chosen| chosen.of(matrix, vector)),
        };
        sampled.ok_or(Fault::TooFewRows { batch })
    }

    /// The sketching matrix of this section, as a dense matrix.
    pub fn sketch_matrix(&self) -> Matrix {
        let rows = self.data.rows();
        let RunSettings { sketch, sketch_rows, .. } = *self.settings;
        Sketch::draw(sketch, sketch_rows, rows, &self.stream("sketch", 0)).apply(&Matrix::identity(rows))
    }

    /// The rows that the next sample will take; `None` if there are too few rows to draw from.
    pub fn next_rows(&self, weights: &Discrete) -> Option<Vec<usize>> {
        let RunSettings { batch, sampling, .. } = *self.settings;
        let stream = self.stream("sample", self.samples + 1);
        ChosenRows::draw(weights, batch, sampling, &stream).map(|chosen| chosen.rows().to_vec())
    }

    /// Skips a sample whose value is already known.
    pub fn pass_sample(&mut self) {
        self.samples += 1;
    }

    /// Number of samples drawn so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Sets the number of samples drawn so far.
    pub fn go_on_after(&mut self, samples: u64) {
        self.samples = samples;
    }

    /// Probabilities proportional to the squared row norms.
    pub fn leverage(&self, arg: &Arg, value: &Datum) -> Result<Datum, Fault> {
        let law = match self.data {
            RunData::Reduced(reduced, _) if is_data(arg) => reduced.leverage(),
            _ => Discrete::new(&linalg::squared_row_norms(value.matrix())).map(Arc::new),
        };
        law.map(Datum::Weights).map_err(Fault::Weights)
    }
}

/// Whether the operand is A as given: only a sample replaces A, and a sample has k rows.
pub fn is_data(arg: &Arg) -> bool {
    arg.reg == Reg::A && !matches!(arg.ty, Type::Matrix(Dim::Batch, ..))
}
