//! Parquet: groups of rows, each stored by columns, and at the end of the file the description of all of them.

use super::super::error::{DataError, FilePosition, shown, visible};
use super::super::{ByteSource, Reading};
use super::input::AnyPlace;
use super::pages;
use super::thrift::{LIST, STRUCT, Thrift};
use super::{BATCH, Batches, DESCRIPTION, Kept, Opened, afford_names, damaged};
use arrow_array::ArrayRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8] = b"PAR1";

/// Bytes at the end of the file: the length of the description, and the magic bytes again.
const END: u64 = 8;

/// The groups of rows of a file.
struct Groups {
    path: PathBuf,
    file: AnyPlace,
    metadata: ArrowReaderMetadata,
    /// The columns that are read.
    places: Vec<usize>,
    /// Maximum size of a page in memory.
    limit: u64,
    /// The next group.
    group: usize,
    current: Option<ParquetRecordBatchReader>,
}

/// Reads the description of a file.
pub(super) fn open(source: ByteSource, reading: &Reading) -> Result<Opened, DataError> {
    let path = source.path().to_path_buf();
    let broken = |reason: &dyn std::fmt::Display| damaged(&path, reason);
    let file = AnyPlace::new(source, "a Parquet file")?;
    let described = description(&file).map_err(|reason| broken(&reason))?;
    flat(&path, &described, reading)?;
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    let metadata = ParquetMetaDataReader::decode_metadata_with_options(&described, Some(&options));
    let metadata = metadata.map_err(|error| broken(&error))?;
    let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new());
    let metadata = metadata.map_err(|error| broken(&error))?;
    let columns = Kept::of(&path, metadata.schema(), reading)?;
    let groups = metadata.metadata().row_groups().iter();
    let rows = groups.map(|group| u64::try_from(group.num_rows()).ok());
    let rows = rows.sum::<Option<u64>>();
    let claimed = u64::try_from(metadata.metadata().file_metadata().num_rows()).ok();
    let rows = rows.filter(|_| rows == claimed);
    let rows = rows.ok_or_else(|| broken(&"the numbers of rows of its groups contradict their sum"))?;
    let places = columns.places.clone();
    let groups = Groups { path, file, metadata, places, limit: reading.limit, group: 0, current: None };
    Ok(Opened { columns, rows, batches: Box::new(groups) })
}

/// The bytes of the description.
fn description(file: &AnyPlace) -> Result<Vec<u8>, String> {
    let missing = || "its end is missing".to_string();
    let place = file.length().checked_sub(END).ok_or_else(missing)?;
    let end = file.bytes(place, END).map_err(|error| error.to_string())?;
    if end[4..] != *MAGIC {
        return Err(missing());
    }
    let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if length > DESCRIPTION {
        return Err(format!("its description claims to be {length} bytes long, more than {DESCRIPTION}"));
    }
    let start = place.checked_sub(length).filter(|start| *start >= MAGIC.len() as u64);
    let start = start.ok_or_else(|| format!("its description claims to be {length} bytes long"))?;
    file.bytes(start, length).map_err(|error| error.to_string())
}

/// An error unless the columns are those of a table: the decoder takes memory for as many columns as are claimed, and
/// follows columns in columns to any depth.
fn flat(path: &Path, described: &[u8], reading: &Reading) -> Result<(), DataError> {
    let (mut nested, mut claimed, mut found) = (None, 0, 0);
    let read = Thrift::new(described).structure(&mut |this, id, kind| {
        if (id, kind) != (2, LIST) {
            return this.skip(kind);
        }
        let (count, kind) = this.list()?;
        (kind == STRUCT).then_some(())?;
        for place in 0..count {
            let (mut name, mut children) = (&b""[..], 0);
            this.structure(&mut |this, id, kind| {
                match id {
                    4 => name = this.binary(kind)?,
                    5 => children = this.integer(kind)?,
                    _ => this.skip(kind)?,
                }
                Some(())
            })?;
            match place {
                0 => claimed = children,
                _ if children != 0 && nested.is_none() => nested = Some((place as usize, name.to_vec())),
                _ => found += 1,
            }
        }
        Some(())
    });
    if let Some((column, name)) = nested {
        let name = visible(&String::from_utf8_lossy(&name));
        let place = FilePosition::Column { column, name };
        let advice = "save every number in a column of its own";
        return Err(DataError::at(path, place, "expected numbers, found nested values", advice));
    }
    if read.is_none() || claimed != found {
        return Err(damaged(path, "its description cannot be decoded"));
    }
    afford_names(path, found.unsigned_abs(), reading)
}

impl Groups {
    /// The next group, if its pages are what they claim.
    fn start(&mut self) -> Result<Option<ParquetRecordBatchReader>, DataError> {
        let all = self.metadata.metadata();
        let Some(group) = all.row_groups().get(self.group) else { return Ok(None) };
        for place in &self.places {
            let chunk = group.columns().get(*place).ok_or("the column is missing".to_string());
            let sound = chunk.and_then(|chunk| pages::check(&self.file, chunk, group.num_rows(), self.limit));
            sound.map_err(|reason| {
                let name = shown(self.metadata.schema().field(*place).name().as_bytes());
                damaged(&self.path, format!("row group {}, column {name}: {reason}", self.group + 1))
            })?;
        }
        let projection = ProjectionMask::leaves(all.file_metadata().schema_descr(), self.places.clone());
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone())
                .with_row_groups(vec![self.group])
                .with_projection(projection)
                .with_batch_size((BATCH / self.places.len()).max(1))
                .build();
        self.group += 1;
        reader.map(Some).map_err(|error| damaged(&self.path, error))
    }
}

impl Batches for Groups {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, DataError> {
        loop {
            if self.current.is_none() {
                self.current = self.start()?;
            }
            let Some(reader) = &mut self.current else { return Ok(None) };
            match reader.next() {
                Some(Ok(batch)) => return Ok(Some(batch.columns().to_vec())),
                Some(Err(error)) => return Err(damaged(&self.path, error)),
                None => self.current = None,
            }
        }
    }
}
