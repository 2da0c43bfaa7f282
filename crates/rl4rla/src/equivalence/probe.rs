//! Probes: the small instances used for fingerprints.

use crate::execute::RunSettings;
use crate::linalg::{dot, norm};
use crate::problem::{Family, Instance};
use crate::program::{Datum, Geometry};
use crate::rng::Stream;
use std::sync::LazyLock;

/// Number of iterations: enough for carried registers to have an effect.
pub(crate) const ITERATIONS: usize = 3;

/// An instance with its settings, starting point and projection directions.
pub(crate) struct Probe {
    pub instance: Instance,
    pub settings: RunSettings,
    /// The starting point of the iteration.
    pub start: Vec<f64>,
    /// Values are projected onto these; the second is for values for which one number is not enough.
    directions: [Vec<f64>; 2],
}

impl Probe {
    fn new(name: &str, rows: usize, cols: usize, batch: usize) -> Probe {
        let outside = if rows > cols { 0.3 } else { 0.0 };
        let family =
            Family { rows, cols, outside, condition: Some(5.0), ..Family::named(name).expect("a family") };
        let root = Stream::new(0).derive("fingerprint", rows as u64);
        let settings = RunSettings {
            iterations: ITERATIONS,
            step: 0.37,
            mu: 0.23,
            sketch_rows: cols + 3,
            batch,
            ..RunSettings::for_size(rows, cols)
        };
        let instance = family.draw(&root.derive("instance", 0)).expect("a family that can be drawn");
        // No value but a stack has more entries than the longest dimension squared.
        let longest = rows.max(settings.sketch_rows).max(batch);
        Probe {
            instance,
            settings,
            start: root.derive("start", 0).normals(cols),
            directions: [0, 1].map(|i| root.derive("directions", i).normals(longest * longest)),
        }
    }

    /// The probes for problems of this shape. In the first a sample has fewer rows than columns, so that projecting
    /// onto its solutions is not solving it; the second is for programs that fail on the first.
    pub fn of(geometry: Geometry) -> &'static [Probe; 2] {
        type Probes = LazyLock<[Probe; 2]>;
        static TALL: Probes = LazyLock::new(|| [3, 9].map(|batch| Probe::new("mid-cond", 12, 4, batch)));
        static SQUARE: Probes = LazyLock::new(|| [4, 20].map(|batch| Probe::new("mid-cond", 6, 6, batch)));
        static SYMMETRIC: Probes = LazyLock::new(|| [4, 20].map(|batch| Probe::new("psd", 6, 6, batch)));
        match geometry {
            Geometry::Tall => &TALL,
            Geometry::Square => &SQUARE,
            Geometry::Symmetric => &SYMMETRIC,
        }
    }

    /// The RNG stream of the runs.
    pub fn stream() -> Stream {
        Stream::new(0).derive("fingerprint", 0)
    }

    /// The projection of a value onto the first direction, or 0 if that is rounding noise.
    pub fn number(&self, datum: &Datum) -> f64 {
        let [number] = Probe::projections([&self.directions[0]], datum);
        number
    }

    /// The same for both directions.
    pub fn numbers(&self, datum: &Datum) -> [f64; 2] {
        Probe::projections(self.directions.each_ref(), datum)
    }

    fn projections<const N: usize>(directions: [&Vec<f64>; N], datum: &Datum) -> [f64; N] {
        let project = |values: &[f64]| {
            let size = norm(values);
            directions.map(|direction| {
                // Only stacks are longer than a direction, which then goes on as a multiple of itself.
                let parts = values.chunks(direction.len()).enumerate();
                let project = |(i, part): (usize, &[f64])| {
                    (1.0 + 0.37 * i as f64) * dot(part, &direction[..part.len()])
                };
                let projection: f64 = parts.map(project).sum();
                if size < 1e-10 || projection.abs() < 1e-9 * size { 0.0 } else { projection }
            })
        };
        match datum {
            Datum::Scalar(a) => project(&[*a]),
            Datum::Vector(v) => project(v),
            Datum::Matrix(m) => {
                project(&(0..m.cols()).flat_map(|j| m.column(j).iter().copied()).collect::<Vec<f64>>())
            }
            Datum::Weights(w) => project(&(0..w.len()).map(|i| w.probability(i)).collect::<Vec<f64>>()),
        }
    }
}
