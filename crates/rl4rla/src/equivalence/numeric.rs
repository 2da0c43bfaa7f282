//! The execution test: both programs run on instances neither was made for, and their iterates are compared.

use crate::execute::{Settings, run, snapshots};
use crate::linalg::{norm, sub};
use crate::problem::{Family, Instance, Leverage};
use crate::program::{Canonical, Datum, Geometry, LiveOut, Program, Reg, Signature, Update};
use crate::rng::Stream;

/// κ of the instances that programs are compared on: small, so that rounding stays far below any real difference.
const KAPPA: f64 = 10.0;
/// Iterates that agree to this relative precision agree: ε·κ⁴ times some room for products of inverses.
const AGREE: f64 = 1e-9;
/// Iterates that differ by more than this differ; what lies between is not rounded to either answer.
const DIFFER: f64 = 1e-5;
/// A step size that no formula hits by chance.
const STEP: f64 = 0.37;
/// Enough for what is carried from one iteration to the next to show.
const ITERATIONS: usize = 4;
/// Replicates of a comparison in distribution: few at first, many where few do not tell the laws apart.
const REPLICATES: [u64; 2] = [1000, 16_000];
/// The probability, over all its functionals, that a comparison in distribution calls equal laws different.
pub const LEVEL: f64 = 1e-6;

/// What execution says.
#[derive(Clone, PartialEq, Debug)]
pub enum Numeric {
    /// The iterates agree on every instance where both programs run.
    Agree,
    /// They part, for the first time here.
    Differ {
        /// The instance.
        instance: String,
        /// The iteration, from 1.
        iteration: usize,
    },
    /// The programs draw different random objects, and their results have different distributions.
    DifferInLaw {
        /// What was measured.
        functional: &'static str,
    },
    /// Neither: too close to differ, too far to agree, or never comparable.
    Unclear(String),
}

/// The outcome of the execution test.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// What execution says.
    pub numeric: Numeric,
    /// The largest relative deviation of an iterate.
    pub largest: f64,
    /// Instances on which one program ran and the other failed.
    pub one_sided: Vec<String>,
}

/// Instances to compare programs on: several sizes, samples smaller and larger than n, b outside the range of A.
fn probes(geometry: Geometry) -> Vec<(String, Instance, Settings)> {
    let sizes: &[(usize, usize, usize, usize)] = match geometry {
        Geometry::Tall => &[(24, 4, 9, 3), (40, 7, 16, 11), (60, 10, 24, 6)],
        Geometry::Square | Geometry::Symmetric => &[(4, 4, 3, 3), (7, 7, 6, 5), (9, 9, 9, 12)],
    };
    let name = if geometry == Geometry::Symmetric { "psd" } else { "mid-cond" };
    let probe = |&(rows, cols, sketch_rows, batch): &(usize, usize, usize, usize)| {
        let outside = if geometry == Geometry::Tall { 0.3 } else { 0.0 };
        let family = Family { rows, cols, outside, condition: Some(KAPPA), ..named(name) };
        let instance = draw(&family, "equivalence", rows as u64);
        let settings = Settings {
            iterations: ITERATIONS,
            step: STEP,
            sketch_rows,
            batch,
            ..Settings::for_size(rows, cols)
        };
        (format!("{name} {rows}×{cols}, k = {batch}"), instance, settings)
    };
    sizes.iter().map(probe).collect()
}

fn named(name: &str) -> Family {
    Family::named(name).expect("a family of the table")
}

fn draw(family: &Family, label: &str, index: u64) -> Instance {
    family.draw(&Stream::new(0).derive(label, index)).expect("a family that can be drawn")
}

/// The iterates of a program from a point where nothing is zero, up to the first failure; its answers where x stays.
fn iterates(
    program: &Program,
    instance: &Instance,
    update: Update,
    settings: &Settings,
    stream: &Stream,
) -> Vec<Vec<f64>> {
    let result = if update == Update::Answer { Reg::V1 } else { Reg::X };
    let live = Canonical::new(program, LiveOut::Finished);
    let start = Stream::new(1).derive("start", 0).normals(instance.cols());
    let taken = snapshots(live.program(), instance, update, settings, Some(&start), stream);
    let moved = taken[1..].iter().map_while(|s| match (&s[Reg::V1.index()], &s[result.index()]) {
        (Some(_), Some(Datum::Vector(x))) if x.iter().all(|a| a.is_finite()) => Some(x.to_vec()),
        _ => None,
    });
    moved.collect()
}

/// Compares two programs draw for draw.
pub fn compare(p: &Program, q: &Program, signature: impl Into<Signature>) -> Comparison {
    let Signature { geometry: shape, update, .. } = signature.into();
    let (mut largest, mut compared, mut one_sided) = (0.0f64, 0, Vec::new());
    let mut departure = None;
    for (name, instance, settings) in probes(shape) {
        debug_assert_eq!(instance.geometry(), shape);
        let stream = Stream::new(1).derive("draws", 0);
        let iterates = |program| iterates(program, &instance, update, &settings, &stream);
        let (xs, ys) = (iterates(p), iterates(q));
        if xs.len() != ys.len() {
            one_sided.push(name.clone());
        }
        for (iteration, (x, y)) in (1..).zip(xs.iter().zip(&ys)) {
            compared += 1;
            let deviation = norm(&sub(x, y)) / norm(x).max(norm(y)).max(1e-6);
            largest = largest.max(deviation);
            if deviation > DIFFER && departure.is_none() {
                departure = Some(Numeric::Differ { instance: name.clone(), iteration });
            }
        }
    }
    let numeric = match departure {
        Some(differ) => differ,
        None if compared == 0 => Numeric::Unclear("the programs never ran on the same instance".into()),
        None if largest <= AGREE => Numeric::Agree,
        None => Numeric::Unclear(format!("a deviation of {largest:.1e} is neither rounding nor difference")),
    };
    Comparison { numeric, largest, one_sided }
}

/// A number measured on an iterate.
type Functional = fn(&[f64]) -> f64;

/// Compares two programs that draw different random objects: the laws of a few functionals of the last iterate, by
/// the two-sample Kolmogorov-Smirnov test, on instances whose rows matter very unevenly and somewhat unevenly.
pub fn compare_in_law(p: &Program, q: &Program, signature: impl Into<Signature>) -> Numeric {
    let Signature { geometry: shape, update, .. } = signature.into();
    let functionals: [(&str, Functional); 3] =
        [("the norm of x", norm), ("the first entry of x", |x| x[0]), ("the sum of x", |x| x.iter().sum())];
    let (rows, cols, outside) = if shape == Geometry::Tall { (60, 4, 0.3) } else { (6, 6, 0.0) };
    let name = if shape == Geometry::Symmetric { "psd" } else { "mid-cond" };
    let leverages =
        if shape == Geometry::Tall { &[Leverage::High, Leverage::Low][..] } else { &[Leverage::Low] };
    let settings = Settings {
        iterations: 2 * ITERATIONS,
        step: STEP,
        sketch_rows: 8.min(rows),
        batch: 5,
        ..Settings::for_size(rows, cols)
    };
    let share = LEVEL / (functionals.len() * leverages.len() * REPLICATES.len()) as f64;
    let family = |leverage| Family { rows, cols, outside, leverage, condition: Some(KAPPA), ..named(name) };
    let mut comparable = false;
    for replicates in REPLICATES {
        for &leverage in leverages {
            let instance = draw(&family(leverage), "law", 0);
            let sample = |program: &Program, label: &str| -> Vec<Vec<f64>> {
                let stream = Stream::new(2).derive(label, replicates);
                let last = |i| {
                    let stream = stream.derive("replicate", i);
                    iterates(program, &instance, update, &settings, &stream).pop()
                };
                (0..replicates).filter_map(last).collect()
            };
            let (xs, ys) = (sample(p, "p"), sample(q, "q"));
            if xs.len().min(ys.len()) < replicates as usize / 2 {
                continue;
            }
            comparable = true;
            for (name, functional) in functionals {
                let values = |sample: &[Vec<f64>]| sample.iter().map(|x| functional(x)).collect::<Vec<f64>>();
                if kolmogorov_smirnov(values(&xs), values(&ys)) > critical(xs.len(), ys.len(), share) {
                    return Numeric::DifferInLaw { functional: name };
                }
            }
        }
        if !comparable {
            return Numeric::Unclear("the programs fail on most draws".into());
        }
    }
    Numeric::Unclear("the programs draw different random objects, but their results are alike".into())
}

/// The largest gap between two empirical distribution functions.
fn kolmogorov_smirnov(mut xs: Vec<f64>, mut ys: Vec<f64>) -> f64 {
    xs.sort_by(f64::total_cmp);
    ys.sort_by(f64::total_cmp);
    let share = |sorted: &[f64], t: f64| sorted.partition_point(|v| *v <= t) as f64 / sorted.len() as f64;
    xs.iter().chain(&ys).map(|&t| (share(&xs, t) - share(&ys, t)).abs()).fold(0.0, f64::max)
}

/// What the gap exceeds with probability at most `level` if the laws are one.
fn critical(m: usize, n: usize, level: f64) -> f64 {
    let (m, n) = (m as f64, n as f64);
    ((2.0 / level).ln() / 2.0 * (m + n) / (m * n)).sqrt()
}

/// Where two programs that are equal in exact arithmetic stop being so in use.
#[derive(Clone, PartialEq, Debug)]
pub struct Stability {
    /// The condition number from which their results part.
    pub kappa: f64,
    /// Whether the first program is the one that stays accurate.
    pub first_is_steadier: bool,
}

/// Whether a program can be meant for linear systems: it moves x by a direction, with the paper's operators alone.
pub fn solves_systems(program: &Program, signature: Signature) -> bool {
    signature.update == Update::Subtract && program.instructions().all(|(_, _, ins)| ins.op.is_core())
}

/// Runs both programs on harder and harder linear systems until one is a hundred times less accurate than the other.
/// Programs that do not solve such systems, because they use a task's own operators or update, are not judged.
pub fn stability(p: &Program, q: &Program, signature: impl Into<Signature>) -> Option<Stability> {
    let signature = signature.into();
    let shape = signature.geometry;
    if !solves_systems(p, signature) || !solves_systems(q, signature) {
        return None;
    }
    let live = |program| Canonical::new(program, LiveOut::Finished);
    if live(p) == live(q) {
        return None;
    }
    let (rows, cols) = if shape == Geometry::Tall { (600, 30) } else { (30, 30) };
    let name = if shape == Geometry::Symmetric { "psd" } else { "mid-cond" };
    (1..=14).find_map(|decade| {
        let kappa = 10f64.powi(decade);
        let instance = draw(&Family { rows, cols, condition: Some(kappa), ..named(name) }, "stability", 0);
        let settings = Settings { iterations: 60, step: 0.5, batch: 40, ..Settings::for_size(rows, cols) };
        // The error of x, not of Ax: it sees the small directions that the residual does not.
        let error = |program| {
            let trace = run(program, &instance, &settings, &Stream::new(3)).ok();
            trace.map_or(f64::INFINITY, |t| norm(&sub(&t.x, &instance.x_star)) / norm(&instance.x_star))
        };
        // Below rounding at this κ nobody is better than another.
        let floor = 1e-14 * kappa;
        let (e, f) = (error(p).max(floor), error(q).max(floor));
        (e > 100.0 * f || f > 100.0 * e).then_some(Stability { kappa, first_is_steadier: e < f })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    fn program(name: &str) -> &'static Program {
        &Entry::named(name).unwrap().document.program
    }

    #[test]
    fn the_forms_of_the_sketched_preconditioner_agree_until_rounding_parts_them() {
        let (explicit, factored, gram) = (
            program("sketched-precond-gd"),
            program("sketched-precond-gd-factored"),
            program("sketched-precond-gd-gram"),
        );
        for other in [factored, gram] {
            assert_eq!(compare(explicit, other, Geometry::Tall).numeric, Numeric::Agree);
        }
        let parted = stability(explicit, factored, Geometry::Tall).unwrap();
        assert!(!parted.first_is_steadier && (1e6..1e11).contains(&parted.kappa), "{parted:?}");
        let parted = stability(factored, gram, Geometry::Tall).unwrap();
        assert!(parted.first_is_steadier && (1e5..1e11).contains(&parted.kappa), "{parted:?}");
        assert_eq!(stability(factored, factored, Geometry::Tall), None);
    }

    #[test]
    fn different_programs_part_at_once() {
        let comparison = compare(program("ls-gd"), program("precond-gd"), Geometry::Tall);
        assert!(matches!(comparison.numeric, Numeric::Differ { iteration: 1, .. }), "{comparison:?}");
    }

    #[test]
    fn laws_are_told_apart_at_the_stated_level() {
        let law =
            compare_in_law(program("sketched-precond-sgd"), program("precond-weighted-sgd"), Geometry::Tall);
        assert!(matches!(law, Numeric::DifferInLaw { .. }), "{law:?}");
        let same = compare_in_law(program("sgd"), program("sgd"), Geometry::Tall);
        assert!(matches!(same, Numeric::Unclear(_)), "{same:?}");
        let gap = kolmogorov_smirnov(vec![1.0, 2.0, 3.0], vec![2.5, 2.6, 9.0]);
        assert!((gap - 2.0 / 3.0).abs() < 1e-12);
    }
}
