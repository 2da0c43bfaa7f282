//! Converts the options of `evaluate` into a protocol, or rejects them.

use crate::args::{Evaluate, ProfileName, UnitName, Weight, keys};
use crate::failure::Failure;
use crate::request::{positive, protocol as drawing, refuse_too_many, steps};
use clap::ValueEnum;
use rl4rla::problem::{Family, Task};
use rl4rla::program::{LiveOut, Reg, RegSet};
use rl4rla::reward::{Charge, PAPER_GRID, Profile, Protocol, SOUND_GRID, StepRule, TermIndex, Unit, Weights};
use std::ffi::OsStr;

/// The families and the protocol of a stage of a curriculum.
pub fn of_stage(curriculum: &OsStr, stage: &str, instances: u64) -> Result<(Vec<Family>, Protocol), Failure> {
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

/// Rejects options that the profile would ignore.
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
            let message = format!("{option} requires --profile {profile}");
            Err(Failure::new(message).advise(format!("--profile {profile}, or leave {option} out")))
        }
    }
}

pub fn protocol(args: &Evaluate, family: &Family) -> Result<Protocol, Failure> {
    refuse_strays(args)?;
    let task = family.kind.info().task;
    let weights = weights(args.weights.as_deref().unwrap_or_default(), task)?;
    let condition_only = args.condition_only;
    let (profile, grid) = match args.profile {
        ProfileName::Sound => (Profile::Sound { weights, condition_only }, &SOUND_GRID[..]),
        ProfileName::Paper => {
            (Profile::Paper { weights, condition_only, ungated: args.ungated }, &PAPER_GRID[..])
        }
        ProfileName::Tolerance => {
            let epsilon = positive(args.tolerance.unwrap_or(1e-6), "--tolerance", "1e-6")?;
            if epsilon >= 1.0 {
                let message =
                    format!("--tolerance must be below 1, the initial excess of every run, got {epsilon}");
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
    let grid = steps(&args.running, task, grid)?;
    let step = if let [step] = grid[..] { StepRule::Fixed(step) } else { StepRule::Best(grid) };
    let iterations = args.iterations.unwrap_or(if args.profile == ProfileName::Tolerance { 100 } else { 10 });
    let kept = RegSet::EMPTY.with(Reg::R1);
    let live_out = if condition_only { LiveOut::Keeping(kept) } else { LiveOut::Finished };
    Ok(Protocol { live_out, ..drawing(&args.running.chance, iterations, profile, step)? })
}

/// The weights as typed: the first terms by position, or none of them, and others by key.
fn weights(given: &[Weight], task: &dyn Task) -> Result<Weights, Failure> {
    let mut weights = Weights::of(task);
    let plain: Vec<f64> = given.iter().filter(|weight| weight.key.is_none()).map(|w| w.value).collect();
    for (term, value) in TermIndex::BUILTIN.into_iter().zip(&plain) {
        weights[term] = *value;
    }
    for Weight { key, value } in given {
        let Some(key) = key else { continue };
        let Some(term) = TermIndex::named(key) else {
            let known = keys(TermIndex::all()).replace(',', ", ");
            return Err(Failure::new(format!("--weights: there is no reward term `{key}`")).advise(known));
        };
        weights[term] = *value;
    }
    let (total, count) = (weights.total(), TermIndex::BUILTIN.len());
    let complete = plain.is_empty() || plain.len() == count;
    if complete && given.iter().all(|w| w.value >= 0.0) && total.is_finite() && total > 0.0 {
        return Ok(weights);
    }
    let written =
        |w: &Weight| w.key.iter().map(|key| format!("{key}=")).collect::<String>() + &w.value.to_string();
    let given: Vec<String> = given.iter().map(written).collect();
    let message = format!(
        "--weights takes four numbers {}, none negative, not all 0, with a finite sum; got {}",
        keys(TermIndex::BUILTIN),
        given.join(",")
    );
    Err(Failure::new(message).advise("--weights 1,10,8,1"))
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
