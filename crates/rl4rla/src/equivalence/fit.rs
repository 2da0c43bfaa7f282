//! Fits the contents of a carried register in runs as a linear combination of other registers.

use super::numeric::{at_its_start, probes, random_draws};
use super::rule::NormalisationWork;
use super::scalar::{Scalar, ScalarAtom};
use super::vector::{Vector, VectorSource};
use crate::execute::{RunSettings, snapshots};
use crate::linalg::{self, Matrix, dot, norm, sub};
use crate::program::{Datum, Dim, Program, Reg, Signature};
use std::collections::BTreeMap;

/// Several step sizes, to distinguish multiples of η from constant multiples.
const STEPS: [f64; 5] = [0.37, 0.61, 0.23, 0.83, 0.47];
/// Iterations per run.
const ITERATIONS: usize = 4;
/// The powers of η that a coefficient may contain, simple ones first.
const POWERS: [i32; 5] = [0, 1, -1, 2, -2];
/// Relative size below which a remainder counts as rounding.
const NOISE: f64 = 1e-8;
/// Largest denominator of a coefficient.
const DENOMINATORS: i64 = 64;

/// The contents of x and the carried registers in runs from the initial state: over all iterations, for every
/// instance and step size on which the program runs.
pub struct CarriedStates(Vec<Option<BTreeMap<Reg, Vec<f64>>>>);

impl CarriedStates {
    /// The runs of a program.
    pub fn of(program: &Program, signature: Signature) -> CarriedStates {
        let runs = probes(signature.geometry).into_iter().flat_map(|(_, instance, settings)| {
            let instance = at_its_start(&instance, signature.update);
            STEPS.map(|step| {
                let settings = RunSettings { step, iterations: ITERATIONS, ..settings.clone() };
                let taken = snapshots(program, &instance, signature.update, &settings, None, &random_draws());
                let mut held: BTreeMap<Reg, Vec<f64>> = BTreeMap::new();
                for (t, snapshot) in taken.iter().enumerate() {
                    if t > 0 && snapshot[Reg::V1.index()].is_none() {
                        return None;
                    }
                    for reg in Reg::carried().chain([Reg::X]) {
                        let Some(Datum::Vector(v)) = &snapshot[reg.index()] else { return None };
                        held.entry(reg).or_default().extend_from_slice(v);
                    }
                }
                held.values().all(|values| linalg::is_finite(values)).then_some(held)
            })
        });
        CarriedStates(runs.collect())
    }

    /// The contents of a register times a power of the step size, wherever the other program runs too.
    fn values(&self, reg: Reg, power: i32, other: &CarriedStates) -> Vec<f64> {
        let steps = STEPS.iter().cycle();
        let runs = self.0.iter().zip(&other.0).zip(steps).filter_map(|((run, other), step)| {
            let (run, _) = (run.as_ref()?, other.as_ref()?);
            Some(run[&reg].iter().map(move |v| v * step.powi(power)))
        });
        runs.flatten().collect()
    }
}

/// A register of one program as a linear combination of x and of these registers of another, as suggested by their
/// runs.
pub fn fit(ours: &CarriedStates, reg: Reg, theirs: &CarriedStates, others: &[Reg]) -> Option<Vector> {
    // What is as long as b is no combination of x and the like.
    let others: Vec<Reg> = others.iter().copied().filter(|other| other.length() == Some(Dim::Cols)).collect();
    if reg.length() != Some(Dim::Cols) {
        return None;
    }
    let wanted = ours.values(reg, 0, theirs);
    let size = norm(&wanted);
    if wanted.is_empty() {
        return None;
    }
    let mut kept: Vec<(Reg, i32, Vec<f64>)> = Vec::new();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for power in POWERS {
        for &other in others.iter().chain([&Reg::X]) {
            let column = theirs.values(other, power, ours);
            let length = norm(&column);
            // Projecting twice makes it orthogonal to rounding.
            let project = |v: Vec<f64>| basis.iter().fold(v, |v, u| sub(&v, &linalg::scale(dot(u, &v), u)));
            let rest = project(project(column.clone()));
            if norm(&rest) > NOISE * length {
                basis.push(linalg::scale(norm(&rest).recip(), &rest));
                kept.push((other, power, column));
            }
        }
    }
    let columns = Matrix::from_fn(wanted.len(), kept.len(), |i, j| kept[j].2[i]);
    let multiples = if kept.is_empty() { vec![] } else { linalg::least_squares(&columns, &wanted) };
    let work = &mut NormalisationWork::new(crate::program::Geometry::Tall);
    let mut sum = Vector::zero(Dim::Cols);
    let mut made = vec![0.0; wanted.len()];
    for ((other, power, column), multiple) in kept.iter().zip(multiples) {
        let (n, d) = fraction(multiple)?;
        made = linalg::add(&made, &linalg::scale(n as f64 / d as f64, column));
        let eta = Scalar::atom(ScalarAtom::Eta);
        let whole = (0..power.abs()).fold(Scalar::number(n), |c, _| {
            if *power > 0 { c.times(&eta, work) } else { c.over(&eta, work) }
        });
        let multiple = whole.over(&Scalar::number(d), work);
        sum = sum.plus(&multiple, &Vector::source(VectorSource::Reg(*other), Dim::Cols), work);
    }
    (norm(&sub(&made, &wanted)) <= NOISE * size && work.stop.is_none()).then_some(sum)
}

/// The simplest fraction that equals a number to rounding.
fn fraction(number: f64) -> Option<(i64, i64)> {
    (1..=DENOMINATORS).find_map(|d| {
        let whole = (number * d as f64).round();
        let near = (number * d as f64 - whole).abs() < 1e-6 && whole.abs() < 1e6;
        near.then_some((whole as i64, d))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    #[test]
    fn the_last_iterate_is_x_and_a_velocity() {
        let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let points = |text: &str| CarriedStates::of(&text.parse().unwrap(), Geometry::Tall.into());
        let velocity = points(&format!(
            "iteration:\n {gradient} v2 = SCALAR_VEC_MUL(eta, m1)\n m1 = VEC_VEC_ADD(v1, v2)\n v1 = VEC_VEC_SUB(v1, v1)\n v1 = VEC_VEC_ADD(v1, m1)\n"
        ));
        let last = points(&format!(
            "iteration:\n {gradient} v2 = VEC_VEC_SUB(m1, x)\n v1 = VEC_VEC_ADD(v1, v2)\n m1 = SCALAR_VEC_MUL(eta, x)\n a1 = SCALAR_DIV(eta, eta)\n a1 = SCALAR_DIV(a1, eta)\n m1 = SCALAR_VEC_MUL(a1, m1)\n"
        ));
        let m1 = Reg::carried().next().unwrap();
        // The previous x was x + η·m1.
        let found = fit(&last, m1, &velocity, &[m1]).unwrap();
        let work = &mut NormalisationWork::new(Geometry::Tall);
        let source = |reg| Vector::source(VectorSource::Reg(reg), Dim::Cols);
        assert_eq!(found, source(Reg::X).plus(&Scalar::atom(ScalarAtom::Eta), &source(m1), work));
        assert_eq!(fraction(-0.375), Some((-3, 8)));
        assert_eq!(fraction(std::f64::consts::PI), None);
    }
}
