//! Files that are old, newer, damaged, shared, or not files at all.

use std::fs::{self, File, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};

use greenroom_model::SessionId;
use rusqlite::Connection;

use super::{Place, ended, ids, mode, session};
use crate::migrations::{self, MIGRATIONS};
use crate::{Kind, Opened, Store};

/// What the tables are, as SQLite tells it.
fn schema(connection: &Connection) -> Vec<String> {
    let mut query = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn every_earlier_version_becomes_the_latest() {
    let wanted = schema(&Place::new().open().connection);
    for version in 0..MIGRATIONS.len() {
        let place = Place::new();
        let old = Connection::open(&place.path).unwrap();
        for step in &MIGRATIONS[..version] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "user_version", version as i64).unwrap();
        drop(old);
        let mut store = place.open();
        assert_eq!(schema(&store.connection), wanted, "from version {version}");
        assert_eq!(migrations::version(&store.connection).unwrap(), migrations::known());
        store.ended(&ended(1, 2), Some(b"x")).unwrap();
    }
}

#[test]
fn a_newer_file_is_refused_and_not_touched() {
    let place = Place::new();
    place.open().alive(&session(1)).unwrap();
    let newer = Connection::open(&place.path).unwrap();
    newer.pragma_update(None, "journal_mode", "WAL").unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    // Left behind without being written back, as by a kill: the version is in the log only.
    let log = place.path.with_extension("db-wal");
    let (main, beside) = (fs::read(&place.path).unwrap(), fs::read(&log).unwrap());
    drop(newer);
    fs::write(&place.path, &main).unwrap();
    fs::write(&log, &beside).unwrap();

    for open in [
        |it: &Place| Store::open(&it.path),
        |it: &Place| Store::open_or_set_aside(&it.path).map(|(store, _)| store),
    ] {
        let error = open(&place).unwrap_err();
        assert_eq!(error.kind(), Kind::Newer);
        assert_eq!(error.to_string(), "the store has version `99`, this program knows up to `2`");
        assert_eq!(fs::read(&place.path).unwrap(), main);
        assert_eq!(fs::read(&log).unwrap(), beside);
    }
}

#[test]
fn only_the_owner_can_read_the_files() {
    let place = Place::new();
    let mut store = place.open();
    store.alive(&session(1)).unwrap();
    assert_eq!(place.others(), ["store.db-wal"], "no shared memory beside it");
    assert_eq!(mode(&place.path), 0o600);
    assert_eq!(mode(&place.path.with_extension("db-wal")), 0o600);
    drop(store);
    fs::set_permissions(&place.path, Permissions::from_mode(0o644)).unwrap();
    drop(place.open());
    assert_eq!(mode(&place.path), 0o600, "an open one is closed again");
}

#[test]
fn a_link_or_a_folder_in_its_place_is_refused() {
    let place = Place::new();
    let target = place.path.with_extension("target");
    fs::write(&target, "").unwrap();
    symlink(&target, &place.path).unwrap();
    assert_eq!(Store::open(&place.path).unwrap_err().kind(), Kind::Io);
    assert_eq!(fs::read(&target).unwrap(), b"");
    fs::remove_file(&place.path).unwrap();
    fs::create_dir(&place.path).unwrap();
    assert_eq!(Store::open_or_set_aside(&place.path).unwrap_err().kind(), Kind::Io);
    let nowhere = place.path.with_extension("no").join("store.db");
    let error = Store::open(&nowhere).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.full_text().contains("No such file"), "{}", error.full_text());
}

#[test]
fn garbage_is_refused_and_set_aside_only_when_asked() {
    let place = Place::new();
    fs::write(&place.path, b"not a database, by any means".repeat(100)).unwrap();
    assert_eq!(Store::open(&place.path).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(place.others(), [""; 0], "left alone");

    let (mut store, opened) = Store::open_or_set_aside(&place.path).unwrap();
    let Opened::SetAside(aside) = opened else { panic!("{opened:?}") };
    assert!(aside.file_name().unwrap().to_str().unwrap().starts_with("store.db.corrupt-"));
    assert!(fs::read(&aside).unwrap().starts_with(b"not a database"));
    store.alive(&session(1)).unwrap();
    drop(store);
    let (store, opened) = Store::open_or_set_aside(&place.path).unwrap();
    assert_eq!((opened, store.living().unwrap().len()), (Opened::Existing, 1));
}

#[test]
fn a_damaged_table_is_set_aside_and_the_numbers_go_on() {
    let place = Place::new();
    let mut store = place.open();
    for id in 1..=50 {
        store.alive(&session(id)).unwrap();
    }
    let root: u32 = store
        .connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'session'", [], |it| it.get(0))
        .unwrap();
    drop(store);
    let mut file = File::options().write(true).open(&place.path).unwrap();
    file.seek(SeekFrom::Start(u64::from(root - 1) * 4096)).unwrap();
    file.write_all(&[0xa5; 4096]).unwrap();
    drop(file);

    assert_eq!(Store::open(&place.path).unwrap_err().kind(), Kind::Corrupt);
    let (mut store, opened) = Store::open_or_set_aside(&place.path).unwrap();
    assert!(matches!(opened, Opened::SetAside(_)));
    assert_eq!(store.reserve_id().unwrap(), SessionId(51));
}

#[test]
fn every_truncation_is_an_error_or_an_earlier_state_but_never_a_panic() {
    let place = Place::new();
    let mut store = place.open();
    for id in 1..=20 {
        store.ended(&ended(id, id), Some(&[id as u8; 6_000])).unwrap();
    }
    drop(store);
    let whole = fs::read(&place.path).unwrap();
    for length in (0..whole.len()).step_by(3_001) {
        let cut = Place::new();
        fs::write(&cut.path, &whole[..length]).unwrap();
        let (mut store, _) = Store::open_or_set_aside(&cut.path).unwrap();
        store.alive(&session(99)).unwrap();
        for id in ids(&store) {
            drop(store.checkpoint_of(SessionId(id)));
        }
    }
}
