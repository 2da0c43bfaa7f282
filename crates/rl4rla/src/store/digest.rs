//! The digest of the build that began a run, in a separate table because earlier formats have none. Every run has a
//! row, with a checksum, so that a missing row is noticed.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::seal::{damaged, hash};

/// Writes the build digest of a run.
pub(super) fn write(connection: &Connection, run: i64, digest: Option<&str>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO build VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![run, digest, sum(run, digest)]).map(drop)
}

/// The build digest of a run, verified against its checksum.
pub(super) fn read(connection: &Connection, run: i64, id: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT digest, sum FROM build WHERE run = ?1";
    let row = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(Option<String>, i64)> =
        connection.prepare_cached(sql)?.query_row([run], row).optional()?;
    let sound = found.filter(|(digest, written)| *written == sum(run, digest.as_deref()));
    sound
        .map(|(digest, _)| digest)
        .ok_or_else(|| damaged(format!("the checksum of the build of run {id} is wrong")))
}

/// Adds rows with an unknown build for all runs of an earlier format.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT row FROM run")?;
    let runs: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    runs.into_iter().try_for_each(|run| write(connection, run, None))
}

fn sum(run: i64, digest: Option<&str>) -> i64 {
    hash(&[ValueRef::Integer(run), digest.map_or(ValueRef::Null, |digest| ValueRef::Text(digest.as_bytes()))])
}
