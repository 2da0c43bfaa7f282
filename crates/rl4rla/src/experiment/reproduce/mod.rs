//! The paper's tables and figures, made from sweeps, with the paper's numbers beside ours.

mod ablation;
mod ask;
mod baselines;
mod curves;
mod efficiency;
mod eigenvalue;
mod found;
mod item;
mod learned;
mod newton;
mod paper;
mod progression;
mod scalability;
mod searches;
mod staircase;
mod transitions;
mod tree;
mod way;
mod winner_map;
mod year;

pub use ask::{Ask, Runs, Scope, Setting};
pub use item::{ComparisonRow, Item, Means, ReproducedItem};

use super::ExperimentError;
use super::sweep::cores;
use crate::program::nearest;
use crate::report::{Block, ReportPage, ReportSection};

/// Everything that can be reproduced, in the paper's order.
pub const ITEMS: [Item; 18] = [
    row("table1", "Curriculum progression", "Table 1", progression::asks, progression::make),
    row("table2", "End-to-end efficiency", "Table 2", efficiency::asks, efficiency::end_to_end),
    row("staircase", "Discovery staircase", "Figure 2", staircase::asks, staircase::make),
    row("ecdf", "Distribution of search costs", "Figure 3", efficiency::asks, curves::ecdf),
    row("reuse", "State reuse", "Figure 4", curves::reuse_asks, curves::reuse),
    row("eigenvalue", "Eigenvalue problems", "Table 3 and Figure 5", eigenvalue::asks, eigenvalue::make),
    row("stages", "Stage-wise cost", "appendix D, table of stages", efficiency::asks, efficiency::stages),
    row(
        "transitions",
        "Success by transition",
        "appendix D, 20 runs per transition",
        transitions::asks,
        transitions::make,
    ),
    row("tree", "Curriculum tree", "appendix D, table of the tree", tree::table_asks, tree::table),
    row(
        "ablation",
        "Curriculum ablation",
        "appendix D, table of Newton Sketch",
        ablation::asks,
        ablation::make,
    ),
    row("newton", "Newton's method by the paper's search", "not included", newton::asks, newton::make),
    row(
        "method-tree",
        "Tree of methods",
        "appendix D, figure of the tree",
        tree::diagram_asks,
        tree::diagram,
    ),
    row(
        "scalability",
        "Scalability",
        "appendix D, table of revisit ratios",
        scalability::asks,
        scalability::make,
    ),
    row(
        "baselines",
        "Runtime against residual",
        "appendix D, figure of baselines",
        baselines::asks,
        baselines::make,
    ),
    row(
        "year",
        "Transfer to real data",
        "appendix D, table and figure of YearPredictionMSD",
        year::asks,
        year::make,
    ),
    row("searches", "Program searches at equal budgets", "not included", searches::asks, searches::make),
    row("learned", "Searches with a learned proposal", "not included", learned::asks, learned::make),
    row(
        "winner-map",
        "Which program takes the least work",
        "not included",
        winner_map::asks,
        winner_map::make,
    ),
];

const fn row(
    name: &'static str,
    title: &'static str,
    place: &'static str,
    asks: fn(Scope) -> Vec<Ask>,
    make: fn(&Means) -> Result<ReproducedItem, ExperimentError>,
) -> Item {
    Item { name, title, place, asks, make }
}

/// The requested items.
pub fn wanted(names: &[String]) -> Result<Vec<&'static Item>, ExperimentError> {
    if names.iter().any(|name| name == "all") {
        return Ok(ITEMS.iter().collect());
    }
    let find = |name: &String| {
        ITEMS.iter().find(|item| item.name == name).ok_or_else(|| {
            let known = ITEMS.iter().map(|item| item.name);
            let all = known.clone().collect::<Vec<_>>().join(", ");
            let failure = ExperimentError::new(format!("there is no item `{name}` to reproduce"));
            match nearest(name, known) {
                Some(meant) => failure.advise(format!("`{meant}`, or another of: all, {all}")),
                None => failure.advise(format!("one of: all, {all}")),
            }
        })
    };
    names.iter().map(find).collect()
}

/// Makes the items; `None` if interrupted.
pub fn make(items: &[&'static Item], means: &Means) -> Option<Vec<(&'static Item, ReproducedItem)>> {
    let mut made = Vec::new();
    for &item in items {
        if means.monitor.stopped() {
            return None;
        }
        means.monitor.doing(&format!("producing {}", item.title));
        let part = (item.make)(means).unwrap_or_else(ReproducedItem::failed);
        // What was cut short is not kept.
        if part.failed && means.monitor.stopped() {
            return None;
        }
        made.push((item, part));
    }
    Some(made)
}

/// The page of all finished items.
pub fn document(made: &[(&Item, ReproducedItem)], scope: Scope, seconds: f64) -> ReportPage {
    let section = |(item, part): &(&Item, ReproducedItem)| {
        let origin =
            format!("Paper: {}. To reproduce only this item: `rl4rla reproduce {}`.", item.place, item.name);
        let blocks = std::iter::once(Block::Text(origin)).chain(part.blocks.iter().cloned()).collect();
        ReportSection { id: item.name.into(), title: item.title.into(), blocks }
    };
    let size = match scope.quick {
        true => {
            "Quick version with few seeds: intervals are wide, and times are too low because runs of one seed share \
             results. For fewer than five runs the values are listed instead of means and medians. Without --quick \
             it takes an hour or two."
        }
        false => "",
    };
    ReportPage {
        title: "RL4RLA reproduction".into(),
        lead: format!(
            "Tables and figures of the paper, computed on this machine, with the paper's values next to ours. {size}"
        ),
        sections: made.iter().map(section).collect(),
        colophon: vec![
            ("version".into(), crate::VERSION.into()),
            (
                "seeds".into(),
                format!(
                    "{}–{}; half of them in `ablation` and `newton`, the first that found a program in `baselines` and `year`",
                    scope.first_seed,
                    scope.first_seed.saturating_add(scope.seeds - 1)
                ),
            ),
            ("threads of this machine".into(), cores().to_string()),
            (
                "time of this command".into(),
                format!("{:.0} s, excluding runs reused from the store", seconds),
            ),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_items_differ_and_are_found() {
        let names: Vec<String> = ITEMS.iter().map(|item| item.name.to_string()).collect();
        assert_eq!(wanted(&names).unwrap().len(), ITEMS.len());
        assert_eq!(wanted(&["all".into()]).unwrap().len(), ITEMS.len());
        let error = wanted(&["tabel2".into()]).err().unwrap();
        assert!(error.advice().unwrap().contains("`table2`"), "{error}");
    }
}
