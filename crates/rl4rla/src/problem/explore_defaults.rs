//! What an exploration of a task assumes unless it is told.

/// The options of an exploration that depend on the task.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExploreDefaults {
    /// Condition numbers of the problems.
    pub conditions: &'static [f64],
    /// Most instructions of a direction.
    pub edits: usize,
    /// Columns of the problems that candidates are searched on.
    pub search_cols: usize,
    /// Iterations after which a run is given up.
    pub limit: usize,
    /// Whether directions may be sums of vectors; otherwise differences of points are the only sums. A sum of vectors
    /// would need a coefficient, and long directions leave no room for it.
    pub sums: bool,
    /// Whether the task's own operators for matrices come on top of those of linear algebra; otherwise they take their
    /// place.
    pub adds_operators: bool,
    /// Most instructions around a good direction, such as those of a preconditioner; 0 if directions are good as they
    /// are enumerated.
    pub wraps: usize,
    /// Rows of a sketch of a square problem in the search, as a multiple of n.
    pub square_sketch: f64,
    /// The reference method whose work rewards compare with.
    pub reference: &'static str,
}

impl ExploreDefaults {
    /// Linear systems and least squares.
    pub const LINEAR: ExploreDefaults = ExploreDefaults {
        conditions: &[10.0, 1e4, 1e8],
        edits: 7,
        search_cols: 60,
        limit: 200,
        sums: true,
        adds_operators: false,
        wraps: 0,
        square_sketch: 0.15,
        reference: "QR",
    };

    /// Problems with a shift λ: the gradient takes five instructions, and its preconditioner four more. A sketch that
    /// leaves a preconditioned problem nothing to do would hide what conjugate directions are worth.
    pub const SHIFTED: ExploreDefaults = ExploreDefaults {
        edits: 5,
        adds_operators: true,
        wraps: 4,
        square_sketch: 0.05,
        ..ExploreDefaults::LINEAR
    };
}
