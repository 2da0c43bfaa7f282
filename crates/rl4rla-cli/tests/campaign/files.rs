//! Campaign files and folders that are not what they should be: every step says what is wrong, and nothing is lost.

use super::site::{PLAN, Site};

#[test]
fn a_campaign_file_with_a_mistake() {
    let site = Site::new("files");
    for (text, words) in [
        ("title = \"a\"\n[[sweep]\n", &["c.toml: line 2", "rl4rla help campaign"][..]),
        ("title = \"a\"\n\ntitel = 3\n", &["c.toml: line 3: unknown field `titel`"]),
        ("[slurm]\ncpu = 4\n", &["c.toml: line 2: unknown field `cpu`"]),
        ("\n[[sweep]]\ncurricula = [\"smal.toml\"]\n", &["c.toml: line 2, [[sweep]]", "smal.toml"]),
        ("[[sweep]]\ncurricula = [\"small.toml\"]\nmethod = \"best\"\n", &["key `method`", "`methods`"]),
        ("[[sweep]]\ncurricula = [\"small.toml\"]\nmethods = [\"bset\"]\n", &["line 1, [[sweep]]", "bset"]),
        ("[[sweep]]\ncurricula = [\"small.toml\"]\nseeds = 0\n", &["line 1, [[sweep]]", "--seeds"]),
        ("[[audit]]\ncurriculum = \"small.toml\"\nthreads = 2\n", &["key `threads`", "[jobs] and [slurm]"]),
        ("title = \"nothing\"\n", &["the campaign has no tasks", "[[sweep]]"]),
        (
            "[[sweep]]\ncurricula = [\"small.toml\"]\nmethods = [\"best\", \"best\"]\n",
            &["small.toml · best is asked for twice", "each search once"],
        ),
    ] {
        site.write("c.toml", text);
        site.refused("campaign plan c.toml", words);
    }
    std::fs::write(site.file("c.toml"), b"title = \"\xff\"").unwrap();
    site.refused("campaign plan c.toml", &["c.toml is not text: byte 9"]);
    site.write("c.toml", &" ".repeat(2 << 20));
    site.refused("campaign plan c.toml", &["too large for a campaign file"]);
    site.refused("campaign plan d.toml", &["cannot read d.toml", "No such file"]);
    site.refused("campaign plan bin", &["--folder"]);
    site.refused("campaign plan bin --folder c", &["bin is not a plain file"]);
    assert!(!site.file("c").exists() && !site.file("runs.db").exists(), "nothing is written");
}

#[test]
fn a_folder_that_is_taken() {
    let site = Site::planned("taken");
    let before = site.contents("c");
    site.refused("campaign plan c.toml", &["c has a campaign already", "another folder"]);
    site.write("other.toml", &PLAN.replace("Small", "Other"));
    site.refused("campaign plan other.toml --folder c", &["c has a campaign already"]);
    assert_eq!(site.contents("c"), before);
    site.refused("campaign plan other.toml --folder small.toml", &["small.toml", "Not a directory"]);
    site.write("bare", PLAN);
    site.refused("campaign plan bare", &["bare has no extension", "--folder FOLDER"]);
    // A folder with other files is no obstacle.
    std::fs::create_dir(site.file("full")).unwrap();
    site.write("full/notes.txt", "mine");
    site.json("campaign plan other.toml --folder full");
    assert_eq!(site.names("full"), ["manifest.jsonl", "notes.txt"]);
}

const STEPS: [&str; 7] = [
    "submit c --local 1",
    "submit c",
    "worker c --submission 1 --chunk 0",
    "status c",
    "resume c --local 1",
    "collect c",
    "cancel c",
];

#[test]
fn a_folder_without_a_campaign() {
    let site = Site::new("no-campaign");
    for step in STEPS.into_iter().filter(|step| !step.starts_with("worker")) {
        site.refused(&format!("campaign {step}"), &["there is no campaign in", "campaign plan"]);
        let file = step.replace(" c", " c.toml");
        site.refused(&format!("campaign {file}"), &["there is no campaign in", "c.toml"]);
    }
    assert!(!site.file("c").exists() && !site.file("runs.db").exists());
    let said = crate::common::said(site.command("campaign status").arg("").output().unwrap());
    assert!(said.code == 2 && said.err.contains("a value is required for '<FOLDER>'"), "{said:?}");
}

#[test]
fn a_manifest_that_was_changed() {
    let site = Site::planned("manifest");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    site.json("campaign worker c --submission 1 --chunk 0");
    let manifest = site.read("c/manifest.jsonl");
    let (cut, _) = manifest.trim_end().rsplit_once('\n').unwrap();
    let other = "another copy of it was taken away";
    for (text, why) in [
        (manifest.replace("\"seeds\":4", "\"seeds\":5"), "it was changed after it was planned"),
        (manifest.replacen('\n', " \n", 1), "it was changed after it was planned"),
        (cut.to_string(), "without a digest"),
        (String::new(), "without a digest"),
        (other.to_string(), "without a digest"),
    ] {
        site.write("c/manifest.jsonl", &text);
        let before = site.contents("c");
        for step in STEPS {
            let words = ["manifest.jsonl is damaged", why, "a copy of the file as it was planned"];
            site.refused(&format!("campaign {step}"), &words);
        }
        site.refused("campaign plan c.toml", &["has a campaign already"]);
        assert_eq!(site.contents("c"), before);
    }
    // With the copy everything goes on.
    site.write("c/manifest.jsonl", &manifest);
    site.start_jobs();
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn a_submission_that_was_damaged() {
    let site = Site::planned("submission");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    site.json("campaign worker c --submission 1 --chunk 0");
    let submission = site.read("c/submissions/0001.json");
    for text in [
        submission[..submission.len() / 2].to_string(),
        String::new(),
        submission.replace("[[6,2]]", "[[6,3]]"),
        submission.replace("\"number\":1", "\"number\":2"),
    ] {
        site.write("c/submissions/0001.json", &text);
        // Half a submission may be one that a machine does not see whole yet, for which workers wait for minutes.
        let is_whole = text.ends_with('}');
        for step in STEPS.into_iter().filter(|step| is_whole || !step.starts_with("worker")) {
            let words = ["submissions/0001.json is damaged", "remove it", "rl4rla campaign resume"];
            site.refused(&format!("campaign {step}"), &words);
        }
    }
    assert_eq!(site.results().len(), 2);
    // Doing what is advised.
    std::fs::remove_file(site.file("c/submissions/0001.json")).unwrap();
    assert_eq!(site.json("campaign resume c --local 2")["complete"], true);
    site.is_as_swept();
}
