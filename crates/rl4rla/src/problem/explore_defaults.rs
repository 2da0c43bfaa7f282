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
        reference: "QR",
    };
}
