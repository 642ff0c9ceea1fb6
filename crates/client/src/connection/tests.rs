//! A connection against a daemon that follows a script, over a pair of sockets.

use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use greenroom_frame::binary::encode;
use greenroom_frame::binary::stream::{RedrawReason, output_head, redraw_head};
use greenroom_frame::rpc::Request;
use greenroom_model::{ExitStatus, Offset, Size};

use super::*;
use crate::{AttachOptions, Ended, ErrorKind, Stream};

/// The other end of a connection: reads what the client says, says what a test wants.
struct Daemon {
    socket: UnixStream,
    decoder: FrameDecoder,
}

impl Daemon {
    /// Starts a daemon with a script; it shakes hands first.
    fn start(script: impl FnOnce(Daemon) + Send + 'static) -> (UnixStream, JoinHandle<()>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut daemon = Daemon { socket: theirs, decoder: FrameDecoder::default() };
        let thread = thread::spawn(move || {
            daemon.expect("greenroom.hello").answer(json!({
                "protocol": 1, "version": "0.1.0", "pid": 7, "capabilities": ["x"], "home": "/h",
            }));
            daemon.expect("client.identify").answer(json!({"ok": true}));
            script(daemon);
        });
        (ours, thread)
    }

    fn frame(&mut self) -> Option<Frame> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(frame) = self.decoder.next().unwrap() {
                return Some(frame);
            }
            match Read::read(&mut self.socket, &mut bytes).unwrap_or(0) {
                0 => return None,
                count => self.decoder.feed(&bytes[..count]),
            }
        }
    }

    /// Waits for a request of this method.
    fn expect(&mut self, method: &str) -> Asked<'_> {
        let frame = self.frame().unwrap();
        let request = Request::from_wire(&frame.payload).unwrap();
        assert_eq!(request.method, method);
        Asked { daemon: self, request }
    }

    fn say(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    fn notify(&mut self, method: &str) {
        let note = rpc::notification(method, &json!({"sessionId": "s"}));
        self.say(&encode(kind::JSON_RPC, "", &note).unwrap());
    }

    fn output(&mut self, end: u64, bytes: &[u8]) {
        let head = output_head("t1", end, bytes.len()).unwrap();
        self.say(&[&head, bytes].concat());
    }
}

struct Asked<'a> {
    daemon: &'a mut Daemon,
    request: Request,
}

impl Asked<'_> {
    fn answer(self, result: Value) -> Value {
        let bytes = rpc::response(&self.request.id.unwrap(), &result);
        self.daemon.say(&encode(kind::JSON_RPC, "", &bytes).unwrap());
        self.request.params
    }

    fn refuse(self, data: Value) {
        let bytes = rpc::error(&self.request.id.unwrap(), -32603, "no session `x`", &data);
        self.daemon.say(&encode(kind::JSON_RPC, "", &bytes).unwrap());
    }

    fn attach(self, offset: u64) -> Value {
        let session = json!({"number": 3, "id": "native-1", "uuid": "u-1", "name": "main",
            "cols": 80, "rows": 24, "state": "running"});
        self.answer(json!({"sessionId": "native-1", "streamId": "t1", "offset": offset,
            "session": session}))
    }
}

fn identity() -> Identity {
    Identity { client: "test 1".into(), kind: "cli".into(), name: "Terminal".into() }
}

/// Waits for the next event, or the end of the connection.
fn next(connection: &mut Connection) -> Result<Event, Error> {
    loop {
        if let Some(event) = connection.next_event()? {
            return Ok(event);
        }
        let within = Instant::now() + Duration::from_secs(10);
        assert!(connection.wait(within)?, "waited for an event in vain");
        connection.receive()?;
    }
}

#[test]
fn the_handshake_keeps_who_the_daemon_is() {
    let (socket, daemon) = Daemon::start(|_| {});
    let connection = Connection::open(socket, &identity()).unwrap();
    assert_eq!(connection.hello().version, "0.1.0");
    assert_eq!(connection.hello().pid, Some(7));
    assert_eq!(connection.hello().capabilities, ["x"]);
    daemon.join().unwrap();
}

#[test]
fn another_protocol_is_a_clear_error() {
    let error = Hello::from_wire(&json!({"protocol": 2, "version": "9.0"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(error.to_string(), "the daemon speaks protocol 2 (greenroom 9.0), this program 1");
    assert!(error.hint().unwrap().contains("daemon restart"));
}

#[test]
fn a_daemon_without_hello_is_a_stranger() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut daemon = Daemon { socket: theirs, decoder: FrameDecoder::default() };
    let thread = thread::spawn(move || daemon.expect("greenroom.hello").refuse(Value::Null));
    let error = Connection::open(ours, &identity()).err().unwrap();
    assert!(matches!(error, Error::Stranger(_)), "{error}");
    thread.join().unwrap();
}

#[test]
fn a_call_goes_along_with_who_we_are() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        daemon.expect("session.list").answer(json!([1]));
    });
    let mut connection = Connection::hail(socket, &identity()).unwrap();
    assert!(connection.has_unsent(), "nothing is sent before there is something to ask");
    assert_eq!(connection.call("session.list", &Value::Null).unwrap(), json!([1]));
    assert_eq!(connection.hello().version, "0.1.0");
    daemon.join().unwrap();
}

#[test]
fn a_stranger_is_known_before_what_it_answers() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut daemon = Daemon { socket: theirs, decoder: FrameDecoder::default() };
    let thread = thread::spawn(move || daemon.expect("greenroom.hello").refuse(Value::Null));
    let mut connection = Connection::hail(ours, &identity()).unwrap();
    let error = connection.call("session.list", &Value::Null).unwrap_err();
    assert!(matches!(error, Error::Stranger(_)), "{error}");
    thread.join().unwrap();
}

#[test]
fn a_call_is_answered_and_notifications_in_between_are_kept() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        let asked = daemon.expect("session.list");
        asked.daemon.notify("session.created");
        asked.daemon.say(&encode(0x77, "?", b"a type of a later version").unwrap());
        asked.answer(json!([1]));
        daemon.notify("session.ended");
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    assert_eq!(connection.call("session.list", &Value::Null).unwrap(), json!([1]));
    let mut methods = Vec::new();
    while methods.len() < 2 {
        match next(&mut connection).unwrap() {
            Event::Notification { method, .. } => methods.push(method),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(methods, ["session.created", "session.ended"]);
    assert!(matches!(next(&mut connection), Err(Error::Lost(_))));
    daemon.join().unwrap();
}

#[test]
fn answers_out_of_order_find_their_calls() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        let first = daemon.expect("a").request.id.unwrap();
        daemon.expect("b").answer(json!("b"));
        let late = rpc::response(&first, &json!("a"));
        daemon.say(&encode(kind::JSON_RPC, "", &late).unwrap());
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let first = connection.start("a", &Value::Null).unwrap();
    assert_eq!(connection.call("b", &Value::Null).unwrap(), json!("b"));
    let answer = next(&mut connection).unwrap();
    assert_eq!(answer, Event::Answer { id: first, result: Ok(json!("a")) });
    daemon.join().unwrap();
}

#[test]
fn a_refusal_has_kind_and_hint() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        daemon.expect("x").refuse(json!({"kind": "not_found", "hint": "try `ls`"}));
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let error = connection.call("x", &Value::Null).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.hint().as_deref(), Some("try `ls`"));
    assert_eq!(error.to_string(), "no session `x`");
    daemon.join().unwrap();
}

#[test]
fn silence_is_an_error_with_a_time() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        drop(daemon.expect("x").request);
        assert!(daemon.frame().is_none());
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let error = connection.call_within("x", &Value::Null, Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error}");
    connection.close();
    daemon.join().unwrap();
}

#[test]
fn a_broken_frame_ends_the_connection() {
    let (socket, daemon) = Daemon::start(|mut daemon| daemon.say(&[1, 255, 255, 255, 255]));
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let error = next(&mut connection).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    daemon.join().unwrap();
}

#[test]
fn a_lost_stream_goes_on_at_the_offset_reached() {
    let (socket, first) = Daemon::start(|mut daemon| {
        let params = daemon.expect("session.attach").attach(100);
        assert_eq!((&params["cols"], &params["from"]), (&json!(80), &Value::Null));
        let head = redraw_head("t1", 100, RedrawReason::Attached, 2).unwrap();
        daemon.say(&[&head, &b"ab"[..]].concat());
        daemon.output(103, b"cde");
        // A frame that never ends: what was not received whole does not count.
        daemon.say(&output_head("t1", 200, 100).unwrap());
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let options = AttachOptions { size: Size::new(80, 24), ..AttachOptions::default() };
    let mut stream = Stream::attach(&mut connection, "main", options).unwrap();
    assert_eq!(stream.target(), "u-1");
    let lost = loop {
        match next(&mut connection) {
            Ok(event) => assert!(stream.note(&event)),
            Err(error) => break error,
        }
    };
    assert!(matches!(lost, Error::Lost(_)));
    assert_eq!(stream.offset(), Offset(103));
    first.join().unwrap();

    let (socket, second) = Daemon::start(|mut daemon| {
        let params = daemon.expect("session.attach").attach(110);
        assert_eq!((&params["sessionId"], &params["from"]), (&json!("u-1"), &json!(103)));
        daemon.output(110, b"fghijkl");
        daemon.say(&encode(kind::ENDED, "t1", br#"{"code":3}"#).unwrap());
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    stream.resume(&mut connection).unwrap();
    while stream.ended().is_none() {
        let event = next(&mut connection).unwrap();
        assert!(stream.note(&event));
    }
    assert_eq!(stream.offset(), Offset(110));
    assert_eq!(stream.ended(), Some(&Ended::Program(ExitStatus::Code(3))));
    second.join().unwrap();
}

#[test]
fn what_is_typed_and_sized_goes_out_as_frames_and_a_viewer_never_sizes() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        daemon.expect("session.attach").attach(0);
        let input = daemon.frame().unwrap();
        assert_eq!(
            (input.kind, input.id.as_str(), &input.payload[..]),
            (kind::INPUT, "t1", &b"ls\r"[..])
        );
        let size = daemon.frame().unwrap();
        assert_eq!((size.kind, size.id.as_str()), (kind::RESIZE, "native-1"));
        let params = daemon.expect("session.attach").attach(0);
        assert_eq!((&params["readOnly"], &params["cols"]), (&json!(true), &json!(100)));
        assert_eq!(daemon.frame().map(|frame| frame.kind), Some(kind::RESIZE));
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    let size = Size::new(100, 30).unwrap();
    let mut stream = Stream::attach(&mut connection, "3", AttachOptions::default()).unwrap();
    stream.send_input(&mut connection, b"ls\r").unwrap();
    stream.resize(&mut connection, size).unwrap();
    let options = AttachOptions { read_only: true, size: Some(size), ..AttachOptions::default() };
    let mut viewer = Stream::attach(&mut connection, "3", options).unwrap();
    viewer.resize(&mut connection, size).unwrap();
    connection.close();
    daemon.join().unwrap();
}

#[test]
fn what_there_is_no_room_for_waits() {
    let (socket, daemon) = Daemon::start(|mut daemon| {
        // Nothing is read until the client says so through its own end.
        let mut total = 0;
        while let Some(frame) = daemon.frame() {
            total += frame.payload.len();
        }
        assert_eq!(total, 32 << 20);
    });
    let mut connection = Connection::open(socket, &identity()).unwrap();
    connection.send(kind::INPUT, "t1", &vec![b'x'; 32 << 20]).unwrap();
    while connection.has_unsent() {
        assert!(connection.wait(Instant::now() + Duration::from_secs(10)).unwrap());
        connection.flush().unwrap();
    }
    connection.close();
    daemon.join().unwrap();
}
