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

const GRADIENT: &str = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";

#[test]
fn a_program_that_fails_at_zero_is_not_the_one_that_runs_there() {
    let scaled = |name: &str, scale: &str| {
        let text = format!("iteration:\n {GRADIENT} {scale} v1 = SCALAR_VEC_MUL(a1, v1)\n");
        let path = written(&format!("fails-at-zero-{name}.rla"), &text);
        let said = rl4rla(&["equiv", "ls-gd", &path, "--json"]);
        let verdict = said.json();
        assert_eq!((said.code, &verdict["equivalent"]), (1, &false.into()), "{verdict}");
        assert_eq!(verdict["symbolic"], "equal");
        assert!(json(&["show", &path])["matched"].is_null(), "it has no name");
        (path, verdict)
    };
    let (path, verdict) = scaled("unit", "v2 = VEC_NORMALIZE(x)\n a1 = VEC_VEC_DOT(v2, v2)\n");
    assert_eq!(verdict["numeric"], "domain");
    let reason = verdict["reasons"][1].as_str().unwrap();
    assert!(reason.contains("from the initial state") && reason.contains("fails in iteration 1"), "{reason}");
    assert_eq!(verdict["one_sided"].as_array().unwrap().len(), 3);
    let text = rl4rla(&["equiv", "ls-gd", &path]).out;
    assert!(text.contains("not equivalent: one fails where the other runs"), "{text}");
    // Where a quotient is 0 by rule, so is the first step.
    let (_, verdict) = scaled("quotient", "a1 = VEC_VEC_DOT(x, x)\n a1 = SCALAR_DIV(a1, a1)\n");
    assert_eq!(verdict["numeric"], "differ");
}

#[test]
fn what_a_velocity_is_held_as_is_a_matter_of_taste() {
    let zero = "v3 = VEC_VEC_SUB(x, x)\n";
    let forms = [
        format!(
            "v2 = SCALAR_VEC_MUL(eta, m1)\n m1 = VEC_VEC_ADD(v1, v2)\n {zero} v1 = VEC_VEC_ADD(m1, v3)\n"
        ),
        format!(
            "v2 = SCALAR_VEC_MUL(eta, m1)\n v1 = VEC_VEC_SUB(v1, v2)\n {zero} m1 = VEC_VEC_SUB(v3, v1)\n"
        ),
        format!("v2 = VEC_VEC_SUB(m2, x)\n v1 = VEC_VEC_ADD(v1, v2)\n {zero} m2 = VEC_VEC_ADD(x, v3)\n"),
    ];
    let paths: Vec<String> = (0..)
        .zip(&forms)
        .map(|(i, form)| written(&format!("velocity-{i}.rla"), format!("iteration:\n {GRADIENT} {form}")))
        .collect();
    for (p, q) in [(0, 1), (1, 2), (2, 0)] {
        let verdict = json(&["equiv", &paths[p], &paths[q]]);
        assert_eq!(verdict["equivalent"], true);
        assert!(verdict["reasons"][0].as_str().unwrap().contains("linear change of the carried registers"));
    }
    assert_eq!(rl4rla(&["equiv", &paths[0], "ls-gd"]).code, 1);
}

#[test]
fn programs_are_compared_on_the_problems_they_are_made_for() {
    let head = |family: &str, update: &str| {
        let family = if family.is_empty() { String::new() } else { format!("family: {family}\n") };
        format!("{family}{update}iteration:\n ")
    };
    let (assign, unit) = ("update: assign\n", "v1 = VEC_NORMALIZE(v1)\n");
    let transposed = "v1 = VEC_MAT_MUL(x, A)\n";
    let (times, residual) =
        ("v1 = MAT_VEC_MUL(A, x)\n", "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n");
    let minus_b = "v1 = VEC_VEC_SUB(v1, b)\n";
    // Two programs, options, whether they are equivalent, and where.
    let power = format!("{}{times} {unit}", head("eigenvalue", assign));
    let power_nowhere = format!("{}{times} {unit}", head("", assign));
    let turned = format!("{}{transposed} {unit}", head("", assign));
    let landweber = format!("{}{residual}", head("psd", ""));
    let landweber_nowhere = format!("{}{residual}", head("", ""));
    let landweber_turned = format!("{}{transposed} {minus_b}", head("", ""));
    let gradient = format!("{}{GRADIENT}", head("low-cond", ""));
    let gradient_psd = format!("{}{GRADIENT}", head("psd", ""));
    let squared = format!("{}{residual} v1 = MAT_VEC_MUL(A, v1)\n", head("psd", ""));
    let squared_nowhere = format!("{}{residual} v1 = MAT_VEC_MUL(A, v1)\n", head("", ""));
    let cases: [(&str, &str, &[&str], bool, &str); 14] = [
        (&power, &turned, &[], true, "symmetric"),
        (&turned, &power, &[], true, "symmetric"),
        (&power_nowhere, &turned, &[], false, "square"),
        (&power_nowhere, &turned, &["--shape", "symmetric"], true, "symmetric"),
        (&power, &turned, &["--shape", "square"], false, "square"),
        (&landweber, &landweber_turned, &[], true, "symmetric"),
        (&landweber_nowhere, &landweber_turned, &[], false, "square"),
        (&landweber_nowhere, &landweber_turned, &["--shape", "symmetric"], true, "symmetric"),
        (&landweber, &landweber_turned, &["--shape", "square"], false, "square"),
        (&gradient, &squared, &[], true, "symmetric"),
        (&gradient_psd, &squared_nowhere, &[], true, "symmetric"),
        (&gradient_psd, &squared_nowhere, &["--shape", "square"], false, "square"),
        (&gradient, &gradient_psd, &[], true, "tall"),
        (&gradient, &gradient_psd, &["--shape", "symmetric"], true, "symmetric"),
    ];
    for (i, (p, q, options, equivalent, geometry)) in cases.into_iter().enumerate() {
        let p = written(&format!("made-for-{i}-p.rla"), p);
        let q = written(&format!("made-for-{i}-q.rla"), q);
        let verdict = rl4rla(&[&["equiv", &p, &q, "--json"], options].concat()).json();
        assert_eq!(
            (&verdict["equivalent"], &verdict["geometry"]),
            (&equivalent.into(), &geometry.into()),
            "{i}: {verdict}"
        );
    }
    // `show` takes the same problems.
    let shown = |options: &[&str]| json(&[&["show", "ls-gd"], options].concat())["geometry"].clone();
    assert_eq!((shown(&[]), shown(&["--shape", "symmetric"])), ("tall".into(), "symmetric".into()));
    // Families of different shapes are told of, and a shape that does not fit is refused.
    let text = rl4rla(&["equiv", "landweber", "ls-gd"]).out;
    assert!(text.contains("the family of ls-gd is tall, the family of landweber is symmetric"), "{text}");
    let said = rl4rla(&["equiv", "landweber", "ls-gd", "--shape", "tall"]);
    assert!(said.code == 2 && said.err.contains("landweber"), "{said:?}");
}

#[test]
fn the_work_of_a_verdict_is_bounded_and_says_so() {
    let outer = "R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = MAT_INV(R1)\n";
    let step = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = MAT_VEC_MUL(R1, v1)\n v1 = VEC_MAT_MUL(v1, A)\n";
    let path = written("outer.rla", format!("iteration:\n {outer} {step}"));
    let verdict = json(&["equiv", "precond-gd", &path]);
    assert_eq!(verdict["equivalent"], true);
    assert!(verdict["cut"].as_str().unwrap().contains("smaller than usual"), "{verdict}");
    assert_eq!(json(&["show", &path])["same_iterates"]["name"], "gram-refinement");
}
