//! The map itself: what was measured, and who wins at a size.

use super::contender::{Contender, MapTunables};
use super::grid::{MapGrid, ProblemClass};
use super::measure::{COLS, measured};
use crate::experiment::{ExperimentError, Monitor};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A program with its settings, and the iterations it needs with them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SurveyEntry {
    /// The name of a program or, for direct solvers, of a baseline.
    pub program: String,
    /// Its settings.
    #[serde(flatten)]
    pub tunables: MapTunables,
    /// The mean number of iterations to the tolerance at 100 columns; 1 for a direct solver.
    pub iterations: f64,
    /// p, if iterations grow with the number of columns like nᵖ.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub growth: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl SurveyEntry {
    /// Iterations at this number of columns.
    pub fn iterations_at(&self, cols: usize) -> f64 {
        self.iterations * (cols as f64 / COLS as f64).powf(self.growth)
    }
}

/// The measurements for a class and a tolerance. Contenders that did not reach it on every instance are absent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SurveyCell {
    /// The class.
    #[serde(flatten)]
    pub class: ProblemClass,
    /// The tolerance.
    pub tolerance: f64,
    /// What was measured.
    pub entries: Vec<SurveyEntry>,
}

/// A map: a pure function of its seed, its grid and the catalogue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WinnerMap {
    /// The version of the library that made it.
    pub version: String,
    /// Its seed.
    pub seed: u64,
    /// Columns of the problems that were measured.
    pub measured_cols: usize,
    /// Its grid.
    pub grid: MapGrid,
    /// The contenders.
    pub contenders: Vec<String>,
    /// Its cells.
    pub cells: Vec<SurveyCell>,
}

/// A contender at a size, with its best settings there.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RankedContender {
    /// Its name.
    pub program: String,
    /// Its settings.
    pub tunables: MapTunables,
    /// Iterations.
    pub iterations: f64,
    /// p, if iterations grow with the number of columns like nᵖ.
    pub growth: f64,
    /// Flops.
    pub flops: f64,
    /// Entries of A that are read.
    pub entries: f64,
    /// Flops, plus the price of the passes.
    pub work: f64,
}

/// All contenders that reach the tolerance, by work.
#[derive(Clone, PartialEq, Debug)]
pub struct MapAnswer {
    /// The best settings of each contender, the least work first.
    pub ranking: Vec<RankedContender>,
}

impl MapAnswer {
    /// The work of the second relative to that of the winner; 1 if there is no second.
    pub fn margin(&self) -> f64 {
        match &self.ranking[..] {
            [first, second, ..] => second.work / first.work,
            _ => 1.0,
        }
    }
}

static SHIPPED: LazyLock<WinnerMap> = LazyLock::new(|| {
    serde_json::from_str(include_str!("shipped.json")).unwrap_or_else(|error| panic!("shipped.json: {error}"))
});

impl WinnerMap {
    /// The map that comes with the crate, made by `rl4rla reproduce winner-map`.
    pub fn shipped() -> &'static WinnerMap {
        &SHIPPED
    }

    /// Measures a map, class by class; `None` if the monitor asks to stop.
    pub fn make(
        grid: MapGrid,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<Option<WinnerMap>, ExperimentError> {
        let contenders = Contender::all();
        let classes: Vec<ProblemClass> = grid.classes().collect();
        let mut cells = Vec::new();
        for (i, &class) in classes.iter().enumerate() {
            if monitor.stopped() {
                return Ok(None);
            }
            let ProblemClass { kappa, outside, leverage } = class;
            monitor.doing(&format!(
                "measuring class {} of {}: κ = {kappa:.0e}, {outside} outside, {} leverage",
                i + 1,
                classes.len(),
                leverage.name()
            ));
            cells.extend(WinnerMap::measure(&grid, class, &contenders, seed)?);
        }
        Ok(Some(WinnerMap {
            version: crate::VERSION.into(),
            seed,
            measured_cols: COLS,
            contenders: contenders.iter().map(|contender| contender.name().to_string()).collect(),
            grid,
            cells,
        }))
    }

    /// The cells of a class, one for each tolerance. Its instances depend on the seed and on the class alone.
    pub fn measure(
        grid: &MapGrid,
        class: ProblemClass,
        contenders: &[Contender],
        seed: u64,
    ) -> Result<Vec<SurveyCell>, ExperimentError> {
        let stream = Stream::new(seed)
            .derive("winner-map", class.kappa.to_bits())
            .derive(class.leverage.name(), class.outside.to_bits());
        let measured = measured(grid, class, contenders, &stream)?;
        let cell = |(&tolerance, entries)| SurveyCell { class, tolerance, entries };
        Ok(grid.tolerances.iter().zip(measured).map(cell).collect())
    }

    /// The map as JSON, a line for each cell.
    pub fn text(&self) -> String {
        // Numbers, texts and lists of them are always JSON.
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let head = json(serde_json::to_string(&WinnerMap { cells: vec![], ..self.clone() }));
        let cells: Vec<String> = self.cells.iter().map(|cell| json(serde_json::to_string(cell))).collect();
        format!("{}[\n{}\n]}}\n", head.trim_end_matches("[]}"), cells.join(",\n"))
    }

    /// The cell of a class and a tolerance of the grid.
    pub fn cell(&self, class: ProblemClass, tolerance: f64) -> Option<&SurveyCell> {
        self.cells.iter().find(|cell| cell.class == class && cell.tolerance == tolerance)
    }
}

impl SurveyCell {
    /// Who of these contenders wins at this size and price.
    pub fn answer(&self, contenders: &[Contender], rows: usize, cols: usize, price: f64) -> MapAnswer {
        let mut ranking: Vec<RankedContender> = Vec::new();
        for entry in &self.entries {
            // A program that has left the catalogue since cannot be recommended.
            let known = contenders.iter().find(|contender| contender.name() == entry.program);
            let Some(contender) = known else { continue };
            let iterations = entry.iterations_at(cols);
            let Some(effort) = contender.effort(rows, cols, &entry.tunables, iterations) else { continue };
            let ranked = RankedContender {
                program: entry.program.clone(),
                tunables: entry.tunables,
                iterations,
                growth: entry.growth,
                flops: effort.flops,
                entries: effort.entries,
                work: effort.work(price),
            };
            match ranking.iter_mut().find(|other| other.program == ranked.program) {
                Some(other) if ranked.work < other.work => *other = ranked,
                Some(_) => {}
                None => ranking.push(ranked),
            }
        }
        ranking.sort_by(|a, b| a.work.total_cmp(&b.work));
        MapAnswer { ranking }
    }
}
