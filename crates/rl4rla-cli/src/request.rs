//! Converts options common to `evaluate` and `compare` into families and step sizes, or rejects them.

use crate::args::{Chance, ProblemArguments, Running};
use crate::failure::Failure;
use crate::page::exact;
use crate::source::NamedProgram;
use rl4rla::problem::{self, Family, FamilyError, MAX_BYTES, Task};
use rl4rla::program::{Canonical, LiveOut, Reg, check, nearest};
use rl4rla::reward::{Profile, Protocol, StepRule};

/// One family per requested condition number, checked before anything is drawn.
pub fn families(
    args: &ProblemArguments,
    source: Option<&NamedProgram>,
    instances: u64,
) -> Result<Vec<Family>, Failure> {
    let own = source.map_or("", |source| source.document.family.as_str());
    let name = match (&args.family, own.is_empty()) {
        (Some(name), _) => name,
        (None, false) => own,
        (None, true) => {
            let message = match source {
                Some(source) => format!("{} does not name a family", source.name),
                None => "no family was given, and there is no program to take it from".into(),
            };
            return Err(Failure::new(message).advise("--family mid-cond; `rl4rla list families` shows all"));
        }
    };
    let mut family = Family::named(name).ok_or_else(|| {
        let failure = Failure::new(format!("there is no family `{name}`"));
        match nearest(name, problem::families().map(|f| f.name)) {
            Some(meant) => failure.advise(format!("--family {meant}; `rl4rla list families` shows all")),
            None => failure.advise("`rl4rla list families` shows all"),
        }
    })?;
    family = family.sized(args.rows, args.cols);
    for (name, value) in &args.numbers {
        family = family.with_number(name, *value).ok_or_else(|| own_numbers(&family, name))?;
    }
    (family.leverage, family.right, family.scale) = (args.leverage, args.right, args.scale);
    family.outside = args.outside;
    let conditions: Vec<Option<f64>> = match args.kappa.is_empty() {
        true => vec![None],
        false => args.kappa.iter().copied().map(Some).collect(),
    };
    let families: Vec<Family> =
        conditions.into_iter().map(|condition| Family { condition, ..family }).collect();
    families.iter().try_for_each(Family::check).map_err(refused)?;
    if families.len() as u64 > instances {
        let message = format!("{} condition numbers for {} instances", families.len(), instances);
        return Err(Failure::new(message).advise(format!("--instances {}, one for each", families.len())));
    }
    refuse_too_many(instances, &family)?;
    Ok(families)
}

/// The error for a parameter that the family does not have, listing those it has.
fn own_numbers(family: &Family, name: &str) -> Failure {
    let info = family.kind.info();
    let known: Vec<&str> = info.numbers.iter().map(|number| number.name).collect();
    let failure = Failure::new(format!("family {} has no parameter `{name}`", info.name));
    match known.is_empty() {
        true => failure.advise("leave --with out"),
        false => failure.advise(format!("--with {}=VALUE", known.join("=VALUE or "))),
    }
}

/// Rejects instances that take more than `MAX_BYTES` together, since all are in memory at once.
pub fn refuse_too_many(instances: u64, family: &Family) -> Result<(), Failure> {
    let bytes = instances as u128 * family.rows as u128 * family.cols as u128 * 8;
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "{instances} instances of {}×{} take {} GiB, but only {} are allowed",
        family.rows,
        family.cols,
        bytes.div_ceil(1 << 30),
        MAX_BYTES >> 30
    );
    Err(Failure::new(message).advise("fewer --instances, or smaller --rows and --cols"))
}

/// The family's error, with the option to use.
fn refused(error: FamilyError) -> Failure {
    let advice = match error {
        FamilyError::Empty { .. } | FamilyError::Wide { .. } | FamilyError::TooLarge { .. } => {
            "--rows 10000 --cols 50"
        }
        FamilyError::NotSquare { .. } => "--rows alone, which is enough for a square family",
        FamilyError::Condition { .. } => "--kappa 1e6",
        FamilyError::OneColumn { .. } => "--cols 2, or no --kappa",
        FamilyError::NotAnOption { .. } => "--family mid-cond",
        FamilyError::Outside { .. } | FamilyError::NothingOutside { .. } => {
            "--outside 0.3 with --rows above --cols"
        }
        FamilyError::NoSpectrum { .. } => "another --seed",
        FamilyError::Number { .. } => "--with NAME=VALUE within the range",
        FamilyError::FewRows { .. } => "fewer `rows`, a larger table, or `bootstrap`",
        FamilyError::Dependent { .. } => "more `rows`, or a table without that column",
        FamilyError::NoSolution { .. } => "more --rows, another --seed, or another --with",
    };
    Failure::new(error.to_string()).advise(advice)
}

/// A number that must be positive and finite.
pub fn positive(value: f64, option: &str, example: &str) -> Result<f64, Failure> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Failure::new(format!("{option} must be a positive number, got {}", exact(value)))
            .advise(format!("{option} {example}"))),
    }
}

/// A number that must be finite.
pub fn finite(value: f64, option: &str, example: &str) -> Result<f64, Failure> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(Failure::new(format!("{option} must be a finite number, got {}", exact(value)))
            .advise(format!("{option} {example}"))),
    }
}

/// The evaluation protocol for these options.
pub fn protocol(
    chance: &Chance,
    iterations: u64,
    profile: Profile,
    step: StepRule,
) -> Result<Protocol, Failure> {
    Ok(Protocol {
        iterations: iterations as usize,
        mu: finite(chance.mu, "--mu", "0.25")?,
        every: chance.every as usize,
        sketch: chance.sketch,
        sketch_factor: positive(chance.sketch_factor, "--sketch-factor", "8")?,
        batch: chance.batch as usize,
        sampling: chance.sampling,
        ..Protocol::new(profile, step)
    })
}

/// The step sizes to choose the best from: those typed, or the grid.
pub fn steps(args: &Running, task: &dyn Task, grid: &[f64]) -> Result<Vec<f64>, Failure> {
    let step = |text: &String| match text.parse::<f64>() {
        Ok(step) => positive(step, "--step", "0.5"),
        Err(_) => {
            Err(Failure::new(format!("--step takes `best` or numbers, got `{text}`")).advise("--step 0.5"))
        }
    };
    match &args.step[..] {
        // If the task has no step size, any value will do.
        [word] if word == "best" && !task.inputs().contains(Reg::ETA) => Ok(vec![1.0]),
        [word] if word == "best" => Ok(grid.to_vec()),
        steps => steps.iter().map(step).collect(),
    }
}

/// Rejects a program that does not fit the family's shape, before anything is drawn.
pub fn refuse_misfits(source: &NamedProgram, family: &Family, live_out: LiveOut) -> Result<(), Failure> {
    let (update, meant) = (family.kind.info().task.update(), source.document.update);
    if update != meant {
        let message = format!(
            "{} uses the update {}, but family {} needs {}",
            source.name,
            meant.formula(),
            family.kind,
            update.formula()
        );
        let own = &source.document.family;
        let advice = match own.is_empty() {
            true => format!("`update: {}` in the program header, if that is intended", update.name()),
            false => format!("--family {own}, which it is made for"),
        };
        return Err(Failure::new(message).advise(advice));
    }
    if let Err(misfit) = family.kind.info().task.admit(&source.document) {
        let failure = Failure::new(format!("{}: {misfit}", source.name));
        return Err(failure.advise(format!("--family {}, which it is made for", source.document.family)));
    }
    let live = Canonical::new(&source.document.program, live_out);
    check(live.program(), family.signature()).map(|_| ()).map_err(|error| {
        let own = &source.document.family;
        let failure = Failure::new(format!("{} does not fit family {}: {error}", source.name, family.kind));
        match own.is_empty() || *own == family.kind.info().name {
            true => failure.advise("`rl4rla list operators` shows operand and result types"),
            false => failure.advise(format!("--family {own}, which it is made for")),
        }
    })
}
