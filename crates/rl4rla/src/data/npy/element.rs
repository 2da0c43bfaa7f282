//! The number types of NPY files.

use std::fmt;

/// A number type: its NumPy code, its size, and its decoder.
struct Kind {
    code: &'static str,
    size: usize,
    decode: fn(&[u8], bool, &mut [f64]),
}

/// A table row for a number type that Rust has too. Integers beyond 2⁵³ are rounded.
macro_rules! kind {
    ($code:literal, $number:ty) => {
        Kind {
            code: $code,
            size: size_of::<$number>(),
            decode: |bytes, big, into| {
                let numbers = bytes.as_chunks::<{ size_of::<$number>() }>().0.iter().zip(into);
                match big {
                    true => numbers.for_each(|(b, x)| *x = <$number>::from_be_bytes(*b) as f64),
                    false => numbers.for_each(|(b, x)| *x = <$number>::from_le_bytes(*b) as f64),
                }
            },
        }
    };
}

static KINDS: [Kind; 11] = [
    kind!("f4", f32),
    kind!("f8", f64),
    kind!("i1", i8),
    kind!("i2", i16),
    kind!("i4", i32),
    kind!("i8", i64),
    kind!("u1", u8),
    kind!("u2", u16),
    kind!("u4", u32),
    kind!("u8", u64),
    Kind {
        code: "b1",
        size: 1,
        decode: |bytes, _, into| {
            bytes.iter().zip(into).for_each(|(byte, x)| *x = f64::from(u8::from(*byte != 0)));
        },
    },
];

/// A number type and its byte order.
#[derive(Clone, Copy)]
pub struct Element {
    kind: &'static Kind,
    big: bool,
}

impl Element {
    /// The element type with this NumPy name: `<f8`, `>i4`, `|u1`.
    pub fn named(name: &str) -> Option<Element> {
        let kind = KINDS.iter().find(|kind| name.get(1..) == Some(kind.code))?;
        match name.as_bytes()[0] {
            b'<' => Some(Element { kind, big: false }),
            b'>' => Some(Element { kind, big: true }),
            b'|' if kind.size == 1 => Some(Element { kind, big: false }),
            _ => None,
        }
    }

    /// The codes of all types.
    pub fn codes() -> String {
        KINDS.iter().map(|kind| kind.code).collect::<Vec<_>>().join(", ")
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        self.kind.size
    }

    /// Whether the bytes are those of an f64 in memory, so that nothing is to be decoded.
    pub fn is_native(self) -> bool {
        self.kind.code == "f8" && self.big == cfg!(target_endian = "big")
    }

    /// Decodes as many numbers as `into` has room for.
    pub fn decode(self, bytes: &[u8], into: &mut [f64]) {
        (self.kind.decode)(bytes, self.big, into);
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let order = match (self.kind.size, self.big) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        write!(f, "{order}{}", self.kind.code)
    }
}
