//! Tables and figures as comma-separated values.

use super::{Axis, Cell, Figure, Marker, Shades, Table};
use crate::data::{csv_line as line, csv_number as number};

impl Table {
    /// The table as CSV: numbers at full precision, other cells as displayed.
    ///
    /// ```
    /// use rl4rla::report::{Cell, Column, Table};
    /// let columns = vec![Column::words("method"), Column::numbers("reward")];
    /// let row = vec!["best, of all".into(), Cell::number(1.0 / 3.0, "0.333")];
    /// let [name, title, caption] = ["t", "", ""].map(String::from);
    /// let table = Table { name, title, caption, columns, groups: vec![vec![row]], notes: vec![] };
    /// assert_eq!(table.csv(), "method,reward\r\n\"best, of all\",0.3333333333333333\r\n");
    /// ```
    pub fn csv(&self) -> String {
        let head = self.columns.iter().map(|column| column.head.clone());
        let cell = |cell: &Cell| cell.value.map_or_else(|| cell.text.clone(), number);
        let rows = self.rows().map(|row| line(row.iter().map(cell)));
        line(head) + &rows.collect::<String>()
    }
}

impl Figure {
    /// All points as CSV, one per line with its panel and series; bands have an extra column for the upper end, heat
    /// maps one for the value of each cell.
    pub fn csv(&self) -> String {
        let last = if self.heat().is_some() { "value" } else { "upper" };
        let mut text = line(["panel", "series", "x", "y", last].map(String::from));
        for panel in &self.panels {
            for series in &panel.series {
                for (place, [x, y]) in series.points.iter().enumerate() {
                    let more = match &series.mark {
                        Marker::Band(more) | Marker::Cells(Shades { values: more, .. }) => {
                            more.get(place).copied().map(number)
                        }
                        _ => None,
                    };
                    let (title, name) = (panel.title.clone(), series.name.clone());
                    let [x, y] = [(&panel.x, *x), (&panel.y, *y)].map(|(axis, at)| coordinate(axis, at));
                    text += &line([title, name, x, y, more.unwrap_or_default()]);
                }
            }
        }
        text
    }
}

/// Coordinate of a point on an axis: the name of its class, or a number.
fn coordinate(axis: &Axis, at: f64) -> String {
    axis.classes.get(at as usize).cloned().unwrap_or_else(|| number(at))
}

#[cfg(test)]
mod tests {
    use super::super::testing::figure;
    use super::*;
    use crate::report::Column;
    use proptest::prelude::*;

    /// The cells of a CSV file.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell) = (vec![], vec![], String::new());
        let mut quoted = false;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '"' if quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted => {}
                '\n' if !quoted => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                c => cell.push(c),
            }
        }
        rows
    }

    fn table(words: Vec<String>, values: Vec<f64>) -> Table {
        let row = |(word, value): (String, f64)| vec![word.into(), Cell::number(value, "about that")];
        Table {
            name: "t".into(),
            title: String::new(),
            caption: String::new(),
            columns: vec![Column::words("a \"word\", quoted"), Column::numbers("value")],
            groups: vec![words.into_iter().zip(values).map(row).collect()],
            notes: vec![],
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            rows in prop::collection::vec(("[ -~\\r\\n\",é]{0,8}", any::<f64>()), 0..6),
        ) {
            let (words, values): (Vec<String>, Vec<f64>) = rows.into_iter().unzip();
            let back = read(&table(words.clone(), values.clone()).csv());
            prop_assert_eq!(&back[0], &["a \"word\", quoted", "value"]);
            for (row, (word, value)) in back[1..].iter().zip(words.iter().zip(values)) {
                prop_assert_eq!(&row[0], word);
                let number: f64 = row[1].parse().unwrap();
                prop_assert!(number.to_bits() == value.to_bits() || number.is_nan() && value.is_nan());
            }
        }
    }

    #[test]
    fn a_figure_becomes_one_line_for_each_point() {
        let rows = read(&figure().csv());
        assert_eq!(rows.len(), 81);
        assert_eq!(rows[1], ["κ = 100 & \"more\"", "quartiles", "0", "0.5", "2"]);
        assert_eq!(rows[41], ["κ = 100 & \"more\"", "ls-gd <1>", "0", "1", ""]);
    }
}
