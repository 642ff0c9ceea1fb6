//! The state of a session, and what each message does to it. Waiting is `turn`'s.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_proto::{FromHolder, Hello, MAX_OUTPUT, Spawn, ToHolder, VERSION};
use greenroom_pty::{Groups, Intake, Master, Reaped, Tally, kill_group};

use crate::killing::Killing;
use crate::link::{Link, Source};
use crate::log::Log;

/// A read shorter than this has emptied the terminal: what the kernel hands over at once is as
/// much. Asking once more would cost every keystroke a system call.
const SHORT_READ: usize = 2 << 10;

/// How long a terminal that others still hold must be silent after the child's end. What the child
/// wrote is there at once; this is for a process that never was told of the end.
const QUIET: Duration = Duration::from_millis(50);

/// How long the end waits for such a process at most when it is never silent.
const QUIET_AT_LAST: Duration = Duration::from_secs(1);

/// How long a session that ends with its daemon has to end by itself.
const LEASH_GRACE: Duration = Duration::from_millis(500);

/// How long a holder that was told to end, and whose child is gone, waits for a daemon to take the last bytes.
/// One that is restarted is there in a second; of a system that goes down nobody comes, and what it gives
/// everybody is ten seconds at least, four of which ending the child may have taken.
const NOBODY_COMES: Duration = Duration::from_secs(5);

/// How often a connection that is being replaced is read before: more than a socket's buffer holds.
const LAST_READS: usize = 1 << 10;

/// How often the pipe is read to have all that was in it: a read takes one of its sixteen pieces at least.
const PULLED: usize = 16;

/// For how long the terminal is left to the daemon before it is looked whether something lies there: one
/// that was stopped must not stop the program as well.
const LEFT: Duration = Duration::from_secs(5);

/// A session, as its holder knows it.
#[derive(Debug)]
pub(crate) struct Session {
    id: SessionId,
    size: Size,
    description: Bytes,
    checkpoint: Option<(Offset, Bytes)>,
    /// Where the last checkpoint wants bytes kept from; the log follows as the link permits.
    keep: Offset,
    answered: Offset,
    log: Log,
    keep_bytes: u64,
    pub(crate) master: Master,
    /// Through which the terminal is read, once others may read it, too.
    intake: Option<Intake>,
    /// With which daemons count what they type for clients; kept from one to the next.
    tally: Option<[OwnedFd; 3]>,
    /// Until when the terminal is left to the daemon, which looks at it by itself.
    left: Option<Instant>,
    /// Held while the child lives, so that a moment in which nobody has the terminal open is not
    /// taken for its end.
    slave: Option<OwnedFd>,
    child: u32,
    /// What the child was put into; empty for a session without limits.
    groups: Groups,
    life: Life,
    pub(crate) link: Option<Link>,
    killing: Option<Killing>,
    pub(crate) released: bool,
    /// It ends with its daemon.
    leashed: bool,
    /// Its daemon is gone, and it is to end.
    abandoned: bool,
    /// Somebody told this process to end.
    told: bool,
    /// When it goes though nobody has taken the last bytes.
    goes: Option<Instant>,
}

/// How far the child's life is.
#[derive(Debug)]
enum Life {
    Running,
    /// It ended; its last bytes are being read.
    Draining {
        status: ExitStatus,
        quiet: Instant,
        at_last: Instant,
    },
    /// All it wrote is in the log.
    Ended(ExitStatus),
}

impl Session {
    /// The session of a child that has just been started.
    pub(crate) fn new(
        id: SessionId,
        spawn: Spawn,
        (master, slave): (Master, OwnedFd),
        child: u32,
        groups: Groups,
    ) -> Session {
        Session {
            id,
            size: spawn.size,
            description: Bytes::copy_from_slice(&spawn.description),
            checkpoint: None,
            keep: Offset::START,
            answered: Offset::START,
            log: Log::default(),
            keep_bytes: spawn.keep_bytes.max(1),
            master,
            intake: None,
            tally: None,
            left: None,
            slave: Some(slave),
            child,
            groups,
            life: Life::Running,
            link: None,
            killing: None,
            released: false,
            leashed: spawn.leashed,
            abandoned: false,
            told: false,
            goes: None,
        }
    }

    /// Takes a daemon's connection in place of the one before, and tells it everything.
    pub(crate) fn greet(&mut self, mut link: Link) {
        // A checkpoint that the one before sent with its last breath still counts.
        for _ in 0..LAST_READS {
            if !self.receive() {
                break;
            }
        }
        (self.link, self.left) = (None, None);
        // Somebody may have seen what lies in the pipe: the new daemon hears of it as of the past.
        self.read_pulled();
        self.trim();
        let hello = Hello {
            version: VERSION,
            session: self.id,
            holder_pid: std::process::id(),
            child_pid: self.child,
            size: self.size,
            kept: self.log.kept(),
            end: self.log.end(),
            answered: self.answered,
            checkpoint: self.checkpoint.is_some(),
            grouped: !self.groups.paths().is_empty(),
            tallies: true,
        };
        let mut messages =
            vec![FromHolder::Hello(hello), FromHolder::Description(self.description.clone())];
        if let Some((at, blob)) = self.checkpoint.clone() {
            messages.push(FromHolder::Checkpoint { at, blob });
        }
        link.introduce(&messages, self.log.kept());
        if self.intake.is_some() {
            // Others may be typing by it.
            link.owe_tap();
        }
        self.link = Some(link);
    }

    /// Whether the terminal is to be waited for.
    pub(crate) fn watches(&self) -> bool {
        self.left.is_none() && self.reads()
    }

    /// Whether the terminal is to be read: it has not ended, and there is room.
    pub(crate) fn reads(&self) -> bool {
        !matches!(self.life, Life::Ended(_)) && self.log.len() < self.keep_bytes
    }

    /// Whether the daemon has something to be sent.
    pub(crate) fn is_behind(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_behind(self.source()))
    }

    /// What there is to send from.
    fn source(&self) -> Source<'_> {
        let (terminal, intake) = (self.master.as_fd(), self.intake.as_ref());
        let tally = self.tally.as_ref();
        Source { log: &self.log, terminal, intake, tally, ended: self.ended() }
    }

    /// For how long to leave the terminal to somebody who waits for what it has.
    pub(crate) fn stand_back(&self) -> Option<Duration> {
        self.intake.as_ref().and_then(Intake::stand_back)
    }

    /// Where what others pulled from the terminal lies, once they may.
    pub(crate) fn pulled(&self) -> Option<BorrowedFd<'_>> {
        self.intake.as_ref().map(|intake| intake.descriptors()[0])
    }

    /// Whether nothing is left to do for this process.
    pub(crate) fn is_over(&self) -> bool {
        self.released && self.killing.is_none()
    }

    /// When something is to be done though nothing happens.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let drained = match &self.life {
            Life::Draining { quiet, at_last, .. } if self.reads() => Some(*quiet.min(at_last)),
            Life::Draining { .. } | Life::Running | Life::Ended(_) => None,
        };
        let killing = self.killing.as_ref().map(Killing::deadline);
        [drained, killing, self.left, self.goes].into_iter().flatten().min()
    }

    /// Removes the groups, unless somebody was left in them in the background.
    pub(crate) fn remove_groups(&self) {
        self.groups.remove_patiently();
    }

    /// Reads what the child wrote, up to one message's worth.
    pub(crate) fn read(&mut self) {
        let mut collected = 0;
        while collected < MAX_OUTPUT && self.reads() {
            let read = self.log.read(|buffer| match &self.intake {
                Some(intake) => intake.read(&self.master, buffer),
                None => self.master.read(buffer),
            });
            match read {
                Ok(0) => return self.drained(),
                Ok(length) => {
                    collected += length;
                    if length < SHORT_READ {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A pipe needs memory, which there may be in a moment; what was printed is still there.
                Err(_) if self.intake.is_some() => break,
                Err(_) => return self.drained(),
            }
        }
        if let (Life::Draining { quiet, .. }, 1..) = (&mut self.life, collected) {
            *quiet = Instant::now() + QUIET;
        }
    }

    /// Takes what others pulled, whether there is room or not: a pipe is not long.
    fn read_pulled(&mut self) {
        let Some(intake) = &self.intake else { return };
        for _ in 0..PULLED {
            if !matches!(self.log.read(|buffer| intake.read_pulled(buffer)), Ok(1..)) {
                return;
            }
        }
    }

    /// Sends the daemon what it has not got.
    pub(crate) fn send(&mut self) {
        if let Some(mut link) = self.link.take() {
            link.send(self.source());
            self.link = Some(link);
            self.trim();
        }
    }

    /// Takes what the daemon sent; says whether it sent something. A link that ends or talks
    /// nonsense is dropped, and nothing else.
    pub(crate) fn receive(&mut self) -> bool {
        let Some(mut link) = self.link.take() else { return false };
        // With the daemon gone the terminal is ours again.
        let mut left = self.left.take();
        let Ok(received) = link.receive() else { return false };
        // The daemon may have seen what lies in the pipe, and speak of that.
        self.read_pulled();
        loop {
            match link.message() {
                Ok(Some(ToHolder::Tap)) => {
                    if self.tap() {
                        link.owe_tap();
                    }
                }
                Ok(Some(ToHolder::Tally)) => {
                    // Without one the answer says so.
                    self.tally = self.tally.take().or_else(|| Tally::make().ok());
                    link.owe_tally();
                }
                Ok(Some(ToHolder::Ahead { seen, looks })) => {
                    link.skip_to(seen.min(self.log.end()));
                    // With the pipe full the daemon could not have what came last, and is not woken for it
                    // again. Twice: the first may have found what lay in the pipe, and no more.
                    self.read();
                    self.read();
                    left = (looks && self.reads()).then(|| Instant::now() + LEFT);
                }
                Ok(Some(message)) => {
                    if !self.apply(message) {
                        return false;
                    }
                }
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        self.link = Some(link);
        self.left = left.filter(|_| matches!(self.life, Life::Running));
        self.trim();
        received
    }

    /// Has the terminal read through a pipe from now on, which others may fill, too. Without one the
    /// daemon goes on as it is.
    fn tap(&mut self) -> bool {
        if self.intake.is_none() && !matches!(self.life, Life::Ended(_)) {
            self.intake = Intake::new(&self.master, self.log.end()).ok();
        }
        self.intake.is_some()
    }

    /// Does what a message asks. False if it makes no sense here.
    fn apply(&mut self, message: ToHolder) -> bool {
        match message {
            ToHolder::Spawn(_) | ToHolder::Tap | ToHolder::Tally | ToHolder::Ahead { .. } => {
                return false;
            }
            ToHolder::Resize { size, set } => {
                // A daemon that sets it, too, may be further by now: the program is not to see it go back.
                if set && self.master.size().is_ok_and(|it| it != self.size)
                    || self.master.resize(size).is_ok()
                {
                    self.size = size;
                }
            }
            ToHolder::Signal(signal) => self.signal(signal),
            ToHolder::Kill { grace_ms } => self.kill(Duration::from_millis(grace_ms.into())),
            // A copy, so that the buffer it came in can go.
            ToHolder::Describe(blob) => self.description = Bytes::copy_from_slice(&blob),
            ToHolder::Checkpoint { at, keep, blob } => {
                // One from another time would leave a gap between it and the log.
                if (self.log.kept()..=self.log.end()).contains(&at) {
                    self.checkpoint = None;
                    self.checkpoint = Some((at, Bytes::copy_from_slice(&blob)));
                    self.keep = self.keep.max(keep);
                }
            }
            ToHolder::Answered(at) => self.answered = self.answered.max(at.min(self.log.end())),
            ToHolder::Release => self.released |= matches!(self.life, Life::Ended(_)),
        }
        true
    }

    /// Lets go of what no checkpoint needs and no message under way is being written from.
    fn trim(&mut self) {
        let needed = self.link.as_ref().map_or(self.log.end(), Link::needs);
        let was_full = !self.reads();
        self.log.trim(self.keep.min(needed));
        if let (Life::Draining { quiet, at_last, .. }, true) = (&mut self.life, was_full) {
            // Without room nothing was read, so the silence till now meant nothing.
            let now = Instant::now();
            (*quiet, *at_last) = (now + QUIET, now + QUIET_AT_LAST);
        }
    }

    /// Ends a session that was to end with its daemon, once that is gone.
    pub(crate) fn mind_leash(&mut self) {
        if !self.leashed || self.link.is_some() {
            return;
        }
        if !std::mem::replace(&mut self.abandoned, true) {
            self.kill(LEASH_GRACE);
        }
        // Nobody will ask for what it prints while it ends.
        self.keep = self.log.end();
        self.trim();
        self.released |= matches!(self.life, Life::Ended(_));
    }

    fn signal(&self, signal: i32) {
        let group = self.master.foreground().or_else(|| self.leader());
        group.map(|group| signal > 0 && kill_group(group, signal));
    }

    /// The child, while its number is its own.
    fn leader(&self) -> Option<u32> {
        matches!(self.life, Life::Running).then_some(self.child)
    }

    /// Somebody ends this process: the child now, the holder when a daemon has the last bytes. Who says
    /// it again does not want them.
    pub(crate) fn told_to_end(&mut self, grace: Duration) {
        let again = std::mem::replace(&mut self.told, true);
        self.released |= again && !matches!(self.life, Life::Running);
        self.kill(grace);
    }

    /// Goes when it was told to and nobody comes for the last bytes: for a while, or ever, if nobody
    /// finds it.
    pub(crate) fn mind_told(&mut self, is_findable: impl Fn() -> bool) {
        let waits = self.told && self.link.is_none() && !matches!(self.life, Life::Running);
        if !waits || self.released {
            self.goes = None;
            return;
        }
        let now = Instant::now();
        let goes = *self.goes.get_or_insert(now + NOBODY_COMES);
        self.released = now >= goes || !is_findable();
    }

    /// Ends the child and all it started.
    pub(crate) fn kill(&mut self, grace: Duration) {
        let killing = Killing::begin(self.leader(), grace);
        self.killing = Some(match &self.killing {
            Some(before) => killing.no_later_than(before),
            None => killing,
        });
        // Whether anybody is there to be waited for.
        self.reap();
    }

    /// Takes the children that ended.
    pub(crate) fn reap(&mut self) {
        loop {
            match greenroom_pty::reap() {
                Reaped::Ended(pid, status) if pid == self.child => self.child_ended(status),
                Reaped::Ended(..) => {}
                Reaped::None => return,
                Reaped::NoChildren => {
                    self.killing = None;
                    return;
                }
            }
        }
    }

    fn child_ended(&mut self, status: ExitStatus) {
        if !matches!(self.life, Life::Running) {
            return; // Another process that was given the same number.
        }
        let now = Instant::now();
        self.life = Life::Draining { status, quiet: now + QUIET, at_last: now + QUIET_AT_LAST };
        (self.slave, self.left) = (None, None);
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.left.is_some_and(|left| now >= left) {
            let (end, idle) = (self.log.end(), now + LEFT);
            self.read();
            self.left = (self.log.end() == end).then_some(idle);
        }
        if let Some(killing) = &mut self.killing
            && !killing.go_on(now, &self.groups)
        {
            self.killing = None;
        }
        if let Life::Draining { quiet, at_last, .. } = self.life
            && self.reads()
            && now >= quiet.min(at_last)
        {
            // Somebody may have pulled something meanwhile.
            let end = self.log.end();
            self.read();
            if self.log.end() == end || now >= at_last {
                self.drained();
            }
        }
    }

    fn ended(&self) -> Option<ExitStatus> {
        match self.life {
            Life::Ended(status) => Some(status),
            Life::Running | Life::Draining { .. } => None,
        }
    }

    /// Nothing comes from the terminal any more.
    fn drained(&mut self) {
        if let Life::Draining { status, .. } = self.life {
            self.life = Life::Ended(status);
        }
    }
}
