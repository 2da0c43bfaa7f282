//! Stages that draw their problems from the user's table.

use super::error::SpecError;
use super::reader::{TableItem, TableReader};
use super::spec::ANY;
use super::target::Target;
use crate::data::{self, Design, Reading};
use crate::discovery::Stage;
use crate::problem::{BOOTSTRAP, Family, HELD_OUT, Scale};
use std::path::Path;

/// The family kind of the user's table.
pub(super) const DATA: &str = "data";

const DATA_KEYS: [&str; 9] =
    ["kind", "file", "target", "intercept", "standardise", "rows", "held-out", "bootstrap", "scale"];

/// Whether to read the tables that problems are drawn from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables<'a> {
    /// Read them; their paths are relative to this folder.
    ReadIn(&'a Path),
    /// Skip them: nothing will be drawn.
    Skip,
}

/// The family of a table: problems are samples of its rows.
pub(super) fn table(reader: &TableReader, tables: Tables) -> Result<Family, SpecError> {
    reader.only(&DATA_KEYS)?;
    let file = reader.need("file")?;
    let column = |item: TableItem| match item.string() {
        Ok(name) => Ok(name.to_string()),
        Err(_) => item
            .whole(ANY)
            .map(|number| number.to_string())
            .map_err(|_| item.wrong("a column's name or number")),
    };
    let flag = |key| reader.or(key, false, |item| item.flag());
    let design = Design {
        target: data::TargetColumn::Column(column(reader.need("target")?)?),
        intercept: flag("intercept")?,
        standardise: flag("standardise")?,
    };
    let family = match tables {
        Tables::ReadIn(folder) => {
            Family::of_table(&folder.join(file.string()?), &design, &Reading::default())
                .map_err(|error| file.error(error.to_string()).advise(error.advice))?
        }
        Tables::Skip => Family::of_unread_table(),
    };
    let size = reader.get("rows").map(|item| item.size(ANY)).transpose()?;
    let numbered = |family: Family, name, value| family.with_number(name, value).expect("a number of tables");
    let family = numbered(family, BOOTSTRAP, f64::from(u8::from(flag("bootstrap")?)));
    let usual = family.number(HELD_OUT).expect("a number of tables");
    let held = reader.or(HELD_OUT, usual, |item| item.number())?;
    let scale = reader.or("scale", family.scale, |item| item.choice(&[Scale::Unit, Scale::Raw]))?;
    let family = Family { scale, ..numbered(family.sized(size, None), HELD_OUT, held) };
    family.check_samples().map_err(|error| file.error(error.to_string()))?;
    Ok(family)
}

/// Prefix of a line that identifies the data a curriculum was read with.
const MARK: &str = "# data of this run: ";

/// The text with one line per table it draws from, so that a run can be resumed or reloaded only with the same data.
pub(super) fn marked(text: &str, stages: &[(Stage, Target)]) -> Result<String, SpecError> {
    let families = stages.iter().flat_map(|(stage, _)| &stage.families).filter(|family| family.is_of_table());
    let mut names: Vec<&str> = families.map(|family| family.kind.info().name).collect();
    names.dedup();
    let mut marks = text.lines().zip(1..).filter_map(|(line, at)| Some((line.strip_prefix(MARK)?, at)));
    if let Some((lost, line)) = marks.clone().find(|(mark, _)| !names.contains(mark)) {
        let message = format!("the run was started with {lost}, but the file has changed since");
        let advice = Some("restore the file, or start a new run".to_string());
        return Err(SpecError { line, place: String::new(), key: String::new(), message, advice });
    }
    if marks.next().is_some() || names.is_empty() {
        return Ok(text.into());
    }
    let marks: String = names.iter().map(|name| format!("{MARK}{name}\n")).collect();
    Ok(format!("{}\n{marks}", text.trim_end()))
}
