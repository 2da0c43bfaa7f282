//! Commands computed as a campaign, from the plan to the results in the store: `--campaign`.

use super::collect;
use super::hand_out::HandOut;
use super::look::Look;
use super::page::step;
use super::plan::{CampaignDraft, SeededSearch};
use super::{files, wait};
use crate::args::{AsCampaign, Resources, Shared};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::page::Page;
use crate::shell::quoted;
use rl4rla::curriculum::Curriculum;
use rl4rla::experiment::AuditedStage;
use rl4rla::experiment::campaign::{CampaignFolder, CampaignStatus, SubmissionMark, TaskRanges};
use rl4rla::store::Store;
use serde_json::json;
use std::path::Path;

/// What a command goes on with: the runs are in the store.
pub enum Campaigned {
    /// It was interrupted: the page that says so.
    Interrupted(Page),
    /// All tasks are done. Audits have no place in the store.
    Done(Vec<(Curriculum, Vec<AuditedStage>)>),
}

/// Computes searches as a campaign, if that is asked for.
pub fn computed(
    options: &AsCampaign,
    searches: impl FnOnce() -> Result<Vec<SeededSearch>, Failure>,
    resources: &Resources,
    shared: &Shared,
) -> Result<Option<Campaigned>, Failure> {
    let Some(path) = &options.campaign else { return Ok(None) };
    let searches = searches()?;
    let title = match &searches[..] {
        [] => String::new(),
        [first, ..] => format!("{} {}", first.search.kind().name(), first.search.name()),
    };
    let title = if searches.len() > 1 { format!("{title} and others") } else { title };
    let (jobs, slurm) = Default::default();
    let (plan, _) = CampaignDraft { title, jobs, slurm }.plan(searches, shared)?;
    let files = files(path)?;
    let folder = CampaignFolder::create_or_open(&files, plan)?;
    folder.manifest().check_build()?;
    check_store(&shared.store)?;
    let hand_out = HandOut::new(&folder, &files, path, shared);
    interrupt::saving(interrupted(options));
    let mut before = None;
    let cancelled = folder.marked(SubmissionMark::Cancelled)?;
    let look = loop {
        wait(&folder)?;
        if interrupt::stopped() {
            return Ok(Some(Campaigned::Interrupted(interrupted(options))));
        }
        if folder.marked(SubmissionMark::Cancelled)? != cancelled {
            let Page { json, text, code } = interrupted(options);
            let text = format!("the campaign was cancelled\n{text}");
            return Ok(Some(Campaigned::Interrupted(Page { json, text, code })));
        }
        folder.refresh();
        let mut look = Look::at(&folder)?;
        if let Some(failure) = look.unknown.take() {
            let command = format!("`rl4rla campaign resume {} --take-over`", quoted(path));
            return Err(failure.or(&command));
        }
        let state = look.state(&folder);
        let (counts, missing) = (state.counts(), state.missing().into_iter().collect::<TaskRanges>());
        if let [unseen, ..] = &look.unseen[..] {
            let command = step("resume --take-over", path, options.local);
            return Err(
                Failure::new(unseen).advise(format!("the same command on that machine, or `{command}`"))
            );
        }
        if counts.failed > 0 {
            return Err(failed(&look.state(&folder).status()?, options));
        }
        if missing.is_empty() {
            break look;
        }
        if before == Some(counts.done) {
            return Err(lost(missing.count(), options));
        }
        before = Some(counts.done);
        match options.local {
            Some(threads) => {
                resources.cache_for(threads as usize);
                hand_out.compute(&look, missing, threads)?;
            }
            None => {
                hand_out.send(&look, missing, resources)?;
            }
        }
    };
    Ok(Some(match collect::results(&folder, &look.results, path, shared)? {
        None => Campaigned::Interrupted(interrupted(options)),
        Some(collected) => Campaigned::Done(collect::audits(&folder, &collected.audits)?),
    }))
}

/// An error, before everything is computed, if results cannot be entered into this store.
fn check_store(store: &Path) -> Result<(), Failure> {
    if store.exists() {
        drop(Store::open(store)?);
    } else if let Some(folder) = store.parent().filter(|folder| *folder != "" && !folder.is_dir()) {
        return Err(Failure::new(format!("there is no folder {} for the store", folder.display()))
            .advise("another --store, or create the folder"));
    }
    Ok(())
}

/// The same for commands that find everything in the store; the page if it was interrupted.
pub fn interruption(campaigned: Option<Campaigned>) -> Option<Page> {
    match campaigned {
        Some(Campaigned::Interrupted(page)) => Some(page),
        _ => None,
    }
}

fn interrupted(options: &AsCampaign) -> Page {
    let folder = quoted(options.campaign.as_deref().unwrap_or("".as_ref()));
    let rest = match options.local {
        Some(_) => String::new(),
        None => format!(" Jobs go on; `rl4rla campaign cancel {folder}` ends them."),
    };
    Page {
        json: json!({ "interrupted": true }),
        text: format!("interrupted; everything computed is saved. Repeat the command to continue.{rest}\n"),
        code: INTERRUPTED,
    }
}

fn failed(status: &CampaignStatus, options: &AsCampaign) -> Failure {
    let folder = options.campaign.as_deref().unwrap_or("".as_ref());
    let first = status.failures.first();
    let first = first.map_or(String::new(), |task| format!("; the first is {}: {}", task.what, task.reason));
    Failure::new(format!("{} of {} tasks failed{first}", status.counts.failed, status.counts.tasks))
        .advise(format!("`{}`, once the cause is fixed", step("resume --failed", folder, options.local)))
}

fn lost(tasks: u64, options: &AsCampaign) -> Failure {
    let path = options.campaign.as_deref().unwrap_or("".as_ref());
    Failure::new(format!("{tasks} tasks were handed out, and all their jobs ended without a result"))
        .advise(format!("the logs of the jobs in {}, which say why", path.join("logs").display()))
}
