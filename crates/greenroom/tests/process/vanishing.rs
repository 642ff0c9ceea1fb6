//! Clients that vanish in the middle of a frame, or half (K6, N6).

use greenroom_client::Connection;
use greenroom_frame::binary::kind;
use greenroom_testkit::{Daemon, Home, count, create, eventually, eventually_ok, process};
use serde_json::json;

use crate::direct::is_lent;
use crate::support::{home, wait_for_text};

/// How much a daemon may grow while clients come and go, in KiB.
const GROWTH: u64 = 1024;

/// The descriptors of the daemon, once it has noticed who left.
fn open_files(daemon: &Daemon) -> usize {
    process::fds(daemon.pid()).len()
}

/// Comes, begins a frame and goes; every third one is attached and does not read.
fn vanish(home: &Home, round: usize) {
    let mut wire = home.wire();
    if round.is_multiple_of(3) {
        wire.call("session.attach", &json!({"sessionId": "noisy", "stream": true}))
            .unwrap()
            .unwrap();
    }
    let (_, request) = wire.request("session.list", &json!({"ended": true}));
    let input = greenroom_frame::binary::encode(kind::INPUT, "stream-1", &[b' '; 100]).unwrap();
    let frames = [request, input].concat();
    // A different cut each round, over all of both frames.
    let cut = (round * 7919) % frames.len();
    wire.send_bytes(&frames[..cut]).unwrap();
}

/// The store opens its log with the first thing it writes; this is answered after that.
fn settle(connection: &mut Connection, home: &Home) {
    create(connection, "first", "true");
    let exit = json!({"sessionId": "first", "for": {"exit": true}});
    connection.call("session.wait", &exit).unwrap();
    connection.call("session.forget", &json!({"sessionId": "first"})).unwrap();
    eventually("its holder is gone", || home.holder_sockets().len() == 1);
}

#[test]
fn clients_that_vanish_within_a_frame_leave_nothing() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    // Attached clients have something to be shown, and the screen does not grow meanwhile.
    create(&mut connection, "noisy", "seq 1 50; read line");
    wait_for_text(&mut connection, "noisy", "50");
    settle(&mut connection, &home);
    let (before, rounds) = (open_files(&daemon), count(300, 10_000));
    // Once the daemon has what so many clients at a time need, it needs no more.
    (0..rounds).for_each(|round| vanish(&home, round));
    let settled = |what: &str| {
        eventually_ok(what, || match open_files(&daemon) {
            now if now <= before => Ok(()),
            now => Err(format!("({now} descriptors, {before} before)")),
        });
    };
    settled("the first clients are gone");
    let memory = process::memory_kib(daemon.pid());
    (0..rounds).for_each(|round| vanish(&home, round));
    settled("all clients are gone");
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= GROWTH, "the daemon grew by {grown} KiB");
    connection.call("daemon.status", &json!({})).unwrap();
}

#[test]
fn half_open_connections_are_let_go() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "noisy", "read line; yes noise");
    // From the first wait on that lasts, the daemon can look at the terminal by itself.
    let wait = json!({"sessionId": "noisy", "for": {"text": "noise"}});
    connection.start("session.wait", &wait).unwrap();
    eventually("the daemon has the session's pipe", || is_lent(daemon.pid()));
    connection.call("session.send", &json!({"sessionId": "noisy", "text": "\n"})).unwrap();
    wait_for_text(&mut connection, "noisy", "noise");
    settle(&mut connection, &home);
    let before = open_files(&daemon);

    // Says its last word and wants the answer still.
    let mut asks = home.wire();
    let (id, request) = asks.request("daemon.status", &json!({}));
    asks.send_bytes(&request).unwrap();
    asks.finish();
    assert!(asks.answer(&id.into()).unwrap().is_ok());
    assert!(asks.frame().is_none(), "then the daemon hangs up, too");

    // Says its last word in the middle of a frame, with a wait that never ends.
    let mut waits = home.wire();
    let params = json!({"sessionId": "noisy", "for": {"text": "never"}});
    let (_, request) = waits.request("session.wait", &params);
    waits.send_bytes(&request).unwrap();
    waits.send_bytes(&request[..7]).unwrap();
    waits.finish();

    // Says its last word, and never reads what is shown to it.
    let mut shown = home.wire();
    shown.call("session.attach", &json!({"sessionId": "noisy", "stream": true})).unwrap().unwrap();
    shown.finish();

    eventually_ok("the daemon has let them go", || match open_files(&daemon) {
        now if now <= before => Ok(()),
        now => Err(format!("({now} descriptors, {before} before)")),
    });
    // The session hears of it a turn after the socket is closed.
    eventually("nobody is attached any more", || {
        let info = connection.call("session.info", &json!({"sessionId": "noisy"})).unwrap();
        info["attachedClients"] == 0
    });
    drop((waits, shown));
}
