//! Fingerprints: a 128-bit hash of what a program does, for merging states that differ only in how they are written.
//!
//! The program runs on a small instance; every value is projected onto a fixed random direction and rounded to six
//! digits. Rounding noise is ten million times smaller than the last digit kept, so it rarely moves one; different
//! programs would have to agree in all projections to six digits to be merged. `docs/equivalence.md` has measured rates.

use crate::execute::{Settings, snapshots};
use crate::linalg::{dot, norm};
use crate::problem::{Family, Instance};
use crate::program::{Canonical, Datum, Geometry, LiveOut, Program, Reg, RegSet, Signature};
use crate::rng::Stream;
use std::sync::LazyLock;
use xxhash_rust::xxh3::Xxh3Default;

/// Iterations run: enough for what is carried to show.
const ITERATIONS: usize = 3;

/// What a program is run on.
struct Probe {
    instance: Instance,
    settings: Settings,
    start: Vec<f64>,
    directions: Vec<f64>,
}

impl Probe {
    fn new(name: &str, rows: usize, cols: usize, batch: usize) -> Probe {
        let outside = if rows > cols { 0.3 } else { 0.0 };
        let family =
            Family { rows, cols, outside, condition: Some(5.0), ..Family::named(name).expect("a family") };
        let root = Stream::new(0).derive("fingerprint", rows as u64);
        let settings = Settings {
            iterations: ITERATIONS,
            step: 0.37,
            sketch_rows: cols + 3,
            batch,
            ..Settings::for_size(rows, cols)
        };
        let instance = family.draw(&root.derive("instance", 0)).expect("a family that can be drawn");
        // No value is larger than the longest dimension squared.
        let longest = rows.max(settings.sketch_rows).max(batch);
        Probe {
            instance,
            settings,
            start: root.derive("start", 0).normals(cols),
            directions: root.derive("directions", 0).normals(longest * longest),
        }
    }

    /// The probes for problems of this shape. In the first a sample has fewer rows than columns, so that projecting on
    /// it is not solving it; the second is for programs that fail there.
    fn of(geometry: Geometry) -> &'static [Probe; 2] {
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

    /// A value as a rounded number: its projection, or 0 where that is rounding noise.
    fn rounded(&self, values: &[f64]) -> String {
        let size = norm(values);
        let projection = dot(values, &self.directions[..values.len()]);
        if size < 1e-10 || projection.abs() < 1e-9 * size { "0".into() } else { format!("{projection:.5e}") }
    }

    fn describe(&self, datum: &Datum) -> String {
        match datum {
            Datum::Scalar(a) => self.rounded(&[*a]),
            Datum::Vector(v) => self.rounded(v),
            Datum::Matrix(m) => {
                let columns: Vec<f64> = (0..m.cols()).flat_map(|j| m.column(j).iter().copied()).collect();
                self.rounded(&columns)
            }
            Datum::Weights(w) => self.rounded(&(0..w.len()).map(|i| w.probability(i)).collect::<Vec<_>>()),
        }
    }
}

/// The fingerprint of a program: of how it moves x if it is finished, of everything it may still use if it is not.
///
/// ```
/// use rl4rla::equivalence::fingerprint;
/// use rl4rla::program::{Geometry, LiveOut, Program};
/// let of = |text: &str| fingerprint(&text.parse::<Program>().unwrap(), Geometry::Tall, LiveOut::Finished);
/// let gradient = of("iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n");
/// let expanded = of("setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n v2 = VEC_MAT_MUL(b, A)\n v1 = VEC_VEC_SUB(v1, v2)\n");
/// assert_eq!(gradient, expanded);
/// ```
pub fn fingerprint(program: &Program, signature: impl Into<Signature>, out: LiveOut) -> u128 {
    let Signature { geometry, update, .. } = signature.into();
    let live = Canonical::new(program, out);
    let written: RegSet =
        live.program().instructions().fold(RegSet::EMPTY, |set, (_, _, ins)| set.union(ins.writes()));
    // What counts after setup, and after every iteration; without a v1 the program failed.
    let moved = RegSet::EMPTY.with(Reg::X).with(Reg::V1);
    let (after_setup, after_iteration) = match out {
        LiveOut::Finished => (RegSet::EMPTY, moved),
        LiveOut::Keeping(kept) => (kept, moved),
        LiveOut::Partial(_) => (written, written.union(moved)),
    };
    let mut hash = Xxh3Default::new();
    let stream = Stream::new(0).derive("fingerprint", 0);
    for probe in Probe::of(geometry) {
        let taken =
            snapshots(live.program(), &probe.instance, update, &probe.settings, Some(&probe.start), &stream);
        for (t, snapshot) in taken.iter().enumerate() {
            let counted = if t == 0 { after_setup } else { after_iteration };
            for reg in counted.iter() {
                let described =
                    snapshot[reg.index()].as_ref().map_or("-".into(), |datum| probe.describe(datum));
                hash.update(format!("{t} {reg} {described}\n").as_bytes());
            }
        }
        let last = &taken[ITERATIONS];
        if written.iter().all(|reg| last[reg.index()].is_some()) {
            break;
        }
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, out: LiveOut) -> u128 {
        fingerprint(&text.parse().unwrap(), Geometry::Tall, out)
    }

    #[test]
    fn partial_programs_are_told_apart_by_what_they_hold() {
        let factor = "setup:\n R1 = HHQR(A)\n";
        let inverse = "setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n";
        assert_ne!(of(factor, LiveOut::PARTIAL), of(inverse, LiveOut::PARTIAL));
        assert_eq!(of(factor, LiveOut::Finished), of(inverse, LiveOut::Finished), "neither moves x");
        let twice = "setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n R1 = MAT_INV(R1)\n";
        assert_eq!(of(factor, LiveOut::PARTIAL), of(twice, LiveOut::PARTIAL));
    }

    #[test]
    fn sketches_may_be_taller_than_square_data() {
        let sketched: Program = "setup:\n R1 = SKETCH(A)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)\n".parse().unwrap();
        for geometry in [Geometry::Square, Geometry::Symmetric] {
            let factor =
                fingerprint(&"setup:\n R1 = SKETCH(A)\n".parse().unwrap(), geometry, LiveOut::PARTIAL);
            assert_ne!(fingerprint(&sketched, geometry, LiveOut::PARTIAL), factor);
        }
    }

    #[test]
    fn the_hash_is_the_same_in_every_build() {
        let gradient =
            "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(format!("{:032x}", of(gradient, LiveOut::Finished)), "03992b285007e928d330c2d73f759ef2");
    }
}
