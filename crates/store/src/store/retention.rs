//! Forgetting the past: by age, by count, by bytes, oldest first.

use greenroom_model::SessionId;
use rusqlite::Connection;

use super::rows::count;
use super::sessions::forget;
use crate::{Retention, Store, StoreError};

/// What deciding about one ended session needs.
struct Past {
    id: SessionId,
    ended_ms: u64,
    bytes: u64,
}

impl Store {
    /// Forgets the ended sessions that are past a bound, and says which.
    ///
    /// Of those that remain after the bound on age, the latest are kept. A session that ended in
    /// the future, before the clock was set back, is as young as can be.
    ///
    /// # Errors
    /// It could not be written; then nothing is forgotten.
    pub fn retain(&mut self, keep: Retention, now_ms: u64) -> Result<Vec<SessionId>, StoreError> {
        let past = self.read(latest_first)?;
        let mut forgotten = over(&past, keep, now_ms);
        if forgotten.is_empty() {
            return Ok(forgotten);
        }
        forgotten.sort();
        self.write(|transaction| {
            for id in &forgotten {
                forget(transaction, *id)?;
            }
            Ok(())
        })?;
        self.give_back_space();
        Ok(forgotten)
    }

    /// Returns free pages to the file system. Failing is no harm: they are used again.
    fn give_back_space(&self) {
        let shrink = || {
            // Every step of this statement frees one page.
            let mut vacuum = self.connection.prepare_cached("PRAGMA incremental_vacuum")?;
            let mut freed = vacuum.query([])?;
            while freed.next()?.is_some() {}
            self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        };
        shrink().ok();
    }
}

/// The sessions to forget, of those in `past`, the latest of which comes first.
fn over(past: &[Past], keep: Retention, now_ms: u64) -> Vec<SessionId> {
    let (mut kept, mut bytes) = (0_u64, 0_u64);
    let mut forgotten = Vec::new();
    for it in past {
        let with_it = bytes.saturating_add(it.bytes);
        if now_ms.saturating_sub(it.ended_ms) > keep.max_age_ms
            || kept >= keep.max_count
            || with_it > keep.max_bytes
        {
            // Also when this one alone is too large: a smaller, older one may still fit.
            forgotten.push(it.id);
        } else {
            kept += 1;
            bytes = with_it;
        }
    }
    forgotten
}

fn latest_first(connection: &Connection) -> rusqlite::Result<Vec<Past>> {
    // The length of a blob is in the head of its row: the blob itself is not read.
    let sql = "SELECT id, ended_ms, coalesce(length(bytes), 0)
        FROM session LEFT JOIN checkpoint USING (id)
        WHERE ended_ms >= 0 ORDER BY ended_ms DESC, id DESC";
    let mut query = connection.prepare_cached(sql)?;
    let past = query.query_map([], |row| {
        Ok(Past { id: SessionId(count(row, 0)?), ended_ms: count(row, 1)?, bytes: count(row, 2)? })
    })?;
    past.collect()
}
