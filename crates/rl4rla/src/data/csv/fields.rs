//! Splits a record into its fields.

use super::decimal::plain;
use std::borrow::Cow;

/// The delimiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delimiter {
    /// A single character.
    Sign(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// The delimiter given by this character; a space means any run of blanks.
    pub fn of(sign: u8) -> Delimiter {
        if sign == b' ' { Delimiter::Blanks } else { Delimiter::Sign(sign) }
    }

    fn is(self, byte: u8) -> bool {
        match self {
            Delimiter::Sign(sign) => byte == sign,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        }
    }

    /// Whether a line has no field. If tabs are delimiters, there are fields between them.
    pub fn blank(self, line: &[u8]) -> bool {
        line.iter().all(|byte| byte.is_ascii_whitespace() && self != Delimiter::Sign(*byte))
    }

    /// The fields of a record, without surrounding blanks and quotes.
    pub fn fields(self, record: &[u8]) -> Fields<'_> {
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        let rest = if self == Delimiter::Blanks { record.trim_ascii() } else { record };
        Fields { rest: Some(rest), delimiter: self, quotes: record.contains(&b'"') }
    }

    /// Whether the text ends inside quotes, if it begins `inside` quotes or else at the start of a record.
    pub fn ends_inside(self, text: &[u8], mut inside: bool) -> bool {
        // A quote opens a field only at its beginning; elsewhere it is an ordinary character.
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
    /// The remaining text; `None` after the last field.
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
    /// Whether the record contains any quote.
    quotes: bool,
}

impl<'a> Fields<'a> {
    /// The quoted field at the beginning of the rest, and the position after it; `None` if there is none.
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
        // If something follows the closing quote, the field is taken literally, with its quotes.
        let place = after[..gap].trim_ascii().is_empty().then_some(blanks + 1 + end + 1 + gap)?;
        let field = match doubled {
            false => Cow::Borrowed(&body[..end]),
            true => {
                // Drops the first of two quotes.
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

    /// Takes the next field if it is a plain number: the fast path for most fields.
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

    /// Moves past a field that ends at `end`.
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
        // A quote that does not open a field, and a quoted part with something after it.
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

        /// The fast path accepts nothing that the general parser reads differently.
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
