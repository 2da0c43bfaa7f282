//! Tables as data, for the terminal, CSV files and pages.

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// For text.
    Left,
    /// For numbers.
    Right,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// Its alignment.
    pub align: Align,
}

impl Column {
    /// A column of text.
    pub fn words(head: impl Into<String>) -> Column {
        Column { head: head.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn numbers(head: impl Into<String>) -> Column {
        Column { head: head.into(), align: Align::Right }
    }
}

/// A cell: its text, and the number behind it if there is one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cell {
    /// The text as displayed.
    pub text: String,
    /// The number at full precision, for the CSV file.
    pub value: Option<f64>,
    /// Whether it is highlighted, for instance as the best of its row.
    pub strong: bool,
}

impl Cell {
    /// A number with its display text.
    pub fn number(value: f64, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: Some(value), strong: false }
    }

    /// The same cell, highlighted.
    #[must_use]
    pub fn strong(mut self) -> Cell {
        self.strong = true;
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), value: None, strong: false }
    }
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Base name of its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Explanation, and how the data were produced.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, in groups separated by lines.
    pub groups: Vec<Vec<Vec<Cell>>>,
    /// Notes below the table.
    pub notes: Vec<String>,
}

impl Table {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.groups.iter().flatten()
    }
}
