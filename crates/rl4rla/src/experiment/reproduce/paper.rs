//! The numbers reported in the paper, as data.

use crate::search::Method;

/// The paper's methods with its names for them.
pub const METHODS: [(Method, &str); 3] =
    [(Method::Mcts, "MCTS"), (Method::McgsUct, "MCGS+UCT"), (Method::McgsUcd, "MCGS+UCD")];

/// The cost of a search: means over 20 runs.
#[derive(Clone, Copy)]
pub struct PaperCost {
    pub playouts: f64,
    pub seconds: f64,
    /// Success rate.
    pub found: f64,
}

const fn cost(playouts: f64, seconds: f64, found: f64) -> PaperCost {
    PaperCost { playouts, seconds, found }
}

/// A row of the table of end-to-end efficiency, method by method.
pub struct EfficiencyRow {
    /// Our curriculum for it.
    pub curriculum: &'static str,
    pub title: &'static str,
    pub costs: [PaperCost; 3],
}

/// Table 2: end-to-end curriculum completion.
pub const TARGETS: [EfficiencyRow; 5] = [
    EfficiencyRow {
        curriculum: "precond-weighted-sgd",
        title: "Preconditioned Weighted SGD",
        costs: [cost(34902.0, 380.7, 0.75), cost(13037.0, 193.2, 0.80), cost(10721.0, 191.1, 0.80)],
    },
    EfficiencyRow {
        curriculum: "block-kaczmarz",
        title: "Block Randomized Kaczmarz",
        costs: [cost(66468.0, 468.0, 0.75), cost(38469.0, 307.8, 0.80), cost(25158.0, 205.0, 0.75)],
    },
    EfficiencyRow {
        curriculum: "subsampled-ls-gd",
        title: "Subsampled Least Square GD",
        costs: [cost(15847.0, 10.4, 0.75), cost(7230.0, 8.3, 0.80), cost(5061.0, 8.9, 0.80)],
    },
    EfficiencyRow {
        curriculum: "sketched-precond-gd",
        title: "Sketched Preconditioned GD",
        costs: [cost(17655.0, 142.9, 0.75), cost(8030.0, 54.8, 0.80), cost(6034.0, 58.4, 0.75)],
    },
    EfficiencyRow {
        curriculum: "newton-sketch",
        title: "Newton Sketch",
        costs: [cost(2557.0, 5949.6, 1.0), cost(2682.0, 5265.4, 1.0), cost(1416.0, 4480.9, 1.0)],
    },
];

/// The four curricula on linear systems: all but the last.
pub fn linear() -> &'static [EfficiencyRow] {
    &TARGETS[..4]
}

/// A row of the table of stage-wise cost.
pub struct Transition {
    pub curriculum: &'static str,
    /// Our stage that it ends with.
    pub stage: &'static str,
    pub costs: [PaperCost; 3],
}

const LANDWEBER: [PaperCost; 3] = [cost(9371.0, 0.6, 0.75), cost(4651.0, 0.3, 0.80), cost(2632.0, 0.2, 0.80)];
const LS_GD: [PaperCost; 3] = [cost(1032.0, 0.4, 1.0), cost(464.0, 0.4, 1.0), cost(453.0, 0.4, 1.0)];
const PRECOND: [PaperCost; 3] = [cost(4456.0, 7.8, 1.0), cost(1999.0, 7.9, 1.0), cost(1999.0, 7.9, 1.0)];

const fn row(curriculum: &'static str, stage: &'static str, costs: [PaperCost; 3]) -> Transition {
    Transition { curriculum, stage, costs }
}

/// The table of stage-wise cost.
pub const TRANSITIONS: [Transition; 15] = [
    row("precond-weighted-sgd", "landweber", LANDWEBER),
    row("precond-weighted-sgd", "ls-gd", LS_GD),
    row("precond-weighted-sgd", "precond-gd", PRECOND),
    row(
        "precond-weighted-sgd",
        "sketched-precond-gd",
        [cost(11691.0, 366.3, 1.0), cost(3044.0, 179.7, 1.0), cost(2800.0, 177.4, 1.0)],
    ),
    row(
        "precond-weighted-sgd",
        "precond-weighted-sgd",
        [cost(8353.0, 5.6, 1.0), cost(2880.0, 4.9, 1.0), cost(2838.0, 5.2, 1.0)],
    ),
    row("block-kaczmarz", "landweber", LANDWEBER),
    row("block-kaczmarz", "ls-gd", LS_GD),
    row(
        "block-kaczmarz",
        "block-kaczmarz",
        [cost(56066.0, 467.0, 1.0), cost(33354.0, 307.1, 1.0), cost(22074.0, 204.4, 0.95)],
    ),
    row("subsampled-ls-gd", "landweber", LANDWEBER),
    row("subsampled-ls-gd", "ls-gd", LS_GD),
    row(
        "subsampled-ls-gd",
        "subsampled-ls-gd",
        [cost(5445.0, 9.4, 1.0), cost(2115.0, 7.6, 1.0), cost(1977.0, 8.3, 1.0)],
    ),
    row("sketched-precond-gd", "landweber", LANDWEBER),
    row("sketched-precond-gd", "ls-gd", LS_GD),
    row("sketched-precond-gd", "precond-gd", PRECOND),
    row(
        "sketched-precond-gd",
        "sketched-precond-gd",
        [cost(2796.0, 134.1, 1.0), cost(916.0, 46.2, 1.0), cost(951.0, 49.9, 0.95)],
    ),
];

/// A row of the curriculum tree: MCGS+UCD, median and interquartile range of playouts, success rate.
pub struct TreeRow {
    pub title: &'static str,
    pub curriculum: &'static str,
    pub stage: &'static str,
    pub distance: usize,
    pub median: f64,
    pub iqr: f64,
    pub found: f64,
}

const fn edge(
    title: &'static str,
    curriculum: &'static str,
    stage: &'static str,
    distance: usize,
    [median, iqr, found]: [f64; 3],
) -> TreeRow {
    TreeRow { title, curriculum, stage, distance, median, iqr, found }
}

/// The curriculum tree. Edges that are on several paths are taken from the first.
pub const EDGES: [TreeRow; 11] = [
    edge("∅ → Landweber", "subsampled-ls-gd", "landweber", 2, [1238.0, 2013.0, 0.80]),
    edge("Landweber → LS-GD", "subsampled-ls-gd", "ls-gd", 1, [451.0, 9.0, 1.0]),
    edge("LS-GD → Subsampled LS-GD", "subsampled-ls-gd", "subsampled-ls-gd", 2, [1969.0, 32.0, 1.0]),
    edge("LS-GD → preconditioner R1", "sketched-precond-gd", "preconditioner", 3, [1730.0, 27.0, 0.70]),
    edge("R1 → Precond GD", "sketched-precond-gd", "precond-gd", 1, [1999.0, 0.0, 1.0]),
    edge(
        "Precond GD → Sketched Precond GD",
        "sketched-precond-gd",
        "sketched-precond-gd",
        2,
        [904.0, 2.0, 0.95],
    ),
    edge(
        "Precond GD → Sketched Precond GD, for Weighted SGD",
        "precond-weighted-sgd",
        "sketched-precond-gd",
        2,
        [2390.0, 1636.0, 1.0],
    ),
    edge(
        "Sketched Precond GD → subsampling",
        "precond-weighted-sgd",
        "sketched-precond-sgd",
        1,
        [626.0, 0.0, 1.0],
    ),
    edge(
        "subsampling → Precond Weighted SGD",
        "precond-weighted-sgd",
        "precond-weighted-sgd",
        1,
        [2836.0, 543.0, 1.0],
    ),
    edge("LS-GD → sketch-and-project base", "block-kaczmarz", "sgd", 1, [5731.0, 110.0, 1.0]),
    edge("sketch-and-project base → Block RK", "block-kaczmarz", "block-kaczmarz", 3, [20979.0, 799.0, 0.95]),
];

/// Table 1: the algorithm of each stage, by our stage that finds it.
pub const PROGRESSION: [(&str, &str); 6] = [
    ("landweber", "Landweber iteration"),
    ("ls-gd", "Gradient Descent (GD)"),
    ("precond-gd", "Preconditioned GD"),
    ("sketched-precond-gd", "Sketched Preconditioned GD"),
    ("sketched-precond-sgd", "Uniform Subsampling"),
    ("precond-weighted-sgd", "Leverage-Score Subsampling"),
];

/// The ablation of Newton Sketch: our curriculum, the paper's wording, its success rate if reported.
pub const ABLATION: [(&str, &str, Option<f64>); 6] = [
    ("ablation/none", "No curriculum", Some(0.0)),
    ("ablation/forward-newton", "Partial: Forward Pass → Full Newton", Some(0.0)),
    ("ablation/forward-newton-sketch", "Partial: Forward Pass → Newton Sketch", Some(0.0)),
    ("ablation/gd-newton-sketch", "Partial: GD → Newton Sketch", Some(0.0)),
    ("ablation/four-stages", "Full: Forward Pass → GD → Full Newton → Newton Sketch", Some(1.0)),
    (
        "paper/newton-sketch",
        "One stage more: Forward Pass → GD → fixed Hessian → Full Newton → Newton Sketch",
        None,
    ),
];

/// The eigenvalue curriculum: stage, size, condition, algorithm.
pub const EIGENVALUE: [(&str, &str, &str, &str, f64); 3] = [
    ("power-iteration", "n = 5", "2", "Power iteration", 1.0),
    ("power-iteration-50", "n = 50", "10²", "Power iteration", 1.0),
    ("sketched-power-iteration", "n = 500", "10²", "Sketched power iteration", 1.0),
];

/// The revisit ratio of MCGS by number of operators and length; `None` if not reported.
pub const SCALABILITY: [(usize, [Option<f64>; 3]); 3] = [
    (17, [Some(0.578), Some(0.530), Some(0.520)]),
    (20, [Some(0.578), Some(0.527), None]),
    (25, [Some(0.533), Some(0.499), None]),
];

/// The lengths of its columns.
pub const LENGTHS: [usize; 3] = [8, 10, 12];

/// YearPredictionMSD: program, residual, seconds.
pub const YEAR: [(&str, f64, f64); 4] = [
    ("precond-gd", 8.69e-1, 85.64),
    ("sketched-precond-gd", 8.69e-1, 103.46),
    ("precond-weighted-sgd", 9.13e-1, 92.22),
    ("block-kaczmarz", 9.19e-1, 159.14),
];
