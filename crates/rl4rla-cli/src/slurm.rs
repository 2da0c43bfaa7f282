//! Slurm, by its commands: `sbatch`, `squeue`, `scancel`, `scontrol` and `sacctmgr`.
//!
//! A command may fail, and may not answer at all; then it is ended after a while. Nothing here is retried: what was handed
//! out is told by the names of jobs, so that whoever asks again sees what there is.

use crate::failure::Failure;
use crate::interrupt;
use crate::shell::quoted;
use rl4rla::experiment::campaign::{ChunkState, JobArray, SlurmOptions};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long a command may take. A controller that is busy answers within seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// The same for tests of what happens then.
const LIMIT_VARIABLE: &str = "RL4RLA_SLURM_SECONDS";

/// Names of jobs in one question, so that no command line gets too long.
const NAMES: usize = 500;

/// The answer of a command.
fn ask<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> Result<String, Failure> {
    let given = std::env::var(LIMIT_VARIABLE).ok().and_then(|seconds| seconds.parse().ok());
    let limit = given.map_or(LIMIT, Duration::from_secs);
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(changes_answers) {
            command.env_remove(name);
        }
    }
    match interrupt::output_within(&mut command, limit) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(format!("Slurm is not installed here: there is no `{program}` on the PATH"))
                .advise("the same command on a machine of the cluster"))
        }
        Err(error) => Err(Failure::new(format!("cannot run `{program}`: {error}"))),
        Ok(None) => {
            let seconds = limit.as_secs();
            Err(Failure::new(format!("`{program}` did not answer within {seconds} s and was ended"))
                .advise("the same command later (`sinfo` shows whether Slurm answers); nothing is lost"))
        }
        Ok(Some(output)) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into()),
        Ok(Some(output)) => {
            let words = String::from_utf8_lossy(&output.stderr);
            let words: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let words = if words.is_empty() { output.status.to_string() } else { words.join("; ") };
            Err(Failure::new(format!("`{program}` failed: {words}")).advise(match program {
                "sbatch" => "other options under [slurm] of the campaign file; nothing is lost",
                _ => "the same command later (`scontrol ping` shows whether Slurm answers); nothing is lost",
            }))
        }
    }
}

/// Whether a variable would hide jobs from us, or have `sbatch` wait for them or send them elsewhere.
fn changes_answers(variable: &str) -> bool {
    let of_programs = ["SQUEUE_", "SCANCEL_", "SCONTROL_", "SACCTMGR_"];
    of_programs.iter().any(|program| variable.starts_with(program))
        || ["SBATCH_WAIT", "SBATCH_CLUSTERS"].contains(&variable)
}

/// Whether this machine can ask for jobs at all.
pub fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("squeue").is_file())
}

/// What the cluster allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlurmLimits {
    /// Jobs of an array: `MaxArraySize`.
    pub array: u64,
    /// Further jobs: `MaxJobCount`, and `MaxSubmitJobs` of the account and the quality of service.
    pub jobs: u64,
}

/// Asks for the limits. An error if there is no room for any job.
pub fn limits(options: &SlurmOptions) -> Result<SlurmLimits, Failure> {
    let configuration = ask("scontrol", ["show", "config"])?;
    let number = |name: &str| setting(&configuration, name).and_then(|value| value.parse::<u64>().ok());
    let array = number("MaxArraySize").unwrap_or(1001);
    if array == 0 {
        return Err(Failure::new("this Slurm allows no job arrays (MaxArraySize is 0)")
            .advise("your administrator, or --local N on a machine of your own"));
    }
    let mut jobs = number("MaxJobCount").unwrap_or(10_000);
    if let Some(most) = most_submitted(options, setting(&configuration, "ClusterName")) {
        let own =
            ask("squeue", ["--noheader", "--array", "--all", "--me", "--format=%i"])?.lines().count() as u64;
        if own >= most {
            let message = format!("Slurm lets you have {most} jobs (MaxSubmitJobs), and you have {own}");
            return Err(Failure::new(message).advise("`rl4rla campaign resume` when some of them have ended"));
        }
        jobs = jobs.min(most - own);
    }
    Ok(SlurmLimits { array, jobs })
}

/// The value of a setting in the answer of `scontrol show config`.
fn setting<'a>(configuration: &'a str, name: &str) -> Option<&'a str> {
    let line = |line: &'a str| line.split_once('=').filter(|(key, _)| key.trim() == name);
    configuration.lines().find_map(line).map(|(_, value)| value.trim())
}

/// The number of jobs that accounts let this user have; `None` where there are no accounts or no such limit.
fn most_submitted(options: &SlurmOptions, cluster: Option<&str>) -> Option<u64> {
    let asked = |words: &[&str]| ask("sacctmgr", ["--noheader", "--parsable2", "show"].iter().chain(words));
    let of_user = format!("user={}", ask("id", ["-un"]).ok()?.trim());
    let account = options.account.clone().or_else(|| {
        let usual = asked(&["user", &of_user, "format=DefaultAccount"]).ok()?;
        usual.lines().map(|line| String::from(line.trim())).find(|account| !account.is_empty())
    });
    let mut words = vec!["associations", &of_user, "format=Account,MaxSubmitJobs,GrpSubmitJobs,DefaultQOS"];
    let of_cluster = cluster.map(|cluster| format!("cluster={cluster}"));
    words.extend(of_cluster.as_deref());
    let associations = asked(&words).ok()?;
    let rows = associations.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let own: Vec<Vec<&str>> =
        rows.filter(|row| account.as_deref().is_none_or(|account| row[0] == account)).collect();
    let mut limits: Vec<u64> =
        own.iter().flat_map(|row| &row[1..row.len().min(3)]).filter_map(parsed).collect();
    let services: Vec<&str> = match options.qos.as_deref() {
        Some(qos) => vec![qos],
        None => own.iter().filter_map(|row| row.get(3).copied()).collect(),
    };
    let known = asked(&["qos", "format=Name,MaxSubmitJobsPU,GrpSubmitJobs"]).unwrap_or_default();
    for row in known.lines().map(|line| line.split('|').collect::<Vec<_>>()) {
        if services.contains(&row[0]) {
            limits.extend(row[1..].iter().filter_map(parsed));
        }
    }
    limits.into_iter().min()
}

fn parsed(text: &&str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The seconds of a time limit as Slurm writes it: minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S, infinity for none;
/// `None` if it is no time limit.
pub fn seconds(limit: &str) -> Option<f64> {
    let whole = |text: &str| text.trim().parse::<u32>().ok().map(f64::from);
    let numbers = |text: &str| text.split(':').map(whole).collect::<Option<Vec<f64>>>();
    let seconds = match limit.split_once('-') {
        _ if ["UNLIMITED", "INFINITE"].iter().any(|none| limit.eq_ignore_ascii_case(none)) => f64::INFINITY,
        Some((days, rest)) => match numbers(rest)?[..] {
            [hours] => 86_400.0 * whole(days)? + 3600.0 * hours,
            [hours, minutes] => 86_400.0 * whole(days)? + 3600.0 * hours + 60.0 * minutes,
            [hours, minutes, seconds] => 86_400.0 * whole(days)? + 3600.0 * hours + 60.0 * minutes + seconds,
            _ => return None,
        },
        None => match numbers(limit)?[..] {
            [minutes] => 60.0 * minutes,
            [minutes, seconds] => 60.0 * minutes + seconds,
            [hours, minutes, seconds] => 3600.0 * hours + 60.0 * minutes + seconds,
            _ => return None,
        },
    };
    // Zero means that there is none.
    Some(if seconds > 0.0 { seconds } else { f64::INFINITY })
}

/// What the jobs of a submission do.
pub struct JobWork<'a> {
    /// The number of the submission.
    pub submission: u64,
    /// What they ask for.
    pub options: &'a SlurmOptions,
    /// The folder of the campaign, whole.
    pub folder: &'a Path,
    /// The folder in which they work.
    pub directory: &'a Path,
    /// This program.
    pub program: &'a Path,
    /// The limit of their caches in MiB, if one is given.
    pub cache: Option<usize>,
}

/// The script of the jobs of an array.
pub struct JobScript {
    /// The options of `sbatch`.
    options: Vec<String>,
    command: String,
}

impl JobWork<'_> {
    /// An error if there is a path that scripts or Slurm would take for something else.
    pub fn check(&self) -> Result<(), Failure> {
        let bad = |c: char| c.is_control() || c == '\\';
        for path in [self.folder, self.directory, self.program] {
            if path.to_str().is_none_or(|path| path.contains(bad)) {
                let message =
                    format!("Slurm cannot use the path {path:?}, because of its unusual characters");
                return Err(Failure::new(message)
                    .advise("a path without backslashes, line breaks and control characters, in UTF-8"));
            }
        }
        Ok(())
    }

    /// The script of an array. Jobs are put in the queue again when their node fails or others are preferred.
    pub fn script(&self, array: &JobArray) -> JobScript {
        let JobWork { submission, options, .. } = self;
        let log = self.folder.join(log_name(*submission, array.first, "%a"));
        // Slurm takes % for a placeholder.
        let folder = self.folder.to_string_lossy();
        let log = log.to_string_lossy().replacen(&*folder, &folder.replace('%', "%%"), 1);
        let mut given = vec![
            format!("--job-name={}", array.name),
            format!("--array=0-{}", array.chunks - 1),
            format!("--output={log}"),
            format!("--chdir={}", self.directory.to_string_lossy()),
            "--open-mode=append".into(),
            "--requeue".into(),
        ];
        let cpus = options.cpus.map(|cpus| cpus.to_string());
        for (name, value) in [
            ("partition", &options.partition),
            ("account", &options.account),
            ("qos", &options.qos),
            ("time", &options.time),
            ("mem", &options.memory),
            ("cpus-per-task", &cpus),
            ("constraint", &options.constraint),
        ] {
            given.extend(value.iter().map(|value| format!("--{name}={value}")));
        }
        given.extend(options.extra.iter().cloned());
        let (program, folder, first) = (quoted(self.program), quoted(self.folder), array.first);
        let cache = self.cache.map_or(String::new(), |mib| format!(" --cache {mib}"));
        let command = format!(
            "{program} campaign worker {folder} --submission {submission} --chunk $(({first} + SLURM_ARRAY_TASK_ID)){cache}"
        );
        JobScript { options: given, command }
    }
}

impl JobScript {
    /// The text.
    pub fn text(&self) -> String {
        let lines = self.options.iter().map(|option| format!("#SBATCH {}\n", for_sbatch(option)));
        // The process of the job is the worker itself, so that signals reach it.
        format!("#!/bin/bash\n{}exec {}\n", lines.collect::<String>(), self.command)
    }
}

/// An option as a line `#SBATCH` has it, where a space ends it unless it is quoted.
fn for_sbatch(option: &str) -> String {
    match option.contains([' ', '\t', '"', '\'', '\\', '#']) {
        true => format!("\"{}\"", option.replace('\\', "\\\\").replace('"', "\\\"")),
        false => option.into(),
    }
}

/// The log of a chunk, in the folder of its campaign: that of a submission, an array and its job.
pub fn log_name(submission: u64, first: u64, job: &str) -> String {
    format!("logs/{submission:04}-{first}-{job}.log")
}

/// Submits a script in a file; returns the number of the job.
pub fn submit(file: &Path, script: &JobScript) -> Result<String, Failure> {
    // The variables of `sbatch` take precedence over the lines of a script, but not over arguments.
    let options = script.options.iter().map(OsStr::new);
    let arguments = [OsStr::new("--parsable")].into_iter().chain(options).chain([file.as_os_str()]);
    let answer = ask("sbatch", arguments)?;
    Ok(answer.trim().split(';').next().unwrap_or_default().into())
}

/// What is in the queue of some arrays.
#[derive(Debug, Default)]
pub struct Queue {
    /// By the name of an array: the place of a job in it, and its state.
    pub jobs: BTreeMap<String, Vec<(u64, ChunkState)>>,
    /// Why jobs wait, with their number, where it is not for others to end.
    pub obstacles: BTreeMap<String, u64>,
}

/// Asks for the jobs with these names.
pub fn queue(names: &[&str]) -> Result<Queue, Failure> {
    let mut queue = Queue::default();
    for names in names.chunks(NAMES) {
        let wanted = format!("--name={}", names.join(","));
        queue.read(&ask("squeue", ["--noheader", "--array", "--all", &wanted, "--format=%j|%K|%T|%r"])?);
    }
    Ok(queue)
}

/// Reasons that go away by themselves.
const USUAL: [&str; 8] =
    ["None", "Resources", "Priority", "BeginTime", "Cleaning", "JobArrayTaskLimit", "Prolog", "Dependency"];

impl Queue {
    fn read(&mut self, answer: &str) {
        for line in answer.lines() {
            let mut fields = line.split('|');
            let mut field = || fields.next().unwrap_or_default().trim();
            let (name, place, state, reason) = (field(), field(), field(), field());
            let Ok(place) = place.parse() else { continue };
            let state = match state {
                "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT"
                | "RESV_DEL_HOLD" => ChunkState::Waiting,
                // It may be writing a checkpoint until it has left the queue.
                _ => ChunkState::Running,
            };
            if state == ChunkState::Waiting && !USUAL.contains(&reason) {
                *self.obstacles.entry(reason.into()).or_default() += 1;
            }
            self.jobs.entry(name.into()).or_default().push((place, state));
        }
    }
}

/// Cancels the jobs with these names; those in the queue leave it, and those that run are asked to end.
pub fn cancel(names: &[&str]) -> Result<(), Failure> {
    // Unlike `squeue` it takes one name, and if no job has it, it says nothing.
    names.iter().try_for_each(|name| ask("scancel", [format!("--name={name}")]).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(folder: &str, options: &SlurmOptions) -> String {
        let array = JobArray { name: "rl4rla-abc-1-0".into(), first: 1000, chunks: 7 };
        let (folder, directory, program) = (Path::new(folder), Path::new("/work"), Path::new("/bin/rl4rla"));
        let work = JobWork { submission: 1, options, folder, directory, program, cache: Some(64) };
        work.check().unwrap();
        work.script(&array).text()
    }

    #[test]
    fn a_script_asks_for_what_the_campaign_says() {
        let options = SlurmOptions {
            partition: Some("cpu".into()),
            time: Some("2:00:00".into()),
            memory: Some("4G".into()),
            cpus: Some(4),
            extra: vec!["--nice=100".into(), "--comment=two words".into()],
            ..SlurmOptions::default()
        };
        assert_eq!(
            script("/shared/night", &options),
            "#!/bin/bash\n#SBATCH --job-name=rl4rla-abc-1-0\n#SBATCH --array=0-6\n\
             #SBATCH --output=/shared/night/logs/0001-1000-%a.log\n#SBATCH --chdir=/work\n#SBATCH --open-mode=append\n\
             #SBATCH --requeue\n#SBATCH --partition=cpu\n#SBATCH --time=2:00:00\n#SBATCH --mem=4G\n\
             #SBATCH --cpus-per-task=4\n#SBATCH --nice=100\n#SBATCH \"--comment=two words\"\n\
             exec /bin/rl4rla campaign worker /shared/night --submission 1 --chunk $((1000 + SLURM_ARRAY_TASK_ID)) \
             --cache 64\n"
        );
    }

    #[test]
    fn paths_that_scripts_cannot_have_are_refused() {
        for folder in ["/back\\slash", "/line\nbreak", "/bell\u{7}"] {
            let (folder, work) = (Path::new(folder), Path::new("/work"));
            let options = &SlurmOptions::default();
            let work =
                JobWork { submission: 1, options, folder, directory: work, program: work, cache: None };
            assert!(work.check().unwrap_err().message().contains("unusual characters"));
        }
    }

    #[test]
    fn variables_that_hide_jobs_are_left_out() {
        assert!(["SQUEUE_STATES", "SCANCEL_USERID", "SBATCH_WAIT"].into_iter().all(changes_answers));
        assert!(!["SLURM_CONF", "SBATCH_PARTITION", "PATH"].into_iter().any(changes_answers));
    }

    #[test]
    fn folders_may_have_any_name() {
        let text = script("/my data/50% it's", &SlurmOptions::default());
        assert!(text.contains("#SBATCH \"--output=/my data/50%% it's/logs/0001-1000-%a.log\"\n"), "{text}");
        assert!(text.contains(r"campaign worker '/my data/50% it'\''s' --submission"), "{text}");
    }

    #[test]
    fn the_queue_is_read_by_states() {
        let mut queue = Queue::default();
        queue.read(
            "a|0|RUNNING|None\na|1|PENDING|Priority\na|2|PENDING|PartitionTimeLimit\nb|5|COMPLETING|None\n\
             b|6|REQUEUE_HOLD|launch failed requeued held\nother\nc|N/A|RUNNING|None\n",
        );
        use ChunkState::{Running, Waiting};
        assert_eq!(queue.jobs["a"], [(0, Running), (1, Waiting), (2, Waiting)]);
        assert_eq!(queue.jobs["b"], [(5, Running), (6, Waiting)]);
        assert_eq!(queue.jobs.len(), 2);
        assert_eq!(
            queue.obstacles.keys().collect::<Vec<_>>(),
            ["PartitionTimeLimit", "launch failed requeued held"]
        );
    }

    #[test]
    fn time_limits_are_read_as_slurm_writes_them() {
        let limits = ["90", "10:30", "2:00:00", "1-12", "1-12:30", "1-0:0:1", "UNLIMITED", "infinite", "0"];
        let none = f64::INFINITY;
        let expected = [5400.0, 630.0, 7200.0, 129_600.0, 131_400.0, 86_401.0, none, none, none].map(Some);
        assert_eq!(limits.map(seconds), expected);
        assert_eq!(["4h", "1:2:3:4", "1-1:2:3:4", "-1", "", "1.5"].map(seconds), [None; 6]);
    }

    #[test]
    fn settings_are_found_by_their_whole_name() {
        let text =
            "Configuration data as of now\nMaxArraySize            = 1001\nMaxJobCount             = 10000\n";
        assert_eq!(setting(text, "MaxArraySize"), Some("1001"));
        assert_eq!(setting(text, "MaxArray"), None);
    }
}
