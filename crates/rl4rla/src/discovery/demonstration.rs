//! Demonstrations: the choices on the way from a program to one that a search has found, in every order of the
//! insertions.

use super::policy::each_edit;
use crate::program::{Edit, Editor, Grammar, InstructionNumber, Program};
use std::collections::{BTreeMap, BTreeSet};

/// A choice among the legal edits of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct EditChoice {
    /// The names of the features of every legal edit.
    pub features: Vec<Vec<String>>,
    /// The probability that a random order of the insertions passes here and takes this edit; 0 for edits that lead
    /// elsewhere.
    pub taken: Vec<f64>,
}

/// Maximum number of programs on the way; a search that found more orders is not learned from.
const MOST: usize = 5_000;

/// A program on the way, with its legal edits and where those that may lead to the end lead.
struct Stop {
    edits: Vec<Edit>,
    next: Vec<(usize, Vec<InstructionNumber>)>,
}

/// The choices that lead from `start` to `found` by the fewest of at most `edits` edits: at every program on the way,
/// the edits that lead on against all legal ones. Empty if the grammar does not lead there.
pub fn demonstration(grammar: &Grammar, edits: usize, start: &Program, found: &Program) -> Vec<EditChoice> {
    let mut editor = Editor::new(grammar, start);
    let wanted: Option<BTreeSet<InstructionNumber>> =
        found.instructions().map(|(_, _, instruction)| editor.word(instruction)).collect();
    let Some(wanted) = wanted else { return vec![] };
    let old = editor.words(start);
    let finished = |editor: &mut Editor, words: &[InstructionNumber]| {
        let mut end = Vec::new();
        editor.finish(words, &old, &mut end).then_some(end)
    };
    let goal = editor.words(grammar.finish(found).program());
    let root = editor.words(grammar.state(start).program());
    let mut layers: Vec<BTreeMap<Vec<InstructionNumber>, Stop>> = Vec::new();
    let mut here = BTreeSet::from([root]);
    for made in 0..=edits {
        let ends: BTreeSet<_> = here
            .iter()
            .filter(|words| finished(&mut editor, words).as_ref() == Some(&goal))
            .cloned()
            .collect();
        if !ends.is_empty() {
            return choices(layers, ends, &mut editor);
        }
        if made == edits || here.len() > MOST {
            break;
        }
        let mut layer = BTreeMap::new();
        for words in here {
            let mut legal = Vec::new();
            editor.legal(&words, edits - made, &mut legal);
            let useful = legal.iter().enumerate().filter(|(_, edit)| wanted.contains(&edit.word));
            let next = useful.map(|(number, &edit)| {
                let mut child = Vec::new();
                editor.edit(&words, edit, &mut child);
                (number, child)
            });
            let next: Vec<_> = next.collect();
            layer.insert(words, Stop { edits: legal, next });
        }
        here = layer.values().flat_map(|stop| stop.next.iter().map(|(_, child)| child.clone())).collect();
        layers.push(layer);
    }
    vec![]
}

/// The choices on the paths through these layers to one of the ends.
fn choices(
    mut layers: Vec<BTreeMap<Vec<InstructionNumber>, Stop>>,
    mut ends: BTreeSet<Vec<InstructionNumber>>,
    editor: &mut Editor,
) -> Vec<EditChoice> {
    for layer in layers.iter_mut().rev() {
        layer.values_mut().for_each(|stop| stop.next.retain(|(_, child)| ends.contains(child)));
        layer.retain(|_, stop| !stop.next.is_empty());
        ends = layer.keys().cloned().collect();
    }
    let mut chances: BTreeMap<Vec<InstructionNumber>, f64> =
        ends.into_iter().map(|root| (root, 1.0)).collect();
    let (mut found, mut features) = (Vec::new(), Vec::new());
    for layer in layers {
        let mut onward = BTreeMap::new();
        for (words, Stop { edits, next }) in layer {
            let Some(&chance) = chances.get(&words) else { continue };
            let share = chance / next.len() as f64;
            let mut choice = EditChoice { features: Vec::new(), taken: vec![0.0; edits.len()] };
            for (number, child) in next {
                choice.taken[number] += share;
                *onward.entry(child).or_insert(0.0) += share;
            }
            each_edit(editor, &words, edits.iter(), &mut features, |features| {
                choice.features.push(features.iter().map(ToString::to_string).collect());
            });
            found.push(choice);
        }
        chances = onward;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Geometry, Signature};

    #[test]
    fn every_order_is_shown_and_each_insertion_once_on_average() {
        let grammar = Grammar::full(Signature::from(Geometry::Tall));
        let start: Program =
            "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n  v1 = VEC_MAT_MUL(v1, A)\n"
                .parse()
                .unwrap();
        let text = "setup:\n  R1 = HHQR(A)\n  R1 = MAT_INV(R1)\n".to_string() + &start.to_string();
        let found: Program = (text + "  v1 = VEC_MAT_MUL(v1, R1)\n").parse().unwrap();
        let shown = demonstration(&grammar, 3, &start, &found);
        let total: f64 = shown.iter().flat_map(|choice| &choice.taken).sum();
        assert!((total - 3.0).abs() < 1e-12, "{total}");
        assert!(shown.len() >= 3 && shown.iter().all(|choice| choice.features.len() == choice.taken.len()));
        let first: Vec<&[String]> = (shown[0].features.iter().zip(&shown[0].taken))
            .filter(|(_, taken)| **taken > 0.0)
            .map(|(features, _)| &features[..])
            .collect();
        assert!(
            first.iter().any(|features| features.contains(&"operand 1 of HHQR: A".to_string())),
            "{first:?}"
        );
        assert!(demonstration(&grammar, 2, &start, &found).is_empty(), "out of reach");
        assert!(demonstration(&grammar, 3, &found, &found).is_empty(), "nothing to choose");
    }
}
