//! `rl4rla campaign collect`: results enter the store.

use super::look::Look;
use super::{files, page};
use crate::args::{FolderArgument, Shared};
use crate::commands::audit;
use crate::failure::Failure;
use crate::interrupt::{self, Terminal};
use crate::page::{Page, several};
use crate::shell::quoted;
use rl4rla::curriculum::Curriculum;
use rl4rla::experiment::campaign::{
    self, CampaignFolder, CampaignSearch, Collected, CollectedAudit, Damage, ResultIndex,
};
use rl4rla::experiment::{AuditedStage, ExperimentError};
use rl4rla::store::Store;
use serde_json::{Value, json};
use std::path::Path;

/// Most files that a message names.
const NAMED: usize = 20;

/// Collects the results of a campaign.
pub fn run(args: &FolderArgument, shared: &Shared) -> Result<Page, Failure> {
    let path = &args.folder;
    let files = files(path)?;
    let folder = CampaignFolder::open(&files)?;
    let look = Look::at(&folder)?;
    let Some(collected) = results(&folder, &look.results, path, shared)? else {
        return Ok(interrupt::resumable());
    };
    let status = look.state(&folder).status()?;
    let Collected { entered, present, failed, missing, .. } = collected;
    let mut page = match status.complete {
        true => page::without_next(&status),
        false => page::of(&status, path, shared),
    };
    let audits = audits(&folder, &collected.audits)?;
    let mut head = format!(
        "{} entered {}; {present} were there already\n\n",
        several(entered, "run"),
        shared.store.display()
    );
    let mut shown = Vec::new();
    for (curriculum, stages) in &audits {
        let page = audit::page(curriculum, stages, shared);
        head += &format!("{}\n", page.text);
        shown.push(page.json);
    }
    page.text = head + &page.text;
    for (key, value) in [
        ("entered", json!(entered)),
        ("present", json!(present)),
        ("missing", json!(missing)),
        ("audits", Value::Array(shown)),
    ] {
        page.json[key] = value;
    }
    page.code = u8::from(missing + failed > 0);
    Ok(page)
}

/// Verifies results and enters them into the store; `None` if it was interrupted.
pub fn results(
    folder: &CampaignFolder,
    results: &ResultIndex,
    path: &Path,
    shared: &Shared,
) -> Result<Option<Collected>, Failure> {
    interrupt::saving(interrupt::resumable());
    // The store notes the build of a run, and searches are read as this build reads them.
    folder.manifest().check_build()?;
    let faults = campaign::verify(folder, results, &Terminal)?;
    if !faults.is_empty() {
        return Err(refused(&faults, path));
    }
    if interrupt::stopped() {
        return Ok(None);
    }
    let mut store = Store::open(&shared.store)?;
    let collected = campaign::collect(folder, results, &mut store, &Terminal)?;
    Ok(Some(collected).filter(|collected| !collected.stopped))
}

fn refused(faults: &[(String, Damage)], path: &Path) -> Failure {
    let mut message = format!(
        "nothing was entered: {} of {} cannot be used",
        several(faults.len() as u64, "file"),
        path.display()
    );
    for (file, damage) in faults.iter().take(NAMED) {
        message += &format!("\n  {file}: {damage}");
    }
    if faults.len() > NAMED {
        message += &format!("\n  and {} others", faults.len() - NAMED);
    }
    Failure::new(message).advise(format!(
        "rl4rla campaign resume {} --set-aside, which moves them to its folder `damaged` and computes their tasks again",
        quoted(path)
    ))
}

/// The audits that were collected, by curriculum and settings.
pub fn audits(
    folder: &CampaignFolder,
    collected: &[CollectedAudit],
) -> Result<Vec<(Curriculum, Vec<AuditedStage>)>, ExperimentError> {
    let mut all = Vec::new();
    for search in 0..folder.manifest().searches() {
        let mut seeds: Vec<&CollectedAudit> =
            collected.iter().filter(|audit| audit.search == search).collect();
        if seeds.is_empty() {
            continue;
        }
        seeds.sort_by_key(|audit| audit.seed);
        let CampaignSearch::Audit(settings) = folder.manifest().search(search)? else { continue };
        let stage = |number: usize| AuditedStage {
            seeds: seeds.iter().map(|audit| audit.stages[number].clone()).collect(),
        };
        let curriculum = settings.applied();
        let stages = (0..curriculum.stages.len()).map(stage).collect();
        all.push((curriculum, stages));
    }
    Ok(all)
}
