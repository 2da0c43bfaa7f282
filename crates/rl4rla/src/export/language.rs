//! The table of target languages.

use super::error::ExportError;
use super::subject::Export;
use super::{json, julia, latex, python, rust};
use crate::execute::RunSettings;
use std::fmt;

/// A language: a reference to its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Language(&'static LanguageRow);

/// A program to run with these settings, on data and draws that a driver reads from a folder named after the program.
pub struct Trial<'a> {
    /// The program.
    pub export: &'a Export<'a>,
    /// How it is run.
    pub settings: &'a RunSettings,
    /// Folders of problems that it is also tried on with its own defaults and draws: `A.bin`, `b.bin` and `x0.bin`
    /// hold little-endian 64-bit floats, A in row-major order.
    pub problems: Vec<&'static str>,
}

/// A row of the table of languages.
pub struct LanguageRow {
    /// The name users write.
    pub name: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// File name extension.
    pub extension: &'static str,
    /// Texts whose words are reserved, so no exported function may use them as its name: keywords of the language,
    /// and names defined by exported files.
    pub words: &'static [&'static str],
    /// Writes a program.
    pub write: fn(&Export) -> Result<String, ExportError>,
    /// Writes a program in the same language that runs exported functions, for languages that can be run. It reads
    /// `A.txt`, `b.txt`, `x0.txt`, `sketches.txt` and `samples.txt` from the folder of each program and writes
    /// `results.txt`, one line per result. In the folder of a problem it writes `NAME.txt`: whether the program
    /// reports convergence, 0 or 1, the number of iterations, and x; or else the error, after `refused:` if the
    /// program met a matrix that it cannot invert.
    pub driver: Option<fn(&[Trial]) -> String>,
}

static TABLE: [LanguageRow; 5] = [
    LanguageRow {
        name: "python",
        doc: "a function that needs NumPy and, for some programs, SciPy",
        extension: "py",
        words: &[
            include_str!("reserved/python.txt"),
            include_str!("templates/pieces.py"),
            include_str!("templates/runs.py"),
            include_str!("templates/driver.py"),
        ],
        write: python::write,
        driver: Some(python::driver),
    },
    LanguageRow {
        name: "rust",
        doc: "a function that needs the crate faer",
        extension: "rs",
        words: &[
            include_str!("reserved/rust.txt"),
            include_str!("templates/pieces.rs"),
            include_str!("templates/runs.rs"),
            include_str!("templates/driver.rs"),
        ],
        write: rust::write,
        driver: Some(rust::driver),
    },
    LanguageRow {
        name: "julia",
        doc: "a function that needs Julia's standard library alone",
        extension: "jl",
        words: &[
            include_str!("reserved/julia.txt"),
            include_str!("templates/pieces.jl"),
            include_str!("templates/runs.jl"),
            include_str!("templates/driver.jl"),
        ],
        write: julia::write,
        driver: Some(julia::driver),
    },
    LanguageRow {
        name: "latex",
        doc: "a document with an algorithm environment",
        extension: "tex",
        words: &[],
        write: latex::write,
        driver: None,
    },
    LanguageRow {
        name: "json",
        doc: "the program as data",
        extension: "json",
        words: &[],
        write: json::write,
        driver: None,
    },
];

impl Language {
    /// Every language.
    pub fn all() -> impl Iterator<Item = Language> {
        TABLE.iter().map(Language)
    }

    /// The language of this name.
    pub fn named(name: &str) -> Option<Language> {
        Language::all().find(|language| language.name == name)
    }
}

impl std::ops::Deref for Language {
    type Target = LanguageRow;
    fn deref(&self) -> &LanguageRow {
        self.0
    }
}

impl PartialEq for LanguageRow {
    fn eq(&self, other: &LanguageRow) -> bool {
        self.name == other.name
    }
}
impl Eq for LanguageRow {}
impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}
impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}
