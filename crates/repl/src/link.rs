//! Calls: one at a time, each until its answer, or until a person has had enough.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use greenroom_frame::rpc::{self, ErrorObject};
use serde_json::{Value, json};

use crate::interrupt::Presses;
use crate::server::{Connection, Event};

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
}

impl Fault {
    pub(crate) fn usage(text: impl Into<String>) -> Fault {
        Fault::Usage(text.into())
    }
}

/// The console's end of a connection.
pub(crate) struct Link {
    connection: RefCell<Connection>,
    last_id: Cell<u64>,
    is_lost: Cell<bool>,
    presses: Arc<Presses>,
}

impl Link {
    /// A link, and where ctrl+c is to be told once it was counted.
    pub(crate) fn new(connection: Connection, presses: Arc<Presses>) -> (Link, Sender<Event>) {
        let events = connection.sender.clone();
        let connection = RefCell::new(connection);
        (Link { connection, last_id: Cell::new(0), is_lost: Cell::new(false), presses }, events)
    }

    /// A number nothing else has here.
    pub(crate) fn next_id(&self) -> u64 {
        self.last_id.set(self.last_id.get() + 1);
        self.last_id.get()
    }

    /// Looks at what happened while nobody waited.
    pub(crate) fn catch_up(&self) {
        while let Ok(event) = self.connection.borrow().events.try_recv() {
            if matches!(event, Event::Lost) {
                self.is_lost.set(true);
            }
        }
    }

    /// Calls a method.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        let id = self.send(method, params)?;
        let mut is_cancelled = false;
        loop {
            // Not borrowed while waiting for longer than this call: nothing else runs meanwhile.
            let event = self.connection.borrow().events.recv();
            match event {
                Ok(Event::Answer(of, result)) if of == id => return result.map_err(Fault::Server),
                // The answer to something that was given up.
                Ok(Event::Answer(..)) => {}
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
                Ok(Event::Lost) | Err(_) => {
                    self.is_lost.set(true);
                    return Err(Fault::Lost);
                }
            }
        }
    }

    fn send(&self, method: &str, params: &Value) -> Result<u64, Fault> {
        if self.is_lost.get() {
            return Err(Fault::Lost);
        }
        let id = self.next_id();
        let message = rpc::request(id, method, params);
        let sent = self.connection.borrow_mut().send(message);
        sent.map(|()| id).map_err(|_| Fault::Lost)
    }

    /// Ends the connection, and a server that was started for it.
    pub(crate) fn close(&self) {
        let mut connection = self.connection.borrow_mut();
        connection.finish();
        let Some(mut child) = connection.take_child() else { return };
        // It ends its sessions first, and then its output.
        let ended = self.is_lost.get()
            || loop {
                match connection.events.recv_timeout(FAREWELL) {
                    Ok(Event::Lost) => break true,
                    Ok(_) => {}
                    Err(_) => break false,
                }
            };
        if !ended {
            child.kill().unwrap_or_default();
        }
        // Whatever its status, there is nobody to tell.
        let _status = child.wait();
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
