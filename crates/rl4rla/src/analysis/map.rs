//! The robustness map: the excess after T iterations over condition number, leverage, aspect ratio and noise.

use super::study::{ExcessHistory, Study, StudyPoint, last};
use crate::baseline::{Baseline, Request};
use crate::execute::run;
use crate::problem::{Choice, Family, Leverage};
use crate::reward::draws;
use crate::statistics::Interval;
use rayon::prelude::*;
use serde::Serialize;

/// One cell of the map.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MapCell {
    /// κ, if it was prescribed.
    pub kappa: Option<f64>,
    /// Uniformity of the leverage scores.
    pub leverage: Leverage,
    /// m/n.
    pub aspect: f64,
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// Weight of the component of b outside the range of A, or the family's own noise parameter.
    pub noise: f64,
    /// The median excess after T iterations, over the runs that did not fail.
    pub excess: Option<f64>,
    /// The lower end of its 95 % confidence interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Number of failed runs.
    pub failed: usize,
    /// Number of instances that cannot be drawn.
    pub undrawn: usize,
    /// Number of runs.
    pub count: usize,
    /// The median excess of a QR solve on the same instances, for linear systems.
    pub direct: Option<f64>,
    /// The run with the largest final excess, and that excess, infinite if it failed.
    #[serde(skip)]
    pub worst: Option<(StudyPoint, f64)>,
}

impl MapCell {
    /// Whether more than half of the runs failed.
    pub fn is_broken(&self) -> bool {
        2 * self.failed > self.count - self.undrawn.min(self.count) && self.failed > 0
    }

    /// All cells of a study's map, ordered by leverage, noise, aspect ratio and condition number.
    pub fn all(study: &Study) -> Vec<MapCell> {
        places(study).into_par_iter().map(|(family, noise)| cell(study, &family, noise)).collect()
    }
}

/// The noise parameter of a family.
enum Noise {
    /// `outside`.
    Outside,
    /// A parameter of its own, with its default.
    Number(&'static str, f64),
    /// No noise parameter.
    Nothing,
}

impl Noise {
    fn of(family: &Family) -> Noise {
        let info = family.kind.info();
        match info.numbers.iter().find(|number| number.name == "noise") {
            _ if info.options.contains(&Choice::Outside) => Noise::Outside,
            Some(number) => Noise::Number(number.name, number.default),
            None => Noise::Nothing,
        }
    }
}

/// The families of the map with their noise, in order.
fn places(study: &Study) -> Vec<(Family, f64)> {
    let (base, effort) = (study.family, &study.effort);
    let info = base.kind.info();
    let takes = |choice| info.options.contains(&choice);
    let leverages = if takes(Choice::Leverage) { Leverage::ALL.to_vec() } else { vec![base.leverage] };
    let aspects: Vec<usize> = if info.square { vec![1] } else { effort.aspects.to_vec() };
    let kappas: Vec<Option<f64>> = match study.kappas[0] {
        Some(_) => effort.kappas.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let noise = Noise::of(&base);
    let noises: Vec<f64> = match noise {
        Noise::Outside => effort.noises.to_vec(),
        Noise::Number(_, default) => vec![0.5 * default, default, 2.0 * default],
        Noise::Nothing => vec![0.0],
    };
    let mut places = Vec::new();
    for &leverage in &leverages {
        for &level in &noises {
            for &aspect in &aspects {
                for &condition in &kappas {
                    let family = Family { leverage, condition, rows: aspect * base.cols, ..base };
                    let family = match noise {
                        Noise::Outside => Family { outside: level, ..family },
                        Noise::Number(name, _) => family.with_number(name, level).unwrap_or(family),
                        Noise::Nothing => family,
                    };
                    places.push((family, level));
                }
            }
        }
    }
    places
}

fn cell(study: &Study, family: &Family, noise: f64) -> MapCell {
    let settings = study.settings(family);
    let qr = Baseline::named("qr").filter(|_| family.kind.info().task.is_least_squares());
    let (mut histories, mut direct, mut undrawn): (Vec<ExcessHistory>, Vec<f64>, usize) = Default::default();
    let mut worst: Option<(StudyPoint, f64)> = None;
    for replicate in 0..study.effort.replicates {
        // Each run has its own seed, so that it is the first instance of an evaluation with that seed.
        let point = StudyPoint { family: *family, seed: study.care.seed.wrapping_add(replicate) };
        let Ok(instance) = study.instance(family, point.seed, 0) else {
            undrawn += 1;
            continue;
        };
        let stream = draws(point.seed, 0, 0);
        let trace = run(study.live.program(), &instance, &settings, &stream);
        let history = trace.map(|trace| trace.excesses).map_err(|failure| failure.to_string());
        if worst.is_none_or(|(_, excess)| last(&history) > excess) {
            worst = Some((point, last(&history)));
        }
        histories.push(history);
        let solved = qr.and_then(|qr| qr.solve(&Request::new(&instance.A, &instance.b, stream)).ok());
        direct.extend(solved.map(|found| instance.excess(&found.x)));
    }
    let ends = histories.iter().flatten().filter_map(|history| history.last().copied());
    let excess = Interval::median(ends);
    MapCell {
        kappa: family.condition,
        leverage: family.leverage,
        aspect: family.rows as f64 / family.cols as f64,
        rows: family.rows,
        cols: family.cols,
        noise,
        excess: excess.map(|excess| excess.value),
        low: excess.map(|excess| excess.low),
        high: excess.map(|excess| excess.high),
        failed: histories.iter().filter(|history| history.is_err()).count(),
        undrawn,
        count: study.effort.replicates as usize,
        direct: Interval::median(direct).map(|direct| direct.value),
        worst,
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;

    #[test]
    fn the_map_shows_where_a_method_is_at_home() {
        let study = study("precond-gd", "mid-cond", (100, 4), &[10.0], Some(1.0));
        let cells = MapCell::all(&study);
        assert_eq!(cells.len(), 3 * 2 * 2 * 3);
        assert!(cells.iter().all(|cell| cell.failed == 0 && cell.undrawn == 0 && cell.count == 3));
        // Accurate everywhere, up to the digits lost to κ.
        let good =
            |cell: &MapCell| cell.excess.unwrap() < 1e-14 * cell.kappa.unwrap() && cell.direct.is_some();
        assert!(cells.iter().all(good), "{cells:#?}");
        assert!(cells.iter().all(|cell| cell.low <= cell.excess && cell.excess <= cell.high));
        // The worst run is a run of its cell and can be reproduced separately.
        let (point, excess) = cells[0].worst.unwrap();
        assert!(cells[0].high <= Some(excess));
        assert_eq!(
            last(&study.history(&point.family, &study.settings(&point.family), point.seed, 0)),
            excess
        );
    }

    #[test]
    fn families_show_the_options_they_have() {
        let eigenvalue = study("power-iteration", "eigenvalue", (6, 6), &[4.0], Some(1.0));
        let cells = MapCell::all(&eigenvalue);
        assert_eq!(cells.len(), 3);
        assert!(cells.iter().all(|cell| cell.aspect == 1.0 && cell.direct.is_none()));
        let separable = study("logistic-gd", "logistic-separable", (60, 4), &[], Some(1.0));
        assert_eq!(MapCell::all(&separable).len(), 2, "two shapes, nothing else to vary");
    }
}
