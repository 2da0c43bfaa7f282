//! The failure finder: a search over instances for the one that a program does worst on, and a name for what happens.
//!
//! It begins with every leverage at a few condition numbers and with random points, goes on with changes of the worst one, and ends by taking back whatever the failure
//! does not need, so that what is left, the mildest case, says why. For that, runs that fail or end ten times above their start
//! are equally broken: of them the one with the least condition number counts, because it says most about the program. The worst
//! case itself is the run that failed or ended highest, of the search and of the robustness map.

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

/// The worst case found, and the mildest that says why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worst {
    /// What happens in the mildest case, by name.
    pub name: &'static str,
    /// Why, and what helps.
    pub why: &'static str,
    /// Whether it is a failure at all.
    pub broke: bool,
    /// The instance that no other run of the search or of the robustness map was worse on.
    pub point: StudyPoint,
    /// The excess there after T iterations; nothing if the run failed.
    pub excess: Option<f64>,
    /// How the run failed, if it did.
    pub failure: Option<String>,
    /// The median excess on the study's own family; nothing if runs fail there too.
    pub typical: Option<f64>,
    /// How many times worse that is; nothing if the run failed.
    pub ratio: Option<f64>,
    /// Runs that the search took.
    pub evaluations: usize,
    /// An instance as close to the study's own family as the failure allows.
    pub mildest: Mildest,
    /// What was measured on the mildest case.
    pub evidence: Evidence,
}

/// The mildest case of a failure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mildest {
    /// Where.
    pub point: StudyPoint,
    /// The excess after T iterations; nothing if the run failed.
    pub excess: Option<f64>,
    /// How the run failed, if it did.
    pub failure: Option<String>,
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
    /// The worst case of a study, whose robustness map is given; none if nothing could be drawn.
    pub fn find(study: &Study, nature: Nature, map: &[MapCell]) -> Option<Worst> {
        let search = Search { study, genes: genes(&study.family) };
        let (found, mut evaluations) = search.explore()?;
        let Pair { mut mild, mut worst } = found;
        let seen = map.iter().filter_map(|cell| cell.worst);
        for case in seen.map(|(point, excess)| Ranked { point, rank: rank(excess) }) {
            // Shapes of the search leave room for sketches and samples, so that what breaks there says more.
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

/// A point and how bad it is: the logarithm of its excess, infinite where the run failed.
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
    /// Whether it says more about the program: it is worse, or as bad and milder. All that is broken is equally bad.
    fn beats(&self, other: &Ranked) -> bool {
        let kappa = |ranked: &Ranked| -ranked.point.family.condition.unwrap_or(1.0);
        (self.rank.min(BROKEN), kappa(self)) > (other.rank.min(BROKEN), kappa(other))
    }

    /// The worse of two, however far both went; this one if they are alike.
    fn worse(self, other: Ranked) -> Ranked {
        if other.rank > self.rank { other } else { self }
    }
}

/// What counts of many points: the one that says most, and the worst.
#[derive(Clone, Copy)]
struct Pair {
    mild: Ranked,
    worst: Ranked,
}

impl Pair {
    /// Of both, what counts.
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
    /// Random points, then changes of the one that says most; and how many were tried.
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
                // Every other one is changed twice.
                if i.is_multiple_of(2) { once } else { self.changed(once, gene(draws[2]), draws[3]) }
            };
            let brood: Vec<StudyPoint> = (0..BROOD.min(budget - tried)).map(mutant).collect();
            tried += brood.len();
            found = self.best_of(brood).map_or(found, |next| found.joined(next));
        }
        Some((found, tried))
    }

    /// Every leverage at a few condition numbers, where the family takes these; home otherwise.
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

    /// Takes back every change that the failure does not need: what is broken must stay so, and other excesses within a
    /// factor of ten and unusual. A condition number that is needed is lowered as far as it goes. Says how many points that took.
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

    /// What counts of these points, the first of equals; none if none can be drawn.
    fn best_of(&self, points: Vec<StudyPoint>) -> Option<Pair> {
        let ranked: Vec<Ranked> =
            points.into_par_iter().map(|point| Ranked { point, rank: self.rank(&point) }).collect();
        let drawn = ranked.into_iter().filter(|ranked| ranked.rank > f64::NEG_INFINITY);
        drawn.map(|ranked| Pair { mild: ranked, worst: ranked }).reduce(Pair::joined)
    }

    /// log₁₀ of the excess after T iterations; minus infinity where nothing can be drawn.
    fn rank(&self, point: &StudyPoint) -> f64 {
        let StudyPoint { family, seed } = point;
        // Drawn twice where it runs, and cheap beside the run.
        if self.study.instance(family, *seed, 0).is_err() {
            return f64::NEG_INFINITY;
        }
        rank(last(&self.study.history(family, &self.study.settings(family), *seed, 0)))
    }

    /// With fewer rows, sketches and samples would be smaller than they are meant to be.
    fn fewest_rows(&self) -> usize {
        let settings = self.study.settings(&self.study.family);
        let [samples, sketches] = [0, 1].map(|i| Section::BOTH.iter().any(|s| self.study.draws_in(*s)[i]));
        let needed = [(samples, settings.batch), (sketches, settings.sketch_rows)];
        needed.into_iter().filter(|(used, _)| *used).map(|(_, rows)| rows).max().unwrap_or(0)
    }

    /// The point with one thing changed, to what u in [0, 1) says.
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
        // A square system has nothing outside the range of A.
        if family.rows == family.cols {
            family.outside = 0.0;
        }
        StudyPoint { family, ..point }
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
fn peers(family: &Family) -> Vec<FamilyKind> {
    let own = family.kind.info();
    let alike =
        own.task.families().iter().filter(|row| row.square == own.square && row.options == own.options);
    alike.map(FamilyKind).collect()
}

/// The family with another row of the table behind it.
fn moved(family: Family, kind: FamilyKind) -> Family {
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
        let found = Worst::find(&study, Iteration::of(&study).nature, &[]).unwrap();
        (found, study)
    }

    #[test]
    fn row_norm_sampling_breaks_on_coherent_rows_and_is_named() {
        let (found, study) = worst("precond-weighted-sgd", 0.67);
        assert_eq!(found.name, "row-norm sampling misses coherent rows", "{found:#?}");
        assert!(found.broke && found.evaluations <= study.effort.evaluations + 20);
        assert_eq!(found.mildest.point.family.leverage, Leverage::Coherent, "{found:#?}");
        // What it does not need is gone.
        let mildest = found.mildest.point.family;
        assert_eq!((mildest.outside, mildest.right), (0.0, Right::Gauss));
        // And the worst is as bad, or worse.
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
        // With twelve rows the sketch is hardly one: the map sees what the search leaves out.
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
