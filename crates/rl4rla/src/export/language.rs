//! The languages there are.

use super::error::ExportError;
use super::subject::Export;
use super::{json, julia, latex, python, rust};
use crate::execute::RunSettings;
use std::fmt;

/// A language: a reference to its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Language(&'static LanguageRow);

/// A program to be run with these settings, on data and draws that a driver finds in a folder of the program's name.
pub struct Trial<'a> {
    /// The program.
    pub export: &'a Export<'a>,
    /// How it is run.
    pub settings: &'a RunSettings,
    /// Folders of problems that it is also tried on with its own defaults and draws: `A.bin`, `b.bin` and `x0.bin` hold
    /// numbers of eight bytes, the least first, and A row by row.
    pub problems: Vec<&'static str>,
}

/// A row of the table of languages.
pub struct LanguageRow {
    /// The name users write.
    pub name: &'static str,
    /// One line of help.
    pub doc: &'static str,
    /// How its files end.
    pub extension: &'static str,
    /// Texts whose words no function may be called by: the language's own names, and what exported files bring along.
    pub words: &'static [&'static str],
    /// Writes a program.
    pub write: fn(&Export) -> Result<String, ExportError>,
    /// A program in the same language that runs exported ones, for those that can be run: it reads `A.txt`, `b.txt`,
    /// `x0.txt`, `sketches.txt` and `samples.txt` in the folder of each and writes `results.txt`, a line for every result. In the folder of a problem it
    /// writes `NAME.txt`: whether the program says that it converged, 0 or 1, after how many iterations, and where, or
    /// else why there is nothing of that, after `refused:` where the program met a matrix that it cannot invert.
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
