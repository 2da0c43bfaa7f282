//! The catalogue: named programs, kept as text under `programs/`.

use super::text::Document;
use super::types::Geometry;
use super::typing::check;
use std::sync::LazyLock;

/// A program with a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What one types to get it.
    pub name: &'static str,
    /// Its file.
    pub document: Document,
}

impl Entry {
    /// The program of this name.
    pub fn named(name: &str) -> Option<&'static Entry> {
        CATALOGUE.iter().find(|entry| entry.name == name)
    }

    /// The shape of problem it is made for: the one it fits, tall rather than square if both.
    pub fn geometry(&self) -> Geometry {
        match check(&self.document.program, Geometry::Tall) {
            Ok(_) => Geometry::Tall,
            Err(_) => Geometry::Symmetric,
        }
    }
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../programs/", $name, ".rla")))),*]
    };
}

const FILES: [(&str, &str); 12] = files![
    "landweber",
    "ls-gd",
    "precond-gd",
    "sketched-precond-gd",
    "sketched-precond-gd-factored",
    "sketched-precond-gd-gram",
    "sketched-precond-sgd",
    "precond-weighted-sgd",
    "sgd",
    "block-kaczmarz",
    "subsampled-ls-gd",
    "subsampled-precond-gd",
];

/// Every named program, from the simplest on.
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

    #[test]
    fn every_file_is_listed_complete_and_well_shaped() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");
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
            let fits = |g| check(&document.program, g).is_ok();
            assert!(fits(Geometry::Tall) || fits(Geometry::Symmetric), "{name}");
        }
    }

    #[test]
    fn landweber_is_refused_on_tall_systems() {
        assert_eq!(CATALOGUE[0].name, "landweber");
        assert!(check(&CATALOGUE[0].document.program, Geometry::Tall).is_err());
    }
}
