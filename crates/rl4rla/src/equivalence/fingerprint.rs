//! Fingerprints: a 128-bit hash of a program's behaviour, for merging states that differ only in how they are
//! written.
//!
//! The program runs on a small instance; every value is projected onto a fixed random direction and rounded to six
//! digits. Rounding noise is ten million times smaller than the last digit kept, so it rarely changes one; different
//! programs would have to agree in all projections to six digits to be merged. `docs/equivalence.md` has measured
//! rates.

use super::probe::{ITERATIONS, Probe};
use crate::execute::snapshots;
use crate::program::{Canonical, Datum, LiveOut, Program, Reg, RegSet, Signature};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_128;

/// The fingerprint of a program: of its iterates if it is finished, and of every value it may still use if it is not.
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
    // The iteration starts elsewhere than at the x that setup may have written.
    let started = live.program().setup.iter().filter_map(|ins| ins.target).filter(|reg| *reg == Reg::X);
    let started: RegSet = started.collect();
    // The registers hashed after setup and after every iteration; without v1 the program failed.
    let moved = RegSet::EMPTY.with(Reg::X).with(Reg::V1);
    let (after_setup, after_iteration) = match out {
        LiveOut::Finished => (started, moved),
        LiveOut::Keeping(kept) => (kept.union(started), moved),
        LiveOut::Partial(_) => (written, written.union(moved)),
    };
    let mut print = Print::new();
    for probe in Probe::of(geometry) {
        let start = Some(&probe.start[..]);
        let taken =
            snapshots(live.program(), &probe.instance, update, &probe.settings, start, &Probe::stream());
        for (t, snapshot) in taken.iter().enumerate() {
            print.add(probe, t, if t == 0 { after_setup } else { after_iteration }, snapshot);
        }
        let last = &taken[ITERATIONS];
        if written.iter().all(|reg| last[reg.index()].is_some()) {
            break;
        }
    }
    print.hash()
}

/// A fingerprint under construction.
pub(crate) struct Print(String);

impl Print {
    /// An empty one.
    pub fn new() -> Print {
        // Enough for most programs.
        Print(String::with_capacity(256))
    }

    /// Adds the contents of these registers after setup (t = 0) or after iteration t.
    pub fn add(&mut self, probe: &Probe, t: usize, counted: RegSet, registers: &[Option<Datum>]) {
        for reg in counted.iter() {
            let number = registers[reg.index()].as_ref().map(|datum| probe.number(datum));
            // Writing to a string does not fail.
            let _ = match number {
                None => writeln!(self.0, "{t} {reg} -"),
                Some(0.0) => writeln!(self.0, "{t} {reg} 0"),
                Some(number) => writeln!(self.0, "{t} {reg} {number:.5e}"),
            };
        }
    }

    /// The fingerprint.
    pub fn hash(&self) -> u128 {
        xxh3_128(self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

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
