//! Records read back as they were written; numbers, retention and the audit trail keep their rules.

use greenroom_model::{ExitStatus, SessionId};

use super::{Place, ended, entry, ids, session};
use crate::{AUDIT_MAX, End, Kind, Retention};

/// Bounds that nothing in these tests reaches.
const ALL: Retention = Retention { max_age_ms: 1_000_000, max_count: 1_000, max_bytes: 1_000_000 };

#[test]
fn a_session_reads_back_as_written_living_and_ended() {
    let place = Place::new();
    let mut store = place.open();
    store.alive(&session(7)).unwrap();
    assert_eq!(store.living().unwrap(), [session(7)]);
    assert_eq!(store.list_ended().unwrap(), []);
    assert_eq!(store.checkpoint_of(SessionId(7)).unwrap(), None);

    store.ended(&ended(7, 9_000), Some(b"screen\0\xff")).unwrap();
    drop(store);
    let store = place.open();
    assert_eq!(store.living().unwrap(), []);
    assert_eq!(store.list_ended().unwrap(), [ended(7, 9_000)]);
    assert_eq!(store.checkpoint_of(SessionId(7)).unwrap().unwrap(), b"screen\0\xff");
}

#[test]
fn every_end_reads_back_and_a_second_report_changes_nothing() {
    let mut store = Place::new().open();
    let ends = [
        End::Exited(ExitStatus::Code(-1)),
        End::Exited(ExitStatus::Signal(9)),
        End::Lost("the holder was killed".to_owned()),
    ];
    for (id, end) in (1..).zip(ends) {
        let record = crate::Ended { end, ..ended(id, 10) };
        store.ended(&record, Some(b"x")).unwrap();
        store.ended(&record, Some(b"x")).unwrap();
        assert_eq!(store.list_ended().unwrap().last(), Some(&record));
    }
}

#[test]
fn a_lost_session_whose_holder_comes_back_lives_again() {
    let mut store = Place::new().open();
    let lost = crate::Ended { end: End::Lost("no answer".to_owned()), ..ended(1, 10) };
    store.ended(&lost, None).unwrap();
    store.alive(&session(1)).unwrap();
    assert_eq!(ids(&store), [0; 0]);
    assert_eq!(store.living().unwrap(), [session(1)]);
    assert_eq!(store.checkpoint_of(SessionId(1)).unwrap(), None);
}

#[test]
fn a_number_of_another_session_is_refused_and_its_record_untouched() {
    let mut store = Place::new().open();
    store.ended(&ended(1, 10), Some(b"mine")).unwrap();
    let other = crate::Session { uuid: [9; 16], ..session(1) };
    assert_eq!(
        store.alive(&other).unwrap_err().to_string(),
        "number `1` belongs to another session"
    );
    let theirs = crate::Ended { session: other, ..ended(1, 20) };
    assert_eq!(store.ended(&theirs, Some(b"theirs")).unwrap_err().kind(), Kind::Refused);
    assert_eq!(store.list_ended().unwrap(), [ended(1, 10)]);
    assert_eq!(store.checkpoint_of(SessionId(1)).unwrap().unwrap(), b"mine");
}

#[test]
fn numbers_rise_also_when_everything_was_forgotten() {
    let place = Place::new();
    let mut store = place.open();
    assert_eq!(store.reserve_id().unwrap(), SessionId(1));
    store.alive(&session(5)).unwrap();
    assert_eq!(store.reserve_id().unwrap(), SessionId(6));
    store.ended(&ended(9, 1), Some(b"")).unwrap();
    assert!(store.forget(SessionId(9)).unwrap());
    assert!(!store.forget(SessionId(9)).unwrap());
    drop(store);
    let mut store = place.open();
    assert_eq!(store.reserve_id().unwrap(), SessionId(10));
    store.raise_next(SessionId(100)).unwrap();
    store.raise_next(SessionId(50)).unwrap();
    assert_eq!(store.reserve_id().unwrap(), SessionId(100));
}

#[test]
fn a_number_sqlite_cannot_count_is_refused_and_spoils_nothing() {
    let mut store = Place::new().open();
    for id in [i64::MAX as u64, u64::MAX] {
        assert_eq!(store.alive(&session(id)).unwrap_err().kind(), Kind::Refused);
    }
    assert_eq!(store.raise_next(SessionId(u64::MAX)).unwrap_err().kind(), Kind::Refused);
    assert_eq!(store.reserve_id().unwrap(), SessionId(1));
    assert!(!store.rename(SessionId(u64::MAX), "x").unwrap());
}

#[test]
fn a_rename_is_kept_for_living_and_ended_alike() {
    let mut store = Place::new().open();
    store.alive(&session(1)).unwrap();
    store.ended(&ended(2, 10), Some(b"")).unwrap();
    assert!(store.rename(SessionId(1), "one").unwrap());
    assert!(store.rename(SessionId(2), "two").unwrap());
    assert!(!store.rename(SessionId(3), "three").unwrap());
    assert_eq!(store.living().unwrap()[0].name, "one");
    assert_eq!(store.list_ended().unwrap()[0].session.name, "two");
}

#[test]
fn a_nul_inside_a_word_does_not_make_two_words() {
    let mut store = Place::new().open();
    let mut odd = session(1);
    odd.command = vec!["a\0b".to_owned()];
    store.alive(&odd).unwrap();
    odd.command = Vec::new();
    odd.id = SessionId(2);
    store.alive(&odd).unwrap();
    let words: Vec<_> = store.living().unwrap().into_iter().map(|it| it.command).collect();
    assert_eq!(words, [vec!["a\u{fffd}b".to_owned()], vec![]]);
}

/// Keeps sessions 1 to 4, ended at 10, 20, 30 and 40 with 100 bytes each, and wants `left` left.
#[track_caller]
fn check_retain(keep: Retention, now_ms: u64, left: &[u64]) {
    let mut store = Place::new().open();
    store.alive(&session(5)).unwrap();
    for id in 1..=4 {
        store.ended(&ended(id, id * 10), Some(&[7; 100])).unwrap();
    }
    let forgotten = store.retain(keep, now_ms).unwrap();
    assert_eq!(ids(&store), left);
    let gone: Vec<_> = (1..=4).filter(|id| !left.contains(id)).map(SessionId).collect();
    assert_eq!(forgotten, gone);
    let checkpoints: i64 = store
        .connection
        .query_row("SELECT count(*) FROM checkpoint", [], |row| row.get(0))
        .unwrap();
    assert_eq!(checkpoints, left.len() as i64, "checkpoints go with their sessions");
    assert_eq!(store.living().unwrap().len(), 1, "the living stay");
    assert_eq!(store.reserve_id().unwrap(), SessionId(6));
}

#[test]
fn retention_forgets_by_age_by_count_and_by_bytes() {
    check_retain(ALL, 50, &[1, 2, 3, 4]);
    check_retain(Retention { max_age_ms: 25, ..ALL }, 50, &[3, 4]);
    check_retain(Retention { max_age_ms: 0, ..ALL }, 20, &[2, 3, 4]);
    check_retain(Retention { max_count: 1, ..ALL }, 50, &[4]);
    check_retain(Retention { max_count: 0, ..ALL }, 50, &[]);
    check_retain(Retention { max_bytes: 250, ..ALL }, 50, &[3, 4]);
    check_retain(Retention { max_age_ms: 35, max_count: 2, max_bytes: 150 }, 50, &[4]);
}

#[test]
fn retention_gives_the_space_back() {
    let place = Place::new();
    let mut store = place.open();
    for id in 1..=8 {
        store.ended(&ended(id, id), Some(&vec![1; 512 * 1024])).unwrap();
    }
    store.retain(Retention { max_count: 1, ..ALL }, 10).unwrap();
    assert!(place.path.metadata().unwrap().len() < 1024 * 1024);
}

#[test]
fn the_latest_of_the_audit_trail_is_kept_with_its_texts_cut() {
    let mut store = Place::new().open();
    for position in 0..AUDIT_MAX + 3 {
        store.audit(&entry(&position.to_string())).unwrap();
    }
    let all = store.audit_tail(u64::MAX).unwrap();
    assert_eq!(all.len() as u64, AUDIT_MAX);
    assert_eq!((&all[0], &all[all.len() - 1]), (&entry("3"), &entry("10002")));
    assert_eq!(store.audit_tail(2).unwrap(), [entry("10001"), entry("10002")]);
    assert_eq!(store.audit_tail(0).unwrap(), []);

    let long = crate::AuditEntry { session: None, allowed: true, ..entry(&"ä".repeat(5_000)) };
    store.audit(&long).unwrap();
    let kept = store.audit_tail(1).unwrap();
    assert_eq!(kept[0].detail, "ä".repeat(512));
    assert_eq!(kept[0], long.shortened());
}
