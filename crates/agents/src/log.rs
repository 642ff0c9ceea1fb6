//! What was said last in a conversation, each message with its number, and how far each client is.
//!
//! A client is a position, not a queue: one that does not read costs nothing, and one that comes back
//! goes on behind the number it has seen. What concerns one client alone waits at its own position.
//!
//! Numbers only grow, also over a restart of the daemon: the first one of a log is the time it was
//! made. So a number from an earlier log lies before all of a later one.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::sync::Notify;

use crate::frames;

/// How many messages of its own may wait for a client that does not read: more than it can ask for
/// while it waits. Past that it is cut off.
const OWN_MAX: usize = 1024;

/// How many numbers a log has for each millisecond it lives, so that the next log is behind it. The
/// largest number stays exact in a double, which is what browsers count with.
const NUMBERS_PER_MS: u64 = 1000;

/// A client's number.
pub(crate) type ClientId = u64;

/// The messages of a conversation.
#[derive(Debug)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
    grown: Notify,
    /// Somebody left.
    left: Notify,
}

#[derive(Debug)]
struct Kept {
    frames: VecDeque<Arc<str>>,
    /// The number of the first one kept.
    first: u64,
    /// The number of the first one ever: smaller ones are of an earlier log.
    began: u64,
    bytes: usize,
    frames_max: usize,
    bytes_max: usize,
    readers: HashMap<ClientId, Reader>,
    is_closed: bool,
}

#[derive(Debug)]
struct Reader {
    /// The number of what it gets next.
    at: u64,
    /// What it alone gets, each as soon as it has got all before that number.
    own: VecDeque<(u64, Arc<str>)>,
    is_cut: bool,
}

/// Where a client goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// With everything there is.
    Start,
    /// With what comes next.
    Now,
    /// Behind this number.
    Seen(u64),
}

impl Log {
    /// Makes an empty log that keeps so many messages and so many bytes.
    pub(crate) fn new(frames_max: usize, bytes_max: usize) -> Log {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let first = u64::try_from(now).unwrap_or_default().saturating_mul(NUMBERS_PER_MS);
        let kept = Kept {
            frames: VecDeque::new(),
            first,
            began: first,
            bytes: 0,
            frames_max: frames_max.max(1),
            bytes_max,
            readers: HashMap::new(),
            is_closed: false,
        };
        Log { kept: Mutex::new(kept), grown: Notify::new(), left: Notify::new() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message for everybody and gives its number and final text.
    pub(crate) fn push(&self, message: &Value) -> (u64, Arc<str>) {
        self.push_text(&message.to_string(), message)
    }

    /// The same for a message whose text there is already, and is passed on as it is.
    pub(crate) fn push_text(&self, text: &str, message: &Value) -> (u64, Arc<str>) {
        let mut kept = self.kept();
        let number = kept.end();
        let text: Arc<str> = numbered(text, message, number).into();
        kept.bytes += text.len();
        kept.frames.push_back(Arc::clone(&text));
        kept.trim();
        drop(kept);
        self.grown.notify_waiters();
        (number, text)
    }

    /// Adds a message for one client, behind all there is now.
    pub(crate) fn push_own(&self, client: ClientId, message: &Value) {
        let mut kept = self.kept();
        let end = kept.end();
        kept.add_own(client, end, message.to_string().into());
        drop(kept);
        self.grown.notify_waiters();
    }

    /// Lets a client in: it gets what greets it, then what it has not seen.
    pub(crate) fn enter(&self, client: ClientId, from: From, greeting: &[Value]) {
        let mut kept = self.kept();
        let (at, is_unsure) = kept.position(from);
        let reader = Reader { at, own: VecDeque::new(), is_cut: false };
        kept.readers.insert(client, reader);
        let mut greet = |text: Arc<str>| kept.add_own(client, at, text);
        for message in greeting {
            greet(message.to_string().into());
        }
        if is_unsure {
            greet(frames::lagged(None).to_string().into());
        }
        drop(kept);
        self.grown.notify_waiters();
    }

    /// Gives one client a message as it was given to the others, unless it is on its way to it.
    pub(crate) fn repeat(&self, client: ClientId, number: u64, text: &Arc<str>) {
        let mut kept = self.kept();
        let Some(at) = kept.readers.get(&client).map(|it| it.at) else { return };
        if number < at || number < kept.first {
            kept.add_own(client, at, Arc::clone(text));
        }
        drop(kept);
        self.grown.notify_waiters();
    }

    /// Lets a client out.
    pub(crate) fn leave(&self, client: ClientId) {
        self.kept().readers.remove(&client);
        self.left.notify_one();
    }

    /// Waits until somebody left.
    pub(crate) async fn left(&self) {
        self.left.notified().await;
    }

    /// How many clients there are.
    pub(crate) fn readers(&self) -> usize {
        self.kept().readers.len()
    }

    /// How many messages are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept().frames.len()
    }

    /// The number of the last message, or one before the first.
    pub(crate) fn last(&self) -> u64 {
        self.kept().end().saturating_sub(1)
    }

    /// Nothing more will come; what there is can still be read.
    pub(crate) fn close(&self) {
        self.kept().is_closed = true;
        self.grown.notify_waiters();
    }

    /// The next message for a client; nothing when no more will come.
    pub(crate) async fn next(&self, client: ClientId) -> Option<Arc<str>> {
        loop {
            let grown = self.grown.notified();
            if let Some(next) = self.kept().take(client) {
                return next;
            }
            grown.await;
        }
    }
}

impl Kept {
    fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    fn trim(&mut self) {
        // The last one stays, however long it is.
        while self.frames.len() > 1
            && (self.frames.len() > self.frames_max || self.bytes > self.bytes_max)
        {
            if let Some(oldest) = self.frames.pop_front() {
                self.bytes -= oldest.len();
                self.first += 1;
            }
        }
    }

    /// Where a client begins, and whether it may have missed what nobody can count.
    fn position(&self, from: From) -> (u64, bool) {
        match from {
            From::Start => (self.first, false),
            From::Now => (self.end(), false),
            // From another log: of a daemon before this one, or before the clock was put back.
            From::Seen(number) if number >= self.end() => (self.first, true),
            From::Seen(number) => (number + 1, false),
        }
    }

    fn add_own(&mut self, client: ClientId, at: u64, text: Arc<str>) {
        let Some(reader) = self.readers.get_mut(&client) else { return };
        if reader.own.len() < OWN_MAX {
            reader.own.push_back((at, text));
        } else {
            reader.is_cut = true;
        }
    }

    /// What a client gets next: nothing yet, or a message, or the end.
    #[expect(clippy::option_option, reason = "not yet, and never again")]
    fn take(&mut self, client: ClientId) -> Option<Option<Arc<str>>> {
        let end = self.end();
        let Some(reader) = self.readers.get_mut(&client) else { return Some(None) };
        if reader.is_cut {
            return Some(None);
        }
        if reader.own.front().is_some_and(|(at, _)| *at <= reader.at) {
            return Some(reader.own.pop_front().map(|(_, text)| text));
        }
        if reader.at < self.first {
            // What an earlier log had after that, nobody can count.
            let missed = (reader.at >= self.began).then_some(self.first - reader.at);
            reader.at = self.first;
            return Some(Some(frames::lagged(missed).to_string().into()));
        }
        if reader.at < end {
            let index = usize::try_from(reader.at - self.first).unwrap_or(usize::MAX);
            reader.at += 1;
            return Some(self.frames.get(index).map(Arc::clone));
        }
        self.is_closed.then_some(None)
    }
}

/// The text of a message with its number in it, and otherwise byte for byte what it was.
fn numbered(text: &str, message: &Value, number: u64) -> String {
    let rest = text.trim_start().strip_prefix('{');
    match (rest, message.as_object()) {
        (Some(rest), Some(object)) if !object.is_empty() && !object.contains_key("seq") => {
            format!("{{\"seq\":{number},{rest}")
        }
        _ => {
            let mut object = message.as_object().cloned().unwrap_or_default();
            object.insert("seq".to_owned(), number.into());
            Value::Object(object).to_string()
        }
    }
}
