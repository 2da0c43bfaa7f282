//! Arrow's formats of files and streams: messages with batches of rows, one after the other in a stream, in a file with
//! an index at its end.

use super::super::error::{DataError, grouped};
use super::super::{ByteSource, Reading};
use super::input::AnyPlace;
use super::{Batches, DESCRIPTION, Kept, Opened, column, damaged};
use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Endianness, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";

/// Bytes at the end of a file: the length of its index, and the magic bytes again.
const END: u64 = 10;

/// Before the length of a message, except in old files.
const MARK: [u8; 4] = [0xff; 4];

/// Length of the mark after the last message. No message is so short.
const MARK_AT_END: u64 = 8;

/// Bytes that buffers of a batch may take whatever it claims to hold.
const SMALL: u64 = 1 << 20;

/// A message: its description and the place of its body in the file.
struct Block {
    described: Vec<u8>,
    body: u64,
    length: u64,
}

/// The messages of a file.
struct Messages {
    path: PathBuf,
    file: AnyPlace,
    schema: SchemaRef,
    /// The columns that are read.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    reading: Reading,
    /// The places of the messages, and the number of those that were read.
    places: Vec<u64>,
    next: usize,
}

/// Reads the schema and the descriptions of all batches.
pub(super) fn open(source: ByteSource, reading: &Reading) -> Result<Opened, DataError> {
    let path = source.path().to_path_buf();
    let file = AnyPlace::new(source, "an Arrow file")?;
    let head = file.at_most(0, MAGIC.len() as u64).map_err(|error| damaged(&path, error))?;
    let found = if head == MAGIC { of_file(&file) } else { of_stream(&file) };
    let (schema, places) = found.map_err(|reason| damaged(&path, reason))?;
    let columns = Kept::of(&path, &schema, reading)?;
    let messages = Messages {
        path,
        file,
        schema: Arc::new(schema),
        columns: columns.places.clone(),
        dictionaries: HashMap::new(),
        reading: reading.clone(),
        places,
        next: 0,
    };
    let rows = messages.count()?;
    Ok(Opened { columns, rows, batches: Box::new(messages) })
}

/// The schema of a file, and the places of its messages, dictionaries first. Both are in the index at its end; some
/// writers leave out the schema that should be its first message.
fn of_file(file: &AnyPlace) -> Result<(Schema, Vec<u64>), String> {
    let missing = || "its end is missing".to_string();
    let place = file.length().checked_sub(END).ok_or_else(missing)?;
    let tail = file.bytes(place, END).map_err(|error| error.to_string())?;
    if tail[4..] != *MAGIC {
        return Err(missing());
    }
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = place.checked_sub(length).filter(|_| length <= DESCRIPTION);
    let start = start.ok_or_else(|| format!("its index claims to be {length} bytes long"))?;
    let index = file.bytes(start, length).map_err(|error| error.to_string())?;
    let index = root_as_footer(&index).map_err(|error| format!("its index cannot be decoded: {error}"))?;
    let blocks = index.dictionaries().into_iter().flatten();
    let blocks = blocks.chain(index.recordBatches().into_iter().flatten());
    let places = blocks.map(|block| u64::try_from(block.offset()).map_err(|error| error.to_string()));
    Ok((schema(index.schema().ok_or("it has no schema")?)?, places.collect::<Result<_, _>>()?))
}

/// The schema of a stream, which is its first message, and the places of the others.
fn of_stream(file: &AnyPlace) -> Result<(Schema, Vec<u64>), String> {
    let Some((first, mut place)) = block(file, 0)? else { return Err("it has no messages".into()) };
    let schema = schema(first.message()?.header_as_schema().ok_or("it does not begin with a schema")?)?;
    let mut places = Vec::new();
    while let Some((_, next)) = block(file, place)? {
        places.push(place);
        place = next;
    }
    // The length of a message, damaged, may look like the mark after the last one.
    match file.length() - place > MARK_AT_END {
        true => Err("bytes follow the last message".into()),
        false => Ok((schema, places)),
    }
}

fn schema(schema: arrow_ipc::Schema) -> Result<Schema, String> {
    match schema.endianness() {
        Endianness::Little => try_fb_to_schema(schema).map_err(|error| error.to_string()),
        _ => Err("its numbers are not in little-endian byte order".into()),
    }
}

/// The message at a place, and the place of the next; `None` after the last.
fn block(file: &AnyPlace, place: u64) -> Result<Option<(Block, u64)>, String> {
    let end = file.length();
    if place == end {
        return Ok(None);
    }
    let word = |place: u64| file.bytes(place, 4).map_err(|error| error.to_string());
    let (mut length, mut start) = (word(place)?, place + 4);
    if length == MARK {
        (length, start) = (word(start)?, start + 4);
    }
    let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
    if length == 0 {
        return Ok(None);
    }
    if length > DESCRIPTION || start + length > end {
        return Err(format!("a message claims a description of {length} bytes"));
    }
    let described = file.bytes(start, length).map_err(|error| error.to_string())?;
    let mut block = Block { described, body: start + length, length: 0 };
    let claimed = block.message()?.bodyLength();
    let next = u64::try_from(claimed).ok().and_then(|length| block.body.checked_add(length));
    let Some(next) = next.filter(|next| *next <= end) else {
        return Err(format!("a message claims {claimed} bytes, and {} are left", end - block.body));
    };
    block.length = next - block.body;
    Ok(Some((block, next)))
}

impl Block {
    fn message(&self) -> Result<Message<'_>, String> {
        root_as_message(&self.described).map_err(|error| format!("a message cannot be decoded: {error}"))
    }
}

/// The decompressed size that a buffer claims in its first bytes; its own if it is not compressed.
fn unpacked(buffer: &[u8]) -> u64 {
    match buffer.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)) {
        Some(size) if size != -1 => u64::try_from(size).unwrap_or(u64::MAX),
        _ => buffer.len() as u64,
    }
}

impl Messages {
    /// The number of rows of all batches, if each can be what it claims.
    fn count(&self) -> Result<u64, DataError> {
        let broken = |reason: &str| damaged(&self.path, reason);
        let fields = self.schema.fields();
        let width: u64 =
            self.columns.iter().map(|place| column::bits(fields[*place].data_type()) as u64).sum();
        let mut rows = 0_u64;
        for place in &self.places {
            let block = self.block(*place)?;
            let message = block.message().map_err(|reason| broken(&reason))?;
            let batch = match message.header_type() {
                MessageHeader::RecordBatch => message.header_as_record_batch(),
                MessageHeader::DictionaryBatch => continue,
                _ => return Err(broken("it has messages other than batches of rows")),
            };
            let batch = batch.ok_or_else(|| broken("a batch is missing"))?;
            let claimed =
                u64::try_from(batch.length()).map_err(|_| broken("a batch has fewer than no rows"))?;
            let bits = claimed.checked_mul(width);
            if batch.compression().is_none() && bits.is_none_or(|bits| bits.div_ceil(8) > block.length) {
                let claimed = grouped(claimed);
                return Err(broken(&format!("a batch claims {claimed} rows in {} bytes", block.length)));
            }
            rows = rows.checked_add(claimed).ok_or_else(|| broken("more rows than can be counted"))?;
        }
        Ok(rows)
    }

    fn block(&self, place: u64) -> Result<Block, DataError> {
        let found = block(&self.file, place).and_then(|found| found.ok_or("a message is missing".into()));
        found.map(|(block, _)| block).map_err(|reason| damaged(&self.path, reason))
    }

    /// The body of a message, if what its buffers claim is within it and within memory.
    fn body(&self, block: &Block, batch: RecordBatch, cols: usize) -> Result<Buffer, DataError> {
        let broken = |reason: String| damaged(&self.path, reason);
        let rows = usize::try_from(batch.length()).map_err(|_| broken("a batch has no size".into()))?;
        self.reading.afford(&self.path, rows, cols).map_err(|error| {
            error.advise(
                "a batch of rows is read as a whole: save it in smaller batches, or raise `--max-memory`",
            )
        })?;
        let bytes = self.file.bytes(block.body, block.length).map_err(|error| broken(error.to_string()))?;
        let nodes = batch.nodes().into_iter().flatten();
        let mut lengths = nodes.flat_map(|node| [node.length(), node.null_count()]);
        if lengths.any(|length| length < 0 || length > batch.length()) {
            return Err(broken("a column has more entries than its batch has rows".into()));
        }
        // Four times the widest numbers, and for the columns that are left out a usual compression.
        let most = (rows as u64).saturating_mul(cols as u64 * 128).saturating_add(SMALL + 16 * block.length);
        let mut all = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let content = range.and_then(|(start, length)| bytes.get(start..start.checked_add(length)?));
            let content = content.ok_or_else(|| broken("a column is outside its batch".into()))?;
            if batch.compression().is_some() && !content.is_empty() {
                all = all.saturating_add(unpacked(content));
            }
        }
        match all > most {
            true => Err(broken(format!("a batch of {rows} rows claims {} bytes", grouped(all)))),
            false => Ok(Buffer::from_vec(bytes)),
        }
    }

    /// Adds a dictionary, or more entries of one.
    fn dictionary(&mut self, block: &Block, message: Message) -> Result<(), DataError> {
        let found = message.header_as_dictionary_batch().and_then(|found| Some((found, found.data()?)));
        let (found, entries) = found.ok_or_else(|| damaged(&self.path, "a dictionary is missing"))?;
        let body = self.body(block, entries, 1)?;
        let read = read_dictionary(&body, found, &self.schema, &mut self.dictionaries, &message.version());
        read.map_err(|error| damaged(&self.path, error))
    }
}

impl Batches for Messages {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, DataError> {
        while let Some(place) = self.places.get(self.next) {
            let block = self.block(*place)?;
            self.next += 1;
            let message = block.message().map_err(|reason| damaged(&self.path, reason))?;
            let Some(batch) = message.header_as_record_batch() else {
                self.dictionary(&block, message)?;
                continue;
            };
            let body = self.body(&block, batch, self.schema.fields().len())?;
            let (schema, columns) = (self.schema.clone(), Some(&self.columns[..]));
            let read =
                read_record_batch(&body, batch, schema, &self.dictionaries, columns, &message.version());
            let batch = read.map_err(|error| damaged(&self.path, error))?;
            return Ok(Some(batch.columns().to_vec()));
        }
        Ok(None)
    }
}
