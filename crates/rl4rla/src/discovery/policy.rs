//! A learned policy: probabilities of the legal edits of a program, a softmax of the weights of their features.

use super::features::{Feature, Place};
use crate::program::{Edit, Editor, InstructionNumber};
use crate::statistics::softmax;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The weights of features by their names; other features weigh nothing.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Policy {
    /// The table.
    pub weights: BTreeMap<String, f64>,
}

impl Policy {
    /// A hash of the table: 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        let row = |(name, weight): (&String, &f64)| format!("{name}\t{:016x}\n", weight.to_bits());
        format!("{:016x}", xxh3_64(self.weights.iter().map(row).collect::<String>().as_bytes()))
    }
}

/// The share of proposals that are uniform over the legal edits, so that nothing becomes impossible.
pub const UNIFORM_SHARE: f64 = 0.25;

/// Proposes edits by a policy.
pub(super) struct Proposal {
    policy: Arc<Policy>,
    /// The weights of the features met so far.
    known: FxHashMap<Feature, f64>,
    features: Vec<Feature>,
}

impl Proposal {
    pub fn new(policy: Arc<Policy>) -> Proposal {
        Proposal { policy, known: FxHashMap::default(), features: Vec::new() }
    }

    /// The probabilities of these edits of a program.
    pub fn probabilities<'e>(
        &mut self,
        editor: &mut Editor,
        words: &[InstructionNumber],
        edits: impl Iterator<Item = &'e Edit>,
    ) -> Vec<f64> {
        let Proposal { policy, known, features } = self;
        let mut weight = |feature: &Feature| {
            let look_up = || policy.weights.get(&feature.to_string()).copied().unwrap_or(0.0);
            *known.entry(*feature).or_insert_with(look_up)
        };
        let mut scores = Vec::new();
        each_edit(editor, words, edits, features, |features| {
            scores.push(features.iter().map(&mut weight).sum());
        });
        softmax(&mut scores);
        let uniform = UNIFORM_SHARE / scores.len() as f64;
        scores.iter_mut().for_each(|score| *score = (1.0 - UNIFORM_SHARE) * *score + uniform);
        scores
    }
}

/// Calls `found` with the features of every edit of a program.
pub(super) fn each_edit<'e>(
    editor: &mut Editor,
    words: &[InstructionNumber],
    edits: impl Iterator<Item = &'e Edit>,
    features: &mut Vec<Feature>,
    mut found: impl FnMut(&[Feature]),
) {
    let mut place: Option<Place> = None;
    for edit in edits {
        // Edits of one position follow each other.
        let here = match place.take() {
            Some(place) if place.has(edit) => place,
            _ => Place::of(edit, words, editor),
        };
        here.features(edit, words, editor, features);
        found(features);
        place = Some(here);
    }
}

/// Uniform numbers between 0 and 1 are made from this many.
const FINE: usize = 1 << 32;

/// An index, with these probabilities if there are any, else uniform among `count`.
pub(super) fn choose(
    probabilities: Option<&[f64]>,
    count: usize,
    pick: &mut dyn FnMut(usize) -> usize,
) -> usize {
    let Some(probabilities) = probabilities else { return pick(count) };
    let mut left = (pick(FINE) as f64 + 0.5) / FINE as f64;
    let chosen = probabilities.iter().position(|probability| {
        left -= probability;
        left < 0.0
    });
    chosen.unwrap_or(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Geometry, Grammar, Program, Signature};

    fn probabilities(policy: Policy) -> Vec<(String, f64)> {
        from("iteration:\n  v1 = MAT_VEC_MUL(A, x)\n", policy)
    }

    fn from(start: &str, policy: Policy) -> Vec<(String, f64)> {
        let grammar = Grammar::full(Signature::from(Geometry::Tall));
        let start: Program = start.parse().unwrap();
        let mut editor = Editor::new(&grammar, &start);
        let (words, mut edits) = (editor.words(&start), Vec::new());
        editor.legal(&words, 2, &mut edits);
        let found = Proposal::new(policy.into()).probabilities(&mut editor, &words, edits.iter());
        let text = |edit: &Edit| format!("{} {}", edit.section, editor.instruction(edit.word));
        edits.iter().map(text).zip(found).collect()
    }

    #[test]
    fn an_empty_table_is_uniform_and_a_weight_moves_what_has_its_feature() {
        let uniform = probabilities(Policy::default());
        assert!(uniform.len() > 50);
        assert!(uniform.iter().all(|(_, p)| (p * uniform.len() as f64 - 1.0).abs() < 1e-12));
        let weights =
            [("operand 2 of VEC_VEC_SUB: b".to_string(), 3.0), ("no such feature".to_string(), 9.0)];
        let learned = probabilities(Policy { weights: weights.into() });
        assert!((learned.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        let likely = |text: &str| learned.iter().find(|(edit, _)| edit == text).unwrap().1;
        let ratio = likely("iteration v1 = VEC_VEC_SUB(v1, b)") / likely("setup R1 = HHQR(A)");
        assert!(ratio > 5.0, "{ratio}");
        let floor = UNIFORM_SHARE / learned.len() as f64;
        assert!(learned.iter().all(|(_, p)| *p >= floor), "nothing becomes impossible");
    }

    #[test]
    fn a_result_is_idle_until_something_reads_it() {
        let weights = [("reads a result that nothing reads".to_string(), 9.0)];
        let likely = |start: &str, wanted: &str| {
            let found = from(start, Policy { weights: weights.clone().into() });
            let (_, p) = found.iter().find(|(edit, _)| edit == wanted).unwrap();
            p * found.len() as f64 > 1.0
        };
        let step = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_MAT_MUL(v1, A)\n";
        let idle = format!("setup:\n  R1 = HHQR(A)\n{step}");
        let inverted = "setup R1 = MAT_INV(R1)";
        assert!(likely(&idle, inverted) && !likely(&idle, "setup R2 = HHQR(A)"), "an input is no result");
        // Read later, and read before.
        assert!(!likely(&format!("{idle}  v1 = MAT_VEC_MUL(R1, v1)\n"), inverted));
        let read = format!("setup:\n  R1 = HHQR(A)\n  R2 = MAT_INV(R1)\n{step}");
        assert!(likely(&read, "setup R2 = MAT_MAT_TRANS_MUL(R2, R2)"));
        assert!(!likely(&read, "setup R1 = MAT_MAT_TRANS_MUL(R1, R1)"));
    }

    #[test]
    fn choices_follow_their_probabilities() {
        let mut next = 0;
        let mut pick = |count: usize| {
            next += 1;
            assert_eq!(count, FINE);
            (next - 1) * (FINE / 1000)
        };
        let probabilities = [0.25, 0.0, 0.75];
        let mut counts = [0_i32; 3];
        (0..1000).for_each(|_| counts[choose(Some(&probabilities), 3, &mut pick)] += 1);
        // A draw that falls on the border belongs to one side of it.
        assert!((counts[0] - 250).abs() <= 1 && counts[1] == 0, "{counts:?}");
        assert_eq!(choose(None, 3, &mut |count| count - 1), 2);
    }

    #[test]
    fn the_digest_depends_on_every_bit() {
        let policy = |weight: f64| Policy { weights: [("SKETCH".to_string(), weight)].into() };
        assert_eq!(policy(0.1).digest(), policy(0.1).digest());
        assert_ne!(policy(0.1).digest(), policy(0.1 + f64::EPSILON).digest());
        assert_ne!(policy(0.1).digest(), Policy::default().digest());
    }
}
