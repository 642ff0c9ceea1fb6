//! The open file, for the one thread that owns it. What it can do is in the files below, one a
//! subject: numbers, sessions, retention, the audit trail.
//!
//! Every write is one transaction: a full disk or a kill leaves all of it or nothing.

mod audit;
mod numbers;
mod retention;
mod rows;
mod sessions;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{Opened, StoreError, open};

pub use audit::AUDIT_MAX;
pub(crate) use numbers::above;

/// What outlives the daemon, in one SQLite file.
///
/// ```
/// use greenroom_model::SessionId;
/// use greenroom_store::Store;
///
/// let folder = tempfile::tempdir()?;
/// let mut store = Store::open(&folder.path().join("store.db"))?;
/// assert_eq!(store.reserve_id()?, SessionId(1));
/// assert_eq!(store.reserve_id()?, SessionId(2));
/// assert!(store.list_ended()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the file at `path`, or makes it. Its folder must be there, and private.
    ///
    /// # Errors
    /// The file is damaged, newer than this program, in use, or cannot be read or written. It is
    /// left as it was.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let (connection, _) = open::open(path)?;
        Ok(Store { connection, path: path.to_owned() })
    }

    /// Opens the file at `path`; a damaged one is renamed to `.corrupt-<ms>` and a new one made.
    ///
    /// # Errors
    /// As [`Store::open`], but for damage.
    pub fn open_or_set_aside(path: &Path) -> Result<(Store, Opened), StoreError> {
        let (connection, opened) = open::open_or_set_aside(path)?;
        Ok((Store { connection, path: path.to_owned() }, opened))
    }

    /// Does `work` whole or not at all.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        attempt().map_err(|error| StoreError::of_sqlite(error, &self.path))
    }

    /// Does `work`, which only reads.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|error| StoreError::of_sqlite(error, &self.path))
    }
}
