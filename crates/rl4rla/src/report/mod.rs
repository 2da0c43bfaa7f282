//! Reports: what was found, as tables, figures and one page that needs nothing else.
//!
//! Figures and tables are data first; how they look is decided in one place, for `report` and `reproduce` alike.

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
