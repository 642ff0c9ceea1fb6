//! One connection: takes messages, runs requests side by side, and answers.
//!
//! Which request runs behind which is said in `order`. Only for a script that was piped in, whose end
//! follows at once, everything runs in its order, waits included: that is seen here, where the end is.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_door::{Outgoing, Shutdown};
use greenroom_engine::{Caller, Rights};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::answer::Answer;
use crate::cancels::Target;
use crate::deeds::{Deed, Doing};
use crate::envelope::{Asked, Request};
use crate::error::RpcError;
use crate::framing::{Came, Decoder, Framing};
use crate::methods::{self, Order};
use crate::notes::Notes;
use crate::order::{Before, Busy, Queue, Unanswered};
use crate::sessions::name;
use crate::typing::{Desk, Typing};
use crate::{Door, notes};

/// How many requests of one connection may be under way. Past that it is not read until one is done.
const MAX_REQUESTS: usize = 1024;

/// How much is read at once.
const READ_BYTES: usize = 32 << 10;

/// How long answers have to be written after the last of them was made.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long what a client asked for may take to be done when it is gone: a prompt may wait that long for its composer.
const LAST_DEEDS: Duration = Duration::from_secs(25);

/// How long what follows a wait is held back to see whether the end of a script follows, too.
const SCRIPT: Duration = Duration::from_millis(30);

/// How often to see whether a client that said its last word is still there.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// Who is at the other end, and how they speak.
#[derive(Debug)]
pub struct Client {
    /// How messages are framed.
    pub framing: Framing,
    /// How the audit trail names them.
    pub name: String,
    /// Whether requests that were sent before the end of the stream are finished, however long they take:
    /// a script that was piped in wants its answers. Otherwise nobody waits for a client that left.
    pub finishes: bool,
    /// The socket, to see whether somebody who said their last word is still there.
    pub socket: Option<Arc<OwnedFd>>,
}

impl Client {
    /// Waits until the client is gone altogether, and not only has nothing more to say.
    async fn gone(&self) {
        let Some(socket) = &self.socket else { return std::future::pending().await };
        loop {
            let mut polled = [PollFd::new(socket, PollFlags::empty())];
            let looked = rustix::event::poll(&mut polled, Some(&Timespec::default()));
            if looked.is_err() || polled[0].revents().contains(PollFlags::HUP) {
                return;
            }
            tokio::time::sleep(LOOK_AROUND).await;
        }
    }
}

/// One connection, as its tasks share it.
pub(crate) struct Connection {
    pub(crate) door: Arc<Door>,
    pub(crate) caller: Caller,
    pub(crate) notes: Notes,
    out: Outgoing,
    /// Whether answers have headers; decided by the first message.
    headers: Mutex<bool>,
    queue: Mutex<Queue>,
    desk: Desk,
    doing: Doing,
    /// Requests that are answered before notifications.
    pub(crate) busy: Busy,
    /// Held by who tells something.
    telling: tokio::sync::Mutex<()>,
    /// Whether the client has said its last word.
    finished: watch::Sender<bool>,
    /// Whether what the terminal does not take is given up.
    given_up: watch::Sender<bool>,
}

/// Serves a connection until its end, or the daemon's. Gives what was wrong with the stream, if its end
/// was not the client's wish.
pub async fn serve<R, W>(
    (reader, writer): (R, W),
    client: Client,
    door: Arc<Door>,
    shutdown: Shutdown,
) -> Option<String>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let caller = Caller {
        id: door.engine.next_client(),
        rights: Rights::ALL,
        name: client.name.clone().into(),
    };
    let connection = Arc::new(Connection {
        door,
        caller,
        notes: Notes::default(),
        out: Outgoing::to(client.socket.clone()),
        headers: Mutex::new(client.framing == Framing::Headers),
        queue: Mutex::default(),
        desk: Desk::default(),
        doing: Doing::default(),
        busy: Busy::default(),
        telling: tokio::sync::Mutex::default(),
        finished: watch::Sender::new(false),
        given_up: watch::Sender::new(false),
    });
    let reading = async {
        let broken = read(&connection, reader, &client).await;
        connection.notes.stop();
        connection.out.close();
        broken
    };
    let telling = notes::tell(&connection);
    let writing = connection.out.write_to(writer);
    tokio::pin!(writing);
    tokio::pin!(reading);
    let mut broken = None;
    let ended = tokio::select! {
        _ = &mut writing => {
            // Nobody reads any more: what was asked for is done all the same.
            connection.out.close();
            let _late = tokio::time::timeout(LAST_WORDS + LAST_DEEDS, reading).await;
            return None;
        }
        result = &mut reading => {
            broken = result;
            true
        }
        () = telling => false,
        () = shutdown.begun() => false,
    };
    if !ended {
        connection.notes.stop();
        connection.out.close();
    }
    if ended && client.finishes {
        // As a program in a pipe: for as long as somebody may still read.
        let _gone = writing.await;
    } else {
        let _late = tokio::time::timeout(LAST_WORDS, writing).await;
    }
    broken
}

/// Reads messages until the client has no more, and sees its requests to their end. Gives why it was
/// not read any further.
async fn read(
    connection: &Arc<Connection>,
    mut reader: impl AsyncRead + Unpin,
    client: &Client,
) -> Option<String> {
    let mut decoder = Decoder::new(client.framing);
    let mut requests = JoinSet::new();
    let mut together = Vec::new();
    loop {
        loop {
            let message = match decoder.next() {
                Came::Nothing => break,
                Came::Message(message) => message,
                Came::Refused(error) => {
                    connection.respond(&Value::Null, Err(RpcError::parse(error)));
                    continue;
                }
                Came::Broken(error) => {
                    tracing::info!(client = %connection.caller.name, %error, "a connection was closed");
                    return Some(error.to_string());
                }
            };
            *lock(&connection.headers) = decoder.has_headers();
            while requests.len() >= MAX_REQUESTS {
                requests.join_next().await;
            }
            take(connection, &message, &mut requests, &mut together);
        }
        let now = Instant::now();
        together.retain(|wait: &Waiting| now - wait.at < SCRIPT && wait.is_pending());
        let buffer = decoder.buffer();
        buffer.reserve(READ_BYTES);
        tokio::select! {
            read = reader.read_buf(buffer) => match read {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            },
            Some(_) = requests.join_next() => {}
        }
        // A client that does not read its answers is not read from.
        connection.out.room().await;
    }
    if let Some(message) = decoder.rest() {
        take(connection, &message, &mut requests, &mut together);
    }
    let broken = decoder.is_inside().then(|| "the input ended inside a message".to_owned());
    connection.finished.send_replace(true);
    let rest = see_to_their_end(connection, &mut requests);
    if client.finishes {
        rest.await;
        connection.notes.settle(&connection.door).await;
    } else {
        // Who only said its last word still wants its answers; who is gone may have waits without end. What is wanted
        // done is done in any case.
        let done = async {
            let _gone = tokio::time::timeout(LAST_WORDS, client.gone()).await;
            let _late = tokio::time::timeout(LAST_DEEDS, connection.doing.over()).await;
        };
        tokio::select! {
            () = rest => {}
            () = done => {}
        }
    }
    broken
}

/// Waits until all requests are answered. Those that wait for nothing but a terminal that takes no more are
/// told that it is over: nobody is left who could make the program read.
async fn see_to_their_end(connection: &Connection, requests: &mut JoinSet<()>) {
    let mut moved = Instant::now();
    while !requests.is_empty() {
        if lock(&connection.queue).stuck() < requests.len() {
            moved = Instant::now();
        }
        connection.given_up.send_replace(moved.elapsed() >= LAST_WORDS);
        tokio::select! {
            _ = requests.join_next() => moved = Instant::now(),
            () = tokio::time::sleep(LOOK_AROUND) => {}
        }
    }
}

/// A wait that was sent a moment ago.
struct Waiting {
    on: String,
    at: Instant,
    /// Closed when it is answered.
    answered: watch::Receiver<()>,
}

impl Waiting {
    fn is_pending(&self) -> bool {
        self.answered.has_changed().is_ok()
    }
}

/// Starts a request. `together` are the waits that came a moment before it.
fn take(
    connection: &Arc<Connection>,
    message: &[u8],
    requests: &mut JoinSet<()>,
    together: &mut Vec<Waiting>,
) {
    // A blank line is none; a message whose header says that it is empty is one, and no JSON.
    if connection.framing() == Framing::Lines && message.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let mut request = match Request::from_wire(message) {
        Ok(request) => request,
        Err((Some(id), error)) => return connection.respond(&id, Err(error)),
        Err((None, _)) => return,
    };
    if let Some(wait_id) = methods::cancels(&request) {
        request.params.cancelled = connection.door.cancels.cancel(&wait_id);
    }
    let order = methods::order(&request);
    if order.types() {
        match connection.desk.place(message.len()) {
            Ok(place) => request.params.typing.take(place),
            Err(error) => return connection.refuse(&request, error),
        }
    }
    let before = connection.line_up(&order, &request.params.typing);
    if methods::does_something(&request) {
        request.params.doing = Deed::of(connection.doing.one());
    }
    let (answered, waiting) = watch::channel(());
    let (mut script, mut unnamed) = (Vec::new(), None);
    if let Order::On { on, waits, .. } = &order {
        let key = connection.key(on);
        let same = together.iter().filter(|wait| wait.on == key && wait.is_pending());
        script.extend(same.map(|wait| (wait.at, wait.answered.clone())));
        if let Some(wait_id) = waits {
            let target = match request.method.starts_with("adapter.") {
                true => Target::Adapter(on.clone()),
                false => Target::Session(key.clone()),
            };
            // Now, so that a cancel that comes right behind it finds it.
            match connection.door.cancels.name(wait_id.clone(), target.clone()) {
                Ok(named) => request.params.named = named,
                // In a script, who has the name may be done when it is this one's turn.
                Err(_) if !script.is_empty() => unnamed = Some((wait_id.clone(), target)),
                Err(error) => return connection.refuse(&request, error),
            }
            together.push(Waiting { on: key, at: Instant::now(), answered: waiting });
        }
    }
    let connection = Arc::clone(connection);
    requests.spawn(async move {
        let queued = async {
            let overtaken = before.over(&request.params.typing).await;
            for (at, answered) in script {
                connection.let_before(at, answered).await;
            }
            overtaken
        };
        let overtaken = tokio::select! {
            biased;
            () = request.params.named.cancelled() => {
                return connection.refuse(&request, RpcError::cancelled());
            }
            overtaken = queued => overtaken,
        };
        if let Some((wait_id, target)) = unnamed {
            match connection.door.cancels.name(wait_id, target) {
                Ok(named) => request.params.named = named,
                Err(error) => return connection.refuse(&request, error),
            }
        }
        if order.is_wait() {
            // A wait lets the next go on at once; everything else when it is answered.
            request.params.typing.let_go();
        }
        let busy = connection.is_busy(&order);
        let called = async {
            match overtaken && connection.is_gone(&order) {
                true => Err(RpcError::closed()),
                false => call(&connection, &request, (&order, &busy)).await,
            }
        };
        let result = request.params.named.unless_cancelled(called).await;
        if !connection.takes_answer() {
            // Who is cancelled does not wait for who does not read.
            drop(request.params.cancelled.take());
        }
        connection.out.room().await;
        if let Some(id) = request.params.asked.answer() {
            connection.respond(id, result);
        }
        drop((request, answered, busy));
    });
}

/// Calls a method. Notifications do not wait for one that waits for the terminal, or types slowly.
async fn call(
    connection: &Arc<Connection>,
    request: &Request,
    (order, busy): (&Order, &Unanswered),
) -> Result<Answer, RpcError> {
    let calling = methods::call(connection, request);
    tokio::pin!(calling);
    if !order.types() {
        return calling.await;
    }
    tokio::select! {
        result = &mut calling => return result,
        () = request.params.typing.is_late() => busy.let_notes_go(),
    }
    let mut given_up = connection.given_up.subscribe();
    tokio::select! {
        result = calling => result,
        _ = given_up.wait_for(|given_up| *given_up) => Err(RpcError::closed()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Answers a request that cannot run.
    fn refuse(&self, request: &Request, error: RpcError) {
        if let Some(id) = request.params.asked.answer() {
            self.respond(id, Err(error));
        }
    }

    /// Sends an answer.
    fn respond(&self, id: &Value, result: Result<Answer, RpcError>) {
        match result {
            Ok(answer) => self.send(id, answer),
            Err(error) => self.push(error.to_wire(id)),
        }
    }

    /// Whether there is room for an answer in the very turn in which it came to be.
    pub(crate) fn takes_answer(&self) -> bool {
        self.out.has_room()
    }

    /// Answers a request in that turn. To be called where there is room for it.
    pub(crate) fn respond_now(&self, asked: &Asked, answer: Answer) {
        if let Some(id) = asked.answer() {
            self.send(id, answer);
            greenroom_door::give_way();
        }
    }

    /// How this client wants messages framed.
    fn framing(&self) -> Framing {
        if *lock(&self.headers) { Framing::Headers } else { Framing::Lines }
    }

    /// Tells something that nobody asked for.
    pub(crate) fn note(&self, method: &str, params: &Value) {
        // Who said that it wants no more of them gets none behind the answer to that.
        if !self.notes.are_wanted() {
            return;
        }
        let message = greenroom_frame::rpc::notification(method, params);
        self.push(message);
    }

    /// Sends an answer at once, in pieces if it is long: its reader begins while the rest is made.
    fn send(&self, id: &Value, answer: Answer) {
        let framing = self.framing();
        if framing.tells_length() {
            let mut message = Vec::new();
            if let Some(mut rest) = answer.into_wire(id, framing.end(), &mut message) {
                while rest(&mut message) {}
            }
            let begin = framing.begin(message.len());
            return self.out.push_now([begin.into(), message.into()]);
        }
        let (mut answer, mut rest) = (Some(answer), None);
        self.out.write_now(|out| {
            if let Some(answer) = answer.take() {
                rest = answer.into_wire(id, framing.end(), out);
                return rest.is_some();
            }
            rest.as_mut().is_some_and(|rest| rest(out))
        });
    }

    fn push(&self, mut message: Vec<u8>) {
        let framing = self.framing();
        message.extend_from_slice(framing.end().as_bytes());
        self.out.push([framing.begin(message.len()).into(), message.into()]);
    }

    /// Waits until the client has room to be told something; nobody else tells it anything until what is
    /// returned is dropped, so that all together tell no more than there is room for.
    pub(crate) async fn turn_to_tell(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let turn = self.telling.lock().await;
        self.out.room().await;
        turn
    }

    /// In a script, waits until one is answered that was sent at that time.
    async fn let_before(&self, at: Instant, mut answered: watch::Receiver<()>) {
        let is_script = tokio::select! {
            _closed = answered.changed() => false,
            is_script = self.is_script(at) => is_script,
        };
        if is_script {
            let _closed = answered.changed().await;
        }
    }

    /// Whether the end of all requests comes right after a wait that was sent then.
    async fn is_script(&self, at: Instant) -> bool {
        let mut finished = self.finished.subscribe();
        let ends = finished.wait_for(|finished| *finished);
        tokio::time::timeout_at(at + SCRIPT, ends).await.is_ok()
    }

    /// What a session or adapter is called in the order of requests, however the client calls it.
    ///
    /// Numbers are taken as they are: what they name may only be made by a request before this one.
    fn key(&self, on: &str) -> String {
        let numbered = |prefix: char| {
            let number = on.strip_prefix(prefix)?;
            (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
                .then(|| on.to_owned())
        };
        let named = || self.door.session_of(on).map(name);
        numbered('s').or_else(|| numbered('e')).or_else(named).unwrap_or_else(|| on.to_owned())
    }

    /// Takes a place behind what a request must wait for; the next is behind it.
    fn line_up(&self, order: &Order, typing: &Typing) -> Before {
        let key = match order {
            Order::On { on, .. } => self.key(on),
            Order::AtOnce | Order::All => String::new(),
        };
        lock(&self.queue).line_up(order, key, typing)
    }

    /// Holds notifications back until what is returned is dropped.
    fn is_busy(&self, order: &Order) -> Unanswered {
        match order {
            Order::On { on, waits: None, .. } => self.busy.on(self.door.session_of(on)),
            Order::On { .. } | Order::AtOnce => self.busy.on(None),
            Order::All => self.busy.maker(),
        }
    }

    /// Whether what a request is on is no more.
    fn is_gone(&self, order: &Order) -> bool {
        matches!(order, Order::On { on, .. } if self.door.session_of(on).is_none())
    }
}
