//! Waits for whatever happens next, and has it dealt with.
//!
//! One turn is one `poll`. Without a deadline under way it waits for ever: an idle holder does not
//! wake up.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use greenroom_pty::Signals;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;

use crate::link::Link;
use crate::listener::Listener;
use crate::session::Session;

/// How long everyone has when the holder itself is told to end.
const GRACE: Duration = Duration::from_secs(2);

/// How long to leave the door alone when the system cannot open it: out of descriptors or memory.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// A session, with all that wakes its process.
#[derive(Debug)]
pub(crate) struct Holder {
    session: Session,
    signals: Signals,
    listener: Listener,
    accept_at: Option<Instant>,
    /// Until when the terminal is left to somebody who waits for an echo, and so is what they pull: on a
    /// machine with few processors one is in their way by being awake.
    stands_back: Option<Instant>,
}

/// What one `poll` found.
#[derive(Debug, Default, Clone, Copy)]
struct Ready {
    signals: bool,
    listener: bool,
    link: bool,
    output: bool,
}

impl Holder {
    /// A holder about to wait for the first time.
    pub(crate) fn new(session: Session, signals: Signals, listener: Listener) -> Holder {
        Holder { session, signals, listener, accept_at: None, stands_back: None }
    }

    /// Works until the session is released.
    pub(crate) fn run(&mut self) {
        self.session.send();
        while !self.session.is_over() {
            let ready = self.wait();
            if ready.signals {
                self.take_signals();
            }
            if ready.link {
                self.session.receive();
            }
            if ready.listener {
                self.accept();
            }
            if ready.output && !self.stand_back() {
                self.session.read();
            }
            if self.deadline().is_some() {
                let now = Instant::now();
                self.session.tick(now);
                self.accept_at = self.accept_at.filter(|&at| now < at);
                if self.stands_back.is_some_and(|at| now >= at) {
                    self.stands_back = None;
                    self.session.read();
                }
            }
            self.session.send();
            self.session.mind_leash();
            self.session.mind_told(|| self.listener.is_findable());
            if self.session.released {
                self.listener.remove();
            }
        }
        self.session.remove_groups();
    }

    fn deadline(&self) -> Option<Instant> {
        self.session.deadline().into_iter().chain(self.accept_at).chain(self.stands_back).min()
    }

    /// Whether the terminal is left to somebody else for now.
    fn stand_back(&mut self) -> bool {
        self.stands_back = self.session.stand_back().map(|wait| Instant::now() + wait);
        self.stands_back.is_some()
    }

    fn wait(&self) -> Ready {
        let deadline = self.deadline();
        let timeout = deadline.and_then(|_| timeout(deadline, Instant::now()));
        // What is not to be waited for stands aside altogether: `poll` reports a closed terminal
        // also to who does not ask. The signals stand in for it, asked for nothing.
        let signals = self.signals.as_fd();
        let aside = || PollFd::from_borrowed_fd(signals, PollFlags::empty());
        let wait = |fd, flags| PollFd::from_borrowed_fd(fd, flags);
        let mut fds = [wait(signals, PollFlags::IN), aside(), aside(), aside(), aside()];
        if self.accept_at.is_none() {
            fds[1] = wait(self.listener.as_fd(), PollFlags::IN);
        }
        if let Some(link) = &self.session.link {
            let out = if self.session.is_behind() { PollFlags::OUT } else { PollFlags::empty() };
            fds[2] = wait(link.as_fd(), PollFlags::IN | out);
        }
        if self.session.watches() && self.stands_back.is_none() {
            fds[3] = wait(self.session.master.as_fd(), PollFlags::IN);
            if let Some(pulled) = self.session.pulled() {
                fds[4] = wait(pulled, PollFlags::IN);
            }
        }
        if rustix::event::poll(&mut fds, timeout.as_ref()).is_err() {
            return Ready { signals: true, ..Ready::default() };
        }
        let [signals, listener, link, master, pulled] = fds.map(|fd| fd.revents());
        Ready {
            signals: !signals.is_empty(),
            listener: !listener.is_empty(),
            // Room to send is not news of the daemon's.
            link: !(link - PollFlags::OUT).is_empty(),
            output: !master.is_empty() || !pulled.is_empty(),
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if signal != Signal::CHILD.as_raw() {
                self.session.told_to_end(GRACE);
            }
        }
        self.session.reap();
    }

    fn accept(&mut self) {
        match self.listener.accept() {
            Ok(Some(socket)) => self.session.greet(Link::new(socket)),
            Ok(None) => {}
            Err(error) => match error.kind() {
                std::io::ErrorKind::WouldBlock
                | std::io::ErrorKind::Interrupted
                | std::io::ErrorKind::ConnectionAborted => {}
                _ => self.accept_at = Some(Instant::now() + ACCEPT_AGAIN),
            },
        }
    }
}

/// The time from now to a deadline, as `poll` wants it.
pub(crate) fn timeout(deadline: Option<Instant>, now: Instant) -> Option<Timespec> {
    Timespec::try_from(deadline?.saturating_duration_since(now)).ok()
}
