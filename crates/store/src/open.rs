//! Opening the file: who may read it, which version it has, what to do with a damaged one.
//!
//! The connection locks the file for itself. One daemon owns the store anyway; SQLite then needs
//! no shared memory beside it, whose mapping would be a SIGBUS on a full disk, and a second
//! process gets [`StoreError::Busy`] instead of a share.

use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{Kind, StoreError, migrations};

/// How long another process is waited for: a daemon that is closing needs milliseconds, and one
/// that is not must not keep the next from saying so.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// How large the log beside the file may stay once it was written back: one large checkpoint must
/// not take its room for ever. It is the size at which SQLite writes back by itself.
const LOG_BYTES: i64 = 4 * 1024 * 1024;

/// Only the owner: names, folders and screens are private.
const MODE: u32 = 0o600;

/// The highest number believed of a damaged file: no machine makes so many sessions, and garbage
/// near the end of the range would leave no number to give out.
const SALVAGE_MAX: i64 = 1 << 40;

/// What SQLite appends to the name of the file for those beside it.
const BESIDE: &[&str] = &["-wal", "-shm", "-journal"];

/// What was found when the store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// There was no file; it was made.
    Fresh,
    /// The file was there.
    Existing,
    /// The file was damaged and is now here; a new one was made.
    SetAside(PathBuf),
}

/// Opens the file at `path`, making it if it is not there.
pub(crate) fn open(path: &Path) -> Result<(Connection, Opened), StoreError> {
    let opened = claim(path).map_err(|error| StoreError::of_file(error, path))?;
    let connect = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        lock(&connection)?;
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| StoreError::of_sqlite(error, path))?;
    let found =
        migrations::version(&connection).map_err(|error| StoreError::of_sqlite(error, path))?;
    if found > migrations::known() {
        return Err(StoreError::Newer { found, known: migrations::known() });
    }
    prepare(&mut connection).map_err(|error| StoreError::of_sqlite(error, path))?;
    Ok((connection, opened))
}

/// As [`open`], but a damaged file is moved aside and a new one made.
pub(crate) fn open_or_set_aside(path: &Path) -> Result<(Connection, Opened), StoreError> {
    match open(path) {
        Err(error) if error.kind() == Kind::Corrupt => {}
        other => return other,
    }
    let next = salvage_next(path);
    let aside = set_aside(path).map_err(|error| StoreError::of_file(error, path))?;
    let (connection, _) = open(path)?;
    connection
        .execute("UPDATE meta SET next_id = max(next_id, ?1)", [next.unwrap_or(1)])
        .map_err(|error| StoreError::of_sqlite(error, path))?;
    Ok((connection, Opened::SetAside(aside)))
}

/// Makes the file private, and first of all makes it; follows no link.
fn claim(path: &Path) -> io::Result<Opened> {
    match OpenOptions::new().write(true).create_new(true).mode(MODE).open(path) {
        Ok(_) => Ok(Opened::Fresh),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Looked at by name: closing a descriptor of the file would drop this process's locks.
            let found = fs::symlink_metadata(path)?;
            if !found.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            if found.permissions().mode() & 0o777 != MODE {
                fs::set_permissions(path, Permissions::from_mode(MODE))?;
            }
            Ok(Opened::Existing)
        }
        Err(error) => Err(error),
    }
}

/// Locks the file without changing a byte of it, so that a newer one can still be left alone.
fn lock(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")
}

/// Sets what lasts as long as the connection, then brings the tables up to date.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    if migrations::version(connection)? == 0 {
        // Lets retention give space back. It must come before the first table, and it writes:
        // a file that is there has to open on a full disk.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Written to the kernel at each commit, to the disk at each write-back. `kill -9` loses nothing
    // and a power cut damages nothing, though it may lose the last commits; it also ends every
    // session, so waiting for the disk at each of them would protect little.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Sorting must not need room on a disk that may be full.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    migrations::migrate(connection)?;
    check(connection)
}

/// Reads the tables that everything depends on. The blobs are left out: they may be hundreds of
/// megabytes, and a damaged one is missed only by who asks for it.
fn check(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["meta", "session"] {
        let verdict: String =
            connection
                .query_row(&format!("PRAGMA quick_check('{table}')"), [], |row| row.get(0))?;
        if verdict != "ok" {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(code, Some(verdict)));
        }
    }
    connection.query_row("SELECT next_id FROM meta", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

/// The next number as a damaged file has it, if it can still be read: numbers are not re-used.
fn salvage_next(path: &Path) -> Option<i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).ok()?;
    lock(&connection).ok()?;
    let next = connection.query_row("SELECT next_id FROM meta", [], |row| row.get(0)).ok()?;
    (1..=SALVAGE_MAX).contains(&next).then_some(next)
}

/// Renames the file and those beside it to a name that is free.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut stamp = now.as_millis();
    let mut aside = appended(path, &format!(".corrupt-{stamp}"));
    while aside.symlink_metadata().is_ok() {
        stamp += 1;
        aside = appended(path, &format!(".corrupt-{stamp}"));
    }
    // The log first: without its file it would be taken for the new file's own.
    for suffix in BESIDE {
        match fs::rename(appended(path, suffix), appended(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}

fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
