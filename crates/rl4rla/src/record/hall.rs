//! The hall of fame of an exploration.

use super::{Build, RunRecord, SearchCost, StageRecord};
use crate::equivalence::{Naming, catalogue_name, name};
use crate::execute::SketchKind;
use crate::explore::{
    CatalogueRival, DataRun, Exploration, HallEntry, HeldOut, ProgramLimit, SolverComparison, Tunables,
};
use crate::program::{Instruction, Program, Reg, Signature, equation};
use crate::search::StopReason;
use serde::{Deserialize, Serialize};

/// A program of the hall of fame.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HallRecord {
    /// Its place, from 1.
    pub place: usize,
    /// The program.
    pub program: String,
    /// Its catalogue name, if it has one.
    pub matched: Option<String>,
    /// Whether the catalogue program of that name has the same iterates but another order of cost.
    #[serde(default)]
    pub costs_differ: bool,
    /// The catalogue program with the same iteration from another start, if there is one.
    #[serde(default)]
    pub from_another_start: Option<String>,
    /// The catalogue program that is nearest by edit distance, if it has no name.
    pub nearest: Option<String>,
    /// Its equation.
    pub equation: Option<String>,
    /// Its step size and sketch.
    #[serde(flatten)]
    pub tunables: TunablesRecord,
    /// The mean reward on the search instances.
    pub search: f64,
    /// The mean reward on the select instances.
    pub select: f64,
    /// The final instances.
    #[serde(flatten)]
    pub held_out: HeldOut,
    /// Where it stops working.
    #[serde(default)]
    pub limits: Vec<ProgramLimit>,
    /// Classical solvers on the final instances.
    #[serde(default)]
    pub beats: Vec<SolverComparison>,
    /// What it did on the user's data, if the problems of the search resemble some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_data: Option<DataRun>,
}

/// A program of the catalogue on the same instances.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RivalRecord {
    /// Its name.
    pub name: String,
    /// Its step size and sketch.
    #[serde(flatten)]
    pub tunables: TunablesRecord,
    /// The final instances.
    #[serde(flatten)]
    pub held_out: HeldOut,
}

/// The tunables of a program; the sketch only if it has one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TunablesRecord {
    /// η.
    pub step: f64,
    /// μ, for a program that reads it.
    pub mu: Option<f64>,
    /// The kind of sketch.
    pub sketch: Option<SketchKind>,
    /// Its rows, as a multiple of n.
    pub sketch_factor: Option<f64>,
    /// Rows of a sample, as a multiple of n, for a program that samples.
    #[serde(default)]
    pub batch: Option<f64>,
    /// Iterations from one refresh to the next, for a program that refreshes a value.
    #[serde(default)]
    pub every: Option<usize>,
}

impl TunablesRecord {
    fn new(tunables: &Tunables, program: &Program) -> TunablesRecord {
        let Tunables { step, mu, sketch, sketch_factor, batch, every } = *tunables;
        let sketches = program.instructions().any(|(_, _, instruction)| instruction.op.sketches());
        let samples = program.instructions().any(|(_, _, instruction)| instruction.op.samples());
        let if_sketched = sketches.then_some(());
        TunablesRecord {
            step,
            mu: program.instructions().any(|(_, _, ins)| ins.reads().contains(Reg::MU)).then_some(mu),
            sketch: if_sketched.map(|()| sketch),
            sketch_factor: if_sketched.map(|()| sketch_factor),
            batch: samples.then_some(batch),
            every: program.instructions().any(|(_, _, ins)| ins.op.refreshes()).then_some(every),
        }
    }
}

impl HallRecord {
    fn new(place: usize, entry: &HallEntry, signature: Signature) -> HallRecord {
        let (matched, costs_differ, nearest) = match name(&entry.program, signature) {
            Ok(Naming::Known(known, _)) => (Some(known.name.to_string()), false, None),
            Ok(Naming::SameIterates(known, ..)) => (Some(known.name.to_string()), true, None),
            Ok(Naming::Unknown(near)) => (None, false, near.first().map(|(entry, _)| entry.name.to_string())),
            Err(_) => (None, false, None),
        };
        let unnamed = matched.is_none();
        HallRecord {
            place,
            program: signature.update.text(&entry.program),
            matched,
            costs_differ,
            from_another_start: started(&entry.program, signature).filter(|_| unnamed),
            nearest,
            equation: equation(&entry.program, signature).ok().map(|equation| equation.text),
            tunables: TunablesRecord::new(&entry.tunables, &entry.program),
            search: entry.search,
            select: entry.select,
            held_out: entry.held_out.clone(),
            limits: entry.limits.clone(),
            beats: entry.beats.clone(),
            on_data: None,
        }
    }
}

/// The catalogue name of the iteration of a program that computes its start.
fn started(program: &Program, signature: Signature) -> Option<String> {
    let starts = |instruction: &Instruction| instruction.target == Some(Reg::X);
    let last = program.setup.iter().rposition(starts)?;
    let mut from_zero = program.clone();
    from_zero.setup.remove(last);
    catalogue_name(&from_zero, signature).map(String::from)
}

impl RunRecord {
    /// The record of an exploration that ended in this build.
    pub fn explored(
        run: &str,
        (method, seed): (&str, u64),
        signature: Signature,
        exploration: &Exploration,
        seconds: f64,
    ) -> RunRecord {
        let hall: Vec<HallRecord> =
            exploration.hall.iter().zip(1..).map(|(entry, i)| HallRecord::new(i, entry, signature)).collect();
        let rivals = exploration.rivals.iter().map(|rival: &CatalogueRival| RivalRecord {
            name: rival.entry.name.into(),
            tunables: TunablesRecord::new(&rival.tunables, &rival.entry.document.program),
            held_out: rival.held_out.clone(),
        });
        let runs = exploration.runs as u64;
        let cost = SearchCost {
            evaluations: runs,
            unique_states: exploration.values as u64,
            seconds,
            ..SearchCost::default()
        };
        let best = hall.first();
        let found = best.is_some_and(|best| best.held_out.reached == best.held_out.runs);
        let stage = StageRecord {
            name: "explore".into(),
            found,
            matched: best.and_then(|best| best.matched.clone()),
            form: None,
            stable: None,
            reason: None,
            cost,
            first: None,
            stop: StopReason::Exhausted,
            reward: best.map_or(0.0, |best| best.held_out.reward),
            target_reward: None,
            reward_error: best.map(|best| best.held_out.reward_error),
            terms: Default::default(),
            flops: best.and_then(|best| best.held_out.flops),
            excess: None,
            instances: best.map(|best| best.held_out.runs),
            failures: best.map(|best| best.held_out.runs - best.held_out.reached),
            program: best.map(|best| best.program.clone()),
            equation: best.and_then(|best| best.equation.clone()),
            candidates: vec![],
            front: vec![],
        };
        RunRecord {
            format: RunRecord::FORMAT,
            build: Some(Build::current()),
            run: run.into(),
            curriculum: EXPLORE.into(),
            method: method.into(),
            seed,
            found,
            cost,
            preferred: None,
            alone: None,
            proposer: None,
            policy: None,
            stages: vec![stage],
            hall,
            rivals: rivals.collect(),
        }
    }
}

/// What stands in place of a curriculum's name for an exploration.
pub const EXPLORE: &str = "explore";
