//! A document as files: the page, and beside it every figure and table for other programs.

use super::html::distinct;
use super::{Block, Diagram, Document, Figure, Table};
use crate::data::write_whole;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What has files of its own.
enum Part<'a> {
    Figure(&'a Figure),
    Diagram(&'a Diagram),
    Table(&'a Table),
}

impl Document {
    /// Writes `index.html`, `NAME.svg` for each figure and diagram, and `NAME.csv` for each figure and table, and says
    /// what was written, the page first. A file appears whole or not at all.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::create_dir_all(folder)?;
        let mut parts = Vec::new();
        self.sections.iter().for_each(|section| collect(&section.blocks, &mut parts));
        let mut taken = BTreeSet::from(["index".to_string()]);
        let names: Vec<String> = parts.iter().map(|part| distinct(&mut taken, part.name())).collect();
        let mut written = vec![folder.join("index.html")];
        for (part, name) in parts.iter().zip(&names) {
            let (svg, csv) = match part {
                Part::Figure(figure) => (Some(figure.svg()), Some(figure.csv())),
                Part::Diagram(diagram) => (Some(diagram.svg()), None),
                Part::Table(table) => (None, Some(table.csv())),
            };
            for (kind, text) in [("svg", svg), ("csv", csv)] {
                if let Some(text) = text {
                    let path = folder.join(format!("{name}.{kind}"));
                    write_whole(&path, |file| file.write_all(text.as_bytes()))?;
                    written.push(path);
                }
            }
        }
        // Last, so that its links lead somewhere.
        let page = self.html_with(names);
        write_whole(&written[0], |file| file.write_all(page.as_bytes()))?;
        Ok(written)
    }
}

impl Figure {
    /// Writes the figure alone, and its points as CSV beside it: both paths.
    pub fn write(&self, path: &Path) -> io::Result<[PathBuf; 2]> {
        let beside = path.with_extension("csv");
        write_whole(path, |file| file.write_all(self.svg().as_bytes()))?;
        write_whole(&beside, |file| file.write_all(self.csv().as_bytes()))?;
        Ok([path.into(), beside])
    }
}

impl Part<'_> {
    fn name(&self) -> &str {
        match self {
            Part::Figure(figure) => &figure.name,
            Part::Diagram(diagram) => &diagram.name,
            Part::Table(table) => &table.name,
        }
    }
}

/// The parts with files, in the order of the page.
fn collect<'a>(blocks: &'a [Block], parts: &mut Vec<Part<'a>>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => parts.push(Part::Figure(figure)),
            Block::Diagram(diagram) => parts.push(Part::Diagram(diagram)),
            Block::Table(table) => parts.push(Part::Table(table)),
            Block::Finding(finding) => parts.extend(finding.figure.iter().map(Part::Figure)),
            Block::Folded(_, blocks) => collect(blocks, parts),
            Block::Text(_) | Block::Remark(_) | Block::Code(_) | Block::Facts(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{document, well_formed};
    use super::*;

    #[test]
    fn every_part_has_its_files_and_the_page_links_to_them() {
        let folder = std::env::temp_dir().join(format!("rl4rla-report-{}", std::process::id()));
        let written = document().write(&folder).unwrap();
        // Again over what is there.
        assert_eq!(document().write(&folder).unwrap(), written);
        let mut there: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        let mut expected = written.clone();
        there.sort();
        expected.sort();
        assert_eq!(there, expected, "and nothing else");
        assert_eq!(written[0], folder.join("index.html"));
        let page = fs::read_to_string(&written[0]).unwrap();
        well_formed(&page);
        for path in &written[1..] {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(page.contains(&format!("href=\"{name}\"")), "{name}");
            if name.ends_with("svg") {
                well_formed(&fs::read_to_string(path).unwrap());
            }
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error() {
        let file = std::env::temp_dir().join(format!("rl4rla-report-file-{}", std::process::id()));
        fs::write(&file, "").unwrap();
        document().write(&file.join("inside")).unwrap_err();
        fs::remove_file(&file).unwrap();
    }
}
