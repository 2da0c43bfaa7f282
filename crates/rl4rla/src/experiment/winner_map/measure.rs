//! Measuring: how many iterations each contender needs on the problems of a class.

use super::contender::{Contender, MapTunables};
use super::grid::{MapGrid, ProblemClass};
use super::map::SurveyEntry;
use crate::baseline::{Baseline, Request};
use crate::execute::{Measuring, Plan, PreparedInstance, RunSettings, Runner, SketchKind};
use crate::problem::{Family, FamilyError, FamilyKind};
use crate::program::Program;
use crate::rng::Stream;
use rayon::prelude::*;

/// Columns of the problems that are measured.
pub const COLS: usize = 100;

/// Columns of the problems that show how iterations grow with n.
const FEWER_COLS: usize = 50;

/// Rows per column of these problems.
const RATIO: usize = 80;

/// Instances of a class. Each must reach the tolerance.
const INSTANCES: usize = 3;

/// Iterations after which a run is given up.
const LIMIT: usize = 600;

/// A run is given up if its excess has not fallen by a tenth in this many iterations.
const PATIENCE: usize = 50;

/// A run has diverged when its excess is this many times that of the start.
const DIVERGED: f64 = 1e4;

/// The kinds of sketches that are tried. A Gaussian sketch is no better than the others and takes 2s flops per entry.
const KINDS: [SketchKind; 3] = [SketchKind::CountSketch, SketchKind::Sjlt, SketchKind::Srht];

/// Step sizes that are tried first. Those between the best and its neighbours follow.
const STEPS: [f64; 17] =
    [1.0, 0.9, 1.1, 0.8, 1.25, 0.7, 0.6, 1.5, 0.5, 0.4, 1.75, 0.3, 1.9, 0.22, 1.98, 0.15, 0.1];

/// Values of μ that are tried.
const MUS: [f64; 6] = [0.0625, 0.125, 0.25, 0.5, 0.75, 0.9];

/// Settings that are tried on every instance, after a race on the first.
const FINALISTS: usize = 3;

/// Rows per column, columns and prices at which settings are compared, to keep those that are best somewhere.
const PROBED_RATIOS: [usize; 10] = [2, 3, 5, 10, 30, 100, 300, 1_000, 10_000, 100_000];
const PROBED_COLS: [usize; 5] = [5, 20, 100, 500, 2_000];
const PROBED_PRICES: [f64; 4] = [0.0, 1.0, 10.0, 100.0];

/// Iterations to each tolerance, from the loosest on.
type Passage = Vec<Option<usize>>;

/// The instances of a class.
struct Field {
    instances: Vec<PreparedInstance>,
    /// For each instance, the tolerances from the loosest on, but none below ten times the excess of QR.
    tolerances: Vec<Vec<f64>>,
    cols: usize,
    stream: Stream,
}

/// Measures every contender on a class: for each tolerance of the grid, the settings worth knowing.
pub fn measured(
    grid: &MapGrid,
    class: ProblemClass,
    contenders: &[Contender],
    stream: &Stream,
) -> Result<Vec<Vec<SurveyEntry>>, FamilyError> {
    let field = Field::draw(grid, class, COLS, &stream.derive("measured", 0))?;
    let fewer = Field::draw(grid, class, FEWER_COLS, &stream.derive("fewer", 0))?;
    let trusted = contenders.iter().filter(|contender| !contender.is_unsafe_at(class.kappa));
    let entrants: Vec<(&Contender, Option<(SketchKind, f64)>)> =
        trusted.flat_map(|contender| settings_of(grid, contender)).collect();
    let found: Vec<Vec<Option<SurveyEntry>>> = entrants
        .par_iter()
        .map(|(contender, sketch)| match contender.program() {
            None => field.direct(contender),
            Some(program) => field.program(&fewer, contender, program, *sketch),
        })
        .collect();
    let tolerances = 0..grid.tolerances.len();
    let of = |j: usize| found.iter().filter_map(|entry| entry[j].clone()).collect();
    Ok(tolerances.map(|j| useful(of(j), contenders)).collect())
}

/// Every sketch that a contender is tried with.
fn settings_of<'a>(
    grid: &MapGrid,
    contender: &'a Contender,
) -> Vec<(&'a Contender, Option<(SketchKind, f64)>)> {
    if !contender.sketches() {
        return vec![(contender, None)];
    }
    let factors = |kind| grid.factors.iter().map(move |&factor| (contender, Some((kind, factor))));
    KINDS.into_iter().flat_map(factors).collect()
}

/// The entries that are best for their program at some size and price; the others need not be known.
fn useful(entries: Vec<SurveyEntry>, contenders: &[Contender]) -> Vec<SurveyEntry> {
    let mut kept = vec![false; entries.len()];
    let sizes = PROBED_COLS.into_iter().flat_map(|cols| PROBED_RATIOS.map(|ratio| (ratio * cols, cols)));
    for ((rows, cols), price) in sizes.flat_map(|size| PROBED_PRICES.map(|price| (size, price))) {
        for contender in contenders {
            let own = entries.iter().enumerate().filter(|(_, entry)| entry.program == contender.name());
            let work = own.filter_map(|(i, entry)| {
                let effort = contender.effort(rows, cols, &entry.tunables, entry.iterations_at(cols))?;
                Some((i, effort.work(price)))
            });
            if let Some((best, _)) = work.min_by(|a, b| a.1.total_cmp(&b.1)) {
                kept[best] = true;
            }
        }
    }
    entries.into_iter().zip(kept).filter_map(|(entry, kept)| kept.then_some(entry)).collect()
}

impl Field {
    fn draw(grid: &MapGrid, class: ProblemClass, cols: usize, stream: &Stream) -> Result<Field, FamilyError> {
        let family = Family {
            rows: RATIO * cols,
            cols,
            condition: Some(class.kappa),
            outside: class.outside,
            leverage: class.leverage,
            ..Family::new(FamilyKind::MID_COND)
        };
        let draw = |i: usize| PreparedInstance::draw_rotated(&family, &stream.derive("instance", i as u64));
        let instances = (0..INSTANCES).map(draw).collect::<Result<Vec<_>, _>>()?;
        let attainable = |prepared: &PreparedInstance| {
            let problem = prepared.problem();
            let direct = problem.task.direct_solution(&problem).expect("least squares have a direct method");
            let (_, floor) = problem.measure(&direct);
            grid.tolerances.iter().map(|tolerance| tolerance.max(10.0 * floor)).collect()
        };
        let tolerances = instances.par_iter().map(attainable).collect();
        Ok(Field { instances, tolerances, cols, stream: stream.derive("runs", 0) })
    }

    /// A direct solver reaches what it reaches.
    fn direct(&self, contender: &Contender) -> Vec<Option<SurveyEntry>> {
        let baseline = Baseline::named(contender.name()).expect("a direct contender is a baseline");
        let excesses: Vec<f64> = self
            .instances
            .iter()
            .map(|prepared| {
                let problem = prepared.problem();
                let request = Request::new(&problem.A, &problem.b, self.stream);
                baseline.solve(&request).map_or(f64::INFINITY, |solution| problem.measure(&solution.x).1)
            })
            .collect();
        let tunables = MapTunables { step: 1.0, mu: None, sketch: None, sketch_factor: None };
        let entry = SurveyEntry { program: contender.name().into(), tunables, iterations: 1.0, growth: 0.0 };
        let reached = |j: usize| excesses.iter().zip(&self.tolerances).all(|(excess, of)| *excess <= of[j]);
        (0..self.tolerances[0].len()).map(|j| reached(j).then(|| entry.clone())).collect()
    }

    /// A program with one sketch, at its best step size.
    fn program(
        &self,
        fewer: &Field,
        contender: &Contender,
        program: &Program,
        sketch: Option<(SketchKind, f64)>,
    ) -> Vec<Option<SurveyEntry>> {
        let mus: &[f64] = if contender.reads_mu() { &MUS } else { &[0.0] };
        let mut race: Vec<([f64; 2], f64)> = Vec::new();
        for &mu in mus {
            self.race(program, sketch, mu, &mut race);
        }
        race.sort_by(|a, b| a.1.total_cmp(&b.1));
        let finalists = race.into_iter().take(FINALISTS).map(|(setting, _)| {
            let passages: Vec<Passage> =
                (0..INSTANCES).map(|i| self.run(program, sketch, setting, i, LIMIT)).collect();
            let sum: f64 = passages.iter().map(value).sum();
            (setting, passages, sum)
        });
        let best = finalists.min_by(|a, b| a.2.total_cmp(&b.2));
        let ([step, mu], passages, _) = best.expect("there are step sizes");
        let small: Vec<Passage> =
            (0..INSTANCES).map(|i| fewer.run(program, sketch, [step, mu], i, LIMIT)).collect();
        let tunables = MapTunables {
            step: rounded(step, 1e4),
            mu: contender.reads_mu().then_some(mu),
            sketch: sketch.map(|(kind, _)| kind),
            sketch_factor: sketch.map(|(_, factor)| factor),
        };
        let entry = |j: usize| {
            let iterations = rounded(mean(&passages, j)?, 1e1);
            let growth = mean(&small, j).map_or(0.0, |fewer| growth(fewer, iterations));
            Some(SurveyEntry { program: contender.name().into(), tunables, iterations, growth })
        };
        (0..self.tolerances[0].len()).map(entry).collect()
    }

    /// Tries step sizes on the first instance, those near the best last.
    fn race(
        &self,
        program: &Program,
        sketch: Option<(SketchKind, f64)>,
        mu: f64,
        race: &mut Vec<([f64; 2], f64)>,
    ) {
        let mut own: Vec<(f64, f64)> = Vec::new();
        let mut limit = LIMIT;
        let mut attempt = |step: f64, own: &mut Vec<(f64, f64)>| {
            let passage = self.run(program, sketch, [step, mu], 0, limit);
            // Slower step sizes need not be followed to the end.
            limit = passage.last().copied().flatten().map_or(limit, |last| limit.min(last + last / 8 + 2));
            own.push((step, value(&passage)));
        };
        STEPS.iter().for_each(|&step| attempt(step, &mut own));
        for _ in 0..2 {
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
            let best = (0..own.len()).min_by(|&i, &j| own[i].1.total_cmp(&own[j].1)).unwrap_or(0);
            let step = |i: usize| own.get(i).map(|(step, _)| *step);
            let neighbours = [best.checked_sub(1).and_then(step), step(best + 1)];
            let middles: Vec<f64> =
                neighbours.into_iter().flatten().map(|n| (n + own[best].0) / 2.0).collect();
            middles.into_iter().for_each(|step| attempt(step, &mut own));
        }
        race.extend(own.into_iter().map(|(step, value)| ([step, mu], value)));
    }

    /// Iterations to each tolerance on an instance.
    fn run(
        &self,
        program: &Program,
        sketch: Option<(SketchKind, f64)>,
        [step, mu]: [f64; 2],
        i: usize,
        limit: usize,
    ) -> Passage {
        let prepared = &self.instances[i];
        let mut settings = RunSettings {
            step,
            mu,
            iterations: limit,
            ..RunSettings::for_size(RATIO * self.cols, self.cols)
        };
        if let Some((kind, factor)) = sketch {
            (settings.sketch, settings.sketch_rows) = (kind, (factor * self.cols as f64).ceil() as usize);
        }
        let tolerances = &self.tolerances[i];
        let mut passage = vec![None; tolerances.len()];
        let Ok(plan) = Plan::new(program, prepared.shape(), &settings) else { return passage };
        let coordinates = prepared.coordinates(&plan, &settings);
        let data = coordinates.data();
        let stream = self.stream.derive("instance", i as u64);
        let measuring = Measuring::Every { losses: false };
        let Ok(mut runner) = Runner::begin(&plan, data, &settings, &stream, measuring) else {
            return passage;
        };
        let (_, first) = data.problem().measure_start();
        let (mut best, mut since) = (f64::INFINITY, 0);
        for t in 0..=limit {
            let excess = *runner.excesses().last().expect("the start was measured");
            for (reached, tolerance) in passage.iter_mut().zip(tolerances) {
                if reached.is_none() && excess <= *tolerance {
                    *reached = Some(t);
                }
            }
            if excess < 0.9 * best {
                (best, since) = (excess, 0);
            }
            since += 1;
            // NaN has diverged, too.
            let goes_on = excess <= DIVERGED * first && since <= PATIENCE && passage.contains(&None);
            if !goes_on || t == limit || runner.advance().is_err() {
                break;
            }
        }
        passage
    }
}

/// What a passage is worth in a race, the less the better.
fn value(passage: &Passage) -> f64 {
    passage.iter().map(|reached| reached.unwrap_or(10 * LIMIT) as f64).sum()
}

/// The mean iterations to a tolerance, if every run reached it.
fn mean(passages: &[Passage], j: usize) -> Option<f64> {
    let sum = passages.iter().map(|passage| passage[j]).sum::<Option<usize>>()?;
    Some(sum as f64 / passages.len() as f64)
}

/// p, if iterations grow like nᵖ from half the columns to all; 0 where the difference may be chance.
fn growth(fewer: f64, iterations: f64) -> f64 {
    let much = (0.15 * iterations).max(3.0);
    if iterations - fewer <= much {
        return 0.0;
    }
    let power = (iterations / fewer.max(1.0)).ln() / (COLS as f64 / FEWER_COLS as f64).ln();
    rounded(power.clamp(0.0, 1.5), 1e2)
}

/// A number with few digits, so that maps are short.
fn rounded(value: f64, units: f64) -> f64 {
    (value * units).round() / units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Leverage;

    fn entry(program: &str, sketch: (SketchKind, f64), iterations: f64) -> SurveyEntry {
        let (kind, factor) = sketch;
        let tunables = MapTunables { step: 1.0, mu: None, sketch: Some(kind), sketch_factor: Some(factor) };
        SurveyEntry { program: program.into(), tunables, iterations, growth: 0.0 }
    }

    #[test]
    fn only_settings_that_may_be_best_are_kept() {
        use SketchKind::{CountSketch, Sjlt, Srht};
        let [a, b] = ["sketched-precond-gd", "sketched-precond-gd-factored"];
        let all = vec![
            entry(a, (Sjlt, 2.0), 30.0),
            entry(a, (Sjlt, 4.0), 31.0),
            entry(a, (Sjlt, 8.0), 10.0),
            entry(a, (CountSketch, 8.0), 10.0),
            entry(a, (Srht, 8.0), 9.0),
            entry(b, (Sjlt, 4.0), 31.0),
        ];
        // The first fits into few rows, the last of the first program saves a pass where passes are dear.
        let kept: Vec<SurveyEntry> = [0, 3, 4, 5].iter().map(|&i: &usize| all[i].clone()).collect();
        let contenders: Vec<Contender> = [a, b].iter().filter_map(|name| Contender::named(name)).collect();
        assert_eq!(useful(all, &contenders), kept);
    }

    #[test]
    fn growth_is_the_exponent_and_not_chance() {
        assert_eq!((growth(10.0, 12.0), growth(12.0, 10.0), growth(50.0, 100.0)), (0.0, 0.0, 1.0));
        assert_eq!(growth(10.0, 500.0), 1.5);
    }

    #[test]
    fn a_class_is_measured_as_theory_says() {
        let grid = MapGrid { tolerances: vec![1e-4, 1e-8], factors: vec![4.0, 16.0], ..MapGrid::quick() };
        let class = ProblemClass { kappa: 1e8, outside: 0.7, leverage: Leverage::Low };
        let names = ["qr", "normal-equations", "ls-gd", "sketched-precond-gd-factored"];
        let contenders: Vec<Contender> = names.iter().filter_map(|name| Contender::named(name)).collect();
        let cells = measured(&grid, class, &contenders, &Stream::new(5)).unwrap();
        let find = |j: usize, name: &str| cells[j].iter().filter(|e| e.program == name).collect::<Vec<_>>();
        // κ² is 1/ε: AᵀA has no Cholesky factor left, and gradient descent no hope.
        assert_eq!(
            (find(1, "qr").len(), find(1, "normal-equations").len(), find(0, "ls-gd").len()),
            (1, 0, 0)
        );
        let best = |j: usize, factor: f64| {
            let of = find(j, "sketched-precond-gd-factored");
            let at = of.into_iter().filter(|e| e.tunables.sketch_factor == Some(factor));
            at.map(|e| e.iterations).fold(f64::INFINITY, f64::min)
        };
        // The rate is 2√(n/s)/(1 + n/s): 0.8 for s = 4n and 0.47 for 16n.
        for (factor, rate) in [(4.0, 0.8_f64), (16.0, 0.47)] {
            let expected = 1e-8_f64.ln() / rate.ln();
            assert!((0.6..1.3).contains(&(best(1, factor) / expected)), "{} {expected}", best(1, factor));
        }
        assert!(best(0, 4.0) < best(1, 4.0));
    }
}
