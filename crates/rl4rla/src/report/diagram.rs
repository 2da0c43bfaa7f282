//! Diagrams: boxes joined by arrows from left to right, such as a tree of methods.

/// What a box stands for, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A step on the way.
    Base,
    /// Sketch-and-precondition.
    Precondition,
    /// Sketch-and-project.
    Project,
    /// Sketch-and-solve.
    Solve,
    /// Newton Sketch.
    Newton,
    /// Anything else.
    Other,
}

/// A box.
#[derive(Clone, PartialEq, Debug)]
pub struct DiagramNode {
    /// Its first line.
    pub title: String,
    /// What stands below it, smaller.
    pub remark: String,
    /// Its colour.
    pub role: Role,
    /// Where it stands, from the left.
    pub column: usize,
    /// Where it stands, from the top; halves are allowed.
    pub row: f64,
}

/// Boxes and the arrows between them.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagram {
    /// The name of its files.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// The boxes.
    pub nodes: Vec<DiagramNode>,
    /// From which box to which, and what stands at the arrow.
    pub arrows: Vec<(usize, usize, String)>,
    /// What each role is called, for the legend; those not named here have no line in it.
    pub legend: Vec<(Role, String)>,
}
