//! The `.rla` text format: a header, two sections, one instruction per line, `#` comments.
//!
//! ```text
//! title: Landweber iteration
//! iteration:
//!   v1 = MAT_VEC_MUL(A, x)
//!   v1 = VEC_VEC_SUB(v1, b)
//! ```

use super::ast::{Instruction, Program, Section};
use super::op::Op;
use super::operands::Operands;
use super::register::Reg;
use super::signature::{Signature, Update};
use super::types::Geometry;
use super::typing::check;
use std::fmt;
use std::str::FromStr;

/// Maximum size of a program file in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A program file: its title, its references and the program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Document {
    /// Its full name.
    pub title: String,
    /// What it does, in one line.
    pub about: String,
    /// Where it was published.
    pub reference: String,
    /// What the paper calls it.
    pub paper: String,
    /// What the literature calls it.
    pub literature: String,
    /// How it differs from the algorithm in the literature.
    pub differs: String,
    /// The problem family it is for.
    pub family: String,
    /// The update at the end of an iteration.
    pub update: Update,
    /// The program.
    pub program: Program,
}

/// A syntax error: where the text stops being a program, and what was expected there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for section in Section::BOTH {
            if !self.section(section).is_empty() {
                writeln!(f, "{section}:")?;
            }
            for instruction in self.section(section) {
                writeln!(f, "  {instruction}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Program {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Program, ParseError> {
        text.parse::<Document>().map(|document| document.program)
    }
}

impl FromStr for Document {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Document, ParseError> {
        let mut document = Document::default();
        if text.len() > MAX_BYTES {
            let message = format!("the text is {} bytes long; a program is at most {MAX_BYTES}", text.len());
            return Err(ParseError { line: 1, column: 1, message });
        }
        let mut section = None;
        for (i, line) in text.lines().enumerate() {
            let code = line.split('#').next().unwrap_or("");
            let mut cursor = Cursor { line: i + 1, text: code, at: 0 };
            cursor.skip_space();
            if cursor.rest().is_empty() {
                continue;
            }
            match section_named(code.trim()) {
                Some(next) if section >= Some(next) => {
                    return Err(cursor.error(format!("`{next}:` is repeated or out of order")));
                }
                Some(next) => section = Some(next),
                None => match section {
                    Some(section) => {
                        let instruction = cursor.instruction()?;
                        document.program.section_mut(section).push(instruction);
                    }
                    // A title may contain `#`, so the header takes the whole line.
                    None => document.header(Cursor { text: line, ..cursor })?,
                },
            }
        }
        Ok(document)
    }
}

fn section_named(text: &str) -> Option<Section> {
    let name = text.strip_suffix(':')?.trim_end();
    Section::BOTH.into_iter().find(|s| s.name() == name)
}

impl Document {
    /// The names in the paper and in the literature, and how they differ: the lines present, each with its label.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let lines = [("paper", &self.paper), ("literature", &self.literature), ("differs", &self.differs)];
        lines.into_iter().map(|(label, line)| (label, line.as_str())).filter(|(_, line)| !line.is_empty())
    }

    /// The signature it fits: tall rather than symmetric if both, `None` if neither.
    pub fn signature(&self) -> Option<Signature> {
        let new = |shape| Signature::new(shape, self.update).reading(&self.program);
        let shapes = [Geometry::Tall, Geometry::Symmetric].map(new);
        shapes.into_iter().find(|shape| check(&self.program, *shape).is_ok())
    }

    fn header(&mut self, mut cursor: Cursor) -> Result<(), ParseError> {
        let key = cursor.word();
        let fields = [
            ("title", &mut self.title),
            ("about", &mut self.about),
            ("reference", &mut self.reference),
            ("paper", &mut self.paper),
            ("literature", &mut self.literature),
            ("differs", &mut self.differs),
            ("family", &mut self.family),
        ];
        let mut lines: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        lines.push("update");
        if key.text == "update" {
            cursor.expect(':')?;
            cursor.skip_space();
            let name = cursor.word();
            let update = Update::ALL.into_iter().find(|update| update.name() == name.text);
            self.update = update.ok_or_else(|| {
                let known = Update::ALL.map(Update::name);
                let expected = format!("expected one of {}", known.join(", "));
                cursor.error_at(name.at, format!("{expected}; found {}", found(name.text, &known)))
            })?;
            return Ok(());
        }
        match fields.into_iter().find(|(name, _)| *name == key.text) {
            Some((_, field)) => {
                cursor.expect(':')?;
                *field = cursor.rest().trim().into();
                Ok(())
            }
            None => {
                let headers: Vec<String> = lines.iter().map(|name| format!("`{name}: …`")).collect();
                let expected =
                    format!("expected `setup:`, `iteration:`, or a header line {}", headers.join(", "));
                lines.extend(Section::BOTH.map(|section| section.name()));
                Err(cursor.error_at(key.at, format!("{expected}; found {}", found(key.text, &lines))))
            }
        }
    }
}

/// The unknown word, with the nearest known one as a suggestion.
fn found(word: &str, known: &[&str]) -> String {
    let short: String = word.chars().take(40).collect();
    match nearest(word, known.iter().copied()) {
        // The empty word is one edit from `A`, but not a misspelling of it.
        _ if word.is_empty() => "something else".into(),
        Some(name) => format!("`{short}` (did you mean `{name}`?)"),
        None => format!("`{short}`"),
    }
}

/// The name closest to `word` by edit distance, if it is close enough to be a misspelling.
///
/// ```
/// use rl4rla::program::nearest;
/// assert_eq!(nearest("HQR", ["HHQR", "SKETCH"]), Some("HHQR"));
/// assert_eq!(nearest("zebra", ["HHQR", "SKETCH"]), None);
/// ```
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words match nothing; the distance is quadratic in their length.
    if word.chars().count() > 64 {
        return None;
    }
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let best = names.into_iter().map(|name| (edits(&letters(word), &letters(name)), name));
    let (distance, name) = best.min_by_key(|(distance, _)| *distance)?;
    (distance <= name.chars().count().max(2) / 2).then_some(name)
}

/// The edit distance: the number of insertions, deletions and replacements that turn one sequence into the other.
pub fn edits<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A position in a line.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    line: usize,
    text: &'a str,
    at: usize,
}

struct Word<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn word(&mut self) -> Word<'a> {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = Word { text: &rest[..end], at: self.at };
        self.at += end;
        word
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), ParseError> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.error(format!("expected `{wanted}`{}", self.found())))
        }
    }

    fn found(&self) -> String {
        match self.rest().chars().next() {
            Some(c) => format!(", found `{}`", c.escape_debug()),
            None => ", found the end of the line".into(),
        }
    }

    fn error(&self, message: String) -> ParseError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: String) -> ParseError {
        ParseError { line: self.line, column: self.text[..at].chars().count() + 1, message }
    }

    fn register(&mut self) -> Result<Reg, ParseError> {
        let word = self.word();
        Reg::named(word.text).ok_or_else(|| {
            let names: Vec<&str> = Reg::all().map(Reg::name).collect();
            let what = found(word.text, &names);
            self.error_at(word.at, format!("expected a register ({}), found {what}", names.join(" ")))
        })
    }

    /// `target = OPERATOR(operand, operand)`, `A, b = OPERATOR(operand)` or `OPERATOR()`.
    fn instruction(&mut self) -> Result<Instruction, ParseError> {
        let start = *self;
        let first = self.word();
        let target = if self.take('(') {
            *self = start;
            None
        } else {
            *self = start;
            let target = self.register()?;
            if self.take(',') {
                let second = self.word();
                if target != Reg::A || second.text != "b" {
                    return Err(
                        self.error_at(start.at, "only the pair `A, b` can be written together".into())
                    );
                }
            } else if target == Reg::A {
                return Err(self.error("`A` changes only together with `b`: write `A, b = …`".into()));
            }
            if !self.take('=') {
                let hint = if Op::named(first.text).is_some() { " before an operator's result" } else { "" };
                return Err(self.error(format!("expected `=`{hint}{}", self.found())));
            }
            Some(target)
        };
        let name = self.word();
        let op = Op::named(name.text).ok_or_else(|| {
            let names: Vec<&str> = Op::known().map(|op| op.0.name).collect();
            let what = found(name.text, &names);
            self.error_at(name.at, format!("expected an operator, found {what}"))
        })?;
        self.expect('(')?;
        let mut operands = Operands::NONE;
        while !self.take(')') {
            if !operands.is_empty() {
                self.expect(',')?;
            }
            let register = self.register()?;
            if !operands.push(register) {
                return Err(self.error(format!("no operator takes more than {} operands", Operands::MOST)));
            }
        }
        self.skip_space();
        if !self.rest().is_empty() {
            return Err(self.error(format!("expected the end of the line{}", self.found())));
        }
        Ok(Instruction { target, op, operands })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (usize, usize, String) {
        let ParseError { line, column, message } = text.parse::<Program>().unwrap_err();
        (line, column, message)
    }

    #[test]
    fn prints_what_it_parses() {
        let text = "setup:\n  p1 = LEVERAGE_SCORE(A)\niteration:\n  A, b = SUBSAMPLING(p1)\n  DO_NOTHING()\n";
        assert_eq!(text.parse::<Program>().unwrap().to_string(), text);
        assert_eq!("".parse::<Program>().unwrap(), Program::default());
    }

    #[test]
    fn header_and_comments() {
        let text = "# a comment\ntitle: GD # 1\nfamily:low-cond\n\nsetup: # once\niteration:\n v1 = VEC_VEC_ADD( x ,x )# two\n";
        let document: Document = text.parse().unwrap();
        assert_eq!((document.title.as_str(), document.family.as_str()), ("GD # 1", "low-cond"));
        assert_eq!((document.program.iteration.len(), document.update), (1, Update::Subtract));
        let assigned: Document = "update: assign\niteration:\n v1 = VEC_NORMALIZE(x)\n".parse().unwrap();
        assert_eq!(assigned.update, Update::Assign);
        assert!(error("update: asign\n").2.contains("did you mean `assign`?"));
        // Files without these lines are still valid.
        assert_eq!(document.names().count(), 0);
        let told: Document =
            "differs: no Aᵀ\npaper: GD\niteration:\n v1 = VEC_VEC_ADD(x, x)\n".parse().unwrap();
        assert_eq!(told.names().collect::<Vec<_>>(), [("paper", "GD"), ("differs", "no Aᵀ")]);
        assert!(error("difers: no\n").2.contains("did you mean `differs`?"));
    }

    #[test]
    fn errors_name_the_place_and_the_nearest_name() {
        let (line, column, message) = error("iteration:\n  v1 = MAT_VEC_MULT(A, x)\n");
        assert_eq!((line, column), (2, 8));
        assert!(message.contains("did you mean `MAT_VEC_MUL`?"), "{message}");
        let (line, column, message) = error("setup:\n  R1 = HHQR(AA)");
        assert_eq!((line, column), (2, 13));
        assert!(message.contains("did you mean `A`?"), "{message}");
        assert_eq!(error("iteration:\n v1 = HHQR(A").1, 13);
        assert!(error("iteration:\n A = SUBSAMPLING(p1)").2.contains("A, b = "));
        assert!(error("iteration:\n v1, b = SUBSAMPLING(p1)").2.contains("only the pair"));
        assert!(error("iteration:\nsetup:\n").2.contains("out of order"));
        assert!(error("iterations:\n").2.contains("did you mean `iteration`?"));
        assert!(error("iteration:\n v1 = HHQR(A) x").2.contains("end of the line"));
        assert!(error("v1 = HHQR(A)").2.contains("expected `setup:`"));
        assert!(error(&"é".repeat(MAX_BYTES)).2.contains("bytes long"));
    }

    #[test]
    fn distance_is_a_metric_on_examples() {
        assert_eq!(edits(b"kitten", b"sitting"), 3);
        assert_eq!(edits(b"", b"abc"), 3);
        assert_eq!(edits(b"same", b"same"), 0);
    }
}
