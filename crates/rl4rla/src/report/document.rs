//! A document: sections of blocks, to become one page.

use super::{Diagram, Figure, Table};

/// A discovered program with everything known of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Finding {
    /// What it is called.
    pub name: String,
    /// Whether it is what was looked for.
    pub found: bool,
    /// Its equation.
    pub equation: String,
    /// Its code.
    pub code: String,
    /// What speaks for it: reward, evidence, cost, each with its name.
    pub facts: Vec<(String, String)>,
    /// Its convergence history, if there is one.
    pub figure: Option<Figure>,
}

/// A piece of a section.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// A paragraph. `` `code` `` stands in it as in Markdown.
    Text(String),
    /// A remark the reader should not miss.
    Remark(String),
    /// Something to type, or a file.
    Code(String),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// A diagram.
    Diagram(Diagram),
    /// A discovered program.
    Finding(Box<Finding>),
    /// Blocks that are folded away until they are asked for, under a title.
    Folded(String, Vec<Block>),
}

/// A section.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportSection {
    /// What leads to it: the part of an address behind `#`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// Everything on one page.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportPage {
    /// Its title.
    pub title: String,
    /// What it is, in a sentence or two.
    pub lead: String,
    /// Its sections.
    pub sections: Vec<ReportSection>,
    /// How it was made: version, command, machine.
    pub colophon: Vec<(String, String)>,
}
