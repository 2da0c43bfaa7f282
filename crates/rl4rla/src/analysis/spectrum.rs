//! The spectrum of a stationary iteration, x ← x − η·M·(Ax − b).
//!
//! The error e = x − x* becomes G·e, G = I − η·M·A. With A = QR, the excess ‖A·e‖ is the length of y = R·e, which
//! becomes (I − η·B)·y with B = R·M·A·R⁻¹: its norm is that of G as the excess sees it, ‖A·G·A⁺‖, and its eigenvalues
//! are those of M·A. Column j of B is found by one iteration from R⁻¹·eⱼ with b = 0.
#![allow(non_snake_case)]

use super::study::Study;
use crate::execute::{RunSettings, step_from};
use crate::linalg::{self, Matrix};
use crate::problem::{Family, Instance};

/// B = R·M·A·R⁻¹ for one instance and its random draws, with its eigenvalues.
#[derive(Clone, PartialEq, Debug)]
pub struct Spectrum {
    B: Matrix,
    /// The eigenvalues of M·A, as real and imaginary parts.
    pub eigenvalues: Vec<[f64; 2]>,
}

/// Imaginary parts up to this fraction of the largest eigenvalue count as rounding.
const REAL: f64 = 1e-7;
/// Iterations of the golden-section search.
const SECTIONS: usize = 200;

impl Spectrum {
    /// The spectrum of a study's program on the instance of this index; `None` if an iteration fails or A is rank
    /// deficient.
    pub fn of(study: &Study, family: &Family, instance: &Instance, index: u64) -> Option<Spectrum> {
        let n = instance.cols();
        let mut homogeneous = instance.clone();
        homogeneous.b = vec![0.0; instance.rows()];
        let R = instance.triangle();
        let unit = |j: usize| (0..n).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let points: Vec<Vec<f64>> =
            (0..n).map(|j| linalg::solve_upper(R, &unit(j)).ok()).collect::<Option<_>>()?;
        let settings = RunSettings { iterations: 1, ..study.settings(family) };
        let program = study.live.program();
        let ends = step_from(program, &homogeneous, &settings, points.clone(), &study.stream(index)).ok()?;
        // The change of x in one iteration is η·M·A·R⁻¹·eⱼ.
        let taken = |(from, to): (&Vec<f64>, &Vec<f64>)| linalg::mat_vec(R, &linalg::sub(from, to));
        let columns: Vec<Vec<f64>> = points.iter().zip(&ends).map(taken).collect();
        Spectrum::from_matrix(Matrix::from_fn(n, n, |i, j| columns[j][i] / study.step))
    }

    /// The spectrum of an iteration with this B; `None` if it is not finite.
    pub fn from_matrix(B: Matrix) -> Option<Spectrum> {
        let eigenvalues = linalg::eigenvalues(&B)?;
        Some(Spectrum { B, eigenvalues })
    }

    /// ρ(I − η·M·A) = max |1 − ηλ|: the asymptotic convergence factor.
    pub fn radius(&self, step: f64) -> f64 {
        let factor = |[re, im]: &[f64; 2]| (1.0 - step * re).hypot(step * im);
        self.eigenvalues.iter().map(factor).fold(0.0, f64::max)
    }

    /// ‖I − η·B‖ = ‖A·G·A⁺‖: the largest possible factor of the excess in one iteration.
    pub fn norm(&self, step: f64) -> f64 {
        let n = self.B.cols();
        let identity = |i, j| f64::from(u8::from(i == j));
        let G = Matrix::from_fn(n, n, |i, j| identity(i, j) - step * self.B.get(i, j));
        linalg::singular_values(&G).and_then(|sigma| sigma.first().copied()).unwrap_or(f64::INFINITY)
    }

    /// The step size below which the iteration converges: min 2·Re λ/|λ|², 2/λmax for real eigenvalues; 0 if there is
    /// none.
    pub fn stable(&self) -> f64 {
        let bound = |[re, im]: &[f64; 2]| match re * re + im * im {
            0.0 => 0.0,
            square => (2.0 * re / square).max(0.0),
        };
        self.eigenvalues.iter().map(bound).fold(f64::INFINITY, f64::min)
    }

    /// The step size with the smallest spectral radius: 2/(λmin + λmax) for positive eigenvalues; `None` if the
    /// iteration converges for no step size.
    pub fn best(&self) -> Option<f64> {
        let stable = self.stable();
        if !(stable > 0.0 && stable.is_finite()) {
            return None;
        }
        let largest = self.eigenvalues.iter().map(|[re, im]| re.hypot(*im)).fold(0.0, f64::max);
        if self.eigenvalues.iter().all(|[_, im]| im.abs() <= REAL * largest) {
            let real = |f: fn(f64, f64) -> f64| self.eigenvalues.iter().map(|[re, _]| *re).reduce(f);
            return Some(2.0 / (real(f64::min)? + real(f64::max)?));
        }
        // The radius is a maximum of convex functions of η, hence convex.
        let (mut low, mut high) = (0.0, stable);
        for _ in 0..SECTIONS {
            let third = (high - low) / 3.0;
            match self.radius(low + third) < self.radius(high - third) {
                true => high -= third,
                false => low += third,
            }
        }
        Some((low + high) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;
    use proptest::prelude::*;

    fn spectrum(
        name: &str,
        family: &str,
        size: (usize, usize),
        kappa: f64,
        step: f64,
    ) -> (Spectrum, Instance) {
        let study = study(name, family, size, &[kappa], Some(step));
        let instance = study.instance(&study.family, 0, 0).unwrap();
        (Spectrum::of(&study, &study.family, &instance, 0).unwrap(), instance)
    }

    #[test]
    fn gradient_descent_contracts_by_its_singular_values() {
        for (kappa, step) in [(3.0, 0.5), (10.0, 1.0), (100.0, 1.9), (1e4, 0.1)] {
            let (spectrum, instance) = spectrum("ls-gd", "mid-cond", (120, 6), kappa, step);
            let theory = instance.spectrum().iter().map(|s| (1.0 - step * s * s).abs()).fold(0.0, f64::max);
            assert!((spectrum.radius(step) - theory).abs() < 1e-10, "κ {kappa}");
            // The matrix is symmetric in these coordinates, so spectral radius and norm are equal.
            assert!((spectrum.norm(step) - theory).abs() < 1e-10, "κ {kappa}");
            assert!((spectrum.stable() - 2.0).abs() < 1e-9, "2/σmax², σmax = 1");
            let best = 2.0 / (1.0 + kappa.powi(-2));
            assert!((spectrum.best().unwrap() - best).abs() < 1e-9);
        }
    }

    #[test]
    fn preconditioned_gradient_descent_contracts_by_one_minus_the_step() {
        for kappa in [10.0, 1e3, 1e5] {
            for step in [0.3, 1.0, 1.7] {
                let (spectrum, _) = spectrum("precond-gd", "mid-cond", (120, 6), kappa, step);
                let error = (spectrum.radius(step) - (1.0f64 - step).abs()).abs();
                // M = R⁻¹R⁻ᵀ has the condition number κ².
                assert!(error < 1e-15 * kappa * kappa + 1e-12, "κ {kappa}, η {step}: {error}");
                assert!(
                    (spectrum.stable() - 2.0).abs() < 1e-4 && (spectrum.best().unwrap() - 1.0).abs() < 1e-4
                );
            }
        }
    }

    #[test]
    fn landweber_contracts_by_its_eigenvalues() {
        let (spectrum, _) = spectrum("landweber", "psd", (6, 6), 5.0, 1.0);
        assert!(
            (spectrum.radius(1.0) - 0.8).abs() < 1e-12
                && (spectrum.best().unwrap() - 2.0 / 1.2).abs() < 1e-12
        );
    }

    /// S·A = Q₂R₂: the singular values of A·R₂⁻¹ are the inverses of those of S·Q, which lie in 1 ± ε with ε slightly
    /// above √(n/s), so that the eigenvalues of M·A are in [1/(1 + ε)², 1/(1 − ε)²].
    #[test]
    fn a_sketched_preconditioner_stays_within_its_embedding() {
        for name in ["sketched-precond-gd", "sketched-precond-gd-factored", "sketched-precond-gd-gram"] {
            for (kappa, step) in [(10.0, 0.5), (1e3, 0.67), (1e5, 1.0)] {
                let (spectrum, _) = spectrum(name, "mid-cond", (1000, 10), kappa, step);
                // s = 8n, with a margin of 0.1 for the draw.
                let epsilon = (1.0f64 / 8.0).sqrt() + 0.1;
                let ends = [1.0 - epsilon, 1.0 + epsilon].map(|end: f64| (1.0 - step / end.powi(2)).abs());
                let bound = ends[0].max(ends[1]);
                let radius = spectrum.radius(step);
                assert!(radius <= bound, "{name}, κ {kappa}: {radius} > {bound}");
                assert!(radius > 0.1 * bound, "{name}: a sketch is no QR: {radius}");
                assert!((spectrum.norm(step) - radius).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn the_measured_course_follows_the_spectrum() {
        let study = study("sketched-precond-gd", "mid-cond", (300, 8), &[1e3], Some(0.5));
        let instance = study.instance(&study.family, 0, 0).unwrap();
        let spectrum = Spectrum::of(&study, &study.family, &instance, 0).unwrap();
        let history = study.history(&study.family, &study.settings(&study.family), 0, 0).unwrap();
        for pair in history.windows(2).filter(|pair| pair[0] > 1e-9) {
            assert!(pair[1] <= spectrum.norm(0.5) * pair[0] * (1.0 + 1e-6));
        }
        let measured = super::super::contraction::rate(&history).unwrap();
        assert!((measured / spectrum.radius(0.5) - 1.0).abs() < 0.05, "{measured}");
    }

    proptest! {
        #[test]
        fn below_the_stable_step_it_converges_and_beyond_it_does_not(
            entries in prop::collection::vec(-1.0_f64..1.0, 9),
            shift in 0.5_f64..4.0,
        ) {
            let B = Matrix::from_fn(3, 3, |i, j| entries[3 * i + j] + if i == j { shift } else { 0.0 });
            let spectrum = Spectrum::from_matrix(B).unwrap();
            let stable = spectrum.stable();
            prop_assume!(stable > 1e-6);
            prop_assert!(spectrum.radius(0.999 * stable) < 1.0 && spectrum.radius(1.001 * stable) > 1.0);
            let best = spectrum.best().unwrap();
            let least = spectrum.radius(best);
            for share in [0.1, 0.5, 0.9, 0.99] {
                prop_assert!(least <= spectrum.radius(share * stable) + 1e-9);
            }
            prop_assert!(spectrum.norm(best) >= least - 1e-12);
        }
    }
}
