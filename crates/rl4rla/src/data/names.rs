//! The names of the columns of a table.

use super::error::{is_obeyed, shown};
use std::borrow::Cow;
use std::collections::HashMap;

/// Memory per column name in addition to its characters, in bytes.
pub(super) const NAME: u64 = 64;

/// Distinct column names: unnamed columns get a name, and duplicates are an error because they are ambiguous.
pub(super) fn distinct<'a>(fields: impl Iterator<Item = Cow<'a, [u8]>>) -> Result<Vec<String>, String> {
    // Names are printed in terminals: no line ends, no control characters.
    let clean = |field: Cow<[u8]>| {
        let name: String =
            String::from_utf8_lossy(&field).chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect();
        name.trim().to_string()
    };
    let mut names: Vec<String> = fields.map(clean).collect();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (place, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = taken.insert(name.clone(), place) {
            let name = shown(name.as_bytes());
            return Err(format!("columns {} and {} are both named {name}", first + 1, place + 1));
        }
    }
    for (place, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = format!("column {}", place + 1);
        while taken.contains_key(name) {
            name.push('\'');
        }
    }
    Ok(names)
}
