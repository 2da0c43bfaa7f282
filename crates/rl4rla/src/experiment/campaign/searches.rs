//! Searches as they are read from the manifest.

use super::manifest::Manifest;
use super::task::CampaignSearch;
use crate::experiment::ExperimentError;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most searches that are kept: there may be a hundred thousand.
const MOST: usize = 1000;

/// The searches of a manifest, of which recent ones are read once.
pub(super) struct Searches<'a> {
    manifest: &'a Manifest,
    read: FxHashMap<usize, Arc<CampaignSearch>>,
}

impl<'a> Searches<'a> {
    /// None is read yet.
    pub(super) fn new(manifest: &'a Manifest) -> Searches<'a> {
        Searches { manifest, read: FxHashMap::default() }
    }

    /// A search by its number.
    pub(super) fn get(&mut self, number: usize) -> Result<Arc<CampaignSearch>, ExperimentError> {
        if let Some(search) = self.read.get(&number) {
            return Ok(search.clone());
        }
        let search = Arc::new(self.manifest.search(number)?);
        if self.read.len() >= MOST {
            self.read.clear();
        }
        self.read.insert(number, search.clone());
        Ok(search)
    }
}
