//! The editor: on words, and remembering what it found out, it does what the grammar does on programs.

mod common;

use common::*;
use rl4rla::curriculum::{BUILTIN, Curriculum};
use rl4rla::discovery::{Bench, Insertions, Known, Merge, Problems, Space};
use rl4rla::problem::InstanceSet;
use rl4rla::program::*;
use rl4rla::search::Domain;
use std::collections::HashMap;

/// The finished program as the grammar has it, if it fits and none of its new instructions is redundant.
fn finished(grammar: &Grammar, start: &Program, program: &Program) -> Option<Canonical> {
    let finished = grammar.finish(program);
    let typed = check(finished.program(), grammar.signature).ok()?;
    let longwinded = typed.iter().any(|typed| {
        let old = start.section(typed.section).contains(typed.instruction);
        !old && (typed.instruction.op.redundant)(&typed.args)
    });
    (grammar.is_well_shaped(program) && !longwinded).then_some(finished)
}

/// Walks at random through what the edits of a stage can make, with one editor, and compares all it says.
fn walk(grammar: &Grammar, start: &Program, edits: usize, dice: &mut Dice, walks: usize) -> usize {
    let mut editor = Editor::new(grammar, start);
    let root = grammar.state(start);
    let (mut known, mut legal, mut seen) = (HashMap::new(), Vec::new(), 0);
    for _ in 0..walks {
        let mut here = root.clone();
        for left in (1..=edits).rev() {
            let words = editor.words(here.program());
            assert_eq!(&editor.program(&words), here.program());
            assert_eq!(known.entry(words.clone()).or_insert_with(|| here.clone()), &here);
            let mut done = Vec::new();
            let fits = editor.finish(&words, &editor.words(start), &mut done);
            assert_eq!(&editor.program(&done), grammar.finish(here.program()).program());
            assert_eq!(fits, finished(grammar, start, here.program()).is_some(), "{:?}", here.program());
            assert_eq!(editor.id(&done), grammar.finish(here.program()).id());

            editor.legal(&words, left, &mut legal);
            let plain = grammar.legal(here.program(), left);
            assert_eq!(legal.iter().map(|&edit| editor.insertion(edit)).collect::<Vec<_>>(), plain);
            seen += legal.len();
            for (&edit, insertion) in legal.iter().zip(&plain) {
                let mut child = Vec::new();
                editor.edit(&words, edit, &mut child);
                let state = grammar.state(&insertion.apply(here.program()));
                assert_eq!(child, editor.words(state.program()));
            }
            if plain.is_empty() {
                break;
            }
            here = grammar.state(&dice.pick(&plain).apply(here.program()));
        }
    }
    seen
}

#[test]
fn it_agrees_with_the_grammar_on_every_stage() {
    let mut dice = Dice::new(7);
    for (name, _) in &BUILTIN {
        let curriculum = Curriculum::named(name).unwrap().unwrap();
        let mut start = curriculum.start;
        for (stage, target) in &curriculum.stages {
            assert!(walk(&stage.grammar, &start, stage.edits, &mut dice, 3) > 0, "{name}, {}", stage.name);
            start = target.sought();
        }
    }
}

#[test]
fn it_agrees_with_the_grammar_on_carried_registers() {
    let mut dice = Dice::new(8);
    for geometry in GEOMETRIES {
        let mut grammar = Grammar::full(geometry);
        grammar.operators = ["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL", "SUBSAMPLING"]
            .map(|name| Op::named(name).unwrap())
            .to_vec();
        grammar.registers = regs("A b x v1 v2 m1 p1");
        let start = parse("iteration:\n v1 = VEC_VEC_ADD(x, m1)\n m1 = VEC_VEC_SUB(v1, x)\n");
        assert!(walk(&grammar, &start, 3, &mut dice, 6) > 100);
        assert!(walk(&grammar, &Program::default(), 4, &mut dice, 6) > 100);
    }
}

#[test]
fn one_child_is_the_one_among_all() {
    let curriculum = Curriculum::named("sketched-precond-gd").unwrap().unwrap();
    let stage = &curriculum.stages[0].0;
    let (known, problems) = (Known::default(), Problems::default());
    let bench = Bench::new(stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
    let space =
        || Space { stage, start: &curriculum.start, merge: Merge::Canonical, bench: &bench, front: None };
    // One that is asked for single children first, and one that never is.
    let (single, all) = (Insertions::new(space()), Insertions::new(space()));
    let count = all.children(&all.root()).len();
    for i in (0..count).rev() {
        let child = single.child(&single.root(), &mut |n| [i, count][usize::from(n != count)]).unwrap();
        let other = all.children(&all.root())[i];
        let [one, other] = [single.solution(&child), all.solution(&other)];
        assert_eq!(one.map(|solved| solved.key), other.map(|solved| solved.key));
        assert_eq!(child, single.children(&single.root())[i]);
        let last = single.child(&child, &mut |_| 0);
        assert!(last.is_none_or(|last| single.is_end(&last) && single.child(&last, &mut |_| 0).is_none()));
    }
    assert!(count > 10 && single.memory().0 > count && single.memory().1 > 0);
}
