//! One connection: who it is with, how it answers, and its end; `requests` takes what it is asked.
//!
//! Which request runs behind which is said in `order`. Only for a script that was piped in, whose end
//! follows at once, everything runs in its order, waits included: that is seen here, where the end is.

mod requests;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_door::{Outgoing, Shutdown};
use greenroom_engine::{Caller, Rights};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::Answer;
use crate::aside::Turns;
use crate::deeds::Doing;
use crate::envelope::{Asked, Request};
use crate::error::RpcError;
use crate::framing::Framing;
use crate::methods::Order;
use crate::notes::Notes;
use crate::order::{Before, Busy, Queue, Unanswered};
use crate::sessions::name;
use crate::typing::Typing;
use crate::{Door, notes};

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
    doing: Doing,
    turns: Turns,
    /// Held by an answer that is made aside, from then on until it is given: a client that does not read has one of them
    /// kept here.
    pub(crate) slow: tokio::sync::Mutex<()>,
    /// Whether the client is gone, and nobody waits any more.
    left: watch::Sender<bool>,
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
        doing: Doing::default(),
        turns: Turns::default(),
        slow: tokio::sync::Mutex::default(),
        left: watch::Sender::new(false),
        busy: Busy::default(),
        telling: tokio::sync::Mutex::default(),
        finished: watch::Sender::new(false),
        given_up: watch::Sender::new(false),
    });
    let reading = async {
        let broken = requests::read(&connection, reader, &client).await;
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
