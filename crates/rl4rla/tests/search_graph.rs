//! Search graphs: what a search shows when it ends, and what is made again from the log of a stored run.

#[path = "search/toy.rs"]
mod toy;

use rl4rla::curriculum::{Curriculum, discover};
use rl4rla::discovery::{
    Approach, Context, Fresh, GraphLimits, Known, Merge, NodeFlags, Observer, Progress, ReplayError,
    RewardKey, SearchGraph, StageResult,
};
use rl4rla::experiment::{
    BegunRunError, GraphError, LearnedPolicy, SearchSettings, StoredStage, Sweep, search_graph, sweep,
};
use rl4rla::problem::InstanceSet;
use rl4rla::program::{Document, Program};
use rl4rla::record::{Build, EXPLORE, RunRecord, StageRecord};
use rl4rla::rng::Stream;
use rl4rla::search::{GraphView, METHODS, Method, Outcome, StopReason, Watch};
use rl4rla::store::{NewRun, Recorder, RunId, Store, known};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use toy::{Words, scattered, tuning};

/// A node as a search shows it, with everything owned.
#[derive(Clone, PartialEq, Debug)]
struct Shown {
    word: Vec<u8>,
    value: f64,
    visits: u32,
    is_end: bool,
    children: Vec<(usize, u32)>,
    parents: Vec<usize>,
}

/// Keeps the graph; permits this many values and nodes.
struct Keeper {
    values: u64,
    nodes: usize,
    shown: Vec<Vec<Shown>>,
}

impl Keeper {
    fn new(values: u64, nodes: usize) -> Keeper {
        Keeper { values, nodes, shown: vec![] }
    }
}

impl Watch<Vec<u8>> for Keeper {
    fn permits(&mut self, _key: u128, _replicate: usize) -> bool {
        self.values = self.values.saturating_sub(1);
        self.values > 0
    }

    fn has_room(&mut self, nodes: usize) -> bool {
        nodes <= self.nodes
    }

    fn searched(&mut self, graph: &dyn GraphView<Vec<u8>>) {
        let node = |place| {
            let view = graph.view(place);
            Shown {
                word: graph.draft(place).unwrap(),
                value: view.value,
                visits: view.visits,
                is_end: view.is_end,
                children: graph.children(place).iter().map(|edge| (edge.child(), edge.visits)).collect(),
                parents: graph.parents(place),
            }
        };
        self.shown.push((0..graph.count()).map(node).collect());
    }
}

fn searched(method: Method, budget: u64, keeper: &mut Keeper) -> Outcome<Vec<u8>> {
    let mut domain = Words::new(4, 4, scattered(&[0, 1, 2, 3])).noisy(0.2, 8, 1);
    domain.unfinished = true;
    method.search(&domain, &tuning(budget), &Stream::new(1), keeper)
}

#[test]
fn a_search_shows_its_graph_once() {
    for row in &METHODS {
        let mut keeper = Keeper::new(u64::MAX, usize::MAX);
        let outcome = searched(row.method, 300, &mut keeper);
        assert_eq!(keeper.shown.len(), usize::from(row.has_graph()), "{}", row.name);
        let Some(nodes) = keeper.shown.pop() else { continue };
        let counters = outcome.counters;
        assert_eq!(nodes.len(), outcome.size.nodes);
        let visited = nodes.iter().filter(|node| node.visits > 0).count() as u64;
        let visits: u64 = nodes.iter().map(|node| u64::from(node.visits)).sum();
        let counted = match row.method {
            // A node is met when it is measured, and visited when a descent passes.
            Method::Best => (nodes.len() as u64, nodes.len() as u64 + visits),
            _ => (visited, visits),
        };
        assert_eq!((counters.unique_states, counters.node_visits), counted, "{}", row.name);
        let edges: BTreeSet<(usize, usize)> = (0..nodes.len())
            .flat_map(|place| nodes[place].children.iter().map(move |&(child, _)| (place, child)))
            .collect();
        let links = (0..nodes.len())
            .flat_map(|place| nodes[place].parents.iter().map(move |&parent| (parent, place)));
        assert_eq!(links.clone().count(), edges.len(), "no link twice");
        assert_eq!(links.collect::<BTreeSet<_>>(), edges, "all parents");
        for (place, node) in nodes.iter().enumerate() {
            assert_eq!(node.parents.is_empty(), place == 0);
            assert!(node.parents.first().is_none_or(|&first| first < place));
            assert!(node.parents.iter().all(|&parent| nodes[parent].word.len() + 1 == node.word.len()));
            assert_eq!(node.is_end, node.word.len() == 4);
        }
        let merged = nodes.iter().filter(|node| node.parents.len() > 1).count();
        assert_eq!(merged > 0, row.method != Method::Mcts, "{}", row.name);
    }
}

/// A value that is not permitted leaves the graph of the search as it was before that playout.
#[test]
fn a_search_stops_before_a_value_that_is_not_permitted() {
    for row in METHODS.iter().filter(|row| row.has_graph()) {
        for values in [1, 2, 20, 90] {
            let mut keeper = Keeper::new(values, usize::MAX);
            let outcome = searched(row.method, 300, &mut keeper);
            assert_eq!((outcome.stop, outcome.counters.evaluations), (StopReason::Interrupted, values - 1));
            let stopped = keeper.shown.pop().unwrap();
            if row.method == Method::Best {
                continue;
            }
            let mut whole = Keeper::new(u64::MAX, usize::MAX);
            searched(row.method, outcome.counters.playouts, &mut whole);
            let whole = whole.shown.pop().unwrap();
            // The last playout may have expanded nodes, which nobody visited.
            for (before, after) in whole.iter().zip(&stopped) {
                assert_eq!((&before.word, before.visits), (&after.word, after.visits), "{}", row.name);
                assert_eq!(before.value, after.value);
            }
            assert!(stopped[whole.len()..].iter().all(|node| node.visits == 0));
        }
    }
}

#[test]
fn a_search_stops_where_its_graph_has_no_room() {
    for row in METHODS.iter().filter(|row| row.has_graph()) {
        let mut keeper = Keeper::new(u64::MAX, 30);
        assert_eq!(searched(row.method, 300, &mut keeper).stop, StopReason::Interrupted, "{}", row.name);
        assert!(keeper.shown[0].len() > 30);
    }
}

const SMALL: &str = r#"
title = "Small"
[defaults]
instances = { search = 4, select = 3, report = 2 }
step = 1.0
budget = 3000
[[stage]]
name = "landweber"
edits = 2
open = ["iteration"]
family = { kind = "psd" }
reward = { profile = "sound", acc = 1, decay = 10, comp = 8, cond = 1 }
target = "landweber"
[[stage]]
name = "ls-gd"
edits = 1
open = ["iteration"]
family = { kind = "low-cond", rows = 300, cols = 6 }
target = "ls-gd"
[[stage]]
name = "preconditioner"
edits = 2
open = ["setup"]
family = { kind = "mid-cond", rows = 300, cols = 6, outside = 0.7 }
iterations = 100
reward = { profile = "sound", acc = 0, decay = 0, comp = 1, cond = 2 }
keep = ["R1"]
target = """
setup:
  R1 = MAT_TRANS_MAT_MUL(A, A)
  R1 = MAT_INV(R1)
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = MAT_VEC_MUL(R1, v1)
"""
completed-by = "v1 = MAT_VEC_MUL(R1, v1)"
"#;

fn small() -> Curriculum {
    Curriculum::parse("small", SMALL).unwrap()
}

/// A store in a folder of its own.
struct Place(PathBuf, Store);

impl Place {
    fn new(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("rl4rla-graph-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store::open(&folder.join("runs.db")).unwrap();
        Place(folder, store)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Records a run as a shell does, up to this many evaluations of a stage.
struct Saver<'a> {
    recorder: Recorder<'a>,
    curriculum: &'a Curriculum,
    most: u64,
}

impl Observer for Saver<'_> {
    fn evaluated(&mut self, record: RewardKey, value: f64) {
        self.recorder.evaluated(record, value);
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        self.recorder.continues(progress) && progress.counters.evaluations < self.most
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        self.recorder.stage(number, &StageRecord::new(&self.curriculum.stages[number].0, result));
    }
}

/// Runs the small curriculum into a store, and returns the record of the run if it ended.
fn ran(store: &mut Store, settings: &SearchSettings, most: u64) -> (RunId, Option<RunRecord>) {
    let run = begun(store, settings, &Build::current());
    let (curriculum, known) = (settings.apply(small()), Known::default());
    let recorder = Recorder::new(store, run.clone(), &known, &curriculum, settings.approach()).unwrap();
    let mut saver = Saver { recorder, curriculum: &curriculum, most };
    let mut context = Context { policy: settings.policy(), observer: Some(&mut saver), ..Context::default() };
    let discovery = discover(&curriculum, settings.approach(), 3, &mut context).unwrap();
    saver.recorder.close().unwrap();
    if discovery.interrupted {
        store.interrupted(&run).unwrap();
        return (run, None);
    }
    let method = settings.approach().method.name();
    let record = RunRecord::new(run.as_str(), &curriculum, method, 3, &discovery);
    store.finish(&run, &record).unwrap();
    (run, Some(record))
}

fn begun(store: &mut Store, settings: &SearchSettings, build: &Build) -> RunId {
    let (method, curriculum) = (settings.approach().method.name(), "small");
    let new = NewRun { curriculum, method, seed: 3, spec: SMALL, settings: &settings.json(), build };
    store.begin(&new).unwrap()
}

fn made(store: &Store, run: &RunId, stage: usize) -> Result<SearchGraph, GraphError> {
    search_graph(store, run, stage, GraphLimits::default(), &|| false)
}

/// Every method with a graph, and options that change what a search does.
fn settings() -> Vec<SearchSettings> {
    let graphs = METHODS.iter().filter(|row| row.has_graph());
    let mut all: Vec<_> = graphs.map(|row| SearchSettings::new(Approach::new(row.method))).collect();
    let [best, paper] = [Method::Best, Method::McgsUcd].map(Approach::new);
    let options = [
        Approach { merge: Some(Merge::Canonical), ..best },
        Approach { run_playouts: Some(60), from_targets: true, ..paper },
        Approach { run_evaluations: Some(150), from_targets: true, ..best },
        Approach { fresh: Some(Fresh::Draws), released: true, ..paper },
        Approach { budget_per_decision: true, skip_closed: true, budget: Some(50), ..paper },
    ];
    all.extend(options.map(SearchSettings::new));
    let policy = LearnedPolicy::shipped().settings(&small());
    let guided = SearchSettings::new(Approach::new(Method::McgsPuct));
    all.push(SearchSettings { policy: Some(policy), ..guided });
    all.push(SearchSettings { typed: true, ..SearchSettings::new(best) });
    all.push(SearchSettings { hints: false, ..SearchSettings::new(Approach { budget: Some(40), ..paper }) });
    all
}

#[test]
fn the_graph_of_a_stage_that_ended_has_the_counters_of_its_record() {
    let mut place = Place::new("ended");
    let (mut merged, mut stages) = (BTreeMap::new(), 0);
    for settings in settings() {
        let (run, record) = ran(&mut place.1, &settings, u64::MAX);
        for (stage, record) in record.unwrap().stages.iter().enumerate() {
            let graph = made(&place.1, &run, stage).unwrap_or_else(|error| panic!("{error}: {settings:?}"));
            assert!(graph.complete && graph.hidden() < graph.count);
            let counters =
                (graph.counters.playouts, graph.counters.unique_states, graph.counters.node_visits);
            assert_eq!(counters, (record.cost.playouts, record.cost.unique_states, record.cost.node_visits));
            check(&graph);
            // The best path of a search for the maximum leads to the best program of the search.
            let best = (0..graph.shown()).rfind(|&node| graph.flags[node] & NodeFlags::BEST > 0).unwrap();
            let highest = record.candidates.iter().map(|c| c.search).fold(0.0, f64::max);
            if settings.approach().method == Method::Best && record.stop == StopReason::Confident {
                assert!((graph.value[best] - highest).abs() < 1e-12, "{}: {highest}", record.name);
            }
            let is_merged = |flags: &&u8| **flags & NodeFlags::MERGED > 0;
            *merged.entry(settings.approach().method.name()).or_insert(0) +=
                graph.flags.iter().filter(is_merged).count();
            stages += 1;
        }
    }
    assert!(stages > 25);
    assert!(merged["mcts"] == 0 && merged["mcgs-ucd"] > 10 && merged["best"] > 10, "{merged:?}");
}

/// The columns agree with each other, and with the nodes in words.
fn check(graph: &SearchGraph) {
    let shown = graph.shown();
    assert_eq!(graph.parent.iter().filter(|parent| **parent < 0).count(), 1);
    for node in 0..shown {
        let words = graph.node(node).unwrap();
        let parents: Vec<u32> = graph.parents(node).collect();
        assert_eq!((&words.parents, words.visits), (&parents, graph.visits[node]));
        assert_eq!(words.program.parse::<Document>().unwrap().program, graph.program(node));
        assert_eq!(graph.depth[node] == 0, parents.is_empty());
        assert!(parents.first().is_none_or(|&first| (first as usize) < node));
        if graph.hidden() == 0 {
            assert_eq!(graph.flags[node] & NodeFlags::MERGED > 0, parents.len() > 1);
            assert_eq!(words.hidden, 0);
        }
        for child in &words.children {
            let (below, number) = (child.node as usize, node as u32);
            assert_eq!(graph.depth[below], graph.depth[node] + 1);
            assert!(graph.parents(below).any(|parent| parent == number));
        }
        let below = words.children.len() + words.hidden;
        assert!(graph.flags[node] & NodeFlags::TERMINAL == 0 || below == 0);
    }
    let links: usize = (0..shown).map(|node| graph.node(node).unwrap().children.len()).sum();
    assert_eq!(links, shown - 1 + graph.more.len());
    assert_eq!(graph.node(shown), None);
}

#[test]
fn a_node_tells_its_program_and_the_edits_from_there() {
    let mut place = Place::new("node");
    let (run, _) = ran(&mut place.1, &SearchSettings::new(Approach::new(Method::McgsUcd)), u64::MAX);
    let graph = made(&place.1, &run, 1).unwrap();
    let root = graph.node(0).unwrap();
    let landweber = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n";
    assert_eq!((root.program.as_str(), root.matched, root.parents.len()), (landweber, None, 0));
    let found = root
        .children
        .iter()
        .find(|child| graph.node(child.node as usize).is_some_and(|node| node.matched == Some("ls-gd")));
    assert_eq!(found.unwrap().edit, "iteration: v1 = VEC_MAT_MUL(v1, A)");
    let document = serde_json::to_value(&graph).unwrap();
    let size = |column: &str| document[column].as_array().unwrap().len();
    for column in ["depth", "value", "visits", "flags", "parent"] {
        assert_eq!(size(column), graph.shown());
    }
    assert_eq!(document["parent"][0], -1);
    assert_eq!(
        (&document["stage"], &document["complete"], &document["root"]),
        (&1.into(), &true.into(), &0.into())
    );
}

#[test]
fn few_nodes_are_shown_with_their_paths_and_the_best_path() {
    let mut place = Place::new("few");
    for method in [Method::Best, Method::McgsUcd, Method::Mcts] {
        let (run, _) = ran(&mut place.1, &SearchSettings::new(Approach::new(method)), u64::MAX);
        let stage = StoredStage::read(&place.1, &run, 2).unwrap();
        let with = |shown| stage.graph(GraphLimits { shown, ..GraphLimits::default() }, &|| false).unwrap();
        let (all, few) = (with(usize::MAX), with(12));
        assert_eq!((few.shown(), few.count), (12, all.count));
        check(&few);
        let best = |graph: &SearchGraph| -> Vec<Program> {
            let on_path = |node: &usize| graph.flags[*node] & NodeFlags::BEST > 0;
            (0..graph.shown()).filter(on_path).map(|node| graph.program(node)).collect()
        };
        assert_eq!(best(&few), best(&all));
        assert_eq!(best(&with(0)), best(&all), "the best path is always there");
        let mut visits = all.visits.clone();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(*few.visits.iter().max().unwrap(), visits[0]);
    }
}

#[test]
fn a_search_that_was_interrupted_is_made_again_as_far_as_its_log_goes() {
    let mut place = Place::new("partial");
    for method in METHODS.iter().filter(|row| row.has_graph()).map(|row| row.method) {
        let (run, ended) = ran(&mut place.1, &SearchSettings::new(Approach::new(method)), 20);
        assert!(ended.is_none(), "{}", method.name());
        let stage = place.1.stages(&run).unwrap().len();
        let search = |key: &RewardKey| key.stage == stage && key.set == InstanceSet::Search;
        let logged = known(&place.1, &run).unwrap().keys().filter(|key| search(key)).count() as u64;
        let graph = made(&place.1, &run, stage).unwrap();
        assert_eq!((graph.complete, graph.counters.evaluations), (false, logged), "{}", method.name());
        assert!(logged >= 20 && graph.counters.playouts > 0);
        check(&graph);
        let reached = GraphError::NotReached { run: run.clone(), stage: stage + 1 };
        assert_eq!(made(&place.1, &run, stage + 1).unwrap_err(), reached);
    }
    // Nothing is known of a run that has only begun.
    let run = begun(&mut place.1, &SearchSettings::new(Approach::new(Method::Best)), &Build::current());
    let graph = made(&place.1, &run, 0).unwrap();
    assert_eq!((graph.complete, graph.counters.evaluations, graph.value[0]), (false, 0, 0.0));
}

#[test]
fn what_cannot_be_made_again_says_why() {
    let mut place = Place::new("refused");
    let store = &mut place.1;
    let best = SearchSettings::new(Approach::new(Method::Best));
    let (run, _) = ran(store, &best, u64::MAX);
    let stage = StoredStage::read(store, &run, 2).unwrap();
    let small = GraphLimits { nodes: 10, ..GraphLimits::default() };
    assert_eq!(stage.graph(small, &|| false).unwrap_err(), GraphError::Replay(ReplayError::TooLarge(10)));
    let stopped = stage.graph(GraphLimits::default(), &|| true);
    assert_eq!(stopped.unwrap_err(), GraphError::Replay(ReplayError::Stopped));
    assert_eq!(made(store, &run, 3).unwrap_err(), GraphError::NoStage { stage: 3, stages: 3 });
    for row in METHODS.iter().filter(|row| !row.has_graph()) {
        let run = begun(store, &SearchSettings::new(Approach::new(row.method)), &Build::current());
        let refused = made(store, &run, 0).unwrap_err();
        assert_eq!(refused, GraphError::Replay(ReplayError::NoGraph(row.method)));
        assert!(refused.to_string().contains(row.name) && refused.advice().is_some());
    }
    let build = Build { digest: Some("0123456789abcdef".into()), ..Build::current() };
    let other = begun(store, &best, &build);
    let refused = made(store, &other, 0).unwrap_err();
    assert_eq!(refused, GraphError::Begun(BegunRunError::OtherBuild { run: other, build }));
    assert!(refused.to_string().contains("made by another build"), "{refused}");
    let new = NewRun {
        curriculum: EXPLORE,
        method: "explore",
        seed: 3,
        spec: "",
        settings: "{}",
        build: &Build::current(),
    };
    let exploration = store.begin(&new).unwrap();
    assert_eq!(made(store, &exploration, 0).unwrap_err(), GraphError::Exploration(exploration));
}

#[test]
fn runs_of_a_sweep_and_records_that_do_not_fit_their_log_are_refused() {
    let mut place = Place::new("sweep");
    let best = SearchSettings::new(Approach::new(Method::Best));
    let mut sweep = [Sweep::new(small(), best.clone(), 3, 1)];
    sweep::run(&mut sweep, &mut place.1, 1, &()).unwrap();
    let swept = place.1.runs().unwrap()[0].id.clone();
    assert_eq!(made(&place.1, &swept, 0).unwrap_err(), GraphError::NoLog(swept));
    let (run, record) = ran(&mut place.1, &best, u64::MAX);
    let mut record = record.unwrap().stages.remove(1);
    record.cost.unique_states += 1;
    place.1.finish_stage(&run, 1, &record).unwrap();
    assert_eq!(made(&place.1, &run, 1).unwrap_err(), GraphError::Differs { run, stage: 1 });
}

#[test]
fn the_graph_is_the_same_with_any_number_of_threads() {
    let mut place = Place::new("threads");
    let (run, _) = ran(&mut place.1, &SearchSettings::new(Approach::new(Method::Best)), u64::MAX);
    let stage = StoredStage::read(&place.1, &run, 2).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| stage.graph(GraphLimits::default(), &|| false).unwrap())
    };
    assert_eq!(with(1), with(3));
}
