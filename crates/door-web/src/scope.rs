//! What passes a bridge for somebody with a link to one session.
//!
//! Both ways are cut into frames. Of requests only those pass that are about the one session, whose
//! name is put in whatever they said; of what comes back only answers to them, what happens to that
//! session, and its stream. The other end of the bridge has no more rights in the engine than the link,
//! so that what slips through here can at least not be done to a session.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use greenroom_engine::Engine;
use greenroom_frame::binary::{Frame, FrameDecoder, encode, kind};
use greenroom_frame::rpc;
use serde_json::{Value, json};

use crate::shares::Share;

/// What who only looks may ask.
const LOOKING: &[&str] = &[
    "greenroom.hello",
    "client.identify",
    "session.list",
    "session.info",
    "session.attach",
    "session.detach",
    "session.read",
    "session.search",
    "session.scrollback",
    "session.wait",
    "request.cancel",
];

/// What of answers a visitor does not get.
const HIDDEN: &[&str] = &["holderSocket", "home", "socket", "pid", "holderPid"];

/// What who types may ask as well.
const TYPING: &[&str] = &["session.send", "session.key", "session.resize", "session.signal"];

/// How many lists may be asked for at once: a page asks for one.
const MAX_LISTS: usize = 64;

/// How many streams are remembered: a page has one or two.
const MAX_STREAMS: usize = 1024;

/// The longest frame of a visitor's: whatever they paste fits.
const MAX_FRAME: usize = 4 << 20;

/// How many bytes of our own answers wait for a visitor who does not read.
const MAX_ANSWERS: usize = 64 << 10;

/// How much of a method's name is said back.
const MAX_NAME: usize = 64;

/// What passes.
pub(crate) struct Scope {
    /// The session's id, as frames and methods have it.
    native: String,
    write: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    up: FrameDecoder,
    down: FrameDecoder,
    /// Requests for a list, which are asked as one for the session alone.
    lists: BTreeSet<String>,
    /// Answers of our own, which go down with whatever comes next.
    answers: Vec<u8>,
    /// The streams of the session.
    streams: BTreeSet<String>,
}

impl Scope {
    /// The scope of a link.
    pub(crate) fn new(engine: &Engine, share: &Share) -> Scope {
        // A session that is forgotten is called by what nothing is called by.
        let native = engine.info(&share.session).map(|it| it.native_id());
        let native = native.unwrap_or_else(|_| share.session.clone());
        Scope { native, write: share.write, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What of a visitor's bytes goes on to the daemon.
    ///
    /// # Errors
    /// They are no frames.
    pub(crate) fn up(&self, bytes: &[u8]) -> io::Result<Bytes> {
        let mut state = self.state();
        state.up.buffer().extend_from_slice(bytes);
        let mut out = Vec::new();
        while let Some(frame) = state.up.next().map_err(io::Error::other)? {
            if let Some(frame) = self.frame_up(&mut state, frame) {
                out.extend_from_slice(&frame);
            }
        }
        if state.up.buffer().len() > MAX_FRAME {
            return Err(io::Error::other("a frame is too long"));
        }
        if state.answers.len() > MAX_ANSWERS {
            return Err(io::Error::other("the answers are not read"));
        }
        Ok(Bytes::from(out))
    }

    fn frame_up(&self, state: &mut State, frame: Frame) -> Option<Vec<u8>> {
        let of_stream = state.streams.contains(&frame.id) || frame.id == self.native;
        match frame.kind {
            kind::JSON_RPC => self.request(state, &frame.payload),
            kind::INPUT | kind::TERMINAL_DATA if self.write && of_stream => again(&frame),
            // Without a stream a size is the session's, not the visitor's.
            kind::RESIZE if self.write && of_stream || state.streams.contains(&frame.id) => {
                again(&frame)
            }
            kind::STREAM_CLOSE if of_stream => again(&frame),
            _ => None,
        }
    }

    fn request(&self, state: &mut State, payload: &[u8]) -> Option<Vec<u8>> {
        let Ok(mut request) = serde_json::from_slice::<Value>(payload) else {
            return encode(kind::JSON_RPC, "", payload).ok();
        };
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        let allowed =
            LOOKING.contains(&method.as_str()) || self.write && TYPING.contains(&method.as_str());
        let is_request =
            matches!(request.get("params"), None | Some(Value::Null | Value::Object(_)));
        if !allowed || !is_request {
            let data = json!({"kind": "denied"});
            let name: String = method.chars().take(MAX_NAME).collect();
            let text = format!("not allowed: this link may not use `{name}` like that");
            let answer = rpc::error(&request["id"], rpc::INTERNAL_ERROR, &text, &data);
            state.answers.extend(encode(kind::JSON_RPC, "", &answer).ok()?);
            // Something has to come back, for the answer to come with it.
            let ask = json!({"jsonrpc": "2.0", "id": NUDGE, "method": "greenroom.hello"});
            return encode(kind::JSON_RPC, "", ask.to_string().as_bytes()).ok();
        }
        if request["params"].is_null() {
            request["params"] = json!({});
        }
        let params = request["params"].as_object_mut()?;
        // Whatever they said: nothing else can be meant.
        if method.starts_with("session.") {
            params.insert("sessionId".to_owned(), self.native.as_str().into());
        }
        let ours = |stream: &Value| stream.as_str().is_some_and(|it| state.streams.contains(it));
        if params.get("streamId").is_some_and(|stream| !ours(stream)) {
            params.remove("streamId");
        }
        if method == "session.attach" && !self.write {
            params.insert("readOnly".to_owned(), true.into());
        }
        if method == "session.list" {
            request["method"] = "session.info".into();
            if state.lists.len() < MAX_LISTS {
                state.lists.insert(request["id"].to_string());
            }
        }
        encode(kind::JSON_RPC, "", request.to_string().as_bytes()).ok()
    }

    /// What of the daemon's bytes goes on to a visitor.
    ///
    /// # Errors
    /// They are no frames.
    pub(crate) fn down(&self, bytes: &[u8]) -> io::Result<Bytes> {
        let mut state = self.state();
        state.down.buffer().extend_from_slice(bytes);
        let mut out = std::mem::take(&mut state.answers);
        while let Some(frame) = state.down.next().map_err(io::Error::other)? {
            if let Some(frame) = self.frame_down(&mut state, &frame) {
                out.extend_from_slice(&frame);
            }
        }
        Ok(Bytes::from(out))
    }

    fn frame_down(&self, state: &mut State, frame: &Frame) -> Option<Vec<u8>> {
        if frame.kind != kind::JSON_RPC {
            return again(frame);
        }
        let mut message: Value = serde_json::from_slice(&frame.payload).ok()?;
        if message["method"].is_string() {
            let ours = message["params"]["sessionId"] == self.native.as_str();
            return if ours { again(frame) } else { None };
        }
        if message["id"] == NUDGE {
            return None;
        }
        if let Some(stream) = message["result"]["streamId"].as_str()
            && state.streams.len() < MAX_STREAMS
        {
            state.streams.insert(stream.to_owned());
        }
        if let Some(result) = message["result"].as_object_mut() {
            // Where things are on this machine is not theirs to know.
            HIDDEN.iter().for_each(|name| drop(result.remove(*name)));
        }
        if state.lists.remove(&message["id"].to_string()) && !message["result"].is_null() {
            let only = message["result"].take();
            message["result"] = json!([only]);
        }
        encode(kind::JSON_RPC, "", message.to_string().as_bytes()).ok()
    }
}

/// The id of a request that nobody made.
const NUDGE: &str = "greenroom-scope";

fn again(frame: &Frame) -> Option<Vec<u8>> {
    encode(frame.kind, &frame.id, &frame.payload).ok()
}
