//! An attached stream that outlives its connection.
//!
//! While the daemon is gone the link is *down*: it tries again with growing pauses, first hoping
//! that somebody restarts the daemon (with a newer program, perhaps), then starting it itself. Typed
//! input is kept meanwhile. The stream goes on at the offset reached. The way to another machine is
//! made anew beside the loop (`attempt`), which goes on; so is any way of who only waits. Used by the loops in `attached` and by `relay`,
//! which only waits for a daemon; not here: what is drawn, and telling the person.

mod attempt;
mod kept;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use greenroom_client::{
    Behalf, Borrowed, Connection, Error, ErrorKind, Event, Reach, Received, Refusal, STOPPING,
    Stream, Tap,
};
use greenroom_model::{Offset, Size};
use rustix::event::PollFlags;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, FailureKind, Result};
use crate::plain::plain;
use attempt::{Attempt, Tried};
use kept::Kept;

/// How long a daemon may be gone: a machine under load, or a person who stops it to look at it.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// How long another machine may be gone: a train in a tunnel, or somebody who walks to another room.
const LINE_GIVE_UP_AFTER: Duration = Duration::from_secs(600);

/// How long somebody else may take to restart the daemon before we do: who restarts it may well
/// have a newer one.
const START_AFTER: Duration = Duration::from_millis(300);

/// How long a daemon that was just started may not know our session yet: its holder may be stopped, or out of
/// memory.
const UNKNOWN_FOR: Duration = Duration::from_secs(20);

/// The first pause between attempts: a daemon that is restarted is back in some milliseconds.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// The longest pause: between the two it is a quarter of the time the daemon has been gone.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause before another machine is tried again, which takes an `ssh` each time.
const LONGEST_LINE_PAUSE: Duration = Duration::from_secs(3);

/// The longest pause of who waits for a daemon that nobody may ever start: a program notices a second,
/// and it costs a machine nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long the daemon has to say goodbye: a person waits for their prompt.
const FAREWELL: Duration = Duration::from_millis(500);

/// An attached stream and its connection, if there is one.
pub(crate) struct Link<'a> {
    context: &'a Context<'a>,
    reach: Reach,
    patience: Patience,
    stream: Stream,
    state: State,
    kept: Kept,
    /// Somebody stopped the daemon: it is not started, for who stopped it may want it to be so.
    stopped: bool,
}

/// What is done about a daemon that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// A person waits: it is started, and given up if that does not help.
    Starts,
    /// It is waited for, for as long as the caller likes.
    Waits,
}

enum State {
    Up(Box<Connection>),
    Down(Down),
}

struct Down {
    since: Instant,
    next: Instant,
    /// Since when there is a daemon that does not know the session.
    unknown: Option<Instant>,
    /// The attempt under way, if it is not made in one go.
    attempt: Option<Attempt>,
}

impl<'a> Link<'a> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        connection: Connection,
        stream: Stream,
    ) -> Result<Link<'a>> {
        Ok(Link::with(context, context.reach()?, Patience::Starts, (connection, stream)))
    }

    /// A link that starts no daemon, and waits for one until it is closed.
    pub(crate) fn waiting(
        context: &'a Context<'a>,
        reach: Reach,
        connected: (Connection, Stream),
    ) -> Link<'a> {
        Link::with(context, reach, Patience::Waits, connected)
    }

    fn with(
        context: &'a Context<'a>,
        reach: Reach,
        patience: Patience,
        (connection, stream): (Connection, Stream),
    ) -> Link<'a> {
        let state = State::Up(Box::new(connection));
        let kept = Kept::new(stream.counts());
        Link { context, reach, patience, stream, state, kept, stopped: false }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whom the stream is for, if for another program.
    pub(crate) fn behalf_mut(&mut self) -> Option<&mut Behalf> {
        self.stream.behalf_mut()
    }

    /// Who is waited for while the link is down.
    pub(crate) fn awaited(&self) -> &str {
        let here = if self.stopped { "the daemon, which was stopped" } else { "the daemon" };
        self.reach.host().unwrap_or(here)
    }

    /// Since when the daemon is gone, if it is.
    pub(crate) fn down_since(&self) -> Option<Instant> {
        match &self.state {
            State::Up(_) => None,
            State::Down(down) => Some(down.since),
        }
    }

    /// Whether more input can be taken.
    pub(crate) fn has_room(&self) -> bool {
        let sending = matches!(&self.state, State::Up(connection) if connection.has_unsent());
        !sending && !self.kept.is_full()
    }

    /// Whether all that was typed is on its way.
    pub(crate) fn is_delivered(&self) -> bool {
        let sent = matches!(&self.state, State::Up(connection) if !connection.has_unsent());
        sent && self.kept.is_sent()
    }

    /// What to poll for; nothing while there is no connection or nothing to do.
    pub(crate) fn polled(&self, reads: bool) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let connection = match &self.state {
            State::Up(connection) => connection,
            State::Down(down) => {
                return down.attempt.as_ref().map(|it| (it.as_fd(), PollFlags::IN));
            }
        };
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, reads);
        flags.set(PollFlags::OUT, connection.has_unsent());
        (!flags.is_empty()).then(|| (connection.as_fd(), flags))
    }

    /// The connection, to see whether it breaks while nothing is to be read: no flag is wanted.
    pub(crate) fn watched(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.state {
            State::Up(connection) => Some((connection.as_fd(), PollFlags::empty())),
            State::Down(_) => None,
        }
    }

    /// The connection broke, as was seen. What of it is not read yet comes again over the next.
    pub(crate) fn cut(&mut self, now: Instant) -> Result<()> {
        self.lost(Error::Lost("it was closed".into()), now)
    }

    /// When to call [`Link::retry`], if the link is down.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Up(_) => None,
            // Who waits for an attempt is woken by it.
            State::Down(Down { attempt: Some(_), .. }) => None,
            State::Down(down) => Some(down.next),
        }
    }

    /// Reads and writes what is possible; true if something came.
    pub(crate) fn exchange(&mut self, now: Instant) -> Result<bool> {
        let State::Up(connection) = &mut self.state else { return Ok(false) };
        let received = connection.flush().and_then(|()| connection.receive());
        if !connection.has_unsent() {
            self.kept.has_left();
        }
        match received {
            Ok(received) => {
                self.send_kept(now)?;
                Ok(received == Received::Bytes)
            }
            Err(error) => self.lost(error, now).map(|()| false),
        }
    }

    /// The next event of what came, with the stream told of it.
    pub(crate) fn next_event(&mut self, now: Instant) -> Result<Option<Event>> {
        loop {
            let State::Up(connection) = &mut self.state else { return Ok(None) };
            match connection.next_event() {
                Ok(Some(Event::Taken { stream, taken })) => {
                    if stream == self.stream.id() {
                        self.taken(taken, now)?;
                    }
                }
                Ok(Some(Event::Notification { method, .. })) if method == STOPPING => {
                    self.stopped = true;
                }
                Ok(Some(mut event)) => {
                    let seen = self.stream.seen(&event);
                    self.stream.note(&event);
                    if let Event::Output { bytes, .. } = &mut event {
                        bytes.advance(seen);
                    }
                    return Ok(Some(event));
                }
                Ok(None) => return Ok(None),
                Err(error) => return self.lost(error, now).map(|()| None),
            }
        }
    }

    /// The terminal took so much of what was typed, or nobody knows.
    fn taken(&mut self, taken: Option<u64>, now: Instant) -> Result<()> {
        if !self.kept.taken(taken) {
            self.stream.count_anew();
        }
        self.send_kept(now)
    }

    /// Asks for the session's terminal; only a daemon that is there can lend it.
    pub(crate) fn borrow_terminal(&self) -> Borrowed {
        match &self.state {
            State::Up(connection) if !connection.has_unsent() && self.kept.is_sent() => {
                Tap::borrow(&self.reach, &self.stream)
            }
            State::Up(_) | State::Down(_) => Borrowed::NotNow,
        }
    }

    /// What can be drawn before the daemon tells of it.
    pub(crate) fn look(&mut self, tap: &mut Tap) -> io::Result<Option<Bytes>> {
        tap.look(&mut self.stream)
    }

    /// Tells of what was typed into the session's terminal when it had been seen up to there. A daemon
    /// that is not there need not know.
    pub(crate) fn tell_typed(&mut self, at: Offset, bytes: &[u8], now: Instant) -> Result<()> {
        let State::Up(connection) = &mut self.state else { return Ok(()) };
        let told = self.stream.tell_typed(connection, at, bytes);
        told.or_else(|error| self.lost(error, now))
    }

    /// Types bytes, now or when the daemon is back.
    pub(crate) fn input(&mut self, bytes: &[u8], now: Instant) -> Result<()> {
        self.kept.push(bytes);
        self.send_kept(now)
    }

    fn send_kept(&mut self, now: Instant) -> Result<()> {
        let State::Up(connection) = &mut self.state else { return Ok(()) };
        if self.kept.unsent().is_empty() || connection.has_unsent() {
            return Ok(());
        }
        if let Err(error) = self.stream.send_input(connection, self.kept.unsent()) {
            return self.lost(error, now);
        }
        self.kept.was_sent();
        // What is not sent whole is not typed.
        if !connection.has_unsent() {
            self.kept.has_left();
        }
        Ok(())
    }

    /// Says the size, now and when the daemon is back.
    pub(crate) fn resize(&mut self, size: Size, now: Instant) -> Result<()> {
        self.stream.keep_size(size);
        let State::Up(connection) = &mut self.state else { return Ok(()) };
        let sent = self.stream.resize(connection, size);
        sent.or_else(|error| self.lost(error, now))
    }

    /// Has the screen drawn once more.
    pub(crate) fn redraw(&mut self, now: Instant) -> Result<()> {
        let State::Up(connection) = &mut self.state else { return Ok(()) };
        if let Err(error) = self.stream.redraw(connection) {
            return self.lost(error, now);
        }
        // What was typed into the stream before is not typed any more.
        self.kept.resumed(self.stream.counts(), self.stream.awaits_count());
        self.send_kept(now)
    }

    /// Asks for something whose answer will be an event; nothing is asked without a daemon.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        params: &Value,
        now: Instant,
    ) -> Result<Option<u64>> {
        let State::Up(connection) = &mut self.state else { return Ok(None) };
        match connection.start(method, params) {
            Ok(id) => Ok(Some(id)),
            Err(error) => self.lost(error, now).map(|()| None),
        }
    }

    /// Asks for something whose answer does not matter; without a daemon it is not asked.
    pub(crate) fn tell(&mut self, method: &str, params: &Value, now: Instant) -> Result<()> {
        let State::Up(connection) = &mut self.state else { return Ok(()) };
        let told = connection.tell(method, params);
        told.or_else(|error| self.lost(error, now))
    }

    /// Leaves the session.
    pub(crate) fn close(self) {
        if let State::Up(mut connection) = self.state {
            // A word of farewell, so that nobody is expected back, and whoever asks next sees that
            // this one is gone. A daemon that does not answer is left all the same.
            let stream = json!({"streamId": self.stream.id()});
            if !connection.has_unsent() {
                let _gone = connection.call_within("session.detach", &stream, FAREWELL);
            }
            connection.close();
        }
    }

    /// The connection broke: tries again at once. What no new connection cures is a failure.
    fn lost(&mut self, error: Error, now: Instant) -> Result<()> {
        match error {
            Error::Lost(_) | Error::Silent { .. } => {}
            other => return Err(self.gone(other)),
        }
        self.hear_last_words();
        self.state = State::Down(Down { since: now, next: now, unknown: None, attempt: None });
        self.kept.cut();
        Ok(())
    }

    /// What came and was not looked at comes again over the next connection, but for this.
    fn hear_last_words(&mut self) {
        let State::Up(connection) = &mut self.state else { return };
        if !connection.has_unsent() {
            self.kept.has_left();
        }
        self.stopped |= connection.was_stopped();
    }

    /// Tries to reconnect, if it is time to; true if the daemon is back.
    pub(crate) fn retry(&mut self, now: Instant) -> Result<bool> {
        let State::Down(down) = &mut self.state else { return Ok(false) };
        let down_for = now.saturating_duration_since(down.since);
        let tried = match &down.attempt {
            None if now < down.next => return Ok(false),
            None => self.try_now(down_for)?,
            Some(attempt) => {
                let tried = attempt.take();
                down.attempt = down.attempt.take().filter(|_| tried.is_none());
                tried
            }
        };
        match tried {
            None => Ok(false),
            Some(Ok((connection, stream))) => self.back(connection, stream, now).map(|()| true),
            Some(Err(error)) if self.is_passing(&error, down_for, now) => {
                self.try_later();
                Ok(false)
            }
            Some(Err(error)) => Err(self.gone(error)),
        }
    }

    /// Tries to reconnect; nothing is given yet if that takes a while.
    fn try_now(&mut self, down_for: Duration) -> Result<Option<Tried>> {
        let start = down_for >= START_AFTER && self.patience == Patience::Starts && !self.stopped;
        match (&self.reach, self.patience, &mut self.state) {
            // A daemon that was stopped takes a connection and says nothing: who waits for it has others
            // to mind meanwhile.
            (Reach::There(_), _, State::Down(down)) | (_, Patience::Waits, State::Down(down)) => {
                let attempt = Attempt::begin(&self.reach, self.stream.clone(), start);
                let attempt = attempt.map_err(|error| Failure::system("reconnecting", &error))?;
                down.attempt = Some(attempt);
                Ok(None)
            }
            _ => Ok(Some(self.reconnect(start))),
        }
    }

    fn reconnect(&self, start: bool) -> Tried {
        let mut connection = if start {
            let mut start = || self.context.start_daemon();
            self.reach.connect_or_start(&self.context.identity, &mut start)?
        } else {
            self.reach.connect(&self.context.identity)?
        };
        let mut stream = self.stream.clone();
        stream.resume(&mut connection)?;
        Ok((connection, stream))
    }

    /// Goes on with the stream over a new connection.
    fn back(&mut self, connection: Connection, stream: Stream, now: Instant) -> Result<()> {
        let size = self.stream.size();
        self.stream = stream;
        self.state = State::Up(Box::new(connection));
        self.stopped = false;
        self.kept.resumed(self.stream.counts(), self.stream.awaits_count());
        // It may have changed while that was on its way.
        if let Some(size) = size.filter(|it| self.stream.size() != Some(*it)) {
            self.resize(size, now)?;
        }
        self.send_kept(now)
    }

    fn try_later(&mut self) {
        if let State::Down(down) = &mut self.state {
            let now = Instant::now();
            let longest = match (self.reach.host(), self.patience) {
                (Some(_), _) => LONGEST_LINE_PAUSE,
                (None, Patience::Starts) => LONGEST_PAUSE,
                (None, Patience::Waits) => LONGEST_WAIT,
            };
            down.next = now + ((now - down.since) / 4).clamp(FIRST_PAUSE, longest);
        }
    }

    /// Whether an error may be gone when it is tried again.
    fn is_passing(&mut self, error: &Error, down_for: Duration, now: Instant) -> bool {
        let State::Down(down) = &mut self.state else { return false };
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::Internal => {
                let unknown = *down.unknown.get_or_insert(now);
                return now.saturating_duration_since(unknown) < UNKNOWN_FOR;
            }
            ErrorKind::Unreachable | ErrorKind::Busy | ErrorKind::Limit => down.unknown = None,
            _ => return false,
        }
        let bound = match (self.patience, error.kind(), self.reach.host()) {
            (Patience::Waits, ..) => return true,
            (Patience::Starts, ErrorKind::Unreachable, Some(_)) => LINE_GIVE_UP_AFTER,
            (Patience::Starts, ..) => GIVE_UP_AFTER,
        };
        down_for < bound
    }

    /// The failure that ends it, with how to get back.
    fn gone(&self, error: Error) -> Failure {
        let number = self.stream.session().number;
        let program = self.context.program();
        match error {
            Error::Refused(Refusal { kind: ErrorKind::NotFound, .. }) => {
                let name = plain(&self.stream.session().name);
                let message = format!("session {number} `{name}` is gone: {error}");
                Failure::new(FailureKind::Daemon(ErrorKind::Lost), message)
                    .hint(format!("`{program} logs` may say why"))
            }
            // With another machine also its no: it may have asked for a password to let us in.
            error
                if error.kind() == ErrorKind::Unreachable
                    || matches!(error, Error::Machine { .. }) =>
            {
                self.context.failed(error).hint(format!(
                    "the session may live on: `{program} attach {number}` looks for it"
                ))
            }
            error => error.into(),
        }
    }
}

/// The smallest question there is: whoever answers it is alive.
pub(crate) fn ping() -> (&'static str, Value) {
    ("greenroom.hello", json!({"protocol": greenroom_client::PROTOCOL}))
}
