//! A folder of its own for a test, and in it the commands of a Slurm that is a few scripts.

use crate::common::{SMALL, Said, said, scratch, timeless};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Eight tasks in four chunks, of milliseconds each.
pub const PLAN: &str = "title = \"Small\"\n[jobs]\nchunks = 4\n[[sweep]]\ncurricula = [\"small.toml\"]\n\
                        methods = [\"best\", \"mcts\"]\nseeds = 4\n";

/// The same as a command.
pub const SWEEP: &str = "sweep small.toml --methods best,mcts --seeds 4";

const COMMANDS: [(&str, &str); 6] = [
    ("sbatch", include_str!("slurm/sbatch")),
    ("squeue", include_str!("slurm/squeue")),
    ("scancel", include_str!("slurm/scancel")),
    ("scontrol", include_str!("slurm/scontrol")),
    ("sacctmgr", include_str!("slurm/sacctmgr")),
    ("start-jobs", include_str!("slurm/start-jobs")),
];

/// Where a test works.
pub struct Site {
    root: PathBuf,
    /// What is on the PATH.
    path: String,
    /// Seconds that commands of Slurm may take.
    seconds: u64,
}

impl Site {
    /// A folder with `small.toml`, and `c.toml`, a plan of it.
    pub fn new(name: &str) -> Site {
        let root = scratch(&format!("campaign-{name}"));
        let _ = fs::remove_dir_all(&root);
        for folder in ["bin", "slurm/queue", "slurm/scripts", "slurm/processes"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        // No test of a cluster that answers must fail because this machine is busy.
        let site = Site { path: path_of(&root), root, seconds: 60 };
        for (command, text) in COMMANDS {
            site.write(&format!("bin/{command}"), text);
            let file = site.file(&format!("bin/{command}"));
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        site.write("small.toml", SMALL);
        site.write("c.toml", PLAN);
        site
    }

    /// The same with the campaign planned in the folder `c`.
    pub fn planned(name: &str) -> Site {
        let site = Site::new(name);
        site.json("campaign plan c.toml");
        site
    }

    /// From now on commands of Slurm may take this long.
    pub fn patience(&mut self, seconds: u64) {
        self.seconds = seconds;
    }

    /// From now on this is a machine without Slurm, or with it again.
    pub fn has_slurm(&mut self, has: bool) {
        self.path = if has { path_of(&self.root) } else { self.file("nothing").display().to_string() };
    }

    /// Tells the cluster how to behave; nothing: as usual.
    pub fn cluster(&self, what: &str, how: &str) {
        match how {
            "" => fs::remove_file(self.file(&format!("slurm/{what}"))).unwrap(),
            how => self.write(&format!("slurm/{what}"), how),
        }
    }

    /// Starts the jobs that wait in the queue.
    pub fn start_jobs(&self) {
        let status = Command::new(self.file("bin/start-jobs")).env("FAKE_SLURM", self.file("slurm")).status();
        assert!(status.unwrap().success());
    }

    /// How often somebody has asked for the queue.
    pub fn asked(&self) -> usize {
        fs::read_to_string(self.file("slurm/asked")).map_or(0, |asked| asked.lines().count())
    }

    /// A path in it.
    pub fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    #[track_caller]
    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.file(path), text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// The names in a folder, in order; none if there is no folder.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.file(folder)) else { return vec![] };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    }

    /// All files in a folder with their content.
    pub fn contents(&self, folder: &str) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for name in self.names(folder) {
            let path = format!("{folder}/{name}");
            match self.file(&path).is_dir() {
                true => all.extend(self.contents(&path)),
                false => all.push((path.clone(), self.read(&path))),
            }
        }
        all
    }

    /// The submissions of a campaign.
    pub fn submissions(&self, folder: &str) -> Vec<String> {
        let mut names = self.names(&format!("{folder}/submissions"));
        names.retain(|name| name.ends_with(".json"));
        names
    }

    /// The names of the results.
    pub fn results(&self) -> Vec<String> {
        self.names("c/results/000000")
    }

    /// The command with arguments that have no spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rl4rla"));
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        command.args(arguments.split(' ')).current_dir(&self.root);
        if !arguments.contains("--store") {
            command.args(["--store", "runs.db"]);
        }
        command.env("PATH", &self.path).env("FAKE_SLURM", self.file("slurm")).env("USER", "somebody");
        command.env("RL4RLA_SLURM_SECONDS", self.seconds.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[track_caller]
    pub fn run(&self, arguments: &str) -> Said {
        said(self.command(arguments).output().expect("the command starts"))
    }

    /// Starts a command that goes on for a while.
    pub fn start(&self, arguments: &str) -> Child {
        self.command(arguments).spawn().expect("the command starts")
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub fn json(&self, arguments: &str) -> Value {
        let said = self.run(&format!("{arguments} --json"));
        assert_eq!(said.code, 0, "{arguments}: {said:?}");
        said.json()
    }

    /// Runs a command that is bad input: one JSON document, with these words in the message or the advice.
    #[track_caller]
    pub fn refused(&self, arguments: &str, words: &[&str]) {
        let said = self.run(&format!("{arguments} --json"));
        assert_eq!(said.code, 2, "{arguments}: {said:?}");
        let error = &said.json()["error"];
        let (message, advice) = (error["message"].as_str().unwrap(), error["advice"].as_str());
        let advice = advice.unwrap_or_else(|| panic!("{arguments}: {message}: what to do?"));
        for word in words {
            assert!(
                format!("{message}\n{advice}").contains(word),
                "no `{word}` in: {message}\ntry: {advice}"
            );
            assert!(said.err.contains(word.lines().next().unwrap()), "no `{word}` in {}", said.err);
        }
    }

    /// The runs in a store without what depends on the clock, in the order of their ids.
    #[track_caller]
    pub fn runs(&self, store: &str) -> Vec<Value> {
        let mut runs = self.json(&format!("list runs --check --store {store}"))["items"].clone();
        let runs = runs.as_array_mut().unwrap();
        for run in runs.iter_mut() {
            let run = run.as_object_mut().unwrap();
            run.retain(|key, _| !["created", "seconds"].contains(&key.as_str()));
        }
        runs.sort_by_key(|run| run["run"].as_str().unwrap().to_string());
        runs.clone()
    }

    /// Collects the campaign in `c`, whose store must then have what the sweep of one machine enters into its own.
    #[track_caller]
    pub fn is_as_swept(&self) {
        let collected = self.json("campaign collect c");
        assert_eq!((&collected["done"], &collected["complete"]), (&8.into(), &true.into()), "{collected}");
        let swept = self.json(&format!("{SWEEP} --store alone.db"));
        assert_eq!(self.runs("runs.db"), self.runs("alone.db"));
        // The sweep finds all its runs in the store of the campaign.
        assert_eq!(timeless(self.json(SWEEP)), timeless(swept));
        assert_eq!(self.runs("runs.db").len(), 8);
    }
}

fn path_of(root: &Path) -> String {
    format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap_or_default())
}

/// Waits for something that will be so, however slow the machine is.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    // Ten minutes: then it is a fault.
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: it never came to that");
}

/// Sends a signal to a process.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
    assert!(sent.success(), "process {process} gets {name}");
}

/// Waits until a process has worked for a while: the ticks that the system counts, of which there are 100 a second.
pub fn has_worked(process: u32, ticks: u64) {
    until("a process works", || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or(vec![], |(_, rest)| rest.split_whitespace().collect());
        fields.get(11).and_then(|ticks| ticks.parse::<u64>().ok()) >= Some(ticks)
    });
}

/// The process that computes a submission.
pub fn process_of(site: &Site, submission: &str) -> u32 {
    let text = fs::read_to_string(site.file(submission)).unwrap_or_default();
    let submission: Value = serde_json::from_str(&text).unwrap_or_default();
    submission["process"]["id"].as_u64().unwrap_or(0) as u32
}
