//! The pages of a column in a Parquet file: what their headers claim is checked before the decoder takes memory for it.

use super::input::AnyPlace;
use super::thrift::Thrift;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use std::io::Read;

/// Bytes of a page header that are looked at first, and at most.
const HEADER: u64 = 256;
const LONGEST_HEADER: u64 = 1 << 20;

/// A page may take so much memory whatever the limit is.
const SMALL: u64 = 1 << 20;

/// Maximum expansion of deflate.
const EXPANSION: u64 = 1032;

/// What a header claims.
#[derive(Default)]
struct Page {
    uncompressed: Option<i64>,
    compressed: Option<i64>,
    /// Entries of a dictionary.
    dictionary: i64,
    /// Bytes before the compressed ones.
    levels: i64,
}

impl Page {
    /// The header at the beginning of `bytes`, and its length.
    fn read(bytes: &[u8]) -> Option<(Page, u64)> {
        let (mut page, mut last) = (Page::default(), 0);
        let mut thrift = Thrift::new(bytes);
        thrift.structure(&mut |this, id, kind| {
            // Of a field that is there twice, a decoder may take either.
            (id > last).then_some(())?;
            last = id;
            match id {
                2 => page.uncompressed = Some(this.integer(kind)?),
                3 => page.compressed = Some(this.integer(kind)?),
                7 => this.structure(&mut |this, id, kind| match id {
                    1 => this.integer(kind).map(|count| page.dictionary = page.dictionary.max(count)),
                    _ => this.skip(kind),
                })?,
                8 => this.structure(&mut |this, id, kind| match id {
                    5 | 6 => {
                        this.integer(kind).map(|length| page.levels = page.levels.saturating_add(length))
                    }
                    _ => this.skip(kind),
                })?,
                _ => this.skip(kind)?,
            }
            Some(())
        })?;
        Some((page, (bytes.len() - thrift.left()) as u64))
    }

    /// The header at a place of the file, which may be longer than most are.
    fn at(file: &AnyPlace, place: u64) -> Result<(Page, u64), String> {
        let mut count = HEADER;
        loop {
            let bytes = file.at_most(place, count).map_err(|error| error.to_string())?;
            match Page::read(&bytes) {
                Some(found) => return Ok(found),
                None if count < LONGEST_HEADER && bytes.len() as u64 == count => count *= 4,
                None => return Err("the header of a page cannot be decoded".into()),
            }
        }
    }
}

/// An error if the pages of a column do not fill its place in the file, or claim to be larger than its rows can make
/// them or memory allows.
pub(super) fn check(
    file: &AnyPlace,
    chunk: &ColumnChunkMetaData,
    rows: i64,
    limit: u64,
) -> Result<(), String> {
    if rows < 0 || chunk.num_values() != rows {
        return Err(format!("{} entries in {rows} rows", chunk.num_values()));
    }
    let width = match chunk.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        // As long as the longest decimal number, and its length.
        Type::BYTE_ARRAY => 36,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length()).unwrap_or(0).min(32),
    };
    // No encoding takes much more than plain numbers with their levels.
    let most = (rows as u64).saturating_mul(4 * (width + 1)).saturating_add(SMALL).min(limit.max(SMALL));
    let (mut place, length) = chunk.byte_range();
    let end = place.checked_add(length).filter(|end| *end <= file.length());
    let end = end.ok_or("its place is beyond the end of the file")?;
    while place < end {
        let (page, header) = Page::at(file, place)?;
        let [Some(uncompressed), Some(compressed)] =
            [page.uncompressed, page.compressed].map(|size| u64::try_from(size?).ok())
        else {
            return Err("a page has no size".into());
        };
        let next = place.saturating_add(header).saturating_add(compressed);
        if next > end {
            return Err(format!("a page of {compressed} bytes extends beyond the column"));
        }
        if uncompressed.max(compressed) > most {
            return Err(format!(
                "a page claims {uncompressed} bytes, at most {most} are allowed for {rows} rows within the memory limit"
            ));
        }
        let smallest = if width == 36 { 4 } else { width };
        if u64::try_from(page.dictionary).map_or(true, |count| count.saturating_mul(smallest) > uncompressed)
        {
            return Err(format!("a dictionary claims {} entries in {uncompressed} bytes", page.dictionary));
        }
        if matches!(chunk.compression(), Compression::GZIP(_))
            && compressed.saturating_mul(EXPANSION) > limit.max(SMALL)
        {
            // The decoder goes on to the end of the compressed bytes, whatever the header claims.
            let levels = u64::try_from(page.levels).unwrap_or(0).min(compressed);
            let packed = file.bytes(place + header + levels, compressed - levels);
            let packed = packed.map_err(|error| error.to_string())?;
            let mut content = MultiGzDecoder::new(&packed[..]).take(uncompressed + 1);
            let size = std::io::copy(&mut content, &mut std::io::sink());
            if size.map_err(|error| error.to_string())? > uncompressed {
                return Err(format!("a page unpacks to more than {uncompressed} bytes"));
            }
        }
        place = next;
    }
    Ok(())
}
