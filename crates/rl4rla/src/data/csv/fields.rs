//! A record cut into its fields.

use super::decimal::plain;
use std::borrow::Cow;

/// The delimiter.
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

    /// Takes the next field if it is plainly a number: most are, and nothing else need be known of them.
    pub fn number(&mut self, decimal: u8) -> Option<f64> {
        let rest = self.rest?;
        let (number, end) = plain(rest, decimal)?;
        match rest.get(end) {
            Some(byte) if !self.delimiter.is(*byte) => None,
            _ => {
                self.advance(rest, end);
                Some(number)
            }
        }
    }

    /// Leaves what is behind a field that ends there.
    fn advance(&mut self, rest: &'a [u8], end: usize) {
        self.rest = match self.delimiter {
            Delimiter::Sign(_) => rest.get(end + 1..),
            Delimiter::Blanks => Some(rest[end..].trim_ascii_start()).filter(|rest| !rest.is_empty()),
        };
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
        self.advance(rest, end);
        Some(match field {
            Cow::Borrowed(field) => Cow::Borrowed(field.trim_ascii()),
            owned => owned,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(record: &str, sign: u8) -> Vec<String> {
        let delimiter = Delimiter::of(sign);
        delimiter
            .fields(record.as_bytes())
            .map(|field| String::from_utf8_lossy(&field).into_owned())
            .collect()
    }

    #[test]
    fn records_are_cut_where_delimiters_are() {
        assert_eq!(fields("1,2,3\r\n", b','), ["1", "2", "3"]);
        assert_eq!(fields(" 1 ,, 3,", b','), ["1", "", "3", ""]);
        assert_eq!(fields("  1  2\t 3 \n", b' '), ["1", "2", "3"]);
        assert_eq!(fields("1\t\t3\n", b'\t'), ["1", "", "3"]);
        assert_eq!(fields("7", b';'), ["7"]);
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        assert_eq!(fields("\"a,b\", \"c\"\"d\" ,\"e\nf\"\n", b','), ["a,b", "c\"d", "e\nf"]);
        assert_eq!(fields("\"\",\"\"\"\"", b','), ["", "\""]);
        assert_eq!(fields("\"a b\" c", b' '), ["a b", "c"]);
        // A quote that opens no field, and one with something behind it.
        assert_eq!(fields("5\" pipe,3", b','), ["5\" pipe", "3"]);
        assert_eq!(fields("\"1\"2,3", b','), ["\"1\"2", "3"]);
        assert_eq!(fields("\"never closed,3", b','), ["\"never closed", "3"]);
    }

    #[test]
    fn a_record_goes_on_while_a_quote_is_open() {
        let comma = Delimiter::of(b',');
        assert!(comma.ends_inside(b"1,\"a\n", false));
        assert!(comma.ends_inside(b"still\n", true));
        assert!(!comma.ends_inside(b"end\",2\n", true));
        assert!(!comma.ends_inside(b"5\" pipe,3\n", false));
        assert!(!comma.ends_inside(b"\"a\"\"b\"\n", false));
        assert!(comma.ends_inside(b"1, \"a\"\"\n", false));
    }

    #[test]
    fn tabs_between_nothing_are_a_row_of_nothing() {
        assert!(Delimiter::of(b',').blank(b" \t\r\n") && Delimiter::of(b' ').blank(b"\t \n"));
        assert!(!Delimiter::of(b'\t').blank(b"\t\t\n") && !Delimiter::of(b',').blank(b",\n"));
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(cells in prop::collection::vec("[a-z0-9\",; \n]{0,6}", 1..6)) {
            let quoted: Vec<String> =
                cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
            let record = quoted.join(",") + "\n";
            prop_assert!(!Delimiter::of(b',').ends_inside(record.as_bytes(), false));
            let back = fields(&record, b',');
            prop_assert_eq!(back.len(), cells.len());
            for (back, cell) in back.iter().zip(&cells) {
                prop_assert_eq!(back.trim(), cell.trim());
            }
        }

        /// The short way takes nothing that the long way reads otherwise.
        #[test]
        fn numbers_taken_at_once_are_those_of_the_fields(record in "[0-9.,; \"-]{0,20}", sign in prop::sample::select(vec![b',', b';', b' '])) {
            let delimiter = Delimiter::of(sign);
            let (mut short, long) = (delimiter.fields(record.as_bytes()), delimiter.fields(record.as_bytes()));
            for field in long {
                match short.number(b'.') {
                    Some(number) => prop_assert_eq!(super::super::decimal::number(&field, b'.'), Some(number)),
                    None => prop_assert_eq!(short.next(), Some(field)),
                }
            }
            prop_assert_eq!(short.next(), None);
        }
    }
}
