//! The random objects of a run, and what else of the data cannot be had from coordinates.

use super::failure::Fault;
use super::reduced::{Image, Reduced, Rows};
use super::run::Settings;
use super::sample::{self, Sampled};
use super::sketch::Sketch;
use crate::linalg::{self, Matrix};
use crate::problem::Instance;
use crate::program::{Arg, Datum, Dim, Reg, Type};
use crate::rng::{Discrete, Stream};
use std::sync::{Arc, OnceLock};

/// What a run sees of its instance.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// The instance as it is.
    True(&'a Instance),
    /// The same problem in reduced coordinates.
    Reduced(&'a Reduced, Rows),
}

impl<'a> Data<'a> {
    /// The problem in the coordinates of the run.
    pub fn problem(self) -> &'a Instance {
        match self {
            Data::True(instance) => instance,
            Data::Reduced(reduced, _) => reduced.problem(),
        }
    }

    /// The instance as it is.
    pub fn truth(self) -> &'a Instance {
        match self {
            Data::True(instance) => instance,
            Data::Reduced(reduced, _) => reduced.truth(),
        }
    }

    /// Every true row as likely as any other.
    pub fn uniform(self) -> Arc<Discrete> {
        match self {
            Data::True(instance) => {
                Arc::new(Discrete::uniform(instance.rows()).expect("an instance has rows"))
            }
            Data::Reduced(reduced, _) => reduced.uniform().clone(),
        }
    }
}

/// The random objects of one section at one time, drawn when first asked for.
pub struct Draws<'a> {
    stream: Stream,
    settings: &'a Settings,
    data: Data<'a>,
    sketch: OnceLock<Sketch>,
    image: OnceLock<Arc<Image>>,
    samples: u64,
}

impl<'a> Draws<'a> {
    /// Nothing is drawn yet.
    pub fn new(stream: Stream, settings: &'a Settings, data: Data<'a>) -> Draws<'a> {
        Draws { stream, settings, data, sketch: OnceLock::new(), image: OnceLock::new(), samples: 0 }
    }

    /// S·M or S·v. Every SKETCH of a section uses the same S, so that S·A and S·b belong together.
    pub fn sketch(&self, arg: &Arg, value: &Datum) -> Datum {
        let settings = self.settings;
        let stream = || self.stream.derive("sketch", 0);
        match self.data {
            Data::True(instance) => {
                let draw = || Sketch::draw(settings.sketch, settings.sketch_rows, instance.rows(), &stream());
                let sketch = self.sketch.get_or_init(draw);
                match value {
                    Datum::Vector(v) => sketch.apply_vec(v).into(),
                    m => sketch.apply(m.matrix()).into(),
                }
            }
            Data::Reduced(reduced, rows) => {
                let image = self.image.get_or_init(|| reduced.image(settings, rows, stream()));
                // Only the data themselves have m rows and stand in A or b.
                match (arg.reg, value) {
                    (Reg::A, _) => Datum::Matrix(image.a.clone()),
                    (Reg::B, _) => Datum::Vector(image.b.clone()),
                    (_, Datum::Vector(v)) => linalg::mat_vec(&image.operator, v).into(),
                    (_, m) => linalg::matmul(&image.operator, m.matrix()).into(),
                }
            }
        }
    }

    /// Rows of A and b by their probabilities. Each sample has a stream of its own.
    pub fn sample(
        &mut self,
        arg: &Arg,
        weights: &Arc<Discrete>,
        matrix: &Matrix,
        vector: &[f64],
    ) -> Result<Sampled, Fault> {
        self.samples += 1;
        let stream = self.stream.derive("sample", self.samples);
        let Settings { batch, sampling, .. } = *self.settings;
        let sampled = match self.data {
            Data::Reduced(reduced, _) if is_data(arg) => reduced.sample(weights, self.settings, stream),
            _ => sample::draw(weights, matrix, vector, batch, sampling, &stream),
        };
        sampled.ok_or(Fault::TooFewRows { batch })
    }

    /// Probabilities proportional to the squared row norms.
    pub fn leverage(&self, arg: &Arg, value: &Datum) -> Result<Datum, Fault> {
        let law = match self.data {
            Data::Reduced(reduced, _) if is_data(arg) => reduced.leverage(),
            _ => Discrete::new(&sample::squared_row_norms(value.matrix())).map(Arc::new),
        };
        law.map(Datum::Weights).map_err(Fault::Weights)
    }
}

/// Whether this is A as it was given: only a sample replaces it, and a sample has k rows.
pub fn is_data(arg: &Arg) -> bool {
    arg.reg == Reg::A && matches!(arg.ty, Type::Matrix(Dim::Rows, ..))
}
