//! What jobs ask for, and what the cluster allows.

use super::site::{PLAN, Site};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

fn scripts(json: &Value) -> Vec<&str> {
    json["scripts"].as_array().unwrap().iter().map(|script| script.as_str().unwrap()).collect()
}

#[test]
fn a_dry_run_prints_the_scripts_and_hands_out_nothing() {
    let site = Site::new("dry");
    let slurm = "[slurm]\npartition = \"cpu\"\naccount = \"science\"\nqos = \"normal\"\ntime = \"4:00:00\"\nmemory = \"4G\"\n\
                 cpus = 2\nconstraint = \"a&b\"\nextra = [\"--nice=100\", \"--comment=two words\"]\n";
    site.write("c.toml", &PLAN.replace("[[sweep]]", &format!("{slurm}[[sweep]]")));
    site.json("campaign plan c.toml");
    let (folder, queue) = (site.contents("c"), site.contents("slurm"));
    let dry = site.json("campaign submit c --dry-run");
    assert_eq!((&dry["tasks"], &dry["chunks"]), (&8.into(), &4.into()));
    let [script] = scripts(&dry)[..] else { panic!("{dry}") };
    for option in [
        "--partition=cpu",
        "--account=science",
        "--qos=normal",
        "--time=4:00:00",
        "--mem=4G",
        "--cpus-per-task=2",
        "--constraint=a&b",
        "--nice=100",
        "\"--comment=two words\"",
        "--array=0-3",
        "--requeue",
    ] {
        assert!(script.contains(&format!("#SBATCH {option}\n")), "{option}: {script}");
    }
    let mut shell = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success(), "{script}");
    assert!(site.run("campaign submit c --dry-run").out.contains(script));
    let local = site.json("campaign submit c --dry-run --local 2");
    assert_eq!((&local["tasks"], scripts(&local).len()), (&8.into(), 0));
    assert_eq!((site.contents("c"), site.contents("slurm")), (folder, queue));
    // What is submitted then is what was printed, with the cores that were asked for.
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    assert_eq!(site.contents("c/jobs"), [("c/jobs/0001-0.sh".to_string(), script.to_string())]);
    assert!(site.read("c/submissions/0001.json").contains("\"threads\":2"));
}

#[test]
fn no_array_is_longer_than_the_cluster_allows() {
    let site = Site::new("longest");
    site.write("c.toml", &PLAN.replace("chunks = 4", "chunks = 8"));
    site.json("campaign plan c.toml");
    site.cluster("longest", "3");
    let submitted = site.json("campaign submit c");
    assert_eq!(submitted["submission"]["jobs"].as_array().unwrap().len(), 3);
    let ranges = |script: &str| {
        let script = site.read(&format!("c/jobs/0001-{script}.sh"));
        script.lines().find_map(|line| line.strip_prefix("#SBATCH --array=")).map(String::from)
    };
    assert_eq!(["0", "3", "6"].map(ranges), ["0-2", "0-2", "0-1"].map(|range| Some(range.into())));
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
    let said = Site::planned("no-arrays");
    said.cluster("longest", "0");
    said.refused("campaign submit c", &["MaxArraySize is 0", "--local"]);
}

#[test]
fn no_more_jobs_are_submitted_than_one_may_have() {
    let site = Site::new("most");
    site.write("c.toml", &PLAN.replace("chunks = 4", "chunks = 8"));
    site.json("campaign plan c.toml");
    let chunks = || site.json("campaign submit c --dry-run")["chunks"].as_u64().unwrap();
    assert_eq!(chunks(), 8);
    site.cluster("most", "5");
    assert_eq!(chunks(), 5);
    site.cluster("others", "1\n2_[0-9]\n");
    assert_eq!(chunks(), 3, "two others are in the queue");
    site.cluster("most-of-qos", "4");
    assert_eq!(chunks(), 2, "the quality of service allows less than the account");
    // None are left.
    site.cluster("most-of-qos", "2");
    site.refused(
        "campaign submit c",
        &["Slurm lets you have 2 jobs (MaxSubmitJobs), and you have 2", "resume"],
    );
    assert_eq!(site.names("c"), ["manifest.jsonl"]);
    let said = site.run("campaign submit c --dry-run");
    assert!(said.out.contains("lets you have 2 jobs"), "{}", said.out);
    site.cluster("others", "");
    assert_eq!(site.json("campaign submit c")["submission"]["chunks"], 2);
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}
