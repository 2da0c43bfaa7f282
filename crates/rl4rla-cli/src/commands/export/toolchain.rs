//! Runs exported code: finds the languages on this machine, and creates temporary environments for them.

use super::latex;
use crate::interrupt;
use rl4rla::experiment::ExperimentError;
use rl4rla::experiment::exported::{Absent, CodeRunner, TrialVerdict, make_inside};
use rl4rla::export::Language;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

/// A temporary folder for one check, and a permanent one for what is expensive to build.
pub struct Workshop {
    /// Folder of this check.
    pub folder: PathBuf,
    lasting: PathBuf,
    quiet: bool,
}

impl Workshop {
    /// Creates the folder.
    pub fn open(quiet: bool) -> Result<Workshop, ExperimentError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("rl4rla-export-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(name);
        interrupt::passing_folder(&folder).map_err(|error| {
            ExperimentError::new(format!("cannot make the folder {}: {error}", folder.display()))
        })?;
        let home =
            |variable: &str, below: &str| env::var_os(variable).map(|home| Path::new(&home).join(below));
        let lasting = home("XDG_CACHE_HOME", "")
            .or_else(|| home("LOCALAPPDATA", ""))
            .or_else(|| home("HOME", ".cache"));
        let lasting = lasting.unwrap_or_else(env::temp_dir).join("rl4rla").join("export");
        Ok(Workshop { folder, lasting, quiet })
    }
}

/// The runners by language.
const RUNNERS: [(&str, Runner); 3] = [("python", python), ("rust", rust), ("julia", julia)];

impl CodeRunner for Workshop {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn run(&self, language: Language, driver: &str) -> Result<Result<String, Absent>, ExperimentError> {
        match RUNNERS.iter().find(|(name, _)| *name == language.name) {
            Some((_, runner)) => runner(driver, self),
            None => Ok(Err(Absent(format!("nobody knows how to run {}", language.name)))),
        }
    }

    fn typeset(&self, text: &str, name: &str) -> Result<TrialVerdict, ExperimentError> {
        latex::typeset(text, name, self)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // Files that cannot be removed are left to the system's cleanup of temporary folders.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs a driver in the workshop: its last output, or the reason why it cannot be run.
type Runner = fn(&str, &Workshop) -> Result<Result<String, Absent>, ExperimentError>;

/// The output of a command; `None` if the command does not exist.
pub fn output(command: &mut Command) -> Result<Option<Output>, ExperimentError> {
    match interrupt::output(command) {
        Ok(output) => Ok(Some(output)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(ExperimentError::new(format!("cannot run {}: {error}", command.get_program().display())))
        }
    }
}

/// The last lines that a command printed.
fn last_words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

fn remark(text: &str, workshop: &Workshop) {
    if !workshop.quiet {
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

/// Runs Python.
fn python(driver: &str, workshop: &Workshop) -> Result<Result<String, Absent>, ExperimentError> {
    let python = match interpreter(workshop)? {
        Ok(python) => python,
        Err(absent) => return Ok(Err(absent)),
    };
    fs::write(workshop.folder.join("driver.py"), driver)?;
    let ran = output(Command::new(python).arg("driver.py").current_dir(&workshop.folder))?;
    Ok(ran.map(|ran| last_words(&ran)).ok_or(Absent("no python3 on this machine".into())))
}

/// A Python interpreter with NumPy and SciPy: that of the machine, or a virtual environment.
fn interpreter(workshop: &Workshop) -> Result<Result<PathBuf, Absent>, ExperimentError> {
    let imports = |python: &Path| -> Result<Option<bool>, ExperimentError> {
        let ran = output(Command::new(python).args(["-c", "import numpy, scipy"]))?;
        Ok(ran.map(|ran| ran.status.success()))
    };
    let machine = Path::new("python3");
    match imports(machine)? {
        None => return Ok(Err(Absent("no python3 on this machine".into()))),
        Some(true) => return Ok(Ok(machine.into())),
        Some(false) => {}
    }
    let folder = workshop.lasting.join("python");
    let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" };
    let python = folder.join(inside);
    if python.exists() && imports(&python)? == Some(true) {
        return Ok(Ok(python));
    }
    remark(
        &format!("python3 has no NumPy and SciPy: making an environment in {}", folder.display()),
        workshop,
    );
    fs::create_dir_all(&folder)?;
    let steps: [(&Path, &[&str]); 2] = [
        (machine, &["-m", "venv", "--clear"]),
        (&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", "scipy"]),
    ];
    for (program, arguments) in steps {
        let mut command = Command::new(program);
        command.args(arguments);
        if program == machine {
            command.arg(&folder);
        }
        let ran = output(&mut command)?;
        if let Some(ran) = ran.filter(|ran| !ran.status.success()) {
            return Ok(Err(Absent(format!("NumPy cannot be installed: {}", last_words(&ran)))));
        }
    }
    Ok(Ok(python))
}

/// The manifest of the temporary crate. Only the results of compiled code matter, not its speed.
const MANIFEST: &str = r#"[package]
name = "export-check"
version = "0.0.0"
edition = "2024"

[dependencies]
faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

[profile.release]
opt-level = 1

[workspace]
"#;

/// Runs Rust, in a temporary crate.
fn rust(driver: &str, workshop: &Workshop) -> Result<Result<String, Absent>, ExperimentError> {
    let absent = || Ok(Err(Absent("no cargo on this machine".into())));
    if output(Command::new("cargo").arg("--version"))?.is_none() {
        return absent();
    }
    let source = workshop.folder.join("src");
    make_inside(&source)?;
    for entry in fs::read_dir(&workshop.folder)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|e| e == "rs")) {
            fs::copy(&path, source.join(name))?;
        }
    }
    fs::write(source.join("main.rs"), driver)?;
    fs::write(workshop.folder.join("Cargo.toml"), MANIFEST)?;
    fs::create_dir_all(&workshop.lasting)?;
    // All checks share the compiled dependencies, so they must not run at the same time.
    let lock = File::create(workshop.lasting.join("lock"))?;
    lock.lock()?;
    remark("compiling; the first time takes some minutes", workshop);
    let ran = output(
        Command::new("cargo")
            .args(["run", "--release", "--quiet"])
            .current_dir(&workshop.folder)
            .env("CARGO_TARGET_DIR", workshop.lasting.join("target")),
    )?;
    match ran {
        Some(ran) => Ok(Ok(last_words(&ran))),
        None => absent(),
    }
}

/// Runs Julia.
fn julia(driver: &str, workshop: &Workshop) -> Result<Result<String, Absent>, ExperimentError> {
    fs::write(workshop.folder.join("driver.jl"), driver)?;
    let ran = output(Command::new("julia").arg("driver.jl").current_dir(&workshop.folder))?;
    Ok(ran.map(|ran| last_words(&ran)).ok_or(Absent("no julia on this machine".into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_that_runs_has_a_runner() {
        for language in Language::all() {
            let known = RUNNERS.iter().any(|(name, _)| *name == language.name);
            assert_eq!(known, language.driver.is_some(), "{language}");
        }
    }
}
