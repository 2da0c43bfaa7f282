//! The compact encoding of Thrift, as far as sizes in a Parquet file must be seen before a decoder acts on them.

/// Maximum nesting; Parquet needs about six levels.
const DEPTH: usize = 64;

/// The kinds of values that are looked at.
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// A field handler: it is given the number and the kind of a field, and consumes its value.
type Field<'f, 'a> = &'f mut dyn FnMut(&mut Thrift<'a>, i16, u8) -> Option<()>;

/// Encoded values, read from the front. Everything is `None` if the bytes end or are no Thrift.
pub(super) struct Thrift<'a> {
    rest: &'a [u8],
}

impl<'a> Thrift<'a> {
    pub fn new(bytes: &'a [u8]) -> Thrift<'a> {
        Thrift { rest: bytes }
    }

    /// Number of bytes that are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// An integer of a field of kind 4, 5 or 6.
    pub fn integer(&mut self, kind: u8) -> Option<i64> {
        (4..=6).contains(&kind).then_some(())?;
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A text or other bytes.
    pub fn binary(&mut self, kind: u8) -> Option<&'a [u8]> {
        (kind == BINARY).then_some(())?;
        let length = usize::try_from(self.varint()?).ok()?;
        self.bytes(length)
    }

    /// The number and the kind of the elements of a list, which follow.
    pub fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 15))
    }

    /// All fields of a struct.
    pub fn structure(&mut self, field: Field<'_, 'a>) -> Option<()> {
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => i16::try_from(self.integer(4)?).ok()?,
                step => id.checked_add(i16::from(step))?,
            };
            field(self, id, head & 15)?;
        }
    }

    /// Skips a value of a field.
    pub fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_within(kind, DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A field holds its truth in its kind.
            1 | 2 => Some(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.bytes(8).map(drop),
            BINARY => self.binary(kind).map(drop),
            LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 15, depth)
                })
            }
            STRUCT => self.structure(&mut |this, _, kind| this.skip_within(kind, depth)),
            _ => None,
        }
    }

    /// Skips an element of a list or a map, where a truth takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        self.skip_within(if kind <= 2 { 3 } else { kind }, depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_skipped() {
        // 1: i32 = -3, 2: true, 4: binary "ab", 5: list of three booleans, 20: struct { 1: i64 = 300 }.
        let bytes =
            [0x15, 5, 0x11, 0x28, 2, b'a', b'b', 0x19, 0x31, 1, 2, 1, 0x0c, 40, 0x16, 0xd8, 4, 0, 0, 9];
        let (mut seen, mut thrift) = (Vec::new(), Thrift::new(&bytes));
        let read = thrift.structure(&mut |this, id, kind| {
            match id {
                1 => assert_eq!(this.integer(kind), Some(-3)),
                4 => assert_eq!(this.binary(kind), Some(&b"ab"[..])),
                20 => this.structure(&mut |this, id, kind| {
                    assert_eq!((id, this.integer(kind)), (1, Some(300)));
                    Some(())
                })?,
                _ => this.skip(kind)?,
            }
            seen.push(id);
            Some(())
        });
        assert_eq!((read, &seen[..], thrift.left()), (Some(()), &[1, 2, 4, 5, 20][..], 1));
        let skipped = Thrift::new(&bytes[..19]).skip(STRUCT);
        assert_eq!(skipped, Some(()));
        assert!((0..19).all(|cut| Thrift::new(&bytes[..cut]).skip(STRUCT).is_none()));
    }

    #[test]
    fn claims_end_where_the_bytes_do() {
        // A list of 2⁶³ structs, and a thousand lists in lists.
        let many = [&[0xfc][..], &[0xff; 8], &[0x7f, 0, 0]].concat();
        assert_eq!(Thrift::new(&many).skip(LIST), None);
        assert_eq!(Thrift::new(&[0x19; 1000]).skip(LIST), None);
    }
}
