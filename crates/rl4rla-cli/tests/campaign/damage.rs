//! Results that are cut off, changed, renamed, or of something else: none enters a store, and their tasks are computed again.

use super::site::{PLAN, Site};
use serde_json::json;
use std::fs;

fn result(task: usize) -> String {
    format!("c/results/000000/{task:09}.found.json")
}

#[test]
fn damaged_results_are_named_and_set_aside() {
    let site = Site::planned("damage");
    site.json("campaign submit c --local 2");
    site.write("d.toml", &PLAN.replace("Small", "Other"));
    site.json("campaign plan d.toml");
    site.json("campaign submit d --local 2");

    let text = site.read(&result(0));
    site.write(&result(0), &text[..text.len() - 40]);
    fs::copy(site.file("d/results/000000/000000001.found.json"), site.file(&result(1))).unwrap();
    let (head, outcome) =
        site.read(&result(2)).split_once('\n').map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
    let mut head: serde_json::Value = serde_json::from_str(&head).unwrap();
    head["build"]["digest"] = json!("0123456789abcdef");
    site.write(&result(2), &format!("{head}\n{outcome}"));
    fs::rename(site.file(&result(3)), site.file(&result(4))).unwrap();
    let missed = result(5).replace("found", "missed");
    fs::rename(site.file(&result(5)), site.file(&missed)).unwrap();
    let second = result(6).replace("found", "failed");
    fs::copy(site.file(&result(6)), site.file(&second)).unwrap();
    let strays = ["c/results/000000/notes.txt", "c/results/000000/000000008.found.json", "c/results/stray"];
    for stray in strays {
        site.write(stray, "mine");
    }

    // Who only looks is told that something is wrong.
    let status = site.json("campaign status c");
    assert!(status["notes"].to_string().contains("do not belong there; `collect` names them"), "{status}");
    let named = |path: &str, why: &str| format!("{}: {why}", path.strip_prefix("c/").unwrap());
    let foreign = format!(
        "it is of another campaign, {}",
        site.json("campaign status d")["campaign"].as_str().unwrap()
    );
    let words = [
        "nothing was entered: 10 files of c cannot be used".into(),
        named(&result(0), "it is cut off or was changed"),
        named(&result(1), &foreign),
        named(&result(2), "it is cut off or was changed"),
        named(&result(4), "it is the result of task 3"),
        named(&missed, "it cannot be read: its name tells another outcome than its content"),
        named(&result(6), "there are two results of its task"),
        named(&second, "there are two results of its task"),
        named(strays[0], "the campaign has no such task"),
        named(strays[1], "the campaign has no such task"),
        named(strays[2], "the campaign has no such task"),
        "rl4rla campaign resume c --set-aside".into(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..2 {
        site.refused("campaign collect c", &words);
    }
    site.refused("sweep small.toml --methods best,mcts --seeds 4 --campaign c --local 2", &words[..2]);
    assert!(!site.file("runs.db").exists(), "nothing enters");
    let before = site.contents("c");
    // Printing what would be done changes nothing, and neither does resuming without saying what to do with them.
    site.json("campaign resume c --set-aside --dry-run --local 2");
    assert_eq!(site.contents("c"), before);

    assert_eq!(site.json("campaign resume c --set-aside --local 2")["complete"], true);
    let aside = site.contents("c/damaged");
    assert_eq!(aside.len(), 10, "they are kept: {aside:?}");
    assert!(aside.iter().all(|(_, text)| before.iter().any(|(_, was)| was == text)));
    assert_eq!(site.json("campaign status c")["notes"], json!([]));
    site.is_as_swept();
}

#[test]
fn a_result_of_another_number_is_never_entered_twice() {
    let site = Site::planned("differs");
    site.json("campaign submit c --local 2");
    site.json("campaign collect c");
    // Another store gets the same runs; a result that is gone is computed again, to the same run.
    fs::remove_file(site.file(&result(7))).unwrap();
    assert_eq!(site.run("campaign collect c --json").code, 1);
    assert_eq!(site.json("campaign resume c --local 1")["complete"], true);
    let collected = site.json("campaign collect c");
    assert_eq!((&collected["entered"], &collected["present"]), (&json!(0), &json!(8)));
    site.is_as_swept();
}

#[test]
fn a_store_that_is_none() {
    let site = Site::planned("store");
    site.json("campaign submit c --local 2");
    let before = site.contents("c");
    site.write("other.db", "this is no store, whatever its name says\n");
    let said = site.run("campaign collect c --store other.db --json");
    assert_eq!(said.code, 2);
    assert!(said.json()["error"]["message"].as_str().unwrap().contains("other.db"), "{said:?}");
    assert_eq!(site.read("other.db"), "this is no store, whatever its name says\n");
    assert_eq!(site.contents("c"), before);
    site.is_as_swept();
}
