//! What the store keeps, read back; and what it does with files that are not as it left them.

mod files;
mod full;
mod kept;

use std::path::{Path, PathBuf};

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use tempfile::TempDir;

use crate::{AuditEntry, End, Ended, Session, Store};

/// A folder with a store in it.
pub(crate) struct Place {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        Place { _folder: folder, path }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path).unwrap()
    }

    /// The names in the folder, without that of the store.
    pub(crate) fn others(&self) -> Vec<String> {
        let folder = self.path.parent().unwrap().read_dir().unwrap();
        let mut names: Vec<String> =
            folder.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "store.db");
        names.sort();
        names
    }
}

pub(crate) fn session(id: u64) -> Session {
    Session {
        id: SessionId(id),
        uuid: [id as u8; 16],
        name: format!("name {id}"),
        created_ms: id / 2 + 1_000,
        attached_ms: 0,
        cwd: "/srv/ä\n".to_owned(),
        command: vec!["sh".to_owned(), String::new(), "-c\n\"x\"".to_owned()],
        size: Size::new(132, 43).unwrap(),
        title: "tïtle".to_owned(),
        offset: Offset::START + u64::from(u32::MAX),
        resizes: id,
        notes: vec![("maker".to_owned(), String::new()), ("ä\n".to_owned(), "1 x".to_owned())],
    }
}

pub(crate) fn ended(id: u64, ended_ms: u64) -> Ended {
    Ended { session: session(id), ended_ms, end: End::Exited(ExitStatus::Code(0)) }
}

pub(crate) fn entry(detail: &str) -> AuditEntry {
    AuditEntry {
        at_ms: 5,
        who: "uid 1000".to_owned(),
        what: "session.kill".to_owned(),
        session: Some(SessionId(3)),
        allowed: false,
        detail: detail.to_owned(),
    }
}

pub(crate) fn ids(store: &Store) -> Vec<u64> {
    store.list_ended().unwrap().iter().map(|it| it.session.id.0).collect()
}

/// Makes every write that needs a further page fail, as on a full disk.
pub(crate) fn fill(store: &Store) {
    let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    set_page_bound(store, pages);
}

/// Takes the bound of [`fill`] away.
pub(crate) fn make_room(store: &Store) {
    set_page_bound(store, i64::from(u32::MAX) - 1);
}

fn set_page_bound(store: &Store, pages: i64) {
    let sql = format!("PRAGMA max_page_count = {pages}");
    store.connection.query_row(&sql, [], |_| Ok(())).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}
