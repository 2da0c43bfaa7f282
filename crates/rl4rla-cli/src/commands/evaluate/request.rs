//! What `evaluate` was asked for: options as typed, made into families and a protocol, or refused.

use crate::args::{Evaluate, ProfileName, UnitName};
use crate::failure::Failure;
use crate::source::Source;
use clap::ValueEnum;
use rl4rla::problem::{self, Family, FamilyError, MAX_BYTES};
use rl4rla::program::{Canonical, LiveOut, Reg, RegSet, check, nearest};
use rl4rla::reward::{Charge, PAPER_GRID, Profile, Protocol, SOUND_GRID, StepRule, Unit, Weights};

/// One family for each condition number asked for, checked before anything is drawn.
pub fn families(args: &Evaluate, source: &Source) -> Result<Vec<Family>, Failure> {
    let own = &source.document.family;
    let name = match (&args.family, own.is_empty()) {
        (Some(name), _) => name,
        (None, false) => own,
        (None, true) => {
            let failure = Failure::new(format!("{} names no family of its own", source.name));
            return Err(failure.advise("--family mid-cond; `rl4rla list families` shows all"));
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
    if families.len() as u64 > args.instances {
        let message = format!("{} condition numbers for {} instances", families.len(), args.instances);
        return Err(Failure::new(message).advise(format!("--instances {}, one for each", families.len())));
    }
    refuse_too_many(args.instances, &family)?;
    Ok(families)
}

/// The family takes no number of this name; these it does.
fn own_numbers(family: &Family, name: &str) -> Failure {
    let info = family.kind.info();
    let known: Vec<&str> = info.numbers.iter().map(|number| number.name).collect();
    let failure = Failure::new(format!("family {} has no number `{name}`", info.name));
    match known.is_empty() {
        true => failure.advise("leave --with out"),
        false => failure.advise(format!("--with {}=VALUE", known.join("=VALUE or "))),
    }
}

/// All instances are alive at once.
fn refuse_too_many(instances: u64, family: &Family) -> Result<(), Failure> {
    let bytes = instances as u128 * family.rows as u128 * family.cols as u128 * 8;
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "{instances} instances of {}×{} take {} GiB, and {} are allowed",
        family.rows,
        family.cols,
        bytes.div_ceil(1 << 30),
        MAX_BYTES >> 30
    );
    Err(Failure::new(message).advise("fewer --instances, or smaller --rows and --cols"))
}

/// The families and the protocol of a stage of a curriculum.
pub fn of_stage(curriculum: &str, stage: &str, instances: u64) -> Result<(Vec<Family>, Protocol), Failure> {
    let curriculum = crate::curriculum::find(curriculum)?;
    match curriculum.stages.iter().find(|(other, _)| other.name == stage) {
        Some((stage, _)) => {
            refuse_too_many(instances, &stage.families[0])?;
            Ok((stage.families.clone(), stage.protocol.clone()))
        }
        None => {
            let names: Vec<&str> = curriculum.stages.iter().map(|(stage, _)| stage.name.as_str()).collect();
            let message = format!("curriculum {} has no stage `{stage}`", curriculum.name);
            Err(Failure::new(message).advise(format!("--stage {}", names.join(" or "))))
        }
    }
}

/// The family's own words, and the option that would have been right.
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
        FamilyError::NoSolution { .. } => "more --rows, another --seed, or another --with",
    };
    Failure::new(error.to_string()).advise(advice)
}

fn positive(value: f64, option: &str, example: &str) -> Result<f64, Failure> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Failure::new(format!("{option} must be a positive number, got {value}"))
            .advise(format!("{option} {example}"))),
    }
}

/// An option that the profile would ignore is a misunderstanding.
fn refuse_strays(args: &Evaluate) -> Result<(), Failure> {
    use ProfileName::{Paper, Sound, Tolerance};
    let strays = [
        (args.ungated, &[Paper][..], "--ungated"),
        (args.weights.is_some(), &[Sound, Paper], "--weights"),
        (args.condition_only, &[Sound, Paper], "--condition-only"),
        (args.tolerance.is_some(), &[Tolerance], "--tolerance"),
        (args.charge.is_some(), &[Tolerance], "--charge"),
        (args.unit.is_some(), &[Tolerance], "--unit"),
    ];
    match strays.into_iter().find(|(given, profiles, _)| *given && !profiles.contains(&args.profile)) {
        None => Ok(()),
        Some((_, profiles, option)) => {
            let value = profiles[0].to_possible_value().expect("every profile has a name");
            let profile = value.get_name();
            let message = format!("{option} means something with --profile {profile} only");
            Err(Failure::new(message).advise(format!("--profile {profile}, or leave {option} out")))
        }
    }
}

pub fn protocol(args: &Evaluate, family: &Family) -> Result<Protocol, Failure> {
    refuse_strays(args)?;
    let task = family.kind.info().task;
    let given = args.weights.clone().unwrap_or(task.weights().to_vec());
    let total: f64 = given.iter().sum();
    let weights = match given[..] {
        [acc, decay, comp, cond] if given.iter().all(|w| *w >= 0.0) && total.is_finite() && total > 0.0 => {
            Weights::new(acc, decay, comp, cond)
        }
        _ => {
            let given: Vec<String> = given.iter().map(f64::to_string).collect();
            let message = format!(
                "--weights takes four numbers acc,decay,comp,cond, none negative, not all 0, with a finite sum; got {}",
                given.join(",")
            );
            return Err(Failure::new(message).advise("--weights 1,10,8,1"));
        }
    };
    let condition_only = args.condition_only;
    let (profile, grid) = match args.profile {
        ProfileName::Sound => (Profile::Sound { weights, condition_only }, &SOUND_GRID[..]),
        ProfileName::Paper => {
            (Profile::Paper { weights, condition_only, ungated: args.ungated }, &PAPER_GRID[..])
        }
        ProfileName::Tolerance => {
            let epsilon = positive(args.tolerance.unwrap_or(1e-6), "--tolerance", "1e-6")?;
            if epsilon >= 1.0 {
                let message = format!("--tolerance must be below 1, where every run starts, got {epsilon}");
                return Err(Failure::new(message).advise("--tolerance 1e-6"));
            }
            (Profile::Tolerance { epsilon, charge: charge(args, family)? }, &SOUND_GRID[..])
        }
    };
    if let Some(refusal) = profile.refuses(task) {
        return Err(Failure::new(format!("{refusal}, and {} is {}", family.kind, task.doc()))
            .advise("--profile sound or --profile tolerance"));
    }
    if args.auxiliary.is_some() && !task.is_least_squares() {
        let message =
            format!("--auxiliary is a reward on linear systems, and {} is {}", family.kind, task.doc());
        return Err(Failure::new(message).advise("leave --auxiliary out"));
    }
    let step = |text: &String| match text.parse::<f64>() {
        Ok(step) => positive(step, "--step", "0.5"),
        Err(_) => {
            Err(Failure::new(format!("--step takes `best` or numbers, got `{text}`")).advise("--step 0.5"))
        }
    };
    let grid = match &args.step[..] {
        // Where there is no step, one is as good as any.
        [word] if word == "best" && !task.inputs().contains(Reg::ETA) => vec![1.0],
        [word] if word == "best" => grid.to_vec(),
        steps => steps.iter().map(step).collect::<Result<_, _>>()?,
    };
    let step = if let [step] = grid[..] { StepRule::Fixed(step) } else { StepRule::Best(grid) };
    let iterations = args.iterations.unwrap_or(if args.profile == ProfileName::Tolerance { 100 } else { 10 });
    let kept = RegSet::EMPTY.with(Reg::R1);
    Ok(Protocol {
        iterations: iterations as usize,
        sketch: args.sketch,
        sketch_factor: positive(args.sketch_factor, "--sketch-factor", "8")?,
        batch: args.batch as usize,
        sampling: args.sampling,
        live_out: if condition_only { LiveOut::Keeping(kept) } else { LiveOut::Finished },
        ..Protocol::new(profile, step)
    })
}

fn charge(args: &Evaluate, family: &Family) -> Result<Charge, Failure> {
    let unit = match args.unit {
        None | Some(UnitName::Flops) => Unit::Flops,
        Some(UnitName::Passes) => Unit::Passes,
    };
    let Some(text) = &args.charge else { return Ok(Charge { unit, rows: family.rows, cols: family.cols }) };
    let size = text.split_once('x').and_then(|(rows, cols)| Some((rows.parse().ok()?, cols.parse().ok()?)));
    match size {
        Some((rows, cols)) if rows >= cols && cols >= 1 => Ok(Charge { unit, rows, cols }),
        _ => {
            let message =
                format!("--charge takes ROWSxCOLS with at least as many rows as columns, got `{text}`");
            Err(Failure::new(message).advise("--charge 1000000x500"))
        }
    }
}

/// A program that does not fit the family's shape is bad input, told before anything is drawn.
pub fn refuse_misfits(source: &Source, family: &Family, protocol: &Protocol) -> Result<(), Failure> {
    let (update, meant) = (family.kind.info().task.update(), source.document.update);
    if update != meant {
        let message = format!(
            "{} ends an iteration with {}, and family {} with {}",
            source.name,
            meant.formula(),
            family.kind,
            update.formula()
        );
        let own = &source.document.family;
        let advice = match own.is_empty() {
            true => format!("`update: {}` in the head of the program, if that is meant", update.name()),
            false => format!("--family {own}, which it is made for"),
        };
        return Err(Failure::new(message).advise(advice));
    }
    let live = Canonical::new(&source.document.program, protocol.live_out);
    check(live.program(), family.signature()).map(|_| ()).map_err(|error| {
        let own = &source.document.family;
        let failure = Failure::new(format!("{} does not fit family {}: {error}", source.name, family.kind));
        match own.is_empty() || *own == family.kind.info().name {
            true => failure.advise("`rl4rla list operators` shows what each takes and gives"),
            false => failure.advise(format!("--family {own}, which it is made for")),
        }
    })
}
