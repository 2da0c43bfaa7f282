//! The search graph of a stage of a stored run, made again from its log.

use super::begun::{BegunRun, BegunRunError};
use crate::curriculum::{Replay, StageStart};
use crate::discovery::{GraphLimits, Known, ReplayError, SearchGraph};
use crate::record::{EXPLORE, StageRecord};
use crate::search::{Counters, Method};
use crate::store::{RunId, Store, StoreError, known};
use std::fmt;

/// Why a stored run has no search graph, or none that can be made again.
#[derive(Clone, PartialEq, Debug)]
pub enum GraphError {
    /// It is an exploration.
    Exploration(RunId),
    /// Its curriculum does not have that many stages.
    NoStage {
        /// Index of the stage asked for.
        stage: usize,
        /// Number of stages.
        stages: usize,
    },
    /// It has not come to that stage.
    NotReached {
        /// The run.
        run: RunId,
        /// Index of the stage.
        stage: usize,
    },
    /// Its log has no evaluation of a stage that has ended.
    NoLog(RunId),
    /// The search made again differs from the one recorded.
    Differs {
        /// The run.
        run: RunId,
        /// Index of the stage.
        stage: usize,
    },
    /// It cannot be taken up again.
    Begun(BegunRunError),
    /// The search cannot be made again.
    Replay(ReplayError),
    /// The store cannot be read.
    Store(StoreError),
}

impl GraphError {
    /// A suggestion, if there is one.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            GraphError::NoLog(_) => Some("`rl4rla discover` with the same curriculum, method and seed"),
            GraphError::Begun(BegunRunError::OtherBuild { .. }) => {
                Some("that build, because another may search differently")
            }
            GraphError::Replay(ReplayError::NoGraph(_)) => {
                Some("`best`, `mcts` or one of the `mcgs` methods")
            }
            GraphError::Differs { .. } => {
                Some("`rl4rla list runs --check`, and the tasks and operators of the run")
            }
            _ => None,
        }
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            GraphError::Exploration(run) => {
                write!(f, "run {run} is an exploration, which searches without a graph")
            }
            GraphError::NoStage { stage, stages } => {
                write!(f, "there is no stage {stage}: the curriculum has {stages}, from 0")
            }
            GraphError::NotReached { run, stage } => write!(f, "run {run} has not come to stage {stage}"),
            GraphError::NoLog(run) => {
                write!(f, "run {run} kept no log of its evaluations, as the runs of a sweep do not")
            }
            GraphError::Differs { run, stage } => {
                write!(f, "stage {stage} of run {run} comes out differently from how it was recorded")
            }
            GraphError::Begun(BegunRunError::OtherBuild { run, build }) => {
                write!(f, "run {run} was made by another build, {build}, whose search cannot be made again")
            }
            GraphError::Begun(error) => error.fmt(f),
            GraphError::Replay(error) => error.fmt(f),
            GraphError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GraphError {}

impl From<StoreError> for GraphError {
    fn from(error: StoreError) -> GraphError {
        GraphError::Store(error)
    }
}

/// A stage of a stored run with everything that its search asks for.
#[derive(Debug)]
pub struct StoredStage {
    run: RunId,
    begun: BegunRun,
    from: StageStart,
    /// The result, if the stage has ended.
    record: Option<StageRecord>,
    known: Known,
}

impl StoredStage {
    /// Reads the stage with this index, which has ended or is being searched; writes nothing.
    pub fn read(store: &Store, id: &RunId, stage: usize) -> Result<StoredStage, GraphError> {
        let run = store.run(id)?;
        if run.row.curriculum == EXPLORE {
            return Err(GraphError::Exploration(id.clone()));
        }
        let method = Method::named(&run.row.method);
        if let Some(method) = method.filter(|method| !method.info().has_graph()) {
            return Err(GraphError::Replay(ReplayError::NoGraph(method)));
        }
        let begun = BegunRun::read(&run).map_err(GraphError::Begun)?;
        let BegunRun { curriculum, settings, .. } = &begun;
        let stages = curriculum.stages.len();
        if stage >= stages {
            return Err(GraphError::NoStage { stage, stages });
        }
        // The log is read after the records of stages: it must not lack what an ended stage has asked for.
        let mut finished = store.stages(id)?;
        let not_reached = || GraphError::NotReached { run: id.clone(), stage };
        let mut from = StageStart::first(curriculum);
        for record in finished.iter().take(stage) {
            let (chosen, found, spent) = (record.parsed(), record.found, record.cost.counters());
            from = from.next(curriculum, &settings.approach, chosen, found, spent).ok_or_else(not_reached)?;
        }
        if from.number < stage {
            return Err(not_reached());
        }
        let record = (stage < finished.len()).then(|| finished.swap_remove(stage));
        let mut known = known(store, id)?;
        known.retain(|reward, _| reward.stage == stage);
        if known.is_empty() && record.as_ref().is_some_and(|record| record.cost.evaluations > 0) {
            return Err(GraphError::NoLog(id.clone()));
        }
        Ok(StoredStage { run: id.clone(), begun, from, record, known })
    }

    /// Makes its search again. The graph is complete if the stage has ended; else it is that of the search as far as its
    /// log goes.
    pub fn graph(&self, limits: GraphLimits, stop: &dyn Fn() -> bool) -> Result<SearchGraph, GraphError> {
        let StoredStage { run, begun: BegunRun { curriculum, settings, seed }, from, record, known } = self;
        let (approach, policy) = (&settings.approach, settings.policy());
        let replay = Replay { curriculum, approach, policy: policy.as_ref(), seed: *seed, known };
        let graph = replay.graph(from, limits, stop).map_err(GraphError::Replay)?;
        if let Some(record) = record {
            let counters = Counters { transpositions: 0, ..graph.counters };
            if !graph.complete || counters != record.cost.counters() {
                return Err(GraphError::Differs { run: run.clone(), stage: from.number });
            }
        }
        Ok(graph)
    }
}

/// The search graph of a stage of a stored run; see [`StoredStage`], which lets go of the store before it searches.
pub fn search_graph(
    store: &Store,
    run: &RunId,
    stage: usize,
    limits: GraphLimits,
    stop: &dyn Fn() -> bool,
) -> Result<SearchGraph, GraphError> {
    StoredStage::read(store, run, stage)?.graph(limits, stop)
}
