//! A browser that does not read (B1) costs nobody anything, and is shown the screen when it reads again.

use std::time::Instant;

use greenroom_testkit::count;
use serde_json::Value;
use tungstenite::Message;

use super::Site;

/// What the daemon may grow by for one that never reads.
const GROWTH_KIB: u64 = 16 * 1024;

#[test]
fn a_browser_that_never_reads_costs_the_others_nothing() {
    let megabytes = count(12, 1024);
    let site = Site::with(&format!(
        "[websocket.providers.flood]\ncommand = ['sh', '-c', 'read x; yes 0123456789012345678901234567890 | head -c {megabytes}000000; echo the-end; exec cat']\n"
    ));
    let (mut stopped, id) = site.pty("provider=flood");
    let (mut reading, _) = site.pty(&format!("session_id={id}"));
    let before = greenroom_testkit::process::memory_kib(site.daemon.pid());
    reading.type_in("go\n");
    reading.until("the-end");
    let begin = Instant::now();
    let (mut other, _) = site.pty("");
    other.type_in("echo qu''ick\n");
    other.until("quick");
    assert!(begin.elapsed() < super::SOON);
    let after = greenroom_testkit::process::memory_kib(site.daemon.pid());
    assert!(after < before + GROWTH_KIB, "{before} KiB, then {after} KiB");
    // It reads again: it is told that it missed something, and sees the screen as it is.
    let lagged = loop {
        match stopped.0.read() {
            Ok(Message::Text(text)) if text.contains(r#""type":"lagged""#) => break text,
            Ok(Message::Close(_)) | Err(_) => return, // Silent for too long, on a slow machine.
            Ok(_) => {}
        }
    };
    let lagged: Value = serde_json::from_str(&lagged).unwrap();
    assert!(lagged["seq"].is_number());
    assert_eq!(stopped.json("the screen")["type"], "history");
    stopped.type_in("back\n");
    stopped.until("back\r\nback");
}
