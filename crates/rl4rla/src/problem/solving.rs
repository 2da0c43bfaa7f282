//! What `solve` may do with the problems of a task.

/// What `solve` may do with the problems of a task, and by what it knows a solution. A task that says nothing promises
/// nothing: see [`Solving::CAUTIOUS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solving {
    /// How a run finds its step size, and when it may end.
    pub stopping: Stopping,
    /// Whether a column of A may be in other units, and its entry of x in their inverse: the same problem.
    pub scales_columns: bool,
    /// Whether the data may stay in a file: [`pose_unsolved`](super::Task::pose_unsolved),
    /// [`measure`](super::Task::measure), [`optimality`](super::Task::optimality) and
    /// [`objection`](super::Task::objection) meet A in products with vectors alone.
    pub streams: bool,
    /// Whether the mean of iterates is a result too, and a better one where iterations draw samples.
    pub averages: bool,
    /// Whether a constant may be subtracted from b where A has an intercept: the same problem but for that coefficient.
    pub centres_target: bool,
}

/// How a run finds its step size, and when it may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopping {
    /// By [`optimality`](super::Task::optimality), at most the tolerance. Every iteration searches its step by the loss. For
    /// any task.
    Optimality,
    /// By a certificate: a triangle R of A turns a gradient into ‖A(x − x*)‖, and tells which columns depend on each other.
    /// One step, from a pilot run, serves the whole run. For min ‖Ax − b‖ over all x from x = 0, and nothing else.
    Certificate,
}

impl Solving {
    /// Data in memory and in their own units, the last iterate, and the task's optimality: right for every task.
    pub const CAUTIOUS: Solving = Solving {
        stopping: Stopping::Optimality,
        scales_columns: false,
        streams: false,
        averages: false,
        centres_target: false,
    };
}
