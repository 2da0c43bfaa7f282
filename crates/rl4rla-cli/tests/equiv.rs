//! `rl4rla equiv`, and the names that `show` gives.

mod common;

use common::{json, rl4rla, written};

#[test]
fn the_forms_of_the_sketched_preconditioner_are_one_algorithm_of_different_stability() {
    let forms = ["sketched-precond-gd", "sketched-precond-gd-factored", "sketched-precond-gd-gram"];
    for (p, q) in [(forms[0], forms[1]), (forms[1], forms[2]), (forms[2], forms[0])] {
        let verdict = json(&["equiv", p, q]);
        assert_eq!(verdict["equivalent"], true);
        assert_eq!((&verdict["symbolic"], &verdict["numeric"]), (&"equal".into(), &"agree".into()));
        assert!(verdict["max_deviation"].as_f64().unwrap() < 1e-9);
        let kappa = verdict["stability"]["kappa"].as_f64().unwrap();
        assert!((1e6..1e12).contains(&kappa), "{p} {q} part at {kappa}");
    }
    let factored_wins = json(&["equiv", forms[0], forms[1]]);
    assert_eq!(factored_wins["stability"]["steadier"], forms[1]);
}

#[test]
fn different_algorithms_end_with_exit_code_1_and_the_place_where_they_part() {
    for (p, q) in [("ls-gd", "precond-gd"), ("sgd", "block-kaczmarz"), ("landweber", "ls-gd")] {
        let said = rl4rla(&["equiv", p, q, "--json"]);
        assert_eq!(said.code, 1, "{p} {q}");
        let verdict = said.json();
        assert_eq!((&verdict["equivalent"], &verdict["numeric"]), (&false.into(), &"differ".into()));
        assert!(verdict["reasons"][1].as_str().unwrap().contains("iteration 1"), "{verdict}");
    }
    let laws = rl4rla(&["equiv", "sketched-precond-sgd", "precond-weighted-sgd", "--json"]).json();
    assert_eq!(laws["equivalent"], false);
    assert!(laws["reasons"][1].as_str().unwrap().contains("distribution"), "{laws}");
}

#[test]
fn the_papers_example_is_the_catalogue_program() {
    let text = "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)\n\
                iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n \
                v1 = MAT_VEC_MUL(R1, v1)\n";
    let path = &written("papers-example.rla", text);
    assert_eq!(json(&["equiv", path, "sketched-precond-gd"])["equivalent"], true);
    let text = rl4rla(&["show", path]).out;
    assert!(
        text.contains("this is Sketched Preconditioned Gradient Descent (sketched-precond-gd)"),
        "{text}"
    );

    let stranger = written("stranger.rla", "iteration:\n v1 = VEC_VEC_ADD(x, x)\n");
    assert!(json(&["show", &stranger])["matched"].is_null());
}

#[test]
fn programs_without_a_common_shape_are_refused() {
    let broken = written("reads-too-early.rla", "iteration:\n v1 = VEC_VEC_ADD(v2, x)\n");
    let said = rl4rla(&["equiv", "ls-gd", &broken]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("`v2` is read before"), "{said:?}");
}
