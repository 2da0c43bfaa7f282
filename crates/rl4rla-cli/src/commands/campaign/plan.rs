//! `rl4rla campaign plan`, and what plans are made of.

use super::file::CampaignFile;
use super::files;
use super::look::Look;
use super::page::{self, span, step};
use crate::args::{Audit, Command, Explore, PlanArguments, Reproduce, Shared, SweepArguments};
use crate::commands::{audit, explore, reproduce, sweep};
use crate::failure::Failure;
use crate::page::{Page, accent, faint, ledger, several, strong, warning};
use rl4rla::experiment::Sweep;
use rl4rla::experiment::campaign::{
    CampaignFolder, CampaignPlan, CampaignSearch, FORMAT, JobOptions, Manifest, ManifestHeader, SlurmOptions,
};
use rl4rla::explore::{ExploreRequest, METHOD};
use rl4rla::record::{Build, EXPLORE};
use rl4rla::store::{RunRow, Store, now};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// A search with its seeds.
pub struct SeededSearch {
    pub search: CampaignSearch,
    pub first_seed: u64,
    pub seeds: u64,
    /// The seconds that a task takes, if that is given.
    pub seconds: Option<f64>,
}

impl SeededSearch {
    fn new(search: CampaignSearch, first_seed: u64, seeds: u64) -> SeededSearch {
        SeededSearch { search, first_seed, seeds, seconds: None }
    }
}

/// The searches that a command computes.
pub fn searches(command: &Command) -> Result<Vec<SeededSearch>, Failure> {
    match command {
        Command::Sweep(args) => of_sweep(args),
        Command::Explore(args) => of_exploration(args),
        Command::Audit(args) => of_audit(args),
        Command::Reproduce(args) => of_reproduction(args),
        _ => unreachable!("tables are named like these commands"),
    }
}

/// The searches of `sweep`.
pub fn of_sweep(args: &SweepArguments) -> Result<Vec<SeededSearch>, Failure> {
    let all = sweep::sweeps(args, 0)?.into_iter();
    let seeded = |sweep| SeededSearch::new(CampaignSearch::Sweep(Box::new(sweep)), args.seed, args.seeds);
    Ok(all.map(seeded).collect())
}

/// The searches of `explore`: one.
pub fn of_exploration(args: &Explore) -> Result<Vec<SeededSearch>, Failure> {
    args.data.only_with_matrix()?;
    if args.data.matrix.is_some() {
        return Err(Failure::new("campaigns explore drawn problems, not data of files")
            .advise("the same without --campaign, on this machine"));
    }
    let search = CampaignSearch::Explore(Box::new(explore::checked_request(args)?));
    Ok(vec![SeededSearch::new(search, args.seed, args.seeds.unwrap_or(1))])
}

/// The searches of `audit`: one.
pub fn of_audit(args: &Audit) -> Result<Vec<SeededSearch>, Failure> {
    let search = CampaignSearch::Audit(Box::new(audit::settings(args)?));
    Ok(vec![SeededSearch::new(search, args.seed, args.seeds)])
}

/// The searches of `reproduce`: the sweeps that its items need.
fn of_reproduction(args: &Reproduce) -> Result<Vec<SeededSearch>, Failure> {
    Ok(of_sweeps(&reproduce::runs(args)?.sweeps))
}

/// Sweeps as searches.
pub fn of_sweeps(sweeps: &[Sweep]) -> Vec<SeededSearch> {
    let seeded = |sweep: &Sweep| {
        let (first_seed, seeds) = (sweep.first_seed, sweep.count() as u64);
        let sweep = Sweep { results: vec![], ..sweep.clone() };
        SeededSearch::new(CampaignSearch::Sweep(Box::new(sweep)), first_seed, seeds)
    };
    sweeps.iter().map(seeded).collect()
}

/// Plans the campaign of a file.
pub fn run(args: &PlanArguments, shared: &Shared) -> Result<Page, Failure> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => args.file.with_extension(""),
    };
    if folder == args.file {
        return Err(Failure::new(format!("{} has no extension to leave out", args.file.display()))
            .advise("--folder FOLDER"));
    }
    let CampaignFile { title, jobs, slurm, searches } = CampaignFile::read(&args.file)?;
    let (plan, assumed) = CampaignDraft { title, jobs, slurm }.plan(searches, shared)?;
    let files = files(&folder)?;
    let campaign = CampaignFolder::create(&files, plan)?;
    let mut page = described(campaign.manifest(), assumed, &folder, shared);
    let mut json = page::of(&Look::at(&campaign)?.state(&campaign).status()?, &folder, shared).json;
    page.json.as_object_mut().into_iter().for_each(|more| {
        json.as_object_mut().expect("a status is an object").append(more);
    });
    Ok(Page { json, ..page })
}

/// Most searches that are listed in a terminal.
const LISTED: usize = 60;

/// A plan, for people.
fn described(manifest: &Manifest, assumed: usize, folder: &Path, shared: &Shared) -> Page {
    let seeds = manifest.seeds_by_search();
    let row = |search: usize| {
        let seconds = manifest.seconds(search);
        vec![
            manifest.kind(search).name().into(),
            accent(manifest.name(search)),
            manifest.label(search),
            seeds[search].to_string(),
            span(seconds),
            span(seconds * seeds[search] as f64),
        ]
    };
    let head = ["kind", "name", "search", "tasks", "a task", "all"];
    let shown = manifest.searches().min(LISTED);
    let mut text = format!("{}\n", strong(&manifest.header().title));
    text += &ledger(&head, (0..shown).map(row), 3..6);
    if shown < manifest.searches() {
        text += &format!("{}\n", faint(&format!("and {} other searches", manifest.searches() - shown)));
    }
    let seconds = manifest.total_seconds();
    text += &format!("\n{}, about {} on one core\n", several(manifest.tasks(), "task"), span(seconds));
    if assumed > 0 {
        let words = format!(
            "{assumed} of {} searches have no runs in {}: {} a task is assumed; set `seconds` in their tables if you know better",
            manifest.searches(),
            shared.store.display(),
            span(ASSUMED)
        );
        text += &format!("{}\n", warning(&words));
    }
    if !shared.quiet {
        let command = step("submit", folder, None);
        text += &format!("\n{}\n", faint(&format!("planned in {}; to begin: `{command}`", folder.display())));
    }
    let each: Vec<f64> = (0..manifest.searches()).map(|search| manifest.seconds(search)).collect();
    let json = json!({ "seconds": seconds, "seconds_a_task": each, "assumed": assumed });
    Page::ok(json, text)
}

/// The first seed, and how many.
type Seeds = (u64, u64);

/// A campaign without its searches.
pub struct CampaignDraft {
    pub title: String,
    pub jobs: JobOptions,
    pub slurm: SlurmOptions,
}

impl CampaignDraft {
    /// A plan of searches, and the number of those whose times are assumed.
    pub fn plan(
        self,
        searches: Vec<SeededSearch>,
        shared: &Shared,
    ) -> Result<(CampaignPlan, usize), Failure> {
        let directory = std::env::current_dir()?;
        if directory.to_str().is_none() {
            let message = format!("the current folder has a name that is not UTF-8: {}", directory.display());
            return Err(Failure::new(message).advise("another current folder"));
        }
        let mut plan = CampaignPlan::new(ManifestHeader {
            format: FORMAT,
            title: self.title,
            created: now(),
            build: Build::current(),
            directory,
            jobs: self.jobs,
            slurm: self.slurm,
        });
        let times = Times::read(shared)?;
        let mut assumed = 0;
        // Searches with the same seeds share their instances.
        let mut groups: Vec<(Seeds, Vec<(CampaignSearch, f64)>)> = Vec::new();
        for SeededSearch { search, first_seed, seeds, seconds } in searches {
            let known = match seconds {
                Some(seconds) => Some(seconds),
                None => times.of(&search)?,
            };
            assumed += usize::from(known.is_none());
            let place = groups.iter().position(|(of, _)| *of == (first_seed, seeds));
            let place = place.unwrap_or_else(|| {
                groups.push(((first_seed, seeds), vec![]));
                groups.len() - 1
            });
            groups[place].1.push((search, known.unwrap_or(ASSUMED)));
        }
        for ((first_seed, seeds), searches) in groups {
            plan.add(first_seed, seeds, searches)?;
        }
        Ok((plan, assumed))
    }
}

/// The seconds that a task takes of which nothing is known.
const ASSUMED: f64 = 60.0;

/// Most runs that are read to know how long those of a search take.
const READ: usize = 10;

/// How long runs of the store took.
struct Times {
    store: Option<Store>,
    /// Runs that have ended, by curriculum and method.
    runs: HashMap<(String, String), Vec<RunRow>>,
}

impl Times {
    fn read(shared: &Shared) -> Result<Times, Failure> {
        let store = shared.store.exists().then(|| Store::open_read_only(&shared.store)).transpose()?;
        let mut runs: HashMap<(String, String), Vec<RunRow>> = HashMap::new();
        for row in store.as_ref().map_or(Ok(vec![]), Store::runs)? {
            if row.status.found().is_some() {
                runs.entry((row.curriculum.clone(), row.method.clone())).or_default().push(row);
            }
        }
        Ok(Times { store, runs })
    }

    /// The mean over the last runs of a search with any settings; `None` if there are none.
    fn of(&self, search: &CampaignSearch) -> Result<Option<f64>, Failure> {
        let key = match search {
            CampaignSearch::Sweep(sweep) => (sweep.curriculum.name.clone(), sweep.method().to_string()),
            CampaignSearch::Explore(_) => (EXPLORE.into(), METHOD.into()),
            // They have no place in a store.
            CampaignSearch::Audit(_) => return Ok(None),
        };
        let (Some(store), Some(rows)) = (&self.store, self.runs.get(&key)) else { return Ok(None) };
        let mut seconds = Vec::new();
        for row in rows.iter().rev().take(READ) {
            let run = store.run(&row.id)?;
            let same = match search {
                CampaignSearch::Explore(request) => serde_json::from_str(&run.settings)
                    .is_ok_and(|asked: ExploreRequest| asked.family == request.family),
                _ => true,
            };
            seconds.extend(run.result?.filter(|_| same).map(|record| record.cost.seconds));
        }
        Ok((!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64))
    }
}
