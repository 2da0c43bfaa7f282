//! Diagrams of curricula: which problem leads from which program to which.

use super::past::{Past, RunGroup};
use super::{MOST, counted};
use crate::curriculum::Curriculum;
use crate::discovery::Stage;
use crate::problem::Choice;
use crate::program::equation;
use crate::report::{Block, Diagram, DiagramNode, Role};

/// One diagram per curriculum.
pub fn trees(groups: &[RunGroup]) -> Vec<Block> {
    let mut texts: Vec<&str> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    for group in groups {
        if let Some(curriculum) =
            group.read.as_ref().filter(|curriculum| !texts.contains(&curriculum.text.as_str()))
        {
            texts.push(&curriculum.text);
            let alike = groups.iter().filter(|g| g.read.as_ref().is_some_and(|c| c.text == curriculum.text));
            blocks.push(Block::Diagram(tree(curriculum, &alike.collect::<Vec<_>>())));
        }
    }
    if blocks.len() > MOST {
        let more = counted(blocks.len() - MOST, "curriculum");
        blocks.truncate(MOST);
        blocks.push(Block::Text(format!("{more} more are not drawn.")));
    }
    blocks
}

fn tree(curriculum: &Curriculum, groups: &[&RunGroup]) -> Diagram {
    let best =
        groups.iter().filter_map(|group| group.best()).max_by_key(|past| (past.found, past.steps.len()));
    let last = curriculum.stages.len().saturating_sub(1);
    let start = match curriculum.start.is_empty() {
        true => ("∅", "the empty program".to_string()),
        false => ("start", curriculum.start.to_string().replace('\n', " ")),
    };
    let mut nodes =
        vec![DiagramNode { title: start.0.into(), remark: start.1, role: Role::Base, column: 0, row: 0.0 }];
    for (number, (stage, _)) in curriculum.stages.iter().enumerate() {
        nodes.push(DiagramNode {
            title: stage.name.clone(),
            remark: found(curriculum, number, best),
            role: if number == last { Role::Precondition } else { Role::Base },
            column: 0,
            row: (number + 1) as f64,
        });
    }
    let arrow = |(number, (stage, _)): (usize, &(Stage, _))| (number, number + 1, problem(stage));
    Diagram {
        name: format!("curriculum-{}", curriculum.name),
        title: format!("{}.", curriculum.title.trim_end_matches('.')),
        caption: format!(
            "{} Arrows are labelled with the problems of the next stage, boxes with the program found.",
            curriculum.about
        ),
        arrows: curriculum.stages.iter().enumerate().map(arrow).collect(),
        nodes,
        legend: vec![(Role::Base, "intermediate stage".into()), (Role::Precondition, "final stage".into())],
    }
}

/// The equation of the program found by a stage, completed if it is partial.
fn found(curriculum: &Curriculum, number: usize, best: Option<&Past>) -> String {
    let (stage, target) = &curriculum.stages[number];
    let step = best.and_then(|past| past.steps.get(number));
    let Some(step) = step else { return "not reached".into() };
    if step.program.is_none() {
        return "nothing was found".into();
    }
    let whole = step.parsed().and_then(|mut program| {
        program.iteration.extend_from_slice(&target.completed_by);
        equation(&program, stage.grammar.signature).ok()
    });
    whole.map(|equation| equation.text).or(step.equation.clone()).unwrap_or_default()
}

/// The problem of a stage, in a few words.
fn problem(stage: &Stage) -> String {
    let family = &stage.families[0];
    let mut words = format!("{} {}×{}", family.kind, family.rows, family.cols);
    let mut kappas = stage.families.iter().filter_map(|family| family.condition);
    if let (Some(first), true) = (kappas.next(), family.kind.info().options.contains(&Choice::Condition)) {
        let short = |kappa: f64| if kappa < 1e4 { kappa.to_string() } else { format!("{kappa:e}") };
        words += &format!(", κ = {}", short(first));
        words += &kappas.map(|kappa| format!(", {}", short(kappa))).collect::<String>();
    }
    words
}
