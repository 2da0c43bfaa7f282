//! Test fixtures: folders, and plans of searches that take milliseconds.

use super::chunk::TaskRanges;
use super::folder::CampaignFolder;
use super::manifest::ManifestHeader;
use super::plan::CampaignPlan;
use super::submission::{Computer, Process, Submission};
use super::task::{AuditSettings, CampaignSearch};
use crate::curriculum::Curriculum;
use crate::discovery::Approach;
use crate::experiment::{SearchSettings, Sweep};
use crate::record::Build;
use crate::search::Method;
use std::path::{Path, PathBuf};

/// An empty folder, removed when dropped.
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub fn new(name: &str) -> ScratchFolder {
        let path = std::env::temp_dir().join(format!("rl4rla-campaign-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        ScratchFolder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn small_curriculum() -> Curriculum {
    let text = r#"
        title = "Gradient descent, from nothing"
        [[stage]]
        name = "ls-gd"
        edits = 3
        open = ["iteration"]
        registers = ["v1"]
        step = 0.5
        family = { kind = "low-cond", rows = 40, cols = 4 }
        instances = { search = 6, select = 4, report = 4 }
        target = "ls-gd"
    "#;
    Curriculum::parse("small", text).unwrap()
}

/// The search of the small curriculum with a method.
pub fn small_sweep(method: Method) -> CampaignSearch {
    let settings = SearchSettings::new(Approach::new(method));
    CampaignSearch::Sweep(Box::new(Sweep::new(small_curriculum(), settings, 0, 0)))
}

/// The same, of which every run computes everything itself.
pub fn alone(method: Method) -> CampaignSearch {
    match small_sweep(method) {
        CampaignSearch::Sweep(sweep) => CampaignSearch::Sweep(Box::new(Sweep { alone: true, ..*sweep })),
        other => other,
    }
}

/// An exploration that cannot begin.
pub fn unknown_family() -> CampaignSearch {
    let request = serde_json::json!({
        "family": "unknown", "rows": 40, "cols": 4, "kappas": [4.0], "leverage": "low", "right": "gauss",
        "outside": 0.1, "tolerance": 1e-3, "operators": [], "edits": 2, "sketch": null, "sketch_factor": null,
        "held_out": 2, "hall": 2, "seed": 0,
    });
    CampaignSearch::Explore(serde_json::from_value(request).unwrap())
}

pub fn header(title: &str) -> ManifestHeader {
    ManifestHeader {
        format: super::manifest::FORMAT,
        title: title.into(),
        created: 0,
        build: Build::current(),
        directory: "/".into(),
        jobs: Default::default(),
        slurm: Default::default(),
    }
}

/// A submission of some process.
pub fn submission(folder: &CampaignFolder, number: u64, on: Computer, chunks: Vec<TaskRanges>) -> Submission {
    let campaign = folder.manifest().id().to_string();
    let process = Process { host: "here".into(), id: 1, started: None };
    Submission { campaign, number, process, threads: 1, on, chunks }
}

/// A campaign of one sweep with this many seeds.
pub fn small_plan(title: &str, seeds: u64) -> CampaignPlan {
    let mut plan = CampaignPlan::new(header(title));
    plan.add(0, seeds, [(small_sweep(Method::Best), 0.01)]).unwrap();
    plan
}

/// A campaign of two sweeps that share their seeds, and an audit.
pub fn mixed_plan(seeds: u64) -> CampaignPlan {
    let mut plan = CampaignPlan::new(header("mixed"));
    let sweeps = [Method::Best, Method::Random].map(|method| (small_sweep(method), 0.01));
    plan.add(5, seeds, sweeps).unwrap();
    let audit = AuditSettings { curriculum: small_curriculum(), hints: true, typed: false, budget: 100_000 };
    plan.add(0, 2, [(CampaignSearch::Audit(Box::new(audit)), 0.1)]).unwrap();
    plan
}
