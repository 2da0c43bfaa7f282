//! How `solve` may treat the problems of a task.

/// How `solve` may treat the problems of a task, and how it recognizes a solution. The default assumes nothing: see
/// [`Solving::CAUTIOUS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solving {
    /// How the step size is determined, and when a run may stop.
    pub stopping: Stopping,
    /// Whether scaling a column of A, and its entry of x inversely, gives an equivalent problem.
    pub scales_columns: bool,
    /// Whether the data may stay in a file: [`pose_unsolved`](super::Task::pose_unsolved),
    /// [`measure`](super::Task::measure), [`optimality`](super::Task::optimality) and
    /// [`objection`](super::Task::objection) use A only in products with vectors.
    pub streams: bool,
    /// Whether the mean of the iterates is also a valid result, and a better one if iterations draw samples.
    pub averages: bool,
    /// Whether subtracting a constant from b changes only the intercept, if A has one.
    pub centres_target: bool,
}

/// How the step size is determined, and when a run may stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopping {
    /// Stop when [`optimality`](super::Task::optimality) is at most the tolerance; every iteration has a line search
    /// on the loss. For any task.
    Optimality,
    /// Stop by a certificate: a triangular factor R of A turns a gradient into ‖A(x − x*)‖ and shows which columns
    /// are dependent. One step size, from a pilot run, is used for the whole run. Only for min ‖Ax − b‖ over all x,
    /// starting from x = 0.
    Certificate,
}

impl Solving {
    /// Data in memory and unscaled, the last iterate, and the task's optimality measure: valid for every task.
    pub const CAUTIOUS: Solving = Solving {
        stopping: Stopping::Optimality,
        scales_columns: false,
        streams: false,
        averages: false,
        centres_target: false,
    };
}
