//! What daemons type for clients is counted over their ends.

use std::os::fd::AsFd as _;

use greenroom_model::Offset;

use crate::daemon::started;

#[test]
fn the_next_daemon_is_given_the_counts_of_the_one_before() {
    const ANNA: u64 = 7;
    let (holder, mut daemon, hello) = started("stty raw -echo; printf ready; exec cat");
    assert!(hello.tallies);
    daemon.until("ready", Offset::START);
    let mut tally = daemon.tally();
    let anna = tally.typist(ANNA, |_| true).unwrap();
    tally.put(anna, b"typed").unwrap();
    tally.pass_on(daemon.terminal().as_fd()).unwrap();
    daemon.until("typed", Offset(5));
    // This one is in the pipe when its daemon ends.
    tally.put(anna, b"not").unwrap();
    drop((tally, daemon));
    let mut next = holder.connect();
    next.hello();
    let tally = next.tally();
    assert_eq!(tally.typed(tally.typist(ANNA, |_| true).unwrap()), 5);
}

#[test]
fn a_daemon_that_does_not_ask_gets_nothing() {
    // It may be older, and take what comes for something else.
    let (holder, mut daemon, _) = started("echo ready; exec cat");
    daemon.tally();
    drop(daemon);
    let mut next = holder.connect();
    next.hello();
    next.until("ready", Offset::START);
    assert!(next.has_no_descriptors());
}
