//! The audit trail: who asked for what. The latest entries are kept.

use greenroom_model::SessionId;

use super::rows::{amount, count};
use crate::{AuditEntry, Store, StoreError};

/// How many entries are kept: weeks of a person's work or a day of a busy agent's, and at the
/// longest texts 30 MB.
pub const AUDIT_MAX: u64 = 10_000;

/// The longest text of an entry, in bytes. What a client sends decides it, so it has a bound;
/// a path and a reason fit.
const TEXT_MAX: usize = 1024;

impl Store {
    /// Adds an entry, and drops the oldest past [`AUDIT_MAX`]. Long texts are cut.
    ///
    /// # Errors
    /// It could not be written.
    pub fn audit(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO audit (at_ms, who, what, session, allowed, detail)
                VALUES (?, ?, ?, ?, ?, ?)",
            )?;
            let position = insert.insert((
                amount(entry.at_ms),
                cut(&entry.who),
                cut(&entry.what),
                entry.session.map(|it| amount(it.0)),
                entry.allowed,
                cut(&entry.detail),
            ))?;
            // Positions have no gaps: the last row is never removed.
            transaction
                .prepare_cached("DELETE FROM audit WHERE position <= ?")?
                .execute([position.saturating_sub_unsigned(AUDIT_MAX)])?;
            Ok(())
        })
    }

    /// Reads the latest `last` entries, oldest first.
    ///
    /// # Errors
    /// They could not be read.
    pub fn audit_tail(&self, last: u64) -> Result<Vec<AuditEntry>, StoreError> {
        self.read(|connection| {
            let mut query = connection.prepare_cached(
                "SELECT at_ms, who, what, session, allowed, detail FROM (
                    SELECT * FROM audit ORDER BY position DESC LIMIT ?
                ) ORDER BY position",
            )?;
            let entries = query.query_map([amount(last)], |row| {
                let session: Option<i64> = row.get(3)?;
                Ok(AuditEntry {
                    at_ms: count(row, 0)?,
                    who: row.get(1)?,
                    what: row.get(2)?,
                    session: session.map(|it| SessionId(it.unsigned_abs())),
                    allowed: row.get(4)?,
                    detail: row.get(5)?,
                })
            })?;
            entries.collect()
        })
    }
}

impl AuditEntry {
    /// The same entry with its texts as they will be kept, for who has to hold it meanwhile.
    pub(crate) fn shortened(mut self) -> AuditEntry {
        for text in [&mut self.who, &mut self.what, &mut self.detail] {
            text.truncate(text.floor_char_boundary(TEXT_MAX));
        }
        self
    }
}

/// The beginning of a text, whole characters only.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_MAX)).unwrap_or(text)
}
