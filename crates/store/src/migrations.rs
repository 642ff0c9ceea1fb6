//! The tables, as the list of steps that lead to them.
//!
//! A step that was released is never edited: a change is a new step at the end. The number of
//! steps taken is in the file as SQLite's `user_version`.

use rusqlite::{Connection, TransactionBehavior};

/// Every step, oldest first. The position of a step, counted from one, is the version it leads to.
pub(crate) const MIGRATIONS: &[&str] = &[FIRST, NOTES];

/// Sessions, the next number and the audit trail.
///
/// Checkpoints have a table of their own so that listing sessions reads no page of a blob. The
/// words of a command each end in a NUL. `meta` has one row, which is why it has a constant key.
const FIRST: &str = "
    CREATE TABLE meta (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        next_id INTEGER NOT NULL
    ) STRICT;
    INSERT INTO meta (one, next_id) VALUES (1, 1);

    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        uuid BLOB NOT NULL CHECK (length(uuid) = 16),
        name TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        attached_ms INTEGER NOT NULL,
        cwd TEXT NOT NULL,
        command BLOB NOT NULL,
        cols INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        title TEXT NOT NULL,
        offset INTEGER NOT NULL,
        ended_ms INTEGER,
        end_kind TEXT CHECK (end_kind IN ('code', 'signal', 'lost')),
        end_number INTEGER,
        end_reason TEXT,
        CHECK ((ended_ms IS NULL) = (end_kind IS NULL))
    ) STRICT;

    CREATE TABLE checkpoint (
        id INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
        bytes BLOB NOT NULL
    ) STRICT;

    CREATE TABLE audit (
        position INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        session INTEGER,
        allowed INTEGER NOT NULL,
        detail TEXT NOT NULL
    ) STRICT;
";

/// What the makers of sessions wanted to be remembered with them, and how often a size changed, which
/// is a part of how much has happened. The names and values of notes alternate, each with a NUL at its end.
const NOTES: &str = "
    ALTER TABLE session ADD COLUMN notes BLOB NOT NULL DEFAULT x'';
    ALTER TABLE session ADD COLUMN resizes INTEGER NOT NULL DEFAULT 0;
";

/// The version this program writes.
pub(crate) fn known() -> i64 {
    MIGRATIONS.len() as i64
}

/// The version of the file.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Takes every step the file has not taken yet, each whole or not at all.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let done = usize::try_from(version(connection)?).unwrap_or(0);
    for (position, step) in MIGRATIONS.iter().enumerate().skip(done) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", position as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
