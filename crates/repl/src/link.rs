//! Calls: one at a time, each until its answer, or until a person has had enough.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use greenroom_frame::rpc::{self, ErrorObject};
use serde_json::{Value, json};

use crate::interrupt::Presses;
use crate::notes::{LOST, LOST_SOCKET, Note};
use crate::server::{self, Connection, Ears, Event, Strange};
use crate::{Error, Framing, Server};

/// What is to be said anew on every connection.
const SET_NOTIFICATIONS: &str = "server.set_notifications";

/// How long a server that listens already, or says something else, has for its first answer: a few
/// milliseconds are usual, and a person begins to wonder.
const SOON: Duration = Duration::from_secs(5);

/// How long a program has that says nothing: it may have to ask somebody, far away.
const LATE: Duration = Duration::from_secs(30);

/// How long a server that was started here has to end its sessions before it is killed.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why a call gave nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server says why.
    Server(ErrorObject),
    /// It was asked for in a way that makes no sense.
    Usage(String),
    /// There is no server any more.
    Lost,
    /// Ctrl+c.
    Interrupted,
    /// What it gives cannot be written, and why.
    Output(String),
}

impl Fault {
    pub(crate) fn usage(text: impl Into<String>) -> Fault {
        Fault::Usage(text.into())
    }
}

/// The console's end of a connection.
pub(crate) struct Link {
    connection: RefCell<Connection>,
    server: Server,
    framing: Framing,
    ears: Ears,
    events: Receiver<Event>,
    presses: Arc<Presses>,
    /// What a server was told last of the notifications that are wanted.
    notifications: RefCell<Option<Value>>,
    last_id: Cell<u64>,
    is_lost: Cell<bool>,
    /// Whether there is another server that was not told yet what is wanted, and nobody of it.
    is_unsettled: Cell<bool>,
    /// Whether a person knows that it is lost.
    is_told: Cell<bool>,
}

impl Link {
    /// Reaches a server; gives what it says of its own accord, too.
    pub(crate) fn open(
        server: &Server,
        framing: Framing,
        presses: Arc<Presses>,
    ) -> Result<(Link, Receiver<Note>), Error> {
        let (ears, events, notes) = server::ears(&presses);
        let link = Link {
            connection: RefCell::new(server::open(server, framing, ears.clone())?),
            server: server.clone(),
            framing,
            ears,
            events,
            presses,
            notifications: RefCell::default(),
            last_id: Cell::new(0),
            is_lost: Cell::new(false),
            is_unsettled: Cell::new(false),
            is_told: Cell::new(false),
        };
        Ok((link, notes))
    }

    /// Where ctrl+c is told once it was counted.
    pub(crate) fn events(&self) -> Sender<Event> {
        self.ears.events.clone()
    }

    /// Reaches a server again that was lost, if another may listen at its socket by now, and tells it what
    /// is wanted; whether that was done. What an interrupt keeps from being told is told the next time.
    pub(crate) fn reconnect(&self) -> Result<bool, Fault> {
        self.catch_up();
        if self.is_lost.get() && self.connection.borrow().is_socket() {
            self.open_again()?;
        }
        if !self.is_unsettled.get() {
            return Ok(false);
        }
        let wanted = self.notifications.borrow().clone();
        let told = wanted.map_or(Ok(Value::Null), |it| self.call(SET_NOTIFICATIONS, &it));
        if matches!(told, Err(Fault::Interrupted | Fault::Lost)) {
            return told.map(|_| true);
        }
        // Who refuses it would refuse it the next time as well.
        self.is_unsettled.set(false);
        // Who reads no notes need not know.
        let _full = self.ears.notes.try_send(Note::Found);
        told.map(|_| true)
    }

    /// Reaches the server that listens now, if it is one of this protocol.
    fn open_again(&self) -> Result<(), Fault> {
        let Ok(connection) = server::open(&self.server, self.framing, self.ears.clone()) else {
            return Err(self.lost());
        };
        self.connection.replace(connection);
        self.is_lost.set(false);
        if self.greet(|| ()).is_err() {
            self.abandon();
            // Its end is not to be taken for that of the next one.
            self.hears_end();
            self.is_lost.set(true);
            return Err(self.lost());
        }
        self.is_unsettled.set(true);
        Ok(())
    }

    /// What is said of a server that was lost.
    pub(crate) fn lost_text(&self) -> &'static str {
        if self.connection.borrow().is_socket() { LOST_SOCKET } else { LOST }
    }

    /// Sees that a server of this protocol is there, and in this framing: gives its capabilities.
    ///
    /// `waiting` is called if it takes its time.
    pub(crate) fn greet(&self, waiting: impl FnOnce()) -> Result<Value, Error> {
        let other = self.framing.other();
        let Ok(id) = self.send("server.capabilities", &Value::Null) else {
            return Err(Error::NoServer { said: None, other });
        };
        let mut began = Instant::now();
        let mut waiting = Some(waiting);
        let mut said = None;
        loop {
            // A program may have a long way to go before it hears us, such as by ssh.
            let is_quick = said.is_some() || self.connection.borrow().is_socket();
            let patience = if is_quick || waiting.is_some() { SOON } else { LATE };
            let left = patience.saturating_sub(began.elapsed());
            match self.events.recv_timeout(left) {
                // An error is an answer, too.
                Ok(Event::Answer(of, answer)) if of == id => return Ok(answer.unwrap_or_default()),
                Ok(Event::Answer(..)) => {}
                Ok(Event::Strange(Strange::OtherFraming)) => {
                    return Err(Error::OtherFraming { other });
                }
                // What a shell says before it starts the server, perhaps.
                Ok(Event::Strange(Strange::Text(text))) => {
                    (said, began) = (Some(text), Instant::now());
                }
                Ok(Event::Interrupt) if !self.presses.take() => {}
                Ok(Event::Interrupt) => return Err(Error::Interrupted),
                Ok(Event::Lost { .. }) | Err(RecvTimeoutError::Disconnected) => {
                    self.is_lost.set(true);
                    return Err(Error::NoServer { said, other });
                }
                Err(RecvTimeoutError::Timeout) => match waiting.take() {
                    Some(waiting) if !is_quick => waiting(),
                    _ => return Err(Error::NoAnswer { seconds: patience.as_secs(), said, other }),
                },
            }
        }
    }

    /// A number nothing else has here.
    pub(crate) fn next_id(&self) -> u64 {
        self.last_id.set(self.last_id.get() + 1);
        self.last_id.get()
    }

    /// Looks at what happened while nobody waited.
    pub(crate) fn catch_up(&self) {
        while let Ok(event) = self.events.try_recv() {
            if let Event::Lost { is_noted } = event {
                self.is_lost.set(true);
                self.is_told.set(is_noted);
            }
        }
    }

    /// Whether it was lost without anybody being told; who asks tells.
    pub(crate) fn is_newly_lost(&self) -> bool {
        self.catch_up();
        self.is_lost.get() && !self.is_told.replace(true)
    }

    /// Calls a method.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        // Ctrl+c that nobody has heeded yet is about this as well.
        if self.presses.take() {
            return Err(Fault::Interrupted);
        }
        let id = self.send(method, params)?;
        let mut is_cancelled = false;
        loop {
            match self.events.recv() {
                Ok(Event::Answer(of, result)) if of == id => {
                    if method == SET_NOTIFICATIONS && result.is_ok() {
                        self.notifications.replace(Some(params.clone()));
                    }
                    return result.map_err(Fault::Server);
                }
                // The answer to something that was given up.
                Ok(Event::Answer(..) | Event::Strange(_)) => {}
                // Somebody did something about it before.
                Ok(Event::Interrupt) if !self.presses.take() => {}
                Ok(Event::Interrupt) if is_cancelled => return Err(Fault::Interrupted),
                Ok(Event::Interrupt) => {
                    let Some((method, wait)) = cancelling(method, params) else {
                        return Err(Fault::Interrupted);
                    };
                    self.send(method, &json!({ "wait_id": wait }))?;
                    is_cancelled = true;
                }
                Ok(Event::Lost { .. }) | Err(_) => {
                    self.is_lost.set(true);
                    return Err(self.lost());
                }
            }
        }
    }

    fn send(&self, method: &str, params: &Value) -> Result<u64, Fault> {
        if self.is_lost.get() {
            return Err(self.lost());
        }
        let id = self.next_id();
        let message = rpc::request(id, method, params);
        let sent = self.connection.borrow_mut().send(message);
        sent.map(|()| id).map_err(|_| self.lost())
    }

    /// A person is told by the error.
    fn lost(&self) -> Fault {
        self.is_told.set(true);
        Fault::Lost
    }

    /// Ends the connection, and a server that was started for it.
    pub(crate) fn close(&self) {
        let mut connection = self.connection.borrow_mut();
        connection.finish();
        let Some(mut child) = connection.take_child() else { return };
        // It ends its sessions first, and then its output.
        let ended = self.hears_end();
        if !ended {
            child.kill().unwrap_or_default();
        }
        // Whatever its status, there is nobody to tell.
        let _status = child.wait();
    }

    /// Waits for the end of what the server says; whether it came.
    fn hears_end(&self) -> bool {
        while !self.is_lost.get() {
            match self.events.recv_timeout(FAREWELL) {
                Ok(Event::Lost { .. }) => self.is_lost.set(true),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Ends a server that never answered: there is nothing it would have to bring to an end.
    pub(crate) fn abandon(&self) {
        let mut connection = self.connection.borrow_mut();
        connection.finish();
        if let Some(mut child) = connection.take_child() {
            child.kill().unwrap_or_default();
            let _status = child.wait();
        }
    }
}

/// How a wait that is under way is cancelled: by which method, and its name.
fn cancelling<'a>(method: &str, params: &'a Value) -> Option<(&'static str, &'a Value)> {
    match method {
        "session.wait" => Some(("session.cancel_wait", params.get("wait_id")?)),
        "adapter.wait" => Some(("adapter.cancel_wait", params.get("wait_id")?)),
        "adapter.turn" => Some(("adapter.cancel_wait", params.get("wait")?.get("wait_id")?)),
        _ => None,
    }
}
