//! The digest of the build that began a run, in a table of its own: runs of earlier formats have none. Its row has a
//! checksum, and every run has a row, so that none can be lost unnoticed.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::seal::{damaged, hash};

/// Writes the digest of a run.
pub(super) fn write(connection: &Connection, run: i64, digest: Option<&str>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO build VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![run, digest, sum(run, digest)]).map(drop)
}

/// The digest of a run, if its row is as it was written.
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

/// Says of all runs of an earlier format that their builds are not known.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT row FROM run")?;
    let runs: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    runs.into_iter().try_for_each(|run| write(connection, run, None))
}

fn sum(run: i64, digest: Option<&str>) -> i64 {
    hash(&[ValueRef::Integer(run), digest.map_or(ValueRef::Null, |digest| ValueRef::Text(digest.as_bytes()))])
}
