//! The map as figures and tables, for people.

use super::contender::Contender;
use super::grid::{ProblemClass, short};
use super::map::{MapAnswer, RankedContender, WinnerMap};
use crate::problem::Leverage;
use crate::report::{
    Axis, Block, Cell, Column, Figure, Ink, Label, Marker, Panel, Series, Shades, Table, number,
};
use serde_json::{Value, json};

/// Where in its cell the sign of the winner is drawn: left of the margin.
const LEFT: f64 = 0.34;

/// The winner at one point of the grid.
pub struct Winner {
    class: ProblemClass,
    tolerance: f64,
    rows: usize,
    cols: usize,
    price: f64,
    answer: MapAnswer,
}

impl WinnerMap {
    /// The winner at every point of the grid.
    pub fn winners(&self) -> Vec<Winner> {
        let contenders = Contender::all();
        let mut winners = Vec::new();
        for cell in &self.cells {
            for &ratio in &self.grid.ratios {
                for &cols in &self.grid.cols {
                    for &price in &self.grid.prices {
                        let (class, tolerance, rows) = (cell.class, cell.tolerance, ratio * cols);
                        let answer = cell.answer(&contenders, rows, cols, price);
                        winners.push(Winner { class, tolerance, rows, cols, price, answer });
                    }
                }
            }
        }
        winners
    }
}

impl Winner {
    /// The winner and the second, if there are any.
    fn first_two(&self) -> [Option<&RankedContender>; 2] {
        [self.answer.ranking.first(), self.answer.ranking.get(1)]
    }

    /// The name of the winner.
    fn name(&self) -> &str {
        self.first_two()[0].map_or("none", |first| &first.program)
    }

    /// The winner as JSON.
    pub fn json(&self) -> Value {
        let [first, second] = self.first_two();
        json!({
            "rows": self.rows,
            "cols": self.cols,
            "kappa": self.class.kappa,
            "outside": self.class.outside,
            "leverage": self.class.leverage,
            "tolerance": self.tolerance,
            "price": self.price,
            "program": first.map(|first| &first.program),
            "tunables": first.map(|first| first.tunables),
            "iterations": first.map(|first| first.iterations),
            "work": first.map(|first| first.work),
            "second": second.map(|second| &second.program),
            "margin": self.answer.margin(),
        })
    }
}

/// The part of the map that a figure shows.
#[derive(Clone, Copy)]
struct Slice {
    outside: f64,
    leverage: Leverage,
    tolerance: f64,
    cols: usize,
    price: f64,
}

impl Slice {
    /// The winners of the slice.
    fn of<'a>(&self, winners: &'a [Winner]) -> impl Iterator<Item = &'a Winner> + use<'a> {
        let slice = *self;
        winners.iter().filter(move |winner| {
            winner.class.outside == slice.outside
                && winner.class.leverage == slice.leverage
                && winner.tolerance == slice.tolerance
                && winner.cols == slice.cols
                && winner.price == slice.price
        })
    }
}

/// The figures of a map and its winners: by leverage and tolerance, and by size and price.
pub fn figures(map: &WinnerMap, winners: &[Winner]) -> Vec<Block> {
    let grid = &map.grid;
    let (Some(&outside), Some(&leverage)) = (grid.outsides.last(), grid.leverages.first()) else {
        return vec![];
    };
    let middle = |values: &[f64]| values[values.len() / 2];
    let usual = Slice {
        outside,
        leverage,
        tolerance: middle(&grid.tolerances),
        cols: if grid.cols.contains(&500) { 500 } else { grid.cols[0] },
        price: middle(&grid.prices),
    };
    let inks = inks(winners);
    let panel = |slice: Slice, title: String| panel(map, slice.of(winners).collect(), &inks, title);
    let mut by_class = Vec::new();
    for &leverage in &grid.leverages {
        for &tolerance in &grid.tolerances {
            let title = format!("{} leverage, to {}", leverage.name(), short(tolerance));
            by_class.push(panel(Slice { leverage, tolerance, ..usual }, title));
        }
    }
    let mut by_size = Vec::new();
    for &price in &grid.prices {
        for &cols in &grid.cols {
            by_size
                .push(panel(Slice { price, cols, ..usual }, format!("n = {cols}, price {}", short(price))));
        }
    }
    let key = "Signs name the program with the least work, numbers and shades give the work of the second relative to \
               it: 1 is a tie.";
    vec![
        Block::Figure(Figure {
            name: "winner-map".into(),
            title: "Which program takes the least work".into(),
            caption: format!(
                "{key} For n = {}, {} of b outside the range of A, and a pass over A at the price of {} products A·x.",
                usual.cols,
                short(usual.outside),
                short(usual.price)
            ),
            panels: by_class,
            columns: grid.tolerances.len(),
        }),
        Block::Figure(Figure {
            name: "winner-map-sizes".into(),
            title: "The same by the number of columns and the price of a pass".into(),
            caption: format!(
                "{key} For {} leverage, {} of b outside the range of A, to an excess of {}.",
                usual.leverage.name(),
                short(usual.outside),
                short(usual.tolerance)
            ),
            panels: by_size,
            columns: grid.cols.len(),
        }),
    ]
}

/// The names of all winners with an ink for each, those that win most first.
fn inks(winners: &[Winner]) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for winner in winners {
        match counts.iter_mut().find(|(name, _)| name == winner.name()) {
            Some((_, count)) => *count += 1,
            None => counts.push((winner.name().into(), 1)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts
}

fn panel(map: &WinnerMap, winners: Vec<&Winner>, inks: &[(String, usize)], title: String) -> Panel {
    let place = |winner: &Winner| -> [f64; 2] {
        let ratio = winner.rows / winner.cols;
        let at = |found: Option<usize>| found.map_or(f64::NAN, |at| at as f64);
        [
            at(map.grid.ratios.iter().position(|known| *known == ratio)),
            at(map.grid.kappas.iter().position(|known| *known == winner.class.kappa)),
        ]
    };
    let margin = |winner: &&Winner| match winner.answer.ranking.is_empty() {
        true => f64::NAN,
        false => winner.answer.margin(),
    };
    let shades = Shades {
        label: "work of the second, relative to the winner".into(),
        values: winners.iter().map(margin).collect(),
        ends: [1.0, 10.0],
    };
    let cells =
        Series::new("margin", Ink(0), Marker::Cells(shades), winners.iter().map(|winner| place(winner)));
    let signs = inks.iter().enumerate().map(|(ink, (name, _))| {
        let own = winners.iter().filter(|winner| winner.name() == name);
        let points = own.map(|winner| {
            let [x, y] = place(winner);
            [x - LEFT, y]
        });
        Series::new(name.clone(), Ink(ink), Marker::Dots, points).labelled(Label::Legend)
    });
    Panel {
        title,
        x: Axis::classes("m/n", map.grid.ratios.iter().map(|ratio| short(*ratio as f64)).collect()),
        y: Axis::classes("κ", map.grid.kappas.iter().map(|kappa| short(*kappa)).collect()),
        series: std::iter::once(cells).chain(signs).collect(),
    }
}

/// How often each program wins, and by how much.
pub fn tables(map: &WinnerMap, winners: &[Winner]) -> Vec<Block> {
    let grid = &map.grid;
    let mut columns =
        vec![Column::words("program"), Column::numbers("wins"), Column::numbers("median margin")];
    columns
        .extend(grid.tolerances.iter().map(|tolerance| Column::numbers(format!("to {}", short(*tolerance)))));
    columns.extend(grid.prices.iter().map(|price| Column::numbers(format!("price {}", short(*price)))));
    let row = |(name, count): &(String, usize)| {
        let own: Vec<&Winner> = winners.iter().filter(|winner| winner.name() == name).collect();
        let mut margins: Vec<f64> = own.iter().map(|winner| winner.answer.margin()).collect();
        margins.sort_by(f64::total_cmp);
        let median = margins[margins.len() / 2];
        let counted = |of: &dyn Fn(&Winner) -> bool| {
            let count = own.iter().filter(|winner| of(winner)).count();
            Cell::number(count as f64, count.to_string())
        };
        let mut cells: Vec<Cell> = vec![name.as_str().into(), Cell::number(*count as f64, count.to_string())];
        cells.push(Cell::number(median, number(median)));
        cells.extend(
            grid.tolerances.iter().map(|tolerance| counted(&|winner| winner.tolerance == *tolerance)),
        );
        cells.extend(grid.prices.iter().map(|price| counted(&|winner| winner.price == *price)));
        cells
    };
    let counts = Table {
        name: "table-winner-map".into(),
        title: "Wins by program".into(),
        caption: format!(
            "Points of the grid, of {}, at which a program takes the least work, by tolerance and by the price of a pass \
             over A. The margin is the work of the second relative to the winner.",
            winners.len()
        ),
        columns,
        groups: vec![inks(winners).iter().map(row).collect()],
        notes: vec![
            format!("Contenders: {}.", map.contenders.join(", ")),
            "Work is flops + price · 2 · entries of A read; QR is charged one pass, the normal equations two. Choosing a \
             step size is not charged."
                .into(),
        ],
    };
    vec![Block::Table(counts)]
}
