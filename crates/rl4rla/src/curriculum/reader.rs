//! Typed reading of TOML: every value knows its key and line, so that every error can name them.

use super::error::SpecError;
use crate::program::{Document, Instruction, ParseError, Program};
use serde::Serialize;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// Maximum size of a curriculum.
const MAX_BYTES: usize = 1 << 16;

/// A table, and the one that provides defaults for missing keys.
#[derive(Clone)]
pub(super) struct TableReader<'a> {
    text: &'a str,
    line: usize,
    place: String,
    prefix: String,
    table: &'a DeTable<'a>,
    defaults: Option<&'a DeTable<'a>>,
}

/// A value with its position.
#[derive(Clone)]
pub(super) struct TableItem<'a> {
    text: &'a str,
    place: String,
    /// Its key with its tables.
    pub key: String,
    value: &'a Spanned<DeValue<'a>>,
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, SpecError> {
    let error = |line, message: String| SpecError {
        line,
        place: String::new(),
        key: String::new(),
        message,
        advice: None,
    };
    if text.len() > MAX_BYTES {
        let message = format!("the text is {} bytes long; a curriculum is at most {MAX_BYTES}", text.len());
        return Err(error(1, message));
    }
    DeTable::parse(text).map_err(|e: Error| {
        let start = e.span().map_or(0, |span| span.start);
        error(line_of(text, start), format!("not TOML: {}", e.message()))
    })
}

/// The line of the byte at `offset`, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

impl<'a> TableReader<'a> {
    /// Reads the outermost table.
    pub fn new(text: &'a str, table: &'a DeTable<'a>) -> TableReader<'a> {
        TableReader { text, line: 1, place: String::new(), prefix: String::new(), table, defaults: None }
    }

    /// The same table under a name for errors, with `defaults` for missing keys.
    pub fn placed(self, place: String, defaults: Option<&TableReader<'a>>) -> TableReader<'a> {
        TableReader { place, prefix: String::new(), defaults: defaults.map(|reader| reader.table), ..self }
    }

    /// Rejects all keys but these.
    pub fn only(&self, keys: &[&str]) -> Result<(), SpecError> {
        let unknown = self.table.keys().filter(|key| !keys.contains(&key.get_ref().as_ref()));
        // Tables are sorted by key; the first unknown key in the text is reported.
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let name: String = key.get_ref().chars().take(40).collect();
        let known = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let mut error = self.error(&name, format!("unknown key; known here are {known}"));
        error.line = line_of(self.text, key.span().start);
        Err(error.suggest(&name, keys.iter().copied()))
    }

    /// The value of a key, if it is present or has a default.
    pub fn get(&self, key: &str) -> Option<TableItem<'a>> {
        let item = |place: &str, prefix: &str, value| TableItem {
            text: self.text,
            place: place.into(),
            key: format!("{prefix}{key}"),
            value,
        };
        let own = self.table.get(key).map(|value| item(&self.place, &self.prefix, value));
        own.or_else(|| self.defaults?.get(key).map(|value| item("", "defaults.", value)))
    }

    /// The value of a required key.
    pub fn need(&self, key: &str) -> Result<TableItem<'a>, SpecError> {
        self.get(key).ok_or_else(|| self.error(key, "missing"))
    }

    /// A key read by `read`, or the default if it is missing.
    pub fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(TableItem<'a>) -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        self.get(key).map_or(Ok(default), read)
    }

    /// An error at the start of the table, about this key.
    pub fn error(&self, key: &str, message: impl Into<String>) -> SpecError {
        let key = format!("{}{key}", self.prefix);
        SpecError { line: self.line, place: self.place.clone(), key, message: message.into(), advice: None }
    }
}

impl<'a> TableItem<'a> {
    /// An error at this value.
    pub fn error(&self, message: impl Into<String>) -> SpecError {
        SpecError {
            line: self.line(),
            place: self.place.clone(),
            key: self.key.clone(),
            message: message.into(),
            advice: None,
        }
    }

    /// The error that something else was expected here.
    pub fn wrong(&self, expected: &str) -> SpecError {
        let written = self.text.get(self.value.span()).unwrap_or("");
        let written = match self.value.get_ref() {
            DeValue::Table(_) => "a table",
            _ if written.contains('\n') || written.chars().count() > 40 => self.value.get_ref().type_str(),
            _ => written,
        };
        self.error(format!("expected {expected}, got {written}"))
    }

    fn line(&self) -> usize {
        line_of(self.text, self.value.span().start)
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// A string.
    pub fn string(&self) -> Result<&'a str, SpecError> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong("a string"))
    }

    /// A whole number in this range.
    pub fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, SpecError> {
        let value = self.value.get_ref().as_integer();
        let value = value.and_then(|i| u64::from_str_radix(i.as_str(), i.radix()).ok());
        value.filter(|value| range.contains(value)).ok_or_else(|| {
            let (start, end) = range.into_inner();
            match end {
                u64::MAX => self.wrong(&format!("a whole number of at least {start}")),
                _ => self.wrong(&format!("a whole number from {start} to {end}")),
            }
        })
    }

    /// A size: [`TableItem::whole`] as an index type.
    pub fn size(&self, range: RangeInclusive<u64>) -> Result<usize, SpecError> {
        self.whole(range).map(|value| value as usize)
    }

    fn finite(&self) -> Option<f64> {
        let value = match self.value.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok()? as f64,
            DeValue::Float(f) => f.as_str().parse().ok()?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    /// A number above zero.
    pub fn positive(&self) -> Result<f64, SpecError> {
        self.finite().filter(|v| *v > 0.0).ok_or_else(|| self.wrong("a number above 0"))
    }

    /// A nonnegative number.
    pub fn weight(&self) -> Result<f64, SpecError> {
        self.finite().filter(|v| *v >= 0.0).ok_or_else(|| self.wrong("a number of at least 0"))
    }

    /// Any number; the caller checks its range.
    pub fn number(&self) -> Result<f64, SpecError> {
        self.finite().ok_or_else(|| self.wrong("a number"))
    }

    /// A boolean.
    pub fn flag(&self) -> Result<bool, SpecError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// One of these, by name.
    pub fn one_of<T: Copy>(&self, all: &[T], name: impl Fn(T) -> String) -> Result<T, SpecError> {
        let names: Vec<String> = all.iter().map(|value| name(*value)).collect();
        let expected = || {
            let quoted = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
            match quoted.as_slice() {
                [only] => only.clone(),
                _ => format!("one of {}", quoted.join(", ")),
            }
        };
        let word = self.value.get_ref().as_str().ok_or_else(|| self.wrong(&expected()))?;
        let found = names.iter().position(|name| name == word);
        found
            .map(|i| all[i])
            .ok_or_else(|| self.wrong(&expected()).suggest(word, names.iter().map(String::as_str)))
    }

    /// One of these, by the name it is serialised with.
    pub fn choice<T: Copy + Serialize>(&self, all: &[T]) -> Result<T, SpecError> {
        let name = |value| toml::Value::try_from(value).ok().and_then(|v| v.as_str().map(str::to_string));
        self.one_of(all, |value| name(value).unwrap_or_default())
    }

    /// The entries of a nonempty list; `None` if it is not a list.
    pub fn entries(&self) -> Option<Result<Vec<TableItem<'a>>, SpecError>> {
        let array = self.value.get_ref().as_array()?;
        let entry = |value| TableItem { value, ..self.clone() };
        Some(match array.is_empty() {
            true => Err(self.error("the list is empty")),
            false => Ok(array.iter().map(entry).collect()),
        })
    }

    /// The entries of a list, each read by `read`.
    pub fn list<T>(
        &self,
        expected: &str,
        read: impl FnMut(TableItem<'a>) -> Result<T, SpecError>,
    ) -> Result<Vec<T>, SpecError> {
        self.entries().ok_or_else(|| self.wrong(expected))??.into_iter().map(read).collect()
    }

    /// Some of these, by name, without duplicates.
    pub fn several_of<T: Copy + PartialEq>(
        &self,
        expected: &str,
        all: &[T],
        name: impl Fn(T) -> String,
    ) -> Result<Vec<T>, SpecError> {
        let mut found = Vec::new();
        for entry in self.list(expected, Ok)? {
            let value = entry.one_of(all, &name)?;
            if found.contains(&value) {
                return Err(entry.error(format!("\"{}\" is listed twice", name(value))));
            }
            found.push(value);
        }
        Ok(found)
    }

    /// A table.
    pub fn table(&self) -> Result<TableReader<'a>, SpecError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong("a table"))?;
        Ok(TableReader {
            text: self.text,
            line: self.line(),
            place: self.place.clone(),
            prefix: format!("{}.", self.key),
            table,
            defaults: None,
        })
    }

    /// A program in the text format, with its header.
    pub fn document(&self) -> Result<Document, SpecError> {
        self.string()?.parse().map_err(|error| self.within(&error, 0))
    }

    /// Instructions, one per line.
    pub fn instructions(&self) -> Result<Vec<Instruction>, SpecError> {
        let program: Program =
            format!("iteration:\n{}", self.string()?).parse().map_err(|error| self.within(&error, 1))?;
        Ok(program.iteration)
    }

    /// An error in a program whose first `above` lines are not in the file.
    fn within(&self, error: &ParseError, above: usize) -> SpecError {
        let written = self.text.get(self.value.span()).unwrap_or("");
        // A line break right after the opening quotes is not part of the string.
        let opening = written.get(3..).is_some_and(|rest| rest.starts_with(['\n', '\r']));
        let last = self.line() + written.matches('\n').count();
        let line = self.line() + usize::from(opening) + error.line.saturating_sub(above + 1);
        SpecError { line: line.min(last), ..self.error(error.message.clone()) }
    }
}
