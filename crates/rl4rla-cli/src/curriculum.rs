//! A CURRICULUM argument: a built-in name, a path to a `.toml` file, or the text of a curriculum.

use crate::failure::Failure;
use crate::memory;
use rl4rla::curriculum::{BUILTIN, Curriculum};
use rl4rla::discovery::Instances;
use rl4rla::program::nearest;
use std::ffi::OsStr;
use std::path::Path;

/// Curricula are short; a larger file is rejected.
const MAX_BYTES: u64 = 1 << 20;

/// What a curriculum that was given as text, with a line break in it, is called in messages; its runs have its title.
const GIVEN: &str = "the curriculum";

/// Most letters of a title that is taken for a name.
const LONGEST: usize = 80;

/// Finds a curriculum.
pub fn find(typed: impl AsRef<OsStr>) -> Result<Curriculum, Failure> {
    let typed = typed.as_ref();
    // A path need not be valid text; messages and the store show it as well as they can.
    let name = &*typed.to_string_lossy();
    let given = name.contains('\n');
    let text = match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
        Some((_, text)) => text.to_string(),
        None if given => name.to_string(),
        None => read(name, Path::new(typed))?,
    };
    let name = if given { GIVEN } else { name };
    let mut curriculum = Curriculum::parse(name, &text).map_err(|error| {
        Failure::new(format!("{name}, {error}")).advise("`rl4rla help curricula` explains every key")
    })?;
    let title: String = curriculum.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if given && !title.is_empty() {
        curriculum.name = title.chars().take(LONGEST).collect();
    }
    afford(&curriculum)?;
    Ok(curriculum)
}

/// Rejects `--typed` for a curriculum with a stage whose values have no units.
pub fn permits(curriculum: &Curriculum, typed: bool) -> Result<(), Failure> {
    match curriculum.stages.iter().find(|(stage, _)| typed && !stage.has_units()) {
        None => Ok(()),
        Some((stage, _)) => {
            let (name, task) = (&stage.name, stage.families[0].kind.info().task.name());
            let message = format!(
                "--typed is for linear systems, but stage `{name}` of {} has the task {task}",
                curriculum.name
            );
            Err(Failure::new(message).advise("the same command without --typed"))
        }
    }
}

/// Rejects a curriculum whose instances need more memory than available.
pub fn afford(curriculum: &Curriculum) -> Result<(), Failure> {
    for (stage, _) in &curriculum.stages {
        // Rows that were computed stay in memory until the stage has ended.
        let Instances { search, select, report, .. } = stage.instances;
        let count = search + select + report;
        let largest = stage.families.iter().map(|family| family.rows * family.cols).max().unwrap_or(0);
        let what = format!("stage `{}` of {}, with {count} instances,", stage.name, curriculum.name);
        memory::afford(8 * (count * largest) as u128, &what, "fewer `rows` or fewer `instances`")?;
    }
    Ok(())
}

fn read(name: &str, path: &Path) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("cannot read {name}: {error}")).advise("check the permissions of the file")
    };
    if !path.exists() {
        let failure = Failure::new(format!("no curriculum `{name}`: neither a built-in name nor a file"));
        return Err(match nearest(name, BUILTIN.iter().map(|(name, _)| *name)) {
            Some(meant) => failure.advise(format!("`{meant}`; `rl4rla list curricula` shows all")),
            None => {
                failure.advise("`rl4rla list curricula` shows the names; a path to a .toml file works too")
            }
        });
    }
    let file = path.metadata().map_err(unreadable)?;
    if !file.is_file() || file.len() > MAX_BYTES {
        let what = if file.is_file() { "too large for a curriculum" } else { "not a plain file" };
        return Err(Failure::new(format!("{name} is {what}")).advise("a path to a .toml file"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("{name} is not text: byte {at} is not UTF-8"))
            .advise("a curriculum is TOML text")
    })
}
