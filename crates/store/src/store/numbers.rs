//! The numbers of sessions. They only rise, whatever is forgotten.

use greenroom_model::SessionId;
use rusqlite::{Connection, Transaction};

use crate::{Store, StoreError};

impl Store {
    /// Gives out a number that never was one before.
    ///
    /// # Errors
    /// It could not be written, and then was not given out.
    pub fn reserve_id(&mut self) -> Result<SessionId, StoreError> {
        let next = self.next_id()?;
        self.raise_next(above(next)?)?;
        Ok(next)
    }

    /// Makes every number given out from now on at least `at_least`.
    ///
    /// # Errors
    /// It could not be written, or is past what SQLite can count.
    pub fn raise_next(&mut self, at_least: SessionId) -> Result<(), StoreError> {
        let at_least = column(at_least)?;
        self.write(|transaction| raise(transaction, at_least))
    }

    /// Writes a page without changing anything, to learn whether writing works again.
    pub(crate) fn probe(&mut self) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute("UPDATE meta SET next_id = next_id", [])?;
            Ok(())
        })
    }

    /// The number that would be given out next.
    ///
    /// # Errors
    /// It could not be read.
    pub fn next_id(&self) -> Result<SessionId, StoreError> {
        self.read(next)
    }
}

/// The number after `id`.
pub(crate) fn above(id: SessionId) -> Result<SessionId, StoreError> {
    let above = SessionId(id.0.saturating_add(1));
    column(above).map(|_| above)
}

/// A number as SQLite stores it.
pub(super) fn column(id: SessionId) -> Result<i64, StoreError> {
    i64::try_from(id.0).map_err(|_| StoreError::OutOfRange(id.0))
}

/// Raises the counter within a larger write.
pub(super) fn raise(transaction: &Transaction<'_>, at_least: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE meta SET next_id = ?1 WHERE next_id < ?1")?
        .execute([at_least])?;
    Ok(())
}

fn next(connection: &Connection) -> rusqlite::Result<SessionId> {
    let next: i64 =
        connection.prepare_cached("SELECT next_id FROM meta")?.query_row([], |row| row.get(0))?;
    Ok(SessionId(next.unsigned_abs()))
}
