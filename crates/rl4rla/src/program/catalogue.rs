//! The catalogue: named programs, kept as text under `programs/`.

use super::registry::{Registry, Taken};
use super::signature::Signature;
use super::text::Document;
use std::sync::LazyLock;

static REGISTERED: Registry<&'static Entry> = Registry::new();

/// A program with a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name by which users refer to it.
    pub name: &'static str,
    /// The content of its file.
    pub document: Document,
}

impl Entry {
    /// The program of this name.
    pub fn named(name: &str) -> Option<&'static Entry> {
        Entry::known().find(|entry| entry.name == name)
    }

    /// Every named program: built-in and registered ones.
    pub fn known() -> impl Iterator<Item = &'static Entry> {
        CATALOGUE.iter().chain(REGISTERED.all())
    }

    /// Registers a program under a name; an error if the name is taken.
    pub fn register(name: &'static str, document: Document) -> Result<&'static Entry, Taken> {
        let entry: &'static Entry = Box::leak(Box::new(Entry { name, document }));
        REGISTERED.add(entry, |known| known.name == name, CATALOGUE.iter())
    }

    /// The signature of the problems it is for.
    pub fn signature(&self) -> Signature {
        self.document.signature().unwrap_or_else(|| panic!("programs/{}.rla fits no shape", self.name))
    }
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../programs/", $name, ".rla")))),*]
    };
}

const FILES: [(&str, &str); 50] = files![
    "landweber",
    "ls-gd",
    "precond-gd",
    "sketched-precond-gd",
    "sketched-precond-gd-factored",
    "sketched-precond-gd-gram",
    "iterative-hessian-sketch",
    "gram-refinement",
    "sketched-gram-refinement",
    "qr-refinement",
    "sketched-precond-sgd",
    "precond-weighted-sgd",
    "pwsgd",
    "sgd",
    "block-kaczmarz",
    "subsampled-ls-gd",
    "subsampled-precond-gd",
    "logistic-forward",
    "logistic-gd",
    "newton",
    "newton-sketch",
    "regularized-newton",
    "regularized-newton-sketch",
    "power-iteration",
    "sketched-power-iteration",
    "steepest-descent",
    "barzilai-borwein",
    "cgls",
    "cgls-recurred",
    "heavy-ball",
    "sketched-pcg",
    "sketched-pcg-warm",
    "sketched-pcg-recurred",
    "sketched-refinement",
    "adaptive-momentum",
    "adaptive-momentum-t",
    "range-finder",
    "subspace-iteration",
    "block-krylov",
    "locally-optimal-cg",
    "spd-cg",
    "spd-cg-recurred",
    "shifted-cg",
    "ridge-gd",
    "ridge-cg",
    "sketched-ridge-pcg",
    "sketched-ridge-pcg-recurred",
    "ridge-adaptive-momentum",
    "nystrom-pcg",
    "nystrom-pcg-recurred",
];

/// Every built-in program, the simplest first.
pub static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |&(name, text): &(&'static str, &str)| {
        let document = text.parse().unwrap_or_else(|error| panic!("programs/{name}.rla: {error}"));
        Entry { name, document }
    };
    FILES.iter().map(entry).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Geometry, check};

    #[test]
    fn every_file_is_listed_complete_and_well_shaped() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let mut listed: Vec<String> = CATALOGUE.iter().map(|e| e.name.to_string()).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
        for Entry { name, document } in CATALOGUE.iter() {
            let fields = [&document.title, &document.about, &document.reference, &document.family];
            assert!(fields.iter().all(|field| !field.is_empty()), "{name} lacks a header line");
            assert_eq!(
                document.names().count(),
                3,
                "{name} does not say what it is called, and where it differs"
            );
            assert!(document.signature().is_some(), "{name}");
        }
    }

    #[test]
    fn landweber_is_refused_on_tall_systems() {
        assert_eq!(CATALOGUE[0].name, "landweber");
        assert!(check(&CATALOGUE[0].document.program, Geometry::Tall).is_err());
    }
}
