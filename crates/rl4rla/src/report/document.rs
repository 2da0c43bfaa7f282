//! A document: sections of blocks, rendered as one HTML page.

use super::{Diagram, Figure, Table};

/// A discovered program and its properties.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Finding {
    /// Name of the program.
    pub name: String,
    /// Whether it is equivalent to the target.
    pub found: bool,
    /// Its equation.
    pub equation: String,
    /// Its code.
    pub code: String,
    /// Named properties: reward, evidence, cost.
    pub facts: Vec<(String, String)>,
    /// Its convergence history, if there is one.
    pub figure: Option<Figure>,
}

/// A piece of a section.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// A paragraph; `` `code` `` is rendered as in Markdown.
    Text(String),
    /// A highlighted remark.
    Remark(String),
    /// A command or a file, in monospace.
    Code(String),
    /// A list of names and values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// A diagram.
    Diagram(Diagram),
    /// A discovered program.
    Finding(Box<Finding>),
    /// Collapsed blocks with a title.
    Folded(String, Vec<Block>),
}

/// A section.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportSection {
    /// Anchor: the part of a URL after `#`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A whole page.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportPage {
    /// Its title.
    pub title: String,
    /// What it is, in a sentence or two.
    pub lead: String,
    /// Its sections.
    pub sections: Vec<ReportSection>,
    /// Version, command and machine that produced it.
    pub colophon: Vec<(String, String)>,
}
