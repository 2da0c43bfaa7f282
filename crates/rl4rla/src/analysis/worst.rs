//! The failure finder: a search over instances for the one that a program does worst on, and a name for what happens there.
//!
//! It begins with every leverage at a few condition numbers and with random points, goes on with changes of the worst one, and ends by taking back whatever the failure
//! does not need, so that what is left says why. Runs that fail or end ten times above their start are equally broken:
//! of them the one with the least condition number counts, because it says most about the program.

use super::diagnosis::{Diagnosis, unusual};
use super::evidence::Evidence;
use super::iteration::Nature;
use super::study::{Study, last};
use crate::problem::{Choice, Family, Kind, Leverage, Right};
use crate::program::Section;
use crate::rng::Stream;
use rayon::prelude::*;
use serde::Serialize;

/// An instance: a family and the seed of its draw and of the program's luck.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Point {
    /// The family.
    pub family: Family,
    /// The seed; the instance is the first that `evaluate` draws with it.
    pub seed: u64,
}

/// The worst case found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worst {
    /// What happened, by name.
    pub name: &'static str,
    /// Why, and what helps.
    pub why: &'static str,
    /// Whether it is a failure at all.
    pub broke: bool,
    /// Where.
    pub point: Point,
    /// The excess after T iterations; nothing if the run failed.
    pub excess: Option<f64>,
    /// How the run failed, if it did.
    pub failure: Option<String>,
    /// The median excess on the study's own family; nothing if runs fail there too.
    pub typical: Option<f64>,
    /// How many times worse that is; nothing if the run failed.
    pub ratio: Option<f64>,
    /// Runs that the search took.
    pub evaluations: usize,
    /// What was measured there.
    pub evidence: Evidence,
}

/// What can be changed of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gene {
    Kind,
    Condition,
    Leverage,
    Right,
    Outside,
    Rows,
    Number(usize),
    Seed,
}

/// Condition numbers are powers of ten up to this one, in quarters: beyond it, 64 bits are the weakest part of any method.
const LARGEST_POWER: f64 = 8.0;
/// Condition numbers that are tried with every leverage before chance has its turn.
const CORNERS: [f64; 4] = [1e1, 1e2, 1e4, 1e8];
/// log₁₀ of the excess from which a run is broken, however far it went: ten times where a run starts, about.
const BROKEN: f64 = 1.0;
/// Changes of the worst point that are tried at once.
const BROOD: usize = 8;
/// The weights of what of b is outside the range of A, and the aspect ratios.
const SHARES: [f64; 5] = [0.0, 0.1, 0.3, 0.5, 0.9];
const ASPECTS: [usize; 6] = [1, 2, 5, 10, 50, 100];
/// What a number of a family is multiplied by.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Seeds are short, so that commands are.
const SEEDS: f64 = 1000.0;

impl Worst {
    /// The worst case of a study; none if nothing could be drawn.
    pub fn find(study: &Study, nature: Nature) -> Option<Worst> {
        let search = Search { study, genes: genes(&study.family) };
        let (mut worst, mut evaluations) = search.explore()?;
        let typical = study.typical();
        evaluations += search.simplify(&mut worst, unusual(study.care.tolerance, typical));
        let point = worst.point;
        let evidence = Evidence::of(study, nature, typical, &point)?;
        let diagnosis = Diagnosis::of(&evidence);
        let failure = study.history(&point.family, &study.settings(&point.family), point.seed, 0).err();
        let excess = evidence.end;
        Some(Worst {
            name: diagnosis.name,
            why: diagnosis.why,
            broke: diagnosis.name != super::DIAGNOSES[0].name,
            point,
            excess,
            failure,
            typical: typical.is_finite().then_some(typical),
            ratio: excess.map(|excess| excess / typical).filter(|ratio| ratio.is_finite()),
            evaluations,
            evidence,
        })
    }
}

/// A point and how bad it is: the logarithm of its excess, up to where a run is broken.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    point: Point,
    rank: f64,
}

impl Ranked {
    /// Whether it counts for more: worse, or as bad and milder.
    fn beats(&self, other: &Ranked) -> bool {
        let kappa = |ranked: &Ranked| -ranked.point.family.condition.unwrap_or(1.0);
        (self.rank, kappa(self)) > (other.rank, kappa(other))
    }
}

struct Search<'a> {
    study: &'a Study,
    genes: Vec<Gene>,
}

impl Search<'_> {
    /// Random points, then changes of the worst one; and how many were tried.
    fn explore(&self) -> Option<(Ranked, usize)> {
        let budget = self.study.effort.evaluations;
        let root = Stream::new(self.study.care.seed).derive("worst", 0);
        let home = Point { family: self.study.family, seed: self.study.care.seed };
        let random = |i: usize| {
            let draws = root.derive("start", i as u64).uniforms(self.genes.len());
            self.genes.iter().zip(draws).fold(home, |point, (gene, u)| self.changed(point, *gene, u))
        };
        let mut starts = self.corners(home);
        starts.extend((0..(budget / 2).saturating_sub(starts.len())).map(random));
        let mut tried = starts.len();
        let mut worst = self.worst_of(starts)?;
        while tried < budget {
            let mutant = |i: usize| {
                let draws = root.derive("change", (tried + i) as u64).uniforms(4);
                let gene = |u: f64| self.genes[(u * self.genes.len() as f64) as usize];
                let once = self.changed(worst.point, gene(draws[0]), draws[1]);
                // Every other one is changed twice.
                if i.is_multiple_of(2) { once } else { self.changed(once, gene(draws[2]), draws[3]) }
            };
            let brood: Vec<Point> = (0..BROOD.min(budget - tried)).map(mutant).collect();
            tried += brood.len();
            worst = self.worst_of(brood).filter(|next| next.beats(&worst)).unwrap_or(worst);
        }
        Some((worst, tried))
    }

    /// Every leverage at a few condition numbers, where the family takes these; home otherwise.
    fn corners(&self, home: Point) -> Vec<Point> {
        let has = |gene| self.genes.contains(&gene);
        let leverages = if has(Gene::Leverage) { Leverage::ALL.to_vec() } else { vec![home.family.leverage] };
        let kappas =
            if has(Gene::Condition) { CORNERS.map(Some).to_vec() } else { vec![home.family.condition] };
        let at =
            |leverage, condition| Point { family: Family { leverage, condition, ..home.family }, ..home };
        leverages.iter().flat_map(|leverage| kappas.iter().map(|kappa| at(*leverage, *kappa))).collect()
    }

    /// Takes back every change that the failure does not need: what is broken must stay so, and other excesses within a
    /// factor of ten and unusual. A condition number that is needed is lowered as far as it goes. Says how many points that took.
    fn simplify(&self, worst: &mut Ranked, unusual: f64) -> usize {
        let home = self.study.family;
        let within = (worst.rank - 1.0).max(unusual.log10() + f64::EPSILON).min(worst.rank);
        let enough = if worst.rank >= BROKEN { BROKEN } else { within };
        let mut tried = 0;
        let mut accepts = |family: Family, worst: &mut Ranked| {
            let point = Point { family, ..worst.point };
            if point == worst.point {
                return true;
            }
            tried += 1;
            let rank = self.rank(&point);
            if rank >= enough {
                *worst = Ranked { point, rank };
            }
            rank >= enough
        };
        for gene in self.genes.iter().filter(|gene| **gene != Gene::Seed) {
            let back = restored(worst.point.family, &home, *gene);
            let accepted = accepts(back, worst);
            if let (Gene::Condition, false, Some(low)) = (*gene, accepted, home.condition) {
                let halfway = |worst: &Ranked| {
                    let condition =
                        worst.point.family.condition.map(|kappa| two_digits((kappa * low).sqrt()));
                    Family { condition, ..worst.point.family }
                };
                while accepts(halfway(worst), worst) && worst.point.family.condition > Some(2.0 * low) {}
            }
        }
        tried
    }

    /// The first of the worst points that can be drawn.
    fn worst_of(&self, points: Vec<Point>) -> Option<Ranked> {
        let ranked: Vec<Ranked> =
            points.into_par_iter().map(|point| Ranked { point, rank: self.rank(&point) }).collect();
        let drawn = ranked.into_iter().filter(|ranked| ranked.rank > f64::NEG_INFINITY);
        drawn.reduce(|worst, next| if next.beats(&worst) { next } else { worst })
    }

    /// log₁₀ of the excess after T iterations, at most that of a broken run; minus infinity where nothing can be drawn.
    fn rank(&self, point: &Point) -> f64 {
        let Point { family, seed } = point;
        // Drawn twice where it runs, and cheap beside the run.
        if self.study.instance(family, *seed, 0).is_err() {
            return f64::NEG_INFINITY;
        }
        let course = self.study.history(family, &self.study.settings(family), *seed, 0);
        last(&course).max(f64::MIN_POSITIVE).log10().min(BROKEN)
    }

    /// With fewer rows, sketches and samples would be smaller than they are meant to be.
    fn fewest_rows(&self) -> usize {
        let settings = self.study.settings(&self.study.family);
        let [samples, sketches] = [0, 1].map(|i| Section::BOTH.iter().any(|s| self.study.draws_in(*s)[i]));
        let needed = [(samples, settings.batch), (sketches, settings.sketch_rows)];
        needed.into_iter().filter(|(used, _)| *used).map(|(_, rows)| rows).max().unwrap_or(0)
    }

    /// The point with one thing changed, to what u in [0, 1) says.
    fn changed(&self, point: Point, gene: Gene, u: f64) -> Point {
        let mut family = point.family;
        let pick = |count: usize| ((u * count as f64) as usize).min(count - 1);
        match gene {
            Gene::Seed => return Point { seed: (u * SEEDS) as u64, ..point },
            Gene::Kind => {
                let peers = peers(&self.study.family);
                family = moved(family, peers[pick(peers.len())]);
            }
            Gene::Condition => family.condition = Some(10f64.powf((u * LARGEST_POWER * 4.0).round() / 4.0)),
            Gene::Leverage => family.leverage = Leverage::ALL[pick(Leverage::ALL.len())],
            Gene::Right => family.right = Right::ALL[pick(Right::ALL.len())],
            Gene::Outside => family.outside = SHARES[pick(SHARES.len())],
            Gene::Rows => family.rows = (ASPECTS[pick(ASPECTS.len())] * family.cols).max(self.fewest_rows()),
            Gene::Number(i) => {
                if let Some(number) = family.kind.info().numbers.get(i) {
                    let value = number.default * FACTORS[pick(FACTORS.len())];
                    family.numbers[i] = value.clamp(number.least, number.most);
                }
            }
        }
        family.condition = family.condition.map(two_digits);
        // A square system has nothing outside the range of A.
        if family.rows == family.cols {
            family.outside = 0.0;
        }
        Point { family, ..point }
    }
}

/// What can be changed of the problems of a family.
fn genes(family: &Family) -> Vec<Gene> {
    let info = family.kind.info();
    let gene = |(choice, gene): (Choice, Gene)| info.options.contains(&choice).then_some(gene);
    let options = [
        (Choice::Outside, Gene::Outside),
        (Choice::Right, Gene::Right),
        (Choice::Condition, Gene::Condition),
        (Choice::Leverage, Gene::Leverage),
    ];
    let options = options.into_iter().filter_map(gene).filter(|g| *g != Gene::Condition || family.cols > 1);
    let numbers = (0..info.numbers.len()).map(Gene::Number);
    let shape = (!info.square).then_some(Gene::Rows);
    let kind = (peers(family).len() > 1).then_some(Gene::Kind);
    // In this order they are taken back: what says least about a failure first.
    shape.into_iter().chain(kind).chain([Gene::Seed]).chain(numbers).chain(options).collect()
}

/// The families of the same task and shape that take the same options.
fn peers(family: &Family) -> Vec<Kind> {
    let own = family.kind.info();
    let alike =
        own.task.families().iter().filter(|row| row.square == own.square && row.options == own.options);
    alike.map(Kind).collect()
}

/// The family with another row of the table behind it.
fn moved(family: Family, kind: Kind) -> Family {
    Family { kind, numbers: Family::new(kind).numbers, ..family }
}

/// The family with one thing as it is at home.
fn restored(family: Family, home: &Family, gene: Gene) -> Family {
    match gene {
        Gene::Kind => moved(family, home.kind),
        Gene::Condition => Family { condition: home.condition, ..family },
        Gene::Leverage => Family { leverage: home.leverage, ..family },
        Gene::Right => Family { right: home.right, ..family },
        Gene::Outside => Family { outside: home.outside, ..family },
        Gene::Rows => Family { rows: home.rows, ..family },
        Gene::Number(_) => Family { numbers: home.numbers, ..family },
        Gene::Seed => family,
    }
}

/// A number to two digits, so that it can be typed.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::iteration::Iteration;
    use super::super::study::tests::study;
    use super::*;

    fn worst(name: &str, step: f64) -> (Worst, Study) {
        worst_within(name, step, 1e-6)
    }

    fn worst_within(name: &str, step: f64, tolerance: f64) -> (Worst, Study) {
        let mut study = study(name, "mid-cond", (600, 6), &[3.0], Some(step));
        (study.protocol.iterations, study.care.tolerance) = (100, tolerance);
        let found = Worst::find(&study, Iteration::of(&study).nature).unwrap();
        (found, study)
    }

    #[test]
    fn row_norm_sampling_breaks_on_coherent_rows_and_is_named() {
        let (found, study) = worst("precond-weighted-sgd", 0.67);
        assert_eq!(found.name, "row-norm sampling misses coherent rows", "{found:#?}");
        assert!(found.broke && found.evaluations <= study.effort.evaluations + 20);
        assert_eq!(found.point.family.leverage, Leverage::Coherent, "{found:#?}");
        // What it does not need is gone.
        assert_eq!((found.point.family.outside, found.point.family.right), (0.0, Right::Gauss));
        assert!(study.typical() < 1e-6, "it is no failure at home: {}", study.typical());
        assert!(found.evidence.unsampled.unwrap() < 1e-6, "and none without sampling");
    }

    #[test]
    fn other_ways_to_break_have_their_names() {
        let (uniform, _) = worst("sketched-precond-sgd", 0.5);
        assert_eq!(uniform.name, "uniform sampling misses the rows that matter", "{uniform:#?}");
        let (slow, _) = worst("ls-gd", 1.0);
        assert_eq!(slow.name, "slow: the contraction factor depends on κ", "{slow:#?}");
        let (gram, _) = worst_within("sketched-precond-gd-gram", 0.5, 1e-9);
        assert_eq!(gram.name, "a Gram matrix squares the condition number", "{gram:#?}");
    }

    #[test]
    fn the_same_search_finds_the_same() {
        assert_eq!(worst("sgd", 0.5).0, worst("sgd", 0.5).0);
    }
}
