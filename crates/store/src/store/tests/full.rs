//! A disk without room. SQLite's bound on pages stands in for it here; `tests/full_disk.rs` has a
//! real one.

use greenroom_model::SessionId;

use super::{Place, ended, entry, fill, ids, make_room};
use crate::Kind;

#[test]
fn what_does_not_fit_is_not_there_in_part_and_fits_later() {
    let place = Place::new();
    let mut store = place.open();
    store.ended(&ended(1, 1), Some(b"small")).unwrap();
    fill(&store);
    let blob = vec![3; 100_000];
    let error = store.ended(&ended(2, 2), Some(&blob)).unwrap_err();
    assert_eq!(error.kind(), Kind::Full);
    assert_eq!(error.to_string(), "no space left for the store");
    assert_eq!(ids(&store), [1]);
    assert_eq!(store.next_id().unwrap(), SessionId(2), "the number was not taken either");
    assert_eq!(store.checkpoint_of(SessionId(1)).unwrap().unwrap(), b"small");

    make_room(&store);
    store.ended(&ended(2, 2), Some(&blob)).unwrap();
    store.audit(&entry("after")).unwrap();
    drop(store);
    assert_eq!(place.open().checkpoint_of(SessionId(2)).unwrap().unwrap(), blob);
}
