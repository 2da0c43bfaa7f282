//! What classical solvers cost: passes over A and flops.

use crate::execute::SketchKind;

/// What a solver costs on an m×n matrix. Products with A or Aᵀ and sketches of A are passes, as for programs.
pub struct SolverCost {
    /// The name of the baseline.
    pub name: &'static str,
    /// Passes before the first iteration, and in every iteration.
    pub passes: [f64; 2],
    /// Flops of both, given m and n.
    pub flops: fn(f64, f64) -> [f64; 2],
    /// Whether its sketch has several rows for each column: of a square matrix it would have as many as the matrix.
    pub needs_tall: bool,
    /// Whether its own stopping rule starts a refinement, so that it has to keep it.
    pub refines: bool,
}

/// A direct solver that reads A once.
const DIRECT: SolverCost =
    SolverCost { name: "", passes: [1.0, 0.0], flops: |_, _| [0.0; 2], needs_tall: false, refines: false };

/// The solvers of every task: direct, iterative, sketched. Those of ridge regression also take ‖p‖² and λx in an
/// iteration, those of positive definite systems λp.
pub static SOLVERS: [SolverCost; 12] = [
    SolverCost { name: "qr", flops: |m, n| [qr(m, n), 0.0], ..DIRECT },
    SolverCost {
        name: "normal-equations",
        passes: [2.0, 0.0],
        flops: |m, n| [m * n * n + 2.0 * m * n + cholesky(n), 0.0],
        ..DIRECT
    },
    // The vectors of an iteration take 3m + 5n multiplications (Paige and Saunders 1982).
    SolverCost {
        name: "lsqr",
        passes: [1.0, 2.0],
        flops: |m, n| [2.0 * m * n, 4.0 * m * n + 6.0 * m + 10.0 * n],
        ..DIRECT
    },
    SolverCost {
        name: "cgls",
        passes: [1.0, 2.0],
        flops: |m, n| [2.0 * m * n, 4.0 * m * n + 4.0 * m + 6.0 * n],
        ..DIRECT
    },
    // A sketch of [A b], its QR, the residual and the gradient at the start.
    SolverCost {
        name: "blendenpik",
        passes: [3.0, 2.0],
        flops: |m, n| [sketched(m, n, 4.0) + 4.0 * m * n, 4.0 * m * n + 2.0 * n * n + 6.0 * m + 10.0 * n],
        needs_tall: true,
        ..DIRECT
    },
    // The same, for both refinements.
    SolverCost {
        name: "fossils",
        passes: [5.0, 2.0],
        flops: |m, n| [sketched(m, n, 12.0) + 8.0 * m * n, 4.0 * m * n + 2.0 * n * n + 6.0 * n],
        needs_tall: true,
        refines: true,
    },
    SolverCost { name: "ridge-qr", flops: |m, n| [qr(m + n, n), 0.0], ..DIRECT },
    SolverCost {
        name: "ridge-cgls",
        passes: [1.0, 2.0],
        flops: |m, n| [2.0 * m * n, 4.0 * m * n + 4.0 * m + 10.0 * n],
        ..DIRECT
    },
    // A sketch of A, the QR of it on top of √λ·I, and two triangular solves for every gradient.
    SolverCost {
        name: "ridge-pcgls",
        passes: [2.0, 2.0],
        flops: |m, n| {
            let rows = (4.0 * n).min(m);
            let solves = 2.0 * n * n;
            let setup = sketch(rows, m, n) + qr(rows + n, n) + 2.0 * m * n + solves;
            [setup, 4.0 * m * n + solves + 4.0 * m + 10.0 * n]
        },
        needs_tall: true,
        ..DIRECT
    },
    SolverCost { name: "cholesky", flops: |_, n| [cholesky(n), 0.0], ..DIRECT },
    // The first residual is b itself.
    SolverCost { name: "cg", passes: [0.0, 1.0], flops: |_, n| [0.0, 2.0 * n * n + 12.0 * n], ..DIRECT },
    // Y = SA, SYᵀ, the lower half of YYᵀ and a Cholesky factor; for every residual, products with Y and Yᵀ and two
    // triangular solves.
    SolverCost {
        name: "nystrom-pcg",
        passes: [1.0, 1.0],
        flops: |_, n| {
            let rows = (0.15 * n).round().max(1.0);
            let applied = 4.0 * rows * n + 2.0 * rows * rows + n;
            let setup =
                sketch(rows, n, n) + sketch(rows, n, rows) + rows * rows * n + cholesky(rows) + applied;
            [setup, 2.0 * n * n + applied + 12.0 * n]
        },
        ..DIRECT
    },
];

fn qr(m: f64, n: f64) -> f64 {
    2.0 * m * n * n - 2.0 / 3.0 * n.powi(3)
}

fn cholesky(n: f64) -> f64 {
    n.powi(3) / 3.0
}

/// Flops of a sparse sketch of this many rows of an m×n matrix.
fn sketch(rows: f64, m: f64, n: f64) -> f64 {
    SketchKind::Sjlt.work(rows as usize, m as usize) * m * n
}

/// Flops of a sparse sketch of [A b] of this many rows per column, and of its QR.
fn sketched(m: f64, n: f64, factor: f64) -> f64 {
    let rows = (factor * n).min(m);
    sketch(rows, m, n + 1.0) + qr(rows, n)
}
