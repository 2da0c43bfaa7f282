//! Validity checks of families.

use super::*;

fn tall() -> Family {
    Family { rows: 20, cols: 4, ..Family::new(FamilyKind::LOW_COND) }
}

fn message(family: Family) -> String {
    family.check().unwrap_err().to_string()
}

#[test]
fn families_have_their_names_and_are_valid() {
    for info in families() {
        let family = Family::named(info.name).unwrap();
        assert_eq!(family, Family::new(FamilyKind(info)));
        assert_eq!(family.check(), Ok(()));
        assert!(info.numbers.len() <= 3, "{}", info.name);
    }
    assert_eq!(Family::named("lowcond"), None);
}

#[test]
fn own_numbers_have_names_and_ranges() {
    let logistic = Family::named("logistic").unwrap();
    assert_eq!((logistic.number("noise"), logistic.number("separation")), (Some(1.0), None));
    assert_eq!(logistic.with_number("noise", 0.5).unwrap().number("noise"), Some(0.5));
    assert!(logistic.with_number("noses", 0.5).is_none());
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        let text = message(logistic.with_number("noise", value).unwrap());
        assert!(text.starts_with(&format!("noise must be from 0 to 1000000, got {value}")), "{text}");
    }
}

#[test]
fn sizes_are_checked() {
    assert_eq!(
        message(Family { cols: 7, ..Family::new(FamilyKind::PSD) }),
        "family `psd` needs rows = cols, got 5 × 7; pass the same number twice"
    );
    assert!(message(Family { rows: 3, ..tall() }).contains("rows ≥ cols, got 3 × 4"));
    assert!(message(Family { rows: 0, ..tall() }).contains("got 0 × 4"));
    assert!(message(Family { cols: 0, ..tall() }).contains("got 20 × 0"));
    for (rows, cols) in [(usize::MAX / 4, 50), (usize::MAX, usize::MAX), (usize::MAX, 1), (1 << 20, 1 << 8)] {
        let family = Family { rows, cols, ..tall() };
        assert_eq!(family.check(), Err(FamilyError::TooLarge { rows, cols }));
        assert_eq!(family.draw(&crate::rng::Stream::new(0)).err(), family.check().err());
    }
    assert!(message(Family { rows: usize::MAX, ..tall() }).contains("4 GiB"));
    assert_eq!(Family { rows: 1 << 20, cols: 170, ..tall() }.check(), Ok(()));
}

#[test]
fn conditions_are_checked() {
    for condition in [0.5, -1.0, f64::NAN, f64::INFINITY] {
        let text = message(Family { condition: Some(condition), ..tall() });
        assert!(text.ends_with(&format!("got {condition}")), "{text}");
    }
    let one = Family { cols: 1, ..tall() };
    assert_eq!(one.check(), Ok(()));
    assert_eq!(Family { condition: Some(1.0), ..one }.check(), Ok(()));
    assert!(message(Family { condition: Some(2.0), ..one }).contains("one column has condition 1, got 2"));
}

#[test]
fn outside_is_checked() {
    for outside in [-0.1, 1.0, f64::NAN] {
        assert!(message(Family { outside, ..tall() }).contains(&format!("got {outside}")));
    }
    assert_eq!(Family { outside: 0.9, ..tall() }.check(), Ok(()));
    assert!(message(Family { outside: 0.5, rows: 4, ..tall() }).contains("at 4 × 4 has none"));
    assert!(message(Family { outside: 0.5, ..Family::new(FamilyKind::PSD) }).contains("`psd`"));
}

#[test]
fn options_without_meaning_are_refused() {
    let psd = Family::new(FamilyKind::PSD);
    assert!(message(Family { leverage: Leverage::High, ..psd }).contains("no option `leverage`"));
    assert!(message(Family { right: Right::StudentT, ..psd }).contains("no option `right`"));
}
