//! Campaign files: what is computed, and what jobs ask for.

use super::options;
use super::plan::{SeededSearch, searches};
use crate::failure::Failure;
use crate::slurm;
use rl4rla::experiment::campaign::{JobOptions, SlurmOptions};
use serde::Deserialize;
use std::path::Path;
use toml::{Spanned, Table, Value};

/// Campaign files are short; a larger file is rejected.
const MAX_BYTES: u64 = 1 << 20;

/// The key of a table that is not an option of its command: the seconds that a task takes.
const SECONDS: &str = "seconds";

/// A campaign file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    title: Option<String>,
    #[serde(default)]
    jobs: JobOptions,
    #[serde(default)]
    slurm: SlurmOptions,
    #[serde(default)]
    sweep: Vec<Spanned<Table>>,
    #[serde(default)]
    explore: Vec<Spanned<Table>>,
    #[serde(default)]
    audit: Vec<Spanned<Table>>,
    #[serde(default)]
    reproduce: Vec<Spanned<Table>>,
}

/// What a campaign file asks for.
pub struct CampaignFile {
    pub title: String,
    pub jobs: JobOptions,
    pub slurm: SlurmOptions,
    pub searches: Vec<SeededSearch>,
}

impl CampaignFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<CampaignFile, Failure> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            Failure::new(format!("cannot read {name}: {error}")).advise("the path of a campaign file (TOML)")
        };
        let file = path.metadata().map_err(unreadable)?;
        if !file.is_file() || file.len() > MAX_BYTES {
            let what = if file.is_file() { "too large for a campaign file" } else { "not a plain file" };
            return Err(
                Failure::new(format!("{name} is {what}")).advise("the path of a campaign file (TOML)")
            );
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::new(format!("{name} is not text: byte {at} is not UTF-8"))
                .advise("a campaign file is TOML text")
        })?;
        let title = path.file_stem().map_or("campaign".into(), |stem| stem.to_string_lossy().into_owned());
        CampaignFile::parse(&text, title).map_err(|failure| failure.at(&name))
    }

    fn parse(text: &str, title: String) -> Result<CampaignFile, Failure> {
        let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
        let tables: Tables = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(String::new(), |span| format!("line {}: ", line(span.start)));
            Failure::new(format!("{place}{}", error.message().trim().replace('\n', "; ")))
                .advise("`rl4rla help campaign` explains every key")
        })?;
        check(&tables.jobs, &tables.slurm)?;
        let mut all = Vec::new();
        for (kind, tables) in [
            ("sweep", tables.sweep),
            ("explore", tables.explore),
            ("audit", tables.audit),
            ("reproduce", tables.reproduce),
        ] {
            for table in tables {
                let place = format!("line {}, [[{kind}]]", line(table.span().start));
                let of_table = of_table(kind, table.into_inner());
                all.extend(of_table.map_err(|failure| failure.at(&place))?);
            }
        }
        Ok(CampaignFile {
            title: tables.title.unwrap_or(title),
            jobs: tables.jobs,
            slurm: tables.slurm,
            searches: all,
        })
    }
}

fn of_table(kind: &str, mut table: Table) -> Result<Vec<SeededSearch>, Failure> {
    let seconds = match table.remove(SECONDS) {
        None => None,
        Some(Value::Integer(seconds)) => Some(seconds as f64),
        Some(Value::Float(seconds)) => Some(seconds),
        Some(other) => return Err(Failure::new(format!("key `seconds`: expected a number, got {other}"))),
    };
    if seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds.is_finite())) {
        return Err(Failure::new("key `seconds`: expected the time that a task takes, more than 0"));
    }
    let mut all = Vec::new();
    for command in options::commands(kind, &table)? {
        all.extend(searches(&command)?);
    }
    all.iter_mut().for_each(|search| search.seconds = seconds);
    Ok(all)
}

/// Options that `submit` sets itself.
const OURS: [&str; 9] =
    ["array", "job-name", "output", "error", "chdir", "wrap", "open-mode", "parsable", "requeue"];

/// Options with which there are no jobs, or none that this Slurm knows of.
const NEVER: [&str; 4] = ["test-only", "clusters", "wait", "help"];

fn check(jobs: &JobOptions, slurm: &SlurmOptions) -> Result<(), Failure> {
    if jobs.minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes.is_finite())) {
        return Err(Failure::new("[jobs]: `minutes` is the time that a job should take, more than 0"));
    }
    if jobs.minutes.is_some() && jobs.chunks.is_some() {
        return Err(
            Failure::new("[jobs]: `minutes` and `chunks` contradict each other").advise("one of them")
        );
    }
    if jobs.chunks == Some(0) || slurm.cpus == Some(0) {
        let key = if slurm.cpus == Some(0) { "[slurm]: `cpus`" } else { "[jobs]: `chunks`" };
        return Err(Failure::new(format!("{key} must be at least 1")));
    }
    let SlurmOptions { partition, account, qos, time, memory, constraint, extra, .. } = slurm;
    let words = [partition, account, qos, time, memory, constraint].into_iter().flatten();
    if let Some(word) = words.chain(extra).find(|word| word.contains(|c: char| c.is_control())) {
        return Err(Failure::new(format!("[slurm]: {word:?} has a line break or control character")));
    }
    if let Some(time) = time.as_ref().filter(|time| slurm::seconds(time).is_none()) {
        return Err(Failure::new(format!("[slurm]: `time` cannot be {time:?}")).advise(
            "minutes, hours:minutes:seconds or days-hours, such as \"90\", \"4:00:00\" or \"1-12\"",
        ));
    }
    for option in extra {
        let name = option.strip_prefix("--").and_then(|option| option.split(['=', ' ']).next());
        // Options may be abbreviated.
        let means = |known: &&str| name.is_none_or(|name| known.starts_with(name));
        if OURS.iter().chain(&NEVER).any(means) {
            return Err(Failure::new(format!("[slurm]: `extra` must not have `{option}`"))
                .advise("long options of sbatch, such as \"--nice=100\", that submit does not set itself"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<CampaignFile, String> {
        CampaignFile::parse(text, "mine".into()).map_err(|failure| failure.message().to_string())
    }

    #[test]
    fn a_file_says_what_is_computed_and_how() {
        let file = parse(
            "title = \"Two\"\n[jobs]\nminutes = 10\n[slurm]\ncpus = 4\nextra = [\"--nice=5\"]\n[[sweep]]\n\
             curricula = [\"sketched-precond-gd\"]\nmethods = [\"best\", \"mcts\"]\nseeds = 50\nseconds = 2.5\n\
             [[audit]]\ncurriculum = \"sketched-precond-gd\"\n[[explore]]\nkappa = [[10, 1e4], [1e8]]\nseeds = 3\n\
             [[reproduce]]\nitems = [\"table2\"]\nquick = true\n",
        )
        .unwrap();
        assert_eq!((&*file.title, file.jobs.minutes, file.slurm.cpus), ("Two", Some(10.0), Some(4)));
        let of = |kind: &str| file.searches.iter().filter(|s| s.search.kind().name() == kind).count();
        assert!(of("sweep") > 2, "{}", of("sweep"));
        assert_eq!((of("explore"), of("audit")), (2, 1));
        let first = &file.searches[0];
        assert_eq!((first.first_seed, first.seeds, first.seconds), (0, 50, Some(2.5)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, message) in [
            ("titel = 3", "line 1: unknown field `titel`"),
            (
                "title = \"a\"\n[[sweep]]\ncurricula = [\"no-such\"]",
                "line 2, [[sweep]]: no curriculum `no-such`",
            ),
            ("[[sweep]]\ncurricula = [", "line 2: "),
            (
                "\n[[audit]]\ncurriculum = \"sketched-precond-gd\"\nseconds = -1",
                "line 2, [[audit]]: key `seconds`",
            ),
            ("[jobs]\nminutes = 0", "[jobs]: `minutes`"),
            ("[slurm]\ncpus = 0", "[slurm]: `cpus`"),
            ("[slurm]\nextra = [\"--array=1-5\"]", "`extra` must not have `--array=1-5`"),
            ("[slurm]\nextra = [\"--job-nam=x\"]", "`extra` must not have `--job-nam=x`"),
            ("[slurm]\nextra = [\"--test-only\"]", "`extra` must not have `--test-only`"),
            ("[slurm]\nextra = [\"-J x\"]", "`extra` must not have `-J x`"),
            ("[slurm]\ntime = \"4h\"", "[slurm]: `time` cannot be \"4h\""),
            ("[jobs]\nminutes = 5\nchunks = 5", "`minutes` and `chunks`"),
            ("[slurm]\npartition = \"a\\nb\"", "line break"),
            ("[slurm]\ncpu = 4", "unknown field `cpu`"),
            ("[[explore]]\nmatrix = \"a.csv\"", "campaigns explore drawn problems"),
            ("[[explore]]\nkappa = 0.5", "line 1, [[explore]]"),
        ] {
            let error = parse(text).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
    }
}
