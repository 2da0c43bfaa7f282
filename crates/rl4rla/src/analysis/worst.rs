//! The failure finder: a search over instances for the worst case of a program, and a diagnosis of the failure.
//!
//! The search starts with every leverage at a few condition numbers and with random points, continues with mutations
//! of the worst one, and ends by undoing every change that the failure does not need, so that the remaining instance,
//! the mildest case, shows the cause. For this purpose all runs that fail or end ten times above their start count as
//! equally broken: among them the one with the smallest condition number is preferred, because it says most about the
//! program. The worst case itself is the run that failed or has the largest final excess, in the search and in the
//! robustness map.

use super::diagnosis::{Diagnosis, unusual};
use super::evidence::Evidence;
use super::iteration::Nature;
use super::map::MapCell;
use super::study::{ExcessHistory, Study, StudyPoint, last};
use crate::problem::{Choice, Family, FamilyKind, Leverage, Right};
use crate::program::Section;
use crate::rng::Stream;
use rayon::prelude::*;
use serde::Serialize;

/// The worst case found, and the mildest case that shows its cause.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worst {
    /// The failure mode of the mildest case.
    pub name: &'static str,
    /// Explanation and remedy.
    pub why: &'static str,
    /// Whether it is a failure at all.
    pub broke: bool,
    /// The worst instance of the search and of the robustness map.
    pub point: StudyPoint,
    /// The excess there after T iterations; `None` if the run failed.
    pub excess: Option<f64>,
    /// The reason of the failure, if it failed.
    pub failure: Option<String>,
    /// The median excess on the study's own family; `None` if runs fail there too.
    pub typical: Option<f64>,
    /// Ratio of the excess to the typical one; `None` if the run failed.
    pub ratio: Option<f64>,
    /// Number of runs of the search.
    pub evaluations: usize,
    /// An instance as close to the study's own family as the failure allows.
    pub mildest: Mildest,
    /// The measurements on the mildest case.
    pub evidence: Evidence,
}

/// The mildest case of a failure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mildest {
    /// The instance.
    pub point: StudyPoint,
    /// The excess after T iterations; `None` if the run failed.
    pub excess: Option<f64>,
    /// The reason of the failure, if it failed.
    pub failure: Option<String>,
}

/// A parameter of a point that the search can change.
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

/// Condition numbers are powers of ten up to this one, in steps of a quarter: beyond it, 64-bit arithmetic limits
/// every method.
const LARGEST_POWER: f64 = 8.0;
/// Condition numbers that are combined with every leverage before random points are tried.
const CORNERS: [f64; 4] = [1e1, 1e2, 1e4, 1e8];
/// log₁₀ of the excess above which a run counts as broken: about ten times the excess at the start.
const BROKEN: f64 = 1.0;
/// Number of mutations tried at once.
const BROOD: usize = 8;
/// Weights of the component of b outside the range of A, and aspect ratios.
const SHARES: [f64; 5] = [0.0, 0.1, 0.3, 0.5, 0.9];
const ASPECTS: [usize; 6] = [1, 2, 5, 10, 50, 100];
/// Factors for the numeric parameters of a family.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Seeds are small, so that they are easy to type.
const SEEDS: f64 = 1000.0;

impl Worst {
    /// The worst case of a study with this robustness map; `None` if no instance could be drawn.
    pub fn find(study: &Study, nature: Nature, map: &[MapCell]) -> Option<Worst> {
        let search = Search { study, genes: genes(&study.family) };
        let (found, mut evaluations) = search.explore()?;
        let Pair { mut mild, mut worst } = found;
        let seen = map.iter().filter_map(|cell| cell.worst);
        for case in seen.map(|(point, excess)| Ranked { point, rank: rank(excess) }) {
            // The shapes of the search leave room for sketches and samples, so failures there are more informative.
            if mild.rank < BROKEN && case.beats(&mild) {
                mild = case;
            }
            worst = worst.worse(case);
        }
        let typical = study.typical();
        evaluations += search.simplify(&mut mild, unusual(study.care.tolerance, typical));
        worst = worst.worse(mild);
        let evidence = Evidence::of(study, nature, typical, &mild.point)?;
        let diagnosis = Diagnosis::of(&evidence);
        let history =
            |point: &StudyPoint| study.history(&point.family, &study.settings(&point.family), point.seed, 0);
        let end = |history: &ExcessHistory| history.as_ref().ok().and_then(|history| history.last()).copied();
        let (there, mildest) = (history(&worst.point), history(&mild.point));
        let excess = end(&there);
        Some(Worst {
            name: diagnosis.name,
            why: diagnosis.why,
            broke: diagnosis.name != super::DIAGNOSES[0].name,
            point: worst.point,
            excess,
            failure: there.err(),
            typical: typical.is_finite().then_some(typical),
            ratio: excess.map(|excess| excess / typical).filter(|ratio| ratio.is_finite()),
            evaluations,
            mildest: Mildest { point: mild.point, excess: end(&mildest), failure: mildest.err() },
            evidence,
        })
    }
}

/// A point with its rank: the logarithm of its excess, infinite if the run failed.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    point: StudyPoint,
    rank: f64,
}

/// log₁₀ of an excess.
fn rank(excess: f64) -> f64 {
    excess.max(f64::MIN_POSITIVE).log10()
}

impl Ranked {
    /// Whether it is more informative: worse, or equally bad and milder. All broken runs are equally bad.
    fn beats(&self, other: &Ranked) -> bool {
        let kappa = |ranked: &Ranked| -ranked.point.family.condition.unwrap_or(1.0);
        (self.rank.min(BROKEN), kappa(self)) > (other.rank.min(BROKEN), kappa(other))
    }

    /// The worse of two without a cap; `self` on ties.
    fn worse(self, other: Ranked) -> Ranked {
        if other.rank > self.rank { other } else { self }
    }
}

/// The most informative point and the worst one.
#[derive(Clone, Copy)]
struct Pair {
    mild: Ranked,
    worst: Ranked,
}

impl Pair {
    /// The more informative and the worse of both pairs.
    fn joined(self, other: Pair) -> Pair {
        let mild = if other.mild.beats(&self.mild) { other.mild } else { self.mild };
        Pair { mild, worst: self.worst.worse(other.worst) }
    }
}

struct Search<'a> {
    study: &'a Study,
    genes: Vec<Gene>,
}

impl Search<'_> {
    /// Tries corner points and random points, then mutations of the most informative one. Returns the result and the
    /// number of points tried.
    fn explore(&self) -> Option<(Pair, usize)> {
        let budget = self.study.effort.evaluations;
        let root = Stream::new(self.study.care.seed).derive("worst", 0);
        let home = StudyPoint { family: self.study.family, seed: self.study.care.seed };
        let random = |i: usize| {
            let draws = root.derive("start", i as u64).uniforms(self.genes.len());
            self.genes.iter().zip(draws).fold(home, |point, (gene, u)| self.changed(point, *gene, u))
        };
        let mut starts = self.corners(home);
        starts.extend((0..(budget / 2).saturating_sub(starts.len())).map(random));
        let mut tried = starts.len();
        let mut found = self.best_of(starts)?;
        while tried < budget {
            let mutant = |i: usize| {
                let draws = root.derive("change", (tried + i) as u64).uniforms(4);
                let gene = |u: f64| self.genes[(u * self.genes.len() as f64) as usize];
                let once = self.changed(found.mild.point, gene(draws[0]), draws[1]);
                // Every other point is mutated twice.
                if i.is_multiple_of(2) { once } else { self.changed(once, gene(draws[2]), draws[3]) }
            };
            let brood: Vec<StudyPoint> = (0..BROOD.min(budget - tried)).map(mutant).collect();
            tried += brood.len();
            found = self.best_of(brood).map_or(found, |next| found.joined(next));
        }
        Some((found, tried))
    }

    /// Every leverage at a few condition numbers, as far as the family has these options.
    fn corners(&self, home: StudyPoint) -> Vec<StudyPoint> {
        let has = |gene| self.genes.contains(&gene);
        let leverages = if has(Gene::Leverage) { Leverage::ALL.to_vec() } else { vec![home.family.leverage] };
        let kappas =
            if has(Gene::Condition) { CORNERS.map(Some).to_vec() } else { vec![home.family.condition] };
        let at = |leverage, condition| StudyPoint {
            family: Family { leverage, condition, ..home.family },
            ..home
        };
        leverages.iter().flat_map(|leverage| kappas.iter().map(|kappa| at(*leverage, *kappa))).collect()
    }

    /// Undoes every change that the failure does not need: a broken run must stay broken, any other excess must stay
    /// within a factor of ten and unusual. A condition number that is needed is lowered as far as possible. Returns
    /// the number of points tried.
    fn simplify(&self, worst: &mut Ranked, unusual: f64) -> usize {
        let home = self.study.family;
        let within = (worst.rank - 1.0).max(unusual.log10() + f64::EPSILON).min(worst.rank);
        let enough = if worst.rank >= BROKEN { BROKEN } else { within };
        let mut tried = 0;
        let mut accepts = |family: Family, worst: &mut Ranked| {
            let point = StudyPoint { family, ..worst.point };
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

    /// The most informative and the worst of these points, the first on ties; `None` if none can be drawn.
    fn best_of(&self, points: Vec<StudyPoint>) -> Option<Pair> {
        let ranked: Vec<Ranked> =
            points.into_par_iter().map(|point| Ranked { point, rank: self.rank(&point) }).collect();
        let drawn = ranked.into_iter().filter(|ranked| ranked.rank > f64::NEG_INFINITY);
        drawn.map(|ranked| Pair { mild: ranked, worst: ranked }).reduce(Pair::joined)
    }

    /// log₁₀ of the excess after T iterations; −∞ if the instance cannot be drawn.
    fn rank(&self, point: &StudyPoint) -> f64 {
        let StudyPoint { family, seed } = point;
        // Drawn a second time by the run, which is cheap compared to it.
        if self.study.instance(family, *seed, 0).is_err() {
            return f64::NEG_INFINITY;
        }
        rank(last(&self.study.history(family, &self.study.settings(family), *seed, 0)))
    }

    /// The smallest number of rows that leaves sketches and samples their intended size.
    fn fewest_rows(&self) -> usize {
        let settings = self.study.settings(&self.study.family);
        let [samples, sketches] = [0, 1].map(|i| Section::BOTH.iter().any(|s| self.study.draws_in(*s)[i]));
        let needed = [(samples, settings.batch), (sketches, settings.sketch_rows)];
        needed.into_iter().filter(|(used, _)| *used).map(|(_, rows)| rows).max().unwrap_or(0)
    }

    /// The point with one parameter changed to a value selected by u in [0, 1).
    fn changed(&self, point: StudyPoint, gene: Gene, u: f64) -> StudyPoint {
        let mut family = point.family;
        let pick = |count: usize| ((u * count as f64) as usize).min(count - 1);
        match gene {
            Gene::Seed => return StudyPoint { seed: (u * SEEDS) as u64, ..point },
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
        // In a square system no component of b is outside the range of A.
        if family.rows == family.cols {
            family.outside = 0.0;
        }
        StudyPoint { family, ..point }
    }
}

/// The parameters that can be changed for a family.
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
    // Changes are undone in this order: the least informative about a failure first.
    shape.into_iter().chain(kind).chain([Gene::Seed]).chain(numbers).chain(options).collect()
}

/// Families of the same task and shape with the same options.
fn peers(family: &Family) -> Vec<FamilyKind> {
    let own = family.kind.info();
    let alike =
        own.task.families().iter().filter(|row| row.square == own.square && row.options == own.options);
    alike.map(FamilyKind).collect()
}

/// The family with another kind.
fn moved(family: Family, kind: FamilyKind) -> Family {
    Family { kind, numbers: Family::new(kind).numbers, ..family }
}

/// The family with one parameter reset to its original value.
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

/// A number rounded to two digits, so that it can be typed.
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
        let found = Worst::find(&study, Iteration::of(&study).nature, &[]).unwrap();
        (found, study)
    }

    #[test]
    fn row_norm_sampling_breaks_on_coherent_rows_and_is_named() {
        let (found, study) = worst("precond-weighted-sgd", 0.67);
        assert_eq!(found.name, "row-norm sampling misses coherent rows", "{found:#?}");
        assert!(found.broke && found.evaluations <= study.effort.evaluations + 20);
        assert_eq!(found.mildest.point.family.leverage, Leverage::Coherent, "{found:#?}");
        // Changes that it does not need have been undone.
        let mildest = found.mildest.point.family;
        assert_eq!((mildest.outside, mildest.right), (0.0, Right::Gauss));
        // The worst case is at least as bad.
        assert!(found.excess >= found.mildest.excess || found.failure.is_some(), "{found:#?}");
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
    fn nothing_in_the_map_is_worse_than_the_worst_case() {
        // With twelve rows the sketch hardly compresses: the map covers what the search leaves out.
        let study = study("sketched-precond-gd", "mid-cond", (600, 6), &[10.0], Some(0.67));
        let map = MapCell::all(&study);
        let found = Worst::find(&study, Iteration::of(&study).nature, &map).unwrap();
        assert!(map.iter().any(|cell| cell.excess > Some(10.0)), "the map shows a failure");
        assert!(found.broke && found.name == "sketch too small to embed", "{found:#?}");
        let most = map.iter().filter_map(|cell| cell.high).fold(0.0, f64::max);
        assert!(found.excess.is_none_or(|excess| excess >= most), "{most:e} {found:#?}");
        let again =
            study.history(&found.point.family, &study.settings(&found.point.family), found.point.seed, 0);
        assert_eq!(again.ok().and_then(|history| history.last().copied()), found.excess);
    }

    #[test]
    fn the_same_search_finds_the_same() {
        assert_eq!(worst("sgd", 0.5).0, worst("sgd", 0.5).0);
    }
}
