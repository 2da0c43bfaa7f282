//! The keys of a curriculum, their valid values, and their defaults.

use super::Curriculum;
use super::error::SpecError;
use super::keys::{FAMILY_KEYS, STAGE_KEYS, TOP_KEYS};
use super::reader::{self, TableItem, TableReader};
use super::target::Target;
use super::user_table::{DATA, Tables, marked, table};
use super::written::{Written, program, refuse_other_task};
use crate::discovery::{Fresh, Instances, Merge, Stage};
use crate::equivalence::solves_systems;
use crate::execute::{Sampling, SketchKind};
use crate::problem::{self, Family, FamilyKind, Leverage, Right, Scale, Task};
use crate::program::{
    Access, Core, Entry, Grammar, IterationPart, LiveOut, Op, Program, Reg, RegSet, Section, TypeSystem,
    check,
};
use crate::reward::{Charge, PAPER_GRID, Profile, Protocol, SOUND_GRID, StepRule, TermIndex, Unit, Weights};
use std::ops::RangeInclusive;

/// The operators that the paper's released code searches over.
const PAPER_OPERATORS: [Core; 11] = [
    Core::VecVecAdd,
    Core::VecVecSub,
    Core::MatVecMul,
    Core::VecMatMul,
    Core::MatMatMul,
    Core::MatMatTransMul,
    Core::MatInv,
    Core::Hhqr,
    Core::Sketch,
    Core::Subsampling,
    Core::LeverageScore,
];

pub(super) const ANY: RangeInclusive<u64> = 1..=u64::MAX;

/// Range of instance counts, batch sizes and problem sizes.
const COUNT: RangeInclusive<u64> = 1..=100_000;
const SIZE: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// Reads a curriculum.
pub(super) fn curriculum(name: &str, text: &str, tables: Tables) -> Result<Curriculum, SpecError> {
    let root = reader::parse(text)?;
    let reader = TableReader::new(text, root.get_ref());
    reader.only(&TOP_KEYS)?;
    let title = reader.need("title")?.string()?.to_string();
    let about = optional_text(&reader, "about")?;
    let reference = optional_text(&reader, "reference")?;
    let start = reader.get("start").map(|item| program(&item)).transpose()?;
    // The task of the previous stage, if known.
    let mut before = start.as_ref().and_then(|start| start.task);
    let start = start.map_or_else(Program::default, |start| start.program);
    let defaults = reader.get("defaults").map(|item| item.table()).transpose()?;
    defaults.iter().try_for_each(|defaults| defaults.only(&STAGE_KEYS))?;
    let stage_tables = reader.need("stage").map_err(|error| error.advise("start one with `[[stage]]`"))?;
    let mut stages: Vec<(Stage, Target)> = Vec::new();
    // The result of the previous stage, if known.
    let mut previous = Some(start.clone());
    let stage_tables = stage_tables.list("tables, each headed `[[stage]]`", |item| item.table())?;
    for (i, table) in stage_tables.iter().enumerate() {
        let reader = table.clone().placed(format!("stage {}", i + 1), defaults.as_ref());
        let reader = match reader.get("name").map(|item| item.string()) {
            Some(Ok(name)) if is_plain(name) => reader.placed(format!("stage `{name}`"), defaults.as_ref()),
            _ => reader,
        };
        reader.only(&STAGE_KEYS)?;
        let name = stage_name(&reader.need("name")?, &stages)?;
        let (stage, target) = stage(&reader, name, previous.as_ref(), tables)?;
        // Programs may lead from one task to another, as from a forward pass to a fit; the task of a table is not
        // given.
        if stage.families[0].is_of_table() {
            let what = "what the stage starts from";
            refuse_other_task(&reader.need("family")?, &stage.families[0], what, before)?;
        }
        before = Some(stage.families[0].kind.info().task);
        previous = (!target.is_open()).then(|| target.sought());
        stages.push((stage, target));
    }
    let text = if tables == Tables::Skip { text.into() } else { marked(text, &stages)? };
    Ok(Curriculum { name: name.into(), title, about, reference, start, stages, text })
}

fn optional_text(reader: &TableReader, key: &str) -> Result<String, SpecError> {
    reader.or(key, String::new(), |item| item.string().map(str::to_string))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn stage_name(item: &TableItem, stages: &[(Stage, Target)]) -> Result<String, SpecError> {
    let name = item.string()?;
    if !is_plain(name) {
        return Err(item.wrong("small letters, digits and `-`"));
    }
    match stages.iter().any(|(stage, _)| stage.name == name) {
        true => Err(item.error(format!("an earlier stage is named `{name}`"))),
        false => Ok(name.into()),
    }
}

/// The values of `open`: a section, or a part of the iteration.
const OPEN: [(&str, Section, IterationPart); 4] = [
    ("setup", Section::Setup, IterationPart::Whole),
    ("iteration", Section::Iteration, IterationPart::Whole),
    ("forward", Section::Iteration, IterationPart::Forward),
    ("update", Section::Iteration, IterationPart::Update),
];

fn open(item: &TableItem) -> Result<(Vec<Section>, IterationPart), SpecError> {
    let named = item.several_of("a list of sections", &OPEN, |row| row.0.into())?;
    let sections = Section::BOTH.into_iter().filter(|s| named.iter().any(|row| row.1 == *s)).collect();
    let mut parts: Vec<IterationPart> =
        named.iter().filter(|row| row.1 == Section::Iteration).map(|row| row.2).collect();
    parts.dedup();
    // Both parts together are the whole iteration.
    Ok((sections, if let [part] = parts[..] { part } else { IterationPart::Whole }))
}

fn stage(
    reader: &TableReader,
    name: String,
    previous: Option<&Program>,
    tables: Tables,
) -> Result<(Stage, Target), SpecError> {
    let edits = reader.need("edits")?.size(1..=20)?;
    let families = families(reader, tables)?;
    let task = families[0].kind.info().task;
    let usual = Profile::Sound { weights: Weights::of(task), condition_only: false };
    let profile = reader.or("reward", usual, |item| profile(&item.table()?, &families[0]))?;
    if let Some(refusal) = profile.refuses(task) {
        return Err(reader
            .error("reward.profile", refusal)
            .advise("take profile = \"sound\" or \"tolerance\""));
    }
    let step = reader.or("step", best(&profile, task), |item| step(&item, &profile, task))?;
    let live_out = reader.or("keep", LiveOut::Finished, |item| registers(&item).map(LiveOut::Keeping))?;
    let full = Grammar {
        operators: task.vocabulary().collect(),
        legality: task.legality(),
        ..Grammar::full(families[0].signature())
    };
    let (open, part) = reader.or("open", (full.open.clone(), full.part), |item| open(&item))?;
    let scratch: RegSet = [Reg::V1, Reg::R1, Reg::P1].into_iter().collect();
    let named = reader.or("registers", scratch, |item| registers_from(&item, &[Reg::X, Reg::D, Reg::MU]))?;
    let inputs = RegSet::common_inputs();
    let grammar = Grammar {
        operators: reader
            .or("operators", full.operators.clone(), |item| operators(&item, &full.operators))?,
        registers: named.union(inputs.and(RegSet::usual())),
        // Every stage reads x; one that names it may also write it, in setup.
        warm_start: named.contains(Reg::X),
        setup_only: reader.or("setup-only", full.setup_only, |item| registers(&item))?,
        redirect: reader.or("redirect", full.redirect, |item| item.flag())?,
        types: reader.or("types", full.types, |item| item.choice(&TypeSystem::ALL))?,
        open,
        part,
        live_out,
        ..full
    };
    let usual = Protocol::new(profile, step);
    let protocol = Protocol {
        iterations: reader.or("iterations", usual.iterations, |item| item.size(1..=100_000))?,
        sketch: reader.or("sketch", usual.sketch, |item| item.choice(&SketchKind::ALL))?,
        sketch_factor: reader.or("sketch-factor", usual.sketch_factor, |item| item.positive())?,
        batch: reader.or("batch", usual.batch, |item| item.size(SIZE))?,
        sampling: reader.or("sampling", usual.sampling, |item| item.choice(&Sampling::ALL))?,
        live_out,
        ..usual
    };
    let target = target(reader, &grammar, edits, previous, &families[0])?;
    let stage = Stage {
        name,
        grammar,
        edits,
        families,
        protocol,
        exploration: reader.or("exploration", 0.5, |item| item.weight())?,
        budget: reader.or("budget", 20_000, |item| item.whole(ANY))?,
        budget_per_decision: reader.or("budget-per", false, |item| {
            item.one_of(&["stage", "decision"], str::to_string).map(|of| of == "decision")
        })?,
        merge: reader.or("merge", Merge::Canonical, |item| item.choice(&Merge::ALL))?,
        instances: reader.or("instances", Instances::default(), |item| instances(&item.table()?))?,
    };
    if stage.grammar.types == TypeSystem::Units && !stage.has_units() {
        let message = format!("the values of programs for the task {} have no units", task.name());
        return Err(reader.error("types", message).advise("types = \"shapes\""));
    }
    Ok((stage, target))
}

fn operators(item: &TableItem, all: &[Op]) -> Result<Vec<Op>, SpecError> {
    if item.is_string() {
        let paper = item.one_of(&["all", "paper"], str::to_string)? == "paper";
        return Ok(all
            .iter()
            .copied()
            .filter(|op| !paper || PAPER_OPERATORS.iter().any(|core| op.is(*core)))
            .collect());
    }
    // A list may name operators that the task does not have.
    let known: Vec<Op> = Op::known().collect();
    item.several_of("\"all\", \"paper\" or a list of operators", &known, |op| op.name.into())
}

fn registers(item: &TableItem) -> Result<RegSet, SpecError> {
    registers_from(item, &[])
}

/// Registers that programs write, and these inputs.
fn registers_from(item: &TableItem, inputs: &[Reg]) -> Result<RegSet, SpecError> {
    let written = Reg::all().filter(|reg| reg.access() != Access::Input);
    let choices: Vec<Reg> = written.chain(inputs.iter().copied()).collect();
    let found = item.several_of("a list of registers", &choices, |reg| reg.name().into())?;
    Ok(found.into_iter().collect())
}

fn families(reader: &TableReader, tables: Tables) -> Result<Vec<Family>, SpecError> {
    let item = reader.need("family")?;
    let mut families: Vec<Family> = Vec::new();
    for item in item.entries().unwrap_or_else(|| Ok(vec![item]))? {
        let family = family(&item.table()?, tables)?;
        family.check().map_err(|error| item.error(error.to_string()))?;
        if families.first().is_some_and(|first| first.kind.info().task != family.kind.info().task) {
            return Err(item.error("a stage cannot mix tasks"));
        }
        if families.first().is_some_and(|first| first.signature() != family.signature()) {
            return Err(item.error("a stage cannot mix tall, square and symmetric problems"));
        }
        families.push(family);
    }
    let Some(item) = reader.get("conditions") else { return Ok(families) };
    if families.iter().any(|family| family.condition.is_some()) {
        return Err(item.error("the family already has a `condition`").advise("remove one of them"));
    }
    let conditions = item.list("a list of condition numbers", |entry| {
        let condition = Some(entry.number()?);
        let asked = families.iter().map(|family| Family { condition, ..*family });
        let checked = asked.map(|family| family.check().map(|()| family)).collect::<Result<Vec<_>, _>>();
        checked.map_err(|error| entry.error(error.to_string()))
    })?;
    Ok(conditions.concat())
}

fn family(reader: &TableReader, tables: Tables) -> Result<Family, SpecError> {
    if reader.need("kind")?.string().is_ok_and(|kind| kind == DATA) {
        return table(reader, tables);
    }
    let kinds: Vec<FamilyKind> = problem::families().map(FamilyKind).collect();
    let kind = reader.need("kind")?.choice(&kinds)?;
    let own: Vec<&str> = kind.info().numbers.iter().map(|number| number.name).collect();
    reader.only(&[&FAMILY_KEYS, &own[..]].concat())?;
    let size = |key: &str| reader.get(key).map(|item| item.size(ANY)).transpose();
    let mut usual = Family::new(kind).sized(size("rows")?, size("cols")?);
    for name in own {
        if let Some(item) = reader.get(name) {
            usual = usual.with_number(name, item.number()?).expect("the family's own number");
        }
    }
    Ok(Family {
        condition: reader.or("condition", usual.condition, |item| item.number().map(Some))?,
        leverage: reader.or("leverage", usual.leverage, |item| item.choice(&Leverage::ALL))?,
        right: reader.or("right", usual.right, |item| {
            item.choice(&[Right::Gauss, Right::StudentT, Right::ScaledRows])
        })?,
        outside: reader.or("outside", usual.outside, |item| item.number())?,
        scale: reader.or("scale", usual.scale, |item| item.choice(&[Scale::Unit, Scale::Raw]))?,
        ..usual
    })
}

fn profile(reader: &TableReader, family: &Family) -> Result<Profile, SpecError> {
    match reader.need("profile")?.one_of(&["sound", "paper", "tolerance"], str::to_string)? {
        "tolerance" => {
            reader.only(&["profile", "epsilon", "unit", "rows", "cols"])?;
            let charge = Charge {
                unit: reader.or("unit", Unit::Flops, |item| item.choice(&[Unit::Flops, Unit::Passes]))?,
                rows: reader.or("rows", family.rows, |item| item.size(SIZE))?,
                cols: reader.or("cols", family.cols, |item| item.size(SIZE))?,
            };
            if charge.rows < charge.cols {
                let message = format!(
                    "the charged size has {} rows, fewer than its {} columns",
                    charge.rows, charge.cols
                );
                return Err(reader.error("rows", message));
            }
            Ok(Profile::Tolerance { epsilon: reader.need("epsilon")?.positive()?, charge })
        }
        "paper" => {
            reader.only(&reward_keys(&["condition-only", "ungated"]))?;
            let (weights, condition_only) = weights(reader, family)?;
            let ungated = reader.or("ungated", false, |item| item.flag())?;
            Ok(Profile::Paper { weights, ungated, condition_only })
        }
        _ => {
            reader.only(&reward_keys(&["condition-only"]))?;
            let (weights, condition_only) = weights(reader, family)?;
            Ok(Profile::Sound { weights, condition_only })
        }
    }
}

/// The keys of a reward made of terms.
fn reward_keys(others: &[&'static str]) -> Vec<&'static str> {
    let terms = TermIndex::all().map(|term| term.row().key);
    ["profile"].into_iter().chain(terms).chain(others.iter().copied()).collect()
}

/// The weights, and whether the reward is the condition term alone.
fn weights(reader: &TableReader, family: &Family) -> Result<(Weights, bool), SpecError> {
    let mut weights = Weights::of(family.kind.info().task);
    for term in TermIndex::all() {
        weights[term] = reader.or(term.row().key, weights[term], |item| item.weight())?;
    }
    let condition_only = reader.or("condition-only", false, |item| item.flag())?;
    if !condition_only && weights.total() == 0.0 {
        let first = TermIndex::ACC.row().key;
        return Err(reader.error(first, "all weights are 0, so every reward would be 0"));
    }
    Ok((weights, condition_only))
}

fn best(profile: &Profile, task: &dyn Task) -> StepRule {
    // If the task has no step size, any value will do.
    if !task.inputs().contains(Reg::ETA) {
        return StepRule::Fixed(1.0);
    }
    StepRule::Best(match profile {
        Profile::Paper { .. } => PAPER_GRID.to_vec(),
        Profile::Sound { .. } | Profile::Tolerance { .. } => SOUND_GRID.to_vec(),
    })
}

fn step(item: &TableItem, profile: &Profile, task: &dyn Task) -> Result<StepRule, SpecError> {
    if item.is_string() {
        return item.one_of(&["best"], str::to_string).map(|_| best(profile, task));
    }
    match item.entries() {
        Some(entries) => {
            entries?.iter().map(TableItem::positive).collect::<Result<_, _>>().map(StepRule::Best)
        }
        None => item
            .positive()
            .map(StepRule::Fixed)
            .map_err(|_| item.wrong("a number above 0, a list of them, or \"best\"")),
    }
}

fn instances(reader: &TableReader) -> Result<Instances, SpecError> {
    reader.only(&["search", "select", "report", "fresh"])?;
    let usual = Instances::default();
    let count = |key, usual| reader.or(key, usual, |item| item.size(COUNT));
    Ok(Instances {
        search: count("search", usual.search)?,
        select: count("select", usual.select)?,
        report: count("report", usual.report)?,
        fresh: reader.or("fresh", usual.fresh, |item| item.choice(&Fresh::ALL))?,
    })
}

fn target(
    reader: &TableReader,
    grammar: &Grammar,
    edits: usize,
    previous: Option<&Program>,
    family: &Family,
) -> Result<Target, SpecError> {
    let Some(item) = reader.get("target") else {
        return match (reader.get("completed-by"), reader.get("stable")) {
            (Some(item), _) => Err(item.error("there is no `target` to complete")),
            (_, Some(item)) => Err(item.error("there is no `target` to compare accuracies with")),
            (None, None) => Ok(Target::open(optional_text(reader, "about")?)),
        };
    };
    let Written { program, name, task } = program(&item)?;
    refuse_other_task(&item, family, "it", task)?;
    if program.is_empty() {
        return Err(item.error("it contains no instructions"));
    }
    let update = name.and_then(Entry::named).map(|entry| entry.document.update);
    if let Some(update) = update.filter(|update| *update != grammar.signature.update) {
        let (own, stage) = (update.formula(), grammar.signature.update.formula());
        return Err(
            item.error(format!("it uses the update {own}, but the problems of this stage need {stage}"))
        );
    }
    let completed_by = reader.or("completed-by", vec![], |item| item.instructions())?;
    let stable = reader.or("stable", false, |item| item.flag())?;
    if stable && !solves_systems(&program, grammar.signature) {
        return Err(reader
            .error("stable", "accuracy is compared on linear systems, but the target is for another task"));
    }
    let target = Target { program, name, completed_by, stable, about: optional_text(reader, "about")? };
    let sought = target.sought();
    for (what, program) in [("it", &target.program), ("the part to be found", &sought)] {
        check(program, grammar.signature)
            .map_err(|error| item.error(format!("{what} does not fit: {error}")))?;
    }
    if let Some(obstacle) = previous.and_then(|previous| target.obstacle(previous, grammar, edits)) {
        let error = item.error(obstacle.message);
        return Err(obstacle.advice.into_iter().fold(error, SpecError::advise));
    }
    if let Some(fault) = target.unit_fault(grammar) {
        return Err(item.error(fault).advise("types = \"shapes\""));
    }
    let written = |reg: &Reg| sought.setup.iter().any(|ins| ins.writes().contains(*reg));
    match grammar.live_out.kept().iter().find(|reg| !written(reg)) {
        Some(reg) => Err(item.error(format!("its setup does not write {reg}, which is listed in `keep`"))),
        None => Ok(target),
    }
}

#[cfg(test)]
mod tests;
