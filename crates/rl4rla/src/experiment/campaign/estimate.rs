//! How long tasks take: as results tell, or else as it was planned.

use super::folder::CampaignFolder;
use super::result_file::ResultKind;
use super::result_index::ResultIndex;
use crate::experiment::ExperimentError;

/// Most results that are read: a campaign may have a million.
const READ: usize = 200;

/// The seconds that a task of each search takes, from a sample of the results.
pub fn task_seconds(folder: &CampaignFolder, results: &ResultIndex) -> Result<Vec<f64>, ExperimentError> {
    let manifest = folder.manifest();
    let ended = || {
        (0..manifest.tasks()).filter_map(|task| match results.kind(task)? {
            kind @ (ResultKind::Found | ResultKind::Missed) => Some((task, manifest.task(task).search, kind)),
            ResultKind::Failed => None,
        })
    };
    let mut counts = vec![0_usize; manifest.searches()];
    ended().for_each(|(_, search, _)| counts[search] += 1);
    let each = (READ / counts.len().max(1)).max(1);
    let (mut met, mut spent) = (vec![0; counts.len()], vec![(0.0, 0_u32); counts.len()]);
    let mut read = 0;
    for (task, search, kind) in ended() {
        // Spread over all of them: the first ones may be the short ones.
        let chosen = met[search] % counts[search].div_ceil(each) == 0 && read < READ;
        met[search] += 1;
        if !chosen {
            continue;
        }
        read += 1;
        // A result that is damaged is told when results are collected, and one may be gone since it was listed.
        let outcome = folder.result(task, kind)?.and_then(Result::ok);
        if let Some(seconds) = outcome.and_then(|outcome| outcome.seconds()) {
            spent[search] = (spent[search].0 + seconds, spent[search].1 + 1);
        }
    }
    let mean = |(search, (seconds, count)): (usize, (f64, u32))| match count {
        0 => manifest.seconds(search),
        count => seconds / f64::from(count),
    };
    Ok(spent.into_iter().enumerate().map(mean).collect())
}
