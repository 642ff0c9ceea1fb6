//! The native door.

use greenroom_frame::binary::kind;
use greenroom_testkit::{Home, Party, Wire, play, transcripts};
use serde_json::{Map, Value, json};

use crate::{folder, home};

struct Client {
    wire: Wire,
    next: u64,
    output: Vec<u8>,
}

fn client(home: &Home) -> Client {
    Client { wire: home.wire(), next: 0, output: Vec::new() }
}

impl Party for Client {
    fn send(&mut self, message: &str) {
        self.wire.send(kind::JSON_RPC, "", message.as_bytes()).unwrap();
    }

    /// The next JSON message; output of streams is kept.
    fn message(&mut self) -> Value {
        loop {
            let frame = self.wire.frame().expect("the daemon does not hang up");
            match frame.kind {
                kind::JSON_RPC => return serde_json::from_slice(&frame.payload).unwrap(),
                kind::OUTPUT => self.output.extend_from_slice(&frame.payload[8..]),
                _ => {}
            }
        }
    }

    fn complete(&mut self, request: &mut Map<String, Value>) {
        self.next += 1;
        request.entry("id").or_insert_with(|| self.next.into());
    }

    fn wait_for_output(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.output).contains(text) {
            // Everything caused so far has come when the answer to one more request has.
            self.send(r#"{"id":"settle","method":"daemon.status"}"#);
            while self.message().get("id").is_none() {}
        }
    }
}

#[test]
fn transcripts_hold() {
    let all = transcripts(&folder("door-carryon"));
    assert!(all.len() > 20, "only {} transcripts were found", all.len());
    for (name, text) in all.iter().filter(|it| it.0 != "daemon.stop.txt") {
        let home = home();
        let _daemon = home.start();
        play(name, text, home.path(), &mut client(&home));
    }
}

#[test]
fn the_daemon_answers_before_it_stops() {
    let home = home();
    let mut daemon = home.start();
    let mut client = client(&home);
    client.send(r#"{"id":1,"method":"daemon.stop"}"#);
    assert_eq!(client.message()["result"], json!({"ok": true}));
    assert!(daemon.wait_for_end().success());
}
