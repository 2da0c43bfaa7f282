//! `rl4rla list` and `rl4rla show`, and what every command has in common: colours, pipes, help.

mod common;

use common::{command, json, names, rl4rla, said, written};
use std::process::Stdio;

#[test]
fn the_operators_are_those_of_the_papers_appendix_a_and_those_of_tasks() {
    let mut listed = names("operators");
    let added = listed.split_off(17);
    assert_eq!(
        added,
        [
            "VEC_SIGMOID",
            "VEC_DSIGMOID",
            "VEC_MAT_SCALE",
            "MAT_GRAM",
            "MAT_VEC_SOLVE",
            "SHIFTED_SOLVE",
            "VEC_NORMALIZE",
            "MAT_STACK",
            "MAT_ORTH",
            "MAT_ROWS",
            "RAYLEIGH_RITZ",
            "SHIFTED_QR",
            "NYSTROM",
            "CHOLQR",
            "PRECOND_CHOLQR",
            "VEC_VEC_MUL",
            "VEC_ABS",
            "PREVIOUS",
            "REFRESH"
        ]
    );
    listed.sort();
    let expected = [
        "DO_NOTHING",
        "HHQR",
        "LEVERAGE_SCORE",
        "MAT_INV",
        "MAT_MAT_MUL",
        "MAT_MAT_TRANS_MUL",
        "MAT_TRANS_MAT_MUL",
        "MAT_VEC_MUL",
        "SCALAR_DIV",
        "SCALAR_VEC_MUL",
        "SKETCH",
        "SUBSAMPLING",
        "TRIANGULAR_SOLVE",
        "VEC_MAT_MUL",
        "VEC_VEC_ADD",
        "VEC_VEC_DOT",
        "VEC_VEC_SUB",
    ];
    assert_eq!(listed, expected);
}

#[test]
fn lists_hold_what_a_reader_needs() {
    let keys: [(&str, &[&str]); 3] = [
        ("operators", &["name", "doc", "forms", "sections", "commutative"]),
        ("programs", &["name", "title", "about", "reference", "family", "program"]),
        ("families", &["name", "doc", "rows", "cols", "square"]),
    ];
    for (what, keys) in keys {
        let text = rl4rla(&["list", what]).out;
        for item in json(&["list", what])["items"].as_array().unwrap() {
            for key in keys {
                assert!(!item[key].is_null() && item[key] != "", "{what}: {key} of {item}");
            }
            let name = item["name"].as_str().unwrap();
            assert!(text.contains(name), "{name} is missing from the text");
        }
    }
}

#[test]
fn every_program_is_made_for_a_listed_family() {
    let families = names("families");
    assert_eq!(families[..4], ["psd", "low-cond", "mid-cond", "high-cond"]);
    assert_eq!(families[4..8], ["logistic", "logistic-separable", "logistic-forward", "ridge-logistic"]);
    assert_eq!(families[8..], ["eigenvalue", "low-rank", "low-rank-fast", "ridge", "spd", "spd-decay"]);
    for item in json(&["list", "programs"])["items"].as_array().unwrap() {
        let family = item["family"].as_str().unwrap();
        assert!(families.iter().any(|known| known == family), "{item}");
    }
}

#[test]
fn the_catalogue_holds_the_algorithms_of_the_paper() {
    let listed = names("programs");
    for name in [
        "landweber",
        "ls-gd",
        "precond-gd",
        "sketched-precond-gd",
        "precond-weighted-sgd",
        "block-kaczmarz",
        "subsampled-ls-gd",
        "subsampled-precond-gd",
        "logistic-gd",
        "newton",
        "newton-sketch",
        "power-iteration",
        "sketched-power-iteration",
        "pwsgd",
        "iterative-hessian-sketch",
    ] {
        assert!(listed.iter().any(|known| known == name), "{name} is missing");
    }
}

#[test]
fn every_entry_says_what_it_is_called_and_where_it_differs() {
    let items = json(&["list", "programs"])["items"].take();
    let text = rl4rla(&["list", "programs"]).out;
    for item in items.as_array().unwrap() {
        let shown = json(&["show", item["name"].as_str().unwrap()]);
        for key in ["paper", "literature", "differs"] {
            let line = item[key].as_str().unwrap();
            assert!(!line.is_empty() && shown[key] == item[key], "{key} of {item}");
        }
    }
    assert!(text.contains("literature: Richardson iteration"), "{text}");
    assert!(rl4rla(&["show", "landweber"]).out.contains("differs: Landweber (1951) is x + ωAᵀ(b − Ax)"));
}

#[test]
fn a_direct_solve_is_not_named_after_an_iterative_method() {
    let direct = "setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n v2 = VEC_MAT_MUL(b, A)\n v2 = VEC_MAT_MUL(v2, R1)\n \
                  v2 = MAT_VEC_MUL(R1, v2)\niteration:\n v1 = VEC_VEC_SUB(x, v2)\n";
    let file = written("direct.rla", direct);
    let shown = json(&["show", &file]);
    assert!(shown["matched"].is_null(), "{shown}");
    assert_eq!(shown["same_iterates"]["name"], "gram-refinement");
    let text = rl4rla(&["show", &file]).out;
    assert!(!text.contains("this is Normal"), "{text}");
    let remark = "computes the same iterates as Normal Equations with Refinement (gram-refinement), at a different cost: once O(mn²) flops \
                  as well, every iteration O(n) flops instead of O(mn), A is not read";
    assert!(text.contains(remark), "{text}");
}

#[test]
fn show_prints_the_program_and_its_equation() {
    let said = rl4rla(&["show", "sketched-precond-gd"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for line in ["R1 = SKETCH(A)", "v1 = VEC_MAT_MUL(v1, A)", "R⁻¹ R⁻ᵀ Aᵀ (A xₜ − b)", "Cost", "LaTeX"]
    {
        assert!(said.out.contains(line), "{line} is missing from\n{}", said.out);
    }
}

#[test]
fn every_program_survives_being_shown_saved_and_shown_again() {
    for name in names("programs") {
        let shown = json(&["show", &name]);
        for key in ["program", "equation", "latex", "flops", "id"] {
            let text = shown[key].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name} has no {key}");
        }
        // The family tells a symmetric problem from a tall one where a program fits both.
        let text =
            format!("family: {}\n{}", shown["family"].as_str().unwrap(), shown["program"].as_str().unwrap());
        let file = written(&format!("shown-{name}.rla"), text);
        let again = json(&["show", &file]);
        for key in ["program", "id", "equation", "latex", "flops"] {
            assert_eq!(again[key], shown[key], "{key} of {name}");
        }
    }
}

#[test]
fn different_programs_have_different_ids() {
    let mut ids: Vec<String> =
        names("programs").iter().map(|name| json(&["show", name])["id"].to_string()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn help_has_an_example_for_every_command() {
    for args in [&["--help"][..], &["list", "--help"], &["show", "--help"], &["evaluate", "--help"]] {
        let said = rl4rla(args);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
        assert!(said.out.contains("Example") && said.out.contains("\n  rl4rla "), "{args:?}: {}", said.out);
    }
}

#[test]
fn help_prints_commands_and_documents() {
    let list = rl4rla(&["help"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    assert!(list.out.contains("\n  discover ") && list.out.contains("curricula"), "{}", list.out);
    assert_eq!(rl4rla(&["help", "discover"]).out, rl4rla(&["discover", "--help"]).out);
    // Every document is a topic.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        if stem != "README" && file.extension().is_some_and(|extension| extension == "md") {
            let said = rl4rla(&["help", stem]);
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{stem}");
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(said.out.ends_with(&text), "{stem}");
            assert!(list.out.contains(&format!("{stem} ")), "{stem}");
        }
    }
    // A name that is both a command and a topic shows both.
    let both = rl4rla(&["help", "solve"]).out;
    assert!(both.contains("Usage: rl4rla solve") && both.contains("## Exit codes"), "{both}");
    let text = json(&["help", "curricula"])["text"].to_string();
    assert!(text.contains("# Curricula"), "{text}");
    let unknown = rl4rla(&["help", "curicula"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("no command or topic `curicula`"), "{}", unknown.err);
    assert!(unknown.err.contains("`rl4rla help curricula`"), "{}", unknown.err);
}

#[test]
fn no_arguments_means_help_and_exit_code_2() {
    let said = rl4rla(&[]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("Usage: rl4rla") && said.err.contains("evaluate"), "{}", said.err);
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let small = ["evaluate", "ls-gd", "--rows", "60", "--cols", "3", "--instances", "1"];
    let cases = [&["list", "programs"][..], &["show", "ls-gd"], &small, &["show", "no-such"], &["no-such"]];
    for args in cases {
        let escapes = |variables: &[(&str, &str)]| {
            let said = said(command(args).envs(variables.iter().copied()).output().unwrap());
            (said.out + &said.err).contains('\u{1b}')
        };
        assert!(!escapes(&[]), "{args:?}: coloured in a pipe");
        assert!(escapes(&[("CLICOLOR_FORCE", "1")]), "{args:?}: not coloured when forced");
        assert!(
            !escapes(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]),
            "{args:?}: coloured despite NO_COLOR"
        );
    }
    let forced = command(&["list", "programs", "--json"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(said(forced).json(), json(&["list", "programs"]), "JSON is never coloured");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    for args in [&["list", "programs"][..], &["show", "ls-gd", "--json"], &["show", "no-such", "--json"]] {
        // The reading end is closed before the command starts, so its first write already fails.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("rl4rla"));
        let child = command.args(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let said = said(child.wait_with_output().unwrap());
        let expected = if args.contains(&"no-such") { 2 } else { 0 };
        assert_eq!(said.code, expected, "{said:?}");
        assert!(!said.err.contains("pipe"), "{said:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("rl4rla"));
    let child = command.args(["list", "programs"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("cannot write to standard output"), "{said:?}");
}

#[test]
fn quiet_leaves_out_remarks_and_keeps_results() {
    let args = ["evaluate", "ls-gd", "--rows", "60", "--cols", "3", "--instances", "1"];
    let (loud, quiet) = (rl4rla(&args).out, rl4rla(&[&args[..], &["--quiet"]].concat()).out);
    assert!(loud.contains("seed 0") && !quiet.contains("seed 0"));
    assert!(quiet.contains("reward") && quiet.contains("residual"));
}

#[test]
fn a_program_of_many_doublings_is_shown_with_names_for_its_parts() {
    let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
    let programs = [
        format!("iteration:\n {gradient} {}", "v1 = VEC_VEC_ADD(v1, v1)\n ".repeat(40)),
        format!(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n {}iteration:\n {gradient} v1 = MAT_VEC_MUL(R1, v1)\n",
            "R1 = MAT_MAT_MUL(R1, R1)\n ".repeat(40)
        ),
    ];
    for (i, text) in programs.iter().enumerate() {
        let shown = json(&["show", &written(&format!("doubled-{i}.rla"), text)]);
        for key in ["equation", "latex"] {
            let length = shown[key].as_str().unwrap().len();
            assert!(length < 10_000, "{key} has {length} characters");
        }
        assert!(shown["equation"].as_str().unwrap().contains("where "));
    }
}
