//! What comes from outside: paths that are no text, names that a terminal would obey, numbers of any size, stores that
//! were damaged. Nothing of it may panic, or reach the terminal as it is.

mod common;

use common::{Said, command, fresh, json, rl4rla, said, scratch, written};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = "p,q,y\n1,2,3\n2,1,4\n0,5,6\n1,1,1\n7,2,9\n";

/// Runs the command with arguments that need not be text.
fn with(args: &[&str], more: &[OsString]) -> Said {
    said(command(args).args(more).output().unwrap())
}

/// A file whose name is no UTF-8; none where the system does not take such names.
#[cfg(unix)]
fn unreadable(name: &str, ending: &str, contents: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = scratch(name).into_os_string().into_vec();
    bytes.extend(b"-\xff\xfe\x1b[31m");
    bytes.extend(ending.as_bytes());
    let path = PathBuf::from(OsString::from_vec(bytes));
    fs::write(&path, contents).ok().map(|()| path)
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_text() {
    let landweber =
        "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n  v1 = VEC_MAT_MUL(v1, A)\n";
    let Some(program) = unreadable("program", ".rla", landweber) else { return };
    let matrix = unreadable("matrix", ".csv", TABLE).unwrap();
    let small = unreadable("small", ".toml", common::SMALL).unwrap();
    let out = |ending: &str| unreadable("out", ending, "").unwrap();
    let path = |path: &Path| path.as_os_str().to_os_string();
    let store = fresh("outside-paths.db");
    let clean = |said: &Said| assert!(!said.out.contains('\x1b') && !said.err.contains('\x1b'), "{said:?}");
    for json in [&[][..], &["--json"]] {
        for (args, more) in [
            (&["show"][..], vec![path(&program)]),
            (&["equiv", "ls-gd"], vec![path(&program)]),
            (&["evaluate", "--family", "low-cond"], vec![path(&program)]),
            (&["export", "--to", "python", "--out"], vec![path(&out(".py")), path(&program)]),
            (
                &["compare", "--baselines", "qr", "--target", "y", "--matrix"],
                vec![path(&matrix), path(&program)],
            ),
            (&["discover"], vec![path(&small)]),
            (&["discover", "sketched-precond-gd", "--budget", "20", "--store"], vec![path(&out("-1.db"))]),
            (
                &["solve", "precond-gd", "--target", "y", "--matrix"],
                vec![path(&matrix), "--out".into(), path(&out(".npy")), "--plot".into(), path(&out(".svg"))],
            ),
            (&["solve", "--target", "y", "--matrix"], vec![path(&matrix), path(&program)]),
        ] {
            // An empty file is no store, and a run that finds nothing is no error.
            let _ = fs::remove_file(out("-1.db"));
            let more = if args.contains(&"--store") {
                more
            } else {
                [more, vec!["--store".into(), store.clone().into()]].concat()
            };
            let said = with(&[json, args].concat(), &more);
            assert!(said.code <= 1, "{args:?}: {said:?}");
            clean(&said);
        }
    }
    let refused = with(&["solve", "precond-gd", "--target", "nobody", "--matrix"], &[path(&matrix)]);
    assert!(refused.code == 2 && refused.err.contains("\\u{1b}[31m.csv"), "{refused:?}");
    clean(&refused);
    let ask =
        ["discover", "sketched-precond-gd", "--method", "islands", "--proposer", "http://x", "--model", "m"];
    let refused = with(&[&ask[..], &["--transcript"]].concat(), &[path(&out(".jsonl"))]);
    assert!(refused.code == 2 && refused.err.contains("--transcript"), "{refused:?}");
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let evil = "\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m";
    let text = common::SMALL.replacen("title = \"", &format!("title = \"{evil}"), 1);
    assert_ne!(text, common::SMALL);
    let curriculum = written("evil.toml", &text);
    let store = fresh("evil.db");
    let program = written("evil.rla", "title: over\rwritten\niteration:\n  v1 = VEC_VEC_SUB(x, b)\n");
    let table = written("evil.csv", "p,\"q\x1b[2J\",y\n1,2,3\n2,1,4\n0,5,6\n1,1,1\n");
    for args in [
        &["discover", &curriculum, "--store", &store][..],
        &["resume", "LAST", "--store", &store],
        &["audit", &curriculum],
        &["show", &program],
        &["solve", "precond-gd", "--matrix", &table, "--target", "y"],
        &["solve", "precond-gd", "--matrix", &table, "--target", "\x1b[31mno"],
        &["show", "\x1b]0;owned\x07"],
        &["show", "--\x1b[31m"],
        &["evaluate", "ls-gd", "--family", "\x1b[31m"],
    ] {
        for json in [&[][..], &["--json"]] {
            // Colours are on, as in a terminal; only our own may be there.
            let said = said(command(&[args, json].concat()).env("CLICOLOR_FORCE", "1").output().unwrap());
            for text in [&said.out, &said.err] {
                let rest: String = ["1", "36", "2", "33", "31", "0", "4", "32"]
                    .iter()
                    .fold(text.clone(), |text, code| text.replace(&format!("\x1b[{code}m"), ""));
                let obeyed = |c: char| c.is_control() && c != '\n';
                assert!(!rest.contains(obeyed), "{args:?}: {text:?}");
            }
        }
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let table = written("twins.csv", "age,y,age\n1,2,3\n2,1,4\n0,5,6\n");
    let said = rl4rla(&["solve", "precond-gd", "--matrix", &table, "--target", "y"]);
    assert!(said.code == 2 && said.err.contains("columns 1 and 3 are both named `age`"), "{said:?}");
    let table = written("intercepts.csv", "(intercept),y\n1,2\n2,1\n0,5\n");
    let said = rl4rla(&["solve", "precond-gd", "--matrix", &table, "--target", "y", "--intercept"]);
    assert!(said.code == 2 && said.err.contains("(intercept)"), "{said:?}");
}

#[test]
fn thousands_are_not_read_as_decimals() {
    let table = written("thousands.csv", "price,y\n\"1,000\",2\n\"2,500\",1\n\"3,750\",5\n");
    let solve = ["solve", "precond-gd", "--matrix", &table, "--target", "y"];
    let said = rl4rla(&solve);
    assert!(said.code == 2 && said.err.contains("line 2, column 1 (`price`): `1,000`"), "{said:?}");
    assert!(said.err.contains("--decimal ,"), "{said:?}");
    assert_eq!(rl4rla(&[&solve[..], &["--decimal", ","]].concat()).code, 0);
}

#[test]
fn places_count_from_one_and_columns_have_their_names() {
    let table = written("huge.csv", "p,y,q\n1,2,3\n2,1,4\n0,5,1e200\n2,2,2\n");
    let said = rl4rla(&["compare", "--baselines", "qr", "--matrix", &table, "--target", "y"]);
    assert!(said.code == 2 && said.err.contains("row 3, column `q` of A is 1e200"), "{said:?}");
    // Where columns are scaled before anything is squared it can be solved.
    assert_eq!(rl4rla(&["solve", "precond-gd", "--matrix", &table, "--target", "y"]).code, 0);
}

#[test]
fn printed_commands_can_be_typed() {
    let folder = scratch("it's a folder");
    fs::create_dir_all(&folder).unwrap();
    let store = folder.join("runs $1.db").to_string_lossy().into_owned();
    let _ = fs::remove_file(&store);
    let small = written("typed.toml", common::SMALL);
    let said = rl4rla(&["discover", &small, "--store", &store]);
    let line = said.out.lines().find(|line| line.starts_with("rl4rla show run:")).expect("a hint");
    let quoted = format!("--store '{}'", store.replace('\'', "'\\''"));
    assert!(line.contains(&quoted), "{line}");
}

#[test]
fn a_stored_result_that_cannot_be_read_is_told_and_stops_nothing_else() {
    let (small, store) = (written("damaged.toml", common::SMALL), fresh("damaged.db"));
    for first in [b'[', b'3', b'"', b'\0', b' '] {
        fs::write(&store, common::unreadable(first)).unwrap();
        let resumed = rl4rla(&["resume", "LAST", "--store", &store]);
        assert!(resumed.code == 2 && resumed.err.contains("the result of run b976e329"), "{resumed:?}");
        let checked = rl4rla(&["list", "runs", "--check", "--store", &store]);
        assert!(checked.code == 2 && checked.err.contains("cannot be read"), "{checked:?}");
        for args in [
            &["list", "runs"][..],
            &["report", "--out", scratch("damaged").to_str().unwrap()],
            &["sweep", &small, "--seeds", "1"],
            &["show", "run:b976e329"],
        ] {
            for more in [&[][..], &["--json"]] {
                let said = rl4rla(&[args, &["--store", &store], more].concat());
                assert_eq!(said.code, 0, "{first} {args:?}: {said:?}");
            }
        }
    }
}

#[test]
fn a_program_from_the_store_does_not_need_the_table_it_was_found_on() {
    let text: String = (0..400)
        .map(f64::from)
        .map(|t| format!("{},{},{}\n", (0.61 * t).sin(), (1.7 * t).cos(), (0.3 * t).cos()))
        .collect();
    let table = written("gone.csv", &text);
    let curriculum = format!(
        "title = \"t\"\nstart = \"ls-gd\"\n[[stage]]\nname = \"one\"\nedits = 1\nopen = [\"setup\"]\nbudget = 20\n\
         operators = [\"HHQR\"]\nregisters = [\"R1\"]\nkeep = [\"R1\"]\nstep = 0.25\niterations = 7\n\
         family = {{ kind = \"data\", file = {table:?}, target = 3, rows = 40 }}\n\
         instances = {{ search = 2, select = 2, report = 2 }}\n"
    );
    let (curriculum, store) = (written("gone.toml", &curriculum), fresh("gone.db"));
    let run = json(&["discover", &curriculum, "--store", &store])["run"].as_str().unwrap().to_string();
    fs::remove_file(&table).unwrap();
    let name = format!("run:{run}");
    let code = rl4rla(&["export", &name, "--to", "python", "--store", &store]);
    assert!(code.code == 0 && code.out.contains(&format!("run {run}")), "{code:?}");
    assert_eq!(rl4rla(&["show", &name, "--store", &store]).code, 0);
}
