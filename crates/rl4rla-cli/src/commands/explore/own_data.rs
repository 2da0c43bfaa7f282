//! `explore --matrix`: the search runs on drawn problems that resemble the data, and what it finds runs on the data.

use crate::args::{DataArguments, Explore};
use crate::commands::advise::traits;
use crate::data::system;
use crate::failure::Failure;
use crate::page::{number, path};
use crate::progress;
use rl4rla::data::System;
use rl4rla::experiment::winner_map::DataTraits;
use rl4rla::explore::{DataRun, OwnData, RunEnding};
use rl4rla::record::HallRecord;
use std::path::Path;

/// The user's data, with what is estimated of them.
pub struct GivenProblem {
    /// Rows and columns.
    pub size: (usize, usize),
    /// Condition number, leverage and share of b outside the range of A.
    pub traits: DataTraits,
    /// The problem that programs of the hall of fame run on.
    pub problem: OwnData,
}

impl GivenProblem {
    /// Reads the data, or takes those in memory, and estimates what problems have to have in common with them.
    pub fn new(args: &Explore, matrix: &Path, given: Option<System>) -> Result<GivenProblem, Failure> {
        progress::doing(format!("reading {}", path(matrix)));
        // Programs that sketch or factor see all entries.
        let dense = DataArguments { dense: true, ..args.data.clone() };
        let system = given.map_or_else(|| system(&dense, matrix, true), Ok)?.centred().with_target_centred();
        if system.matrix.is_in_file() {
            let message = format!("{} is too large to be held in memory", path(matrix));
            return Err(Failure::new(message).advise("a larger --max-memory, or a part of the rows"));
        }
        let size = (system.matrix.rows(), system.matrix.cols());
        progress::doing("estimating the condition number and the leverage");
        let traits = traits(&system.matrix, &system.b, args.seed, matrix)?;
        let names = system.columns.labels();
        let problem = OwnData::new(system.matrix, system.b).map_err(|error| {
            Failure::new(format!("{}: {}", path(matrix), error.with_names(&names)))
                .advise("`rl4rla help data` describes the data that can be solved")
        })?;
        Ok(GivenProblem { size, traits, problem })
    }
}

/// The head of the columns of [`row`].
pub const HEAD: [&str; 6] = ["", "program", "ended", "iterations", "passes", "excess"];

/// A row of what a program did on the data.
pub fn row(entry: &HallRecord, name: String) -> Option<Vec<String>> {
    let DataRun { ending, iterations, passes, excess, .. } = entry.on_data?;
    let ended = match ending {
        RunEnding::Reached => "reached the tolerance",
        RunEnding::Diverged => "diverged",
        RunEnding::Stalled => "stalled",
        RunEnding::Slow => "slow",
        RunEnding::BrokeDown => "broke down",
    };
    Some(vec![
        format!("#{}", entry.place),
        name,
        ended.into(),
        iterations.to_string(),
        passes.to_string(),
        excess.map_or("–".into(), number),
    ])
}
