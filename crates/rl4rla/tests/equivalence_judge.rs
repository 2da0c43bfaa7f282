//! Verdicts judged by an interpreter that shares no code with ours: `judge/judge.py`, in NumPy.
//!
//! 500 pairs, or as many as the environment variable `RL4RLA_PAIRS` says.

mod common;

use common::mutations::{mutated, random_instruction, rewritten};
use common::{Dice, GEOMETRIES, parse};
use rayon::prelude::*;
use rl4rla::equivalence::{Answer, equivalent};
use rl4rla::program::{CATALOGUE, Geometry, Program, Section, Signature, Update, check};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// Directions that momentum is put on: the shapes they fit are found out.
const DIRECTIONS: [(&str, &str); 7] = [
    ("", "v1 = MAT_VEC_MUL(A, x)\nv1 = VEC_VEC_SUB(v1, b)\nv1 = VEC_MAT_MUL(v1, A)\n"),
    ("", "v1 = MAT_VEC_MUL(A, x)\nv1 = VEC_VEC_SUB(v1, b)\n"),
    (
        "",
        "A, b = SUBSAMPLING(p1)\nv1 = MAT_VEC_MUL(A, x)\nv1 = VEC_VEC_SUB(v1, b)\nv1 = VEC_MAT_MUL(v1, A)\n",
    ),
    ("", "v1 = MAT_VEC_MUL(A, x)\nv1 = VEC_SIGMOID(v1)\nv1 = VEC_VEC_SUB(v1, b)\nv1 = VEC_MAT_MUL(v1, A)\n"),
    ("", "v1 = MAT_VEC_MUL(A, x)\nv1 = VEC_MAT_MUL(v1, A)\nv1 = VEC_NORMALIZE(v1)\n"),
    (
        "R1 = SKETCH(A)\nR1 = HHQR(R1)\n",
        "v1 = MAT_VEC_MUL(A, x)\nv1 = VEC_VEC_SUB(v1, b)\nv1 = VEC_MAT_MUL(v1, A)\nv1 = TRIANGULAR_SOLVE(v1, R1)\nv1 = TRIANGULAR_SOLVE(R1, v1)\n",
    ),
    ("", "v1 = VEC_MAT_MUL(x, A)\nv1 = VEC_VEC_SUB(v1, b)\n"),
];

/// Momentum with one carried register that holds other things: the velocity, its negative, damped, divided by the step,
/// the last iterate, its negative, the last displacement; then some that are something else.
const MOMENTA: [&str; 10] = [
    "v2 = SCALAR_VEC_MUL(eta, m1)\nm1 = VEC_VEC_ADD(v1, v2)\nv3 = VEC_VEC_SUB(x, x)\nv1 = VEC_VEC_ADD(m1, v3)\n",
    "v2 = SCALAR_VEC_MUL(eta, m1)\nv1 = VEC_VEC_SUB(v1, v2)\nv3 = VEC_VEC_SUB(x, x)\nm1 = VEC_VEC_SUB(v3, v1)\n",
    "v1 = VEC_VEC_ADD(v1, m2)\nm2 = SCALAR_VEC_MUL(eta, v1)\n",
    "v2 = SCALAR_VEC_MUL(eta, m1)\nv2 = SCALAR_VEC_MUL(eta, v2)\nv1 = VEC_VEC_ADD(v1, v2)\na1 = SCALAR_DIV(eta, eta)\na1 = SCALAR_DIV(a1, eta)\nm1 = SCALAR_VEC_MUL(a1, v1)\n",
    "v2 = VEC_VEC_SUB(m1, x)\nv1 = VEC_VEC_ADD(v1, v2)\nv3 = VEC_VEC_SUB(x, x)\nm1 = VEC_VEC_ADD(x, v3)\n",
    "v2 = VEC_VEC_ADD(m1, x)\nv1 = VEC_VEC_SUB(v1, v2)\nv3 = VEC_VEC_SUB(x, x)\nm1 = VEC_VEC_SUB(v3, x)\n",
    "v1 = VEC_VEC_SUB(v1, m1)\nv2 = SCALAR_VEC_MUL(eta, v1)\nv3 = VEC_VEC_SUB(x, x)\nm1 = VEC_VEC_SUB(v3, v2)\n",
    "v2 = SCALAR_VEC_MUL(eta, m1)\nm1 = VEC_VEC_ADD(v1, v2)\nv1 = VEC_VEC_ADD(v1, m1)\n",
    "m2 = VEC_VEC_ADD(m2, m1)\nm1 = VEC_VEC_ADD(m1, v1)\nv1 = VEC_VEC_ADD(m1, m2)\n",
    "v1 = VEC_VEC_ADD(v1, m1)\nm1 = VEC_VEC_ADD(m1, m1)\n",
];

/// Scales that are one, or nothing, or not always defined.
const SCALES: [&str; 4] = [
    "a1 = VEC_VEC_DOT(x, x)\na1 = SCALAR_DIV(a1, a1)\nv1 = SCALAR_VEC_MUL(a1, v1)\n",
    "v2 = VEC_NORMALIZE(x)\na1 = VEC_VEC_DOT(v2, v2)\nv1 = SCALAR_VEC_MUL(a1, v1)\n",
    "a1 = VEC_VEC_DOT(v1, v1)\na1 = SCALAR_DIV(a1, a1)\nv1 = SCALAR_VEC_MUL(a1, v1)\n",
    "a1 = VEC_VEC_DOT(x, x)\nv1 = SCALAR_VEC_MUL(a1, v1)\n",
];

fn fits(program: &Program, signature: Signature) -> bool {
    check(program, signature).is_ok()
}

/// A direction with momentum.
fn moving(dice: &mut Dice, (setup, direction): (&str, &str)) -> Program {
    let momentum = *dice.pick(&MOMENTA);
    parse(&format!("setup:\n{setup}\niteration:\n{direction}{momentum}"))
}

/// A program of the catalogue, or a direction, with a few instructions more.
fn anything(dice: &mut Dice, signature: Signature) -> Program {
    loop {
        let mut program = match dice.below(3) {
            0 => {
                let direction = *dice.pick(&DIRECTIONS);
                moving(dice, direction)
            }
            1 => CATALOGUE[dice.below(CATALOGUE.len())].document.program.clone(),
            _ => {
                let (setup, direction) = *dice.pick(&DIRECTIONS);
                parse(&format!("setup:\n{setup}\niteration:\n{direction}"))
            }
        };
        for _ in 0..dice.below(4) {
            let mut longer = program.clone();
            let section = if dice.one_in(4) { Section::Setup } else { Section::Iteration };
            let at = dice.below(longer.section(section).len() + 1);
            longer.section_mut(section).insert(at, random_instruction(dice));
            if fits(&longer, signature) {
                program = longer;
            }
        }
        if fits(&program, signature) {
            return program;
        }
    }
}

fn pair(i: usize) -> (Signature, Program, Program) {
    let dice = &mut Dice::new(1_000_000 + i as u64);
    let geometry = GEOMETRIES[i % 3];
    let update =
        *dice.pick(&[Update::Subtract, Update::Subtract, Update::Subtract, Update::Assign, Update::Answer]);
    let signature = Signature::new(geometry, update);
    loop {
        let (p, q) = match dice.below(6) {
            // The same momentum, held in different ways or not the same at all.
            0 | 1 => {
                let direction = *dice.pick(&DIRECTIONS);
                (moving(dice, direction), moving(dice, direction))
            }
            2 => {
                let p = anything(dice, signature);
                let scale = *dice.pick(&SCALES);
                let q = parse(&format!("{p}\n{scale}"));
                (p, q)
            }
            3 => {
                let p = anything(dice, signature);
                let q = rewritten(&p, signature, dice);
                (p, q)
            }
            4 => {
                let p = anything(dice, signature);
                let q = mutated(&p, signature, dice);
                (p, q)
            }
            _ => (anything(dice, signature), anything(dice, signature)),
        };
        if fits(&p, signature) && fits(&q, signature) {
            return (signature, p, q);
        }
    }
}

/// What the other interpreter says of every pair; none where it cannot run.
fn judged(pairs: &[(Signature, Program, Program)]) -> Option<Vec<Value>> {
    let ready = Command::new("python3").args(["-c", "import numpy"]).output();
    if !ready.is_ok_and(|output| output.status.success()) {
        println!("skipped: it takes python3 with NumPy");
        return None;
    }
    let geometry = |signature: &Signature| match signature.geometry {
        Geometry::Tall => "tall",
        Geometry::Square => "square",
        Geometry::Symmetric => "symmetric",
    };
    let written: Vec<Value> = pairs
        .iter()
        .map(|(signature, p, q)| {
            json!({
                "geometry": geometry(signature),
                "update": signature.update.name(),
                "p": p.to_string(),
                "q": q.to_string(),
            })
        })
        .collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/judge.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    // It reads everything before it says anything; dropping its input ends it.
    let mut input = python.stdin.take().expect("piped");
    input.write_all(&serde_json::to_vec(&written).expect("JSON")).expect("python3 listens");
    drop(input);
    let output = python.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn no_verdict_contradicts_another_interpreter() {
    let count = std::env::var("RL4RLA_PAIRS").map_or(500, |count| count.parse().expect("a number"));
    let pairs: Vec<(Signature, Program, Program)> = (0..count).into_par_iter().map(pair).collect();
    let Some(judged) = judged(&pairs) else { return };
    let verdicts: Vec<Answer> = pairs
        .par_iter()
        .map(|(signature, p, q)| equivalent(p, q, *signature).expect("a pair that fits").answer)
        .collect();
    let (mut wrong, mut undecided, mut unsteady, mut yes, mut no) = (Vec::new(), 0, 0, 0, 0);
    for (((signature, p, q), answer), judged) in pairs.iter().zip(&verdicts).zip(&judged) {
        let [start, map] = ["start", "map"].map(|from| &judged[from]);
        let carries = judged["carries"] == true;
        let says = |what: &Value, words: &[&str]| words.iter().any(|word| what["said"] == *word);
        // Where a result hangs on rounding nobody is right.
        if start["steady"] != true || (!carries && map["steady"] != true) {
            unsteady += 1;
            continue;
        }
        let same_map = carries || says(map, &["agree"]);
        let contradicted = match answer {
            Answer::Equivalent => {
                yes += 1;
                says(start, &["differ", "domain"]) || (!carries && says(map, &["differ", "domain"]))
            }
            Answer::Different => {
                no += 1;
                says(start, &["agree"]) && start["moved"] == true && same_map
            }
            Answer::Undecided => {
                undecided += 1;
                if std::env::var_os("LIST_UNDECIDED").is_some() {
                    println!("{signature:?}: {judged}\n{p}\n{q}\n");
                }
                false
            }
        };
        if contradicted {
            wrong.push(format!("{signature:?}: {answer:?}, but {judged}:\n{p}\n{q}"));
        }
    }
    println!("{count} pairs: {yes} yes, {no} no, {undecided} undecided, {unsteady} that hang on rounding");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(10 * yes > count && 10 * no > count, "too few of either answer to mean anything");
    assert!(20 * undecided < count, "too many undecided");
}
