//! A document as files: the page, and every figure and table as a separate file.

use super::html::distinct;
use super::{Block, Diagram, Figure, ReportPage, Table};
use crate::data::write_whole;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A part of a document that has its own files.
enum Part<'a> {
    Figure(&'a Figure),
    Diagram(&'a Diagram),
    Table(&'a Table),
}

impl ReportPage {
    /// The files that [`write`](ReportPage::write) writes, the page first.
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let (parts, names) = self.parts();
        let endings = |part: &Part| match part {
            Part::Figure(_) => &["svg", "csv"][..],
            Part::Diagram(_) => &["svg"],
            Part::Table(_) => &["csv"],
        };
        let files = parts.iter().zip(&names).flat_map(|(part, name)| {
            endings(part).iter().map(move |ending| folder.join(format!("{name}.{ending}")))
        });
        std::iter::once(folder.join("index.html")).chain(files).collect()
    }

    /// The parts that have their own files, in page order, with their names.
    fn parts(&self) -> (Vec<Part<'_>>, Vec<String>) {
        let mut parts = Vec::new();
        self.sections.iter().for_each(|section| collect(&section.blocks, &mut parts));
        let mut taken = BTreeSet::from(["index".to_string()]);
        let names = parts.iter().map(|part| distinct(&mut taken, part.name())).collect();
        (parts, names)
    }

    /// Writes `index.html`, `NAME.svg` for each figure and diagram, and `NAME.csv` for each figure and table. Returns
    /// the paths written, the page first. Each file is written atomically.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::create_dir_all(folder)?;
        let (parts, names) = self.parts();
        let written = self.files(folder);
        let mut files = written[1..].iter();
        for part in &parts {
            let texts = match part {
                Part::Figure(figure) => vec![figure.svg(), figure.csv()],
                Part::Diagram(diagram) => vec![diagram.svg()],
                Part::Table(table) => vec![table.csv()],
            };
            for (text, path) in texts.iter().zip(&mut files) {
                write_whole(path, |file| file.write_all(text.as_bytes()))?;
            }
        }
        // Written last, so that its links are valid.
        let page = self.html_with(names);
        write_whole(&written[0], |file| file.write_all(page.as_bytes()))?;
        Ok(written)
    }
}

impl Figure {
    /// The files that [`write`](Figure::write) writes.
    pub fn files(path: &Path) -> [PathBuf; 2] {
        [path.into(), path.with_extension("csv")]
    }

    /// Writes the figure and, next to it, its points as CSV; returns both paths.
    pub fn write(&self, path: &Path) -> io::Result<[PathBuf; 2]> {
        let [drawing, points] = Figure::files(path);
        write_whole(&drawing, |file| file.write_all(self.svg().as_bytes()))?;
        write_whole(&points, |file| file.write_all(self.csv().as_bytes()))?;
        Ok([drawing, points])
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

/// Collects the parts that have files, in page order.
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
        // Overwrites existing files.
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
