//! The header of an NPY file: a Python dictionary with three known keys, and nothing more general.
//!
//! `\x93NUMPY`, the version in two bytes, the length of the rest (two bytes in version 1, four later), then text such
//! as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, padded with blanks.

use super::super::ByteSource;
use super::super::error::{DataError, grouped, shown};
use super::element::Element;
use std::io::Read;

/// Maximum length of a header in bytes.
const LONGEST: usize = 1 << 16;

const ADVICE: &str = "save the array again with `numpy.save`";

/// The array that the header describes.
pub struct Header {
    /// The type of its entries.
    pub element: Element,
    /// Whether the entries are in column-major order.
    pub fortran: bool,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Offset of the first entry in bytes.
    pub offset: u64,
}

/// An error in a header: what is wrong, and what to do.
struct Wrong(String, &'static str);

impl Header {
    /// Reads a header, up to the first entry.
    pub fn read(source: &mut ByteSource) -> Result<Header, DataError> {
        let path = source.path().to_path_buf();
        let refuse = |Wrong(message, advice)| DataError::file(&path, message, advice);
        let mut start = [0; 12];
        let short = source.fill(&mut start[..10])? < 10;
        let wide = start[6] > 1;
        if short || (wide && source.fill(&mut start[10..])? < 2) {
            return Err(refuse(Wrong("the file ends within the NPY header".into(), ADVICE)));
        }
        if !(1..=3).contains(&start[6]) {
            let message = format!("NPY version {}.{} is not known; 1, 2 and 3 are", start[6], start[7]);
            return Err(refuse(Wrong(message, ADVICE)));
        }
        let [.., a, b, c, d] = start;
        let (length, before) = match wide {
            false => (usize::from(u16::from_le_bytes([a, b])), 10),
            true => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        };
        let claim = || format!("the NPY header claims to be {} bytes long", grouped(length as u64));
        if length > LONGEST {
            return Err(refuse(Wrong(format!("{}, more than {}", claim(), grouped(LONGEST as u64)), ADVICE)));
        }
        let mut text = Vec::new();
        let read = source.by_ref().take(length as u64).read_to_end(&mut text);
        if read.map_err(|error| source.broken(&error))? < length {
            let message = format!("{}, but the file ends after {} of them", claim(), text.len());
            return Err(refuse(Wrong(message, ADVICE)));
        }
        let mut literal = Literal { text: &text, at: 0 };
        literal.header((before + length) as u64).map_err(refuse)
    }

    /// Size of all entries in bytes.
    pub fn bytes(&self) -> u64 {
        // Overflow was checked when the header was read.
        (self.rows * self.cols * self.element.size()) as u64
    }
}

/// The text of a header, and the current position.
struct Literal<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Literal<'a> {
    fn header(&mut self, offset: u64) -> Result<Header, Wrong> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.next_is(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let again = match key {
                b"descr" => element.replace(self.element()?).is_some(),
                b"fortran_order" => fortran.replace(self.truth()?).is_some(),
                b"shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(Wrong(format!("the NPY header has an unknown key {}", shown(key)), ADVICE)),
            };
            if again {
                return Err(Wrong(format!("the NPY header has the key {} twice", shown(key)), ADVICE));
            }
            if !self.next_is(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.skip();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the header"));
        }
        let missing = |key: &str| Wrong(format!("the NPY header has no key `{key}`"), ADVICE);
        let element = element.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let (rows, cols) = matrix(&shape.ok_or_else(|| missing("shape"))?, element)?;
        Ok(Header { element, fortran, rows, cols, offset })
    }

    fn element(&mut self) -> Result<Element, Wrong> {
        self.skip();
        if self.text.get(self.at) == Some(&b'[') {
            let advice = "save one field of it, or all as columns of one plain array";
            return Err(Wrong("the array is structured, with a type per field".into(), advice));
        }
        let name = self.string()?;
        std::str::from_utf8(name).ok().and_then(Element::named).ok_or_else(|| {
            let message = format!(
                "the array holds elements {}; real numbers can be read: {}",
                shown(name),
                Element::codes()
            );
            Wrong(message, "save `a.astype(float)` instead")
        })
    }

    fn truth(&mut self) -> Result<bool, Wrong> {
        self.skip();
        for (word, truth) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(truth);
            }
        }
        Err(self.unexpected("True or False"))
    }

    /// Numbers in parentheses, each followed by a comma except perhaps the last.
    fn shape(&mut self) -> Result<Vec<u64>, Wrong> {
        let mut sizes = Vec::new();
        self.expect(b'(')?;
        while !self.next_is(b')') {
            sizes.push(self.whole_number()?);
            if !self.next_is(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn whole_number(&mut self) -> Result<u64, Wrong> {
        self.skip();
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.unexpected("a size, a positive integer"));
        }
        let digits = std::str::from_utf8(&rest[..count]).unwrap_or_default();
        let Ok(number) = digits.parse() else {
            return Err(Wrong(format!("the NPY header claims a size of {}", shown(&rest[..count])), ADVICE));
        };
        self.at += count;
        // Python 2 marked long integers like this.
        self.next_is(b'L');
        Ok(number)
    }

    /// Text in single or double quotes; no key or type has an escaped character.
    fn string(&mut self) -> Result<&'a [u8], Wrong> {
        self.skip();
        let text: &'a [u8] = self.text;
        let rest = &text[self.at..];
        let quote = rest.first().filter(|byte| b"'\"".contains(byte));
        let Some(quote) = quote else { return Err(self.unexpected("a text in quotes")) };
        let Some(end) = rest[1..].iter().position(|byte| byte == quote) else {
            return Err(self.unexpected("a text with a closing quote"));
        };
        self.at += end + 2;
        Ok(&rest[1..=end])
    }

    /// Consumes the next character if it is this one.
    fn next_is(&mut self, sign: u8) -> bool {
        self.skip();
        let is = self.text.get(self.at) == Some(&sign);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: u8) -> Result<(), Wrong> {
        match self.next_is(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&shown(&[sign]))),
        }
    }

    fn skip(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn unexpected(&self, expected: &str) -> Wrong {
        let found = match &self.text[self.at..] {
            [] => "its end".into(),
            rest => shown(&rest[..rest.len().min(20)]),
        };
        Wrong(format!("byte {} of the NPY header: expected {expected}, found {found}", self.at + 1), ADVICE)
    }
}

/// Rows and columns of an array of this shape; an error if the number of bytes overflows.
fn matrix(shape: &[u64], element: Element) -> Result<(usize, usize), Wrong> {
    let said: Vec<String> = shape.iter().map(|size| grouped(*size)).collect();
    let (rows, cols) = match shape {
        [rows] => (*rows, 1),
        [rows, cols] => (*rows, *cols),
        [] => {
            return Err(Wrong(
                "the array is a single number".into(),
                "save an array of one or two dimensions",
            ));
        }
        _ => {
            let message = format!("the array has {} dimensions, at most two are a matrix", shape.len());
            return Err(Wrong(message, "save an array of one or two dimensions"));
        }
    };
    if rows == 0 || cols == 0 {
        let message = format!("the array of shape ({}) has no entries", said.join(", "));
        return Err(Wrong(message, "save an array with at least one row and one column"));
    }
    // The entries become numbers of eight bytes.
    let bytes = rows.checked_mul(cols).and_then(|entries| entries.checked_mul(size_of::<f64>() as u64));
    match (bytes.map(usize::try_from), usize::try_from(rows), usize::try_from(cols)) {
        (Some(Ok(_)), Ok(rows), Ok(cols)) => Ok((rows, cols)),
        _ => {
            let message =
                format!("the header claims {} numbers `{element}`, more than any memory", said.join("×"));
            Err(Wrong(message, ADVICE))
        }
    }
}
