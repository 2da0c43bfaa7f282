//! A record cut into its fields.

use std::borrow::Cow;

/// What stands between fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delimiter {
    /// One sign.
    Sign(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// The delimiter that this sign stands for.
    pub fn of(sign: u8) -> Delimiter {
        if sign == b' ' { Delimiter::Blanks } else { Delimiter::Sign(sign) }
    }

    fn is(self, byte: u8) -> bool {
        match self {
            Delimiter::Sign(sign) => byte == sign,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        }
    }

    /// Whether a line has no field. Tabs that are delimiters have fields between them.
    pub fn blank(self, line: &[u8]) -> bool {
        line.iter().all(|byte| byte.is_ascii_whitespace() && self != Delimiter::Sign(*byte))
    }

    /// The fields of a record, without the blanks and the quotes around them.
    pub fn fields(self, record: &[u8]) -> Fields<'_> {
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        let rest = if self == Delimiter::Blanks { record.trim_ascii() } else { record };
        Fields { rest: Some(rest), delimiter: self, quotes: record.contains(&b'"') }
    }

    /// Whether the text ends inside quotes, if it begins `inside` them or where a record begins.
    pub fn ends_inside(self, text: &[u8], mut inside: bool) -> bool {
        // A quote opens a field only at its beginning; elsewhere it is a sign like others.
        let mut opening = !inside;
        let mut at = 0;
        while at < text.len() {
            if inside {
                let Some(quote) = text[at..].iter().position(|byte| *byte == b'"') else { return true };
                at += quote + 1;
                match text.get(at) == Some(&b'"') {
                    true => at += 1,
                    false => (inside, opening) = (false, false),
                }
            } else {
                let byte = text[at];
                inside = opening && byte == b'"';
                opening = self.is(byte) || (opening && byte == b' ');
                at += 1;
            }
        }
        inside
    }
}

/// The fields of a record.
pub struct Fields<'a> {
    /// What is left; nothing, when the last field was told.
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
    /// Whether there are quotes at all.
    quotes: bool,
}

impl<'a> Fields<'a> {
    /// The field in quotes with which the rest begins, and the place behind it; none if it does not begin so.
    fn quoted(&self, rest: &'a [u8]) -> Option<(Cow<'a, [u8]>, usize)> {
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        let body = rest[blanks..].strip_prefix(b"\"")?;
        let (mut end, mut doubled) = (0, false);
        loop {
            end += body[end..].iter().position(|byte| *byte == b'"')?;
            if body.get(end + 1) != Some(&b'"') {
                break;
            }
            (end, doubled) = (end + 2, true);
        }
        let after = &body[end + 1..];
        let gap = self.until_delimiter(after);
        // What follows the closing quote belongs to no field: the whole is then taken as it stands.
        let place = after[..gap].trim_ascii().is_empty().then_some(blanks + 1 + end + 1 + gap)?;
        let field = match doubled {
            false => Cow::Borrowed(&body[..end]),
            true => {
                // The first of two quotes is dropped.
                let mut before = false;
                let keep = |byte: &&u8| {
                    before = **byte == b'"' && !before;
                    !before
                };
                Cow::Owned(body[..end].iter().filter(keep).copied().collect())
            }
        };
        Some((field, place))
    }

    fn until_delimiter(&self, text: &[u8]) -> usize {
        text.iter().position(|byte| self.delimiter.is(*byte)).unwrap_or(text.len())
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        let rest = self.rest?;
        let quoted = if self.quotes { self.quoted(rest) } else { None };
        let (field, end) = quoted.unwrap_or_else(|| {
            let end = self.until_delimiter(rest);
            (Cow::Borrowed(&rest[..end]), end)
        });
        self.rest = match self.delimiter {
            Delimiter::Sign(_) => rest.get(end + 1..),
            Delimiter::Blanks => Some(rest[end..].trim_ascii_start()).filter(|rest| !rest.is_empty()),
        };
        Some(match field {
            Cow::Borrowed(field) => Cow::Borrowed(field.trim_ascii()),
            owned => owned,
        })
    }
}
