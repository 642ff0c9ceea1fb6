//! One connection: reads frames, starts requests, and takes input where it stands in the stream.
//!
//! Requests run concurrently, each in its own task; other frames are taken one after the other
//! (`hands`), so a client that types faster than the program reads waits, and only it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use greenroom_door::{Outgoing, Peer, Reader, Shutdown, halves};
use greenroom_engine::{self as engine, Caller, HouseEvent, Rights};
use greenroom_frame::binary::stream::Typed;
use greenroom_frame::binary::{self, Frame, FrameDecoder, kind};
use greenroom_frame::rpc;
use greenroom_model::{Offset, SessionId};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinSet;

use crate::clients::Client;
use crate::error::RpcError;
use crate::follows::Follows;
use crate::hands::Hands;
use crate::methods::{self, Answer};
use crate::params::{Params, size_of};
use crate::streams::{Stream, Streams};
use crate::{Door, notes, tmux};

/// How many requests of one connection run at once. Past that it is not read until one is done.
const MAX_REQUESTS: usize = 256;

/// How much is read at once.
const READ_BYTES: usize = 32 << 10;

/// How long requests have to finish after the client said its last word.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long requests have to finish after the daemon was told to end: most take milliseconds. A daemon leaves its
/// connections a little more than this.
const LAST_ANSWERS: Duration = Duration::from_millis(150);

/// How long to listen for a request that may be under way then, and how often to see whether one is left.
const LAST_LOOK: Duration = Duration::from_millis(5);

/// How often to see whether a client is gone whose frame is not taken yet.
const LOOK_AROUND: Duration = Duration::from_secs(2);

/// One connection, as its tasks share it.
pub(crate) struct Connection {
    pub(crate) door: Arc<Door>,
    pub(crate) caller: Caller,
    pub(crate) out: Outgoing,
    pub(crate) streams: Streams,
    /// What happened and was not told yet. Whoever answers tells first.
    untold: Mutex<Receiver<HouseEvent>>,
    /// What the door announced and was not told yet.
    announced: Mutex<Receiver<Bytes>>,
    pub(crate) follows: Follows,
    /// Sessions of the user's tmux that are shown.
    pub(crate) tmux: tmux::Streams,
    /// The requests that run, in the order they came.
    requests: Mutex<BTreeMap<u64, Running>>,
    next_request: AtomicU64,
    /// How many requests to attach run. What is typed behind them waits: it may be for their streams.
    attaching: watch::Sender<usize>,
    /// How many frames that are no requests came, and how many of them were taken.
    pub(crate) came: AtomicU64,
    pub(crate) taken: watch::Sender<u64>,
}

/// Which request something is about.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    id: Value,
    serial: u64,
    /// How many frames that are no requests came before it.
    pub(crate) came: u64,
}

/// A request that runs, and was not answered.
struct Running {
    /// Its id as the client gave it, which need not be the only one.
    id: String,
    cancel: Arc<Notify>,
    /// It waits for something that may never come.
    waits: bool,
}

/// Serves a connection until its end, or the daemon's.
pub async fn serve(stream: UnixStream, peer: Peer, door: Arc<Door>, shutdown: Shutdown) {
    let name = format!("pid {}", peer.pid.unwrap_or(0));
    serve_as(stream, peer, door, shutdown, (&name, Rights::ALL)).await;
}

/// Serves a connection for somebody who is called so and may do no more than this.
pub async fn serve_as(
    stream: UnixStream,
    peer: Peer,
    door: Arc<Door>,
    shutdown: Shutdown,
    (name, rights): (&str, Rights),
) {
    let (reader, writer) = match halves(stream) {
        Ok(halves) => halves,
        Err(error) => return tracing::warn!(%error, "a connection was closed"),
    };
    let out = Outgoing::to(Some(writer.socket()));
    let connection = Connection::new(door, peer, (name, rights), out);
    let connection = Arc::new(connection);
    let mut wakes = connection.door.engine.events();
    let mut announced = connection.door.announced.subscribe();
    let reading = read(Arc::clone(&connection), reader);
    let telling = async {
        loop {
            let woken = tokio::select! {
                woken = wakes.recv() => woken.map(drop),
                woken = announced.recv() => woken.map(drop),
            };
            match woken {
                Ok(()) | Err(broadcast::error::RecvError::Lagged(_)) => connection.tell(),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    };
    let writing = connection.out.write_to(writer);
    let ending = async {
        tokio::pin!(reading);
        let stopped = tokio::select! {
            () = &mut reading => false,
            () = telling => false,
            () = shutdown.begun() => true,
        };
        if stopped {
            // Who is not answered cannot know whether it was done.
            let _late = tokio::time::timeout(LAST_ANSWERS, async {
                tokio::select! {
                    () = &mut reading => {}
                    () = connection.answered() => {}
                }
            })
            .await;
            connection.tell_stopping();
        }
        connection.streams.clear();
        connection.out.close();
        // What is written must be read by somebody within this time.
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        _ = writing => {}
        () = ending => {}
    }
    connection.streams.clear();
    connection.follows.clear();
    connection.tmux.clear();
    connection.out.close();
    connection.door.clients.remove(connection.caller.id);
    connection.door.sizers.left(connection.caller.id);
}

impl Connection {
    fn new(
        door: Arc<Door>,
        peer: Peer,
        (called, rights): (&str, Rights),
        out: Outgoing,
    ) -> Connection {
        let id = door.engine.next_client();
        let pid = peer.pid.and_then(|pid| u64::try_from(pid).ok()).unwrap_or(0);
        let connected_ms = methods::now_ms();
        let (kind, name) = ("unknown".to_owned(), String::new());
        door.clients.add(id, Client { kind, name, pid, connected_ms, ..Client::default() });
        let untold = Mutex::new(door.engine.events());
        let announced = Mutex::new(door.announced.subscribe());
        Connection {
            door,
            caller: Caller { id, rights, name: called.into() },
            out,
            streams: Streams::default(),
            untold,
            announced,
            follows: Follows::default(),
            tmux: tmux::Streams::default(),
            requests: Mutex::default(),
            next_request: AtomicU64::new(0),
            attaching: watch::Sender::new(0),
            came: AtomicU64::new(0),
            taken: watch::Sender::new(0),
        }
    }

    /// Tells the client what happened.
    pub(crate) fn tell(&self) {
        self.tell_announced();
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match untold.try_recv() {
                Ok(event) => {
                    for (method, params) in notes::notes(&self.door, &event) {
                        // A client too far behind misses notes, not answers.
                        let _told = self.out.push_note(notes::frame(method, &params));
                    }
                }
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    /// Tells a client of ours that somebody wants this daemon to end: it is not to start another.
    fn tell_stopping(&self) {
        if !self.is_foreign() {
            // However far behind it is: it would start another.
            let begun = self.requests().values().filter(|running| !running.waits).count();
            self.out.push([notes::frame("daemon.stopping", &json!({ "begun": begun }))]);
        }
    }

    /// Waits until nothing is asked any more that can be answered.
    async fn answered(&self) {
        loop {
            tokio::time::sleep(LAST_LOOK).await;
            if self.requests().values().all(|running| running.waits) {
                return;
            }
        }
    }

    fn tell_announced(&self) {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match announced.try_recv() {
                Ok(frame) => drop(self.out.push_note(frame)),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    /// Whether a client of carryOn's is here, which never said that it speaks our own protocol.
    pub(crate) fn is_foreign(&self) -> bool {
        !self.door.clients.is_native(self.caller.id)
    }

    /// A client typed at a session: one of carryOn's is asked for its size if somebody else said theirs
    /// last.
    fn typed(&self, session: SessionId, native: &str) {
        if self.door.sizers.typed(session, self.caller.id) && self.is_foreign() {
            // An id of a session fits a frame.
            let request = binary::encode(kind::RESIZE_REQUEST, native, b"").unwrap_or_default();
            self.out.push([Bytes::from(request)]);
        }
    }

    /// Sends an answer.
    fn respond(&self, id: &Value, message: &[u8]) {
        self.out.push_now(framed(id, message));
    }

    /// Answers a request in the very turn in which its answer came to be, if there is room for that; says
    /// whether it did. What happened before is told before.
    pub(crate) fn answer_now(
        &self,
        Asked { id, serial, .. }: &Asked,
        value: &impl Serialize,
    ) -> bool {
        // Who takes it away answers it.
        if !self.out.has_room() || self.requests().remove(serial).is_none() {
            return false;
        }
        self.tell();
        self.respond(id, &rpc::response(id, value));
        self.give_way();
        true
    }

    /// Lets a client that waits for nothing else have the answer it was sent.
    fn give_way(&self) {
        if self.out.is_empty() && self.requests().is_empty() {
            greenroom_door::give_way();
        }
    }

    /// Waits until what was typed before this was asked is taken, for as long as that is wanted.
    pub(crate) async fn caught_up(&self, before: u64) {
        let mut taken = self.taken.subscribe();
        // The connection has the sender: it is not closed.
        let taken = taken.wait_for(|&taken| taken >= before);
        let _late = tokio::time::timeout(LAST_WORDS, taken).await;
    }

    /// Cancels a request of this connection; false if it does not run.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let (requests, id) = (self.requests(), id.to_string());
        let found = requests.values().rev().find(|running| running.id == id);
        found.map(|running| running.cancel.notify_one()).is_some()
    }

    fn requests(&self) -> MutexGuard<'_, BTreeMap<u64, Running>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer in its frame; one that is too long for a frame says so instead.
fn framed(id: &Value, message: &[u8]) -> Option<Bytes> {
    let frame = binary::encode(kind::JSON_RPC, "", message).or_else(|error| {
        let data = json!({"kind": "limit", "hint": "ask for fewer lines"});
        let text = format!("the answer is too long: {error}");
        let message = rpc::error(id, rpc::INTERNAL_ERROR, &text, &data);
        binary::encode(kind::JSON_RPC, "", &message)
    });
    frame.ok().map(Bytes::from)
}

/// Reads frames until the client has no more.
async fn read(connection: Arc<Connection>, mut socket: Reader) {
    let mut decoder = FrameDecoder::default();
    let mut requests = JoinSet::new();
    let mut hands = Hands::default();
    loop {
        while hands.has_room() {
            match decoder.next() {
                Ok(Some(frame)) if frame.kind == kind::JSON_RPC => {
                    while requests.len() >= MAX_REQUESTS {
                        requests.join_next().await;
                    }
                    match rpc::Request::from_wire(&frame.payload) {
                        Ok(asked) => request(&connection, asked, &mut requests),
                        Err(_) => refuse(&connection).await,
                    }
                }
                Ok(Some(frame)) => hands.give(&connection, frame).await,
                Ok(None) => break,
                Err(error) => {
                    tracing::info!(client = %connection.caller.name, %error, "a connection was closed");
                    return;
                }
            }
        }
        let wanted = hands.has_room();
        tokio::select! {
            there_is = more(&mut socket, &mut decoder, wanted) => if !there_is { break },
            () = hands.done(&connection) => {}
            Some(_) = requests.join_next() => {}
        }
    }
    let _late = tokio::time::timeout(LAST_WORDS, hands.finish(&connection)).await;
    // Somebody who sent a request and closed their end still wants the answer; nobody waits for
    // what may never come.
    connection.streams.clear();
    let waits = |running: &&Running| running.waits;
    connection.requests().values().filter(waits).for_each(|it| it.cancel.notify_one());
    let rest = async { while requests.join_next().await.is_some() {} };
    let _late = tokio::time::timeout(LAST_WORDS, rest).await;
}

/// Reads more if that is wanted, else only notices that the client is gone; false if it is.
async fn more(socket: &mut Reader, decoder: &mut FrameDecoder, wanted: bool) -> bool {
    if !wanted {
        hung_up(socket).await;
        return false;
    }
    let buffer = decoder.buffer();
    buffer.reserve(READ_BYTES);
    matches!(socket.read_buf(buffer).await, Ok(1..))
}

/// Ends when the client is gone although what it sent is not all read: it may have typed at a
/// program that never reads. Only asked while a frame takes long.
pub(crate) async fn hung_up(socket: &Reader) {
    loop {
        tokio::time::sleep(LOOK_AROUND).await;
        let mut polled = [PollFd::from_borrowed_fd(socket.socket(), PollFlags::RDHUP)];
        let gone = rustix::event::poll(&mut polled, Some(&Timespec::default()));
        if gone.is_err() || !polled[0].revents().is_empty() {
            return;
        }
    }
}

/// Takes a frame that is no request.
pub(crate) async fn take(connection: Arc<Connection>, frame: Frame) {
    let connection = &connection;
    if *connection.attaching.borrow() > 0 {
        let mut attaching = connection.attaching.subscribe();
        // The connection has the sender: it is not closed.
        drop(attaching.wait_for(|&count| count == 0).await);
    }
    if tmux::takes(connection, &frame).await {
        return;
    }
    match frame.kind {
        kind::INPUT => {
            if let Some(stream) = connection.streams.by_stream(&frame.id) {
                input(connection, &stream, frame.payload).await;
            }
        }
        kind::TYPED => {
            if let Some(stream) = connection.streams.by_stream(&frame.id) {
                typed_alone(connection, &stream, frame.payload).await;
            }
        }
        kind::TERMINAL_DATA => match connection.streams.by_session(&frame.id) {
            Some(stream) => input(connection, &stream, frame.payload).await,
            None => stray_input(connection, &frame).await,
        },
        kind::RESIZE => resize(connection, &frame).await,
        kind::STREAM_CLOSE => {
            let by_session = connection.streams.by_session(&frame.id);
            let id = by_session.map_or(frame.id, |it| crate::streams::stream_id(it.subscription));
            if let Some(stream) = connection.streams.by_stream(&id) {
                // First the word, then the silence: it is not cut off, it leaves.
                connection.door.engine.detach(stream.session, stream.subscription).await;
                connection.streams.remove(&id);
            }
        }
        // Frames this version does not know are skipped, as the contract says.
        _ => {}
    }
}

async fn input(connection: &Connection, stream: &Stream, bytes: Bytes) {
    let engine = &connection.door.engine;
    connection.typed(stream.session, &stream.native);
    let typed = engine.input(&connection.caller, stream.session, stream.subscription, bytes);
    if let Err(error) = typed.await {
        tracing::debug!(%error, "input was not taken");
    }
}

/// What a client typed by itself, at a terminal it was lent.
async fn typed_alone(connection: &Connection, stream: &Stream, payload: Bytes) {
    let Ok(Typed { at, bytes }) = Typed::from_payload(payload) else { return };
    connection.typed(stream.session, &stream.native);
    let (engine, typed) = (&connection.door.engine, (Offset(at), bytes));
    let told = engine.typed(&connection.caller, stream.session, stream.subscription, typed);
    if let Err(error) = told.await {
        tracing::debug!(%error, "what was typed is not known");
    }
}

/// Input for a session this connection has not attached to: carryOn's frames allow it.
async fn stray_input(connection: &Connection, frame: &Frame) {
    let engine = &connection.door.engine;
    let Ok(id) = engine.find(&frame.id) else { return };
    connection.typed(id, &frame.id);
    let typed = engine::Typed::Bytes(frame.payload.clone());
    if let Err(error) = engine.type_in(&connection.caller, id, typed, false).await {
        tracing::debug!(%error, "input was not taken");
    }
}

async fn resize(connection: &Connection, frame: &Frame) {
    let engine = &connection.door.engine;
    let Ok(value) = serde_json::from_slice::<Value>(&frame.payload) else { return };
    let Some(size) = size_of(&value) else { return };
    let stream = connection.streams.by_stream(&frame.id);
    let stream = stream.or_else(|| connection.streams.by_session(&frame.id));
    let session = stream.as_ref().map_or_else(|| engine.find(&frame.id), |it| Ok(it.session));
    let Ok(session) = session else { return };
    connection.door.sizers.sized(session, connection.caller.id);
    let resized = match stream {
        Some(stream) => engine.sized(session, stream.subscription, size).await,
        None => engine.resize(&connection.caller, session, size).await,
    };
    if let Err(error) = resized {
        tracing::debug!(%error, "a size was not taken");
    }
}

/// Answers what is no request. Who does not read the answers is not read any more.
async fn refuse(connection: &Connection) {
    connection.out.room().await;
    let answer = rpc::error(&Value::Null, rpc::PARSE_ERROR, "Parse error", &Value::Null);
    connection.respond(&Value::Null, &answer);
}

/// Starts a request.
fn request(connection: &Arc<Connection>, request: rpc::Request, requests: &mut JoinSet<()>) {
    let connection = Arc::clone(connection);
    let id = request.id.unwrap_or_default();
    let cancel = Arc::new(Notify::new());
    let serial = connection.next_request.fetch_add(1, Ordering::Relaxed);
    let waits = request.method == methods::WAIT;
    let running = Running { id: id.to_string(), cancel: Arc::clone(&cancel), waits };
    connection.requests().insert(serial, running);
    let attaches = usize::from(request.method == methods::ATTACH);
    connection.attaching.send_modify(|count| *count += attaches);
    let came = connection.came.load(Ordering::Relaxed);
    let asked = Asked { id, serial, came };
    requests.spawn(async move {
        let params = Params(request.params, asked.clone());
        let method = methods::call(&connection, &request.method, params);
        let result = tokio::select! {
            result = method => result,
            () = cancel.notified() => Err(RpcError::cancelled()),
        };
        connection.out.room().await;
        let is_open = connection.requests().remove(&serial).is_some();
        if is_open {
            answer(&connection, &asked.id, result);
        }
        connection.attaching.send_modify(|count| *count -= attaches);
        if is_open {
            connection.give_way();
        }
    });
}

/// Sends the answer to a request: after what it caused, before what follows from it.
fn answer(connection: &Connection, id: &Value, result: Result<Answer, RpcError>) {
    match result {
        Ok(Answer { value, then }) => {
            if then.is_none() {
                connection.tell();
            }
            connection.respond(id, &rpc::response(id, &value));
            if let Some(then) = then {
                then();
            }
        }
        Err(error) => {
            let answer = rpc::error(id, error.code, &error.message, &error.data);
            connection.respond(id, &answer);
        }
    }
}
