//! What a search costs besides its rewards: `cargo bench --bench search`.
//!
//! Real stages and real moves, with a reward that costs nothing: a hash of the solution's key. Expansion is included:
//! legal moves, canonical forms, keys, nodes. Times are those of one thread.

use rl4rla::curriculum::Curriculum;
use rl4rla::discovery::{Bench, Insertions, Known, Merge, Problems, Space, Stage};
use rl4rla::problem::InstanceSet;
use rl4rla::program::{Editor, Entry, Grammar, Op, Program};
use rl4rla::rng::Stream;
use rl4rla::search::{Confidence, Domain, Method, Outcome, Silent, Solved, Tuning};
use std::sync::Arc;
use std::time::Instant;

/// A domain with a reward that costs nothing.
struct Free<D>(D);

impl<D: Domain> Domain for Free<D> {
    type State = D::State;
    type Solution = D::Solution;

    fn root(&self) -> D::State {
        self.0.root()
    }

    fn key(&self, state: &D::State) -> u128 {
        self.0.key(state)
    }

    fn children(&self, state: &D::State) -> Arc<[D::State]> {
        self.0.children(state)
    }

    fn child(&self, state: &D::State, pick: &mut dyn FnMut(usize) -> usize) -> Option<D::State> {
        self.0.child(state, pick)
    }

    fn is_end(&self, state: &D::State) -> bool {
        self.0.is_end(state)
    }

    fn solution(&self, state: &D::State) -> Option<Solved<D::Solution>> {
        self.0.solution(state)
    }

    fn replicates(&self) -> usize {
        self.0.replicates()
    }

    fn values(&self, requests: &[(&Solved<D::Solution>, usize)]) -> Vec<f64> {
        let value = |&(solved, i): &(&Solved<D::Solution>, usize)| {
            let mixed = (solved.key as u64 ^ i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        };
        requests.iter().map(value).collect()
    }
}

/// Microseconds that `work` takes: of this thread where the system tells, so that a busy machine counts less.
fn microseconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let on_cpu = || {
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        times.split(' ').next()?.parse::<f64>().ok()
    };
    let (start, wall) = (on_cpu(), Instant::now());
    let done = work();
    let wall = wall.elapsed().as_secs_f64() * 1e6;
    (done, on_cpu().zip(start).map_or(wall, |(end, start)| (end - start) / 1e3))
}

/// A stage with the program it starts from.
struct Case {
    stage: Stage,
    start: Program,
}

impl Case {
    fn new(curriculum: &str, number: usize, start: &str) -> Case {
        let curriculum = Curriculum::named(curriculum).expect("a name").expect("a curriculum");
        let mut stage = curriculum.stages[number].0.clone();
        // Nothing is run: small instances are drawn faster.
        stage.families.iter_mut().for_each(|family| (family.rows, family.cols) = (60, 5));
        let start = Entry::named(start).map_or(curriculum.start, |entry| entry.document.program.clone());
        Case { stage, start }
    }

    /// A search of so many playouts, with its time and what the drafts take besides the graph.
    fn search(&self, method: Method, budget: u64) -> (Outcome<Program>, f64, usize) {
        let (known, problems) = (Known::default(), Problems::default());
        let bench = Bench::new(&self.stage, InstanceSet::Search, 0, 0, &known, &problems).expect("a family");
        let space = Space {
            stage: &self.stage,
            start: &self.start,
            merge: Merge::Canonical,
            bench: &bench,
            front: None,
        };
        let domain = Free(Insertions::new(space));
        let confidence = Confidence::default();
        let tuning = Tuning {
            exploration: 0.5,
            released: false,
            backup: None,
            patient: false,
            skip_closed: false,
            return_to_root: false,
            decision: None,
            budget,
            evaluations: None,
            confidence,
            keep: 5,
        };
        let (outcome, time) = microseconds(|| method.search(&domain, &tuning, &Stream::new(0), &mut Silent));
        (outcome, time, domain.0.memory().1)
    }

    /// Searches with more and more playouts, to graphs of 1,000, 10,000 and 100,000 nodes.
    fn report(&self, method: Method) {
        let mut budget = 32;
        for nodes in [1_000, 10_000, 100_000] {
            let (outcome, time, drafts) = loop {
                let found = self.search(method, budget);
                if found.0.size.nodes >= nodes || found.0.counters.playouts < budget || budget > 1 << 20 {
                    break found;
                }
                budget += budget / 2;
            };
            let (counters, size) = (outcome.counters, outcome.size);
            println!(
                "{:16} {:9} {:>8} nodes {:>8} edges {:>8} playouts {:7.1} µs a playout {:6.2} µs a node \
                 {:5} bytes a node {:3} an edge  {}",
                self.stage.name,
                method.name(),
                size.nodes,
                size.edges,
                counters.playouts,
                time / counters.playouts as f64,
                time / size.nodes as f64,
                (size.bytes + drafts) / size.nodes,
                size_of::<rl4rla::search::Edge>(),
                outcome.stop,
            );
        }
    }
}

/// The time to list the legal edits of states met on random walks of `edits` insertions, and their number.
fn legal(grammar: &Grammar, start: &Program, edits: usize, label: &str) {
    let mut editor = Editor::new(grammar, start);
    let root = editor.words(grammar.state(start).program());
    let (mut found, mut count, mut states, mut length) = (Vec::new(), 0, 0, 0);
    let (_, time) = microseconds(|| {
        for walk in 0..4_000usize {
            let mut words = root.clone();
            for left in (1..=edits).rev() {
                editor.legal(&words, left, &mut found);
                (states, count, length) = (states + 1, count + found.len(), length + words.len() - 1);
                let Some(&edit) =
                    found.get(walk.wrapping_mul(0x9E37_79B9).rotate_left(7) % found.len().max(1))
                else {
                    break;
                };
                let mut next = Vec::new();
                editor.edit(&words, edit, &mut next);
                words = next;
            }
        }
    });
    println!(
        "{label:34} {:6.2} µs a state, {:6.1} edits, {:5.1} instructions",
        time / f64::from(states),
        count as f64 / f64::from(states),
        length as f64 / f64::from(states)
    );
}

fn main() {
    let cases = [
        Case::new("newton-sketch", 2, "logistic-gd"),
        Case::new("free/gram-sketched", 0, ""),
        Case::new("free/qr-sketched", 0, ""),
    ];
    for case in &cases {
        for method in [Method::McgsUcd, Method::Mcts, Method::Best] {
            case.report(method);
        }
    }
    let newton = &cases[0];
    for (operators, label) in [(7, "its own 7 operators"), (17, "the paper's 17"), (23, "all 23")] {
        let mut grammar = newton.stage.grammar.clone();
        if operators > 7 {
            grammar.operators = Op::known().take(operators).collect();
        }
        legal(&grammar, &newton.start, newton.stage.edits, &format!("newton, {label}"));
    }
    for edits in [2, 4, 6, 8] {
        let case = &cases[2];
        legal(&case.stage.grammar, &case.start, edits, &format!("{}, {edits} edits", case.stage.name));
    }
}
