//! Test fixtures: temporary folders and values to store.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{NewRun, StoredReward};
use crate::record::{Build, RunRecord, SearchCost, StageRecord};

/// An empty folder, removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rl4rla-store-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        // The same path that the store uses in its errors.
        Folder(path.canonicalize().unwrap())
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub static BUILD: LazyLock<Build> =
    LazyLock::new(|| Build { version: "0.1.0".into(), digest: Some("0123456789abcdef".into()) });

pub fn new_run() -> NewRun<'static> {
    NewRun {
        curriculum: "small",
        method: "random",
        seed: 7,
        spec: "name = \"small\"\n",
        settings: "{\"budget\":10}",
        build: &BUILD,
    }
}

/// Evaluations in the order of the log.
pub fn evaluation(i: u32) -> StoredReward {
    StoredReward { stage: 0, key: (u128::from(i) << 64).to_be_bytes(), set: 1, index: i, value: f64::from(i) }
}

/// A stage record with some working time that found nothing.
pub fn stage(name: &str) -> StageRecord {
    let text = format!(
        "{{\"name\": \"{name}\", \"found\": false, \"stop\": \"budget\", \"reward\": 0.0, \"playouts\": 1, \"evaluations\": 2, \
         \"seconds\": 1.5}}"
    );
    serde_json::from_str(&text).unwrap()
}

/// A run record with one stage that found its target.
pub fn record() -> RunRecord {
    RunRecord {
        format: RunRecord::FORMAT,
        build: Some(BUILD.clone()),
        run: "0123abcd".into(),
        curriculum: "small".into(),
        method: "random".into(),
        seed: 7,
        found: true,
        cost: SearchCost::default(),
        preferred: None,
        alone: None,
        proposer: None,
        policy: None,
        stages: vec![stage("a")],
        hall: vec![],
        rivals: vec![],
    }
}
