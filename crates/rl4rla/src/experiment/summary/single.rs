//! The figures of a single run, for pages that show one at a time.

use super::past::{Past, groups};
use super::{curves, fronts, histories};
use crate::curriculum::Curriculum;
use crate::experiment::ExperimentError;
use crate::report::{Block, Figure};
use crate::store::{RunId, Store};

/// A figure of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunFigure {
    /// The reward of the leader against evaluations.
    Curves,
    /// The Pareto front of the stage with this index.
    Front(usize),
    /// The convergence history of what that stage found.
    History(usize),
}

impl RunFigure {
    /// The figure of a run; `None` if the run has nothing to draw there.
    pub fn draw(self, store: &Store, run: &RunId) -> Result<Option<Figure>, ExperimentError> {
        let past = Past::read(store, store.run(run)?.row)?;
        Ok(match self {
            RunFigure::Curves => first(curves::curves(store, &groups(vec![past]))?),
            RunFigure::Front(stage) => {
                let step = past.steps.get(stage).filter(|step| !step.front.is_empty());
                step.and_then(|step| first(fronts::front(step, &past, &|command| command.into())))
            }
            RunFigure::History(stage) => {
                let curriculum = Curriculum::outline(&past.row.curriculum, &past.spec).ok();
                let planned = curriculum.as_ref().and_then(|curriculum| curriculum.stages.get(stage));
                // Problems from a file are not drawn for a figure.
                let planned =
                    planned.filter(|(stage, _)| !stage.families.iter().any(|family| family.is_of_table()));
                let found = past.steps.get(stage).and_then(|step| Some((step.parsed()?, step)));
                planned.zip(found).and_then(|((stage, _), (program, step))| {
                    histories::history(&program, stage, &past, &step.name)
                })
            }
        })
    }
}

fn first(blocks: Vec<Block>) -> Option<Figure> {
    blocks.into_iter().find_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    })
}
