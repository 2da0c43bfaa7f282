//! `rl4rla export`: code, files, refusals, and the checks that need no network.

mod common;

use common::{SMALL, assert_keys, command, fresh, json, names, rl4rla, said, scratch, written};
use std::process::Command;

/// Programs that call what the catalogue does not.
fn others() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/export");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<String> = entries.map(|path| path.to_str().unwrap().to_string()).collect();
    paths.sort();
    paths
}

/// The catalogue and these, as arguments.
fn everything<'a>(others: &'a [String], rest: &[&'a str]) -> Vec<&'a str> {
    ["export", "all"]
        .into_iter()
        .chain(others.iter().map(String::as_str))
        .chain(rest.iter().copied())
        .collect()
}

#[test]
fn what_is_checked_calls_every_operator() {
    let others = others();
    let exported = json(&everything(&others, &["--to", "json"]));
    let mut called = std::collections::BTreeSet::from(["DO_NOTHING".to_string()]);
    for item in exported["items"].as_array().unwrap() {
        let data: serde_json::Value = serde_json::from_str(item["text"].as_str().unwrap()).unwrap();
        for line in ["setup", "iteration"].iter().flat_map(|section| data[section].as_array().unwrap()) {
            called.insert(line["operator"].as_str().unwrap().to_string());
        }
    }
    assert_eq!(called, names("operators").into_iter().collect());
}

#[test]
fn json_is_the_program_as_data() {
    let said = rl4rla(&["export", "sketched-precond-gd", "--to", "json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let data = said.json();
    assert_keys(
        &data,
        &["name", "title", "equation", "latex", "flops", "settings", "origin", "version", "program"],
    );
    assert_eq!(data["setup"][0]["operator"], "SKETCH");
    assert_eq!(data["setup"][0]["operands"][0]["type"], "matrix m×n");
    assert_eq!(data["setup"][1]["result"], "upper triangular n×n");
    assert_eq!(data["iteration"].as_array().unwrap().len(), 4);
    assert_eq!(data["origin"]["catalogue entry"], "sketched-precond-gd");
    assert_eq!(data["settings"]["sketch"], "sjlt");
    // What it holds can be read again.
    let file = written("export-again.rla", data["program"].as_str().unwrap());
    assert_eq!(json(&["show", &file])["id"], json(&["show", "sketched-precond-gd"])["id"]);
}

#[test]
fn python_and_latex_are_printed() {
    let python =
        rl4rla(&["export", "block-kaczmarz", "--to", "python", "--step", "0.25", "--batch", "7"]).out;
    for line in [
        "def block_kaczmarz(",
        "step=0.25,",
        "batch = min(7, m) if",
        "A_t, b_t = subsample(A, b, p1, batch, draws)",
    ] {
        assert!(python.contains(line), "{line} is missing from\n{python}");
    }
    let latex = rl4rla(&["export", "newton-sketch", "--to", "latex"]).out;
    for line in ["\\begin{algorithm}", "\\caption{Newton Sketch}", "\\Omega_t \\, R_1", "\\end{document}"] {
        assert!(latex.contains(line), "{line} is missing from\n{latex}");
    }
}

#[test]
fn a_file_of_ones_own_is_named_after_itself_and_known() {
    let text = "iteration:\n  v2 = MAT_VEC_MUL(A, x)\n  v2 = VEC_VEC_SUB(v2, b)\n  v1 = VEC_MAT_MUL(v2, A)\n";
    let file = written("export-mine.rla", text);
    let code = rl4rla(&["export", &file, "--to", "julia"]).out;
    assert!(code.contains("function export_mine("), "{code}");
    assert!(
        code.contains("Least Square Gradient Descent (ls-gd)") && code.contains("Origin: file "),
        "{code}"
    );
}

#[test]
fn a_discovered_program_names_its_run_and_keeps_its_settings() {
    let (store, curriculum) = (fresh("export.db"), written("export-small.toml", SMALL));
    assert_eq!(rl4rla(&["discover", &curriculum, "--seed", "3", "--store", &store]).code, 0);
    let data = rl4rla(&["export", "run:LAST", "--to", "json", "--store", &store]).json();
    assert_eq!((&data["name"], &data["identifier"]), (&"ls-gd".into(), &"ls_gd".into()));
    assert_eq!((&data["origin"]["stage"], &data["origin"]["seed"]), (&"ls-gd".into(), &"3".into()));
    assert_keys(&data["origin"], &["run", "curriculum", "method"]);
    // The step of a stage is right for its own problems alone.
    assert_eq!((&data["settings"]["step"], &data["family"]), (&serde_json::Value::Null, &"low-cond".into()));
    assert_keys(&data, &["stop", "step"]);
    let first =
        rl4rla(&["export", "run:LAST/landweber", "--to", "python", "--step", "0.3", "--store", &store]).out;
    assert!(first.contains("def landweber(") && first.contains("step=0.3,"), "{first}");
    assert!(first.contains("Origin: run ") && first.contains("seed 3; exported by rl4rla"), "{first}");
}

#[test]
fn files_are_written_one_or_many() {
    let folder = scratch("exported");
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_str().unwrap();
    let exported = json(&["export", "all", "--to", "rust", "--out", out]);
    let count = names("programs").len();
    assert_eq!(exported["items"].as_array().unwrap().len(), count);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), count);
    let file = folder.join("one.py");
    let one = json(&["export", "ls-gd", "--to", "python", "--out", file.to_str().unwrap()]);
    assert_eq!((&one["language"], &one["program"]), (&"python".into(), &"ls-gd".into()));
    let text = json(&["export", "ls-gd", "--to", "python"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text["text"].as_str().unwrap());
}

#[test]
fn bad_requests_say_what_is_wrong() {
    let cases: [(&[&str], &str); 7] = [
        (&["export", "ls-gd", "--to", "pyton"], "did you mean `python`"),
        (&["export", "ls-gd"], "--to"),
        (&["export", "--to", "python"], "PROGRAM"),
        (&["export", "ls-gdd", "--to", "python"], "`ls-gd`"),
        (&["export", "ls-gd", "ls-gd", "--to", "python"], "two programs would have the name `ls_gd`"),
        (&["export", "ls-gd", "--to", "python", "--step", "-1"], "--step must be a positive number"),
        (
            &["export", "ls-gd", "--to", "python", "--out", "/nonexistent/folder/x.py"],
            "there is no folder /nonexistent/folder",
        ),
    ];
    for (args, words) in cases {
        let said = rl4rla(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains(words), "{args:?}: {}", said.err);
    }
    let misfit = written("export-misfit.rla", "iteration:\n  v1 = HHQR(A)\n");
    let said = rl4rla(&["export", &misfit, "--to", "rust"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("iteration instruction 1"), "{said:?}");
}

#[test]
fn data_and_structure_are_checked_without_any_language() {
    let data = json(&["export", "all", "--to", "json", "--check"]);
    assert_eq!((&data["checked"], &data["passed"]), (&true.into(), &true.into()));
    // Without a search path there is no other language.
    let checked = |language: &str| {
        let mut command =
            command(&["export", "newton", "power-iteration", "--to", language, "--check", "--json"]);
        let said = said(command.env("PATH", "").output().unwrap());
        (said.code, said.json())
    };
    let (code, latex) = checked("latex");
    assert_eq!((code, &latex["passed"]), (0, &true.into()), "{latex}");
    for language in ["julia", "python", "rust"] {
        let (code, absent) = checked(language);
        assert_eq!(
            (code, &absent["checked"], &absent["passed"]),
            (0, &false.into(), &serde_json::Value::Null)
        );
        let remark = absent["items"][0]["remark"].as_str().unwrap();
        assert!(remark.contains("on this machine"), "{remark}");
    }
}

#[test]
fn the_example_of_the_documentation_is_what_is_exported() {
    let said = rl4rla(&["export", "sketched-precond-gd-factored", "--to", "python"]);
    // The head names the version.
    let (_, code) = said.out.split_once("import numpy").unwrap();
    assert!(include_str!("../docs/export.md").contains(code.trim()), "{code}");
}

/// Whether this machine can run exported Python without installing anything.
fn has_numpy() -> bool {
    Command::new("python3").args(["-c", "import numpy, scipy"]).output().is_ok_and(|ran| ran.status.success())
}

#[test]
fn exported_python_agrees_where_there_is_numpy() {
    if !has_numpy() {
        eprintln!("python3 has no NumPy and SciPy here: scripts/export-check makes an environment that has");
        return;
    }
    let others = others();
    let checked = json(&everything(&others, &["--to", "python", "--check"]));
    assert_eq!(checked["passed"], true, "{checked}");
    assert!(checked["deviation"].as_f64().unwrap() < 1e-8);
    // With its own defaults what a sketch preconditions solves every problem.
    for item in checked["items"].as_array().unwrap() {
        let name = item["program"].as_str().unwrap();
        let runs = item["defaults"].as_array().unwrap();
        let converged = runs.iter().filter(|run| run["converged"] == true).count();
        match name {
            "sketched-precond-gd" | "sketched-precond-gd-factored" | "newton" => {
                assert_eq!((converged, runs.is_empty()), (runs.len(), false), "{item}")
            }
            // A sample alone does not hold the solution.
            "subsampled-precond-gd" => assert!(converged < runs.len(), "{item}"),
            _ => {}
        }
    }
}

/// Problems on which a small gradient says nothing, and scales at which squares vanish or overflow.
const TRAPS: &str = r#"
import warnings
import numpy as np
from ls_gd import ls_gd
from power_iteration import power_iteration
from sketched_precond_gd_factored import sketched_precond_gd_factored

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
norm = np.linalg.norm

def excess(A, b, x):
    best = A @ np.linalg.lstsq(A, b, rcond=1e-15)[0]
    return norm(A @ x - best) / norm(b)

# b along few and small singular values, and ten times as much noise.
for small in (1, 10):
    U, V = (np.linalg.qr(rng.standard_normal((rows, 50)))[0] for rows in (2000, 50))
    sigma = np.linspace(1, 1e-3, 50)
    sigma[-small:] = 1e-11
    A, noise = U * sigma @ V.T, rng.standard_normal(2000)
    noise -= U @ (U.T @ noise)
    b = U[:, -small:].sum(axis=1) / np.sqrt(small) + 10 * noise / norm(noise)
    found = sketched_precond_gd_factored(A, b, rng=1)
    assert found.converged and found.iterations > 0 and excess(A, b, found.x) < 1e-4, found
    assert not ls_gd(A, b).converged
# Nearly the same column twice.
G, d = rng.standard_normal((2000, 20)), rng.standard_normal(2000)
assert not ls_gd(np.c_[G, G[:, 0] + 1e-11 * d], d).converged

def refused(call):
    try:
        call()
        return False
    except ValueError:
        return True

spectrum, start = np.diag([1, 0.1, 0.01]), rng.standard_normal(3)
for scale in (1, 1e-130, 1e130):
    found = power_iteration(spectrum * scale, start)
    assert found.converged and abs(found.eigenvalue / scale - 1) < 1e-12, found
for scale in (1e-163, 1e-200, 1e160, 1e200):
    assert refused(lambda: power_iteration(spectrum * scale, start)), scale
    assert refused(lambda: power_iteration(spectrum, start * scale)), scale
    assert refused(lambda: ls_gd(G * scale, d)) and refused(lambda: ls_gd(G, d * scale)), scale
"#;

#[test]
fn exported_python_claims_no_solution_where_there_is_none() {
    if !has_numpy() {
        eprintln!("python3 has no NumPy and SciPy here");
        return;
    }
    let folder = scratch("exported-traps");
    let out = folder.to_str().unwrap();
    let programs = ["ls-gd", "power-iteration", "sketched-precond-gd-factored"];
    let args: Vec<&str> =
        ["export"].into_iter().chain(programs).chain(["--to", "python", "--out", out]).collect();
    assert_eq!(rl4rla(&args).code, 0);
    let ran = Command::new("python3").args(["-c", TRAPS]).current_dir(&folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn hostile_names_become_functions_that_hide_nothing() {
    let text = "title: print\niteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n  v1 = VEC_MAT_MUL(v1, A)\n";
    for (file, name) in [
        ("sum.rla", "program_sum"),
        ("np.rla", "program_np"),
        ("solve.rla", "program_solve"),
        ("random.rla", "program_random"),
        ("3d.rla", "program_3d"),
        ("größe.rla", "gr_e"),
        ("решение.rla", "exported_program"),
        ("descend.rla", "program_descend"),
    ] {
        let path = written(file, text);
        for (language, line) in
            [("python", "def NAME(\n"), ("julia", "function NAME(\n"), ("rust", "pub fn NAME(\n")]
        {
            let code = rl4rla(&["export", &path, "--to", language]).out;
            assert!(code.contains(&line.replace("NAME", name)), "{file} {language}: {code}");
        }
    }
}
