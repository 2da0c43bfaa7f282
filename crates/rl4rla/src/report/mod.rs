//! Reports: tables, figures and a self-contained HTML page.
//!
//! Figures and tables are data; the code that renders them is shared by `report` and `reproduce`.

mod csv;
mod diagram;
mod document;
mod drawing;
mod figure;
mod files;
mod heat;
mod html;
mod labels;
mod numbers;
mod palette;
mod panel;
mod plot;
mod strokes;
mod svg;
mod table;
#[cfg(test)]
mod testing;
mod ticks;

pub use crate::spread::{Rate, Spread};
pub use diagram::{Diagram, Node, Role};
pub use document::{Block, Document, Finding, Section};
pub use figure::{Axis, Figure, Ink, Label, Mark, Panel, Scale, Series, Shades};
pub use numbers::{duration, exact, number};
pub use table::{Align, Cell, Column, Table};
