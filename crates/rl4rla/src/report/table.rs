//! Tables as data: printed in a terminal, written as CSV, set in a page.

/// On which side the cells of a column stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// On which side its cells stand.
    pub align: Align,
}

impl Column {
    /// A column of words.
    pub fn words(head: impl Into<String>) -> Column {
        Column { head: head.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn numbers(head: impl Into<String>) -> Column {
        Column { head: head.into(), align: Align::Right }
    }
}

/// A cell: what is read, and the number behind it if there is one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cell {
    /// As it is read.
    pub text: String,
    /// As it was computed, for the CSV file.
    pub value: Option<f64>,
    /// Whether it is set off from the others: the best of its row, say.
    pub strong: bool,
}

impl Cell {
    /// A number, and how it is read.
    pub fn number(value: f64, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: Some(value), strong: false }
    }

    /// The same, set off from the others.
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
    /// The name of its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What to see in it, and how it was made.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, in groups that a line separates.
    pub groups: Vec<Vec<Vec<Cell>>>,
    /// What must be said below it.
    pub notes: Vec<String>,
}

impl Table {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.groups.iter().flatten()
    }
}
