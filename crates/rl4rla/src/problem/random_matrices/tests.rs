//! Properties of drawn instances, for every kind and option.

use super::*;
use crate::problem::{FamilyKind, Leverage};
use proptest::prelude::*;
use rayon::prelude::*;

const TALL: [FamilyKind; 3] = [FamilyKind::LOW_COND, FamilyKind::MID_COND, FamilyKind::HIGH_COND];
const RIGHTS: [Right; 3] = [Right::Gauss, Right::StudentT, Right::ScaledRows];
const LEVERAGES: [Leverage; 3] = Leverage::ALL;

fn tall(kind: FamilyKind) -> Family {
    Family { rows: 60, cols: 8, ..Family::new(kind) }
}

/// Every kind with every option at a small size.
fn all() -> Vec<Family> {
    let mut families = vec![];
    for scale in [Scale::Unit, Scale::Raw] {
        families.push(Family { scale, ..Family::new(FamilyKind::PSD) });
        for kind in TALL {
            for right in RIGHTS {
                for leverage in LEVERAGES {
                    for outside in [0.0, 0.3] {
                        families.push(Family { scale, right, leverage, outside, ..tall(kind) });
                    }
                }
            }
        }
    }
    families
}

fn bits(instance: &Instance) -> Vec<u64> {
    let A = &instance.A;
    let entries = (0..A.cols()).flat_map(|j| (0..A.rows()).map(move |i| A.get(i, j)));
    entries
        .chain(instance.b.iter().copied())
        .chain(instance.x_star.iter().copied())
        .map(f64::to_bits)
        .collect()
}

fn sub(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

/// Checks the properties of an instance of `family`.
fn assert_sound(family: &Family, instance: &Instance) {
    let A = &instance.A;
    assert_eq!((A.rows(), A.cols(), instance.b.len()), (family.rows, family.cols, family.rows));
    let sigma = linalg::singular_values(A).unwrap();
    for (known, computed) in instance.spectrum().iter().zip(&sigma) {
        assert!((known - computed).abs() <= 1e-12 * sigma[0], "{family:?}: {known} is {computed}");
    }
    if family.scale == Scale::Unit {
        assert!((sigma[0] - 1.0).abs() < 1e-12, "{family:?}: ‖A‖₂ = {}", sigma[0]);
    }
    let gap = sub(&instance.b, &linalg::mat_vec(A, &instance.x_star));
    let normal = linalg::norm(&linalg::vec_mat(&gap, A));
    assert!(normal <= 1e-13 * sigma[0] * instance.norm_b(), "{family:?}: ‖Aᵀ(b − Ax*)‖ = {normal}");
    assert!((instance.attainable() - instance.residual(&instance.x_star)).abs() < 1e-13);
    assert_eq!(instance.attainable() == 0.0, family.outside == 0.0);
    assert_eq!(instance.excess(&instance.x_star), 0.0);
}

#[test]
fn every_family_keeps_its_promises() {
    for family in all() {
        for seed in 0..3 {
            assert_sound(&family, &family.draw(&Stream::new(seed)).unwrap());
        }
    }
}

#[test]
fn drawing_is_pure() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    for family in all() {
        let stream = Stream::new(7);
        let once = bits(&family.draw(&stream).unwrap());
        pool.install(|| {
            (0..8).into_par_iter().for_each(|_| assert_eq!(bits(&family.draw(&stream).unwrap()), once))
        });
        assert_ne!(bits(&family.draw(&Stream::new(8)).unwrap()), once);
    }
}

#[test]
fn the_condition_is_as_asked() {
    let condition_of = |family: Family| {
        let sigma = linalg::singular_values(&family.draw(&Stream::new(1)).unwrap().A).unwrap();
        sigma[0] / sigma[sigma.len() - 1]
    };
    for condition in [1.0, 3.0, 1e5] {
        for kind in TALL {
            for leverage in LEVERAGES {
                let family = Family { condition: Some(condition), leverage, ..tall(kind) };
                assert!((condition_of(family) / condition - 1.0).abs() < 1e-9, "{kind} {condition}");
            }
        }
        let family = Family { condition: Some(condition), ..Family::new(FamilyKind::PSD) };
        assert!((condition_of(family) / condition - 1.0).abs() < 1e-9);
    }
    assert!((condition_of(Family::new(FamilyKind::PSD)) - 2.0).abs() < 1e-12);
    assert!((condition_of(tall(FamilyKind::LOW_COND)) - 2.0).abs() < 1e-5);
}

#[test]
fn psd_is_symmetric_and_positive_definite() {
    for scale in [Scale::Unit, Scale::Raw] {
        let family =
            Family { rows: 12, cols: 12, scale, condition: Some(50.0), ..Family::new(FamilyKind::PSD) };
        let instance = family.draw(&Stream::new(2)).unwrap();
        for i in 0..12 {
            for j in 0..i {
                assert_eq!(instance.A.get(i, j), instance.A.get(j, i));
            }
        }
        assert!(instance.A.as_faer().llt(faer::Side::Lower).is_ok());
        assert!(instance.symmetric);
    }
}

#[test]
fn raw_psd_norms_vary() {
    let family = Family { scale: Scale::Raw, ..Family::new(FamilyKind::PSD) };
    let norms: Vec<f64> = (0..50).map(|i| family.draw(&Stream::new(i)).unwrap().spectrum()[0]).collect();
    let mean = norms.iter().sum::<f64>() / 50.0;
    assert!((2.0..4.0).contains(&mean), "{mean}"); // tends to 4 as n grows
    assert!(norms.iter().any(|l| *l > 1.2 * mean) && norms.iter().any(|l| *l < 0.8 * mean));
}

#[test]
fn the_right_hand_side_is_mixed_as_asked() {
    for scale in [Scale::Unit, Scale::Raw] {
        for right in RIGHTS {
            let family = Family { outside: 0.2, scale, right, ..tall(FamilyKind::LOW_COND) };
            let instance = family.draw(&Stream::new(3)).unwrap();
            let level = instance.spectrum().iter().sum::<f64>() / 8.0;
            let inside = linalg::mat_vec(&instance.A, &instance.x_star);
            assert!((linalg::norm(&inside) - 0.8 * level).abs() < 1e-12);
            assert!((linalg::norm(&sub(&instance.b, &inside)) - 0.2 * level).abs() < 1e-12);
            assert!((instance.attainable() - 0.2 / 0.68_f64.sqrt()).abs() < 1e-12);
        }
    }
}

#[test]
fn attainable_is_what_least_squares_attains() {
    for kind in TALL {
        let drawn = Family { outside: 0.4, ..tall(kind) }.draw(&Stream::new(4)).unwrap();
        let solved = Instance::from_data((*drawn.A).clone(), drawn.b.clone()).unwrap();
        assert!((solved.attainable() - drawn.attainable()).abs() < 1e-12, "{kind}");
        // The excess of a backward stable solver is of order ε·κ.
        let condition = drawn.spectrum()[0] / drawn.spectrum()[7];
        assert!(drawn.excess(&solved.x_star) < 1e-15 * (10.0 + condition), "{kind}");
    }
}

#[test]
fn degenerate_sizes_are_drawn() {
    for kind in TALL {
        for right in RIGHTS {
            for leverage in LEVERAGES {
                for (rows, cols, outside) in
                    [(1, 1, 0.0), (2, 1, 0.5), (30, 1, 0.5), (5, 5, 0.0), (6, 5, 0.9)]
                {
                    let family = Family { rows, cols, right, leverage, outside, ..Family::new(kind) };
                    assert_sound(&family, &family.draw(&Stream::new(5)).unwrap());
                }
            }
        }
    }
    let one = Family { rows: 1, cols: 1, ..Family::new(FamilyKind::PSD) };
    let instance = one.draw(&Stream::new(5)).unwrap();
    assert_eq!((instance.A.get(0, 0), instance.spectrum()), (1.0, &[1.0][..]));
}

#[test]
fn the_default_size_works() {
    let family = Family { leverage: Leverage::High, outside: 0.1, ..Family::new(FamilyKind::HIGH_COND) };
    assert_sound(&family, &family.draw(&Stream::new(6)).unwrap());
}

#[test]
fn invalid_families_are_not_drawn() {
    let family = Family { rows: 2, ..tall(FamilyKind::LOW_COND) };
    assert_eq!(family.draw(&Stream::new(0)).err(), family.check().err());
}

proptest! {
    #[test]
    fn small_families_keep_their_promises(
        kind in prop::sample::select(&TALL[..]), right in prop::sample::select(&RIGHTS[..]),
        leverage in prop::sample::select(&LEVERAGES[..]), cols in 1..7_usize, extra in 0..20_usize,
        outside in 0.0..0.99, exponent in 0.0..8.0, seed: u64,
    ) {
        let condition = (cols > 1).then(|| 10_f64.powf(exponent));
        let outside = if extra == 0 { 0.0 } else { outside };
        let family = Family { rows: cols + extra, cols, right, leverage, outside, condition, ..Family::new(kind) };
        assert_sound(&family, &family.draw(&Stream::new(seed)).unwrap());
    }
}
