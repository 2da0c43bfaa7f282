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
mod table_html;
#[cfg(test)]
mod testing;
mod ticks;

pub use crate::statistics::{Rate, Spread};
pub use diagram::{Diagram, DiagramNode, Role};
pub use document::{Block, Finding, ReportPage, ReportSection};
pub use figure::{Axis, AxisScale, Figure, Ink, Label, Marker, Panel, Series, Shades};
pub use html::style_sheet;
pub use numbers::{duration, exact, number};
pub use table::{Align, Cell, Column, Table};
