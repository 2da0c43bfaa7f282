//! Diagrams: boxes joined by arrows from left to right, such as a tree of methods.

/// The role of a box, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// An intermediate step.
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
    /// Smaller text below the title.
    pub remark: String,
    /// Its colour.
    pub role: Role,
    /// Column, counted from the left.
    pub column: usize,
    /// Row, counted from the top; halves are allowed.
    pub row: f64,
}

/// Boxes and the arrows between them.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagram {
    /// Base name of its files.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Explanation below the diagram.
    pub caption: String,
    /// The boxes.
    pub nodes: Vec<DiagramNode>,
    /// Arrows: source, target and label.
    pub arrows: Vec<(usize, usize, String)>,
    /// Names of the roles, for the legend; roles that are not listed are left out of it.
    pub legend: Vec<(Role, String)>,
}
