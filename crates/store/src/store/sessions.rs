//! The rows of sessions: written when one is made, when it changes and when it ends.

use greenroom_model::SessionId;
use rusqlite::{OptionalExtension, Transaction, named_params};

use super::numbers::{above, column, raise};
use super::rows::{self, COLUMNS, amount};
use crate::{Ended, Session, Store, StoreError};

/// Writes a row whether or not it is there, but never over that of another session.
const PUT: &str = "
    INSERT INTO session (id, uuid, name, created_ms, attached_ms, cwd, command, cols, rows,
        title, offset, ended_ms, end_kind, end_number, end_reason, resizes, notes)
    VALUES (:id, :uuid, :name, :created_ms, :attached_ms, :cwd, :command, :cols, :rows,
        :title, :offset, :ended_ms, :end_kind, :end_number, :end_reason, :resizes, :notes)
    ON CONFLICT (id) DO UPDATE SET name = :name, created_ms = :created_ms,
        attached_ms = :attached_ms, cwd = :cwd, command = :command, cols = :cols, rows = :rows,
        title = :title, offset = :offset, ended_ms = :ended_ms, end_kind = :end_kind,
        end_number = :end_number, end_reason = :end_reason, resizes = :resizes, notes = :notes
    WHERE uuid = :uuid";

impl Store {
    /// Notes that a session lives, and what it is now.
    ///
    /// The first call makes its row. One that was reported lost lives again.
    ///
    /// # Errors
    /// It could not be written, or the number belongs to another session.
    pub fn alive(&mut self, session: &Session) -> Result<(), StoreError> {
        let next = column(above(session.id)?)?;
        let put = self.write(|transaction| {
            raise(transaction, next)?;
            let put = put(transaction, session, None)?;
            if put {
                forget_checkpoint(transaction, session.id)?;
            }
            Ok(put)
        })?;
        if put { Ok(()) } else { Err(StoreError::Taken(session.id)) }
    }

    /// Notes that a session has ended, with its last `checkpoint` if there is one. Calling it again
    /// changes nothing.
    ///
    /// # Errors
    /// It could not be written, or the number belongs to another session.
    pub fn ended(&mut self, ended: &Ended, checkpoint: Option<&[u8]>) -> Result<(), StoreError> {
        let id = ended.session.id;
        let next = column(above(id)?)?;
        let put = self.write(|transaction| {
            raise(transaction, next)?;
            let put = put(transaction, &ended.session, Some(ended))?;
            if let (true, Some(bytes)) = (put, checkpoint) {
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO checkpoint (id, bytes) VALUES (?, ?)")?
                    .execute((amount(id.0), bytes))?;
            }
            Ok(put)
        })?;
        if put { Ok(()) } else { Err(StoreError::Taken(id)) }
    }

    /// Reads the sessions that have not ended as far as the store knows, by number.
    ///
    /// # Errors
    /// They could not be read.
    pub fn living(&self) -> Result<Vec<Session>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM session WHERE ended_ms IS NULL ORDER BY id");
            connection.prepare_cached(&sql)?.query_map([], rows::session)?.collect()
        })
    }

    /// Reads the sessions that have ended, by number, without their checkpoints.
    ///
    /// # Errors
    /// They could not be read.
    pub fn list_ended(&self) -> Result<Vec<Ended>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM session WHERE ended_ms >= 0 ORDER BY id");
            connection.prepare_cached(&sql)?.query_map([], rows::ended)?.collect()
        })
    }

    /// Reads the last checkpoint of a session that has ended.
    ///
    /// # Errors
    /// It could not be read.
    pub fn checkpoint_of(&self, id: SessionId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT bytes FROM checkpoint WHERE id = ?")?
                .query_row([amount(id.0)], |row| row.get(0))
                .optional()
        })
    }

    /// Gives a session another name, and says whether there is such a session.
    ///
    /// # Errors
    /// It could not be written.
    pub fn rename(&mut self, id: SessionId, name: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let mut rename =
                transaction.prepare_cached("UPDATE session SET name = ? WHERE id = ?")?;
            Ok(rename.execute((name, amount(id.0)))? > 0)
        })
    }

    /// Removes a session and its checkpoint, and says whether there was one. Its number stays used.
    ///
    /// # Errors
    /// It could not be written.
    pub fn forget(&mut self, id: SessionId) -> Result<bool, StoreError> {
        self.write(|transaction| forget(transaction, id))
    }
}

/// Removes one session within a larger write.
pub(super) fn forget(transaction: &Transaction<'_>, id: SessionId) -> rusqlite::Result<bool> {
    let removed =
        transaction.prepare_cached("DELETE FROM session WHERE id = ?")?.execute([amount(id.0)])?;
    Ok(removed > 0)
}

fn forget_checkpoint(transaction: &Transaction<'_>, id: SessionId) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM checkpoint WHERE id = ?")?.execute([amount(id.0)])?;
    Ok(())
}

/// Writes the row of a session; false if the number belongs to another one.
fn put(
    transaction: &Transaction<'_>,
    session: &Session,
    ended: Option<&Ended>,
) -> rusqlite::Result<bool> {
    let end = ended.map(|it| rows::end_columns(&it.end));
    let changed = transaction.prepare_cached(PUT)?.execute(named_params! {
        ":id": amount(session.id.0),
        ":uuid": session.uuid,
        ":name": session.name,
        ":created_ms": amount(session.created_ms),
        ":attached_ms": amount(session.attached_ms),
        ":cwd": session.cwd,
        ":command": rows::blob(&session.command),
        ":cols": session.size.cols(),
        ":rows": session.size.rows(),
        ":title": session.title,
        ":offset": amount(session.offset.0),
        ":ended_ms": ended.map(|it| amount(it.ended_ms)),
        ":end_kind": end.as_ref().map(|it| it.kind),
        ":end_number": end.as_ref().and_then(|it| it.number),
        ":end_reason": end.as_ref().and_then(|it| it.reason),
        ":resizes": amount(session.resizes),
        ":notes": rows::note_blob(&session.notes),
    })?;
    Ok(changed > 0)
}
