//! Bad input: exit code 2, a message that names the thing and says what to do, and never a panic.

mod common;

use common::{rl4rla, scratch, written};

/// Refuses, in words for a person and in one document for a script.
#[track_caller]
fn assert_refused(args: &[&str], expected: &[&str]) {
    let text = rl4rla(args);
    assert_eq!(text.code, 2, "{args:?}: {text:?}");
    assert_eq!(text.out, "", "{args:?}: standard output is for results");
    for part in expected {
        assert!(text.err.contains(part), "{args:?}: `{part}` is missing from\n{}", text.err);
    }
    let said = rl4rla(&[args, &["--json"]].concat());
    assert_eq!(said.code, 2, "{args:?}: {said:?}");
    let document = said.json();
    assert_eq!(document.as_object().map(|o| o.len()), Some(1), "{args:?}: {document}");
    for key in ["message", "advice"] {
        let words = document["error"][key].as_str().unwrap_or_default();
        assert!(!words.is_empty(), "{args:?}: no {key} in {document}");
    }
    // A script is told no less than a person.
    let told = format!("{} {}", document["error"]["message"], document["error"]["advice"]);
    for part in expected {
        assert!(told.contains(part), "{args:?}: `{part}` is missing from {told}");
    }
}

/// Options of a small evaluation are refused.
#[track_caller]
fn assert_options_refused(options: &[&str], expected: &[&str]) {
    assert_refused(&[&["evaluate", "ls-gd"], options].concat(), expected);
}

#[test]
fn programs_that_do_not_exist() {
    for verb in ["show", "evaluate"] {
        assert_refused(&[verb, "ls-dg"], &["no program `ls-dg`", "`ls-gd`", "rl4rla list programs"]);
        assert_refused(
            &[verb, "sketched-precond"],
            &["no program `sketched-precond`", "`sketched-precond-gd`"],
        );
        assert_refused(&[verb, "nothing/like/it.rla"], &["nothing/like/it.rla", "rl4rla list programs"]);
        assert_refused(&[verb, ""], &["rl4rla list programs"]);
    }
}

#[test]
fn more_iterations_than_anyone_waits_for() {
    let data = written("too-long.csv", "a,y\n1,2\n3,4\n5,7\n");
    let asked = ["solve", "ls-gd", "--matrix", &data, "--target", "y", "--iterations", "100000000"];
    assert_refused(&asked, &["100000000", "fewer --iterations"]);
}

#[test]
fn files_that_are_not_programs() {
    let folder = scratch("folder.rla");
    std::fs::create_dir_all(&folder).unwrap();
    let cases = [
        (written("large.rla", vec![b'#'; 10_000_000]), "larger than 1024 KiB"),
        (written("binary.rla", [0xff, 0xfe, 0x00, 0x80].repeat(500)), "is not text"),
        (written("zeros.rla", [0; 500]), "is not text"),
        // Printed, it would recolour the reader's terminal.
        (
            written("escape.rla", "title: \u{1b}[31mred\niteration:\n  v1 = VEC_MAT_MUL(b, A)\n"),
            "is not text",
        ),
        (written("empty.rla", ""), "contains no instructions"),
        (written("remark.rla", "# nothing yet\n\niteration:\n"), "contains no instructions"),
        (folder.to_str().unwrap().to_string(), "is a folder"),
    ];
    for (file, complaint) in &cases {
        for verb in ["show", "evaluate"] {
            assert_refused(&[verb, file], &[file.rsplit(['/', '\\']).next().unwrap(), complaint, ".rla"]);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_not_waited_for() {
    assert_refused(&["show", "/dev/zero"], &["/dev/zero", "not a plain file"]);
    let pipe = scratch("pipe.rla");
    let _ = std::fs::remove_file(&pipe);
    // Nobody ever writes to it: a command that opens it never ends.
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_refused(&["show", pipe.to_str().unwrap()], &["not a plain file"]);
}

#[test]
fn mistakes_in_a_program_are_pointed_at() {
    // The text, and what the message must hold.
    let cases: [(&str, &[&str]); 6] = [
        ("iteration:\n  v1 = MAT_VEC_MULL(A, x)\n", &["line 2, column 8", "`MAT_VEC_MULL`", "`MAT_VEC_MUL`"]),
        ("iteration:\n  v1 = MAT_VEC_MUL(A, q)\n", &["line 2, column 23", "`q`", "register"]),
        ("iteration:\n  v1 = MAT_VEC_MUL(A, x\n", &["line 2, column 24"]),
        ("iteration\n  v1 = VEC_MAT_MUL(b, A)\n", &["line 1, column 1", "iteration"]),
        ("iteration:\n  v1 = VEC_MAT_MUL(b, A)\nsetup:\n", &["line 3", "setup"]),
        ("titel: mine\niteration:\n  v1 = VEC_MAT_MUL(b, A)\n", &["line 1", "titel", "title"]),
    ];
    for (i, (text, expected)) in cases.into_iter().enumerate() {
        let file = written(&format!("mistake-{i}.rla"), text);
        assert_refused(&["show", &file], &[&[file.as_str()], expected].concat());
    }
}

#[test]
fn shapes_that_do_not_fit_are_pointed_at() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "R1 = HHQR(A)\n  v1 = MAT_VEC_MUL(R1, R1)",
            &["instruction 2 `v1 = MAT_VEC_MUL(R1, R1)`", "do not fit"],
        ),
        ("v1 = MAT_VEC_MUL(A)", &["instruction 1 `v1 = MAT_VEC_MUL(A)`", "do not fit"]),
        ("v1 = MAT_VEC_MUL(R2, x)", &["instruction 1 `v1 = MAT_VEC_MUL(R2, x)`", "R2"]),
        ("x = VEC_MAT_MUL(b, A)", &["`x` is read-only", "v1"]),
        ("v2 = VEC_MAT_MUL(b, A)", &["never writes v1"]),
    ];
    for (i, (body, expected)) in cases.into_iter().enumerate() {
        let file = written(&format!("shapes-{i}.rla"), format!("iteration:\n  {body}\n"));
        assert_refused(&["show", &file], &[&[file.as_str(), "rl4rla list operators"], expected].concat());
    }
    // This one fits square systems only, so the family decides.
    let file = written("square.rla", "iteration:\n  v1 = MAT_VEC_MUL(A, b)\n");
    assert_eq!(rl4rla(&["show", &file]).code, 0);
    assert_refused(
        &["evaluate", &file, "--family", "mid-cond"],
        &["v1 = MAT_VEC_MUL(A, b)", "do not fit", "mid-cond"],
    );
    assert_refused(&["evaluate", &file], &["does not name a family", "--family", "rl4rla list families"]);
}

#[test]
fn problems_that_do_not_exist() {
    let cases: [(&[&str], &[&str]); 19] = [
        (&["--family", "midcond"], &["no family `midcond`", "--family mid-cond", "rl4rla list families"]),
        (&["--family", "xyzzy"], &["no family `xyzzy`", "rl4rla list families"]),
        (&["--rows", "0"], &["at least one row", "0 × 50", "--rows"]),
        (&["--cols", "0"], &["10000 × 0", "--cols"]),
        (&["--rows", "-5"], &["'-5'", "--rows"]),
        (&["--rows", "99999999999"], &["99999999999 × 50", "GiB", "--rows"]),
        (&["--rows", "99999999999999999999"], &["--rows", "too large"]),
        (&["--rows", "3", "--cols", "5"], &["rows ≥ cols", "3 × 5"]),
        (&["--kappa", "0.5"], &["0.5", "--kappa"]),
        (&["--kappa", "-3"], &["-3", "--kappa"]),
        (&["--kappa", "nan"], &["NaN", "--kappa"]),
        (&["--kappa", "10,inf"], &["inf", "--kappa"]),
        (&["--kappa", "abc"], &["'abc'", "--kappa"]),
        (&["--kappa", "1,2,3", "--instances", "2"], &["3 condition numbers", "--instances 3"]),
        (&["--outside", "1"], &["below 1, got 1", "--outside"]),
        (&["--outside", "-0.1"], &["-0.1", "--outside"]),
        (&["--rows", "9", "--cols", "9", "--outside", "0.3"], &["9 × 9", "--outside"]),
        (&["--instances", "0"], &["'0'", "--instances"]),
        (&["--instances", "100000"], &["100000 instances", "GiB", "--instances"]),
    ];
    for (options, expected) in cases {
        assert_options_refused(options, expected);
    }
    assert_refused(&["evaluate", "landweber", "--rows", "5", "--cols", "6"], &["rows = cols", "5 × 6"]);
    assert_refused(&["evaluate", "landweber", "--leverage", "high"], &["psd", "leverage"]);
}

#[test]
fn settings_that_make_no_sense() {
    let cases: [(&[&str], &[&str]); 20] = [
        (&["--step", "0"], &["--step", "positive", "got 0"]),
        (&["--step", "-1"], &["--step", "positive", "got -1"]),
        (&["--step", "nan"], &["--step", "positive", "NaN"]),
        (&["--step", "0.5,inf"], &["--step", "positive", "inf"]),
        (&["--step", "x"], &["--step", "`x`", "best"]),
        (&["--iterations", "0"], &["--iterations", "'0'", "1..=1000000"]),
        (&["--batch", "0"], &["--batch", "'0'"]),
        (&["--threads", "0"], &["--threads", "'0'"]),
        (&["--threads", "99999"], &["--threads", "1..=1024"]),
        (&["--sketch", "foo"], &["--sketch", "foo", "srht"]),
        (&["--sketch-factor", "nan"], &["--sketch-factor", "positive", "NaN"]),
        (&["--sketch-factor", "0"], &["--sketch-factor", "positive", "got 0"]),
        (&["--sketch-factor", "inf"], &["--sketch-factor", "positive", "inf"]),
        (&["--sampling", "foo"], &["--sampling", "foo", "released"]),
        (&["--leverage", "foo"], &["--leverage", "foo", "high"]),
        (&["--right", "foo"], &["--right", "foo", "student-t"]),
        (&["--scale", "foo"], &["--scale", "foo", "raw"]),
        (&["--seed", "-1"], &["--seed", "'-1'"]),
        (&["--seed", "1.5"], &["--seed", "'1.5'"]),
        (&["--bogus"], &["'--bogus'"]),
    ];
    for (options, expected) in cases {
        assert_options_refused(options, expected);
    }
}

#[test]
fn rewards_that_cannot_be_meant() {
    let cases: [(&[&str], &[&str]); 18] = [
        (&["--profile", "foo"], &["--profile", "foo", "tolerance"]),
        (&["--weights", "1,2"], &["--weights", "four numbers", "got 1,2"]),
        (&["--weights", "1,2,3,4,5"], &["--weights", "got 1,2,3,4,5"]),
        (&["--weights", "1,2,3,nan"], &["--weights", "NaN"]),
        (&["--weights", "1,2,3,inf"], &["--weights", "inf"]),
        (&["--weights", "-1,2,3,4"], &["--weights", "none negative", "got -1,2,3,4"]),
        (&["--weights", "0,0,0,0"], &["--weights", "not all 0"]),
        (&["--weights", "1e308,1e308,1e308,1e308"], &["--weights", "finite"]),
        (&["--profile", "tolerance", "--charge", "5x10"], &["--charge", "ROWSxCOLS", "`5x10`"]),
        (&["--profile", "tolerance", "--charge", "axb"], &["--charge", "`axb`"]),
        (&["--profile", "tolerance", "--charge", "10"], &["--charge", "`10`"]),
        (
            &["--profile", "tolerance", "--charge", "99999999999999999999x1"],
            &["--charge", "`99999999999999999999x1`"],
        ),
        (&["--profile", "tolerance", "--tolerance", "0"], &["--tolerance", "positive"]),
        (&["--profile", "tolerance", "--unit", "foo"], &["--unit", "foo", "passes"]),
        // What the profile would ignore is a misunderstanding, so it is not ignored.
        (&["--charge", "100x10"], &["--charge", "--profile tolerance"]),
        (&["--tolerance", "1e-3"], &["--tolerance", "--profile tolerance"]),
        (&["--profile", "tolerance", "--ungated"], &["--ungated", "--profile paper"]),
        (&["--auxiliary", "foo"], &["--auxiliary", "foo", "non_ht"]),
    ];
    for (options, expected) in cases {
        assert_options_refused(options, expected);
    }
}

#[test]
fn command_lines_that_mean_nothing() {
    let cases: [(&[&str], &[&str]); 7] = [
        (&["lst"], &["'lst'", "'list'"]),
        (&["xyzzy"], &["'xyzzy'", "Usage"]),
        (&["list"], &["<WHAT>", "Usage"]),
        (&["list", "program"], &["'program'", "'programs'"]),
        (&["show"], &["<PROGRAM>", "Usage"]),
        (&["show", "ls-gd", "sgd"], &["'sgd'", "Usage"]),
        (&["evaluate", "ls-gd", "--rows"], &["--rows", "value is required"]),
    ];
    for (args, expected) in cases {
        assert_refused(args, expected);
    }
}

/// `ulimit -v`, in kB.
#[cfg(target_os = "linux")]
fn within(kilobytes: u64, args: &str) -> common::Said {
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" {args}");
    let ran = std::process::Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_rl4rla")]).output();
    common::said(ran.expect("sh runs"))
}

#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let said = within(700_000, "evaluate ls-gd --rows 1e6 --cols 50 --instances 8");
    assert!(said.code == 2 && said.err.contains("of memory, but only "), "{said:?}");
    // What nobody could know before ends in the same way.
    for args in ["show ls-gd", "analyze ls-gd --quick --rows 30000 --json", "evaluate precond-gd --cols 300"]
    {
        for kilobytes in [40_000, 80_000, 160_000, 200_000] {
            let said = within(kilobytes, args);
            assert!(said.code == 0 || said.code == 2 && said.err.contains("memory"), "{args}: {said:?}");
        }
    }
}

#[test]
fn programs_are_not_run_on_problems_of_other_tasks() {
    for args in [
        &["evaluate", "newton", "--family", "low-cond"][..],
        &["analyze", "newton", "--family", "low-cond"],
        &["compare", "newton", "--family", "low-cond"],
        &["evaluate", "ls-gd", "--family", "logistic"],
    ] {
        assert_refused(args, &["`linear`", "`logistic`", "made for"]);
    }
}
