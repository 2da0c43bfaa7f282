//! `solve --eigenpairs` and `solve --svd`: no program, no right-hand side.

use super::write;
use crate::args::{Shared, Solve};
use crate::data::{refused, system};
use crate::failure::Failure;
use crate::memory;
use crate::output::Outputs;
use crate::page::{Page, accent, duration, faint, number, path, strong, table, warning};
use crate::progress;
use rl4rla::data::{write_csv, write_npy};
use rl4rla::linalg::Matrix;
use rl4rla::solve::{RISK, Spectral, SpectralError, SpectralOptions, Which, eigenpairs, truncated_svd};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Number of values shown in the terminal.
const SHOWN: usize = 10;

/// Names of what is computed.
struct Kind {
    title: &'static str,
    symbol: &'static str,
    option: &'static str,
}

const EIGENPAIRS: Kind = Kind { title: "Eigenpairs", symbol: "λ", option: "--eigenpairs" };
const SVD: Kind = Kind { title: "Singular values", symbol: "σ", option: "--svd" };

/// Computes and reports pairs.
pub fn run(args: &Solve, shared: &Shared) -> Result<Page, Failure> {
    let (kind, k) = match (args.eigenpairs, args.svd) {
        (Some(k), _) => (EIGENPAIRS, k),
        (None, Some(k)) => (SVD, k),
        (None, None) => unreachable!("one of them is required without a program"),
    };
    let matrix = args.data.matrix.as_deref().expect("required with both");
    let mut outputs = Outputs::new(shared).reads("the matrix", Some(matrix));
    let files = [("--out", &args.out), ("--vectors", &args.vectors), ("--left-vectors", &args.left_vectors)];
    for (option, path) in files {
        path.as_ref().map_or(Ok(()), |path| outputs.writes(option, path))?;
    }
    args.threads.apply()?;
    progress::doing(format!("reading {}", path(matrix)));
    // The system is kept until the end: it may hold the open file that its matrix is read from.
    let system = system(&args.data, matrix, false)?;
    if system.matrix.is_sparse() {
        let entries = system.matrix.rows() as u128 * system.matrix.cols() as u128;
        memory::afford(8 * entries, &format!("{}, made dense,", path(matrix)), "a smaller matrix")?;
    }
    let tolerance = args.tolerance.unwrap_or(SpectralOptions::default().tolerance);
    let options = SpectralOptions { which: args.which, tolerance, passes: args.iterations, seed: args.seed };
    progress::doing(format!("computing {k} {}", kind.title.to_lowercase()));
    let begun = Instant::now();
    let found = match args.eigenpairs {
        Some(_) => eigenpairs(&system.matrix, k, &options),
        None => truncated_svd(&system.matrix, k, &options),
    };
    let found = found.map_err(|error| failure(error, matrix, &kind, &system.columns.labels()))?;
    let seconds = begun.elapsed().as_secs_f64();
    let pairs = found.estimate();
    let mut files = Vec::new();
    if let Some(out) = &args.out {
        let labels: Vec<String> = (1..=pairs.values.len()).map(|j| j.to_string()).collect();
        write(out, &["number", "value"], Some(&labels), &pairs.values)?;
        files.push(out.clone());
    }
    let vectors = [(&args.vectors, Some(&pairs.right)), (&args.left_vectors, pairs.left.as_ref())];
    for (file, vectors) in vectors {
        if let (Some(file), Some(vectors)) = (file, vectors) {
            write_columns(file, vectors)?;
            files.push(file.clone());
        }
    }
    let code = u8::from(!found.is_converged());
    let size = (system.matrix.rows(), system.matrix.cols());
    let outcome = Outcome { args, kind, matrix, size, dropped: system.dropped, found, seconds, files };
    if shared.quiet || shared.json {
        let _ = write!(anstream::stderr(), "{}", outcome.verdict());
    }
    Ok(Page { json: outcome.json(), text: outcome.text(shared.quiet), code })
}

/// Writes the columns of a matrix, as NPY if the path has that extension, otherwise as CSV.
fn write_columns(path: &Path, vectors: &Matrix) -> Result<(), Failure> {
    let npy = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let names: Vec<String> = (1..=vectors.cols()).map(|j| format!("v{j}")).collect();
    match npy {
        true => write_npy(path, vectors.rows(), vectors.cols(), vectors.row_major()),
        false => write_csv(path, &names, None, vectors.row_major()),
    }
    .map_err(refused)
}

/// The error in terms of the user's file and options.
fn failure(error: SpectralError, matrix: &Path, kind: &Kind, labels: &[String]) -> Failure {
    let told = match &error {
        SpectralError::Data(error) => error.with_names(labels),
        SpectralError::Tolerance(found) => {
            let message = format!("--tolerance must be at least 0 and less than 1, got {found}");
            return Failure::new(message).advise("--tolerance 1e-10");
        }
        other => other.to_string(),
    };
    let failure = Failure::new(format!("{}: {told}", matrix.display()));
    match error {
        SpectralError::Count { most, .. } => failure.advise(format!("{} from 1 to {most}", kind.option)),
        SpectralError::InFile => failure.advise("a larger --max-memory"),
        SpectralError::Unreadable(_) => failure.advise("more space in the folder for temporary files"),
        SpectralError::Data(_) if kind.option == EIGENPAIRS.option => {
            failure.advise("a symmetric matrix; --svd takes any")
        }
        _ => failure.advise("`rl4rla help solve` describes what can be solved"),
    }
}

struct Outcome<'a> {
    args: &'a Solve,
    kind: Kind,
    matrix: &'a Path,
    size: (usize, usize),
    dropped: usize,
    found: Spectral,
    seconds: f64,
    files: Vec<PathBuf>,
}

impl Outcome<'_> {
    fn json(&self) -> Value {
        let Spectral { residuals, orthogonality, probe, passes, method, obstacle, .. } = &self.found;
        let which = Which::ALL.into_iter().find(|(_, which)| *which == self.args.which);
        json!({
            "program": method.program(),
            "method": method.words(),
            "matrix": self.matrix.to_string_lossy(),
            "rows": self.size.0,
            "cols": self.size.1,
            "dropped": self.dropped,
            "which": self.args.eigenpairs.and(which).map(|(name, _)| name),
            "values": self.found.estimate().values,
            "residuals": residuals,
            "orthogonality": orthogonality,
            "converged": self.found.is_converged(),
            "obstacle": obstacle,
            "missed_at_most": probe.map(|probe| probe.bound).filter(|bound| bound.is_finite()),
            "tolerance": self.args.tolerance.unwrap_or(SpectralOptions::default().tolerance),
            "seed": self.args.seed,
            "passes": passes,
            "seconds": self.seconds,
            "files": self.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        })
    }

    fn text(&self, quiet: bool) -> String {
        let mut text = String::new();
        if !quiet {
            let ((rows, cols), title) = (self.size, strong(self.kind.title));
            text += &format!("{title} of {}: {rows}×{cols}\n", path(self.matrix));
            if self.dropped > 0 {
                text += &faint(&format!("{} rows with missing values were dropped\n", self.dropped));
            }
            text += "\n";
        }
        text += &table(self.facts());
        text += &format!("\n{}", self.values());
        for file in &self.files {
            text += &faint(&format!("wrote {}\n", file.display()));
        }
        if quiet { text } else { text + &self.verdict() }
    }

    fn facts(&self) -> Vec<Vec<String>> {
        let found = &self.found;
        let worst = found.residuals.iter().copied().fold(0.0, f64::max);
        let method = match found.method.program() {
            Some(program) => format!("{}, begun as {program}", found.method.words()),
            None => found.method.words().to_string(),
        };
        let mut facts = vec![
            vec!["method".into(), method],
            vec!["largest residual".into(), number(worst)],
            vec!["orthogonality".into(), number(found.orthogonality)],
        ];
        if let Some(probe) = found.probe {
            let seen = match probe.bound.is_finite() {
                true => format!(
                    "a second start found none; none larger in size than {}, except with probability {RISK:e}",
                    number(probe.bound)
                ),
                false => "a second start found none".into(),
            };
            facts.push(vec!["missed values".into(), seen]);
        }
        let time = duration(self.seconds);
        facts.push(vec!["work".into(), format!("{} passes over A, {time}", found.passes)]);
        facts
    }

    fn values(&self) -> String {
        let values = &self.found.estimate().values;
        let row = |(j, (value, residual)): (usize, (&f64, &f64))| {
            vec![accent(&format!("{}{}", self.kind.symbol, j + 1)), number(*value), faint(&number(*residual))]
        };
        let mut text = table(values.iter().zip(&self.found.residuals).enumerate().take(SHOWN).map(row));
        if values.len() > SHOWN {
            let hint = if self.args.out.is_some() { "" } else { "; --out FILE writes all" };
            text += &faint(&format!("and {} more{hint}\n", values.len() - SHOWN));
        }
        text
    }

    /// A warning, if the pairs do not meet the tolerance.
    fn verdict(&self) -> String {
        self.found.obstacle.as_ref().map_or_else(String::new, |why| {
            warning(&format!("Not converged: {why}.\n"))
                + &faint("try: more --iterations, or a larger --tolerance\n")
        })
    }
}
