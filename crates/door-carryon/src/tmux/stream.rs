//! A session of tmux shown on a client's connection: tmux's own client on a terminal of ours, one for
//! each of them, so that tmux knows who is how large.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use greenroom_frame::binary::stream::{RedrawReason, output_head, redraw_head};
use greenroom_frame::binary::{Frame, encode, header, kind};
use greenroom_model::Size;
use greenroom_tmux::Attachment;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::{Presence, id_of, list, verbs};
use crate::Door;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::methods::Answer;
use crate::params::size_of;

/// How many sessions of tmux one connection may be attached to: each is a process and a terminal.
const MAX_STREAMS: usize = 64;

/// The streams of a connection, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    all: Mutex<BTreeMap<String, Stream>>,
    next: AtomicU64,
}

/// A session shown on a connection; dropped, the client has left.
#[derive(Debug)]
struct Stream {
    /// The session's id, as it was when it was attached to.
    session: String,
    attachment: Arc<Attachment>,
    task: AbortHandle,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Streams {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Stream>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn clear(&self) {
        self.all().clear();
    }

    /// By the stream's id or the session's.
    fn find(&self, id: &str) -> Option<(String, Arc<Attachment>)> {
        let all = self.all();
        let found = all.iter().rev().find(|(stream, it)| *stream == id || it.session == id);
        found.map(|(stream, it)| (stream.clone(), Arc::clone(&it.attachment)))
    }

    /// Ends a stream; false if there is none.
    fn remove(&self, id: &str) -> bool {
        let found = self.find(id);
        found.is_some_and(|(stream, _)| self.all().remove(&stream).is_some())
    }
}

/// How a client wants to see it.
pub(crate) struct Attach {
    pub(crate) size: Option<Size>,
    pub(crate) read_only: bool,
    /// Frames with offsets; else TerminalData.
    pub(crate) offsets: bool,
}

/// Starts tmux's client for somebody.
async fn open(
    door: &Arc<Door>,
    name: &str,
    size: Size,
    read_only: bool,
) -> Result<Attachment, RpcError> {
    let tmux = verbs::is_available(door).then(|| door.tmux.tmux()).flatten();
    let tmux = tmux.ok_or_else(|| RpcError::invalid("backend not available: tmux"))?;
    tmux.attach(name, size, read_only).await.map_err(|error| verbs::failure(error, name))
}

pub(crate) async fn attach(
    it: Arc<Connection>,
    name: &str,
    attach: Attach,
) -> Result<Answer, RpcError> {
    if it.tmux.all().len() >= MAX_STREAMS {
        return Err(RpcError::invalid(format!("too many streams: at most {MAX_STREAMS}")));
    }
    let session = verbs::info(&it.door, name).await?;
    let size = attach.size.or_else(|| size_of(&session)).unwrap_or(Size::DEFAULT);
    let attachment = Arc::new(open(&it.door, name, size, attach.read_only).await?);
    let number = it.tmux.next.fetch_add(1, Ordering::Relaxed);
    let (stream, id) = (format!("tmux-stream-{number}"), id_of(name));
    let mut value = json!({"sessionId": id, "streamId": stream, "offset": 0, "session": session});
    if !attach.offsets
        && it.is_foreign()
        && let Some(path) = crate::holders::offer_tmux(&it.door, name)
    {
        value["holderSocket"] = path.display().to_string().into();
    }
    let (connection, name) = (Arc::clone(&it), name.to_owned());
    let then: Box<dyn FnOnce() + Send> = Box::new(move || {
        let presence = Presence::new(&connection.door, &name, connection.caller.id);
        let shown = Shown { id: id.clone(), stream: attach.offsets.then(|| stream.clone()) };
        let carrying = carry(
            Arc::clone(&connection),
            Arc::clone(&attachment),
            presence,
            (stream.clone(), shown),
        );
        let mut all = connection.tmux.all();
        let task = tokio::spawn(carrying).abort_handle();
        all.insert(stream, Stream { session: id, attachment, task });
    });
    Ok(Answer { value, then: Some(then) })
}

/// How frames name what they carry.
struct Shown {
    id: String,
    /// The stream's id, in frames with offsets.
    stream: Option<String>,
}

impl Shown {
    /// What tmux drew, as a frame: head and body.
    fn output(&self, end: u64, bytes: Bytes) -> [Bytes; 2] {
        let head = match &self.stream {
            Some(stream) => output_head(stream, end, bytes.len()),
            None => header(kind::TERMINAL_DATA, &self.id, bytes.len()),
        };
        // An id that does not fit was never given out.
        [Bytes::from(head.unwrap_or_default()), bytes]
    }

    fn begin(&self) -> Option<Bytes> {
        let head = redraw_head(self.stream.as_ref()?, 0, RedrawReason::Attached, 0);
        head.ok().map(Bytes::from)
    }

    fn end(&self) -> Bytes {
        let frame = match &self.stream {
            Some(stream) => encode(kind::ENDED, stream, json!({"code": 0}).to_string().as_bytes()),
            None => encode(kind::STREAM_CLOSE, &self.id, b""),
        };
        Bytes::from(frame.unwrap_or_default())
    }
}

async fn carry(
    connection: Arc<Connection>,
    attachment: Arc<Attachment>,
    presence: Presence,
    (stream, shown): (String, Shown),
) {
    connection.out.push(shown.begin());
    tokio::select! {
        () = output(&connection, &attachment, &shown) => connection.out.push([shown.end()]),
        // Nothing has ended: it goes on there.
        () = presence.moved(), if shown.stream.is_none() => {}
    }
    drop(presence);
    // Its session may be gone, which everybody is told then.
    list(&connection.door, true).await;
    // Last: this ends the task that does it.
    connection.tmux.all().remove(&stream);
}

/// What tmux draws, until its client is gone.
async fn output(connection: &Connection, attachment: &Attachment, shown: &Shown) {
    let mut end = 0;
    loop {
        // Who does not read is not read for: tmux minds slow terminals itself.
        connection.out.room().await;
        let mut bytes = Vec::new();
        match attachment.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(count) => end += count as u64,
        }
        connection.out.push(shown.output(end, Bytes::from(bytes)));
    }
}

/// Ends a stream of a connection; false if there is none.
pub(crate) fn detach(connection: &Connection, id: &str) -> bool {
    connection.tmux.remove(id)
}

/// Takes a frame that is about a session of tmux; false if it is not.
pub(crate) async fn takes(connection: &Arc<Connection>, frame: &Frame) -> bool {
    let found = connection.tmux.find(&frame.id);
    match (frame.kind, found) {
        (kind::TERMINAL_DATA | kind::INPUT, Some((_, attachment))) => {
            type_in(&attachment, &frame.payload).await;
        }
        (kind::RESIZE, Some((_, attachment))) => {
            if let Some(size) = size(&frame.payload) {
                // A client that is gone has no size.
                attachment.resize(size).unwrap_or_default();
            }
        }
        (kind::RESIZE, None) => {
            let Some(name) = super::name_of(&frame.id) else { return false };
            let Some(size) = size(&frame.payload) else { return true };
            if let Err(error) = verbs::resize(&connection.door, name, size).await {
                tracing::debug!(error = %error.message, "a size was not taken");
            }
        }
        (kind::STREAM_CLOSE, Some(_)) => return connection.tmux.remove(&frame.id),
        _ => return false,
    }
    true
}

/// Types everything, as fast as tmux takes it.
async fn type_in(attachment: &Attachment, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match attachment.write(bytes).await {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            // It is gone, and with it who would have read this.
            Err(_) => return,
        }
    }
}

fn size(payload: &[u8]) -> Option<Size> {
    size_of(&serde_json::from_slice::<Value>(payload).ok()?)
}
