//! Carries a session to one client of carryOn's, over as many daemons as it takes.
//!
//! Such a client takes the end of its connection for the end of the session. So the daemon hands the
//! connection to a process of its own, this one: it attaches as any client of ours, for the other
//! program, and goes on at its offset when the daemon is another one (`link`). It never starts a
//! daemon. It ends with the client, when it has told the session's end, or when nothing can come any
//! more.
//!
//! `client` is the client's connection, `frames` what is spoken there. Not here: who starts relays, and
//! how many (the daemon's door).

mod client;
mod frames;

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use greenroom_client::{
    AttachOptions, Behalf, Connection, Ended, Endpoint, Error, ErrorKind, Event, Lag, Reach,
    Session, Stream,
};
use greenroom_model::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;

use crate::attached::earliest;
use crate::context::Context;
use crate::failure::{Failure, FailureKind, Result};
use crate::link::Link;
use crate::terminal::{is_ready, timespec};
use client::Client;
use frames::{About, kind};

/// How many lines above the screen a client gets: what carryOn's ring of 256 KiB holds of text.
const HISTORY: u32 = 2_000;

/// How long a client waits for the greeting: carryOn's give up then.
const GREETING: Duration = Duration::from_secs(5);

/// The pause between attempts to attach the first time: the daemon was there a moment ago.
const PAUSE: Duration = Duration::from_millis(20);

/// How long what was typed last has to reach the daemon when the client has left. It is also how often
/// to see whether a client is gone that is not read from.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a daemon may be gone once the session's holder is: only a daemon could still tell how it
/// ended, and a person may take a while to start one.
const ORPHANED: Duration = Duration::from_secs(600);

/// Carries a session to the client at standard input, until either is gone.
pub(crate) fn relay(context: &Context<'_>, endpoint: &Endpoint, session: &str) -> Result<()> {
    let failed = |error: io::Error| Failure::system("taking standard input for a client", &error);
    let mut client = Client::at_stdin().map_err(failed)?;
    let pid = client.pid().map_err(failed)?;
    let reach = Reach::Here(endpoint.clone());
    let (connected, screen) = begin(context, &reach, session, pid)?;
    let about = About::of(connected.1.session());
    client.say([frames::handshake(&about, screen.len()), screen]);
    let keeper = Keeper::of(connected.1.session());
    let link = Link::waiting(context, reach, connected);
    let (asked, settles) = (VecDeque::new(), None);
    let (stuck, alone) = (None, None);
    let mut relay = Relay { endpoint, link, client, about, keeper, asked, settles, stuck, alone };
    relay.be_quiet(true);
    let over = relay.run();
    relay.end(over)
}

/// A stream that is attached, and the screen it begins with.
type Begun = ((Connection, Stream), Bytes);

/// Attaches for a process. The daemon may be another one by now.
fn begin(context: &Context<'_>, reach: &Reach, session: &str, pid: u32) -> Result<Begun> {
    let deadline = Instant::now() + GREETING;
    loop {
        match attach(context, reach, session, pid) {
            Err(error) if is_passing(&error) && Instant::now() < deadline => thread::sleep(PAUSE),
            begun => return Ok(begun?),
        }
    }
}

fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unreachable | ErrorKind::NotFound | ErrorKind::Limit)
}

fn attach(
    context: &Context<'_>,
    reach: &Reach,
    session: &str,
    pid: u32,
) -> std::result::Result<Begun, Error> {
    let mut connection = reach.connect(&context.identity)?;
    let behalf = Some(Behalf { pid, ..Behalf::default() });
    let lag = Lag::Keep;
    let options =
        AttachOptions { history: HISTORY, lag, behalf, counts: true, ..AttachOptions::default() };
    let mut stream = Stream::attach(&mut connection, session, options)?;
    loop {
        while let Some(event) = connection.next_event()? {
            let ours = stream.note(&event);
            if let Event::Redraw { bytes, .. } = event
                && ours
            {
                return Ok(((connection, stream), bytes));
            }
        }
        let mut polled = [PollFd::new(&connection, PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(GREETING))) {
            Ok(0) => return Err(Error::Lost("no screen came".into())),
            _ => connection.receive()?,
        };
    }
}

/// Why a relay is over.
enum Over {
    /// The session ended.
    Ended(Ended),
    /// The client left.
    Left,
}

struct Relay<'a> {
    endpoint: &'a Endpoint,
    link: Link<'a>,
    client: Client,
    /// What was last known of the session.
    about: About,
    keeper: Keeper,
    /// Questions for a status that the daemon has not answered.
    asked: VecDeque<u64>,
    /// The question whose answer shows that the daemon has heard of the client's size.
    settles: Option<u64>,
    /// Since when the client is not read from, as what it sent has no room.
    stuck: Option<Instant>,
    /// Since when there is neither a daemon nor who keeps the session.
    alone: Option<Instant>,
}

impl Relay<'_> {
    fn run(&mut self) -> Result<Over> {
        let mut now = Instant::now();
        loop {
            self.pass_on(now)?;
            if self.client.flush().is_err() {
                return Ok(Over::Left);
            }
            if let Some(how) = self.link.stream().ended() {
                return Ok(Over::Ended(how.clone()));
            }
            let reads = !self.client.has_waiting();
            let (client, link) = self.wait(reads, now)?;
            now = Instant::now();
            if client && !self.take(now)? || self.has_gone(now) {
                return Ok(Over::Left);
            }
            if link && self.link.polled(reads).is_none() {
                self.link.cut(now)?;
            } else if link {
                self.link.exchange(now)?;
            }
            if self.link.down_since().is_some() {
                self.answer_asked();
                self.hope(now)?;
                if self.link.retry(now)? {
                    self.be_quiet(true);
                }
            }
        }
    }

    /// Waits until the client or the daemon wants to be looked at, or there is something to do.
    ///
    /// Nothing is read from the daemon while the client has no room, nor from the client while the daemon
    /// has none. That the daemon is gone is seen all the same: the next one must not wait for us.
    fn wait(&mut self, hears: bool, now: Instant) -> Result<(bool, bool)> {
        // Without a daemon the answers are ours, and pile up here for who does not take them.
        let alone = self.link.down_since().is_some() && self.client.has_waiting();
        let reads = self.link.has_room() && !alone;
        self.stuck = if reads { None } else { self.stuck.or(Some(now)) };
        let deadline = earliest(&[self.link.deadline(), self.stuck.map(|it| it + LAST_WORDS)]);
        let link = self.link.polled(hears).or_else(|| self.link.watched());
        let wanted = [self.client.polled(reads), link];
        let polled = wanted.iter().flatten();
        let mut polled: Vec<PollFd<'_>> =
            polled.map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let timeout = deadline.map(|it| timespec(it.saturating_duration_since(Instant::now())));
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Failure::system("waiting for either end", &error)),
        }
        let mut answers = polled.iter().map(is_ready);
        let [client, link] = wanted.map(|it| it.is_some() && answers.next().unwrap_or_default());
        Ok((client && reads, link))
    }

    /// Whether the client has gone while what it sent had no room.
    fn has_gone(&mut self, now: Instant) -> bool {
        let Some(since) = self.stuck.filter(|since| now >= *since + LAST_WORDS) else {
            return false;
        };
        self.stuck = Some(now.max(since));
        self.client.is_gone()
    }

    /// Hands what came from the daemon to the client.
    fn pass_on(&mut self, now: Instant) -> Result<()> {
        while let Some(event) = self.link.next_event(now)? {
            match event {
                Event::Output { bytes, .. } | Event::Redraw { bytes, .. } => {
                    self.client.say(frames::data(bytes));
                }
                Event::SizeWanted { .. } => {
                    self.sizes();
                    self.client.say([frames::resize_request()]);
                }
                Event::Answer { id, result } => {
                    if let Ok(session) = result {
                        self.about = About::of(&Session::from_wire(&session));
                    }
                    self.answered(id);
                }
                Event::Ended { .. } | Event::Taken { .. } | Event::Notification { .. } => {}
            }
        }
        Ok(())
    }

    /// The daemon answered one of our questions about the session.
    fn answered(&mut self, id: u64) {
        if let Some(at) = self.asked.iter().position(|it| *it == id) {
            self.asked.remove(at);
            self.client.say(frames::status(&self.about));
        }
        if self.settles == Some(id) {
            self.be_quiet(true);
        }
    }

    /// Takes what the client sent; false if it has left, or what it sends is no frame.
    fn take(&mut self, now: Instant) -> Result<bool> {
        let more = self.client.read();
        loop {
            match self.client.next() {
                Ok(Some((kind::DATA, bytes))) => self.link.input(&bytes, now)?,
                Ok(Some((kind::RESIZE, payload))) => {
                    if let Some(size) = frames::size(&payload) {
                        self.resize(size, now)?;
                    }
                }
                Ok(Some((kind::STATUS, _))) => self.ask_status(now)?,
                // Frames this version does not know are skipped.
                Ok(Some(_)) => {}
                Ok(None) => return Ok(more),
                Err(_) => return Ok(false),
            }
        }
    }

    fn resize(&mut self, size: Size, now: Instant) -> Result<()> {
        self.about.size = size;
        self.sizes();
        self.be_quiet(false);
        self.link.resize(size, now)?;
        self.settles = self.ask(now)?;
        Ok(())
    }

    /// The client is the one that sizes, from now on.
    fn sizes(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(behalf) = self.link.behalf_mut() {
            behalf.sized_ms = u64::try_from(now.as_millis()).ok();
        }
    }

    /// Whether the size that the next daemon is told is no news: this one has heard of it.
    fn be_quiet(&mut self, quiet: bool) {
        self.settles = None;
        if let Some(behalf) = self.link.behalf_mut() {
            behalf.quiet = quiet;
        }
    }

    fn ask_status(&mut self, now: Instant) -> Result<()> {
        match self.ask(now)? {
            Some(id) => self.asked.push_back(id),
            None => self.client.say(frames::status(&self.about)),
        }
        Ok(())
    }

    /// Asks how the session stands, if there is a daemon.
    fn ask(&mut self, now: Instant) -> Result<Option<u64>> {
        let target = json!({"sessionId": self.link.stream().target()});
        self.link.ask("session.info", &target, now)
    }

    /// Answers with what was known last what no daemon will answer.
    fn answer_asked(&mut self) {
        for _ in self.asked.drain(..) {
            self.client.say(frames::status(&self.about));
        }
    }

    /// While there is no daemon: an error if none can come, or if none comes and nobody keeps the session.
    fn hope(&mut self, now: Instant) -> Result<()> {
        let path = self.endpoint.path();
        let folder = path.parent().unwrap_or(path);
        let gone =
            fs::symlink_metadata(folder).is_err_and(|it| it.kind() == io::ErrorKind::NotFound);
        self.alone = if self.keeper.lives() { None } else { self.alone.or(Some(now)) };
        if gone || self.alone.is_some_and(|since| now >= since + ORPHANED) {
            let message = "neither the daemon nor the session is there any more";
            return Err(Failure::new(FailureKind::Daemon(ErrorKind::Lost), message));
        }
        Ok(())
    }

    /// Tells the client how it ended, if it wants to know.
    fn end(mut self, over: Result<Over>) -> Result<()> {
        let (how, failure) = match over {
            Ok(Over::Left) => {
                self.deliver();
                self.link.close();
                return Ok(());
            }
            Ok(Over::Ended(how)) => (how, None),
            Err(failure) => (Ended::Unknown("lost".to_owned()), Some(failure)),
        };
        self.answer_asked();
        self.client.say(frames::exit(&how));
        self.link.close();
        self.client.finish();
        failure.map_or(Ok(()), Err)
    }

    /// Waits a little until what was typed is on its way.
    fn deliver(&mut self) {
        let deadline = Instant::now() + LAST_WORDS;
        while !self.link.is_delivered() {
            let now = Instant::now();
            let next = earliest(&[self.link.deadline(), Some(deadline)]).unwrap_or(deadline);
            let wanted = self.link.polled(true);
            let mut polled: Vec<PollFd<'_>> =
                wanted.iter().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
            let timeout = timespec(next.saturating_duration_since(now));
            let waited = poll(&mut polled, Some(&timeout));
            drop(polled);
            let done = waited.is_err_and(|error| error != Errno::INTR)
                || self.link.exchange(now).is_err()
                || self.link.retry(now).is_err();
            // What is printed is nobody's any more; what was taken of what was typed is told among it.
            while let Ok(Some(_)) = self.link.next_event(now) {}
            if done || now >= deadline {
                return;
            }
        }
    }
}

/// Who keeps the session while there is no daemon: its holder, or else its program.
struct Keeper(Option<OwnedFd>);

impl Keeper {
    fn of(session: &Session) -> Keeper {
        let pid = session.holder_pid.or(session.pid).and_then(|it| i32::try_from(it).ok());
        // By a descriptor: the number may be another process's by the time it matters.
        let pid = pid.and_then(Pid::from_raw);
        Keeper(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }

    fn lives(&self) -> bool {
        let Some(process) = &self.0 else { return false };
        let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec::default())), Ok(0))
    }
}
