use super::*;
use crate::curriculum::BUILTIN;
use crate::program::Geometry;
use proptest::prelude::*;

/// A text with every key. The line numbers below are its own.
const TEXT: &str = r#"title = "Preconditioning"
about = "two stages"
reference = "none"
start = "ls-gd"

[defaults]
edits = 3
exploration = 0.25

[[stage]]
name = "part"
about = "slow"
open = ["setup"]
operators = ["HHQR", "MAT_INV", "MAT_MAT_TRANS_MUL"]
registers = ["v1", "R1"]
setup-only = ["R1"]
family = { kind = "mid-cond", rows = 200, cols = 5, leverage = "high", outside = 0.3, scale = "raw", right = "student-t" }
conditions = [1e2, 1e5]
iterations = 20
step = [0.1, 0.5]
sketch = "gaussian"
sketch-factor = 4
batch = 10
sampling = "released"
keep = ["R1"]
reward = { profile = "paper", acc = 0, decay = 2, comp = 3, cond = 4, condition-only = true, ungated = true }
exploration = 0
budget = 7
instances = { search = 1, select = 2, report = 3 }
target = "precond-gd"
completed-by = "v1 = MAT_VEC_MUL(R1, v1)"

[[stage]]
name = "whole"
family = { kind = "mid-cond", rows = 2000, cols = 20, condition = 10 }
reward = { profile = "tolerance", epsilon = 1e-6, unit = "passes", rows = 1000000, cols = 500 }
target = """
setup:
  R1 = HHQR(A)
  R1 = MAT_INV(R1)
  R1 = MAT_MAT_TRANS_MUL(R1, R1)
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = MAT_VEC_MUL(R1, v1)
"""
"#;

fn parse(text: &str) -> Result<Curriculum, SpecError> {
    Curriculum::parse("test", text)
}

/// The error after one replacement, which must change the text.
fn error(from: &str, to: &str) -> SpecError {
    assert_eq!(TEXT.matches(from).count(), 1, "{from}");
    match parse(&TEXT.replace(from, to)) {
        Ok(_) => panic!("{to} was accepted"),
        Err(error) => error,
    }
}

#[test]
fn every_key_is_read() {
    // Keys that the text lacks, added only here so that its line numbers stay.
    let more = "budget = 7\nbudget-per = \"decision\"\nredirect = true\nmerge = \"fingerprint\"\nstable = true\ntypes = \"shapes\"\n";
    let whole = TEXT.replace("budget = 7\n", more).replace("report = 3 }", "report = 3, fresh = \"draws\" }");
    for key in TOP_KEYS.iter().chain(&STAGE_KEYS).chain(&FAMILY_KEYS).filter(|key| **key != "defaults") {
        let named = [format!("{key} ="), format!("[[{key}]]")];
        assert!(named.iter().any(|named| whole.contains(named.as_str())), "{key}");
    }
    let Curriculum { name, title, about, reference, start, stages, text } = parse(&whole).unwrap();
    assert_eq!([&name, &title, &about, &reference], ["test", "Preconditioning", "two stages", "none"]);
    assert_eq!(text, whole);
    assert_eq!(start, Entry::named("ls-gd").unwrap().document.program);
    let (stage, target) = &stages[0];
    let grammar = &stage.grammar;
    let names = |set: RegSet| set.iter().map(Reg::name).collect::<Vec<_>>();
    assert_eq!((stage.name.as_str(), stage.edits, stage.budget), ("part", 3, 7));
    assert_eq!(stage.exploration, 0.0);
    assert!(stage.budget_per_decision && grammar.redirect && target.stable);
    assert_eq!(stage.merge, Merge::Fingerprint);
    assert_eq!(stage.instances, Instances { search: 1, select: 2, report: 3, fresh: Fresh::Draws });
    assert_eq!(
        grammar.operators.iter().map(|op| op.name).collect::<Vec<_>>(),
        ["HHQR", "MAT_INV", "MAT_MAT_TRANS_MUL"]
    );
    assert_eq!(names(grammar.registers), ["A", "b", "x", "eta", "v1", "R1"]);
    assert_eq!((names(grammar.iteration_only), names(grammar.setup_only)), (vec!["v1"], vec!["R1"]));
    assert_eq!((&grammar.open[..], grammar.signature.geometry), (&[Section::Setup][..], Geometry::Tall));
    let kept = LiveOut::Keeping(RegSet::EMPTY.with(Reg::R1));
    assert_eq!((grammar.live_out, stage.protocol.live_out), (kept, kept));
    let family = Family {
        rows: 200,
        cols: 5,
        condition: Some(1e2),
        leverage: Leverage::High,
        outside: 0.3,
        scale: Scale::Raw,
        right: Right::StudentT,
        ..Family::named("mid-cond").unwrap()
    };
    assert_eq!(stage.families, [family, Family { condition: Some(1e5), ..family }]);
    let profile =
        Profile::Paper { weights: Weights::new(0.0, 2.0, 3.0, 4.0), ungated: true, condition_only: true };
    assert_eq!(
        stage.protocol,
        Protocol {
            iterations: 20,
            step: StepRule::Best(vec![0.1, 0.5]),
            sketch: SketchKind::Gaussian,
            mu: 0.0,
            every: 10,
            sketch_factor: 4.0,
            batch: 10,
            sampling: Sampling::Released,
            profile,
            live_out: kept,
        }
    );
    assert_eq!((target.name, target.about.as_str()), (Some("precond-gd"), "slow"));
    assert_eq!(target.completed_by[0].to_string(), "v1 = MAT_VEC_MUL(R1, v1)");
    let charge = Charge { unit: Unit::Passes, rows: 1_000_000, cols: 500 };
    assert_eq!(stages[1].0.protocol.profile, Profile::Tolerance { epsilon: 1e-6, charge });
    assert_eq!((&stages[1].1.program, stages[1].1.name), (&target.program, None));
}

#[test]
fn what_came_later_is_named_to_be_used() {
    let text =
        TEXT.replace("registers = [\"v1\", \"R1\"]", "registers = [\"v1\", \"R1\", \"x\", \"d\", \"mu\"]");
    let [named, usual] = [&text, TEXT].map(|text| parse(text).unwrap().stages[0].0.grammar.clone());
    assert!(named.warm_start && !usual.warm_start);
    assert_eq!(named.registers.minus(usual.registers), [Reg::D, Reg::MU].into_iter().collect());
}

#[test]
fn what_is_left_out_has_a_default() {
    let curriculum = parse(TEXT).unwrap();
    let stage = &curriculum.stages[1].0;
    assert_eq!((stage.edits, stage.exploration), (3, 0.25), "from the table of defaults");
    assert_eq!(stage.budget, 20_000);
    assert_eq!(stage.instances, Instances { search: 16, select: 8, report: 8, fresh: Fresh::No });
    let Grammar { operators, registers, setup_only, open, live_out, .. } = &stage.grammar;
    assert_eq!((operators.len(), &open[..]), (17, &Section::BOTH[..]));
    let usual = [Reg::A, Reg::B, Reg::X, Reg::ETA, Reg::V1, Reg::R1, Reg::P1].into_iter().collect();
    assert_eq!((*registers, *setup_only, *live_out), (usual, RegSet::EMPTY, LiveOut::Finished));
    let protocol = Protocol::new(stage.protocol.profile.clone(), StepRule::Best(SOUND_GRID.to_vec()));
    assert_eq!(stage.protocol, protocol);
    let bare = "title = \"t\"\n[[stage]]\nname = \"a\"\nedits = 3\nfamily.kind = \"low-cond\"\n\
                target = \"ls-gd\"\n";
    let curriculum = parse(bare).unwrap();
    assert_eq!((curriculum.start, curriculum.about.as_str()), (Program::default(), ""));
    let stage = &curriculum.stages[0].0;
    assert_eq!((stage.exploration, &stage.families[..]), (0.5, &[Family::named("low-cond").unwrap()][..]));
    assert_eq!(stage.protocol.profile, Profile::sound());
    let paper = parse(&format!("{bare}reward = {{ profile = \"paper\" }}\noperators = \"paper\"\n")).unwrap();
    assert_eq!(paper.stages[0].0.protocol.profile, Profile::paper());
    assert_eq!(paper.stages[0].0.protocol.step, StepRule::Best(PAPER_GRID.to_vec()));
    assert_eq!(paper.stages[0].0.grammar.operators.len(), PAPER_OPERATORS.len());
    let tolerance = "reward = { profile = \"tolerance\", epsilon = 1e-3 }\nstep = 1\n";
    let stage = &parse(&format!("{bare}{tolerance}")).unwrap().stages[0].0;
    let charge = Charge { unit: Unit::Flops, rows: 10_000, cols: 50 };
    assert_eq!(stage.protocol.profile, Profile::Tolerance { epsilon: 1e-3, charge });
    assert_eq!(stage.protocol.step, StepRule::Fixed(1.0));
}

#[test]
fn errors_read_like_sentences() {
    assert_eq!(
        error("budget = 7", "budget = -3").to_string(),
        "line 28, stage `part`, key `budget`: expected a whole number of at least 1, got -3"
    );
    assert_eq!(
        error("edits = 3", "edits = 21").to_string(),
        "line 7, key `defaults.edits`: expected a whole number from 1 to 20, got 21"
    );
    assert_eq!(
        error("sketch = \"gaussian\"", "sketch = \"gausian\"").to_string(),
        "line 21, stage `part`, key `sketch`: expected one of \"sjlt\", \"gaussian\", \"countsketch\", \"srht\", \"sjlt2\", \"sjlt4\", \
         got \"gausian\"; did you mean `gaussian`?"
    );
    let unknown = error("budget", "bugdet").to_string();
    assert!(
        unknown.starts_with("line 28, stage `part`, key `bugdet`: unknown key; known here are `name`, "),
        "{unknown}"
    );
    assert!(unknown.ends_with("; did you mean `budget`?"), "{unknown}");
    assert_eq!(error("name = \"whole\"\n", "").to_string(), "line 33, stage 2, key `name`: missing");
}

/// Text to replace, its replacement, and then the expected line, key and part of the message.
type Fault = (&'static str, &'static str, usize, &'static str, &'static str);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    // The text itself.
    ("[[stage]]\nname = \"whole\"", "[[stage]\nname = \"whole\"", 33, "", "not TOML"),
    ("budget = 7", "budget = ", 28, "", "not TOML"),
    ("budget = 7", "budget = 7\nbudget = 8", 29, "", "not TOML: duplicate key"),
    // Missing keys.
    ("title = \"Preconditioning\"\n", "", 1, "title", "missing"),
    ("name = \"part\"\n", "", 10, "name", "missing"),
    ("edits = 3\n", "", 9, "edits", "missing"),
    ("target = \"precond-gd\"\n", "", 30, "completed-by", "no `target`"),
    ("family = { kind = \"mid-cond\", rows = 200, ", "# ", 10, "family", "missing"),
    ("kind = \"mid-cond\", rows = 200,", "rows = 200,", 17, "family.kind", "missing"),
    ("profile = \"paper\", ", "", 26, "reward.profile", "missing"),
    ("epsilon = 1e-6, ", "", 36, "reward.epsilon", "missing"),
    // Unknown keys.
    ("reference =", "refrence =", 3, "refrence", "unknown key"),
    ("edits = 3", "edit = 3", 7, "defaults.edit", "unknown key"),
    ("leverage =", "levrage =", 17, "family.levrage", "unknown key"),
    ("decay = 2", "speed = 2", 26, "reward.speed", "unknown key"),
    ("unit = ", "ungated = true, unit = ", 36, "reward.ungated", "unknown key"),
    ("select = 2", "choose = 2", 29, "instances.choose", "unknown key"),
    // Wrong types.
    ("title = \"Preconditioning\"", "title = 3", 1, "title", "expected a string, got 3"),
    ("about = \"slow\"", "about = [1]", 12, "about", "expected a string, got [1]"),
    ("[defaults]\nedits = 3\nexploration = 0.25", "defaults = 3", 6, "defaults", "expected a table, got 3"),
    ("open = [\"setup\"]", "open = \"setup\"", 13, "open", "expected a list of sections"),
    ("open = [\"setup\"]", "open = []", 13, "open", "the list is empty"),
    ("operators = [\"HHQR\", \"MAT_INV\", \"MAT_MAT_TRANS_MUL\"]", "operators = 17", 14, "operators", "or a list of operators"),
    ("iterations = 20", "iterations = 2e1", 19, "iterations", "a whole number from 1 to 100000, got 2e1"),
    ("budget = 7", "budget = 99999999999999999999", 28, "budget", "a whole number"),
    ("sketch-factor = 4", "sketch-factor = \"4\"", 22, "sketch-factor", "a number above 0, got \"4\""),
    ("condition-only = true", "condition-only = 1", 26, "reward.condition-only", "true or false, got 1"),
    ("instances = { search = 1, select = 2, report = 3 }", "instances = 16", 29, "instances", "a table"),
    ("conditions = [1e2, 1e5]", "conditions = 2", 18, "conditions", "a list of condition numbers"),
    ("keep = [\"R1\"]", "keep = \"R1\"", 25, "keep", "a list of registers"),
    // Numbers out of range, or none.
    ("iterations = 20", "iterations = 0", 19, "iterations", "got 0"),
    ("step = [0.1, 0.5]", "step = [0.1, 0]", 20, "step", "a number above 0, got 0"),
    ("step = [0.1, 0.5]", "step = -1", 20, "step", "a list of them, or \"best\", got -1"),
    ("step = [0.1, 0.5]", "step = nan", 20, "step", "got nan"),
    ("step = [0.1, 0.5]", "step = \"bets\"", 20, "step", "expected \"best\""),
    ("sketch-factor = 4", "sketch-factor = inf", 22, "sketch-factor", "got inf"),
    ("sketch-factor = 4", "sketch-factor = 1e999", 22, "sketch-factor", "got 1e999"),
    ("batch = 10", "batch = -10", 23, "batch", "got -10"),
    ("decay = 2", "decay = -2", 26, "reward.decay", "a number of at least 0, got -2"),
    ("acc = 0, decay = 2, comp = 3, cond = 4, condition-only = true", "acc = 0, decay = 0, comp = 0, cond = 0", 26, "reward.acc", "all weights are 0"),
    ("exploration = 0\n", "exploration = -0.5\n", 27, "exploration", "at least 0"),
    ("search = 1", "search = 0", 29, "instances.search", "got 0"),
    ("epsilon = 1e-6", "epsilon = 0", 36, "reward.epsilon", "above 0"),
    ("rows = 1000000, cols = 500", "rows = 100, cols = 500", 36, "reward.rows", "fewer than its 500 columns"),
    // Unknown names.
    ("\"setup\"", "\"setpu\"", 13, "open", "expected one of \"setup\", \"iteration\", \"forward\", \"update\""),
    ("\"MAT_INV\"", "\"MAT_IV\"", 14, "operators", "expected one of \"VEC_VEC_ADD\""),
    ("\"MAT_INV\"", "\"HHQR\"", 14, "operators", "\"HHQR\" is listed twice"),
    ("[\"v1\", \"R1\"]", "[\"v1\", \"A\"]", 15, "registers", "expected one of \"a1\""),
    ("sampling = \"released\"", "sampling = \"biased\"", 24, "sampling", "expected one of \"unbiased\""),
    ("profile = \"paper\"", "profile = \"papr\"", 26, "reward.profile", "expected one of \"sound\""),
    ("unit = \"passes\"", "unit = \"bytes\"", 36, "reward.unit", "expected one of \"flops\""),
    ("kind = \"mid-cond\", rows = 200,", "kind = \"midcond\", rows = 200,", 17, "family.kind", "expected one of \"psd\""),
    ("leverage = \"high\"", "leverage = \"mid\"", 17, "family.leverage", "expected one of \"low\""),
    ("start = \"ls-gd\"", "start = \"ls-dg\"", 4, "start", "expected one of \"landweber\""),
    ("target = \"precond-gd\"", "target = \"precond\"", 30, "target", "expected one of \"landweber\""),
    // Stages.
    ("name = \"whole\"", "name = \"part\"", 34, "name", "an earlier stage is named `part`"),
    ("name = \"part\"", "name = \"Part 1\"", 11, "name", "small letters, digits and `-`, got \"Part 1\""),
    // Families.
    ("rows = 200,", "rows = 2,", 17, "family", "rows ≥ cols, got 2 × 5"),
    ("outside = 0.3", "outside = 1.5", 17, "family", "outside must be"),
    ("conditions = [1e2, 1e5]", "conditions = [1e2, 0.5]", 18, "conditions", "≥ 1, got 0.5"),
    ("condition = 10 }", "condition = 10 }\nconditions = [2]", 36, "conditions", "already has a `condition`"),
    ("{ kind = \"mid-cond\", rows = 2000, cols = 20, condition = 10 }", "[{ kind = \"mid-cond\" },\n { kind = \"psd\" }]", 36, "family", "cannot mix"),
    // Programs.
    ("  R1 = MAT_INV(R1)\n", "  R1 = MAT_IVN(R1)\n", 40, "target", "did you mean `MAT_INV`?"),
    ("completed-by = \"v1 =", "completed-by = \"v9 =", 31, "completed-by", "expected a register"),
    ("target = \"precond-gd\"", "target = \"title: nothing\"", 30, "target", "no instruction"),
    ("target = \"precond-gd\"", "target = \"landweber\"", 30, "target", "it does not fit: "),
    ("completed-by = \"v1 = MAT_VEC_MUL(R1, v1)\"", "completed-by = \"v1 = VEC_MAT_MUL(v1, A)\\nv1 = MAT_VEC_MUL(R1, v1)\"", 30, "target", "the part to be found does not fit: "),
    ("keep = [\"R1\"]", "keep = [\"R1\", \"p1\"]", 30, "target", "does not write p1"),
    // Out of reach.
    ("open = [\"setup\"]", "open = [\"iteration\"]", 30, "target", "`R1 = HHQR(A)` cannot be inserted: setup is not in `open`"),
    ("\"MAT_INV\", ", "", 30, "target", "`R1 = MAT_INV(R1)` cannot be inserted: MAT_INV is not in `operators`"),
    ("[\"v1\", \"R1\"]", "[\"v1\", \"R2\"]", 30, "target", "R1 is not in `registers`"),
    ("edits = 3", "edits = 2", 30, "target", "it needs 3 insertions but `edits` is 2; none is left for `R1 = MAT_MAT_TRANS_MUL(R1, R1)`"),
    ("start = \"ls-gd\"", "start = \"landweber\"", 30, "target", "`v1 = VEC_MAT_MUL(v1, A)` cannot be inserted: iteration is not"),
    ("condition = 10 }", "condition = 10 }\nsetup-only = [\"v1\"]", 38, "target", "`v1 = MAT_VEC_MUL(R1, v1)` cannot be inserted: iteration may not write v1"),
];

#[test]
fn every_fault_is_placed_and_explained() {
    for (from, to, line, key, part) in FAULTS {
        let error = error(from, to);
        assert_eq!((error.line, error.key.as_str()), (*line, *key), "{to}: {error}");
        assert!(error.to_string().contains(part), "{to}: {error}");
    }
}

#[test]
fn stages_are_tables_and_there_is_one() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(message("title = \"t\""), "line 1, key `stage`: missing; start one with `[[stage]]`");
    assert_eq!(message("title = \"t\"\nstage = []"), "line 2, key `stage`: the list is empty");
    assert_eq!(
        message("title = \"t\"\n[stage]\nname = \"a\""),
        "line 2, key `stage`: expected tables, each headed `[[stage]]`, got a table"
    );
    assert!(message(&"#".repeat(1 << 17)).contains("131072 bytes long"));
}

#[test]
fn a_stage_may_take_several_families_at_several_conditions() {
    let text = TEXT.replace("condition = 10 }", "}\nconditions = [2, 4]").replace(
        "{ kind = \"mid-cond\", rows = 2000, cols = 20, }",
        "[{ kind = \"low-cond\" }, { kind = \"mid-cond\" }]",
    );
    let families = &parse(&text).unwrap().stages[1].0.families;
    let seen: Vec<_> = families.iter().map(|f| (f.kind.info().name, f.condition.unwrap())).collect();
    assert_eq!(seen, [("low-cond", 2.0), ("mid-cond", 2.0), ("low-cond", 4.0), ("mid-cond", 4.0)]);
}

#[test]
fn nesting_is_no_danger() {
    let deep = |open: &str, close: &str, n| parse(&format!("a = {}{}", open.repeat(n), close.repeat(n)));
    let key = ["a"; 70].join(".");
    assert!(deep("[", "]", 20_000).is_err());
    assert!(deep(&format!("{{ {key} = "), "}", 400).is_err());
    assert!(deep(&format!("{{ {key} = "), "}", 70).is_err());
    assert!(parse(&format!("[{}]", ["a"; 30_000].join("."))).is_err());
}

proptest! {
    /// Any text gives a result, never a panic; and errors are inside the text.
    #[test]
    fn no_text_is_a_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        let line = parse(&text).unwrap_err().line;
        prop_assert!((1..=text.matches('\n').count() + 1).contains(&line));
    }

    #[test]
    fn no_change_of_a_valid_text_is_a_danger(
        which in 0..BUILTIN.len() + 1,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, "[-a-z0-9\"=\\[\\]{},.\n: ]{0,6}"), 1..4),
    ) {
        let text = BUILTIN.get(which).map_or(TEXT, |(_, text)| text);
        let mut text: Vec<char> = text.chars().collect();
        for (at, removed, put) in changes {
            let start = at.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = parse(&text) {
            prop_assert!((1..=text.matches('\n').count() + 1).contains(&error.line), "{}", error);
        }
    }
}
