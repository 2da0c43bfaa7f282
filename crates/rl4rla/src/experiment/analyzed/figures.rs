//! The figures of an analysis.

use super::numbers::kappa;
use crate::analysis::{Analysis, Digits, MapCell};
use crate::problem::Leverage;
use crate::report::{Axis, Figure, Ink, Marker, Panel, Series, Shades};
use crate::statistics::Interval;

/// Ends of the colour scale.
const ENDS: [f64; 2] = [1e-15, 1.0];

/// The robustness map: one panel per leverage and noise level.
pub fn map(cells: &[MapCell], iterations: usize) -> Option<Figure> {
    let panels: Vec<&[MapCell]> =
        cells.chunk_by(|a, b| (a.leverage, a.noise) == (b.leverage, b.noise)).collect();
    let noises = panels.iter().filter(|panel| panel[0].leverage == panels[0][0].leverage).count();
    let drawn = panels.iter().map(|cells| panel(cells, iterations)).collect();
    (!cells.is_empty()).then(|| Figure {
        name: "map".into(),
        title: "Robustness map.".into(),
        caption: format!(
            "Median excess after {iterations} iterations for every condition number and shape; one panel per leverage \
             and noise level. Hatched: more than half of the runs failed; empty: no such problem exists."
        ),
        panels: drawn,
        columns: noises,
    })
}

fn panel(cells: &[MapCell], iterations: usize) -> Panel {
    let distinct = |name: &dyn Fn(&MapCell) -> String| {
        let mut names: Vec<String> = Vec::new();
        cells.iter().map(name).for_each(|name| {
            if !names.contains(&name) {
                names.push(name)
            }
        });
        names
    };
    let x_of = |cell: &MapCell| kappa(cell.kappa);
    let y_of = |cell: &MapCell| format!("{}", cell.aspect);
    let (columns, rows) = (distinct(&x_of), distinct(&y_of));
    let place =
        |names: &[String], name: String| names.iter().position(|known| *known == name).unwrap_or(0) as f64;
    let seen: Vec<&MapCell> = cells.iter().filter(|cell| cell.excess.is_some() || cell.failed > 0).collect();
    let points: Vec<[f64; 2]> =
        seen.iter().map(|cell| [place(&columns, x_of(cell)), place(&rows, y_of(cell))]).collect();
    let value = |cell: &&MapCell| cell.excess.filter(|_| !cell.is_broken()).unwrap_or(f64::NAN);
    let shades = Shades {
        label: format!("excess after {iterations} iterations"),
        values: seen.iter().map(value).collect(),
        ends: ENDS,
    };
    Panel {
        title: title(&cells[0]),
        x: Axis::classes("κ", columns),
        y: Axis::classes("m/n", rows),
        series: vec![Series::new("excess", Ink(0), Marker::Cells(shades), points)],
    }
}

fn title(cell: &MapCell) -> String {
    let rows = match cell.leverage {
        Leverage::Low => "low leverage",
        Leverage::High => "high leverage",
        Leverage::Coherent => "coherent rows",
    };
    format!("{rows}, noise {}", cell.noise)
}

/// The contraction factor against κ, computed and measured.
pub fn contraction(analysis: &Analysis) -> Option<Figure> {
    let rows = &analysis.contraction;
    // The distance to 1 distinguishes slow methods.
    let gap = |interval: Interval| 1.0 - interval.value;
    let measured = rows.iter().filter_map(|row| Some([row.kappa?, gap(row.measured?)]));
    let computed = rows.iter().filter_map(|row| Some([row.kappa?, gap(row.computed?.radius)]));
    let banded: Vec<(f64, Interval)> =
        rows.iter().filter_map(|row| Some((row.kappa?, row.measured?))).collect();
    let lower = banded.iter().map(|(kappa, i)| [*kappa, 1.0 - i.high]);
    let upper = banded.iter().map(|(_, i)| 1.0 - i.low).collect();
    let mut series = vec![
        Series::new("95 % interval", Ink(1), Marker::Band(upper), lower),
        Series::new("measured", Ink(1), Marker::Line, measured),
    ];
    if rows.iter().any(|row| row.computed.is_some()) {
        series.push(Series::new("computed, 1 − ρ(G)", Ink(0), Marker::Line, computed));
    }
    against_kappa(
        "speed",
        "Speed.",
        "Reduction of the excess per iteration, 1 − contraction factor, against the condition number.",
        "1 − contraction factor",
        series,
    )
}

/// The attainable accuracy in both precisions against κ.
pub fn precision(analysis: &Analysis) -> Option<Figure> {
    let rows = &analysis.precision;
    let mut series = Vec::new();
    type Part = fn(&Digits) -> Option<Interval>;
    let both: [(&str, Part); 2] = [("32 bits", |digits| digits.single), ("64 bits", |digits| digits.double)];
    for (ink, (name, part)) in both.into_iter().enumerate() {
        let known: Vec<(f64, Interval)> =
            rows.iter().filter_map(|row| Some((row.kappa?, part(row)?))).collect();
        let lower = known.iter().map(|(kappa, i)| [*kappa, i.low]);
        let upper = known.iter().map(|(_, i)| i.high).collect();
        series.push(Series::new(format!("{name}, 95 % interval"), Ink(ink), Marker::Band(upper), lower));
        series.push(Series::new(
            name,
            Ink(ink),
            Marker::Line,
            known.iter().map(|(kappa, i)| [*kappa, i.value]),
        ));
    }
    against_kappa(
        "precision",
        "Digits.",
        "Best excess within T iterations with data, registers and iterates in 32-bit and in 64-bit precision.",
        "best excess",
        series,
    )
}

/// A figure of lines against κ; `None` if there is no κ.
fn against_kappa(name: &str, title: &str, caption: &str, y: &str, series: Vec<Series>) -> Option<Figure> {
    let points = series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    let panel = Panel { title: String::new(), x: Axis::log("κ"), y: Axis::log(y), series };
    (points > 1).then(|| Figure {
        name: name.into(),
        title: title.into(),
        caption: caption.into(),
        panels: vec![panel],
        columns: 1,
    })
}
