//! What people say of a run: tags, a note, and that it is deleted. A deleted run stays in the store and can be restored.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::result::json;
use super::seal::{damaged, hash};
use super::{RunId, Store, StoreError};

/// Limits of what is said of a run.
const MOST_TAGS: usize = 16;
const LONGEST_TAG: usize = 40;
const LONGEST_NOTE: usize = 2000;

/// What people say of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Marks {
    /// Tags, in the order in which they were given.
    pub tags: Vec<String>,
    /// A note; empty if there is none.
    pub note: String,
    /// Whether it is deleted, that is, left out of lists.
    pub deleted: bool,
}

impl Marks {
    /// The marks of a run, verified against their checksum; a run without any has no row.
    pub(super) fn read(connection: &Connection, run: i64, id: &str) -> rusqlite::Result<Marks> {
        let sql = "SELECT tags, note, deleted, sum FROM mark WHERE run = ?1";
        let columns = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let found = connection.prepare_cached(sql)?.query_row([run], columns).optional()?;
        found.map_or(Ok(Marks::default()), |columns| Marks::verified(run, id, columns))
    }

    /// The marks in these columns of a run's row.
    pub(super) fn verified(
        run: i64,
        id: &str,
        (tags, note, deleted, written): (String, String, bool, i64),
    ) -> rusqlite::Result<Marks> {
        let sound = written == sum(run, &tags, &note, deleted);
        match serde_json::from_str(&tags) {
            Ok(tags) if sound => Ok(Marks { tags, note, deleted }),
            _ => Err(damaged(format!("the checksum of the tags and the note of run {id} is wrong"))),
        }
    }

    fn write(&self, connection: &Connection, run: i64) -> rusqlite::Result<()> {
        let Marks { tags, note, deleted } = self;
        let tags = json(tags);
        let sql = "INSERT OR REPLACE INTO mark VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![run, tags, note, deleted, sum(run, &tags, note, *deleted)];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

fn sum(run: i64, tags: &str, note: &str, deleted: bool) -> i64 {
    let [tags, note] = [tags, note].map(|text| ValueRef::Text(text.as_bytes()));
    hash(&[ValueRef::Integer(run), tags, note, ValueRef::Integer(deleted.into())])
}

impl Store {
    /// What is said of a run.
    pub fn marks(&self, run: &RunId) -> Result<Marks, StoreError> {
        self.status(run)?;
        self.read(|connection| Marks::read(connection, run.row(), run.as_str()))
    }

    /// Replaces the tags and the note of a run. Blanks around them are dropped, and tags that are there already.
    pub fn set_marks(&mut self, run: &RunId, tags: &[String], note: &str) -> Result<(), StoreError> {
        let mut kept: Vec<String> = Vec::new();
        for tag in tags.iter().map(|tag| tag.trim()) {
            if !kept.iter().any(|known| known == tag) {
                kept.push(tag.into());
            }
        }
        let note = note.trim();
        check(&kept, note).map_err(|why| StoreError::Unfit { path: self.path.clone(), why })?;
        self.mark(run, |marks| (marks.tags, marks.note) = (kept, note.into()))
    }

    /// Leaves a run out of lists. It stays in the store, and under its id it is still found.
    pub fn delete(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.mark(run, |marks| marks.deleted = true)
    }

    /// Undoes [`delete`](Store::delete).
    pub fn restore(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.mark(run, |marks| marks.deleted = false)
    }

    fn mark(&mut self, run: &RunId, change: impl FnOnce(&mut Marks)) -> Result<(), StoreError> {
        self.status(run)?;
        self.commit(|connection| {
            let mut marks = Marks::read(connection, run.row(), run.as_str())?;
            change(&mut marks);
            marks.write(connection, run.row())
        })
    }
}

/// Why these cannot be the tags and the note of a run.
fn check(tags: &[String], note: &str) -> Result<(), String> {
    if tags.len() > MOST_TAGS {
        return Err(format!(
            "a run has at most {MOST_TAGS} tags, and {} were given; leave some out",
            tags.len()
        ));
    }
    for (tag, place) in tags.iter().zip(1..) {
        match tag.chars().count() {
            0 => return Err(format!("tag {place} is empty; leave it out")),
            count if count > LONGEST_TAG => {
                return Err(format!(
                    "a tag has at most {LONGEST_TAG} characters, and tag {place} has {count}; write a note \
                     instead"
                ));
            }
            _ => {}
        }
        if tag.contains(char::is_control) {
            return Err(format!("tag {place} contains a line break or a control character; leave it out"));
        }
    }
    match note.chars().count() {
        count if count > LONGEST_NOTE => {
            Err(format!("a note has at most {LONGEST_NOTE} characters, and this one has {count}; shorten it"))
        }
        _ if note.contains(|c: char| c.is_control() && c != '\n') => {
            Err("the note contains control characters; leave them out".into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run};
    use super::*;

    fn words(tags: &[&str]) -> Vec<String> {
        tags.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn marks_stay_with_their_run_and_deleting_can_be_undone() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let [one, other] = [(); 2].map(|()| store.begin(&new_run()).unwrap());
        store.append(&one, &[evaluation(0)]).unwrap();
        store.set_marks(&one, &words(&[" good ", "η < 1", "good"]), " two\nlines ").unwrap();
        store.delete(&one).unwrap();
        drop(store);
        let mut store = Store::open(&path).unwrap();
        let marks = Marks { tags: words(&["good", "η < 1"]), note: "two\nlines".into(), deleted: true };
        assert_eq!(store.marks(&one).unwrap(), marks);
        let ids = |rows: Vec<super::super::RunRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(store.runs().unwrap()), std::slice::from_ref(&other));
        assert_eq!(ids(store.all_runs().unwrap()), [one.clone(), other.clone()]);
        let row = store.run(&store.find(one.as_str()).unwrap()).unwrap().row;
        assert_eq!((row.tags, row.note, row.deleted), (marks.tags, marks.note, true));
        assert_eq!(store.evaluations(&one).unwrap().len(), 1, "nothing of it is gone");
        store.restore(&one).unwrap();
        store.set_marks(&one, &[], "").unwrap();
        assert_eq!(store.marks(&one).unwrap(), Marks::default());
        assert_eq!(store.runs().unwrap().len(), 2);
        store.integrity().unwrap();
        drop(store);
        Connection::open(&path).unwrap().execute_batch("UPDATE mark SET note = 'x'").unwrap();
        let error = Store::open_read_only(&path).unwrap().runs().unwrap_err().to_string();
        assert!(error.contains("the checksum of the tags and the note of run"), "{error}");
    }

    #[test]
    fn unfit_marks_are_refused_with_their_place_and_change_nothing() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let many: Vec<String> = (0..17).map(|number| number.to_string()).collect();
        let long = "é".repeat(41);
        for (tags, note, why) in [
            (many.clone(), String::new(), "at most 16 tags, and 17 were given"),
            (words(&["a", " "]), String::new(), "tag 2 is empty"),
            (words(&[&long]), String::new(), "at most 40 characters, and tag 1 has 41"),
            (words(&["a\nb"]), String::new(), "tag 1 contains a line break"),
            (words(&["a\u{1b}[1mb"]), String::new(), "tag 1 contains"),
            (vec![], "n".repeat(2001), "at most 2000 characters, and this one has 2001"),
            (vec![], "a\u{0}b".into(), "the note contains control characters"),
        ] {
            let error = store.set_marks(&run, &tags, &note).unwrap_err();
            assert!(matches!(error, StoreError::Unfit { .. }) && error.to_string().contains(why), "{error}");
        }
        assert_eq!(store.marks(&run).unwrap(), Marks::default());
        store.set_marks(&run, &many[..16], &"é".repeat(2000)).unwrap();
        store.connection.execute("UPDATE run SET id = 'ffffffff'", []).unwrap();
        assert!(matches!(store.delete(&run), Err(StoreError::UnknownRun { .. })));
    }
}
