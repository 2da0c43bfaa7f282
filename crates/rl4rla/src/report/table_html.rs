//! A table as HTML: a table where it fits, and where it does not a card for each row, by style alone.
//!
//! The markup, which `table.css` and `cards.css` style and which a page may as well build by script:
//!
//! ```html
//! <div class="rows">
//! <table role="table" class="at-26">
//! <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">method</th>…</tr></thead>
//! <tbody role="rowgroup" class="end">
//! <tr role="row"><th role="rowheader" scope="row" data-head="method">best</th><td role="cell" class="number" data-head="cost">5</td></tr>
//! </tbody>
//! </table>
//! </div>
//! ```
//!
//! `at-N`, one of `STEPS`, is the width in rem of the container below which rows become cards. Every cell of the body
//! repeats the heading of its column in `data-head`, which cards print. `number` aligns to the right, `long` lets
//! more than `SHORT` letters wrap, `same` marks a head equal to that of the row above, a row of class `group` is a
//! heading above the rows that follow, and the last body of a group of rows is of class `end`. Roles are spelled out,
//! because elements that are no longer displayed as a table lose theirs in some browsers.

use super::html::inline;
use super::svg::{escape, width};
use super::{Align, Cell, Table};

/// Widths of containers in rem below which tables become cards.
const STEPS: [u32; 7] = [20, 26, 34, 44, 56, 70, 90];
/// Cells with more letters wrap.
const SHORT: usize = 16;
/// Minimum widths of cells that wrap, in rem: of text, and of numbers. `table.css` has the same.
const WRAPPED: f64 = 8.5;
const WRAPPED_NUMBER: f64 = 6.5;
/// Gap between columns in rem, and the font size; widths of text are upper estimates, of which few fonts need more.
const GAP: f64 = 0.8;
const FONT: f64 = 0.9 * 0.94;
/// The font size of headings, which are bold.
const HEAD: f64 = 0.85;
/// Further gap between numbers and text that follows them.
const APART: f64 = 0.4;

/// The style of tables and cards.
pub(super) fn rules() -> String {
    let cards =
        |step| format!("@container (width<{step}rem){{.at-{step}{{\n{}}}}}\n", include_str!("cards.css"));
    // Paper shows tables, in small type.
    format!("{}@media screen{{\n{}}}\n", include_str!("table.css"), STEPS.map(cards).concat())
}

impl Table {
    /// The table without its caption.
    pub(super) fn rows_html(&self) -> String {
        let shape = Shape::of(self);
        let bodies: String = self.groups.iter().map(|group| shape.group(group)).collect();
        format!(
            "<div class=\"rows\">\n<table role=\"table\" class=\"at-{}\">\n<thead role=\"rowgroup\">\n\
             <tr role=\"row\">{}</tr>\n</thead>\n{bodies}</table>\n</div>\n",
            shape.step(),
            shape.head()
        )
    }
}

/// How a table is laid out.
struct Shape<'a> {
    table: &'a Table,
    /// Whether rows share their first cell and are distinguished by text in the second: the first is then a heading
    /// above them, and the second the head of the row.
    headed: bool,
}

impl Shape<'_> {
    fn of(table: &Table) -> Shape<'_> {
        let shared = |group: &Vec<Vec<Cell>>| group.windows(2).any(|pair| pair[0].first() == pair[1].first());
        let words = table.columns.get(1).is_some_and(|column| column.align == Align::Left);
        let headed = table.columns.len() > 2 && words && table.groups.iter().any(shared);
        Shape { table, headed }
    }

    /// The place of the cell that names its row.
    fn first(&self) -> usize {
        usize::from(self.headed)
    }

    fn align(&self, place: usize) -> Align {
        self.table.columns.get(place).map_or(Align::Left, |column| column.align)
    }

    /// The heading of a column.
    fn name(&self, place: usize) -> String {
        match (self.table.columns.get(place), self.headed && place == 1) {
            (Some(column), true) => format!("{} · {}", self.table.columns[0].head, column.head),
            (column, _) => column.map_or(String::new(), |column| column.head.clone()),
        }
    }

    fn head(&self) -> String {
        let cell = |place| {
            let class = classes(&[("number", self.align(place) == Align::Right)]);
            format!("<th role=\"columnheader\" scope=\"col\"{class}>{}</th>", inline(&self.name(place)))
        };
        (self.first()..self.table.columns.len()).map(cell).collect()
    }

    /// A group of rows: a body for each run of rows with equal first cells.
    fn group(&self, rows: &[Vec<Cell>]) -> String {
        let mut bodies: Vec<&[Vec<Cell>]> = rows.chunk_by(|a, b| a.first() == b.first()).collect();
        if !self.headed {
            bodies = vec![rows];
        }
        let last = bodies.len().saturating_sub(1);
        let body = |(number, rows): (usize, &&[Vec<Cell>])| {
            let above = match rows.first().and_then(|row| row.first()) {
                Some(shared) if self.headed => format!(
                    "<tr role=\"row\" class=\"group\"><th role=\"rowheader\" scope=\"rowgroup\" colspan=\"{}\"{}>{}</th></tr>\n",
                    self.table.columns.len() - 1,
                    named(&self.table.columns[0].head),
                    words(shared)
                ),
                _ => String::new(),
            };
            let lines: String = (0..rows.len()).map(|number| self.row(rows, number)).collect();
            format!(
                "<tbody role=\"rowgroup\"{}>\n{above}{lines}</tbody>\n",
                classes(&[("end", number == last)])
            )
        };
        bodies.iter().enumerate().map(body).collect()
    }

    fn row(&self, rows: &[Vec<Cell>], number: usize) -> String {
        let first = self.first();
        let same = number > 0 && rows[number].get(first) == rows[number - 1].get(first);
        let cell = |(place, cell): (usize, &Cell)| {
            let (number, long) = (self.align(place) == Align::Right, is_long(cell));
            let class = classes(&[("number", number), ("long", long), ("same", same && place == first)]);
            // The heading above the rows has its own name.
            let head = named(self.table.columns.get(place).map_or("", |column| &column.head));
            match place == first {
                true => format!("<th role=\"rowheader\" scope=\"row\"{class}{head}>{}</th>", words(cell)),
                false => format!("<td role=\"cell\"{class}{head}>{}</td>", words(cell)),
            }
        };
        let cells: String = rows[number].iter().enumerate().skip(first).map(cell).collect();
        format!("<tr role=\"row\">{cells}</tr>\n")
    }

    /// The width below which rows become cards.
    fn step(&self) -> u32 {
        let needed: f64 = (self.first()..self.table.columns.len()).map(|place| self.needs(place)).sum();
        STEPS.into_iter().find(|step| f64::from(*step) >= needed).unwrap_or(STEPS[STEPS.len() - 1])
    }

    /// The width in rem that a column needs.
    fn needs(&self, place: usize) -> f64 {
        let longest_word =
            |text: &str, font: f64| text.split(' ').map(|word| width(word, font)).fold(0.0, f64::max);
        let least = match self.align(place) {
            Align::Left => WRAPPED,
            Align::Right => WRAPPED_NUMBER,
        };
        let cell = |row: &Vec<Cell>| match row.get(place) {
            Some(cell) if is_long(cell) => longest_word(&cell.text, FONT).max(least),
            cell => cell.map_or(0.0, |cell| width(&cell.text, FONT)),
        };
        let cells = self.table.rows().map(cell).fold(0.0, f64::max);
        // Text after numbers keeps a distance.
        let apart = place > 0 && self.align(place - 1) == Align::Right && self.align(place) == Align::Left;
        cells.max(longest_word(&self.name(place), HEAD)) + if apart { GAP + APART } else { GAP }
    }
}

fn is_long(cell: &Cell) -> bool {
    cell.text.chars().count() > SHORT
}

/// The heading of a column as an attribute.
fn named(head: &str) -> String {
    format!(" data-head=\"{}\"", escape(&head.replace('`', "")))
}

fn classes(all: &[(&str, bool)]) -> String {
    let on: Vec<&str> = all.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    if on.is_empty() { String::new() } else { format!(" class=\"{}\"", on.join(" ")) }
}

/// The text of a cell as HTML.
fn words(cell: &Cell) -> String {
    let text = inline(&cell.text);
    if cell.strong { format!("<strong>{text}</strong>") } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::super::testing::well_formed;
    use super::*;

    fn table(columns: Vec<Column>, groups: Vec<Vec<Vec<Cell>>>) -> Table {
        let [name, title, caption] = ["t", "", ""].map(String::from);
        Table { name, title, caption, columns, groups, notes: vec![] }
    }

    fn rows(second: Column) -> Table {
        let row = |method: &str, cost: &str| -> Vec<Cell> { ["GD", method, cost].map(Cell::from).into() };
        let columns = vec![Column::words("target"), second, Column::numbers("cost of `x` & \"y\"")];
        table(columns, vec![vec![row("mcts", "7"), row("best", "5")]])
    }

    #[test]
    fn rows_that_share_a_name_stand_below_it() {
        let html = rows(Column::words("method")).rows_html();
        well_formed(&html);
        assert!(html.contains("scope=\"col\">target · method</th>"), "{html}");
        assert_eq!(html.matches("colspan=\"2\" data-head=\"target\">GD</th>").count(), 1, "{html}");
        assert!(html.contains("scope=\"row\" data-head=\"method\">best</th>"), "{html}");
        assert_eq!(html.matches("<tbody role=\"rowgroup\" class=\"end\">").count(), 1, "{html}");
    }

    #[test]
    fn a_name_above_numbers_stays_in_every_row() {
        // A column of numbers distinguishes rows less well than the cell they share; a card needs both.
        let html = rows(Column::numbers("size")).rows_html();
        assert!(!html.contains("colspan") && !html.contains("rowspan"), "{html}");
        assert!(html.contains("class=\"same\" data-head=\"target\">GD</th>"), "{html}");
        assert_eq!(html.matches(">GD</th>").count(), 2, "{html}");
    }

    #[test]
    fn every_cell_has_the_heading_of_its_column_and_a_role() {
        for table in [rows(Column::words("method")), rows(Column::numbers("size"))] {
            let html = table.rows_html();
            let body = &html[html.find("<tbody").unwrap()..];
            let cells = body.matches("<td").count() + body.matches("<th ").count();
            assert_eq!(body.matches(" data-head=\"").count(), cells, "{html}");
            assert!(body.contains("data-head=\"cost of x &amp; &quot;y&quot;\">7</td>"), "{html}");
            let parts = ["<table", "<thead", "<tbody", "<tr", "<td", "<th "];
            let parts: usize = parts.iter().map(|part| html.matches(part).count()).sum();
            assert_eq!(html.matches(" role=\"").count(), parts, "{html}");
        }
    }

    #[test]
    fn the_more_a_table_holds_the_earlier_it_becomes_cards() {
        let numbers = |columns: usize, text: &str| {
            let row = (0..columns).map(|_| Cell::from(text)).collect();
            table((0..columns).map(|i| Column::numbers(i.to_string())).collect(), vec![vec![row]])
        };
        let step = |table: Table| Shape::of(&table).step();
        assert_eq!(step(numbers(2, "12")), STEPS[0]);
        assert!(step(numbers(6, "12345678")) < step(numbers(12, "12345678")));
        assert!(step(numbers(6, "12 (10–15)")) <= step(numbers(6, "12/20 (36–81 %)")));
        assert_eq!(step(numbers(100, "12345678")), STEPS[6], "cards at any width");
        // Each of them has its rule, and the rules are those of one file.
        let rules = rules();
        for step in STEPS {
            assert_eq!(rules.matches(&format!("{{.at-{step}{{")).count(), 1);
        }
        assert_eq!(rules.matches('{').count(), rules.matches('}').count());
        assert!(rules.contains(&format!(".long{{white-space:normal;min-width:{WRAPPED}rem")));
        assert!(rules.contains(&format!(".number.long{{min-width:{WRAPPED_NUMBER}rem")));
    }
}
