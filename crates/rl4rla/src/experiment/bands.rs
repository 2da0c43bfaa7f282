//! Learning curves: the runs of one search interpolated on one grid, as a median with a band, or one by one if they are
//! few, and a sentence that states the number of runs.

use crate::experiment::words::FEW;
use crate::report::{Ink, Label, Marker, Series, Spread};

/// Number of points of a curve.
const POINTS: usize = 120;

/// The runs of one search.
pub struct Bundle {
    /// Label of the search.
    pub name: String,
    pub ink: Ink,
    /// The curves of all runs, as step functions of a positive abscissa.
    pub runs: Vec<RunHistory>,
}

/// The curve of one run.
pub struct RunHistory {
    pub seed: u64,
    pub points: Vec<[f64; 2]>,
}

impl RunHistory {
    /// The value at an abscissa; `None` before the first point and after the last.
    fn at(&self, x: f64) -> Option<f64> {
        let known = self.points.partition_point(|[at, _]| *at <= x);
        (self.points.last()?[0] >= x && known > 0).then(|| self.points[known - 1][1])
    }
}

impl Bundle {
    /// The runs that have any points.
    fn seen(&self) -> impl Iterator<Item = &RunHistory> {
        self.runs.iter().filter(|run| !run.points.is_empty())
    }

    /// Whether it has only one run.
    pub fn is_alone(&self) -> bool {
        self.seen().count() == 1
    }

    /// Whether it has fewer than five runs, which are drawn one by one.
    fn is_few(&self) -> bool {
        self.seen().count() < FEW
    }

    /// Fewer than five runs one by one; of more, the median with an interquartile band. A curve ends where half of the
    /// runs have ended.
    pub fn series(&self) -> Vec<Series> {
        if self.is_few() {
            return self.seen().enumerate().map(|(number, run)| self.single(number, run)).collect();
        }
        let seen = || self.seen();
        let ends = |pick: fn(&[[f64; 2]]) -> Option<&[f64; 2]>| {
            Spread::of(seen().filter_map(|run| Some(pick(&run.points)?[0])))
        };
        let Some((first, last)) = ends(<[_]>::first).zip(ends(<[_]>::last)) else { return vec![] };
        let (low, high) = (first.min, last.median.max(first.min));
        let place = |i: usize| low * (high / low).powf(i as f64 / (POINTS - 1) as f64);
        let here = |i: usize| Some((place(i), Spread::of(seen().filter_map(|run| run.at(place(i))))?));
        let curve: Vec<(f64, Spread)> = (0..POINTS).filter_map(here).collect();
        let upper = Marker::Band(curve.iter().map(|(_, spread)| spread.upper).collect());
        let lower = curve.iter().map(|(x, spread)| [*x, spread.lower]);
        let middle = curve.iter().map(|(x, spread)| [*x, spread.median]);
        vec![
            Series::new(&*self.name, self.ink, upper, lower).labelled(Label::Hidden),
            Series::new(&*self.name, self.ink, Marker::Line, middle),
        ]
    }

    /// One run; the first one is named for all.
    fn single(&self, number: usize, run: &RunHistory) -> Series {
        let (name, label) = match number {
            0 => (self.name.clone(), Label::Legend),
            _ => (format!("{}, seed {}", self.name, run.seed), Label::Hidden),
        };
        Series::new(name, self.ink, Marker::Steps, run.points.iter().copied()).labelled(label)
    }
}

/// A description of the runs behind the curves: "one run each, seed 0", or the seeds behind a median and its band.
pub fn caption(bundles: &[Bundle]) -> String {
    let mut seeds: Vec<u64> = bundles.iter().flat_map(Bundle::seen).map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds = match seeds[..] {
        [] => return "no data recorded".into(),
        [seed] => format!("seed {seed}"),
        [first, .., last] if last - first + 1 == seeds.len() as u64 => format!("seeds {first}–{last}"),
        _ => format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let counts = || bundles.iter().map(|bundle| bundle.seen().count()).filter(|count| *count > 0);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    if most == 1 {
        return format!("one run each, {seeds}");
    }
    let runs = if least == most { format!("{most} runs") } else { format!("{least} to {most} runs") };
    if most < FEW {
        return format!("{runs} each, {seeds}, drawn one by one");
    }
    let mut text = format!("median of {runs} each, {seeds}; the band is the interquartile range");
    let few = bundles.iter().filter(|bundle| bundle.is_few() && bundle.seen().next().is_some());
    let few: Vec<&str> = few.map(|bundle| bundle.name.as_str()).collect();
    if !few.is_empty() {
        text += &format!("; fewer than five runs are drawn one by one: {}", few.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(name: &str, seeds: &[u64]) -> Bundle {
        let run =
            |&seed: &u64| RunHistory { seed, points: vec![[1.0, seed as f64], [100.0, 10.0 + seed as f64]] };
        Bundle { name: name.into(), ink: Ink(0), runs: seeds.iter().map(run).collect() }
    }

    #[test]
    fn one_run_is_drawn_as_it_is_and_said_to_be_one() {
        let alone = [bundle("best", &[0]), bundle("mcts", &[0])];
        let series = alone[0].series();
        assert_eq!((series.len(), &series[0].mark), (1, &Marker::Steps));
        assert_eq!(series[0].points, alone[0].runs[0].points);
        assert_eq!(caption(&alone), "one run each, seed 0");
        assert_eq!(caption(&[bundle("best", &[4]), bundle("mcts", &[9])]), "one run each, seeds 4, 9");
    }

    #[test]
    fn several_runs_have_a_median_and_a_band() {
        let series = bundle("best", &[0, 1, 2, 3, 4]).series();
        let Marker::Band(upper) = &series[0].mark else { panic!("the band comes first") };
        let (lower, middle) = (&series[0].points, &series[1].points);
        assert_eq!((lower[0], middle[0], upper[0]), ([1.0, 1.0], [1.0, 2.0], 3.0));
        assert_eq!((middle[POINTS - 1][1], upper[POINTS - 1]), (12.0, 13.0));
        assert_eq!((&series[0].label, &series[1].label), (&Label::Hidden, &Label::Legend));
        assert!(bundle("best", &[]).series().is_empty());
        // A run without points does not count.
        let mut partly = bundle("best", &[0, 1]);
        partly.runs[1].points.clear();
        assert!(partly.is_alone() && caption(&[partly]) == "one run each, seed 0");
    }

    #[test]
    fn fewer_than_five_runs_are_drawn_one_by_one() {
        let two = bundle("best", &[0, 3]);
        let series = two.series();
        let drawn: Vec<(&str, &Label)> = series.iter().map(|s| (s.name.as_str(), &s.label)).collect();
        assert_eq!(drawn, [("best", &Label::Legend), ("best, seed 3", &Label::Hidden)]);
        for (series, run) in series.iter().zip(&two.runs) {
            assert_eq!((&series.mark, &series.points), (&Marker::Steps, &run.points));
        }
        assert_eq!(bundle("best", &[0, 1, 2, 3]).series().len(), 4);
    }

    #[test]
    fn the_runs_behind_curves_are_told() {
        let seeds: Vec<u64> = (0..20).collect();
        let many = caption(&[bundle("best", &seeds), bundle("mcts", &seeds)]);
        assert_eq!(many, "median of 20 runs each, seeds 0–19; the band is the interquartile range");
        let mixed = caption(&[bundle("best", &seeds), bundle("mcts", &[0])]);
        assert!(mixed.contains("1 to 20 runs") && mixed.ends_with("drawn one by one: mcts"), "{mixed}");
        let few = caption(&[bundle("best", &[0, 1])]);
        assert_eq!(few, "2 runs each, seeds 0–1, drawn one by one");
    }
}
